"""Coins of probability exp(-γ), drawn exactly: floats decide where they are sure, fractions elsewhere.

A coin is U < exp(-γ) for a uniform number U, of which as many bits are drawn as the decision takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Words = Callable[[int], NDArray[np.uint64]]
"""So many uniform 64-bit words."""

MARGIN = 2.0**-30
"""Floats decide a coin whose U is farther than this from their exp(-γ); they are off by less than 2**-40."""


def toss(gaps: NDArray[np.int64], scale: float, words: Words, margin: float = MARGIN) -> NDArray[np.bool_]:
    """For each gap >= 0 an independent coin with probability exp(-gap / scale) of heads; scale > 0.

    Guarantee  the law is exactly this.
    Proof      U has the words' 64 bits and then as many more as `decide` takes: uniform. With x = gap / scale in
               floats, gap and quotient are each off by a factor within 1 ± 2**-52, so that exp(-x) is off by at most
               x exp(-x) 2**-50 + 2**-50 < 2**-40, and the float of U by 2**-53: where they are farther apart than
               `margin`, their order is that of the exact numbers. Elsewhere `decide` compares bounds.
    Test       tests/privacy/test_exponential_coins.py: test_floats_are_well_within_the_margin,
               test_both_paths_decide_alike, test_the_law
    """
    uniform = words(len(gaps))
    with np.errstate(over="ignore"):
        chances = np.exp(-(gaps / scale))
    distance = chances - uniform.astype(np.float64) * 2.0**-64
    heads = distance > 0
    for place in np.flatnonzero(np.abs(distance) <= margin):
        heads[place] = decide(int(gaps[place]) / Fraction(scale), int(uniform[place]), words)
    return np.asarray(heads)


def decide(gamma: Fraction, uniform: int, words: Words) -> bool:
    """Whether U < exp(-gamma), where `uniform` is the first 64 bits of U; more are drawn until it is sure."""
    bits = 64
    while True:
        low, high = bounds(gamma, bits)
        if uniform + 1 <= low:
            return True
        if uniform >= high:
            return False
        uniform = uniform << 64 | int(words(1)[0])
        bits += 64


def bounds(gamma: Fraction, bits: int) -> tuple[int, int]:
    """Integers on either side of exp(-gamma) * 2**bits, a few units apart.

    Proof      the quotient is rounded outwards; `Decimal.exp` is correctly rounded, so that the neighbouring decimals
               are bounds. Below 2**-bits, 0 and 1 are bounds; exp(0) is 1.
    Test       tests/privacy/test_exponential_coins.py::test_bounds_contain_the_probability
    """
    if gamma == 0:
        return 2**bits, 2**bits
    if gamma > bits:  # exp(-bits) < 2**-bits
        return 0, 1
    digits = math.ceil((bits + 32) * math.log10(2)) + 3
    below, above = Context(digits, ROUND_FLOOR), Context(digits, ROUND_CEILING)
    least = below.next_minus(below.exp(below.divide(Decimal(-gamma.numerator), Decimal(gamma.denominator))))
    most = above.next_plus(above.exp(above.divide(Decimal(-gamma.numerator), Decimal(gamma.denominator))))
    return math.floor(Fraction(least) * 2**bits), math.ceil(Fraction(most) * 2**bits)
