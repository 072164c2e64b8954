"""Objective perturbation: the density ratio and its bound, the law of the noise, the certificate of the minimiser."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet import Categorical, LinearSVM, Numeric, Schema
from discreet.errors import ParameterError
from discreet.privacy.mechanisms import minimiser
from discreet.privacy.mechanisms.corner import STEPS, Corner
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.minimiser import SURE, ExactGradient, fast_bits, minimise
from discreet.privacy.mechanisms.multiclass_objective import MulticlassPerturbation
from discreet.privacy.mechanisms.objective import (
    PIECES,
    WORD,
    ObjectivePerturbation,
    _cross_polytope,
    determinant_losses,
    gamma,
    rate_parts,
)
from discreet.privacy.mechanisms.problem import Objective, Problem
from discreet.privacy.randomness import as_rng
from discreet.queries.hyperplanes import Hyperplanes
from support.replay import hinge, log_density, vectors

MIXED = Schema(
    [
        Numeric("a", 0, 1, grid=8),
        Numeric("b", 0, 1, grid=16),
        Categorical("c", ["x", "y"]),
        Categorical("d", ["x", "y", "z"]),
        Categorical("e", list("stuvw"), unlisted=False),
    ],
    target="t",
    classes=[0, 1],
)
BITS = 23
CHAIN = Corner.of(0.5, [Fraction(3, 4), Fraction(7, 8), Fraction(19, 20)])
"""A corner as objectives have it: four pieces, each bent half as much as the one before."""


def problem_of(rows, sides, knots=3, schema=MIXED):
    """Records of random codes."""
    features = Hyperplanes(knots, BITS).features(schema)
    codes = np.asarray(rows, dtype=np.uint16).reshape(len(sides), len(features)).T
    return Problem(features, tuple(codes), np.asarray(sides, dtype=np.int8))


def drawn_problem(rng, rows, knots=3, schema=MIXED):
    features = Hyperplanes(knots, BITS).features(schema)
    codes = np.stack([rng.integers(len(each.places), size=rows) for each in features], axis=1)
    return problem_of(codes, rng.choice([-1, 1], size=rows), knots, schema)


def calibrated(epsilon, distance, knots=3, huber=0.5, strength=3.0, schema=MIXED):
    groups = Hyperplanes(knots, BITS).groups(schema)
    return ObjectivePerturbation.calibrated(epsilon, distance, groups, huber, strength, BITS)


def without(problem, row):
    kept = np.arange(problem.rows) != row
    return Problem(problem.features, tuple(code[kept] for code in problem.codes), problem.sides[kept])


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10_000), Fraction(1, 3), Fraction(1), Fraction(10), Fraction(9_999)])
@pytest.mark.parametrize("huber", [0.05, 0.5, 2])
def test_calibration_never_exceeds_epsilon_and_is_tight(epsilon, distance, huber):
    mechanism = calibrated(epsilon, distance, huber=huber, strength=0.001)
    assert epsilon * (1 - Fraction(1, 10**12)) <= mechanism.loss(distance) <= epsilon
    assert determinant_losses(mechanism.corner, mechanism.groups, mechanism.mu)[0] <= epsilon / 2
    assert mechanism.rounding <= Fraction(mechanism.mu) * mechanism.radius / 2
    assert mechanism.loss(0) == 0


def test_the_loss_is_the_stated_formula():
    """Independent of the code: the slope of a record at a margin pays for noise, its bend for the determinant."""
    for distance in (1, 2):
        mechanism = calibrated(Fraction(1), distance)
        slopes, bends = hinge(mechanism.corner, np.linspace(-12, 2, 100_001))
        lost = slopes / mechanism.scale + np.log1p(bends * len(mechanism.groups) / mechanism.mu)
        assert bends.max() == 1 / (2 * 0.5)
        assert lost.max() + (distance - 1) / mechanism.scale == pytest.approx(1, abs=1e-4)
        assert (distance - 1 + 1) / mechanism.scale > 0.94, "bending little where it is steep leaves most to the noise"
    assert sum(rate_parts((1, 1, 4, 7))) == 1
    assert ObjectivePerturbation.calibrated(math.inf, 1, (1,), 0.5, 1.0, BITS).loss(1) == math.inf
    with pytest.raises(ParameterError, match="too small"):
        ObjectivePerturbation.calibrated(Fraction(1), 1, (65_000,) * 400, 10.0, 0.001, BITS)


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_one_dimension_by_the_exact_density(epsilon, distance):
    """Only the constant: one weight, whose density is known in closed form. The bound holds and is nearly attained."""
    epsilon = Fraction(epsilon)
    mechanism = ObjectivePerturbation.calibrated(epsilon, distance, (1,), 0.5, max(3 / float(epsilon), 2.5), BITS)
    mu, rate = mechanism.mu, 2.0**mechanism.grid / mechanism.scales[0]
    w = np.arange(-40, 40, 2e-4) + 1e-4

    def log_law(sides):
        parts = [hinge(mechanism.corner, side * w) for side in sides]
        slope = sum(side * part for side, (part, _) in zip(sides, parts, strict=True))
        second = sum(part for _, part in parts)
        density = np.log(mu + second) - rate * np.abs(slope - mu * w)
        mass = np.exp(density).sum() * 2e-4
        assert mass == pytest.approx(2 / rate, rel=1e-3)  # the change of variables gives a density for all records
        return density

    worst = 0.0
    for common in ([], [1], [1, -1, -1], [1] * 9):
        pairs = [(common, [*common, 1])] if distance == 1 else [([*common, 1], [*common, -1])]
        for first, second in pairs:
            ratio = np.abs(log_law(first) - log_law(second)).max()
            assert ratio <= float(mechanism.loss(distance)) + 1e-12
            worst = max(worst, ratio)
    assert worst >= (0.999 if distance == 1 else 0.9) * float(epsilon)


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("knots", [1, 3])
def test_loss_bounds_the_density_ratio(distance, knots):
    """Many dimensions: at each w the noise and the Jacobian of neighbours, at random and in the record's own corner."""
    rng = np.random.default_rng(5)
    worst = 0.0
    for trial in range(250):
        mechanism = calibrated(Fraction(1), distance, knots, strength=float(rng.choice([1.6, 3, 10])))
        problem = drawn_problem(rng, int(rng.integers(1, 9)), knots)
        other = without(problem, 0)
        if distance == 2:
            flipped = problem.sides.copy()
            flipped[0] *= -1
            codes = [code.copy() for code in problem.codes]
            if trial % 2:
                for code, feature in zip(codes, problem.features, strict=True):
                    code[0] = rng.integers(len(feature.places))
            other = Problem(problem.features, tuple(codes), flipped if trial % 3 else problem.sides)
        x = vectors(problem)[0]
        w = rng.normal(size=len(x)) * rng.choice([0.05, 0.3, 2])
        if trial % 4:  # just inside the lower end of a piece, where slope and bend are largest together
            end = rng.choice(lower_ends(mechanism.corner)) + 1e-6
            w += problem.sides[0] * x * (end - problem.sides[0] * (w @ x)) / (x @ x)
        lattice = w * 2.0**BITS
        ratio = abs(log_density(problem, mechanism, lattice) - log_density(other, mechanism, lattice))
        assert ratio <= float(mechanism.loss(distance)) + 1e-9
        worst = max(worst, ratio)
    assert worst > 0.5


def lower_ends(corner):
    """The margins at which the pieces of a corner end."""
    return [float(end - width) / 2**STEPS for end, width in zip(corner.ends, corner.widths, strict=True)]


def ratios_of_a_full_record(mechanism):
    """The log-ratio of densities with and without one record whose groups are all full, at the end of each piece.

    With a large mu, w lies on the side of the origin where the noise falls and the determinant grows with the record.
    """
    problem = problem_of([[8, 16, 1, 2, 3]], [1], 1)
    x = vectors(problem)[0]
    assert x @ x == len(mechanism.groups)
    ratios = []
    for end in lower_ends(mechanism.corner):
        lattice = x / (x @ x) * (end + 1e-9) * 2.0**BITS
        assert mechanism.mu * end / (x @ x) > 1
        pair = problem, without(problem, 0)
        ratios.append(-np.diff([log_density(each, mechanism, lattice) for each in pair])[0])
    return ratios


def test_the_bound_is_attained_in_every_piece():
    """Each inequality of the proof is an equality, and in every piece slope and bend cost all of epsilon together."""
    mechanism = calibrated(Fraction(1), 1, 1, strength=8.0)
    ratios = ratios_of_a_full_record(mechanism)
    assert len(ratios) == PIECES
    assert ratios == pytest.approx([1] * PIECES, abs=1e-5)
    assert max(ratios) <= 1 + 1e-12


@pytest.mark.parametrize(
    "mutant",
    [
        lambda good: dataclasses.replace(good, scales=tuple(scale / 1.1 for scale in good.scales)),  # beta too large
        lambda good: dataclasses.replace(good, mu=good.mu / 2),  # less curvature than the calibration assumed
        lambda good: dataclasses.replace(good, corner=Corner.of(0.5)),  # as much bend where the slope is full
        lambda good: dataclasses.replace(good, corner=Corner.of(0.5, [Fraction(97, 100)])),  # a piece that ends late
    ],
)
def test_mutants_exceed_epsilon(mutant):
    bad = mutant(calibrated(Fraction(1), 1, 1, strength=10.0))
    assert bad.loss(1) > 1
    assert max(ratios_of_a_full_record(bad)) > 1.01


def test_a_replaced_record_needs_twice_the_noise():
    """The mutant that forgets the factor of replace-one: calibrated for one added or removed record, used for two."""
    good, bad = calibrated(Fraction(1), 2, 1, strength=20.0), calibrated(Fraction(1), 1, 1, strength=20.0)
    first, second = problem_of([[8, 16, 1, 2, 3]], [1], 1), problem_of([[8, 16, 1, 2, 3]], [-1], 1)
    x = vectors(first)[0]
    lattice = x / (x @ x) * (lower_ends(good.corner)[-1] + 1e-9) * 2.0**BITS
    ratios = [log_density(first, each, lattice) - log_density(second, each, lattice) for each in (good, bad)]
    assert ratios[0] <= 1
    assert ratios[1] > 1.8


def test_a_record_beyond_the_norm_is_refused():
    feature = Hyperplanes(3, BITS).features(MIXED)[0]
    with pytest.raises(ValueError, match="L1 norm"):
        dataclasses.replace(feature, weights=feature.weights * 2)


@pytest.mark.parametrize("seed", [None, 4])
def test_the_drawn_noise_has_its_law(seed):
    """Radii are Gamma, groups uniform in cross-polytopes, signs fair, blocks independent."""
    rng = as_rng(seed)
    mechanism = ObjectivePerturbation.calibrated(Fraction(1), 1, (1, 2, 2, 1, 3), 0.5, 5.0, BITS)
    draws = np.array([[float(value) for value in mechanism.draw(rng)] for _ in range(1500 if seed else 500)])
    means = [scale / 2.0**mechanism.grid for scale in mechanism.scales]
    ones, twos, three = draws[:, [0, 5]], draws[:, 1:5].reshape(-1, 2, 2), draws[:, 6:]
    norms = np.abs(ones).max(axis=1), np.abs(twos).sum(axis=2).max(axis=1), np.abs(three).sum(axis=1)
    for norm, size, mean in zip(norms, (2, 4, 3), means, strict=True):
        assert stats.kstest(norm / mean, stats.gamma(size).cdf).pvalue > 1e-4
    radial = np.abs(twos[:, 0]).sum(axis=1) / norms[1]
    below = radial[radial < 1]  # the group that is not the larger one: its norm is that of a uniform point of a diamond
    assert stats.kstest(below, lambda r: r**2).pvalue > 1e-4
    assert 0.4 < len(below) / len(radial) < 0.6
    share = np.abs(twos[:, 1, 0]) / np.abs(twos[:, 1]).sum(axis=1)
    assert stats.kstest(share, "uniform").pvalue > 1e-4
    first = np.abs(three[:, 0]) / norms[2]
    assert stats.kstest(first, stats.beta(1, 2).cdf).pvalue > 1e-4
    assert np.abs((draws > 0).mean(axis=0) - 0.5).max() < 0.1
    assert np.abs(np.corrcoef(np.array(norms)) - np.eye(3)).max() < 0.2


@pytest.mark.parametrize("groups", [(3, 3, 1, 1), (12, 4, 1)])
def test_the_largest_variance_is_that_of_the_draws(groups):
    """What pictures show as the size of the noise; for more than two classes too."""
    rng = as_rng(5)
    two = ObjectivePerturbation.calibrated(1, 1, groups, 0.5, 5.0, 20)
    more = MulticlassPerturbation.calibrated(1, 1, groups, 3, 0.5, 5.0, 20)
    for mechanism in (two, more):
        draws = np.array([[float(value) for value in mechanism.draw(rng)] for _ in range(1000)])
        assert np.mean(draws**2, axis=0).max() == pytest.approx(mechanism.largest_variance, rel=0.3)
    assert ObjectivePerturbation.calibrated(math.inf, 1, groups, 0.5, 5.0, 20).largest_variance == 0


def test_exponentials_are_rounded_down_exactly():
    """A two-sided geometric draw folded in half is a one-sided one: its probabilities, and those of a sum of three."""
    rng, p = as_rng(11), math.exp(-1 / 1.5)
    singles = np.array([gamma(1, 1.5, rng) for _ in range(4000)])
    sums = np.array([gamma(3, 1.5, rng) for _ in range(4000)])
    for draws, law in ((singles, stats.nbinom(1, 1 - p)), (sums, stats.nbinom(3, 1 - p))):
        seen = np.bincount(np.minimum(draws, 6), minlength=7)
        expected = np.append(law.pmf(np.arange(6)), law.sf(5)) * len(draws)
        assert stats.chisquare(seen, expected).pvalue > 1e-4


def test_points_of_a_cross_polytope_are_within_it():
    for size in (1, 2, 7):
        for _ in range(50):
            assert sum(map(abs, _cross_polytope(size, as_rng(None)))) <= 2 ** (2 * WORD)


def exact_slope(corner, margin):
    """|l'|, in fractions, from the definition: pieces by their rises, from above."""
    end, slope = Fraction(corner.start, 2**STEPS), Fraction(0)
    for piece, rise in enumerate(corner.rises):
        width = Fraction(rise * 2**piece, 2**STEPS)
        if width:
            slope += Fraction(rise, sum(corner.rises)) * min(max((end - margin) / width, Fraction(0)), Fraction(1))
        end -= width
    return slope


def exact_gradient(problem, corner, mu, b, w):
    """In fractions, record by record, from the definition."""
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
        side = int(problem.sides[row])
        margin = side * sum(a * c for a, c in zip(x, w, strict=True))
        slope = exact_slope(corner, margin)
        total = [each - slope * side * value for each, value in zip(total, x, strict=True)]
    return total


def norm(vector):
    return math.sqrt(sum(value * value for value in vector))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("corner", [Corner.of(0.05), Corner.of(0.3), CHAIN, Corner.of(2, [Fraction(0.9)] * 2)])
@pytest.mark.parametrize("size", [0.3, 1.0, 40.0])
def test_the_certificate_holds(seed, corner, size):
    """Against fractions, record by record: with the fewest bits there is an error, and it is within its bound."""
    rng = np.random.default_rng(seed)
    problem = drawn_problem(rng, int(rng.integers(0, 25)), int(rng.integers(1, 5)))
    coordinates = problem.offsets[-1] + 1
    b = [Fraction(int(value), 1000) for value in rng.integers(-9999, 9999, coordinates)]
    objective = Objective(problem, corner, 2.5, np.array([float(value) for value in b]))
    w = rng.normal(size=coordinates) * size
    for bits in (fast_bits(w, corner), 34, SURE):
        exact = ExactGradient(objective, b, bits)
        point = exact.point(w)
        gradient, error = exact(point)
        truth = exact_gradient(problem, corner, 2.5, b, [Fraction(value, 2**bits) for value in point])
        gap = norm([Fraction(value) - each for value, each in zip(gradient.tolist(), truth, strict=True)])
        assert gap <= error + 1e-15 * norm(truth)
        assert error <= problem.rows * 100 * 2.0 ** (1 - bits) * corner.bend
    order = rng.permutation(problem.rows)
    mixed = Problem(problem.features, tuple(code[order] for code in problem.codes), problem.sides[order])
    again, _ = ExactGradient(Objective(mixed, corner, 2.5, objective.b), b, SURE)(point)
    assert np.array_equal(again, gradient), "the order of records must not matter"


def test_huge_weights_do_not_wrap_around():
    """Machine integers would overflow silently, and the certificate would lie."""
    problem = problem_of([[8, 16, 1, 2, 3]] * 3, [1, 1, -1])
    w = np.full(problem.offsets[-1] + 1, 2.0**20)
    b = [Fraction(0)] * len(w)
    for bits in (50, SURE):
        gradient, error = ExactGradient(Objective(problem, CHAIN, 1.0, 0 * w), b, bits)(
            [int(value) << bits for value in w.tolist()]
        )
        truth = exact_gradient(problem, CHAIN, 1.0, b, [Fraction(value) for value in w])
        assert np.allclose(gradient, [float(value) for value in truth], rtol=1e-12)
    assert fast_bits(w * 2.0**20, CHAIN) == SURE
    assert error < 1e-50


@pytest.mark.parametrize(
    ("records", "case"),
    [(0, "drawn"), (1, "drawn"), (30, "drawn"), (400, "one side"), (400, "one record"), (2000, "separable")],
)
@pytest.mark.parametrize("corner", [Corner.of(0.001), CHAIN, Corner.of(10, [Fraction(4, 5)] * 3)])
@pytest.mark.parametrize("mu", [0.01, 10.0, 1e5])
def test_the_minimiser_is_found_whatever_the_records(records, case, corner, mu):
    rng = np.random.default_rng(3)
    problem = drawn_problem(rng, records)
    sides = {"one side": np.ones(records), "separable": np.where(problem.codes[0] > 4, 1, -1)}.get(case, problem.sides)
    codes = tuple(np.full_like(code, 1) if case == "one record" else code for code in problem.codes)
    problem = Problem(problem.features, codes, np.asarray(sides, dtype=np.int8))
    b = [Fraction(int(value), 100) for value in rng.integers(-999, 999, problem.offsets[-1] + 1)]
    tolerance = mu * 2.0**-24
    w = minimise(problem, corner, mu, b, tolerance)
    if records <= 30:
        assert norm(exact_gradient(problem, corner, mu, b, w)) <= tolerance
    exact = ExactGradient(Objective(problem, corner, mu, np.zeros(len(b))), b, SURE)
    gradient, error = exact([round(value * 2**SURE) for value in w])
    assert np.linalg.norm(gradient) + error <= tolerance


def test_a_start_far_away_and_bad_steps_still_arrive(monkeypatch):
    """Without a useful Newton step, gradient steps find the minimiser, in exact arithmetic."""
    rng = np.random.default_rng(1)
    problem = drawn_problem(rng, 6, 1)
    b = [Fraction(int(value), 100) for value in rng.integers(-99, 99, problem.offsets[-1] + 1)]
    monkeypatch.setattr(Objective, "newton", lambda self, margins, gradient: gradient)
    objective = Objective(problem, CHAIN, 20.0, np.array([float(value) for value in b]))
    w = minimiser.certified(objective, b, np.full(len(b), 50.0), 1e-5)
    assert norm(exact_gradient(problem, CHAIN, 20.0, b, w)) <= 1e-5


def test_a_hessian_that_cannot_be_solved_is_no_error(monkeypatch):
    """Rounding could make it singular for some records: an exception would reveal them."""
    problem = drawn_problem(np.random.default_rng(1), 5, 1)
    b = [Fraction(1, 7)] * (problem.offsets[-1] + 1)

    def singular(*_):
        raise np.linalg.LinAlgError

    for broken in (singular, lambda hessian, target: target * math.nan):
        monkeypatch.setattr(np.linalg, "solve", broken)
        w = minimise(problem, CHAIN, 50.0, b, 1e-5)
        assert norm(exact_gradient(problem, CHAIN, 50.0, b, w)) <= 1e-5


def test_many_coordinates_by_conjugate_gradients(monkeypatch):
    rng = np.random.default_rng(2)
    problem = drawn_problem(rng, 300)
    b = [Fraction(int(value), 100) for value in rng.integers(-999, 999, problem.offsets[-1] + 1)]
    factored = minimise(problem, CHAIN, 3.0, b, 1e-7)
    monkeypatch.setattr("discreet.privacy.mechanisms.problem.DIRECT", 0)
    iterated = minimise(problem, CHAIN, 3.0, b, 1e-7)
    assert norm([a - c for a, c in zip(factored, iterated, strict=True)]) <= 2e-7 / 3


@pytest.mark.parametrize("direct", [0, 1000])
@pytest.mark.parametrize("size", [0.0, 1e-200, 5e-324, 1e30, 1e160, 1e200, 1.7e308, math.inf, math.nan])
@pytest.mark.parametrize("mu", [1e-300, 1e-12, 1.0, 1e300])
def test_a_step_is_finite_whatever_the_numbers(monkeypatch, direct, size, mu):
    """Too large, too small, not a number: an exception, or a step that is not finite, would reveal the records."""
    monkeypatch.setattr("discreet.privacy.mechanisms.problem.DIRECT", direct)
    rng = np.random.default_rng(2)
    problem = drawn_problem(rng, 50)
    gradient = rng.normal(size=problem.offsets[-1] + 1)
    with np.errstate(all="ignore"):
        gradients = gradient * size, np.where(gradient > 0, size, gradient)
    for scaled in gradients:
        for margins in (np.ones(50), np.full(50, size), rng.normal(size=50)):
            objective = Objective(problem, CHAIN, mu, np.zeros(len(gradient)))
            step = objective.newton(margins, scaled)
            assert step.shape == gradient.shape
            assert np.isfinite(step).all()


@pytest.mark.parametrize("direct", [0, 1000])
@pytest.mark.parametrize("start", [math.nan, math.inf, 1e308, -1e300, 5e-324])
def test_any_start_arrives(monkeypatch, direct, start):
    monkeypatch.setattr("discreet.privacy.mechanisms.problem.DIRECT", direct)
    problem = drawn_problem(np.random.default_rng(2), 20, 1)
    b = [Fraction(1, 7)] * (problem.offsets[-1] + 1)
    objective = Objective(problem, CHAIN, 5.0, np.array([float(value) for value in b]))
    with np.errstate(all="ignore"):
        w = minimiser.certified(objective, b, np.full(len(b), start), 1e-5)
    assert norm(exact_gradient(problem, CHAIN, 5.0, b, w)) <= 1e-5


@pytest.mark.parametrize("broken", ["nan", "raise"])
def test_an_svm_above_a_thousand_coordinates_arrives_where_its_solver_fails(monkeypatch, broken):
    """As in a fit, with records at the ends of their ranges, and a product in the solver that overflows."""
    categories = [f"c{place}" for place in range(1100)]
    schema = Schema([Categorical("c", categories), Numeric("n", -1e300, 1e300)], "y", ["no", "yes"])
    rng = np.random.default_rng(0)
    X = {
        "c": rng.choice([*categories[:5], "stray", None], 40),
        "n": rng.choice([1e300, -1e300, math.inf, math.nan, 0.0], 40),
    }
    original, calls = Objective._gathered, []

    def gathered(self, values):
        calls.append(1)
        return original(self, values) * (math.nan if broken == "nan" and len(calls) % 3 == 0 else 1)

    monkeypatch.setattr(Objective, "_gathered", gathered)
    if broken == "raise":
        monkeypatch.setattr(Objective, "margins", lambda self, w: np.full(self.problem.rows, math.inf))
    model = LinearSVM(schema, epsilon=1, random_state=0).fit(X, rng.choice(["no", "yes"], 40))
    assert calls
    assert len(model.predict({"c": ["c1"], "n": [0.0]})) == 1


def test_the_lattice_hides_which_approximation_was_found():
    """Two approximations of the same minimiser are neighbours on the lattice; the noise covers the distance D."""
    rng = np.random.default_rng(8)
    mechanism = calibrated(Fraction(1), 1)
    problem = drawn_problem(rng, 60)
    lattices = []
    fixed = mechanism.draw(as_rng(0))
    for trial in range(6):
        order = rng.permutation(problem.rows)
        mixed = Problem(problem.features, tuple(code[order] for code in problem.codes), problem.sides[order])
        nudge = rng.normal(size=mechanism.size)
        nudge *= float(mechanism.rounding) / np.linalg.norm(nudge) * 0.99
        moved = [value + Fraction(move) for value, move in zip(fixed, nudge.tolist(), strict=True)]
        other = dataclasses.replace(mechanism)
        object.__setattr__(other, "draw", lambda rng, moved=moved, trial=trial: moved if trial else fixed)
        lattices.append(other.perturb(mixed, as_rng(0)))
    for lattice in lattices:
        assert np.abs(lattice - lattices[0]).max() <= 1
    noise = DiscreteLaplace.calibrated(Fraction(1, 100), mechanism.size)
    assert noise.loss(mechanism.size) <= Fraction(1, 100)
    ends = rng.normal(size=(1000, 2)) * float(mechanism.radius) * [[1, 0]]
    ends = np.clip(ends, -float(mechanism.radius), float(mechanism.radius))
    ends[:, 1] = -ends[:, 0]
    middle = rng.normal(size=(1000, 1))
    rounded = np.floor((middle + ends) * 2.0**BITS + 0.5)
    assert np.abs(rounded[:, 0] - rounded[:, 1]).max() <= 1


def test_cells_that_do_not_occur_are_left_out():
    problem = drawn_problem(np.random.default_rng(4), 7)
    short = problem.compressed()
    assert np.array_equal(vectors(short), vectors(problem))
    assert all(len(each.places) <= 7 for each in short.features)
    assert drawn_problem(np.random.default_rng(4), 0).compressed().rows == 0


def test_problems_hide_their_records():
    problem = drawn_problem(np.random.default_rng(0), 3)
    assert repr(problem) == "Problem(values hidden)"
    with pytest.raises(TypeError, match="private"):
        problem.__reduce__()


@pytest.mark.parametrize("least", [1, 3, 10**9])
def test_a_sparse_group_gives_the_same_sums(least, monkeypatch):
    """Products of records, with the largest group of indicators apart and without: the same numbers."""
    monkeypatch.setattr("discreet.privacy.mechanisms.problem.LARGE", least)
    monkeypatch.setattr("discreet.privacy.mechanisms.problem.ENTRIES", 1)
    rng, wide = np.random.default_rng(0), Categorical("many", list(range(5)))
    features = Hyperplanes(3, BITS).features(Schema([Numeric("a", 0, 1), wide, Numeric("b", 0, 1)], "y", ["n", "y"]))
    codes = tuple(rng.integers(len(each.places), size=700).astype(np.uint16) for each in features)
    problem = Problem(features, codes, np.ones(700, dtype=np.int8))
    objective, bends = Objective(problem, CHAIN, 1.0, np.zeros(12)), rng.choice([0, 0, 0.25, 1], 700)
    X = vectors(problem)
    assert np.allclose(objective._gram(bends), X.T @ (X * bends[:, None]))


class Steep:
    """The exact gradient of a parabola so steep that with few bits no point is near enough to its end."""

    steepest, rows = 2.0**40, 1

    def __init__(self, bits):
        self.bits, self.looks = bits, []

    def __call__(self, point):
        self.looks.append(self.bits)
        return np.array([float(Fraction(2**40 * value, 2**self.bits) - Fraction(2**40, 3)) for value in point]), 0.0


class Newton:
    """Knows the parabola."""

    knows_all, parts = True, (1.0, 0.5, 0.25)

    def step(self, w, gradient):
        return -gradient / 2.0**40

    def learn(self, *_):
        """There is nothing to learn."""


def test_a_search_that_meets_the_last_bit_of_its_point_takes_finer_ones_at_once():
    made = []

    def exact_with(bits):
        made.append(Steep(bits))
        return made[-1]

    (found,) = minimiser.searched(exact_with, minimiser.FAST, Newton(), np.zeros(1), 2.0**-14)
    assert abs(found - Fraction(1, 3)) * 2**40 <= 2**-14
    assert [each.bits for each in made] == [minimiser.FAST, SURE]
    assert sum(len(each.looks) for each in made) < 20  # without a look at what a step leaves: more than 80
