"""Floats as integers, and whether one of them is NaN, which has none."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

LENGTHS = (1, 2, 3, 8, 67)
"""Loops treat several numbers at once, and what is left over one by one: each of these is tried."""


def truncated(numbers: NDArray[np.float64], integers: NDArray[Any]) -> bool:
    """Write floats that lie within the range of the integers without their fraction; False if NaN is among them, and
    then it is not said what was written.

    Guarantee  True only if no number is NaN.
    Proof      a processor sets a flag when it turns NaN into an integer, numpy looks at it after the loop, and raises
               an error if asked to: one pass over the numbers less than to look for NaN. Where a trial shows that
               this does not hold, for one place in arrays of several lengths, the least number is asked for,
               which is NaN if any of them is.
    Test       tests/records/test_truncating.py
    """
    if not _is_told(integers.dtype):
        if np.isnan(numbers.min(initial=0.0)):
            return False
        np.copyto(integers, numbers, casting="unsafe")
        return True
    return _truncated(numbers, integers)


def _truncated(numbers: NDArray[np.float64], integers: NDArray[Any]) -> bool:
    try:
        with np.errstate(invalid="raise"):
            np.copyto(integers, numbers, casting="unsafe")
    except FloatingPointError:
        return False
    return True


@functools.cache
def _is_told(kind: np.dtype[Any]) -> bool:
    """Whether numpy tells, wherever NaN is."""
    return not any(_is_missed(length, place, kind) for length in LENGTHS for place in range(length))


def _is_missed(length: int, place: int, kind: np.dtype[Any]) -> bool:
    numbers = np.zeros(length)
    numbers[place] = np.nan
    return _truncated(numbers, np.empty(length, dtype=kind))
