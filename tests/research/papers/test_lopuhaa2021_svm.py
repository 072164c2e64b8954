"""Lopuhaä-Zwakenberg et al. 2021, SVM: the formulas, the exact loss, and neighbours that break the claim."""

import math

import numpy as np
import pytest
from scipy import stats

from discreet import datasets
from discreet.errors import ParameterError
from discreet.privacy.randomness import as_rng
from discreet.research.papers import Lopuhaa2021SVM
from discreet.research.papers.lopuhaa2021_svm import (
    huber,
    hyperplane_loss,
    noise_and_regularisation,
    spherical_noise,
)
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

H, LAMBDA = 0.05, 10**-2.5
CODED = Schema([Categorical("u", range(6), unlisted=False)], "y", ["no", "yes"], adjacency="replace-one")
"""Codes 0 to 5: one dimension, norm 5."""


def slope(margin):
    """Derivative of the paper's equation 6, case by case."""
    return 0.0 if margin > 1 + H else -(1 + H - margin) / (2 * H) if margin >= 1 - H else -1.0


def noise_at(w, records, n, epsilon, unit=1.0):
    """The b for which w is the minimiser: n Lambda' w + sum of slopes + b = 0."""
    _, regularisation = noise_and_regularisation(epsilon, n)
    return -n * regularisation * w - sum(slope(sign * x * unit * w) * sign * x * unit for x, sign in records)


def log_probability(low, high, records, n, epsilon, unit=1.0):
    """Of low < w < high: b has the density (rate / 2) e^(-rate |b|), rate = eps'' / 2, and w falls as b grows."""
    rate = noise_and_regularisation(epsilon, n)[0] / 2
    first, last = (rate * noise_at(w, records, n, epsilon, unit) for w in (high, low))
    if first < 0 < last:
        return math.log(-math.expm1(first) / 2 - math.expm1(-last) / 2)
    return -min(abs(first), abs(last)) + math.log(-math.expm1(first - last) / 2)


SHARED = [(5, -1)]
FIRST, SECOND = [*SHARED, (5, 1)], [*SHARED, (5, -1)]
"""Neighbours: one label is replaced; all other records have code 0 and add nothing."""


def table_of(records, n):
    rows = [[x] for x, _ in records] + [[0]] * (n - len(records))
    return rows, ["yes" if sign > 0 else "no" for _, sign in records] + ["yes"] * (n - len(records))


def fitted_weight(fit_with, model, records, n, b):
    """The weight that `fit` finds when its noise is b: chosen draws give the length and, by the angle, the sign."""
    rate = noise_and_regularisation(model.claimed_epsilon, n)[0] / 2
    fitted = fit_with(model, *table_of(records, n), laplace=abs(b) * rate, cauchy=0.0 if b > 0 else 1e12)
    assert fitted.codes_["u"].tolist() == list(range(6))
    return fitted.weights_[0, 0]


@pytest.mark.parametrize(("epsilon", "n"), [(1, 10**6), (1, 18_500), (0.5, 18_500), (1, 100), (0.01, 7), (3, 800)])
def test_budget_and_regularisation_are_those_of_the_listing(epsilon, n):
    left = epsilon - math.log(1 + 1 / (n * H * LAMBDA) + 1 / (4 * n**2 * H**2 * LAMBDA**2))
    expected = (left, LAMBDA) if left > 0 else (epsilon / 2, 1 / (2 * n * H * (math.exp(epsilon / 4) - 1)))
    assert noise_and_regularisation(epsilon, n) == pytest.approx(expected, rel=1e-9)


def test_huber_is_that_of_equation_six():
    margins = np.array([-3.0, 0.0, 0.95, 0.96, 1.0, 1.04, 1.0499, 1.0501, 2.0])
    losses, slopes = huber(margins)
    by_case = [0 if z > 1.05 else (1.05 - z) ** 2 / 0.2 if abs(1 - z) <= 0.05 else 1 - z for z in margins]
    np.testing.assert_allclose(losses, by_case, atol=1e-12)
    np.testing.assert_allclose(slopes, [slope(z) for z in margins], atol=1e-12)


@pytest.mark.parametrize("dimension", [1, 3])
def test_noise_has_its_law(dimension):
    rng = as_rng(0)
    draws = np.array([spherical_noise(dimension, 0.5, rng) for _ in range(4000)])
    lengths = np.linalg.norm(draws, axis=1)
    assert stats.kstest(lengths, stats.gamma(dimension, scale=2).cdf).pvalue > 0.01
    for coordinate in (draws / lengths[:, np.newaxis]).T:
        if dimension == 1:
            assert stats.binomtest(int((coordinate > 0).sum()), 4000).pvalue > 0.01
        else:  # Archimedes: a coordinate of a uniform point of the sphere is uniform
            assert stats.kstest(coordinate, stats.uniform(-1, 2).cdf).pvalue > 0.01


def test_weights_minimise_the_perturbed_objective():
    X, y, schema = datasets.load("breast-cancer")
    model = Lopuhaa2021SVM(schema, epsilon=3, random_state=4).fit(X, y)
    noise_epsilon, regularisation = noise_and_regularisation(3, len(y))
    noise = spherical_noise(30, noise_epsilon / 2, as_rng(4))
    lower, upper = (np.array([getattr(each, end) for each in schema.columns]) for end in ("lower", "upper"))
    numbers = np.clip(np.column_stack([X[name] for name in schema.names]), lower, upper)
    features = 2 * (numbers - lower) / (upper - lower) - 1
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    w = model.weights_[0]
    slopes = np.array([slope(z) for z in signs * (features @ w)])
    gradient = (slopes * signs) @ features + len(y) * regularisation * w + noise
    np.testing.assert_allclose(gradient, 0, atol=1e-3)
    np.testing.assert_allclose(model.decision_function(X), features @ w)


@pytest.mark.parametrize(("n", "expected"), [(18_650, 5.09), (470_000, 5.09), (47_434, 5.335), (2_000, 4.59)])
def test_integer_codes_of_norm_five_lose_five_times_the_claim(n, expected):
    """Epsilon = 1: the exact probability that w lies just above (1 - h) / 5, on tables that differ in one label."""
    low = (1 - H) / 5
    probabilities = [log_probability(low, low + 1e-7, records, n, 1) for records in (FIRST, SECOND)]
    loss = probabilities[0] - probabilities[1]
    assert loss == pytest.approx(expected, abs=0.005)
    model = Lopuhaa2021SVM(CODED, epsilon=1)
    assert loss == pytest.approx(model.honest_epsilon(n), abs=1e-3)
    assert model.largest_norm == 5
    assert loss > 4 * model.claimed_epsilon


@pytest.mark.parametrize("n", [2_000, 18_500])
def test_fit_publishes_what_the_counterexample_says(fit_with, n):
    model = Lopuhaa2021SVM(CODED, epsilon=1)
    for records in (FIRST, SECOND):
        for w in (0.19, 0.195, -0.3, 0.05):
            b = noise_at(w, records, n, 1)
            assert fitted_weight(fit_with, model, records, n, b) == pytest.approx(w, abs=1e-6)


@pytest.mark.parametrize("n", [300, 4_874, 18_500, 10**6])
@pytest.mark.parametrize("unit", [1.0, 0.2])
def test_loss_of_every_event_is_within_the_honest_bound(n, unit):
    """Small intervals of w, everywhere: with norm 1 the claim holds, with norm 5 only the larger bound does."""
    model = Lopuhaa2021SVM(CODED, epsilon=1, scaling="columns" if unit == 1 else "records")
    bound = model.honest_epsilon(n)
    ends = np.linspace(-3, 3, 301) / unit / 5
    ends = np.sort([*ends, *(sign * (1 + side * H) / unit / 5 for sign in (1, -1) for side in (1, -1))])
    worst = 0.0
    for low in ends:
        pair = [log_probability(low, low + 1e-6, records, n, 1, unit) for records in (FIRST, SECOND)]
        worst = max(worst, abs(pair[0] - pair[1]))
    assert bound - 0.01 < worst <= bound + 1e-6
    assert (bound <= model.claimed_epsilon) == (unit != 1)


def test_the_worst_number_of_records():
    model = Lopuhaa2021SVM(CODED, epsilon=1)
    numbers = [*range(1, 100), *np.unique(np.logspace(2, 9, 2000).astype(int)).tolist()]
    largest = max(model.honest_epsilon(n) for n in numbers)
    assert largest == pytest.approx(model.honest_epsilon(), abs=1e-4)
    assert model.honest_epsilon() == pytest.approx(5.335, abs=5e-4)
    for norm in (0.0, 0.5, 1.0, 2.0, 3.0, 40.0):
        for epsilon in (0.001, 0.3, 2.0, 50.0):
            largest = max(hyperplane_loss(epsilon, norm, n) for n in numbers)
            assert largest <= hyperplane_loss(epsilon, norm, None) * (1 + 1e-12)
            assert largest >= hyperplane_loss(epsilon, norm, None) * 0.98


def test_number_of_records_in_the_objective_has_unbounded_loss_under_add_remove():
    """One more record with code 0 adds Lambda w to the gradient: the tails of w differ without bound."""
    n, ratios = 10**5, []
    for far in (100, 200, 400):
        tails = [
            noise_and_regularisation(1, rows)[0] / 2 * noise_at(far, FIRST, rows, 1) - math.log(2)
            for rows in (n, n + 1)
        ]
        ratios.append(tails[0] - tails[1])
    assert ratios[1] / ratios[0] == pytest.approx(2, rel=0.01)
    assert ratios[2] / ratios[1] == pytest.approx(2, rel=0.01)
    assert Lopuhaa2021SVM(CODED.replace(adjacency="add-remove")).honest_epsilon() == math.inf


def test_norm_and_features(fit_with):
    columns = [Numeric("x", 10, 20), Categorical("u", ["p", "q"]), Numeric("z", 0, 1)]
    schema = Schema(columns, target="y", classes=["b", "a"])
    model = Lopuhaa2021SVM(schema)
    assert model.largest_norm == pytest.approx(math.sqrt(1 + 4 + 1))
    fitted = fit_with(model, [[12, "q", 0.5]], ["a"])
    fitted.weights_ = np.eye(3)[:1]
    assert fitted.decision_function([[12, "q", 0.5], [20, "p", 0], [99, "?", 0]]) == pytest.approx([-0.6, 1, 1])
    fitted.weights_ = np.eye(3)[1:2]
    assert fitted.decision_function([[12, "q", 0.5], [20, "p", 0], [99, "?", 0]]) == pytest.approx([1, 0, 2])
    scaled = fit_with(model.set_params(scaling="records"), [[12, "q", 0.5]], ["a"])
    scaled.weights_ = np.eye(3)[1:2]
    assert scaled.decision_function([[12, "?", 0.5]]) == pytest.approx([2 / math.sqrt(6)])
    assert scaled.largest_norm == 1


def test_codes_are_random_and_complete():
    codes = [Lopuhaa2021SVM(CODED, random_state=seed).fit([[0]], ["no"]).codes_["u"] for seed in range(30)]
    assert all(sorted(drawn) == list(range(6)) for drawn in codes)
    assert len({tuple(drawn) for drawn in codes}) > 20


def test_two_classes_need_one_hyperplane_and_more_one_each():
    X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]] * 20
    columns = [Numeric("x", -1, 1), Numeric("z", -1, 1)]
    three = Schema(columns, target="y", classes=["c", "a", "b"], adjacency="replace-one")
    model = Lopuhaa2021SVM(three, epsilon=3000, random_state=0).fit(X, ["b", "c", "a"] * 20)
    assert model.weights_.shape == (3, 2)
    assert model.problem_epsilon == 1000
    assert model.predict([[1.0, -1.0], [-1.0, 1.0]]).tolist() == ["c", "a"]
    assert model.honest_epsilon(50) == pytest.approx(3 * hyperplane_loss(1000, math.sqrt(2), 50))
    two = Lopuhaa2021SVM(three.replace(classes=["b", "a"]), epsilon=100, random_state=0)
    assert two.fit([[1, 0], [-1, 0]] * 9, ["a", "b"] * 9).predict([[1, 1], [-1, 1]]).tolist() == ["a", "b"]
    assert two.weights_.shape == (1, 2)
    assert two.problem_epsilon == 100
    one = Lopuhaa2021SVM(three.replace(classes=["a"]), random_state=0).fit(X, ["a"] * 60)
    assert one.predict(X[:2]).tolist() == ["a", "a"]
    assert one.honest_epsilon() == 0


def test_records_without_a_class_add_no_loss_but_count(fit_with):
    """n is the number of rows, public under replace-one; a label outside the list is no reason to drop it from n."""
    rows, labels = table_of(FIRST, 50)
    first = fit_with(Lopuhaa2021SVM(CODED, epsilon=30), rows, labels, laplace=1.0)
    second = fit_with(Lopuhaa2021SVM(CODED, epsilon=30), rows, [*labels[:2], *["elsewhere"] * 48], laplace=1.0)
    np.testing.assert_allclose(first.weights_, second.weights_, rtol=1e-6)


def test_bad_scaling():
    with pytest.raises(ParameterError, match="scaling="):
        Lopuhaa2021SVM(CODED, scaling="x").fit(None, None)


@pytest.mark.parametrize(("name", "least"), [("iris", 0.7), ("breast-cancer", 0.9)])
def test_it_learns_at_a_large_epsilon(name, least):
    X, y, schema = datasets.load(name)
    scores = [Lopuhaa2021SVM(schema, epsilon=10, random_state=seed).fit(X, y).score(X, y) for seed in range(5)]
    assert least < np.mean(scores) < 0.99
    tiny = [Lopuhaa2021SVM(schema, epsilon=1e-3, random_state=seed).fit(X, y).score(X, y) for seed in range(5)]
    assert np.mean(tiny) < np.mean(scores)
