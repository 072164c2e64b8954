"""What exact samplers share: where their bits come from, and how a uniform number is compared with a probability."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = Callable[[int], NDArray[np.uint64]]
"""A function that returns this many independent uniform 64-bit words."""

MARGIN = 2.0**-30
"""Floats decide only if the two numbers are further apart than this: a thousand times the error of the floats, which
is below 2**-40 (proofs: `toss`, `NegativeBinomial.ratio`). Exact decisions are so rare that they cost no time."""

LARGEST_SCALE = 2**50
"""The largest scale that integer noise is calibrated to. Draws of much larger noise could leave the 64-bit integers,
where sums wrap around and would show what was hidden. Up to twice this scale, the probability that one of a million
draws does so is below exp(-4000)."""


def is_below(uniform: int, bounds: Callable[[int], tuple[int, int]], words: Words) -> bool:
    """Whether U < a, for a uniform number U in [0, 1) and a real number a, decided exactly.

    `uniform` is the first 64 bits of U. `bounds(bits)` are integers below and above a * 2**bits. Further bits of U are
    drawn until the bounds decide.
    """
    bits = 64
    while True:
        low, high = bounds(bits)
        if uniform + 1 <= low:
            return True
        if uniform >= high:
            return False
        uniform = uniform << 64 | int(words(1)[0])
        bits += 64
