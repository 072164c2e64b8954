"""Intervals for counts with discrete Laplace noise: exact quantiles of the noise, of one cell and of sums of cells."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

LEVEL = 0.95
"""The probability that an interval contains the exact count."""
LONGEST = 1 << 20
"""The most points on which the law of a sum is computed; wider laws are computed on a coarser lattice."""


def half_width(scale: float, level: float = LEVEL) -> int:
    """The least m such that the noise of one cell is at most m in size with at least this probability.

    Proof  with p = exp(-1 / scale), P[|Z| > m] = 2 p^(m + 1) / (1 + p), from the sums of two geometric series. It falls
           with m, so the least m is where it first is at most 1 - level; rounding of the logarithm is corrected.
    Test   tests/released/test_answers.py::test_half_widths_are_exact_quantiles

    >>> half_width(10.0), half_width(0.0)
    (30, 0)
    """
    if scale == 0:
        return 0
    p = math.exp(-1 / scale)
    if p == 0:
        return 0
    guess = scale * (math.log(2 / (1 + p)) - math.log1p(-level)) - 1
    m = max(0, math.floor(guess) - 1)
    while _beyond(m, scale) > 1 - level:
        m += 1
    return m


def _beyond(m: int, scale: float) -> float:
    """P[|Z| > m]."""
    return 2 * math.exp(-(m + 1) / scale) / (1 + math.exp(-1 / scale))


@lru_cache(maxsize=1024)
def half_width_of_sum(scale: float, cells: int, level: float = LEVEL) -> int:
    """The same for the sum of the noise of several cells, which are independent.

    The law of the sum comes from its characteristic function, on a ring of integers so long that what wraps around is
    negligible. Where that ring would be too long, noise of a smaller scale is taken on a lattice, and the result is
    rounded up by one step of it.
    """
    if cells == 1 or scale == 0:
        return half_width(scale, level)
    reach = scale * (40 + 12 * math.sqrt(cells))
    step = max(1, math.ceil(2 * reach / LONGEST))
    size = 1 << math.ceil(math.log2(max(2 * reach / step, 64)))
    p = math.exp(-step / scale)
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    factor = (1 - p) ** 2 / ((1 - p) ** 2 + 4 * p * np.sin(angles / 2) ** 2)
    law = np.fft.irfft(factor**cells, size)
    within = law[0] + 2 * np.cumsum(law[1 : size // 2])
    place = int(np.searchsorted(within, level - 1e-12)) + 1
    if law[0] >= level:
        place = 0
    return place * step + (step if step > 1 else 0)


DEVIATIONS = math.log(1 / (1 - LEVEL)) / math.sqrt(2)
"""Laplace noise is within this many standard deviations with probability `LEVEL`; a weighted sum of several is more
often."""


def margin(variance: float, squares: float = 1.0) -> float:
    """How far the noise of a weighted sum of cells reaches, in about 95 of 100 cases, and not in fewer.

    `variance` is that of the noise of one cell, `squares` the sum of the squares of the weights. Half a record is added
    because counts are integers: without it, noise of less than one record would seem smaller than it is.
    Test  tests/released/test_answers.py::test_margins_hold_nearly_all_of_the_noise

    >>> margin(0.0), round(margin(200.0), 1)
    (0.0, 30.5)
    """
    return DEVIATIONS * math.sqrt(variance * squares) + 0.5 if variance > 0 else 0.0
