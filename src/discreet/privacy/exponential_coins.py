"""Coins with probability exp(-γ) of heads, drawn exactly.

A coin shows heads if U < exp(-γ), for a uniform number U. Floats decide where they are sure, fractions elsewhere, with
as many bits of U as the decision takes.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.directed_rounding import digits_for, exp_above, exp_below
from discreet.privacy.sampling import MARGIN, Words, is_below


def toss(gaps: NDArray[np.int64], scale: float, words: Words, margin: float = MARGIN) -> NDArray[np.bool_]:
    """For each gap >= 0 an independent coin with probability exp(-gap / scale) of heads; scale > 0.

    Guarantee  the law is exactly this.
    Proof      U has the words' 64 bits and then as many more as `decide` takes: it is uniform. With x = gap / scale in
               floats, gap and quotient are each off by a factor within 1 ± 2**-52, so exp(-x) is off by at most
               x exp(-x) 2**-50 + 2**-50 < 2**-40, and the float of U by 2**-53. If the two floats are further apart
               than `margin`, the exact numbers have the same order. Otherwise `decide` compares exact bounds.
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
    return is_below(uniform, lambda bits: bounds(gamma, bits), words)


def bounds(gamma: Fraction, bits: int) -> tuple[int, int]:
    """Integers on either side of exp(-gamma) * 2**bits, a few units apart.

    Proof      `exp_below` and `exp_above` are bounds. If exp(-gamma) < 2**-bits, 0 and 1 are bounds; exp(0) is 1.
    Test       tests/privacy/test_exponential_coins.py::test_bounds_contain_the_probability
    """
    if gamma == 0:
        return 2**bits, 2**bits
    if gamma > bits:  # exp(-bits) < 2**-bits
        return 0, 1
    digits = digits_for(bits)
    return math.floor(exp_below(-gamma, digits) * 2**bits), math.ceil(exp_above(-gamma, digits) * 2**bits)
