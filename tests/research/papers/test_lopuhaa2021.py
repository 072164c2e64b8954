"""Lopuhaä-Zwakenberg et al. 2021: the formulas, and neighbours that break the claim."""

import math

import numpy as np
import pytest
from scipy import stats

from discreet.research.papers import Lopuhaa2021NaiveBayes
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

NUMERIC = Schema([Numeric("x", 10, 20)], target="y", classes=["a", "b"])
PAIR = Schema(
    [Categorical("u", ["p", "q"], unlisted=False), Categorical("v", [0, 1, 2])],
    target="y",
    classes=["a", "b"],
    adjacency="replace-one",
)


def test_parameters_without_noise(fit_with):
    schema = Schema([*NUMERIC.columns, *PAIR.columns], target="y", classes=["a", "b"])
    X = [[12, "p", 0], [14, "p", 1], [16, "q", 1], [19, "q", 2]]
    model = fit_with(Lopuhaa2021NaiveBayes(schema), X, ["a", "a", "a", "b"])
    noisy = model.parameters_
    np.testing.assert_array_equal(noisy.classes, [3, 1])
    np.testing.assert_array_equal(noisy.tables["u"], [[2, 1], [1e-5, 1]])
    np.testing.assert_array_equal(noisy.tables["v"], [[1, 2, 1e-5, 1e-5], [1e-5, 1e-5, 1, 1e-5]])
    np.testing.assert_allclose(noisy.means["x"], [14, 19])
    np.testing.assert_allclose(noisy.deviations["x"], [math.sqrt(8 / 3), 1e-5])
    np.testing.assert_allclose(model.likelihoods_.prior, [3 / 4, 1 / 4])
    np.testing.assert_allclose(model.likelihoods_.tables["u"], [[2 / 3, 1 / 3], [1e-5, 1]])
    joint = 3 / 4 * 2 / 3 * 2 / 3 * stats.norm.pdf(13, 14, math.sqrt(8 / 3))
    other = 1 / 4 * 1e-5 * 1e-5 * stats.norm.pdf(13, 19, 1e-5)
    np.testing.assert_allclose(model.predict_proba([[13, "p", 1]])[0, 0], joint / (joint + other))


def test_scales(law_of):
    schema = Schema([*NUMERIC.columns, *PAIR.columns], target="y", classes=["a", "b"])
    model = Lopuhaa2021NaiveBayes(schema, epsilon=0.5)
    assert model.query_epsilon == pytest.approx(0.5 / (1 + 2 + 2))
    _, scales = law_of(model, [[12, "p", 0]] * 4, ["a"] * 4)
    np.testing.assert_allclose(scales.classes, 10)
    np.testing.assert_allclose(scales.tables["v"], 10)
    np.testing.assert_allclose(scales.means["x"], [10 / 4 / 0.1, 10 / 1 / 0.1])  # an empty class as one record
    np.testing.assert_allclose(scales.deviations["x"], [10 / 2 / 0.1, 10 / 0.1])


def test_values_are_raised_but_means_are_not(fit_with):
    noisy = fit_with(Lopuhaa2021NaiveBayes(NUMERIC), [[12]], ["a"], laplace=-1e6).parameters_
    assert (noisy.classes == 1e-5).all()
    assert (noisy.deviations["x"] == 1e-5).all()
    assert (noisy.means["x"] < -1e6).all()


@pytest.mark.parametrize("second", [([[10], [10]], ["a", "a"]), ([[10], [10], [15]], ["a", "a", "b"])])
def test_class_size_in_the_scale_has_unbounded_loss(law_of, second):
    """Class a holds (l) or (l, l), by adding a record or by changing a label: the tails differ without bound."""
    first = ([[10]], ["a"]) if len(second[1]) == 2 else ([[10], [10], [15]], ["a", "b", "b"])
    model = Lopuhaa2021NaiveBayes(NUMERIC, epsilon=0.3)
    (exact1, scales1), (exact2, scales2) = law_of(model, *first), law_of(model, *second)
    laws = [
        stats.laplace(loc=exact.means["x"][0], scale=scales.means["x"][0])
        for exact, scales in ((exact1, scales1), (exact2, scales2))
    ]
    width, ratios = 10, []
    for t in (50, 200, 1000):
        tails = [law.logsf(10 + t * width) for law in laws]
        ratios.append(math.exp(tails[0] - tails[1]))
    np.testing.assert_allclose(ratios, [math.exp(5), math.exp(20), math.exp(100)], rtol=1e-6)
    assert round(ratios[0]) == 148
    assert ratios[1] == pytest.approx(4.9e8, rel=0.02)
    assert model.honest_epsilon() == math.inf > model.claimed_epsilon


def test_replace_one_costs_twice_the_claim(laplace_loss):
    model = Lopuhaa2021NaiveBayes(PAIR, epsilon=0.5)
    rest = [["p", 0], ["q", 1]]
    loss = laplace_loss(model, ([*rest, ["p", 0]], ["a", "b", "a"]), ([*rest, ["q", 1]], ["a", "b", "b"]))
    assert loss == pytest.approx(2 * 0.5)
    assert loss == pytest.approx(model.honest_epsilon())
    assert model.honest_epsilon() > model.claimed_epsilon


def test_prior_shows_the_exact_number_of_records(fit_with):
    """Counts raised to 1e-5, an event of positive probability, leave 1e-5 / n: tables of n and n + 1 are told apart."""
    model = Lopuhaa2021NaiveBayes(PAIR.replace(adjacency="add-remove"))
    for n in (3, 4):
        low = fit_with(model, [["p", 0]] * n, ["a"] * n, laplace=-1000.0)
        np.testing.assert_allclose(low.likelihoods_.prior, 1e-5 / n)
    assert model.honest_epsilon() == math.inf
