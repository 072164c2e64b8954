"""A published accuracy: the loss between neighbours, the interval, the order of check, charge and reading."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from discreet import BeeRules, Ledger, NaiveBayes, datasets
from discreet.errors import BudgetError, DataError, FileError, ParameterError
from discreet.evaluation import accuracy as evaluation
from discreet.evaluation.accuracy import (
    AccuracyGuarantee,
    evaluate,
    evaluate_file,
    interval,
    noise_margin,
    right_fraction,
)
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import as_rng
from discreet.records import files
from discreet.sources import predictions as marked
from discreet.sources.predictions import MarkedSource
from support.estimators import PRIVATE
from support.neighbours import ADJACENCIES, BASE, EDGES, ODD, neighbours, schema
from support.records import split_target
from support.replay import Passage, exact_loss, recorded

TRAINED = [
    {"near": near, "far": 100.5, "open": kind, "closed": kind, "label": label}
    for near, kind, label in [(-0.8, "a", "x"), (0.1, "b", "y"), (0.9, "?", "z")]
] * 30


def public_model(name: str = "naive-bayes", adjacency: str = "add-remove") -> Any:
    """A model trained on other records than the test records."""
    return PRIVATE[name](schema(adjacency), epsilon=50.0, random_state=3).fit(TRAINED)


MODELS = {
    (name, adjacency): public_model(name, adjacency)
    for name in ("naive-bayes", "one-rule", "decision-tree", "random-forest", "svm")
    for adjacency in ADJACENCIES
}
RULES = BeeRules(schema(), random_state=0).fit(TRAINED)


def entered(model: Any, table: Any, **options: Any) -> Passage:
    """The exact table that the mechanism gets."""
    passages: list[Passage] = []
    with recorded(passages):
        evaluate(model, table, **{"epsilon": 1, "random_state": 1, "only": "accuracy", **options})
    (passage,) = passages
    return passage


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", ["naive-bayes", "one-rule", "decision-tree", "random-forest", "svm"])
@settings(max_examples=25)
@given(data=st.data())
def test_the_loss_between_neighbours_is_what_was_paid(name: str, adjacency: str, data: st.DataObject) -> None:
    table, other = data.draw(neighbours(adjacency))
    model, first, second = MODELS[name, adjacency], [], []
    with recorded(first):
        found = evaluate(model, table, epsilon=1, only="accuracy", random_state=1)
    with recorded(second, first):
        twin = evaluate(model, other, epsilon=1, only="accuracy", random_state=1)
    assert len(first) == len(second) == 1
    assert exact_loss(first[0], second[0]) <= 1 == found.receipt.epsilon
    assert repr(found) == repr(twin), "what differs at equal noisy outputs was not released"


@settings(max_examples=25)
@given(data=st.data())
def test_rules_are_marked_one_record_at_a_time(data: st.DataObject) -> None:
    table, other = data.draw(neighbours("add-remove"))
    passages = [entered(RULES, each) for each in (table, other)]
    assert exact_loss(*passages) <= 1


def test_a_matrix_product_never_sees_two_records(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    original = BeeRules.predict

    def spy(self: Any, X: Any) -> Any:
        sizes.append(len(next(iter(X.values()))))
        return original(self, X)

    monkeypatch.setattr(BeeRules, "predict", spy)
    evaluate(RULES, TRAINED, epsilon=1)
    assert sizes == [1] * len(TRAINED)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_the_bound_is_attained(adjacency: str) -> None:
    """No more noise than needed: one added record, or one that turns from right to wrong, costs the whole epsilon."""
    model = MODELS["naive-bayes", adjacency]
    right, wrong = TRAINED[0], {**TRAINED[0], "label": "z"}
    pair = ([right], []) if adjacency == "add-remove" else ([right], [wrong])
    passages = [entered(model, table) for table in pair]
    assert 1 - Fraction(1, 10**12) <= exact_loss(*passages) <= 1
    assert evaluate(model, [right], epsilon=1).receipt.charges[0].sensitivity == (1 if adjacency == "add-remove" else 2)


def test_the_adjacency_can_be_asked_for() -> None:
    model = MODELS["naive-bayes", "add-remove"]
    found = evaluate(model, TRAINED, epsilon=1, only="accuracy", adjacency="replace-one")
    assert found.receipt.charges[0].scale == 2
    assert "replaced by any other" in found.guarantee.statement()
    assert "added or removed" in evaluate(model, TRAINED, epsilon=1).guarantee.statement()


# Mutants: each breaks the guarantee in one way; the comparison of what entered must notice.


def _always_add_remove(monkeypatch: pytest.MonkeyPatch) -> None:
    original = evaluation.marks
    monkeypatch.setattr(evaluation, "marks", lambda *_: original("add-remove"))


def _batches_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Predictions that depend on other records, as those of a matrix product may."""
    original = NaiveBayes.predict
    monkeypatch.setattr(NaiveBayes, "predict", lambda self, X: np.roll(original(self, X), 1))


@pytest.mark.parametrize("mutant", [_always_add_remove, _batches_matter])
def test_mutants_are_caught(mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS["naive-bayes", "replace-one"]
    first, second = {**TRAINED[0], "label": "z"}, {**TRAINED[1], "label": "x"}
    pairs = [([TRAINED[0]], [first]), ([*TRAINED[:6], first], [*TRAINED[:6], second])]
    losses = [exact_loss(entered(model, one), entered(model, other)) for one, other in pairs]
    assert max(losses) <= 1
    mutant(monkeypatch)
    original = AccuracyGuarantee.of.__func__  # it would refuse the receipt; here the losses alone must show the defect
    readdressed = lambda cls, receipt, given: original(cls, replace(receipt, adjacency=given.adjacency), given)  # noqa: E731
    monkeypatch.setattr(AccuracyGuarantee, "of", classmethod(readdressed))
    losses = [exact_loss(entered(model, one), entered(model, other)) for one, other in pairs]
    assert max(losses) > 1


def test_too_little_noise_is_refused_by_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    original, ledger = DiscreteLaplace.calibrated.__func__, Ledger(1)
    halved = classmethod(lambda *given: DiscreteLaplace(original(*given).scale / 2))
    monkeypatch.setattr(DiscreteLaplace, "calibrated", halved)
    with pytest.raises(ParameterError, match="costs more"):
        evaluate(MODELS["naive-bayes", "add-remove"], TRAINED, epsilon=1, ledger=ledger)
    assert ledger.spent == 0


def test_records_without_a_class_are_counted_nowhere() -> None:
    model = MODELS["naive-bayes", "add-remove"]
    stray = [{**TRAINED[0], "label": label} for label in (None, "unlisted", math.nan, 3)]
    assert entered(model, TRAINED[:3]).entered.ravel().tolist() == [3, 0]
    assert entered(model, TRAINED[:3] + stray).entered.ravel().tolist() == [3, 0]
    assert entered(model, [*TRAINED[:3], {**TRAINED[0], "label": "y"}]).entered.ravel().tolist() == [3, 1]


@pytest.mark.parametrize("model", [*MODELS.values(), RULES])
@pytest.mark.parametrize("table", [*EDGES.values(), [{}], [None, 3, []], [{"near": 1}]])
def test_no_record_makes_it_fail(model: Any, table: Any) -> None:
    found = evaluate(model, table, epsilon=0.1)
    assert 0 <= found.lower <= found.value <= found.upper <= 1
    json.dumps(found.to_dict(), allow_nan=False)


def test_without_noise_it_is_the_score(schema: Any, records: Any) -> None:
    X, y = split_target(records)
    model = NaiveBayes(schema, epsilon=math.inf).fit(X, y)
    found = evaluate(model, X, y, epsilon=math.inf)
    known = np.isin(y.astype(str), schema.classes)
    exact = model.score({name: values[known] for name, values in X.items()}, y[known])
    assert found.value == found.lower == found.upper == exact
    assert evaluate(model, records, epsilon=math.inf).value == exact
    assert not found.guarantee.holds
    assert "infinite" in found.guarantee.statement()


def test_the_margin_is_the_least_that_holds() -> None:
    """Compared with the probabilities of the noise, summed term by term."""
    for scale, confidence in [(0.1, 0.95), (1.0, 0.95), (2.0, 0.5), (7.3, 0.99), (40.0, 0.9), (3.0, 0.01)]:
        z = np.arange(-4000, 4001)
        law = np.exp(-np.abs(z) / scale)
        law /= law.sum()
        within = [law[np.abs(z) <= t].sum() ** 2 for t in range(600)]
        assert noise_margin(scale, confidence) == next(t for t, share in enumerate(within) if share >= confidence)
    assert noise_margin(0.0, 0.95) == 0
    assert noise_margin(2.0**50, 0.95) > 2**50


def test_the_interval_covers_as_often_as_it_says() -> None:
    rng = as_rng(5)
    for right, wrong in [(0, 1), (3, 2), (40, 10), (500, 0)]:
        draws = rng.discrete_laplace(4.0, (4000, 2)) + np.array([right, wrong])
        margin = noise_margin(4.0, 0.8)
        bounds = [interval(int(r), int(w), margin) for r, w in draws]
        covered = np.mean([low <= right / (right + wrong) <= high for low, high in bounds])
        assert covered > 0.8 - 4 * math.sqrt(0.8 * 0.2 / 4000)


@pytest.mark.parametrize(
    ("right", "wrong", "margin", "expected"),
    [
        (80, 20, 10, (0.7, 0.9)),
        (5, 5, 10, (0.0, 1.0)),
        (-9, -9, 4, (0.0, 1.0)),
        (-9, 20, 4, (0.0, 0.0)),
        (20, -9, 4, (1.0, 1.0)),
        (3, 1, 0, (0.75, 0.75)),
    ],
)
def test_the_corners_of_the_interval(right: int, wrong: int, margin: int, expected: tuple[float, float]) -> None:
    assert interval(right, wrong, margin) == expected


@pytest.mark.parametrize(
    ("right", "wrong", "share"), [(3, 1, 0.75), (-5, 3, 0.0), (5, -3, 1.0), (0, 0, 0.0), (-1, -1, 0.0)]
)
def test_a_share_is_a_share(right: int, wrong: int, share: float) -> None:
    assert right_fraction(right, wrong) == share


# Order: structure, charge, reading


def test_the_charge_comes_before_the_first_value(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, model = Ledger(3), MODELS["naive-bayes", "add-remove"]
    seen = []
    original = MarkedSource.count
    monkeypatch.setattr(MarkedSource, "count", lambda *given: seen.append(ledger.spent) or original(*given))
    found = evaluate(model, TRAINED, epsilon="1/3", ledger=ledger)
    assert seen == [Fraction(1, 3)]
    assert ledger.entries == [("accuracy of naive-bayes for label", Fraction(1, 3))]
    assert found.guarantee.epsilon == Fraction(1, 3)
    assert found.guarantee.holds
    with pytest.raises(BudgetError):
        evaluate(model, TRAINED, epsilon=3, ledger=ledger)
    assert ledger.spent == Fraction(1, 3)
    assert len(seen) == 1


def test_reading_that_fails_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(1)
    monkeypatch.setattr(marked, "class_codes", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        evaluate(MODELS["naive-bayes", "add-remove"], TRAINED, epsilon=1, ledger=ledger)
    assert ledger.remaining == 0


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"near": [0.1], "far": [100], "open": ["a"], "label": ["x"]}, "'closed'"),
        ({"near": [0.1], "far": [100], "open": ["a"], "closed": ["a"]}, "'label'"),
        ({"near": [0.1], "far": [100], "open": ["a"], "closed": ["a"], "label": ["x"], "new": [1]}, "'new'"),
        (np.zeros((3, 2)), "features"),
    ],
)
def test_a_wrong_structure_costs_nothing(table: Any, words: str) -> None:
    ledger = Ledger(1)
    with pytest.raises(DataError, match=words):
        evaluate(MODELS["naive-bayes", "add-remove"], table, epsilon=1, ledger=ledger)
    with pytest.raises(DataError, match="lengths"):
        evaluate(MODELS["naive-bayes", "add-remove"], TRAINED, ["x"], epsilon=1, ledger=ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": 10_001},
        {"epsilon": "much"},
        {"confidence": 1},
        {"confidence": 0.0},
        {"confidence": math.nan},
        {"confidence": True},
        {"confidence": "0.9"},
        {"random_state": -1},
        {"ledger": 3},
    ],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        evaluate(MODELS["naive-bayes", "add-remove"], TRAINED, **{"epsilon": 1, **wrong})


def test_models_that_cannot_be_evaluated() -> None:
    with pytest.raises(ParameterError, match="NaiveBayes"):
        evaluate("model", TRAINED, epsilon=1)
    with pytest.raises(NotFittedError):
        evaluate(NaiveBayes(schema()), TRAINED, epsilon=1)
    X, y = np.array([[0.0], [1.0]] * 5), ["a", "b"] * 5
    with pytest.raises(ParameterError, match="from-data"):
        evaluate(NaiveBayes("from-data", epsilon=1).fit(X, y), X, y, epsilon=1)


def test_a_file_is_the_same_as_a_table_in_memory(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, path = MODELS["naive-bayes", "add-remove"], tmp_path / "test.csv"
    rows = [*TRAINED, {**TRAINED[0], "label": "z"}, {**TRAINED[0], "label": ""}]
    lines = [
        "id,label,near,far,open,closed",
        *(f"7,{r['label']},{r['near']},{r['far']},{r['open']},{r['closed']}" for r in rows),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert evaluate_file(model, path, epsilon=math.inf).to_dict()["accuracy"] == 90 / 91
    first, second = (
        evaluate_file(model, path, epsilon=1, random_state=2),
        evaluate(model, rows, epsilon=1, random_state=2),
    )
    assert repr(first) == repr(second)
    original = files.read_blocks
    monkeypatch.setattr(files, "read_blocks", lambda path, **extra: original(path, 7, **extra))
    assert repr(evaluate_file(model, path, epsilon=1, random_state=2)) == repr(first)
    with path.open("ab") as file:
        file.write(b"7,x,-0.8,100.5,a,\xff\n")  # not UTF-8: a record with a value that is not listed, as in training
    longer = [*rows, {"label": "x", "near": -0.8, "far": 100.5, "open": "a", "closed": b"\xff"}]
    third = evaluate(model, longer, epsilon=1, random_state=2)
    assert repr(third) != repr(first)
    assert repr(evaluate_file(model, path, epsilon=1, random_state=2)) == repr(third)
    with pytest.raises(FileError):
        evaluate_file(model, tmp_path / "none.csv", epsilon=1)


def test_what_is_said_is_right_and_hides_values() -> None:
    model = MODELS["naive-bayes", "add-remove"]
    text = evaluate(model, TRAINED, epsilon=1).guarantee.statement()
    assert "accuracy is 1-differentially private" in text
    assert "2.719" in text
    seeded = evaluate(model, TRAINED, epsilon=1, random_state=0)
    assert not seeded.guarantee.holds
    source = MarkedSource(model.predict, schema(), (TRAINED, None), lambda: [(TRAINED, None)], singly=False)
    assert repr(source) == "MarkedSource(values hidden)"
    for method, more in (("rows", ()), ("fold", (None,))):
        with pytest.raises(TypeError, match="only be counted"):
            getattr(source, method)([], evaluation.marks("add-remove"), *more)


@pytest.mark.parametrize(("epsilon", "words"), [("1.0000004", "1.00001-diff"), (1000, "e^1000")])
def test_the_statement_never_understates(epsilon, words):
    model = NaiveBayes(schema(), epsilon=1).fit([BASE, ODD])
    assert words in evaluate(model, [BASE, ODD], epsilon=epsilon).guarantee.statement()


def test_an_accuracy_is_not_charged_for_how_the_model_chose_its_columns():
    model = NaiveBayes(schema().replace(chosen={"epsilon": "7", "adjacency": "add-remove"}), epsilon=1).fit([BASE, ODD])
    assert model.guarantee_.epsilon == 8
    accuracy = evaluate(model, [BASE, ODD], epsilon="1/2")
    assert accuracy.guarantee.epsilon == accuracy.receipt.epsilon == Fraction(1, 2)


def test_nothing_fails_after_the_charge_however_sure_one_wants_to_be():
    X, y, schema = datasets.load("iris")
    model, ledger = NaiveBayes(schema, epsilon=math.inf).fit(X, y), Ledger(10)
    for confidence in (math.nextafter(1, 0), 1 - 1e-10):
        with pytest.raises(ParameterError, match=r"at most 0\.999999999"):
            evaluate(model, X, y, epsilon=1, confidence=confidence, ledger=ledger)
    assert ledger.spent == 0
    for confidence in (1e-9, 0.999999999):
        found = evaluate(model, X, y, epsilon=1, confidence=confidence, ledger=ledger)
        assert 0 <= found.lower <= found.upper <= 1
