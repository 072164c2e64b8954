"""Directed exponentials and logarithms: each on its side of the true value, and near it."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.directed_rounding import digits_for, exp_above, exp_below, log_above, log_below

SMALL = Fraction(1, 10**50)
ARGUMENTS = st.fractions(0, 40, max_denominator=10**9)


def series(x, terms=260):
    """Fractions below and above e^x, for 0 <= x well below `terms`: the exponential series and a bound on its rest."""
    term, low = Fraction(1), Fraction(1)
    for n in range(1, terms):
        term *= x / n
        low += term
    return low, low + term * x / terms / (1 - x / (terms + 1))


@given(ARGUMENTS)
def test_exponentials_enclose_the_series(x):
    low, high = series(x)
    assert high * (1 - SMALL) < exp_below(x) < low
    assert high < exp_above(x) < low * (1 + SMALL)


@given(ARGUMENTS)
def test_exponentials_of_negative_numbers_enclose_the_reciprocal(x):
    low, high = series(x)
    assert exp_below(-x) < 1 / high <= 1 / low < exp_above(-x)


@given(st.fractions(Fraction(1, 1000), 1000, max_denominator=10**6))
def test_logarithms_enclose_the_inverse_of_the_exponential(value):
    below, above = log_below(value), log_above(value)
    assert exp_below(below) < value
    assert exp_above(above) > value
    assert 0 < above - below < SMALL or value == 1


def test_the_logarithm_of_one_costs_nothing():
    assert log_above(Fraction(1)) == 0 > log_below(Fraction(1))


@given(st.integers(1, 2000))
def test_digits_hold_their_bits_and_some_more(bits):
    assert 2 ** (bits + 32) <= 10 ** digits_for(bits) <= 10 * 2 ** (bits + 32)
