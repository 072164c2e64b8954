"""Sums over records in integers that never round: added up in any order, in as many blocks as wanted.

Numbers that may be larger than 64 bits are added up in limbs of HALF bits, the last of which has a sign. Each limb of a
number is below 2**32, so that sums of 2**31 records fit, and those of a block are exact in floating point, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.queries.hyperplanes import Feature

HALF = 26
"""Bits of a limb."""
PART = 22
"""Bits of the parts that sums of limbs are divided into, before they are multiplied by the weights of cells."""
FAST = 50
"""Most bits after the binary point with machine integers."""


def limbs_of(largest: int) -> int:
    """How many limbs numbers up to this size need."""
    return 1 + max(0, -(-(largest.bit_length() + 1 - 32) // HALF))


def split_limbs(values: NDArray[Any], limbs: int) -> list[NDArray[np.float64]]:
    """The limbs of each number, as floats, which hold them exactly."""
    parts = [(values >> (HALF * place)) & ((1 << HALF) - 1) for place in range(limbs - 1)]
    return [part.astype(np.float64) for part in (*parts, values >> (HALF * (limbs - 1)))]


def joined(limbs: NDArray[np.int64]) -> list[int]:
    """The numbers whose limbs are the rows."""
    rows = [row.tolist() for row in limbs]
    return [sum(int(part) << (HALF * place) for place, part in enumerate(column)) for column in zip(*rows, strict=True)]


def rounded_table(feature: Feature, own: Sequence[int]) -> NDArray[Any]:
    """What each cell adds to a margin, rounded to an integer, with the weights of this group in fixed point.

    Machine integers if the fixed-point numbers are below 2**62: w = high * 2**26 + low, so the sum of two weights times
    w is h * 2**26 + l with |h| < 2**54 and l < 2**44, and h = q * unit + r: rounding (r * 2**26 + l) / unit is enough.
    """
    unit = feature.unit
    if max(map(abs, own), default=0) >= 2**62 or unit >= 2**17:
        pairs = zip(feature.places.tolist(), feature.weights.tolist(), strict=True)
        exact = (own[i] * a + own[j] * c for (i, j), (a, c) in pairs)
        return np.array([(2 * value + unit) // (2 * unit) for value in exact], dtype=object)
    w = np.array(own, dtype=np.int64)[feature.places]
    high = ((w >> HALF) * feature.weights).sum(axis=1)
    low = ((w & ((1 << HALF) - 1)) * feature.weights).sum(axis=1)
    whole, rest = np.divmod(high, unit)
    return np.asarray((whole << HALF) + (2 * ((rest << HALF) + low) + unit) // (2 * unit))


def gathered_limbs(feature: Feature, limbs: NDArray[np.int64]) -> NDArray[Any]:
    """The sum of weight times number over the cells, for each coordinate, from the limbs of the cells (limb by cell).

    Parts of 22 bits, times weights below 2**17 and added over at most 2**17 cells, stay below 2**62.
    """
    total = np.zeros(feature.size, dtype=object)
    for place, limb in enumerate(limbs):
        for part in range(3):
            value = limb >> (PART * part)
            value = value & ((1 << PART) - 1) if part < 2 else value
            sums = np.zeros(feature.size, dtype=np.int64)
            for side in range(2):
                np.add.at(sums, feature.places[:, side], feature.weights[:, side] * value)
            total += np.array([int(each) << (HALF * place + PART * part) for each in sums.tolist()], dtype=object)
    return total


def in_blocks(
    codes: Sequence[NDArray[Any]], sides: NDArray[Any], size: int
) -> Iterator[tuple[list[NDArray[np.intp]], NDArray[Any]]]:
    """Codes and sides, `size` records at a time."""
    for start in range(0, len(sides), size):
        rows = slice(start, start + size)
        yield [code[rows].astype(np.intp) for code in codes], sides[rows]


def add_up(total: Integers, code: NDArray[np.intp], limbs: Sequence[NDArray[np.float64]]) -> None:
    """Add the limbs of numbers at their codes; `total` has a row for each limb."""
    for place, limb in enumerate(limbs):
        total[place] += np.bincount(code, limb, minlength=total.shape[1]).astype(np.int64)


def divided(answer: Integers, limbs: int, sizes: Sequence[int]) -> list[Integers]:
    """Parts of an answer, each as limbs by cell."""
    parts = np.split(answer, np.cumsum(np.array(sizes) * limbs)[:-1])
    return [part.reshape(limbs, -1) for part in parts]
