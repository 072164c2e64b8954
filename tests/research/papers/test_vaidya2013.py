"""Vaidya et al. 2013: the formulas, and neighbours that break the claim."""

import math

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.privacy.randomness import SeededRandomness, as_rng
from discreet.research.papers import Vaidya2013NaiveBayes
from discreet.research.papers.published import ExactRecords
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

MIXED = Schema([Numeric("x", -10, 10), Categorical("u", ["p", "q"], unlisted=False)], target="y", classes=["a", "b"])


def sup_log_ratio(first, second, scale):
    """sup over o >= 0 of the log-ratio of Laplace densities conditioned on [0, inf); both ends decide."""

    def log_density(o, centre):
        return stats.laplace.logpdf(o, centre, scale) - stats.laplace.logsf(0, centre, scale)

    return max(log_density(o, first) - log_density(o, second) for o in (0.0, max(first, second) + scale))


def joint_loss(law_of, model, first, second):
    """The exact loss between two tables: independent parameters, so the suprema add in each direction."""
    (exact1, scales), (exact2, _) = law_of(model, *first), law_of(model, *second)
    losses = []
    for one, two in ((exact1, exact2), (exact2, exact1)):
        loss = 0.0
        for name in one.means:
            loss += np.sum(np.abs(one.means[name] - two.means[name]) / scales.means[name])
        redrawn = [(one.classes, two.classes, scales.classes)]
        for field in ("tables", "deviations"):
            groups = (getattr(each, field) for each in (one, two, scales))
            redrawn += list(zip(*(group.values() for group in groups), strict=True))
        for triple in redrawn:
            arrays = (np.maximum(np.ravel(each), 0.0) for each in triple)
            loss += sum(sup_log_ratio(p, q, b) for p, q, b in zip(*arrays, strict=True) if p != q)
        losses.append(loss)
    return max(losses)


def test_parameters_without_noise(fit_with):
    X, y = [[-3, "p"], [5, "p"], [4, "q"]], ["a", "a", "b"]
    model = fit_with(Vaidya2013NaiveBayes(MIXED), X, y)
    noisy = model.parameters_
    np.testing.assert_array_equal(noisy.classes, [2, 1])
    np.testing.assert_array_equal(noisy.tables["u"], [[2, 0], [0, 1]])
    np.testing.assert_allclose(noisy.means["x"], [1, 4])
    np.testing.assert_allclose(noisy.deviations["x"], [4, 0])
    np.testing.assert_allclose(model.likelihoods_.tables["u"], [[3 / 4, 1 / 4], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(model.likelihoods_.prior, [3 / 5, 2 / 5])


def test_scales(law_of):
    _, scales = law_of(Vaidya2013NaiveBayes(MIXED, epsilon=0.1, n=99), [[-3, "p"]], ["a"])
    np.testing.assert_allclose(scales.classes, 1)
    np.testing.assert_allclose(scales.tables["u"], 10)
    np.testing.assert_allclose(scales.means["x"], 20 / 100 / 0.1)
    np.testing.assert_allclose(scales.deviations["x"], math.sqrt(99) * 20 / 100 / 0.1)


def test_negative_values_are_redrawn_except_means():
    class Scripted(SeededRandomness):
        """Below zero at the first draw of each table, then above; `calls` lists how many values were drawn."""

        def __init__(self):
            self.calls = []

        def laplace(self, shape):
            first = len(shape) > 1 or shape == (2,)
            self.calls.append(math.prod(shape))
            return np.where(np.arange(math.prod(shape)) == 0, -50.0 if first else 1.0, 1.0).reshape(shape)

    noise = Scripted()
    model = Vaidya2013NaiveBayes(MIXED, random_state=noise).fit([[-3, "p"]] * 2, ["a", "b"])
    np.testing.assert_allclose(model.parameters_.classes, [2, 2])
    np.testing.assert_allclose(model.parameters_.tables["u"], [[2, 1], [2, 1]])
    assert model.parameters_.means["x"][0] < -3
    assert (model.parameters_.deviations["x"] > 0).all()
    assert noise.calls == [2, 1, 4, 1, 2, 2, 1]  # one redraw each for classes, table and deviations


def test_redrawn_counts_follow_the_conditioned_law():
    names = [f"v{i}" for i in range(3000)]
    schema = Schema([Categorical("u", names, unlisted=False)], target="y", classes=["a"])
    zeros = Vaidya2013NaiveBayes(schema, epsilon=0.5, random_state=1).fit(np.empty((0, 1)), [])
    assert stats.kstest(zeros.parameters_.tables["u"].ravel(), stats.expon(scale=2).cdf).pvalue > 1e-3
    ones = Vaidya2013NaiveBayes(schema, epsilon=0.5, random_state=1).fit([[name] for name in names], ["a"] * 3000)
    below = stats.laplace.cdf(0, 1, 2)
    conditioned = stats.kstest(
        ones.parameters_.tables["u"].ravel(), lambda o: (stats.laplace.cdf(o, 1, 2) - below) / (1 - below)
    )
    assert conditioned.pvalue > 1e-3


@pytest.mark.parametrize(("epsilon", "loss"), [(0.01, 0.0199), (1.0, 1.490)])
def test_redrawing_costs_more_than_the_claim(law_of, epsilon, loss):
    """One cell that holds 0 or 1 records: ln(2 e^eps - 1)."""
    model = Vaidya2013NaiveBayes(MIXED, epsilon=epsilon)
    exact, scales = law_of(model, [[0, "p"]], ["a"])
    zero, one = exact.tables["u"][0, 1], exact.tables["u"][0, 0]
    assert (round(zero), round(one)) == (0, 1)
    found = sup_log_ratio(max(zero, 0.0), one, scales.tables["u"][0, 0])
    assert found == pytest.approx(math.log(2 * math.exp(epsilon) - 1))
    assert found == pytest.approx(loss, abs=5e-4)
    assert found > epsilon


def test_losses_of_tables_add_up(laplace_loss):
    """22 columns at 0.01, as in Mushroom: 1.22 even without redrawing."""
    columns = [Categorical(f"u{i}", ["p", "q"], unlisted=False) for i in range(22)]
    model = Vaidya2013NaiveBayes(Schema(columns, target="y", classes=["a", "b"]), epsilon=0.01)
    first = ([["p"] * 22] * 3, ["a"] * 3)
    second = ([["p"] * 22] * 4, ["a"] * 4)
    assert laplace_loss(model, first, second) == pytest.approx(0.01 * 22 + 1)
    assert model.honest_epsilon() > 1.22


def test_class_counts_cost_one_at_every_epsilon(law_of):
    model = Vaidya2013NaiveBayes(MIXED, epsilon=0.001)
    (exact1, scales), (exact2, _) = (law_of(model, [[0, "p"]] * n, ["a"] * n) for n in (5, 6))
    far = 100
    laws = [stats.laplace(exact.classes[0], scales.classes[0]) for exact in (exact1, exact2)]
    assert laws[1].logsf(far) - laws[0].logsf(far) == pytest.approx(1)


def test_constant_n_costs_hundreds_of_thousands_of_epsilon(law_of):
    """A class of two records, as in Nursery, and n = 10**6: the mean moves by w/3, the scale is w/((n+1) eps)."""
    model = Vaidya2013NaiveBayes(MIXED, epsilon=0.01, n=10**6)
    first = law_of(model, [[-10, "p"]] * 2, ["a"] * 2)
    second = law_of(model, [[-10, "p"]] * 2 + [[10, "p"]], ["a"] * 3)
    shift = abs(first[0].means["x"][0] - second[0].means["x"][0])
    assert shift / first[1].means["x"][0] == pytest.approx(333_333.67 * 0.01, rel=1e-6)
    assert model.honest_epsilon(smallest_class=2) > 3333


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_honest_epsilon_is_attained(law_of, size, epsilon):
    model = Vaidya2013NaiveBayes(MIXED, epsilon=epsilon, n=20)
    first = ([[-10, "p"]] * size, ["a"] * size)
    second = ([*first[0], [10, "q"]], ["a"] * (size + 1))
    assert joint_loss(law_of, model, first, second) == pytest.approx(model.honest_epsilon(smallest_class=size))


def test_honest_epsilon_is_the_classical_sum_when_n_is_the_class_size():
    """Without redrawing it would be epsilon (m_cat + 2 m_num) + 1."""
    model = Vaidya2013NaiveBayes(MIXED, epsilon=0.01, n=50)
    extra = 2 * math.log(2 - math.exp(-0.01))  # redrawing a cell and a deviation; that of 50 records is nothing
    assert model.honest_epsilon(smallest_class=50) == pytest.approx(0.01 * 3 + 1 + extra)


def test_honest_epsilon_is_never_exceeded(law_of):
    generator = np.random.default_rng(0)
    model = Vaidya2013NaiveBayes(MIXED, epsilon=0.5, n=10)
    for _ in range(60):
        size = int(generator.integers(0, 5))
        X = [[float(generator.choice([-10, 0, 3, 10])), str(generator.choice(["p", "q"]))] for _ in range(size + 1)]
        y = generator.choice(["a", "b"], size + 1).tolist()
        loss = joint_loss(law_of, model, (np.array(X[:size], dtype=object).reshape(size, 2), y[:size]), (X, y))
        assert loss <= model.honest_epsilon() + 1e-9


def test_scales_do_not_read_the_records():
    model = Vaidya2013NaiveBayes(MIXED)
    small, large = (ExactRecords.read([[1, "p"]] * size, ["a"] * size, MIXED) for size in (1, 9))
    np.testing.assert_array_equal(model.scales(small).means["x"], model.scales(large).means["x"])


@pytest.mark.parametrize("n", [0, -1, math.inf, math.nan, True, "10"])
def test_bad_n(n):
    with pytest.raises(ParameterError, match="n="):
        Vaidya2013NaiveBayes(MIXED, n=n).fit(None, None)


@pytest.mark.parametrize("state", [None, 1])
def test_laplace_draws_fit_their_law(state):
    draws = as_rng(state).laplace((40, 100))
    assert draws.shape == (40, 100)
    assert stats.kstest(draws.ravel(), "laplace").pvalue > 1e-6
