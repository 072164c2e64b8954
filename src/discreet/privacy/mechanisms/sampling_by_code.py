"""A sample of records by sums alone: the same from every engine, in whatever order the records come.

Each record has a number that is made of its codes (queries/mixing.py). Records whose number ends in `zeros` zeros go
into one of many slots by its first bits, and each slot adds up how many there are, and their codes. A slot whose
records are all the same can be read off: the sums divided by their number. Others, where different records have met,
are left out. The sample is only a start for a search, and privacy does not depend on it: that a slot is read wrongly is
no harm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.problem import Problem, Records
from discreet.queries.arrays import Integers
from discreet.queries.mixing import Words, mixed


@dataclass(frozen=True)
class Slots:
    """How many records fall into each slot, the sums of their codes and sides, and of half of their numbers."""

    features: int
    bits: int
    zeros: int

    @property
    def size(self) -> int:
        """Number of sums."""
        return (self.features + 3) << self.bits

    def __call__(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> Integers:
        """The sums of some records."""
        total = np.zeros((self.features + 3, 1 << self.bits), dtype=np.int64)
        words = self._words(codes, sides)
        chosen = np.flatnonzero(words & np.uint64((1 << self.zeros) - 1) == 0)
        words = words[chosen]
        slots = (words >> np.uint64(64 - self.bits)).astype(np.intp)
        values = [np.ones(len(chosen)), *(code[chosen] for code in codes), sides[chosen], _half(words)]
        for row, value in zip(total, values, strict=True):
            np.add.at(row, slots, value.astype(np.int64))
        return total.ravel()

    def _words(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> Words:
        return mixed([sides.astype(np.uint16), *codes])

    def read(self, sums: Integers) -> tuple[list[NDArray[np.uint16]], NDArray[np.int64], NDArray[np.int64]]:
        """Codes and sides of the records of all slots that hold one record, or the same one again; and how often."""
        table = sums.reshape(self.features + 3, -1)
        table = table[:, table[0] > 0]
        number, rest = table[0], table[1:]
        table = np.vstack([number, rest // number])[:, (rest % number == 0).all(axis=0)]
        number, *codes, sides, half = table
        read = [code.astype(np.uint16) for code in codes]
        same = _half(self._words(read, sides)) == half
        return [code[same] for code in read], sides[same], number[same]


def _half(words: Words) -> NDArray[np.int64]:
    return ((words >> np.uint64(20)) & np.uint64(2**32 - 1)).astype(np.int64)


def sampled(records: Records, sums: int) -> Problem:
    """A sample of the records, read off about `sums` sums; the weight of each says how many records it stands for.

    If few were read off, there are few different records, and most of them are not in the sample: then all are tried.
    """
    features, count = len(records.features), records.count()
    bits = max(4, int(math.log2(sums / (features + 3))))
    zeros = max(0, math.ceil(math.log2(max(1, count) / 2**bits)))
    sample = _read(records, Slots(features, bits, zeros))
    if zeros and sample.rows < 2**bits / 16:
        again = _read(records, Slots(features, bits, 0))
        sample = max(sample, again, key=lambda each: float(each.weighted(np.ones(each.rows)).sum()))
    total = float(sample.weighted(np.ones(sample.rows)).sum())
    return replace(sample, weights=sample.weighted(np.full(sample.rows, count / max(total, 1.0))))


def _read(records: Records, slots: Slots) -> Problem:
    codes, sides, number = slots.read(records.fold(slots))
    weights = np.maximum(number, 1 << slots.zeros).astype(np.float64)  # one that is there often stands for itself
    own = sides.astype(np.int8) if sides.min(initial=0) < 0 else sides.astype(np.uint16)
    return Problem(records.features, tuple(codes), own, weights)
