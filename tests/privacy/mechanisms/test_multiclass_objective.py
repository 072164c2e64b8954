"""All classes in one objective: the density ratio and its bound, the law of the noise, the certificate."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet import Categorical, Numeric, Schema
from discreet.errors import ParameterError
from discreet.privacy.mechanisms import multiclass_minimiser, multiclass_problem
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.minimiser import SURE
from discreet.privacy.mechanisms.multiclass_minimiser import ExactMulticlassGradient, fast_bits, minimise
from discreet.privacy.mechanisms.multiclass_objective import (
    MOST_WEIGHTS,
    MulticlassPerturbation,
    determinant_loss,
    noise_variance,
    rate_parts,
)
from discreet.privacy.mechanisms.multiclass_problem import MARGIN, MulticlassObjective
from discreet.privacy.mechanisms.objective import rate_parts as rate_parts_of_two
from discreet.privacy.mechanisms.problem import Problem
from discreet.privacy.mechanisms.sum_zero import ONE, positive_classes, uniform_points
from discreet.privacy.randomness import as_rng
from discreet.queries.hyperplanes import Hyperplanes
from support.replay import log_density_of_all, on_simplex, vectors

MIXED = Schema(
    [Numeric("a", 0, 1, grid=8), Categorical("c", ["x", "y"]), Categorical("d", ["x", "y", "z"], unlisted=False)],
    target="t",
    classes=list(range(3)),
)
BITS = 23
FULL = [8, 1, 2]
"""A record all of whose groups have norm 1, with one knot."""


def problem_of(rows, labels, knots=3):
    features = Hyperplanes(knots, BITS).features(MIXED)
    codes = np.asarray(rows, dtype=np.uint16).reshape(len(labels), len(features)).T
    return Problem(features, tuple(codes), np.asarray(labels, dtype=np.uint16))


def drawn_problem(rng, rows, classes=3, knots=3):
    features = Hyperplanes(knots, BITS).features(MIXED)
    codes = np.stack([rng.integers(len(each.places), size=rows) for each in features], axis=1)
    return problem_of(codes, rng.integers(classes, size=rows), knots)


def calibrated(epsilon, distance, classes=3, knots=3, huber=0.5, strength=5.0):
    groups = Hyperplanes(knots, BITS).groups(MIXED)
    return MulticlassPerturbation.calibrated(epsilon, distance, groups, classes, huber, strength, BITS)


def without(problem, row):
    return problem.picked(np.flatnonzero(np.arange(problem.rows) != row))


def ratio_at(mechanism, first, second, W):
    lattice = W * 2.0**BITS
    return log_density_of_all(first, mechanism, lattice) - log_density_of_all(second, mechanism, lattice)


def worst_point(mechanism, problem, inside=1e-9):
    """Where the only record has all classes active, its own barely, and the noise points its way."""
    (x,), own = vectors(problem), int(problem.sides[0])
    K, tau = mechanism.classes, mechanism.tau
    direction = np.where(np.arange(K) == own, 1.0, -1 / (K - 1))
    size = (MARGIN - tau / (K - 1) + inside) * (K - 1) / K
    return np.outer(direction, x) * size / (x @ x)


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10_000), Fraction(1, 3), Fraction(1), Fraction(10), Fraction(9_999)])
@pytest.mark.parametrize("huber", [0.001, 0.05, 0.5, 10])
@pytest.mark.parametrize("classes", [3, 7])
def test_calibration_never_exceeds_epsilon_and_is_tight(epsilon, distance, huber, classes):
    mechanism = calibrated(epsilon, distance, classes, huber=huber, strength=0.001)
    assert epsilon * (1 - Fraction(1, 10**12)) <= mechanism.loss(distance) <= epsilon
    assert determinant_loss(mechanism.groups, classes, mechanism.tau, mechanism.mu) <= epsilon / 2
    assert mechanism.rounding <= Fraction(mechanism.mu) * mechanism.radius / 2
    assert mechanism.tau == pytest.approx(1.5 * classes * huber, rel=1e-3)
    assert mechanism.loss(0) == 0


def test_the_loss_is_the_stated_formula():
    """Independent of the code: the noise counts once per record added or removed, the determinant once."""
    for distance, classes in itertools.product((1, 2), (3, 5)):
        mechanism = calibrated(Fraction(1), distance, classes)
        part = (classes - 1) * math.log1p(4 / (classes * 0.75) / mechanism.mu)
        assert distance / mechanism.scale + part == pytest.approx(1)
    assert calibrated(math.inf, 1).loss(1) == math.inf
    assert sum(rate_parts((1, 1, 4, 7), 5)) == 1
    assert rate_parts((1, 1, 4, 7), 2) == rate_parts_of_two((1, 1, 4, 7)), "two classes are the same formula"


def test_what_cannot_be_calibrated_is_refused():
    with pytest.raises(ParameterError, match="too small"):
        calibrated(Fraction(1, 10**15), 1)
    with pytest.raises(ParameterError, match="too many weights"):
        MulticlassPerturbation.calibrated(Fraction(1), 1, (MOST_WEIGHTS // 3, 1), 3, 0.5, 1.0, BITS)
    good = calibrated(Fraction(1), 1)
    for wrong in ({"classes": 2}, {"mu": 0.0}, {"tau": 1e-9}, {"scales": (1.0,)}, {"grid": 0}):
        with pytest.raises(ParameterError):
            dataclasses.replace(good, **wrong)


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_one_coordinate_by_the_exact_density(epsilon, distance):
    """Only the constant, three classes: a density on a plane. It has the same mass for all records (the change of
    variables), and the ratio of neighbours stays within the loss and nearly attains it."""
    mechanism = MulticlassPerturbation.calibrated(Fraction(epsilon), distance, (1,), 3, 0.5, 5 / epsilon, BITS)
    mu, tau, rate = mechanism.mu, mechanism.tau, 2.0**mechanism.grid / mechanism.scales[0]
    reach = (25 / rate + 6) / mu
    axis = (np.arange(300) + 0.47) / 150 * reach - reach
    z = np.stack([*np.meshgrid(axis, axis)], axis=-1)
    z = np.concatenate([z, -z.sum(axis=-1, keepdims=True)], axis=-1).reshape(-1, 3)
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])

    def log_law(labels):
        b, hessian = -mu * z, mu * np.tile(np.eye(2), (len(z), 1, 1))
        for label in labels:
            own = np.eye(3)[label]
            p = projected_by_cases((z + 2 * (1 - own)) / tau)
            active = (p > 0).astype(float)
            b = b + own - p
            shares = active / active.sum(axis=1, keepdims=True)
            centring = active[:, :, None] * np.eye(3) - active[:, :, None] * shares[:, None]
            hessian = hessian + basis @ centring @ basis.T / tau
        density = np.log(np.linalg.det(hessian)) - rate * np.abs(b).sum(axis=1) / 2
        mass = np.exp(density).sum() * (axis[1] - axis[0]) ** 2
        assert mass == pytest.approx(6 / rate**2, rel=0.02)  # a hexagon of area 3, times the Gamma function of 3
        return density

    worst = 0.0
    for common in ([], [0], [0, 1, 2, 2]):
        pair = (common, [*common, 1]) if distance == 1 else ([*common, 0], [*common, 1])
        ratio = np.abs(log_law(pair[0]) - log_law(pair[1])).max()
        assert ratio <= float(mechanism.loss(distance)) + 1e-9
        worst = max(worst, ratio)
    assert worst >= (0.97 if distance == 1 else 0.75) * epsilon


def projected_by_cases(u):
    """The projection of rows of three numbers on the simplex: the support whose multipliers fit, tried one by one."""
    best, result = np.full(len(u), np.inf), np.zeros_like(u)
    for support in ([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]):
        p = np.zeros_like(u)
        p[:, support] = u[:, support] - (u[:, support].sum(axis=1, keepdims=True) - 1) / len(support)
        distance = np.where((p >= 0).all(axis=1), ((p - u) ** 2).sum(axis=1), np.inf)
        result[distance < best] = p[distance < best]
        best = np.minimum(best, distance)
    return result


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("classes", [3, 5])
def test_loss_bounds_the_density_ratio(distance, classes):
    """Many dimensions: the noise and the Jacobian of neighbours, at random and where the record's own loss bends."""
    rng = np.random.default_rng(5)
    worst = 0.0
    for trial in range(150):
        knots = int(rng.choice([1, 3]))
        mechanism = calibrated(Fraction(1), distance, classes, knots, strength=float(rng.choice([3, 5, 10])))
        problem = drawn_problem(rng, int(rng.integers(1, 8)), classes, knots)
        other = without(problem, 0)
        if distance == 2:
            labels, codes = problem.sides.copy(), [code.copy() for code in problem.codes]
            labels[0] = (labels[0] + 1) % classes
            if trial % 2:
                for code, feature in zip(codes, problem.features, strict=True):
                    code[0] = rng.integers(len(feature.places))
            other = Problem(problem.features, tuple(codes), labels if trial % 3 else problem.sides)
        W = rng.normal(size=(classes, sum(mechanism.groups))) * rng.choice([0.05, 0.3, 2])
        W -= W.mean(axis=0)
        if trial % 4:
            W = W * 0.01 + worst_point(mechanism, problem.picked(np.array([0])), inside=0.05)
        ratio = abs(ratio_at(mechanism, problem, other, W))
        assert ratio <= float(mechanism.loss(distance)) + 1e-9
        worst = max(worst, ratio)
    assert worst > 0.6


@pytest.mark.parametrize("classes", [3, 4, 9])
def test_the_bound_is_attained(classes):
    """A record alone, all groups full, all classes active, its own barely: each inequality of the proof is an
    equality."""
    mechanism = calibrated(Fraction(1), 1, classes, 1)
    problem = problem_of([FULL], [1], 1)
    assert vectors(problem)[0] @ vectors(problem)[0] == len(mechanism.groups)
    ratio = ratio_at(mechanism, problem, without(problem, 0), worst_point(mechanism, problem))
    assert ratio == pytest.approx(1, abs=1e-6)
    assert ratio <= 1 + 1e-9


@pytest.mark.parametrize(
    "mutant",
    [
        lambda good: dataclasses.replace(good, scales=tuple(scale / 1.1 for scale in good.scales)),
        lambda good: dataclasses.replace(good, mu=good.mu / 2),  # less curvature than the calibration assumed
        lambda good: dataclasses.replace(good, tau=good.tau / 2),  # a sharper maximum than it assumed
    ],
)
def test_mutants_exceed_epsilon(mutant):
    bad = mutant(calibrated(Fraction(1), 1, 4, 1, strength=10.0))
    assert bad.loss(1) > 1
    problem = problem_of([FULL], [1], 1)
    assert ratio_at(bad, problem, without(problem, 0), worst_point(bad, problem)) > 1.01


def test_a_determinant_of_one_dimension_is_too_little(monkeypatch):
    """The mutant that counts one dimension of curvature in place of K - 1."""
    full = determinant_loss
    module = "discreet.privacy.mechanisms.multiclass_objective.determinant_loss"
    monkeypatch.setattr(module, lambda groups, classes, tau, mu: full(groups, classes, tau, mu) / (classes - 1))
    bad = calibrated(Fraction(1), 1, 9, 1)
    problem = problem_of([FULL], [1], 1)
    assert ratio_at(bad, problem, without(problem, 0), worst_point(bad, problem)) > 1.2


def test_a_replaced_record_needs_twice_the_noise():
    """The mutant that forgets the factor of replace-one: calibrated for one added or removed record, used for two."""
    good, bad = (calibrated(Fraction(1), distance, 3, 1, strength=40.0) for distance in (2, 1))
    first, second = problem_of([FULL], [0], 1), problem_of([FULL], [1], 1)
    x = vectors(first)[0]
    W = np.outer([1.0, -1.0, 0.0], x) / (x @ x) * 0.2
    ratios = [ratio_at(each, first, second, W) for each in (good, bad)]
    assert ratios[0] <= 1
    assert ratios[1] > 1.2


class Listed:
    """Gives out a listed sequence of integers."""

    def __init__(self, values):
        self.values = iter(values)

    def integers(self, below, shape):
        return np.full(shape, next(self.values), dtype=np.int64)


@pytest.mark.parametrize("classes", [3, 4, 5])
def test_sets_of_positive_classes_have_their_law(classes):
    """All draws of integers, each once: a set of s classes comes up in proportion to C(K-2, s-1), exactly."""
    counts = {}
    for draws in itertools.product(*(range(2 * classes - 2 - place) for place in range(classes))):
        chosen = tuple(np.flatnonzero(positive_classes(1, classes, Listed(draws))[0]).tolist())
        counts[chosen] = counts.get(chosen, 0) + 1
    weights = {
        each: math.comb(classes - 2, size - 1)
        for size in range(1, classes)
        for each in itertools.combinations(range(classes), size)
    }
    assert counts.keys() == weights.keys()
    assert {Fraction(counts[each], weights[each]) for each in counts} == {
        Fraction(sum(counts.values()), sum(weights.values()))
    }


@pytest.mark.parametrize(("size", "classes"), [(1, 3), (1, 4), (2, 3)])
def test_points_of_the_ball_are_uniform(size, classes):
    """Against points of a cube that happen to lie in the ball."""
    rng, seeded = np.random.default_rng(3), as_rng(7)
    drawn = np.array([[np.array(row) / ONE**2 for row in uniform_points([size], classes, seeded)] for _ in range(3000)])
    drawn = drawn.astype(float)
    free = rng.uniform(-1, 1, size=(60_000, size, classes - 1))
    wanted = np.concatenate([free, -free.sum(axis=2, keepdims=True)], axis=2)
    wanted = wanted[np.abs(wanted).sum(axis=(1, 2)) <= 2]
    assert len(wanted) > 3000
    slanted = np.arange(1, size * classes + 1).reshape(size, classes) ** 2
    for statistic in (
        lambda points: points[:, 0, 0],
        lambda points: points[:, -1, -1],
        lambda points: np.abs(points).sum(axis=(1, 2)),
        lambda points: np.abs(points[:, 0]).sum(axis=1),
        lambda points: points.max(axis=(1, 2)),
        lambda points: (points * slanted).sum(axis=(1, 2)),
    ):
        assert stats.ks_2samp(statistic(drawn), statistic(wanted)).pvalue > 1e-4


def test_points_sum_to_exactly_zero():
    for size, classes in ((1, 3), (4, 3), (2, 11), (1, 60)):
        points = uniform_points([size, 1], classes, as_rng(None))
        assert len(points) == size + 1
        assert all(sum(row) == 0 and len(row) == classes for row in points)
        assert 0 < sum(abs(value) for row in points[:size] for value in row) <= 2 * ONE**2


@pytest.mark.parametrize("seed", [None, 4])
def test_the_drawn_noise_has_its_law(seed):
    """Norms of blocks are Gamma and independent; norms of groups and sizes of coordinates are those of a ball."""
    rng, classes = as_rng(seed), 4
    mechanism = MulticlassPerturbation.calibrated(Fraction(1), 1, (1, 2, 2, 1), classes, 0.5, 5.0, BITS)
    count = 1200 if seed else 400
    draws = np.array([[float(value) for value in mechanism.draw(rng)] for _ in range(count)])
    draws = draws.reshape(count, classes, 6)
    assert np.abs(draws.sum(axis=1)).max() < 1e-9 * np.abs(draws).max()
    means = [scale / 2.0**mechanism.grid for scale in mechanism.scales]
    sizes = np.abs(draws).sum(axis=1) / 2
    groups = np.stack([sizes[:, 0], sizes[:, 1:3].sum(axis=1), sizes[:, 3:5].sum(axis=1), sizes[:, 5]], axis=1)
    norms = groups[:, [0, 3]].max(axis=1), groups[:, 1:3].max(axis=1)
    for norm, coordinates, mean in zip(norms, (2, 4), means, strict=True):
        assert stats.kstest(norm / mean, stats.gamma(coordinates * (classes - 1)).cdf).pvalue > 1e-4
    radial = groups[:, 1] / norms[1]
    below = radial[radial < 1]
    assert stats.kstest(below, lambda r: r**6).pvalue > 1e-4
    assert 0.4 < len(below) / len(radial) < 0.6
    assert stats.kstest(sizes[:, 1] / groups[:, 1], stats.beta(3, 3).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(np.array(norms))[0, 1]) < 0.2
    rough = noise_variance(mechanism.groups, classes, 1 / mechanism.scale)
    assert draws.var() == pytest.approx(rough, rel=0.35), "the estimate that sets the regularisation"


def exact_gradient(problem, classes, tau, mu, b, w):
    """The gradient of F in fractions, record by record: another way than the code's."""
    width = len(b) // classes
    total = [Fraction(mu) * value + noise for value, noise in zip(w, b, strict=True)]
    for row in range(problem.rows):
        x = []
        for feature, codes in zip(problem.features, problem.codes, strict=True):
            part = [Fraction(0)] * feature.size
            code = int(codes[row])
            for place, weight in zip(feature.places[code].tolist(), feature.weights[code].tolist(), strict=True):
                part[place] += Fraction(weight, feature.unit)
            x += part
        x.append(Fraction(1))
        own = int(problem.sides[row])
        u = [sum(a * c for a, c in zip(x, w[c * width : (c + 1) * width], strict=True)) for c in range(classes)]
        u = [(value + 2 * (c != own)) / Fraction(tau) for c, value in enumerate(u)]
        # the threshold is the largest of those of all top sets
        top = sorted(u, reverse=True)
        theta = max((sum(top[:count]) - 1) / count for count in range(1, classes + 1))
        for c in range(classes):
            slope = max(u[c] - theta, Fraction(0)) - (c == own)
            for place, value in enumerate(x):
                total[c * width + place] += slope * value
    return total


def norm(vector):
    return math.sqrt(sum(value * value for value in vector))


def drawn_b(rng, problem, classes, size=9999):
    return [Fraction(int(value), 1000) for value in rng.integers(-size, size, classes * (problem.offsets[-1] + 1))]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("classes", [3, 6])
@pytest.mark.parametrize("size", [0.3, 1.0, 40.0])
def test_the_certificate_holds(seed, classes, size):
    """Against fractions, record by record: with the fewest bits there is an error, and it is within its bound."""
    rng = np.random.default_rng(seed)
    problem = drawn_problem(rng, int(rng.integers(0, 15)), classes, int(rng.integers(1, 5)))
    b, tau = drawn_b(rng, problem, classes), classes / 2
    objective = MulticlassObjective(problem, classes, tau, 2.5, np.array([float(value) for value in b]))
    w = rng.normal(size=len(b)) * size
    for bits in (fast_bits(w, classes, tau), 30, SURE):
        exact = ExactMulticlassGradient(objective, b, bits)
        point = exact.point(w)
        gradient, error = exact(point)
        truth = exact_gradient(problem, classes, tau, 2.5, b, [Fraction(value, 2**bits) for value in point])
        gap = norm([Fraction(value) - each for value, each in zip(gradient.tolist(), truth, strict=True)])
        assert gap <= error + 1e-15 * norm(truth)
        assert error <= problem.rows * 100 * 2.0**-bits
    assert np.allclose(objective.gradient(w, objective.margins(w)), [float(each) for each in truth], atol=1e-6)
    mixed = problem.picked(rng.permutation(problem.rows))
    again, _ = ExactMulticlassGradient(MulticlassObjective(mixed, classes, tau, 2.5, objective.b), b, SURE)(point)
    assert np.array_equal(again, gradient), "the order of records must not matter"


@pytest.mark.parametrize("rows", [0, 1, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_is_the_same_with_and_without_a_matrix(rows, weighted, monkeypatch):
    """Few records are a sparse matrix, many are read in blocks."""
    rng = np.random.default_rng(rows)
    problem = drawn_problem(rng, rows)
    problem = problem.thinned(3) if weighted else problem
    w = rng.normal(size=3 * (problem.offsets[-1] + 1))
    objective = MulticlassObjective(problem, 3, 1.5, 2.5, rng.normal(size=len(w)))
    seen = objective.margins(w)
    by_matrix = objective.newton(seen, objective.gradient(w, seen))
    monkeypatch.setattr(multiclass_problem, "ENTRIES", -1)
    by_blocks = objective.newton(seen, objective.gradient(w, seen))
    assert np.allclose(by_matrix, by_blocks, rtol=1e-6, atol=1e-9)


def test_huge_weights_do_not_wrap_around():
    """Machine integers would overflow silently, and the certificate would lie."""
    problem = problem_of([[8, 1, 2]] * 3, [0, 1, 2])
    w = np.arange(3 * (problem.offsets[-1] + 1)) * 2.0**16
    b = [Fraction(0)] * len(w)
    for bits in (50, SURE):
        exact = ExactMulticlassGradient(MulticlassObjective(problem, 3, 1.5, 1.0, 0 * w), b, bits)
        gradient, error = exact([int(value) << bits for value in w.tolist()])
        truth = exact_gradient(problem, 3, 1.5, 1.0, b, [Fraction(value) for value in w])
        assert np.allclose(gradient, [float(value) for value in truth], rtol=1e-12)
    assert fast_bits(w * 2.0**20, 3, 1.5) == fast_bits(w * math.nan, 3, 1.5) == SURE
    assert error < 1e-50


def test_a_tau_that_is_no_integer_in_fixed_point_is_refused():
    problem = problem_of([], [])
    with pytest.raises(ValueError, match="rounder"):
        ExactMulticlassGradient(MulticlassObjective(problem, 3, 0.1, 1.0, np.zeros(24)), [Fraction(0)] * 24, 30)


@pytest.mark.parametrize(
    ("records", "case"),
    [(0, "drawn"), (1, "drawn"), (20, "drawn"), (400, "one class"), (400, "one record"), (1000, "separable")],
)
@pytest.mark.parametrize("tau", [3 / 1024, 1.5, 30.0])
@pytest.mark.parametrize("mu", [0.01, 10.0, 1e5])
def test_the_minimiser_is_found_whatever_the_records(records, case, tau, mu):
    rng = np.random.default_rng(3)
    problem = drawn_problem(rng, records)
    labels = {"one class": np.ones(records), "separable": problem.codes[0] // 3}.get(case, problem.sides)
    codes = tuple(np.full_like(code, 1) if case == "one record" else code for code in problem.codes)
    problem = Problem(problem.features, codes, np.asarray(labels, dtype=np.uint16))
    b = drawn_b(rng, problem, 3)
    tolerance = mu * 2.0**-24
    w = minimise(problem, 3, tau, mu, b, tolerance)
    if records <= 20:
        assert norm(exact_gradient(problem, 3, tau, mu, b, w)) <= tolerance
    exact = ExactMulticlassGradient(MulticlassObjective(problem, 3, tau, mu, np.zeros(len(b))), b, SURE)
    gradient, error = exact([round(value * 2**SURE) for value in w])
    assert np.linalg.norm(gradient) + error <= tolerance


def test_a_large_table_starts_from_a_sample(monkeypatch):
    """The same minimiser, whatever the start."""
    monkeypatch.setattr(multiclass_minimiser, "SAMPLE", 20)
    rng = np.random.default_rng(2)
    problem = drawn_problem(rng, 300)
    b = drawn_b(rng, problem, 3)
    found = minimise(problem, 3, 1.5, 3.0, b, 1e-7)
    assert norm(exact_gradient(problem, 3, 1.5, 3.0, b, found)) <= 1e-7


@pytest.mark.parametrize("size", [0.0, 1e-200, 5e-324, 1e30, 1e160, 1.7e308, math.inf, math.nan])
@pytest.mark.parametrize("mu", [1e-300, 1e-12, 1.0, 1e300])
def test_a_step_is_finite_whatever_the_numbers(size, mu):
    """Too large, too small, not a number: an exception, or a step that is not finite, would reveal the records."""
    rng = np.random.default_rng(2)
    problem = drawn_problem(rng, 50)
    gradient = rng.normal(size=3 * (problem.offsets[-1] + 1))
    with np.errstate(all="ignore"):
        gradients = gradient * size, np.where(gradient > 0, size, gradient)
        objective = MulticlassObjective(problem, 3, 1.5, mu, np.zeros(len(gradient)))
        for w in (0 * gradient, gradient, gradient * size):
            seen = objective.margins(w)
            for scaled in gradients:
                step = objective.newton(seen, scaled)
                assert step.shape == gradient.shape
                assert np.isfinite(step).all()


@pytest.mark.parametrize("start", [math.nan, math.inf, 1e308, -1e300, 5e-324, 50.0])
@pytest.mark.parametrize("newton", [None, lambda self, seen, gradient: gradient])
def test_any_start_arrives_even_without_newton(monkeypatch, start, newton):
    problem = drawn_problem(np.random.default_rng(2), 6, knots=1)
    b = [Fraction(1, 7)] * (3 * (problem.offsets[-1] + 1))
    if newton:
        monkeypatch.setattr(MulticlassObjective, "newton", newton)
    objective = MulticlassObjective(problem, 3, 1.5, 20.0, np.array([float(value) for value in b]))
    with np.errstate(all="ignore"):
        w = multiclass_minimiser.certified(objective, b, np.full(len(b), start), 1e-5)
    assert norm(exact_gradient(problem, 3, 1.5, 20.0, b, w)) <= 1e-5


def test_the_lattice_hides_which_approximation_was_found():
    """Two approximations of the same minimiser are neighbours on the lattice; the noise covers the distance K D."""
    rng = np.random.default_rng(8)
    mechanism = calibrated(Fraction(1), 1)
    problem = drawn_problem(rng, 60)
    fixed = mechanism.draw(as_rng(0))
    lattices = []
    for _ in range(6):
        mixed = problem.picked(rng.permutation(problem.rows))
        nudge = rng.normal(size=mechanism.size)
        nudge *= float(mechanism.rounding) / np.linalg.norm(nudge) * 0.99
        moved = [value + Fraction(move) for value, move in zip(fixed, nudge.tolist(), strict=True)]
        near = dataclasses.replace(mechanism)
        object.__setattr__(near, "draw", lambda _, moved=moved: moved)
        lattices.append(near.perturb(mixed, as_rng(0)))
    spread = np.ptp(np.array(lattices), axis=0)
    assert spread.max() <= 1
    noise = DiscreteLaplace.calibrated(Fraction(1, 100), mechanism.size)
    assert noise.loss(int(spread.sum())) <= Fraction(1, 100)


def test_the_projection_of_the_search_is_that_of_halving():
    from discreet.privacy.mechanisms.multiclass_problem import projected

    u = np.random.default_rng(0).normal(size=(5, 200)) * np.array([0.1, 1, 3, 10] * 50)
    assert np.allclose(projected(u), on_simplex(u), atol=1e-9)
