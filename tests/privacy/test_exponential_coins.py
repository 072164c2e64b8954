"""Coins of probability exp(-γ): the bounds hold, floats and fractions decide alike, the law is the stated one."""

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from discreet.privacy.exponential_coins import bounds, decide, toss
from discreet.privacy.randomness import SecureRandomness
from discreet.privacy.sampling import MARGIN

GAMMAS = st.fractions(min_value=0, max_value=200)


def words(seed):
    generator = np.random.default_rng(seed)
    return lambda count: generator.integers(0, 2**64, count, dtype=np.uint64)


def exactly(gamma):
    """exp(-gamma) to 120 digits."""
    context = Context(120)
    return Fraction(context.exp(context.divide(Decimal(-gamma.numerator), Decimal(gamma.denominator))))


@given(GAMMAS, st.sampled_from([64, 128, 192]))
def test_bounds_contain_the_probability(gamma, bits):
    low, high = bounds(gamma, bits)
    assert low <= exactly(gamma) * 2**bits <= high
    assert 0 <= high - low <= 4
    assert low >= 0


def test_no_gap_is_certain_and_a_wide_one_hopeless():
    assert toss(np.zeros(1000, dtype=np.int64), 3.0, words(0)).all()
    assert toss(np.zeros(3, dtype=np.int64), 1.0, lambda count: np.full(count, 2**64 - 1, dtype=np.uint64)).all()
    assert not toss(np.full(1000, 10**6, dtype=np.int64), 3.0, words(1)).any()
    assert not toss(np.full(1000, 2**62, dtype=np.int64), 5e-324, words(1)).any()


@given(st.integers(0, 2**62), st.floats(1e-3, 1e12), st.integers(0, 2**32))
def test_floats_are_well_within_the_margin(gap, scale, seed):
    gamma = gap / Fraction(scale)
    if gamma < 300:
        assert abs(Fraction(float(np.exp(-(np.int64(gap) / scale)))) - exactly(gamma)) < Fraction(1, 2**40)
    assert Fraction(1, 2**40) * 2 < Fraction(MARGIN)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=50), st.floats(0.5, 100), st.integers(0, 2**32))
def test_both_paths_decide_alike(gaps, scale, seed):
    """A margin of 2 sends every coin the slow way; the first 64 bits are the same."""
    gaps = np.array(gaps, dtype=np.int64)
    fast = toss(gaps, scale, words(seed))
    slow = toss(gaps, scale, words(seed), margin=2.0)
    assert np.array_equal(fast, slow)


def test_more_bits_are_drawn_where_64_do_not_decide():
    gamma, drawn = Fraction(1, 3), []
    low, high = bounds(gamma, 64)
    assert high - low >= 1

    def next_bits(value):
        def words_(count):
            drawn.append(count)
            return np.full(count, value, dtype=np.uint64)

        return words_

    assert decide(gamma, low - 1, next_bits(0))
    assert not decide(gamma, high, next_bits(0))
    assert not drawn
    inside = next(first for first in range(low, high) if first <= exactly(gamma) * 2**64 < first + 1)
    assert decide(gamma, inside, next_bits(0))
    assert not decide(gamma, inside, next_bits(2**64 - 1))
    assert drawn


@pytest.mark.parametrize(("gap", "scale"), [(1, 1.0), (3, 7.5), (40, 9.0)])
def test_the_law(gap, scale):
    heads = int(toss(np.full(200_000, gap, dtype=np.int64), scale, words(5)).sum())
    assert binomtest(heads, 200_000, float(exactly(gap / Fraction(scale)))).pvalue > 1e-6


def test_permute_and_flip_is_fast_and_takes_the_best_of_far_scores():
    rng = SecureRandomness()
    scores = np.arange(1000, dtype=np.int64) * 1000
    assert {rng.noisy_max(scores, 1.0) for _ in range(50)} == {999}
    assert {rng.noisy_max(np.zeros(3, dtype=np.int64), 1.0) for _ in range(100)} == {0, 1, 2}
