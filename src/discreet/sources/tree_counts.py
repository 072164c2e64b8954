"""Counts at the places of a published tree: the task of trees, which engines may know and translate.

An engine that does not know it runs it on coded blocks like any other task; one that adds up in SQL reads its fields,
all of which are public, and gives the same integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.queries.mixing import scattered
from discreet.queries.trees import Tree
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.exact import ExactRows

BLOCK = 2**15
"""Records that are counted at a time: few enough for the processor's cache."""


@dataclass(frozen=True)
class Grouped:
    """Cells of a column in groups: those between two thresholds are one, since no split tells them apart."""

    cells: Cells
    groups: int
    codes: tuple[int, ...] | None
    """The thresholds, or None if each cell is a group."""

    @classmethod
    def of(cls, cells: Cells, codes: Integers, schema: Schema) -> Grouped:
        """The groups that splits at these codes tell apart; all cells if they are categories."""
        if cells.bins is None or (np.diff(codes) <= 0).any():
            return cls(cells, cells.size(schema), None)
        return cls(cells, len(codes) + 1, tuple(codes.tolist()))

    def of_codes(self, codes: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """The group of each code."""
        return codes if self.codes is None else _table(self.codes).take(codes)

    def left(self, counts: Integers, codes: Integers) -> Integers:
        """Counts on the left of splits at the codes, from counts by group along the last axis."""
        if self.cells.bins is None:
            return np.asarray(counts[:, :, codes])
        sums = np.cumsum(counts, axis=2)
        return np.asarray(sums[:, :, codes] if self.codes is None else sums[:, :, :-1])


@lru_cache(maxsize=256)
def _table(codes: tuple[int, ...]) -> NDArray[np.uint16]:
    """The number of thresholds below each code of sixteen bits."""
    return np.searchsorted(codes, np.arange(2**16)).astype(np.uint16)


@dataclass(frozen=True)
class Hand:
    """Some of the records: those whose number, which is made of their class and codes, leaves a remainder.

    Each record is in exactly one hand; which one depends on the record and the factors alone, so equal records are in
    the same hand.
    """

    cells: tuple[Cells, ...]
    factors: tuple[int, ...]
    """Of the constant 1, the class, and each of the cells."""
    hands: int
    number: int

    def holds(self, codes: Mapping[Cells, NDArray[np.uint16]], labels: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """Which of some records are in this hand."""
        columns = [np.ones_like(labels), labels, *(codes[each] for each in self.cells)]
        return np.asarray(scattered(columns, self.factors) % self.hands == self.number)


@dataclass(frozen=True)
class CountsAt:
    """A task: counts by place and class, and by place, class and group of some columns, at some places of a tree.

    `numbers` is the place of each leaf of the tree; records outside of `first` ... `first + places - 1`, without one of
    the classes, or outside of the hand, if there is one, are not counted.
    """

    tree: Tree
    numbers: tuple[int, ...]
    first: int
    places: int
    classes: int
    columns: tuple[Grouped, ...]
    hand: Hand | None = None

    @property
    def size(self) -> int:
        """Number of counts."""
        return self.places * self.classes * (1 + sum(each.groups for each in self.columns))

    def __call__(self, block: ExactRows) -> Integers:
        """The counts of some records, one after another."""
        total = np.zeros(self.size, dtype=np.int64)
        for start in range(0, len(block.labels), BLOCK):
            self._add(block, slice(start, start + BLOCK), total)
        return total

    def _add(self, block: ExactRows, rows: slice, total: Integers) -> None:
        labels = block.labels[rows]
        leaf = self.tree.leaf_of({each: block.codes[each][rows] for each in self.tree.cells}, len(labels))
        place = np.array(self.numbers, dtype=np.intp).take(leaf) - self.first
        kept = (labels < self.classes) & (place >= 0) & (place < self.places)
        if self.hand is not None:
            kept &= self.hand.holds({each: block.codes[each][rows] for each in self.hand.cells}, labels)
        base = place * self.classes
        base += labels
        everywhere = bool(kept.all())
        if not everywhere:
            base = base[kept]
        nodes, start = self.places * self.classes, 0
        parts = [(base, 1)]
        for each in self.columns:
            group = each.of_codes(block.codes[each.cells][rows])
            parts.append((base * each.groups + (group if everywhere else group[kept]), each.groups))
        for flat, groups in parts:
            total[start : start + nodes * groups] += np.bincount(flat, minlength=nodes * groups)
            start += nodes * groups

    def tables(self, counts: Integers) -> list[Integers]:
        """The counts as tables: of all records, then of each column."""
        sizes = [1, *(each.groups for each in self.columns)]
        parts = np.split(counts, np.cumsum(sizes)[:-1] * self.places * self.classes)
        shapes = [(self.places, self.classes), *((self.places, self.classes, size) for size in sizes[1:])]
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
