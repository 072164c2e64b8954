"""Zafarani and Clifton 2020: the formulas, and neighbours that break the claim."""

import math

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy.smooth_sensitivity import cauchy_divergence
from discreet.research.papers import Zafarani2020NaiveBayes
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

NUMERIC = Schema([Numeric("x", 0, 4)], target="y", classes=["a", "b"])
BINARY = Schema([Categorical("u", ["p", "q"], unlisted=False)], "y", ["a", "b"], adjacency="replace-one")


def mean_loss(law_of, model, first, second):
    """Exact loss of the published mean of class a between two lists."""
    laws = [law_of(model, [[value] for value in values], ["a"] * len(values)) for values in (first, second)]
    return cauchy_divergence(*(float(each.means["x"][0]) for law in laws for each in law))


def test_parameters_without_noise(fit_with):
    schema = Schema([*NUMERIC.columns, *BINARY.columns], target="y", classes=["a", "b"])
    model = fit_with(Zafarani2020NaiveBayes(schema), [[0, "p"], [1, "p"], [2, "q"], [4, "q"]], ["a", "a", "a", "b"])
    noisy = model.parameters_
    np.testing.assert_array_equal(noisy.classes, [3, 1])
    np.testing.assert_array_equal(noisy.tables["u"], [[2, 1], [0, 1]])
    np.testing.assert_allclose(noisy.means["x"], [1, 4])
    np.testing.assert_allclose(noisy.deviations["x"], [math.sqrt(2 / 3), 0])
    np.testing.assert_allclose(model.likelihoods_.tables["u"], [[3 / 5, 2 / 5], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(model.likelihoods_.prior, [4 / 6, 2 / 6])


@pytest.mark.parametrize(("beta", "factor"), [("printed", 1.0), ("nissim", math.sqrt(2))])
def test_scales(law_of, beta, factor):
    """The golden values for 0, 1, 1, 3 on [0, 4] and beta = 0.3: mean 1, deviation 1.15660207633."""
    query = 0.3 * factor
    model = Zafarani2020NaiveBayes(NUMERIC, epsilon=3 * query, beta=beta)
    assert model.query_epsilon == pytest.approx(query)
    _, scales = law_of(model, [[0], [1], [1], [3]], ["a"] * 4)
    np.testing.assert_allclose(scales.classes, math.sqrt(2) / query)
    np.testing.assert_allclose(scales.means["x"][0], math.sqrt(2) / query)
    np.testing.assert_allclose(scales.deviations["x"][0], 1.15660207633 * math.sqrt(2) / query, rtol=1e-6)


def test_cells_have_laplace_noise_and_the_rest_cauchy(fit_with, law_of):
    schema = Schema([*NUMERIC.columns, *BINARY.columns], target="y", classes=["a", "b"])
    model = Zafarani2020NaiveBayes(schema, epsilon=1)
    noisy = fit_with(model, [[1, "p"]], ["a"], laplace=1.0, cauchy=0.0).parameters_
    np.testing.assert_allclose(noisy.tables["u"], [[5, 4], [4, 4]])  # epsilon' = 1/4
    np.testing.assert_array_equal(noisy.classes, [1, 0])
    np.testing.assert_allclose(noisy.means["x"], [1, 2])


def test_negative_values_become_zero(fit_with):
    schema = Schema([Numeric("x", 0, 4), Numeric("z", -4, 4), *BINARY.columns], target="y", classes=["a", "b"])
    noisy = fit_with(Zafarani2020NaiveBayes(schema), [[1, 1, "p"]] * 2, ["a", "a"], laplace=-1e6).parameters_
    for values in (noisy.classes, noisy.tables["u"], noisy.deviations["x"][:1], noisy.means["x"][:1]):
        assert (values == 0).all()
    assert noisy.means["z"][0] < -1e6  # a negative mean is possible here


@pytest.mark.parametrize(("query", "loss"), [(0.1, 0.1067), (0.69, 0.7648)])
def test_printed_beta_is_too_large(law_of, query, loss):
    """All values in the middle, one moved to the upper bound, within one class."""
    middle, moved = [2] * 5, [2, 2, 2, 2, 4]
    printed = mean_loss(law_of, Zafarani2020NaiveBayes(NUMERIC, epsilon=3 * query), middle, moved)
    assert printed == pytest.approx(math.acosh(math.cosh(query) + query**2 * math.exp(query) / 16))
    assert printed == pytest.approx(loss, abs=5e-4)
    assert printed > query
    nissim = mean_loss(law_of, Zafarani2020NaiveBayes(NUMERIC, epsilon=3 * query, beta="nissim"), middle, moved)
    assert nissim <= query


@pytest.mark.parametrize("beta", ["printed", "nissim"])
@pytest.mark.parametrize("epsilon", [1.0, 0.01, 1e-6])
def test_private_class_size_costs_ln_2_at_every_epsilon(law_of, epsilon, beta):
    """A class that holds (l) or (l, u), by one record more or by one label changed: S halves."""
    loss = mean_loss(law_of, Zafarani2020NaiveBayes(NUMERIC, epsilon=epsilon, beta=beta), [0], [0, 4])
    assert loss == pytest.approx(math.acosh(1.25 + (epsilon / 3) ** 2 / 8))
    assert loss >= math.log(2)


def test_deviation_of_one_record_has_no_noise(law_of):
    """From one record to two the deviation goes from 0 with certainty to a continuous law: infinite loss."""
    model = Zafarani2020NaiveBayes(NUMERIC)
    (one, without), (_, noise) = law_of(model, [[3]], ["a"]), law_of(model, [[3], [3]], ["a", "a"])
    assert one.deviations["x"][0] == without.deviations["x"][0] == 0
    assert noise.deviations["x"][0] > 0
    assert model.honest_epsilon() == math.inf


@pytest.mark.parametrize(("adjacency", "loss"), [("replace-one", 1.703), ("add-remove", 0.852)])
def test_loss_of_counts(law_of, adjacency, loss):
    """A changed label and value: two class counts and two cells, each paid once. 1.703 instead of 1."""
    model = Zafarani2020NaiveBayes(BINARY.replace(adjacency=adjacency), epsilon=1)
    first = ([["p"], ["p"], ["q"]], ["a", "a", "b"])
    changed = ([["p"], ["q"], ["q"]], ["a", "b", "b"])
    removed = ([["p"], ["q"]], ["a", "b"])
    (exact1, scales), (exact2, _) = (
        law_of(model, *data) for data in (first, changed if adjacency == "replace-one" else removed)
    )
    found = np.sum(np.abs(exact1.tables["u"] - exact2.tables["u"]) / scales.tables["u"]) + sum(
        cauchy_divergence(float(one), float(scale), float(two), float(scale))
        for one, two, scale in zip(exact1.classes, exact2.classes, scales.classes, strict=True)
    )
    assert found == pytest.approx(loss, abs=5e-4)
    assert found == pytest.approx(model.honest_epsilon())
    assert (found > model.claimed_epsilon) == (adjacency == "replace-one")


@pytest.mark.parametrize("beta", ["smooth", None, 0.3])
def test_bad_beta(beta):
    with pytest.raises(ParameterError, match="beta="):
        Zafarani2020NaiveBayes(NUMERIC, beta=beta).fit(None, None)
