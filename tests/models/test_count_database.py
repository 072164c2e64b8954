"""A count-query database: what it answers and charges, and that models learned from it are those fitted directly."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import (
    Auto,
    Categorical,
    CountDatabase,
    DecisionTree,
    Ledger,
    LinearSVM,
    NaiveBayes,
    Numeric,
    OneRule,
    RandomForest,
    Schema,
    load,
)
from discreet.errors import BudgetError, FileError, ParameterError
from discreet.models.count_database import _weights
from discreet.models.saving import to_dict
from discreet.privacy.steps import split_by_weight
from discreet.queries.crossed import CrossedCounts
from discreet.queries.tables import MajorityScore
from discreet.released.answers import Answers
from discreet.sources.memory import MemorySource
from discreet.storage.envelope import content_hash
from support.neighbours import ADJACENCIES, neighbours
from support.neighbours import schema as awkward
from support.replay import replay, visible


def table(rows: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"age": rng.uniform(0, 80, rows), "sex": rng.choice(["F", "M"], rows)}
    columns |= {f"c{place}": rng.choice(list("abc"), rows) for place in range(6)}
    columns["ill"] = np.where((columns["age"] > 40) ^ (rng.random(rows) < 0.2), "yes", "no")
    return columns


def schema(adjacency: str = "add-remove", records: int | None = 400) -> Schema:
    columns = [Numeric("age", 0, 80), Categorical("sex", ["F", "M"])]
    columns += [Categorical(f"c{place}", list("abc")) for place in range(6)]
    return Schema(columns, "ill", ["no", "yes"], adjacency=adjacency, records=records)


class CountsOnly:
    """A database that does not choose columns, as in the thesis."""

    def __init__(self, database: CountDatabase) -> None:
        self.schema, self.ask = database.schema, database.ask


def database(given_: Schema, limit: Any = 1, seed: Any = None) -> CountDatabase:
    return CountDatabase(table(), given_, ledger=Ledger(limit), random_state=seed)


MODELS: dict[str, Any] = {
    "naive Bayes": NaiveBayes,
    "naive Bayes of all": lambda given_, **more: NaiveBayes(given_, select=None, **more),
    "naive Bayes of two": lambda given_, **more: NaiveBayes(given_, select=2, **more),
    "naive Bayes in bins": lambda given_, **more: NaiveBayes(given_, bins=5, split="equal", **more),
    "one-rule": OneRule,
}


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("records", [None, 400])
@pytest.mark.parametrize("kind", MODELS)
def test_a_model_from_a_database_is_the_model_that_is_fitted_directly(kind: str, records: Any, adjacency: str) -> None:
    """Bit for bit, with the same seed: the same questions in the same order, at the same shares."""
    given_ = schema(adjacency, records)
    for epsilon in ("1/3", 4, "inf"):
        direct = MODELS[kind](given_, epsilon=epsilon, random_state=3).fit_from(MemorySource(table()))
        ledger = Ledger.unlimited()
        asked = CountDatabase(table(), given_, ledger=ledger, random_state=3)
        learned = MODELS[kind](given_, epsilon=epsilon).fit_from(asked)
        theirs, ours = direct.noisy_.to_dict()["tables"], learned.noisy_.to_dict()["tables"]
        assert ours == theirs
        assert learned.receipt_.epsilon == direct.receipt_.epsilon == ledger.spent
        assert [line.epsilon for line in learned.receipt_.charges] == [line.epsilon for line in direct.receipt_.charges]
        columns = {name: values for name, values in table().items() if name != "ill"}
        np.testing.assert_array_equal(learned.predict_proba(columns), direct.predict_proba(columns))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("kind", ["naive Bayes", "one-rule"])
def test_counts_alone_are_enough(kind: str, adjacency: str, tmp_path: Any) -> None:
    given_ = schema(adjacency, None)
    asked = database(given_, limit=20)
    model = MODELS[kind](given_, epsilon=20).fit_from(CountsOnly(asked))
    assert asked.ledger.spent == model.guarantee_.epsilon == 20
    assert model.guarantee_.holds
    columns = {name: values for name, values in table().items() if name != "ill"}
    assert model.score(columns, table()["ill"]) > 0.7
    model.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    np.testing.assert_array_equal(again.predict_proba(columns), model.predict_proba(columns))
    assert again.explain() == model.explain()
    if kind == "one-rule":
        assert model.attribute_ == "age"
        assert [query.column for query, _ in model.noisy_.tables] == [*given_.names, "age"]
        model.evidence()


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("only", [False, True])
@pytest.mark.parametrize("kind", ["naive Bayes", "one-rule"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_learning_by_queries_stays_within_epsilon_and_leaks_nothing(
    kind: str, only: bool, adjacency: str, data: Any
) -> None:
    """Record and replay of the whole fit."""
    given_ = awkward(adjacency, data.draw(st.sampled_from([None, 40])))
    first, second = data.draw(neighbours(adjacency))

    def fit(records: Any) -> Any:
        columns = {name: np.fromiter((record[name] for record in records), dtype=object) for name in given_.all_names}
        asked = CountDatabase(columns, given_, ledger=Ledger(1), random_state=0)
        return MODELS[kind](given_, epsilon=1).fit_from(CountsOnly(asked) if only else asked)

    loss, model, other = replay(fit, first, second)
    assert loss <= 1 + 1e-9, "the law of a choice is computed in floats"
    assert model.receipt_.epsilon == 1
    assert visible(model) == visible(other)


@pytest.mark.parametrize("model", [DecisionTree, RandomForest, LinearSVM, Auto], ids=lambda each: each.__name__)
def test_models_that_need_more_than_counts_say_so_before_a_charge(model: Any) -> None:
    asked = database(schema())
    with pytest.raises(ParameterError, match=r"needs more than counts.*OneRule or NaiveBayes"):
        model(schema()).fit_from(asked)
    assert asked.ledger.entries == []


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (NaiveBayes(schema(), select=2), {}, "only counts"),
        (NaiveBayes(schema(records=None), numeric="gaussian"), {}, "another schema"),
        (NaiveBayes(schema(), numeric="gaussian"), {}, "numeric='histogram'"),
        (NaiveBayes(schema(), numeric="smooth"), {}, "numeric='histogram'"),
        (NaiveBayes("from-data"), {}, "another schema"),
        (OneRule(schema("replace-one")), {}, "another schema"),
        (OneRule(schema()), {"ledger": Ledger(1)}, "its own ledger"),
        (OneRule(schema(), epsilon="1/1000000000000000000"), {}, "too small"),
        (OneRule(schema(), bins=1), {}, "bins"),
    ],
)
def test_what_cannot_be_learned_costs_nothing(model: Any, options: Any, words: str) -> None:
    asked = database(schema(), limit=9)
    with pytest.raises(ParameterError, match=words):
        model.fit_from(CountsOnly(asked), **options)
    assert asked.ledger.entries == []


def test_tables_too_large_for_a_count_are_refused_before_the_number_of_records_is_bought() -> None:
    wide = Schema([Categorical("word", [f"w{place}" for place in range(40_000)])], "ill", ["no", "yes"])
    asked = CountDatabase({"word": ["w1"], "ill": ["no"]}, wide, ledger=Ledger(1))
    for model in (NaiveBayes(wide), OneRule(wide)):
        with pytest.raises(ParameterError, match="65536"):
            model.fit_from(asked)
    assert asked.ledger.entries == []


def test_many_columns_are_asked_in_several_requests() -> None:
    names = [f"c{place}" for place in range(300)]
    given_ = Schema([Categorical(name, ["a"]) for name in names], "y", ["n", "o"], records=10**6)
    columns = {**{name: ["a", "b"] for name in names}, "y": ["n", "o"]}
    asked = CountDatabase(columns, given_, ledger=Ledger(1), random_state=1)
    learned = NaiveBayes(given_, select=None).fit_from(asked)
    direct = NaiveBayes(given_, select=None, random_state=1).fit_from(MemorySource(columns))
    assert len(asked.ledger.entries) == 2
    assert asked.ledger.spent == 1
    assert learned.noisy_.to_dict()["tables"] == direct.noisy_.to_dict()["tables"]


@given(st.lists(st.floats(0.01, 40), min_size=2, max_size=40))
def test_weights_stand_for_exactly_the_shares_they_are_made_of(weights: list[float]) -> None:
    shares = split_by_weight(Fraction(7, 3), weights)
    found = _weights(shares)
    assert found is not None
    assert split_by_weight(sum(shares, Fraction(0)), found) == shares


def test_a_database_answers_until_its_ledger_is_empty() -> None:
    asked = database(schema(), limit=1)
    answer = asked.count(where=[{"column": "age", "between": [40, 80]}], by=["ill"], epsilon="1/2")
    assert answer.values.shape == (2,)
    both = asked.ask([{"by": ["ill"]}, CrossedCounts.of(by=["sex"])], "1/2", shares=[1, 3])
    assert both.receipt.epsilon == Fraction(1, 2)
    assert both[0].scale == 3 * both[1].scale
    for again in (lambda: asked.count(epsilon="1/100"), lambda: OneRule(schema(), epsilon="1/100").fit_from(asked)):
        with pytest.raises(BudgetError):
            again()
    assert asked.ledger.spent == 1
    assert repr(asked).endswith("values hidden)")


@pytest.mark.parametrize("kind", [NaiveBayes, OneRule])
def test_a_fit_that_the_ledger_cannot_pay_spends_nothing(kind: Any) -> None:
    """Choosing, or the number of records, would be bought first, and then there would be no model."""
    for records in (40, None):
        asked = database(schema(records=records), limit="9/10")
        with pytest.raises(BudgetError, match="costs epsilon=1"):
            kind(schema(records=records), epsilon=1).fit_from(asked)
        assert asked.ledger.entries == []


def test_what_is_no_database_is_refused() -> None:
    with pytest.raises(ParameterError, match="need a Schema"):
        CountDatabase(table(), "schema", ledger=Ledger(1))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="need a Ledger"):
        CountDatabase(table(), schema(), ledger=1)  # type: ignore[arg-type]


def test_a_model_file_holds_no_seed_and_no_database() -> None:
    text = json.dumps(to_dict(OneRule(schema()).fit_from(database(schema(), seed=5))))
    assert "CountDatabase" not in text
    assert '"seeded": true' in text


def test_a_choice_is_plain_data_and_is_refused_if_altered() -> None:
    asked = database(schema(), seed=1)
    chosen = asked.choose([MajorityScore("age", 8), MajorityScore("sex")], 1, "1/2")
    assert asked.ledger.entries == [("choice", Fraction(1, 2))]
    for columns in (chosen.columns, ()):  # none, if a fraction to beat won
        content = json.loads(json.dumps(Answers((), chosen.receipt, schema(), columns).to_dict()))
        assert Answers.from_dict(content).chosen == columns
    for change in ({"chosen": 3}, {"chosen": ["elsewhere"]}, {"receipt": {}}, {"answers": [3]}):
        damaged = {**content, **change}
        with pytest.raises(FileError, match="altered"):
            Answers.from_dict(damaged)
        damaged.pop("hash")
        with pytest.raises(FileError, match="altered"):
            Answers.from_dict({**damaged, "hash": content_hash(damaged)})
