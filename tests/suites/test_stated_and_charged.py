"""What is stated is what was charged, along every path on which the data had a say.

Each path is a chain: something that narrows a schema or publishes noisy numbers (a producer), then something that is
made with it (a consumer), perhaps saved, loaded or fitted again between. One ledger is charged by all links. At the end
the stated epsilon must be what the ledger counts under the stated adjacency: no less, and no more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from discreet import BeeRules, FeatureSelector, Ledger, LocalPerturbation, NaiveBayes, Schema, load
from discreet.errors import BudgetError, DataError, ParameterError, SchemaError
from discreet.evaluation import evaluate
from discreet.federated import Aggregator, Party, invite
from discreet.models.bees.bee_feature_selector import BeeFeatureSelector
from discreet.perturbation.local_perturbation import LocalGuarantee
from discreet.perturbation.perturbed_table import read_perturbed, save_receipt
from discreet.privacy.guarantee import Guarantee
from discreet.schema import Adjacency
from discreet.sources.memory import MemorySource
from support.estimators import PRIVATE
from support.neighbours import ADJACENCIES, BASE, ODD, schema

TABLE = [BASE] * 30 + [ODD] * 20
LABELS = [record["label"] for record in TABLE]
Stated = tuple[Any, str, bool]


def stated(thing: Any) -> Stated:
    guarantee: Guarantee = thing.guarantee_
    return guarantee.epsilon, guarantee.adjacency.value, guarantee.holds


# Producers: each charges the ledger, and gives the schema of the next link.


def _selected(given: Schema, ledger: Ledger, **_: Any) -> Schema:
    k = min(3, len(given.columns))
    return FeatureSelector(given, k=k, epsilon="1/2").fit(TABLE, ledger=ledger).selected_schema_


def _selected_twice(given: Schema, ledger: Ledger, **_: Any) -> Schema:
    return FeatureSelector(_selected(given, ledger), k=2, epsilon="1/4").fit(TABLE, ledger=ledger).selected_schema_


def _bees_on_tables(given: Schema, ledger: Ledger, **_: Any) -> Schema:
    tables = NaiveBayes(given, epsilon="1/3").fit(TABLE, ledger=ledger).noisy_
    return BeeFeatureSelector(given, max_iter=3, random_state=0).fit_noisy(tables).selected_schema_


def _bees_on_tables_of_selected_columns(given: Schema, ledger: Ledger, **_: Any) -> Schema:
    return _bees_on_tables(_selected(given, ledger), ledger)


def _bees_on_loaded_tables(given: Schema, ledger: Ledger, *, folder: Any) -> Schema:
    NaiveBayes(given, epsilon="1/3").fit(TABLE, ledger=ledger).save(folder / "tables.json")
    noisy = load(folder / "tables.json").noisy_
    return BeeFeatureSelector(given, max_iter=3, random_state=0).fit_noisy(noisy).selected_schema_


def _bees_on_perturbed_records(given: Schema, ledger: Ledger, **_: Any) -> Schema:
    perturbation = LocalPerturbation(given, epsilon=2)
    X, y = perturbation.fit_resample(TABLE, ledger=ledger)
    promise = {"source_guarantee": perturbation.guarantee_, "source_receipt": perturbation.receipt_}
    return BeeFeatureSelector(given, max_iter=3, random_state=0).fit(X, y, **promise).selected_schema_


def _selected_after_bees(given: Schema, ledger: Ledger, **_: Any) -> Schema:
    return _selected(_bees_on_tables(given, ledger), ledger)


def _unchosen(given: Schema, ledger: Ledger, **_: Any) -> Schema:
    return given


PRODUCERS: dict[str, Callable[..., Schema]] = {
    "nothing": _unchosen,
    "selector": _selected,
    "selector twice": _selected_twice,
    "bees on tables": _bees_on_tables,
    "bees on tables of selected columns": _bees_on_tables_of_selected_columns,
    "bees on loaded tables": _bees_on_loaded_tables,
    "bees on perturbed records": _bees_on_perturbed_records,
    "selector after bees": _selected_after_bees,
}
NEEDS_REPLACE_ONE = {"bees on perturbed records"}


# Consumers: each charges the ledger, and gives what is published in the end.


def _fits(name: str) -> Callable[..., Any]:
    def fit(given: Schema, ledger: Ledger, folder: Any) -> Any:
        model = PRIVATE[name](given, epsilon="3/4")
        if name.endswith(" select=2") and len(given.columns) < 2:  # a chosen schema may be that narrow
            model.set_params(select=1)
        return model.fit(TABLE, ledger=ledger)

    return fit


def _saved_and_loaded(given: Schema, ledger: Ledger, folder: Any) -> Any:
    NaiveBayes(given, epsilon="3/4").fit(TABLE, ledger=ledger).save(folder / "m.json")
    return load(folder / "m.json")


def _loaded_and_refitted(given: Schema, ledger: Ledger, folder: Any) -> Any:
    """The first model is thrown away; so is its ledger. What it was made with stays."""
    NaiveBayes(given, epsilon="3/4").fit(TABLE).save(folder / "m.json")
    return load(folder / "m.json").fit(TABLE, ledger=ledger)


def _built_of_tables(given: Schema, ledger: Ledger, folder: Any) -> Any:
    noisy = NaiveBayes(given, epsilon="3/4").fit(TABLE, ledger=ledger).noisy_
    return NaiveBayes(given, epsilon=7).fit_noisy(noisy)


def _built_of_added_tables(given: Schema, ledger: Ledger, folder: Any) -> Any:
    parts = [NaiveBayes(given, epsilon="1/4").fit(TABLE, ledger=ledger).noisy_ for _ in range(2)]
    return NaiveBayes(given).fit_noisy(parts[0] + parts[1])


def _selector(given: Schema, ledger: Ledger, folder: Any) -> Any:
    return FeatureSelector(given, epsilon="3/4").fit(TABLE, ledger=ledger)


def _bees(given: Schema, ledger: Ledger, folder: Any) -> Any:
    noisy = NaiveBayes(given, epsilon="3/4").fit(TABLE, ledger=ledger).noisy_
    return BeeFeatureSelector(given, max_iter=3, random_state=0).fit_noisy(noisy)


def _perturbation(given: Schema, ledger: Ledger, folder: Any) -> Any:
    perturbation = LocalPerturbation(given, epsilon=3)
    perturbation.fit_resample(TABLE, ledger=ledger)
    return perturbation


def _rules(given: Schema, ledger: Ledger, folder: Any) -> Any:
    perturbation = LocalPerturbation(given, epsilon=3)
    X, y = perturbation.fit_resample(TABLE, ledger=ledger)
    promise = {"source_guarantee": perturbation.guarantee_, "source_receipt": perturbation.receipt_}
    return BeeRules(given, max_iter=3, random_state=0).fit(X, y, **promise)


def _loaded_rules(given: Schema, ledger: Ledger, folder: Any) -> Any:
    _rules(given, ledger, folder).save(folder / "rules.json")
    return load(folder / "rules.json")


def _rules_of_a_file(given: Schema, ledger: Ledger, folder: Any) -> Any:
    import csv

    from discreet.perturbation.decoding import as_texts

    perturbation = LocalPerturbation(given, epsilon=3)
    X, y = perturbation.fit_resample(TABLE, ledger=ledger)
    with (folder / "p.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*X, given.target])
        writer.writerows(zip(*map(as_texts, X.values()), as_texts(y), strict=True))
    save_receipt(perturbation, folder / "p.csv")
    table = read_perturbed(folder / "p.csv")
    rules = BeeRules(table.schema, max_iter=3, random_state=0)
    return rules.fit(table.X, table.y, source_guarantee=table.guarantee, source_receipt=table.receipt)


def _federated(given: Schema, ledger: Ledger, folder: Any) -> Any:
    invitation = invite(given, "3/4", ["north", "south"])
    aggregator = Aggregator(invitation)
    aggregator.add(Party("north", MemorySource(TABLE), ledger).answer(invitation))
    aggregator.add(Party("south", MemorySource(TABLE), Ledger(1)).answer(invitation))  # other people, another account
    return aggregator.model()


CONSUMERS: dict[str, Callable[..., Any]] = {
    **{name: _fits(name) for name in PRIVATE},
    "saved and loaded": _saved_and_loaded,
    "loaded and refitted": _loaded_and_refitted,
    "built of tables": _built_of_tables,
    "built of added tables": _built_of_added_tables,
    "selector": _selector,
    "bees": _bees,
    "federated": _federated,
}
LOCAL: dict[str, Callable[..., Any]] = {
    "perturbation": _perturbation,
    "rules": _rules,
    "loaded rules": _loaded_rules,
    "rules of a file": _rules_of_a_file,
}


def _through_a_file(given: Schema, folder: Any) -> Schema:
    given.save(folder / "schema.json")
    return Schema.load(folder / "schema.json")


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("consumer", [*CONSUMERS, *LOCAL])
@pytest.mark.parametrize("producer", PRODUCERS)
def test_every_pair_states_what_was_charged(producer: str, consumer: str, adjacency: str, tmp_path: Any) -> None:
    if adjacency == "add-remove" and (producer in NEEDS_REPLACE_ONE or consumer in LOCAL):
        return  # a perturbed table shows its number of rows: it is refused under add-remove (other tests)
    ledger = Ledger.unlimited()
    chosen = PRODUCERS[producer](schema(adjacency), ledger, folder=tmp_path)
    made = (CONSUMERS | LOCAL)[consumer](_through_a_file(chosen, tmp_path), ledger, tmp_path)
    assert stated(made) == (ledger.spent, adjacency, True)
    assert 0 < ledger.spent < math.inf


@pytest.mark.parametrize("producer", PRODUCERS)
def test_a_choice_under_another_adjacency_is_counted_there(producer: str, tmp_path: Any) -> None:
    """Chosen under one adjacency, trained under the other: twice the loss, or no guarantee at all."""
    paid = Ledger.unlimited()
    first = "replace-one" if producer in NEEDS_REPLACE_ONE else "add-remove"
    chosen = PRODUCERS[producer](schema(first), paid, folder=tmp_path)
    for second in ADJACENCIES:
        model = NaiveBayes(chosen.replace(adjacency=second), epsilon=1).fit(TABLE)
        bounded = second in (first, "replace-one") or producer == "nothing"
        expected = 1 + paid.spent * (1 if first == second else 2) if bounded else math.inf
        assert stated(model) == (expected, second, bounded)


def test_what_was_stated_too_low():
    """The two violations of 0.1: a choice by bees was forgotten, and a choice's adjacency was."""
    tables = NaiveBayes(schema(), epsilon=1).fit(TABLE)
    selected = BeeFeatureSelector(schema(), max_iter=3, random_state=0).fit_noisy(tables.noisy_).selected_schema_
    assert NaiveBayes(selected, epsilon="1/10").fit(TABLE).guarantee_.epsilon == Fraction(11, 10)
    chosen = FeatureSelector(schema("add-remove"), epsilon=1).fit(TABLE).selected_schema_
    assert NaiveBayes(chosen.replace(adjacency="replace-one"), epsilon=1).fit(TABLE).guarantee_.epsilon == 3


def _by_bees(given: Schema, **parameters: Any) -> Schema:
    noisy = NaiveBayes(given, **parameters).fit(TABLE).noisy_
    return BeeFeatureSelector(given, max_iter=2, random_state=0).fit_noisy(noisy).selected_schema_


WITHOUT: dict[str, Callable[[], Schema]] = {
    "seed": lambda: FeatureSelector(schema(), random_state=1).fit(TABLE).selected_schema_,
    "no noise": lambda: FeatureSelector(schema(), epsilon=math.inf).fit(TABLE).selected_schema_,
    "draft": lambda: FeatureSelector(schema().replace(from_data=["near.lower"])).fit(TABLE).selected_schema_,
    "in the clear": lambda: BeeFeatureSelector(schema(), max_iter=2).fit(TABLE, LABELS).selected_schema_,
    "seeded tables": lambda: _by_bees(schema(), random_state=3),
    "tables without noise": lambda: _by_bees(schema(), epsilon=math.inf),
}


@pytest.mark.parametrize("choice", WITHOUT)
@pytest.mark.parametrize("consumer", ["naive-bayes", "selector", "saved and loaded", "bees", "federated"])
def test_a_choice_without_a_guarantee_takes_it_from_all_that_follows(choice: str, consumer: str, tmp_path: Any) -> None:
    made = CONSUMERS[consumer](_through_a_file(WITHOUT[choice](), tmp_path), Ledger.unlimited(), tmp_path)
    assert not made.guarantee_.holds
    if hasattr(made, "selected_schema_"):
        assert not NaiveBayes(made.selected_schema_).fit(TABLE).guarantee_.holds


def test_rules_count_a_choice_that_the_records_did_not_know():
    """Records perturbed under the whole schema, rules searched in columns that were chosen for a price."""
    whole = schema("replace-one")
    chosen = FeatureSelector(whole, k=2, epsilon="1/2").fit(TABLE).selected_schema_
    perturbation = LocalPerturbation(whole, epsilon=3)
    X, y = perturbation.fit_resample(TABLE)
    rules = BeeRules(chosen, max_iter=3, random_state=0).fit(X, y, source_guarantee=perturbation.guarantee_)
    assert stated(rules) == (Fraction(7, 2), "replace-one", True)
    unbounded = chosen.replace(chosen=json.loads('{"epsilon": "1/2", "adjacency": "add-remove"}'))
    rules = BeeRules(unbounded, max_iter=3, random_state=0).fit(X, y, source_guarantee=perturbation.guarantee_)
    assert stated(rules)[0] == 4


def test_rules_are_of_the_records_that_they_vouch_for():
    whole = schema("replace-one")
    perturbation = LocalPerturbation(whole, epsilon=3)
    X, y = perturbation.fit_resample(TABLE)
    chosen = FeatureSelector(whole, k=2, epsilon="1/2").fit(TABLE).selected_schema_
    promise = {"source_guarantee": perturbation.guarantee_, "source_receipt": perturbation.receipt_}
    for make in (BeeRules, BeeFeatureSelector):
        with pytest.raises(ParameterError, match="another schema"):
            make(chosen, max_iter=2).fit(X, y, **promise)
        with pytest.raises(ParameterError, match="read off data"):
            make(whole.replace(from_data=["near.lower"]), max_iter=2).fit(X, y, **promise)


def test_a_choice_on_records_of_another_adjacency_bounds_nothing():
    """Records perturbed under replace-one, columns chosen on them for a schema of add-remove."""
    perturbation = LocalPerturbation(schema("replace-one"), epsilon=3)
    X, y = perturbation.fit_resample(TABLE)
    selector = BeeFeatureSelector(schema("add-remove"), max_iter=2, random_state=0)
    chosen = selector.fit(X, y, source_guarantee=perturbation.guarantee_).selected_schema_
    assert stated(NaiveBayes(chosen).fit(TABLE)) == (math.inf, "add-remove", False)
    there = chosen.replace(adjacency="replace-one")
    assert stated(NaiveBayes(there).fit(TABLE)) == (4, "replace-one", True)


def test_rules_in_columns_whose_price_has_no_bound_hold_nothing():
    """Nothing of discreet perturbs records under add-remove; if it did, a choice under replace-one would not count."""
    promise = LocalGuarantee(Fraction(1), Adjacency.ADD_REMOVE, True, (), (), False, False)
    chosen = schema().replace(chosen={"epsilon": "1/2", "adjacency": "replace-one"})
    rules = BeeRules(chosen, max_iter=2, random_state=0).fit(TABLE, LABELS, source_guarantee=promise)
    assert stated(rules) == (math.inf, "add-remove", False)


def test_a_draft_is_never_forgiven():
    """Neither if its columns were chosen for a price, nor for an accuracy."""
    draft = schema().replace(from_data=["near.lower"], chosen={"epsilon": "1/2", "adjacency": "add-remove"})
    model = NaiveBayes(draft).fit(TABLE)
    assert not model.guarantee_.holds
    assert not evaluate(model, TABLE).guarantee.holds


def test_an_interrupted_perturbation_states_what_it_paid():
    perturbation = LocalPerturbation(schema("replace-one"), epsilon="1/10")
    perturbation.fit_resample(TABLE)
    perturbation.set_params(epsilon=5)

    def blocks() -> Any:
        yield {name: [record[name] for record in TABLE] for name in TABLE[0]}
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        perturbation.resample_blocks(blocks())
    assert stated(perturbation) == (5, "replace-one", True)


def test_what_a_choice_rests_on_is_said_by_all_that_follows(tmp_path):
    """Continuous noise, and whom to trust, are part of what was paid."""
    smooth = NaiveBayes(schema(), epsilon=50, numeric="smooth", select=None).fit(TABLE).noisy_
    chosen = BeeFeatureSelector(schema(), max_iter=2, random_state=0).fit_noisy(smooth).selected_schema_
    model = NaiveBayes(_through_a_file(chosen, tmp_path)).fit(TABLE)
    assert model.guarantee_.experimental
    assert "Experimental" in model.guarantee_.statement()
    again = FeatureSelector(chosen).fit(TABLE).selected_schema_
    assert NaiveBayes(again).fit(TABLE).guarantee_.experimental
    invitation = invite(schema(), 1, ["north", "south"])
    aggregator = Aggregator(invitation)
    for name in ("north", "south"):
        aggregator.add(Party(name, MemorySource(TABLE), Ledger(1)).answer(invitation))
    answers = aggregator.statistics()
    chosen = BeeFeatureSelector(schema(), max_iter=2, random_state=0).fit_noisy(answers).selected_schema_
    model = NaiveBayes(_through_a_file(chosen, tmp_path)).fit(TABLE)
    assert answers.receipt.trust in model.guarantee_.statement()
    perturbation = LocalPerturbation(schema("replace-one"), epsilon=3)
    X, y = perturbation.fit_resample(TABLE)
    selector = BeeFeatureSelector(schema("replace-one"), max_iter=2, random_state=0)
    chosen = selector.fit(X, y, source_guarantee=perturbation.guarantee_).selected_schema_
    assert "relies on the records being those" in NaiveBayes(chosen).fit(TABLE).guarantee_.statement()


def test_a_model_of_the_whole_schema_knows_the_records_of_a_selector():
    """What a selector leaves out must not be read as missing: the model would show the choice and not state it."""
    ledger = Ledger(10)
    selector = FeatureSelector(schema(), k=2).fit(TABLE, LABELS, ledger=ledger)
    for records in (TABLE, pd.DataFrame(TABLE), {name: [each[name] for each in TABLE] for name in schema().names}):
        kept = selector.transform(records)
        # without the mark: what the columns cost is not known
        plain = np.array(kept) if isinstance(kept, np.ndarray) else pd.DataFrame(dict(kept))
        with pytest.raises(DataError, match=r"missing|the schema has"):
            NaiveBayes(schema()).fit(plain, LABELS, ledger=ledger)
        assert stated(NaiveBayes(schema()).fit(kept, LABELS))[0] == 2
        assert stated(NaiveBayes(selector.selected_schema_).fit(kept, LABELS))[0] == 2
    assert ledger.spent == 1


SELECTORS: dict[str, Callable[[Schema], list[Any]]] = {
    "selector": lambda given: [FeatureSelector(given, k=3, epsilon="1/2")],
    "two selectors": lambda given: [
        FeatureSelector(given, k=3, epsilon="1/2"),
        FeatureSelector(given, k=2, epsilon="1/8"),
    ],
    "all columns": lambda given: [FeatureSelector(given, k=4, epsilon="1/2")],
}


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("selectors", SELECTORS)
def test_a_pipeline_states_what_was_charged(selectors: str, name: str, adjacency: str, tmp_path: Any) -> None:
    """Selector and model are given the same schema; fitted twice, the second fit states what it was charged itself."""
    given = schema(adjacency)
    pipeline = make_pipeline(*SELECTORS[selectors](given), PRIVATE[name](given, epsilon="3/4"))
    for _ in range(2):
        ledger = Ledger.unlimited()
        pipeline.fit(TABLE, LABELS, **{f"{step}__ledger": ledger for step, _ in pipeline.steps})
        assert stated(pipeline[-1]) == (ledger.spent, adjacency, True)
        assert ledger.spent > Fraction(3, 4)
    pipeline[-1].save(tmp_path / "m.json")
    assert stated(load(tmp_path / "m.json")) == (ledger.spent, adjacency, True)


@pytest.mark.parametrize("choice", ["seed", "no noise", "in the clear"])
def test_a_pipeline_whose_choice_has_no_guarantee_has_none(choice: str) -> None:
    selector = {
        "seed": FeatureSelector(schema(), random_state=1),
        "no noise": FeatureSelector(schema(), epsilon=math.inf),
        "in the clear": BeeFeatureSelector(schema(), max_iter=2, random_state=0),
    }[choice]
    for model in (NaiveBayes(schema()), BeeRules(schema(), max_iter=2, random_state=0)):
        assert not make_pipeline(selector, model).fit(TABLE, LABELS)[-1].guarantee_.holds


def test_rules_of_a_pipeline_do_not_forget_the_choice():
    """Records perturbed under the whole schema, then narrowed: the receipt is of another schema than the rules'."""
    whole = schema("replace-one")
    perturbation = LocalPerturbation(whole, epsilon=3)
    X, y = perturbation.fit_resample(TABLE)
    selector = FeatureSelector(whole, k=2, epsilon="1/2").fit(TABLE)
    kept = selector.transform(X)
    for make in (BeeRules, BeeFeatureSelector):
        promise = {"source_guarantee": perturbation.guarantee_, "source_receipt": perturbation.receipt_}
        with pytest.raises(ParameterError, match="another schema"):
            make(whole, max_iter=2, random_state=0).fit(kept, y, **promise)
        rules = make(whole, max_iter=2, random_state=0).fit(kept, y, source_guarantee=perturbation.guarantee_)
        assert stated(rules) == (Fraction(7, 2), "replace-one", True)


def test_columns_of_two_choices_do_not_come_together_for_the_price_of_one():
    first = FeatureSelector(schema().replace(columns=schema().columns[:2]), epsilon="1/2").fit(TABLE).selected_schema_
    second = FeatureSelector(schema().replace(columns=schema().columns[2:]), epsilon=1).fit(TABLE).selected_schema_
    with pytest.raises(SchemaError, match="not among those that were chosen"):
        first.replace(columns=first.columns + second.columns, ignore=())
    together = {"epsilon": "3/2", "adjacency": "add-remove"}
    union = first.replace(columns=first.columns + second.columns, ignore=(), chosen=together)
    assert stated(NaiveBayes(union).fit([{**record} for record in TABLE]))[0] == Fraction(5, 2)
    assert first.replace(columns=first.columns).chosen == first.chosen


def test_a_refused_or_interrupted_refit_leaves_no_other_promise(monkeypatch):
    model = NaiveBayes(schema(), epsilon="1/10").fit(TABLE)
    model.set_params(epsilon=5, schema=schema("replace-one"))
    with pytest.raises(BudgetError):
        model.fit(TABLE, ledger=Ledger(1))
    assert stated(model) == (Fraction(1, 10), "add-remove", True)
    assert model.schema_ == schema()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(NaiveBayes, "_build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TABLE)
    with pytest.raises(NotFittedError):
        model.predict(TABLE[:1])
    assert stated(model) == (5, "replace-one", True)


@pytest.mark.parametrize("text", ["1e9999999", "-1", "0", "1/0", "nan", "inf", "", "1" * 600, " 1"])
def test_a_price_that_is_none_is_refused_at_once(text):
    for chosen in (text, {"epsilon": text, "adjacency": "add-remove"}):
        with pytest.raises(SchemaError, match="chosen"):
            schema().replace(chosen=chosen)
    for chosen in ({"epsilon": "1", "adjacency": None}, {"epsilon": "1", "adjacency": "add-remove", "more": 1}, 1, []):
        with pytest.raises(SchemaError, match="chosen"):
            schema().replace(chosen=chosen)


def test_a_schema_without_its_format_loses_no_price():
    content = {name: value for name, value in schema().to_dict().items() if name != "format"}
    with pytest.raises(SchemaError, match="format"):
        Schema.from_dict(content)


def test_an_accuracy_is_of_a_model_of_discreet():
    class Careless(NaiveBayes):
        def predict(self, X: Any) -> Any:
            raise ValueError(f"I have seen {X}")

    ledger = Ledger(1)
    model = Careless(schema()).fit(TABLE)
    with pytest.raises(ParameterError, match="need a fitted model"):
        evaluate(model, TABLE, ledger=ledger)
    assert ledger.entries == []


def test_a_perturbed_table_and_its_rules_say_what_the_choice_rests_on():
    """The price, the noise and the trust of a choice go with the table, and with the rules that are learned from it."""
    paid = {"epsilon": "1/2", "adjacency": "replace-one", "experimental": True, "trust": "Trust the north."}
    perturbation = LocalPerturbation(schema("replace-one").replace(chosen=paid), epsilon=3)
    X, y = perturbation.fit_resample(TABLE)
    promises = [{"source_guarantee": perturbation.guarantee_, "source_receipt": perturbation.receipt_}]
    plain = LocalPerturbation(schema("replace-one"), epsilon=3)
    plain.fit_resample(TABLE)
    promises.append({"source_guarantee": plain.guarantee_})
    rules = [BeeRules(perturbation.schema, max_iter=2, random_state=0).fit(X, y, **each) for each in promises]
    for made in (perturbation, *rules):
        assert stated(made) == (Fraction(7, 2), "replace-one", True)
        statement = made.guarantee_.statement()
        assert "Trust the north." in statement
        assert "Experimental" in statement
    assert "0.5 was paid to choose the columns" in perturbation.guarantee_.statement()
