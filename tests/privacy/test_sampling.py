"""The comparison of a uniform number with a probability: exact, with as many bits as it takes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.sampling import is_below

WORD = st.integers(0, 2**64 - 1)


def enclosing(value):
    """Bounds around a fraction, like those of a sampler: a few units apart."""
    return lambda bits: (int(value * 2**bits) - 1, int(value * 2**bits) + 2)


@given(st.fractions(0, 1), st.lists(WORD, min_size=4, max_size=4), st.integers(0, 3))
def test_the_order_is_that_of_the_real_numbers(value, drawn, agreeing):
    """The first words agree with the value, so that the later ones have to decide."""
    digits = [int(value * 2 ** (64 * (place + 1))) % 2**64 for place in range(agreeing)]
    bits = [*digits, *drawn, 2**63, 2**63]
    further = iter(bits[1:])
    uniform = sum(Fraction(word, 2 ** (64 * (place + 1))) for place, word in enumerate(bits))

    def words(count):
        return np.array([next(further) for _ in range(count)], dtype=np.uint64)

    try:
        decided = is_below(bits[0], enclosing(value), words)
    except StopIteration:
        pytest.fail("a few words more than agree are enough")
    assert decided == (uniform < value)


def test_no_bits_are_drawn_that_are_not_needed():
    def none(count):
        raise AssertionError("the first word decides")

    assert is_below(0, enclosing(Fraction(1, 2)), none)
    assert not is_below(2**64 - 1, enclosing(Fraction(1, 2)), none)
