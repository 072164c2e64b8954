"""How many different values there are, and how often: exactly if they are few, by a sample of them if they are many.

Values are sampled by their hash, not by record: with `level` k, those are kept whose hash is in the lowest 2⁻ᵏ of its
range, with the number of all their records. So samples of parts of a table add up to the sample of the whole, in any
order, and the number of values kept times 2ᵏ estimates the number of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", str, float)

MOST_KEPT = 2048
"""The most values that are kept of a column. The error of an estimate is then about one part in forty."""
RANGE = 2**32


class Distinct(Generic[Value]):
    """The distinct values of a column, or a sample of them."""

    def __init__(self, level: int = 0) -> None:
        self.level = level
        self._counts: dict[Any, tuple[int, int]] = {}

    @property
    def is_exact(self) -> bool:
        """Whether all values are kept."""
        return self.level == 0

    @property
    def size(self) -> int:
        """The number of distinct values, about."""
        return len(self._counts) << self.level

    @property
    def counts(self) -> dict[Value, int]:
        """The number of records of each value that is kept."""
        return {value: count for value, (_, count) in self._counts.items()}

    def add_texts(self, texts: Sequence[str], counts: Sequence[int], hashes: Sequence[int]) -> None:
        """Add distinct texts with their numbers of records, and their hashes (`hashes_of`)."""
        self._add(zip(texts, hashes, counts, strict=True))

    def add_numbers(self, numbers: NDArray[np.float64]) -> None:
        """Add finite numbers, one per record."""
        distinct, counts = _value_counts(numbers + 0.0)  # one zero, not two
        hashes = _mixed(distinct.view(np.uint64))
        kept = hashes < RANGE >> self.level
        self._add(zip(distinct[kept].tolist(), hashes[kept].tolist(), counts[kept].tolist(), strict=True))

    def merge(self, other: Distinct[Value]) -> None:
        """Add the values of another part of the table."""
        self.level = max(self.level, other.level)
        self._thin()
        self._add((value, hashed, count) for value, (hashed, count) in other._counts.items())

    def _add(self, values: Iterable[tuple[Any, int, int]]) -> None:
        below = RANGE >> self.level
        for value, hashed, count in values:
            if hashed < below:
                self._counts[value] = (hashed, self._counts.get(value, (0, 0))[1] + count)
                if len(self._counts) > MOST_KEPT:
                    self.level += 1
                    self._thin()
                    below = RANGE >> self.level

    def _thin(self) -> None:
        below = RANGE >> self.level
        self._counts = {value: kept for value, kept in self._counts.items() if kept[0] < below}


_ODD = np.uint64(0x9E3779B97F4A7C15)
_POWERS = np.multiply.accumulate(np.full(64, _ODD, dtype=np.uint64))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Evenly spread 32 bits from 64."""
    mixed = values * _ODD
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(32)).astype(np.int64)


def hashes_in(content: NDArray[np.uint8], offsets: NDArray[Any]) -> NDArray[np.int64]:
    """A hash below 2³² of each text; text k is content[offsets[k] : offsets[k + 1]]. The same in every process."""
    lengths = np.diff(offsets)
    starts = np.asarray(offsets[:-1] - offsets[0])
    part = content[offsets[0] : offsets[-1]]
    sums = np.zeros(len(lengths), dtype=np.uint64)
    filled = lengths > 0
    if filled.any():
        place = np.arange(len(part)) - np.repeat(starts, lengths)
        weighted = part * _POWERS[place & 63]
        sums[filled] = np.add.reduceat(weighted, starts[filled])
    return _mixed(sums + lengths.astype(np.uint64))


def hashes_of(texts: Sequence[bytes]) -> NDArray[np.int64]:
    """A hash below 2³² of each text."""
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)]).astype(np.int64)
    return hashes_in(np.frombuffer(b"".join(texts), dtype=np.uint8), offsets)


def _value_counts(numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    try:
        import pyarrow as pa
    except ImportError:
        distinct, counts = np.unique(numbers, return_counts=True)
        return distinct, counts
    found = pa.array(numbers).value_counts()
    return found.field(0).to_numpy(), found.field(1).to_numpy()


def counted(values: Iterable[Any]) -> Iterator[tuple[Any, int]]:
    """Distinct values with their number, in the order in which they first occur."""
    counts: dict[Any, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return iter(counts.items())
