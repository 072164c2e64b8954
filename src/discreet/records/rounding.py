"""Round bounds around numbers: what a person would have written, so that a bound is not the value of one record."""

from __future__ import annotations

import math


def round_bounds(low: float, high: float) -> tuple[float, float]:
    """The next round numbers outside of low ... high; they differ, also if low and high do not.

    >>> round_bounds(17.2, 89), round_bounds(0.013, 0.0426), round_bounds(5, 5), round_bounds(3.5, 31)
    ((10, 90), (0.01, 0.05), (5, 6), (0, 40))
    """
    width = high - low
    if not 0 < width < math.inf:
        width = max(abs(low), 1.0)
    step = 10.0 ** math.floor(math.log10(width))
    step = step / 2 if width / step < 2.5 else step
    if not 0 < step < math.inf:
        return low, high
    lower, upper = math.floor(low / step) * step, math.ceil(high / step) * step
    upper = upper if lower < upper else lower + step
    bounds = plain(lower), plain(upper)
    return bounds if bounds[0] <= low and bounds[1] >= high and bounds[0] < bounds[1] else (low, high)


def plain(number: float) -> float:
    """The number without the digits that a product of floats leaves behind: 0.30000000000000004 is 0.3."""
    short = float(f"{number:.12g}")
    return int(short) if short.is_integer() and abs(short) < 2**53 else short
