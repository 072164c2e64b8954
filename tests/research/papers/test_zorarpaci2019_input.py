"""Zorarpacı 2019: input perturbation, and neighbours that break the claim."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from discreet.errors import BudgetError, DataError, ParameterError
from discreet.privacy.ledger import Ledger
from discreet.privacy.randomness import SeededRandomness
from discreet.research.papers import Zorarpaci2019InputPerturbation
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric
from support.records import draw_records, split_target

PAIR = Schema([Numeric("x", -10, 10), Numeric("z", 0, 1)], target="y", classes=["a", "b"], adjacency="replace-one")


class Constant(SeededRandomness):
    """Every draw is the same."""

    def __init__(self, value):
        self.value = value

    def laplace(self, shape):
        return np.full(shape, self.value)


def published(model, X, y, draw):
    return clone(model).set_params(random_state=Constant(draw)).fit_resample(X, y)


def law(model, X, y):
    """Location and scale of every published number."""
    (one, _), (two, _) = published(model, X, y, 1.0), published(model, X, y, 2.0)
    return {name: (2 * one[name] - two[name], two[name] - one[name]) for name in one}


def test_noise_has_the_range_of_the_data_over_epsilon():
    laws = law(Zorarpaci2019InputPerturbation(PAIR, epsilon=2), [[-3, 0.5], [5, 0.25], [1, 0.5]], ["a", "b", "a"])
    np.testing.assert_allclose(laws["x"][0], [-3, 5, 1])
    np.testing.assert_allclose(laws["x"][1], 8 / 2)
    np.testing.assert_allclose(laws["z"][1], 0.25 / 2)


def test_label_and_categories_are_clear():
    """(x, A) and (x, B): the label A is published with probability 1 and 0, whatever the noise."""
    schema = Schema([Numeric("x", 0, 1), Categorical("u", ["p", "q"])], target="y", classes=["a", "b"])
    model = Zorarpaci2019InputPerturbation(schema, epsilon=1e-6)
    for draw in (-1e9, 0.0, 1e9):
        for label, category in (("a", "p"), ("b", "q")):
            X, y = published(model, [[0.5, category], [0.7, "p"]], [label, "a"], draw)
            assert y.tolist() == [label, "a"]
            assert X["u"].tolist() == [category, "p"]
    assert model.honest_epsilon() == math.inf > model.claimed_epsilon


def test_range_of_the_data_leaves_a_table_without_noise():
    """(0, 0) is published as it is with probability 1; (0, 1) with probability 0."""
    model = Zorarpaci2019InputPerturbation(PAIR, epsilon=0.1, random_state=0)
    for seed in range(20):
        copy = clone(model).set_params(random_state=seed)
        same, _ = copy.fit_resample([[0, 0], [0, 0]], ["a", "a"])
        assert (same["z"] == 0).all()
        other, _ = copy.fit_resample([[0, 0], [0, 1]], ["a", "a"])
        assert (other["z"] != 0).all()


def test_range_of_the_data_rescales_the_noise_of_all_others():
    """The tails of an unchanged record's number differ without bound."""
    model = Zorarpaci2019InputPerturbation(PAIR, epsilon=1)
    laws = [law(model, [[0, 0], [1, 0], [last, 0]], ["a"] * 3)["x"] for last in (1, 2)]
    tails = [stats.laplace(location[0], scale[0]).logsf(50) for location, scale in laws]
    assert tails[1] - tails[0] == pytest.approx(25)


def test_public_range_still_loses_epsilon_in_every_number():
    model = Zorarpaci2019InputPerturbation(PAIR, epsilon=0.5, ranges="schema")
    first, second = (law(model, [corner, [0, 0]], ["a", "a"]) for corner in ([-10, 0], [10, 1]))
    loss = sum(np.sum(np.abs(first[name][0] - second[name][0]) / first[name][1]) for name in first)
    for name in first:
        np.testing.assert_allclose(first[name][1], second[name][1])
    assert loss == pytest.approx(2 * 0.5)
    assert loss == pytest.approx(model.numbers_epsilon())
    assert model.numbers_epsilon() > model.claimed_epsilon
    assert Zorarpaci2019InputPerturbation(PAIR, epsilon=0.5).numbers_epsilon() == math.inf


def test_variance_on_iris_is_that_of_the_thesis():
    """Tables 5.12 to 5.15 have single draws of 22.5, 8.9, 81.0 and 12.0: a scale, not a standard deviation."""
    X, y = load_iris(return_X_y=True)
    names = ["sl", "sw", "pl", "pw"]
    schema = Schema([Numeric(name, 0, 10) for name in names], target="species", classes=[0, 1, 2])
    draws = [
        Zorarpaci2019InputPerturbation(schema, epsilon=1, random_state=seed).fit_resample(X, y)[0] for seed in range(60)
    ]
    variances = np.array([np.mean([np.var(draw[name]) for draw in draws]) for name in names])
    np.testing.assert_allclose(variances, X.var(axis=0) + 2 * np.ptp(X, axis=0) ** 2, rtol=0.1)
    np.testing.assert_allclose([22.454, 8.941, 81.046, 12.027] / variances, 1, atol=0.3)


def test_a_tree_learns_at_a_large_epsilon():
    X, y = load_iris(return_X_y=True)
    schema = Schema([Numeric(name, 0, 10) for name in "abcd"], target="species", classes=[0, 1, 2])
    noisy, labels = Zorarpaci2019InputPerturbation(schema, epsilon=30, random_state=0).fit_resample(X, y)
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(np.column_stack(list(noisy.values())), labels)
    assert 0.9 < tree.score(X, y) <= 1


def test_it_charges_infinity_and_states_no_guarantee():
    limited = Ledger(1000)
    with pytest.raises(BudgetError, match="epsilon=inf"):
        Zorarpaci2019InputPerturbation(PAIR).fit_resample(None, None, ledger=limited)
    assert limited.spent == 0
    ledger = Ledger.unlimited()
    model = Zorarpaci2019InputPerturbation(PAIR, epsilon=0.5)
    model.fit_resample([[1, 1]], ["a"], ledger=ledger)
    assert ledger.entries == [("Zorarpaci2019InputPerturbation", math.inf)]
    assert not model.guarantee_.holds
    assert model.guarantee_.statement().startswith("No privacy is guaranteed: NO GUARANTEE")
    assert "claims epsilon=0.5" in model.guarantee_.statement()
    assert model.verdict in model.guarantee_.statement()
    assert model.verdict.startswith("FAILS")
    assert model.reason
    assert "Gap\n" in model.__doc__


@pytest.mark.parametrize("epsilon", [1e-100, 0.1, math.inf])
@pytest.mark.parametrize("ranges", ["data", "schema"])
def test_no_data_makes_it_fail(schema, epsilon, ranges):
    X, y = split_target(draw_records(60, 3))
    model = Zorarpaci2019InputPerturbation(schema, epsilon=epsilon, ranges=ranges, random_state=1)
    noisy, labels = model.fit_resample(X, y)
    assert list(noisy) == schema.names
    assert len(labels) == 60
    assert np.isfinite(noisy["age"]).all()
    strange = [[math.nan, math.inf, "X", None], ["?", -math.inf, None, 7]]
    noisy, _ = model.fit_resample(strange, [None, "other"])
    assert np.isfinite(noisy["age"]).all()
    assert np.isfinite(noisy["dose"]).all()
    noisy, _ = model.fit_resample(np.empty((0, 4)), [])
    assert len(noisy["age"]) == 0


def test_the_table_that_was_given_stays_as_it_is():
    schema = Schema([Numeric("x", 0, 9), Categorical("u", ["p", "q"])], target="y", classes=["a", "b"])
    X, y = {"x": np.array([1.0, 2.0]), "u": np.array(["p", "q"], dtype=object)}, np.array(["a", "b"], dtype=object)
    noisy, labels = Zorarpaci2019InputPerturbation(schema, random_state=0).fit_resample(X, y)
    labels[0] = noisy["x"][0] = noisy["u"][0] = 9
    assert X["x"].tolist() == [1.0, 2.0]
    assert X["u"].tolist() == ["p", "q"]
    assert y.tolist() == ["a", "b"]


def test_wrong_parameters_and_shapes():
    with pytest.raises(ParameterError, match="ranges="):
        Zorarpaci2019InputPerturbation(PAIR, ranges="x").fit_resample([[1, 1]], ["a"])
    with pytest.raises(ParameterError, match="epsilon="):
        Zorarpaci2019InputPerturbation(PAIR, epsilon=0).fit_resample([[1, 1]], ["a"])
    with pytest.raises(DataError, match="different lengths"):
        Zorarpaci2019InputPerturbation(PAIR).fit_resample([[1, 1]], ["a", "b"])
    with pytest.raises(DataError, match="missing"):
        Zorarpaci2019InputPerturbation(PAIR).fit_resample({"x": [1]}, ["a"])
