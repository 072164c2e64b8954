"""Smooth sensitivity against enumeration, plain loops and golden vectors; noise against its density."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from discreet.privacy import smooth_sensitivity
from discreet.privacy.smooth_sensitivity import (
    cauchy_calibration,
    cauchy_divergence,
    cauchy_epsilon,
    mean,
    sort_to_unit,
    standard_deviation,
    student_t_epsilon,
    unit_mean,
    unit_standard_deviation,
    unit_variance,
    variance,
)

AR, RO = "add-remove", "replace-one"
STATISTICS = {
    "mean": (mean, lambda x: float(np.mean(x)) if len(x) else 2.0),
    "variance": (variance, lambda x: float(np.var(x)) if len(x) else 0.0),
    "std": (standard_deviation, lambda x: float(np.std(x)) if len(x) else 0.0),
}
SMALL = 1e-12  # rounding, for comparisons that are exact in theory

GOLDEN = [
    # values, lower, upper, beta, then mean, variance, standard deviation: replace-one, add-remove
    ([0, 1, 1, 3], 0, 4, 0.3, (1, 1.80574441291, 1.15660207633), (1.09762327219, 3, 1.73205080757)),
    (
        [0, 0, 0, 0, 0, 4], 0, 4, 0.05,
        (0.666666666667, 2.22222222222, 1.490711985),
        (1.63746150616, 3.27492301231, 1.63746150616),
    ),
    ([2, 2, 2, 2, 2], 0, 4, 1.0, (0.4, 0.64, 0.8), (0.8, 2.56, 1.6)),
    (
        [0.1, 0.25, 0.4, 0.55, 0.9, 0.3, 0.35], 0, 1, 0.2,
        (0.128571428571, 0.0536256036829, 0.208736204316),
        (0.183939720586, 0.122448979592, 0.325766389633),
    ),
    (
        [i / 99 for i in range(100)], 0, 1, 0.05,
        (0.01, 0.00252525252525, 0.004417619661),
        (0.01, 0.0099, 0.017061997382),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("values", "lower", "upper", "beta", "replace_one", "add_remove"), GOLDEN)
def test_golden_vectors(values, lower, upper, beta, replace_one, add_remove):
    for adjacency, expected in ((RO, replace_one), (AR, add_remove)):
        got = [f(values, lower, upper, beta, adjacency) for f in (mean, variance, standard_deviation)]
        got[2] /= 1 + 1e-7
        assert got == pytest.approx(expected, rel=1e-11)


# Enumeration: every list over {0..4} as a multiset, every distance, local sensitivity over continuous values.


def local_sensitivity(f, x, adjacency):
    """Largest change of f by one step from x; the new value is 0, 4 or the mean of the rest (best values)."""
    changes = [0.0]
    for i in range(len(x)):
        rest = x[:i] + x[i + 1 :]
        if adjacency == AR:
            changes.append(abs(f(rest) - f(x)))
        else:
            middle = sum(rest) / len(rest) if rest else 0.0
            changes += [abs(f([*rest, b]) - f(x)) for b in (0, 4, middle)]
    if adjacency == AR:
        middle = sum(x) / len(x) if x else 0.0
        changes += [abs(f([*x, b]) - f(x)) for b in (0, 4, middle)]
    return max(changes)


def universe(adjacency, size):
    """All lists over {0..4} (of that size, or up to it) and their distances."""
    sizes = range(size + 1) if adjacency == AR else [size]
    lists = [list(x) for m in sizes for x in itertools.combinations_with_replacement(range(5), m)]
    counts = np.array([[x.count(v) for v in range(5)] for x in lists])
    shared = np.minimum(counts[:, None], counts[None]).sum(axis=2)
    sizes = counts.sum(axis=1)
    distance = sizes[:, None] + sizes[None] - 2 * shared if adjacency == AR else size - shared
    return lists, distance


def check_by_enumeration(adjacency, size, betas, exact):
    lists, distance = universe(adjacency, size)
    one, two = np.nonzero(distance == 1)
    for name, (function, f) in STATISTICS.items():
        local = np.array([local_sensitivity(f, x, adjacency) for x in lists])
        for beta in betas:
            smallest = np.max(np.exp(-beta * distance) * local, axis=1)  # the exact smooth sensitivity
            got = np.array([function(x, 0, 4, beta, adjacency) for x in lists])
            assert np.all(got >= smallest * (1 - SMALL)), name
            assert np.all(got[one] <= math.exp(beta) * got[two] * (1 + SMALL)), name
            if name in exact:
                np.testing.assert_allclose(got, smallest, rtol=SMALL, err_msg=name)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_replace_one_by_enumeration(size):
    check_by_enumeration(RO, size, (0.05, 0.3, 1.0), exact=("mean", "variance"))


def test_add_remove_by_enumeration():
    check_by_enumeration(AR, 6, (0.05, 0.3, 1.0), exact=())


@pytest.mark.slow
def test_larger_lists_by_enumeration():
    check_by_enumeration(RO, 7, (0.02, 0.15, 0.3, 1.0, 3.0), exact=("mean", "variance"))
    check_by_enumeration(AR, 8, (0.02, 0.15, 0.3, 1.0, 3.0), exact=())


@pytest.mark.parametrize("beta", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("tight_steps", [0, 1, 2])
@pytest.mark.parametrize(("adjacency", "size"), [(RO, 2), (RO, 5), (AR, 5)])
def test_tail_by_enumeration(monkeypatch, adjacency, size, tight_steps, beta):
    lists, distance = universe(adjacency, size)
    tight = np.array([standard_deviation(x, 0, 4, beta, adjacency) for x in lists])
    monkeypatch.setattr(smooth_sensitivity, "TIGHT_STEPS", tight_steps)
    glued = np.array([standard_deviation(x, 0, 4, beta, adjacency) for x in lists])
    one, two = np.nonzero(distance == 1)
    assert np.all(glued >= tight * (1 - SMALL))
    assert np.all(glued[one] <= math.exp(beta) * glued[two] * (1 + SMALL))
    if size == 5 and beta == 0.3 and tight_steps == 0:
        assert np.any(glued > tight * 1.01)  # the tail was exercised


# Plain loops: the specification word for word, one window, one k, one candidate at a time.


def plain_variance_steps(x):
    """A_k for k = 0..n by every choice of moved points at 0 or 1 and every final step."""
    n = len(x)
    result = np.zeros(n + 1)
    for points in (np.sort(x), np.sort(1 - np.asarray(x))):
        for k in range(n + 1):
            low = points[: n - k]
            if k >= 1:
                result[k] = max(result[k], (1 - low.sum() / (n - 1)) ** 2)
            if k < n:
                result[k] = max(result[k], (points[-1] - points[: n - 1 - k].sum() / (n - 1)) ** 2)
            for a in low:
                centre = (low.sum() - a) / (n - 1)
                result[k] = max(result[k], (1 - centre) ** 2 - (a - centre) ** 2)
    return result


def plain_standard_deviation(x, beta, adjacency):
    x, n = np.sort(x), len(x)
    squares = [min(np.var(x[i : i + n - k]) * (n - k) for i in range(k + 1)) for k in range(n)] + [0.0, 0.0]
    if adjacency == RO:
        least = [w / n for w in squares]
        steps = (n - 1) / n**2 * plain_variance_steps(x)
    else:
        least = [min(squares[r] / (n + k - 2 * r) for r in range(k + 1)) for k in range(n)] + [0.0, 0.0]
        steps = [(max(n - k, 2) - 1) / max(n - k, 2) ** 2 for k in range(n + 1)]
    best = 0.0
    for k in range(n + 1):
        root = math.sqrt(least[k]) + math.sqrt(least[k + 1])
        bound = math.sqrt(steps[k]) if root == 0 else min(math.sqrt(steps[k]), steps[k] / root)
        best = max(best, math.exp(-beta * k) * bound)
    return best


@pytest.mark.parametrize("n", [2, 3, 5, 16, 90, 200])
@pytest.mark.parametrize("beta", [0.001, 0.03, 0.5])
def test_equals_plain_loops(n, beta):
    rng = np.random.default_rng(n)
    for x in (rng.random(n), rng.beta(0.3, 0.6, n), rng.normal(0.8, 0.01, n).clip(0, 1), np.arange(n) % 2):
        exact = (n - 1) / n**2 * np.max(np.exp(-beta * np.arange(n + 1)) * plain_variance_steps(x))
        assert variance(x, 0, 1, beta, RO) == pytest.approx(exact, rel=1e-12)
        for adjacency in (RO, AR):
            expected = plain_standard_deviation(x, beta, adjacency) * (1 + 1e-7)
            assert standard_deviation(x, 0, 1, beta, adjacency) == pytest.approx(expected, rel=1e-9)


def plain_loose_bound(x, beta, adjacency):
    """The variance falls by its global sensitivity at each step (items 3 and 6 of the specification)."""
    n, least, best = len(x), float(np.var(x)), 0.0
    for k in range(n + 2):
        size = n if adjacency == RO else max(n - k, 2)
        step = (size - 1) / size**2
        root = math.sqrt(least) + math.sqrt(max(0.0, least - step))
        best = max(best, math.exp(-beta * k) * step / max(root, math.sqrt(step)))
        least = max(0.0, least - step)
    return best


def test_loose_bound_is_the_specified_one():
    x = np.arange(100) / 99
    assert plain_loose_bound(x, 0.05, RO) == pytest.approx(0.0666960024646, rel=1e-11)
    assert plain_loose_bound(x, 0.05, AR) == pytest.approx(0.069504844501, rel=1e-11)


@pytest.mark.parametrize("adjacency", [AR, RO])
@pytest.mark.parametrize("beta", [0.003, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("tight_steps", [0, 3, 40])
def test_tail_lies_between_tight_and_loose(monkeypatch, tight_steps, beta, adjacency):
    rng = np.random.default_rng(7)
    monkeypatch.setattr(smooth_sensitivity, "TIGHT_STEPS", tight_steps)
    for x in (rng.random(150), rng.normal(0.4, 0.1, 150).clip(0, 1), np.arange(150) % 2):
        got = standard_deviation(x, 0, 1, beta, adjacency)
        assert got >= plain_standard_deviation(x, beta, adjacency)
        assert got <= plain_loose_bound(x, beta, adjacency) * 1.01


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 9, 40, 400])
@pytest.mark.parametrize("beta", [1e-4, 0.02, 0.3, 2.0])
def test_add_remove_closed_forms_equal_their_loops(n, beta):
    sizes = [(k, max(n - k, 2)) for k in range(n + 1)]
    of_mean = max(math.exp(-beta * k) / m for k, m in sizes)
    of_variance = max(math.exp(-beta * k) * (m - 1) / m**2 for k, m in sizes)
    assert mean([0.5] * n, 0, 1, beta, AR) == pytest.approx(of_mean, rel=SMALL)
    assert variance([0.5] * n, 0, 1, beta, AR) == pytest.approx(of_variance, rel=SMALL)


# Random neighbours.

VALUES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0]))
BETAS = st.floats(1e-3, 3)


@st.composite
def neighbours(draw, most=60):
    """(x, x', adjacency); long lists come from a seed, with a few drawn values to place by hand."""
    adjacency = draw(st.sampled_from([AR, RO]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    spread = draw(st.sampled_from([0.0, 1e-9, 0.01, 0.3]))
    bulk = np.clip(draw(VALUES) + spread * rng.standard_normal(draw(st.integers(0, most))), 0, 1)
    x = [*bulk.tolist(), *draw(st.lists(VALUES, max_size=4))]
    if adjacency == AR:
        return x, [*x, draw(VALUES)], adjacency
    x.append(draw(VALUES))
    return x, [*x[:-1], draw(VALUES)], adjacency


def check_smooth(pair, beta, rounding=1e-10):
    x, other, adjacency = pair
    for name, (function, f) in STATISTICS.items():
        one, two = (function(z, 0, 1, beta, adjacency) for z in (x, other))
        assert max(one, two) <= math.exp(beta) * min(one, two) * (1 + rounding), name
        if x and other:
            assert abs(f(x) - f(other)) <= min(one, two) * (1 + rounding) + 1e-15, name


@settings(max_examples=250, deadline=None)
@given(neighbours(), BETAS)
def test_smooth_between_random_neighbours(pair, beta):
    check_smooth(pair, beta)


@settings(max_examples=25, deadline=None)
@given(neighbours(most=3000), st.floats(1e-4, 0.1))
def test_smooth_between_long_neighbours(pair, beta):
    check_smooth(pair, beta)


@settings(max_examples=250, deadline=None)
@given(neighbours(most=200), BETAS, st.integers(0, 20))
def test_smooth_with_a_short_tight_part(pair, beta, tight_steps):
    x, _, adjacency = pair
    tight = standard_deviation(x, 0, 1, beta, adjacency)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smooth_sensitivity, "TIGHT_STEPS", tight_steps)
        check_smooth(pair, beta)
        assert standard_deviation(x, 0, 1, beta, adjacency) >= tight * (1 - SMALL)


def test_beyond_the_tight_part_with_tiny_beta():
    x = np.random.default_rng(5).random(20_000)
    for adjacency in (RO, AR):
        one = standard_deviation(x, 0, 1, 2e-4, adjacency)
        for other in (np.append(x[1:], 1.0), x[1:]) if adjacency == AR else (np.append(x[1:], 1.0),):
            steps = 2 if len(other) == len(x) and adjacency == AR else 1
            ratio = standard_deviation(other, 0, 1, 2e-4, adjacency) / one
            assert abs(math.log(ratio)) <= steps * 2e-4 + 1e-12
        assert standard_deviation(x, 0, 1, 1e-12, adjacency) == pytest.approx(
            math.sqrt(19_999) / 20_000 if adjacency == RO else 0.5, rel=1e-6
        )


@pytest.mark.parametrize("tight_steps", [30, 2048])  # 30: wings for n = 400; 2048: wings, then growth
@pytest.mark.parametrize("x", [
    np.random.default_rng(1).random(400),
    0.7 + 1e-9 * np.random.default_rng(2).standard_normal(400),
    np.r_[np.full(360, 0.7), np.linspace(0, 1, 40)],
    np.r_[np.zeros(200), np.ones(200)],
    np.full(400, 0.1),
])  # fmt: skip
def test_least_squares_to_full_precision(monkeypatch, x, tight_steps):
    monkeypatch.setattr(smooth_sensitivity, "TIGHT_STEPS", tight_steps)
    x = np.sort(x)
    for count in (31, 101, 102, 400) if tight_steps > 400 else (31,):
        got = smooth_sensitivity._least_squares(x)(count)
        for k in {0, 1, 17, 30, count - 1}:
            expected = []
            for i in range(k + 1):
                window = x[i : i + 400 - k]
                gap = window - math.fsum(window) / len(window)
                expected.append(math.fsum(gap * gap) - math.fsum(gap) ** 2 / len(window))
            assert got[k] == pytest.approx(min(expected), rel=1e-6 if x[0] > 0.5 else 1e-12, abs=1e-28)


def test_prefix_sums_do_not_drift():
    sums = smooth_sensitivity._prefix_sums(np.full(1_000_003, 0.1))
    assert len(sums) == 1_000_004
    assert sums[[0, 1, 1024, 1025, -1]] == pytest.approx([0, 0.1, 102.4, 102.5, 100_000.3], rel=1e-13)


# Bad and unusual input.


@pytest.mark.parametrize("adjacency", [AR, RO])
@pytest.mark.parametrize("function", [mean, variance, standard_deviation])
def test_every_value_is_accepted(function, adjacency):
    odd = [math.nan, math.inf, -math.inf, 1e308, -5, 2]
    assert function(odd, 0, 4, 0.3, adjacency) == function([2, 4, 0, 4, 0, 2], 0, 4, 0.3, adjacency)
    for x in ([], [1], [math.nan], [3, 3, 3]):
        assert 0 <= function(x, 0, 4, 0.3, adjacency) <= 4
    for lower, upper in ((-8e307, 8e307), (0, 5e-324), (1e6, 1e6 + 1e-9)):
        assert function([lower, upper], lower, upper, 0.3, adjacency) >= 0


def test_few_values():
    width = 4
    assert mean([], 0, 4, 0.3, AR) == mean([1], 0, 4, 0.3, AR) == width / 2
    assert variance([], 0, 4, 0.3, AR) == variance([1], 0, 4, 0.3, AR) == width**2 / 4
    assert standard_deviation([], 0, 4, 0.3, AR) == standard_deviation([1], 0, 4, 0.3, AR) == 2 * (1 + 1e-7)
    assert all(f([], 0, 4, 0.3, RO) == 0 for f in (mean, variance, standard_deviation))
    assert mean([1], 0, 4, 0.3, RO) == 3
    assert variance([1], 0, 4, 0.3, RO) == standard_deviation([1], 0, 4, 0.3, RO) == 0


@pytest.mark.parametrize("function", [mean, variance, standard_deviation])
@pytest.mark.parametrize(("changed", "message"), [
    ({"lower": 4}, "got lower=4, upper=4; need"),
    ({"lower": math.nan}, "need finite numbers"),
    ({"upper": math.inf}, "need finite numbers"),
    ({"beta": 0}, "got beta=0; need"),
    ({"beta": math.nan}, "got beta=nan; need"),
    ({"beta": math.inf}, "got beta=inf; need"),
    ({"adjacency": "bounded"}, "got adjacency='bounded'; need"),
    ({"values": [[1.0]]}, "got values of 2 dimensions; need"),
])  # fmt: skip
def test_wrong_parameters(function, changed, message):
    arguments = {"values": [1, 2], "lower": 0, "upper": 4, "beta": 0.3, "adjacency": AR} | changed
    with pytest.raises(ValueError, match=message.replace("[", "\\[")):
        function(**arguments)


@pytest.mark.parametrize("adjacency", [AR, RO])
def test_sorted_once_gives_the_same(adjacency):
    x = np.random.default_rng(3).normal(20, 9, 500)
    before = x.copy()
    unit = sort_to_unit(x, 10, 30)
    assert mean(x, 10, 30, 0.1, adjacency) == 20 * unit_mean(unit, 0.1, adjacency)
    assert variance(x, 10, 30, 0.1, adjacency) == unit_variance(unit, 0.1, adjacency) * 20 * 20
    assert standard_deviation(x, 10, 30, 0.1, adjacency) == 20 * unit_standard_deviation(unit, 0.1, adjacency)
    assert np.array_equal(x, before)


# Noise.


def worst_log_ratio(log_density, location1, scale1, location2, scale2):
    """sup over outputs of |log p1 - log p2|, by scanning and refining; outputs range over tan(angle)."""

    def loss(angle):
        output = location1 + scale1 * np.tan(angle)
        one = log_density((output - location1) / scale1) - math.log(scale1)
        return np.abs(one - log_density((output - location2) / scale2) + math.log(scale2))

    grid = np.linspace(-math.pi / 2, math.pi / 2, 20_001)[1:-1]
    peak = grid[int(np.argmax(loss(grid)))]
    span = grid[1] - grid[0]
    found = minimize_scalar(lambda t: -loss(t), bounds=(peak - span, peak + span), method="bounded",
                            options={"xatol": 1e-13})  # fmt: skip
    return max(float(np.max(loss(grid))), -float(found.fun))


@settings(max_examples=60, deadline=None)
@given(st.floats(-3, 3), st.floats(0.2, 5), st.floats(-3, 3), st.floats(0.2, 5))
def test_cauchy_divergence_is_the_worst_log_ratio(location1, scale1, location2, scale2):
    worst = worst_log_ratio(lambda z: -np.log1p(z * z), location1, scale1, location2, scale2)
    assert cauchy_divergence(location1, scale1, location2, scale2) == pytest.approx(worst, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.1, 0.5, 1.0, 2.0, 8.0, 40.0, 250.0])
def test_calibration_meets_epsilon_exactly(epsilon):
    default = math.log(2 * math.cosh(epsilon) - 1) if epsilon > 1e-3 else epsilon**2
    assert cauchy_calibration(epsilon) == pytest.approx((2 * math.sinh(epsilon / 2), default), rel=1e-6)
    for beta in (None, 0.01 * epsilon, 0.5 * epsilon, epsilon / math.sqrt(2), 0.99 * epsilon):
        a, b = cauchy_calibration(epsilon, beta)
        assert beta is None or b == beta
        # the worst pairs: S equal on both sides, and S apart by exp(b); the step is the smaller S
        pairs = [cauchy_divergence(0, 1 / a, 1, scale / a) for scale in (1.0, math.exp(b))]
        assert max(pairs) == pytest.approx(epsilon, rel=1e-7)
        assert max(pairs) <= epsilon
        assert cauchy_epsilon(a, b) == pytest.approx(max(pairs), rel=1e-9)
        assert cauchy_epsilon(a, b) <= epsilon
        for between in np.linspace(0, b, 7):
            assert cauchy_divergence(0, 1 / a, 1, math.exp(between) / a) <= epsilon


@given(st.floats(1e-3, 20), st.floats(0.001, 1.57))
def test_sum_of_squares_suffices(epsilon, angle):
    assert cauchy_epsilon(epsilon * math.sin(angle), epsilon * math.cos(angle)) <= epsilon * (1 + 1e-12)


@pytest.mark.parametrize(("function", "statistic", "one", "two", "epsilon", "loss"), [
    # S = exp(-0.1)/10 and 1/10, shift 1/20; then S = exp(-1) 3/16 and 3/16, shift 1/16
    (mean, np.mean, [0.5] * 10, [0.5] * 9 + [1], 0.1, math.acosh(math.cosh(0.1) + math.exp(0.1) / 1600)),
    (variance, np.var, [0.5, 0.5], [0.0, 0.5], 1.0, math.acosh(math.cosh(1) + math.exp(1) / 36)),
])  # fmt: skip
def test_published_choice_exceeds_epsilon(function, statistic, one, two, epsilon, loss):
    """beta = epsilon with scale sqrt2 S/epsilon, S the exact smooth sensitivity, is not epsilon-DP."""
    scales = [math.sqrt(2) / epsilon * function(x, 0, 1, epsilon, RO) for x in (one, two)]
    found = cauchy_divergence(float(statistic(one)), scales[0], float(statistic(two)), scales[1])
    assert found == pytest.approx(loss, rel=1e-9)
    assert epsilon < found <= cauchy_epsilon(epsilon / math.sqrt(2), epsilon)


def test_published_pair_with_smaller_beta_is_loose():
    assert cauchy_epsilon(1 / math.sqrt(2), 1 / math.sqrt(2)) == pytest.approx(0.850, abs=5e-4)
    assert cauchy_epsilon(0.1 / math.sqrt(2), 0.1 / math.sqrt(2)) == pytest.approx(0.09825, abs=5e-6)


@pytest.mark.parametrize("degrees", [0.5, 1, 2, 3, 10])
@pytest.mark.parametrize(("a", "b"), [(0.01, 0.02), (0.02, 0.001), (0.5, 0.3), (1.0, 0.01), (0.0, 0.4)])
def test_student_t_epsilon_bounds_the_loss(degrees, a, b):
    def log_density(z):
        return -(degrees + 1) / 2 * np.log1p(z * z / degrees)

    bound = student_t_epsilon(a, b, degrees)
    for scale in (1.0, math.exp(b), math.exp(-b)):
        step = a * min(1.0, scale)
        assert worst_log_ratio(log_density, 0.0, 1.0, step, scale) <= bound + 1e-9
    shift = worst_log_ratio(log_density, 0.0, 1.0, 1e-4, 1.0)
    assert shift == pytest.approx(student_t_epsilon(1e-4, 0, degrees), rel=1e-3)
    stretch = worst_log_ratio(log_density, 0.0, 1.0, 0.0, math.exp(b))
    assert stretch == pytest.approx(student_t_epsilon(0, b, degrees), rel=1e-3)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: cauchy_calibration(0), "got epsilon=0; need"),
    (lambda: cauchy_calibration(math.nan), "got epsilon=nan; need"),
    (lambda: cauchy_calibration(math.inf), "got epsilon=inf; need"),
    (lambda: cauchy_calibration(1.0, 1.0), "got beta=1.0; need 0 < beta < epsilon=1.0"),
    (lambda: cauchy_calibration(1.0, 0.0), "got beta=0.0; need"),
    (lambda: cauchy_calibration(1.0, math.nan), "got beta=nan; need"),
    (lambda: cauchy_divergence(0, 0, 1, 1), "got scales 0, 1; need"),
    (lambda: cauchy_divergence(math.nan, 1, 1, 1), "got locations nan, 1; need"),
    (lambda: cauchy_epsilon(-1, 1), "got a=-1, b=1; need"),
    (lambda: cauchy_epsilon(1, math.inf), "got a=1, b=inf; need"),
    (lambda: student_t_epsilon(1, 1, 0), "got a=1, b=1, degrees=0; need"),
])  # fmt: skip
def test_wrong_noise_parameters(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_extreme_epsilon_does_not_overflow():
    assert all(0 < v < math.inf for v in (*cauchy_calibration(1e6), *cauchy_calibration(1e-90)))
