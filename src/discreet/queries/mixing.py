"""A number for each record, made of all its codes, that looks random: equal records have equal numbers everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

STEP, MIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
"""Odd numbers with many changes of bits (splitmix64)."""


def mixed(columns: Sequence[NDArray[Any]]) -> Words:
    """64 bits for each record, from its codes in each of the columns, at least one.

    The codes are multiplied by a number of each column's own and added up, modulo 2**64; the sum is mixed, so that sums
    over records tell which records there are.
    """
    words = np.zeros(len(columns[0]), dtype=np.uint64)
    for place, codes in enumerate(columns):
        words += codes.astype(np.uint64) * np.uint64(_factor(place))
    for shift in (30, 27):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(MIX)
    words ^= words >> np.uint64(31)
    return words


def _factor(place: int) -> int:
    """An odd number for each column: splitmix64 of its place."""
    value = (place + 1) * STEP % 2**64
    for shift in (30, 27):
        value = ((value ^ (value >> shift)) * MIX) % 2**64
    return (value ^ (value >> 31)) | 1


PRIME = 2**31 - 1
"""Numbers below it, multiplied by each other, stay below 2**62, in every language for databases too."""


def scattered(columns: Sequence[NDArray[Any]], factors: Sequence[int]) -> NDArray[np.int64]:
    """A number below PRIME for each record: its codes times the factors of their columns, added up modulo PRIME.

    With factors that are drawn at random, two different records have any two numbers equally often. SQL can compute it
    as well: codes below 2**16, times factors below 2**31, of fewer than 2**16 columns, stay below 2**63.
    """
    total = np.zeros(len(columns[0]), dtype=np.int64)
    for codes, factor in zip(columns, factors, strict=True):
        total += codes.astype(np.int64) * factor
    return np.asarray(total % PRIME)


def fixed_factors(columns: int) -> list[int]:
    """Factors that are always the same."""
    return [_factor(place) % PRIME for place in range(columns)]
