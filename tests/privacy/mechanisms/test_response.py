"""Randomized response: the charged loss is at least the loss of the exact law; uniform integers are uniform."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ParameterError
from discreet.privacy.mechanisms.response import WHOLE, RandomizedResponse
from discreet.privacy.randomness import as_rng

BOTH = pytest.mark.parametrize(
    ("random_state", "size", "threshold"),
    [
        (20260730, 20_000, 1e-3),
        (None, 20_000, 1e-6),
        pytest.param(20260730, 2_000_000, 1e-3, marks=pytest.mark.slow),
        pytest.param(None, 2_000_000, 1e-6, marks=pytest.mark.slow),
    ],
    ids=["seeded", "secure", "seeded-many", "secure-many"],
)
epsilons = st.fractions(Fraction(1, 10**6), 20, max_denominator=10**6)


def exp_bounds(x, terms=140):
    """Fractions below and above e^x for x well below `terms`: the exponential series and a bound on its rest."""
    term, low = Fraction(1), Fraction(1)
    for n in range(1, terms):
        term *= x / n
        low += term
    rest = term * x / terms / (1 - x / (terms + 1))
    return low, low + rest


def law(response):
    """The exact law: probability of each answer (columns) for each cell (rows)."""
    p, k = response.probability, response.cells
    return [[p if answer == cell else (1 - p) / (k - 1) for answer in range(k)] for cell in range(k)]


# (a) the loss is that of the exact law


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(5), Fraction(40)])
@pytest.mark.parametrize("cells", [2, 3, 7])
def test_ratio_equals_worst_ratio(epsilon, cells):
    """An equality of fractions, over all pairs of cells and all answers."""
    response = RandomizedResponse.calibrated(epsilon, cells)
    table = law(response)
    assert all(sum(row) == 1 for row in table)
    assert max(a / b for one in table for two in table for a, b in zip(one, two, strict=True)) == response.ratio


@given(epsilons, st.integers(2, 65_001))
def test_calibration_never_exceeds_epsilon_and_is_tight(epsilon, cells):
    """ratio <= e^epsilon, by fractions that enclose it; the loss is tight to 1e-9; one step more would exceed it."""
    response = RandomizedResponse.calibrated(epsilon, cells)
    low, high = exp_bounds(epsilon)
    assert response.ratio <= low
    assert response.ratio >= high * (1 - Fraction(1, 10**9))
    assert RandomizedResponse(cells, response.kept + 1).ratio > high
    assert response.scale == pytest.approx(1 / float(epsilon), rel=1e-6)


@pytest.mark.parametrize("epsilon", [Fraction(30), Fraction(40), Fraction(1000), Fraction(10**4), Fraction(10**400)])
@pytest.mark.parametrize("cells", [2, 65_001])
def test_a_large_epsilon_still_has_a_finite_loss(epsilon, cells):
    response = RandomizedResponse.calibrated(epsilon, cells)
    assert response.kept < WHOLE
    assert response.ratio <= min(exp_bounds(min(epsilon, Fraction(100)), terms=300)[0], WHOLE * cells)


@pytest.mark.parametrize("epsilon", ["1e-400", "1e-25", "1e-20"])
def test_an_epsilon_that_rounding_would_exceed_is_refused(epsilon):
    with pytest.raises(ParameterError, match="too small; use a larger epsilon"):
        RandomizedResponse.calibrated(Fraction(epsilon), 3)


@pytest.mark.parametrize("cells", [2, 3, 4, 5, 1000, 65_001])
@pytest.mark.parametrize("exponent", range(8, 20))
def test_a_small_epsilon_holds_or_is_refused(cells, exponent):
    epsilon = Fraction(1, 10**exponent)
    try:
        response = RandomizedResponse.calibrated(epsilon, cells)
    except ParameterError:
        assert exponent > 12
    else:
        assert response.ratio <= exp_bounds(epsilon, terms=4)[0]


# (b) the sampler fits its law


def p_value(answers, cell, response):
    expected = np.array([float(p) for p in law(response)[cell]]) * len(answers)
    return stats.chisquare(np.bincount(answers, minlength=response.cells), expected).pvalue


@BOTH
@pytest.mark.parametrize(("epsilon", "cells", "cell"), [(1, 2, 0), (Fraction(1, 2), 3, 2), (2, 7, 3)])
def test_the_sampler_fits_its_law(random_state, size, threshold, epsilon, cells, cell):
    response = RandomizedResponse.calibrated(Fraction(epsilon), cells)
    answers = response.perturb(np.full(size, cell), as_rng(random_state))
    assert p_value(answers, cell, response) > threshold


def test_the_test_itself_sees_a_response_that_tells_more():
    response = RandomizedResponse.calibrated(Fraction(1), 3)
    truthful = RandomizedResponse.calibrated(Fraction(12, 10), 3)
    assert p_value(truthful.perturb(np.full(20_000, 1), as_rng(1)), 1, response) < 1e-6
    assert p_value((response.perturb(np.full(20_000, 1), as_rng(1)) + 1) % 3, 1, response) < 1e-6


@pytest.mark.parametrize("random_state", [3, None], ids=["seeded", "secure"])
def test_answers_are_independent(random_state):
    response = RandomizedResponse.calibrated(Fraction(1), 2)
    answers = response.perturb(np.zeros((20_000, 3), dtype=int), as_rng(random_state)).astype(float)
    limit = 5.5 / math.sqrt(20_000)
    assert np.abs(np.corrcoef(answers.T)[np.triu_indices(3, 1)]).max() < limit
    assert abs(np.corrcoef(answers[:-1, 0], answers[1:, 0])[0, 1]) < limit


def test_the_same_number_of_draws_whatever_the_answer():
    """The noise of later records does not depend on earlier ones."""
    response = RandomizedResponse.calibrated(Fraction(1), 5)
    one, other = as_rng(9), as_rng(9)
    response.perturb(np.zeros(50, dtype=int), one)
    response.perturb(np.arange(50) % 5, other)
    assert one.integers(WHOLE, (4,)).tolist() == other.integers(WHOLE, (4,)).tolist()


@pytest.mark.parametrize("shape", [(0,), (1,), (2, 3)])
def test_edges(shape):
    codes = np.zeros(shape, dtype=int)
    for response in (RandomizedResponse.calibrated(Fraction(1), 1), RandomizedResponse.calibrated(math.inf, 4)):
        answers = response.perturb(codes, as_rng(None))
        assert answers.tolist() == codes.tolist()
        assert not np.shares_memory(answers, codes)
        assert response.scale == 0
    assert RandomizedResponse.calibrated(Fraction(1), 1).ratio == 1
    assert RandomizedResponse.calibrated(math.inf, 4).ratio == math.inf
    answers = RandomizedResponse.calibrated(Fraction(1, 10), 65_001).perturb(codes, as_rng(None))
    assert answers.shape == shape
    assert ((answers >= 0) & (answers <= 65_000)).all()


# Uniform integers


@BOTH
@pytest.mark.parametrize("below", [2, 3, 10, 2**62 // 7 * 5])
def test_integers_are_uniform(random_state, size, threshold, below):
    draws = as_rng(random_state).integers(below, (size,))
    assert draws.dtype == np.int64
    assert draws.min() >= 0
    assert draws.max() < below
    cells = min(below, 10)
    edges = [below * cell // cells for cell in range(cells + 1)]
    counts = [np.count_nonzero((draws >= low) & (draws < high)) for low, high in pairwise(edges)]
    expected = np.diff(np.array(edges, dtype=float)) / below * size
    assert stats.chisquare(counts, expected).pvalue > threshold
    low_bits = np.bincount(draws % 2, minlength=2)
    assert stats.chisquare(low_bits, [(below + 1) // 2 / below * size, below // 2 / below * size]).pvalue > threshold


@pytest.mark.parametrize("random_state", [0, None], ids=["seeded", "secure"])
def test_integers_keep_shapes_and_limits(random_state):
    rng = as_rng(random_state)
    for shape in ((0,), (2, 0), (1, 1), (2, 3)):
        assert rng.integers(5, shape).shape == shape
        assert (rng.integers(1, shape) == 0).all()
    assert rng.integers(2**62, (1000,)).max() > 2**61
    assert set(rng.integers(3, (200,)).tolist()) == {0, 1, 2}


def test_seeded_integers_repeat_and_secure_ones_do_not():
    assert as_rng(4).integers(2**62, (5,)).tolist() == as_rng(4).integers(2**62, (5,)).tolist()
    assert as_rng(None).integers(2**62, (5,)).tolist() != as_rng(None).integers(2**62, (5,)).tolist()


def test_secure_integers_use_the_entropy_of_the_system_and_draw_again_what_is_out_of_range(monkeypatch):
    words = [np.array([3 << 62, 2 << 62, 1 << 62], dtype=np.uint64).tobytes(), np.array([0], dtype=np.uint64).tobytes()]
    asked = []

    def entropy(size):
        asked.append(size)
        return words[len(asked) - 1]

    monkeypatch.setattr("discreet.privacy.randomness.os.urandom", entropy)
    assert as_rng(None).integers(3, (3,)).tolist() == [2, 1, 0]
    assert asked == [24, 8]


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=50), st.integers(2, 500))
def test_the_loss_is_the_logarithm_of_the_ratio_never_below_it(epsilon, cells):
    """Within a part in 10^12 here, where the reference is a float; and never more than was paid for."""
    response = RandomizedResponse.calibrated(epsilon, cells)
    assert response.loss(0) == 0
    assert response.loss(1) == response.loss(7) <= epsilon
    assert float(response.loss(1)) == pytest.approx(math.log(response.ratio), rel=1e-9, abs=1e-12)
    more = RandomizedResponse(cells, min(response.kept + 2, WHOLE))
    assert more.loss(1) > epsilon * (1 - Fraction(1, 10**9))


def test_the_loss_of_no_noise_and_of_one_cell():
    assert RandomizedResponse(3, WHOLE).loss(1) == math.inf
    assert RandomizedResponse(3, 0).loss(1) == math.inf
    assert RandomizedResponse(1, WHOLE).loss(1) == 0
    for cells, kept in ((0, 1), (2, -1), (2, WHOLE + 1)):
        with pytest.raises(ParameterError):
            RandomizedResponse(cells, kept)
