"""A published confusion matrix: the loss between neighbours, its figures, mutants, and all kinds of models."""

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
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, precision_score, recall_score

from discreet import Categorical, Ledger, NaiveBayes, Schema
from discreet.errors import ParameterError
from discreet.evaluation import accuracy as evaluation
from discreet.evaluation.accuracy import AccuracyGuarantee, evaluate
from discreet.evaluation.confusion import MOST_CLASSES
from discreet.sources import predictions
from support.estimators import PRIVATE
from support.neighbours import ADJACENCIES, EDGES, neighbours, schema
from support.replay import Passage, exact_loss, recorded

TRAINED = [
    {"near": near, "far": 100.5, "open": kind, "closed": kind, "label": label}
    for near, kind, label in [(-0.8, "a", "x"), (0.1, "b", "y"), (0.9, "?", "z")]
] * 30
NAMES = ("naive-bayes", "one-rule", "decision-tree", "random-forest", "svm")
MODELS = {
    (name, adjacency): PRIVATE[name](schema(adjacency), epsilon=50.0, random_state=3).fit(TRAINED)
    for name in NAMES
    for adjacency in ADJACENCIES
}
TWO = Schema([Categorical("c", ["a", "b"])], "y", ["no", "yes"])
TWO_MODEL = NaiveBayes(TWO, epsilon=50.0, random_state=0).fit([{"c": "a"}, {"c": "b"}] * 50, ["no", "yes"] * 50)


def entered(model: Any, table: Any, **options: Any) -> list[Passage]:
    """The exact tables that the mechanism gets."""
    passages: list[Passage] = []
    with recorded(passages):
        evaluate(model, table, **{"epsilon": 1, "random_state": 1, **options})
    return passages


def together(first: list[Passage], second: list[Passage]) -> Fraction:
    return sum((exact_loss(*each) for each in zip(first, second, strict=True)), Fraction(0))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(data=st.data())
def test_the_loss_between_neighbours_is_what_was_paid(name: str, adjacency: str, data: st.DataObject) -> None:
    table, other = data.draw(neighbours(adjacency))
    model, first, second = MODELS[name, adjacency], [], []
    with recorded(first):
        found = evaluate(model, table, epsilon=1, random_state=1)
    with recorded(second, first):
        twin = evaluate(model, other, epsilon=1, random_state=1)
    assert len(first) == len(second) == 2
    assert together(first, second) <= 1 == found.receipt.epsilon
    assert repr(found) == repr(twin), "what differs at equal noisy outputs was not released"


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_the_bound_is_attained(adjacency: str) -> None:
    """No more noise than needed: one added record, or one that changes its class, costs the whole epsilon."""
    model = MODELS["naive-bayes", adjacency]
    right, wrong = TRAINED[0], {**TRAINED[0], "label": "z"}
    pair = ([right], []) if adjacency == "add-remove" else ([right], [wrong])
    assert 1 - Fraction(1, 10**12) <= together(*(entered(model, table) for table in pair)) <= 1
    shares = [charge.epsilon for charge in evaluate(model, [right], epsilon="1/3").receipt.charges]
    assert shares == [Fraction(1, 6)] * 2


def test_two_classes_ask_for_the_matrix_alone() -> None:
    charges = evaluate(TWO_MODEL, [{"c": "a"}], ["no"], epsilon=1).receipt.charges
    assert [(each.query, each.epsilon, each.scale) for each in charges] == [("Predictions(true, predicted)", 1, 1.0)]
    only = evaluate(TWO_MODEL, [{"c": "a"}], ["no"], epsilon=1, only="accuracy")
    assert [each.query for each in only.receipt.charges] == ["Predictions(right, wrong)"]
    assert only.confusion is None
    assert only.to_dict()["confusion"] is None


def _always_add_remove(monkeypatch: pytest.MonkeyPatch) -> None:
    original = evaluation.marks
    monkeypatch.setattr(evaluation, "marks", lambda adjacency, classes: original("add-remove", classes))


def _counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    original = predictions.counted_pairs
    monkeypatch.setattr(predictions, "counted_pairs", lambda *given: 2 * original(*given))


def _batches_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    original = NaiveBayes.predict
    monkeypatch.setattr(NaiveBayes, "predict", lambda self, X: np.roll(original(self, X), 1))


def _all_of_it_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "split_evenly", lambda epsilon, parts: [epsilon] * parts)


@pytest.mark.parametrize("mutant", [_always_add_remove, _counted_twice, _batches_matter, _all_of_it_twice])
def test_mutants_are_caught(mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = MODELS["naive-bayes", "replace-one"]
    first, second = {**TRAINED[0], "label": "z"}, {**TRAINED[1], "label": "x"}
    pairs = [([TRAINED[0]], [first]), ([*TRAINED[:6], first], [*TRAINED[:6], second])]
    assert max(together(entered(model, one), entered(model, other)) for one, other in pairs) <= 1
    mutant(monkeypatch)
    original = AccuracyGuarantee.of.__func__  # it would refuse the receipt; here the losses alone must show the defect
    readdressed = lambda cls, receipt, given: original(cls, replace(receipt, adjacency=given.adjacency), given)  # noqa: E731
    monkeypatch.setattr(AccuracyGuarantee, "of", classmethod(readdressed))
    ledger = Ledger(100)
    losses = [
        together(entered(model, one, ledger=ledger), entered(model, other, ledger=ledger)) for one, other in pairs
    ]
    assert max(losses) > 1


def test_without_noise_the_figures_are_those_of_scikit_learn() -> None:
    model, rng = MODELS["decision-tree", "add-remove"], np.random.default_rng(0)
    table = [{**TRAINED[int(place)], "label": "xyz"[int(rng.integers(3))]} for place in rng.integers(90, size=200)]
    table += [{**TRAINED[0], "label": label} for label in (None, "unlisted", math.nan)]
    true = [each["label"] for each in table[:200]]
    predicted = model.predict([{k: v for k, v in each.items() if k != "label"} for each in table[:200]])
    found = evaluate(model, table, epsilon=math.inf).confusion
    classes = list(found.classes)
    assert np.array_equal(found.counts, confusion_matrix(true, predicted, labels=classes))
    assert math.isclose(found.balanced_accuracy.value, balanced_accuracy_score(true, predicted))
    options = {"labels": classes, "average": None, "zero_division": 0}
    assert np.allclose([each.sensitivity.value for each in found.by_class], recall_score(true, predicted, **options))
    assert np.allclose([each.precision.value for each in found.by_class], precision_score(true, predicted, **options))
    for each in found.by_class:
        others = [(t, p) for t, p in zip(true, predicted, strict=True) if t != each.label]
        assert math.isclose(each.specificity.value, np.mean([p != each.label for _, p in others]))
    assert found.margin == 0
    assert found.rarest.records == min(true.count(label) for label in classes)


def test_right_and_wrong_of_two_classes_are_within_their_margin() -> None:
    X, y = [{"c": "a"}] * 70 + [{"c": "b"}] * 30, ["no"] * 80 + ["yes"] * 20
    founds = [evaluate(TWO_MODEL, X, y, epsilon=0.5, confidence=0.8, random_state=seed) for seed in range(400)]
    within = np.mean([max(abs(each.right - 90), abs(each.wrong - 10)) <= each.margin for each in founds])
    assert within > 0.8 - 4 * math.sqrt(0.8 * 0.2 / 400)
    assert within < 0.9, "not wider than needed"
    assert np.mean([each.lower <= 0.9 <= each.upper for each in founds]) > 0.8 - 4 * math.sqrt(0.8 * 0.2 / 400)


@pytest.mark.parametrize("model", [*MODELS.values()][:5])
@pytest.mark.parametrize("table", [*EDGES.values(), [{}], [None, 3, []]])
def test_no_record_makes_it_fail(model: Any, table: Any) -> None:
    found = evaluate(model, table, epsilon=0.1)
    for each in found.confusion.by_class:
        for rate in (each.sensitivity, each.specificity, each.precision):
            assert 0 <= rate.lower <= rate.value <= rate.upper <= 1
    json.dumps(found.to_dict(), allow_nan=False)


def test_too_many_classes_have_an_accuracy_alone() -> None:
    labels = [f"k{place}" for place in range(MOST_CLASSES + 1)]
    many = Schema([Categorical("c", ["a"])], "y", labels)
    model = NaiveBayes(many, epsilon=1, random_state=0).fit([{"c": "a"}], ["k0"])
    assert evaluate(model, [{"c": "a"}], ["k0"], epsilon=1).confusion is None
    fewer = Schema([Categorical("c", ["a"])], "y", labels[:-1])
    model = NaiveBayes(fewer, epsilon=1, random_state=0).fit([{"c": "a"}], ["k0"])
    assert len(evaluate(model, [{"c": "a"}], ["k0"], epsilon=1).confusion.counts) == MOST_CLASSES


@pytest.mark.parametrize("only", ["recall", "", 3, True, ["accuracy"]])
def test_what_cannot_be_asked_for_alone(only: Any) -> None:
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="only="):
        evaluate(TWO_MODEL, [{"c": "a"}], ["no"], epsilon=1, ledger=ledger, only=only)
    assert ledger.spent == 0


def test_the_picture_shows_every_class_and_count() -> None:
    pytest.importorskip("matplotlib")
    found = evaluate(MODELS["naive-bayes", "add-remove"], TRAINED, epsilon=math.inf).confusion
    figure = found.plot()
    matrix, rates = figure.axes[:2]
    assert (
        [text.get_text() for text in matrix.get_yticklabels()]
        == ["x", "y", "z"]
        == [text.get_text() for text in rates.get_yticklabels()]
    )
    assert sorted(text.get_text() for text in matrix.texts) == ["0"] * 6 + ["30"] * 3
