"""Weights of classes: what they cost, what they change, what is refused, and that a rare class is found."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import (
    Auto,
    Categorical,
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
from discreet.errors import ParameterError
from discreet.models.class_weights import in_integers, weights_of
from discreet.models.linear import calibration, linear_svm
from discreet.models.trees import learning
from discreet.queries.margins import Margins
from discreet.queries.trees import HEAVIEST, SplitScore
from support.neighbours import ADJACENCIES, neighbours
from support.neighbours import schema as neighbours_schema
from support.replay import replay, visible

WEIGHTED = {
    "naive-bayes": NaiveBayes,
    "decision-tree greedy": partial(DecisionTree, structure="greedy", max_depth=2),
    "decision-tree random": partial(DecisionTree, structure="random", max_depth=2),
    "decision-tree pruned": partial(DecisionTree, structure="greedy", max_depth=1, prune=1.0),
    "random-forest": partial(RandomForest, n_trees=2, structure="random", max_depth=1),
    "svm": LinearSVM,
    "auto": Auto,
}
SCHEMA = Schema([Numeric("a", -4, 4), Numeric("b", -4, 4), Categorical("c", list("pqr"))], "y", ["common", "rare"])


def two(adjacency: str) -> Schema:
    """Two classes; records of the third are without a class."""
    return neighbours_schema(adjacency).replace(classes=["x", "y"])


def drawn(records: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    rare = rng.random(records) < 0.05
    table = {name: rng.normal(size=records) + 1.3 * rare for name in "ab"}
    table["c"] = np.array(list("pqr"))[np.where(rare, 0, rng.integers(3, size=records))]
    return table, np.where(rare, "rare", "common")


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", WEIGHTED)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_fit_with_weights_stays_within_epsilon_and_leaks_nothing(name, adjacency, data):
    table, other = data.draw(neighbours(adjacency))
    weight = data.draw(st.sampled_from(["balanced", {"x": 3.5, "y": 1}]))

    def fit(rows: Any) -> Any:
        return WEIGHTED[name](two(adjacency), epsilon=1.0, class_weight=weight, random_state=3).fit(rows)

    loss, model, twin = replay(fit, table, other)
    assert loss <= 1 + 1e-9
    assert model.receipt_.epsilon == model.guarantee_.epsilon == 1
    assert visible(model) == visible(twin)


def _unpriced_weights(monkeypatch):
    """The sensitivity of an unweighted score."""
    original = SplitScore.weighted
    monkeypatch.setattr(
        SplitScore, "weighted", lambda self, w: SplitScore(self.name, original(self, w).value, self.sensitivity)
    )


def _sizes_for_free(monkeypatch):
    monkeypatch.setattr(learning, "split_by_weight", lambda epsilon, weights: [epsilon] * len(weights))


def _line_for_free(monkeypatch):
    monkeypatch.setattr(linear_svm, "split_by_weight", lambda epsilon, weights: [epsilon] * len(weights))


def _counted_for_add_remove(monkeypatch):
    monkeypatch.setattr(Margins, "distance", lambda self, schema: 1)


MUTANTS = [
    ("decision-tree greedy", _unpriced_weights),
    ("decision-tree greedy", _sizes_for_free),
    ("svm", _line_for_free),
    ("svm", _counted_for_add_remove),
]


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_mutants_are_caught(name, mutant, monkeypatch):
    """What costs more than is stated is noticed by the comparison of what entered, or refused by the passage."""
    record = {"near": -1, "far": 100, "open": "a", "closed": "a", "label": "x"}
    flipped = {**record, "near": 1, "far": 101, "open": "b", "closed": "b", "label": "y"}
    public = two("replace-one")

    def fit(rows: Any) -> Any:
        made = WEIGHTED[name](public, epsilon=1.0, class_weight="balanced", random_state=3)
        return made.fit(rows, ledger=Ledger(9, adjacency="replace-one"))

    def lost() -> Fraction:
        others = flipped, {**record, "label": "y"}
        pairs = [([record] * n, [record] * (n - 1) + [other]) for n in (1, 2, 40) for other in others]
        return max(replay(fit, *pair)[0] for pair in pairs)

    assert lost() <= 1 + 1e-9
    mutant(monkeypatch)
    model_states_more = fit([record]).receipt_.epsilon > 1
    assert model_states_more or lost() > 1


@pytest.mark.parametrize("family", [NaiveBayes, DecisionTree, LinearSVM, Auto])
def test_a_rare_class_is_found(family):
    table, labels = drawn(20_000, 1)
    public = SCHEMA.replace(records=20_000)
    plain, weighted = (
        family(public, epsilon=1, class_weight=weight, random_state=5).fit(*drawn(20_000, 0))
        for weight in (None, "balanced")
    )
    rare, found = labels == "rare", weighted.predict(table) == "rare"
    assert found[rare].mean() > 0.6
    assert rare[found].mean() > 0.1, "twice the base rate"
    assert (plain.predict(table) == "rare")[rare].mean() < 0.4


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_saved_and_told(name, tmp_path):
    model = WEIGHTED[name](SCHEMA, epsilon=5, class_weight={"rare": 4}, random_state=0).fit(*drawn(2000, 2))
    model.save(tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    assert content["card"]["class_weight"] == content["parameters"]["class_weight"] == {"rare": 4.0}
    again, table = load(tmp_path / "m.json"), drawn(500, 3)[0]
    assert again.class_weight == {"rare": 4.0}
    assert np.array_equal(again.predict(table), model.predict(table))
    assert again.explain() == model.explain()
    assert "Classes are weighted" in model.explain()
    plain = WEIGHTED[name](SCHEMA, epsilon=5, random_state=0).fit(*drawn(2000, 2))
    plain.save(tmp_path / "p.json")
    assert "class_weight" not in (tmp_path / "p.json").read_text(), "earlier versions can read it"
    assert "weighted" not in plain.explain()


def test_labels_that_are_numbers_are_found_again(tmp_path):
    public = Schema([Categorical("c", ["a", "b"])], "y", [0, 1])
    model = NaiveBayes(public, epsilon=50, class_weight={1: 9, 0: 1}, random_state=0)
    model.fit([{"c": "a"}, {"c": "b"}] * 40, [0, 1] * 40).save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert np.array_equal(again.class_log_prior_, model.class_log_prior_)
    assert np.isclose(np.exp(model.class_log_prior_[1]), 0.9, atol=0.02)


def test_balanced_is_an_even_prior():
    model = NaiveBayes(SCHEMA, epsilon=1, class_weight="balanced", random_state=0).fit(*drawn(3000, 1))
    assert np.allclose(np.exp(model.class_log_prior_), 0.5)
    assert model.class_weight_[1] > 5
    assert model.class_weight_[0] < 1
    assert "Weighted frequency of each class" in model.explain()


def test_weights_of_one_change_nothing_but_the_price():
    for family in (NaiveBayes, partial(DecisionTree, structure="random")):
        table = drawn(2000, 1)
        one, none = (
            family(SCHEMA, epsilon=1, class_weight=weight, random_state=0)
            for weight in ({"rare": 1, "common": 1}, None)
        )
        if family is NaiveBayes:
            none.set_params(select=None)
        assert np.allclose(one.fit(*table).predict_proba(table[0]), none.fit(*table).predict_proba(table[0]))


def test_the_line_of_a_linear_model_is_where_the_counts_say():
    """Without noise: the best of all thresholds, by the definition."""
    table, labels = drawn(3000, 4)
    model = LinearSVM(SCHEMA, epsilon=float("inf"), class_weight="balanced").fit(table, labels)
    plain = LinearSVM(SCHEMA, epsilon=float("inf")).fit(table, labels)
    scores, rare = plain.decision_function(table), labels == "rare"
    best = max(
        (scores[rare] > t).mean() + (scores[~rare] <= t).mean() for t in np.linspace(scores.min(), scores.max(), 400)
    )
    found = model.predict(table) == "rare"
    assert found[rare].mean() + (~found[~rare]).mean() > best - 0.03
    moved = model.decision_function(table) - scores
    assert np.allclose(moved, moved[0])


@pytest.mark.parametrize("cells", [1, 100, 10**6, 10**9])
def test_intervals_are_never_too_many_for_an_engine(cells):
    bins = calibration.bins_for(cells)
    assert 2 <= bins <= calibration.BINS
    assert bins == 2 or bins * cells <= calibration.MOST_NUMBERS


def test_weights_are_integers_for_splits_and_sum_to_the_records():
    assert in_integers("balanced", SCHEMA, np.array([1900, 100])) == (1, HEAVIEST)
    assert in_integers("balanced", SCHEMA, np.array([-50, -3])) == (HEAVIEST, HEAVIEST)
    assert in_integers({"rare": 2}, SCHEMA) == (HEAVIEST // 2, HEAVIEST)
    weights = weights_of({"rare": 3}, SCHEMA, np.array([60, 40]))
    assert np.isclose(weights @ [60, 40], 100)
    assert weights_of(None, SCHEMA, np.array([1, 1])) is None


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ("even", "balanced"),
        (3, "balanced"),
        ({}, "balanced"),
        ({"rare": 0}, "from 1e-06"),
        ({"rare": float("nan")}, "from 1e-06"),
        ({"rare": float("inf")}, "from 1e-06"),
        ({"rare": True}, "from 1e-06"),
        ({"rare": "10"}, "from 1e-06"),
        ({"scarce": 2}, "is not a class"),
        ({None: 2}, "is not a class"),
    ],
)
@pytest.mark.parametrize("family", [NaiveBayes, DecisionTree, LinearSVM, Auto, RandomForest])
def test_wrong_weights_cost_nothing(family, weight, words):
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match=words):
        family(SCHEMA, epsilon=1, class_weight=weight).fit(*drawn(20, 0), ledger=ledger)
    assert ledger.spent == 0


def test_dealt_trees_pay_for_the_sizes_once():
    ledger = Ledger(1)
    model = RandomForest(SCHEMA, epsilon=1, n_trees=3, structure="greedy", max_depth=1, class_weight="balanced")
    model.fit(*drawn(500, 0), ledger=ledger)
    assert ledger.spent == model.receipt_.epsilon == 1
    assert [charge.query for charge in model.receipt_.charges].count("ClassCounts()") == 1


def test_what_cannot_weigh_says_so():
    three, ledger = SCHEMA.replace(classes=["common", "rare", "none"]), Ledger(1)
    with pytest.raises(ParameterError, match="two classes, and there are 3"):
        LinearSVM(three, class_weight="balanced").fit(*drawn(20, 0), ledger=ledger)
    with pytest.raises(ParameterError, match="stump"):
        DecisionTree(SCHEMA, structure="stump", class_weight="balanced").fit(*drawn(20, 0), ledger=ledger)
    with pytest.raises(TypeError):
        OneRule(SCHEMA, class_weight="balanced")
    assert ledger.spent == 0
    wide = Schema([Numeric(f"n{place}", 0, 1) for place in range(5)], "y", ["a", "b", "c"], records=10**6)
    table = {name: np.linspace(0, 1, 30) for name in wide.names}
    assert Auto(wide, epsilon=1, class_weight="balanced").fit(table, list("abc") * 10).picked_.model == "decision-tree"


def test_statistics_without_counts_by_score_cannot_be_weighted():
    model = LinearSVM(SCHEMA, epsilon=5, random_state=0).fit(*drawn(500, 0))
    with pytest.raises(ParameterError, match="no counts by score"):
        LinearSVM(SCHEMA, epsilon=5, class_weight="balanced").fit_noisy(model.noisy_)
