"""The rows of a table and their counts at the nodes of a tree. Private: inside the door only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.queries.tree_paths import Candidates
from discreet.queries.trees import Node, Places, SplitScore, Tree
from discreet.records.encoding import Cells
from discreet.schema import Schema

AT_ONCE = 2**22
"""Counts and scores that are held at a time, or as many as there are records, or those of one place: memory stays
within a few times that of the records and of one place."""

BLOCK = 2**15
"""Records that go down at a time: few enough for the processor's cache."""

Rows = slice | Places


@dataclass(frozen=True, repr=False)
class TreeRows:
    """All rows with one of the classes, in one or two bytes per value. Private: it exists inside `grow` only."""

    codes: dict[Cells, NDArray[Any]]
    labels: NDArray[Any]
    classes: int

    def __repr__(self) -> str:
        return "TreeRows(values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("records are private and cannot be pickled")

    def at_the_top(self) -> PlacedRows:
        """As TreeRecords."""
        return PlacedRows(self, np.zeros(len(self.labels), dtype=np.intp))

    def at_the_leaves(self, tree: Tree) -> PlacedRows:
        """As TreeRecords."""
        return PlacedRows(self, tree.leaf_of(self.codes, len(self.labels)))

    def among(self, kept: NDArray[np.bool_]) -> TreeRows:
        """Some of the records."""
        return TreeRows({cells: codes[kept] for cells, codes in self.codes.items()}, self.labels[kept], self.classes)

    def by_class(self, place: Places, places: int) -> Integers:
        """Counts by place and class, of records that lie at `places` places."""
        return _Counter(self._bases(place, slice(None), 0), places, self.classes).total()

    def on_the_left(self, candidates: Candidates, place: Places, places: int, schema: Schema) -> Integers:
        """Counts of the records that go left, by place, class and split."""
        counter = _Counter(self._bases(place, slice(None), 0), places, self.classes)
        groups = candidates.groups
        sides = [counter.left(cells, self.codes[cells], codes, cells.size(schema)) for cells, _, codes in groups]
        return np.concatenate(sides, axis=2)

    def scores(
        self, candidates: Candidates, score: SplitScore, place: Places, places: int, schema: Schema
    ) -> Iterator[Integers]:
        """Yield the scores of all splits at each place in turn; some places are counted at a time, by column."""
        widest = max((len(codes) + 1 for _, _, codes in candidates.groups), default=1)
        most = max(AT_ONCE, len(place))
        together = max(1, most // max(len(candidates.splits), widest * self.classes))
        for first, rows in _in_parts(place, places, together):
            some = min(together, places - first)
            counter = _Counter(self._bases(place, rows, first), some, self.classes)
            total = counter.total()
            scores = np.empty((some, len(candidates.splits)), dtype=np.int64)
            for cells, part, codes in candidates.groups:
                left = counter.left(cells, self.codes[cells][rows], codes, cells.size(schema))
                scores[:, part] = score.of(left, total)
            yield from scores

    def _bases(self, place: Places, rows: Rows, first: int) -> Places:
        """One number for place and class of each of some rows, counted from the first place."""
        bases = place[rows] * self.classes
        bases += self.labels[rows]
        bases -= first * self.classes
        return bases

    def below(self, chosen: Sequence[Node], place: Places) -> Places:
        """The place of each record one level down, after the split chosen for its place; below a leaf always left."""
        distinct = list(dict.fromkeys(split.cells for split in chosen if split is not None))
        number_of = {cells: number for number, cells in enumerate(distinct)}
        column_of = np.array([-1 if split is None else number_of[split.cells] for split in chosen], dtype=np.int16)
        asked = np.array([0 if split is None else split.code for split in chosen], dtype=np.uint16)
        after = 2 * place
        for start in range(0, len(place), BLOCK):
            block = slice(start, start + BLOCK)
            at = place[block]
            column, limit = column_of[at], asked[at]
            for number, cells in enumerate(distinct):
                code = self.codes[cells][block]
                goes_right = code > limit if cells.bins is not None else code != limit
                after[block] += goes_right & (column == number)
        return after


@dataclass(frozen=True, repr=False)
class PlacedRows:
    """Rows, and the place of each in a tree: what plans ask (`Placed`). Private."""

    rows: TreeRows
    place: Places

    def scores(self, candidates: Candidates, score: SplitScore, places: int, schema: Schema) -> Iterator[Integers]:
        """As Placed."""
        return self.rows.scores(candidates, score, self.place, places, schema)

    def tables(self, candidates: Candidates, places: int, schema: Schema) -> tuple[Integers, Integers]:
        """As Placed."""
        return self.rows.on_the_left(candidates, self.place, places, schema), self.by_class(places)

    def by_class(self, places: int) -> Integers:
        """As Placed."""
        return self.rows.by_class(self.place, places)

    def below(self, chosen: Sequence[Node]) -> PlacedRows:
        """As Placed."""
        return PlacedRows(self.rows, self.rows.below(chosen, self.place))

    def renumbered(self, numbers: Places) -> PlacedRows:
        """As Placed."""
        return PlacedRows(self.rows, numbers[self.place])

    def __repr__(self) -> str:
        return "PlacedRows(values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("records are private and cannot be pickled")


class _Counter:
    """Counts the records at some places by class and cell, one column after another, in the same memory."""

    def __init__(self, base: Places, places: int, classes: int) -> None:
        self._base, self._shape = base, (places, classes)
        self._size, self._scaled, self._flat = 0, np.empty_like(base), np.empty_like(base)

    def total(self) -> Integers:
        """Counts by place and class."""
        return np.bincount(self._base, minlength=math.prod(self._shape)).reshape(self._shape)

    def left(self, cells: Cells, codes: NDArray[Any], asked: Integers, size: int) -> Integers:
        """Counts on the left of splits at the asked codes of one column, by place, class and split."""
        if cells.bins is None:
            return np.asarray(self._by_cell(codes, size)[:, :, asked])
        if math.prod(self._shape) * size <= len(codes):
            return np.asarray(np.cumsum(self._by_cell(codes, size), axis=2)[:, :, asked])
        between = np.searchsorted(asked, np.arange(size)).astype(np.uint16)  # cells between two thresholds are one
        return np.asarray(np.cumsum(self._by_cell(between[codes], len(asked) + 1), axis=2)[:, :, :-1])

    def _by_cell(self, codes: NDArray[Any], size: int) -> Integers:
        if size != self._size:
            np.multiply(self._base, size, out=self._scaled)
            self._size = size
        np.add(self._scaled, codes, out=self._flat)
        counts = np.bincount(self._flat, minlength=math.prod(self._shape) * size)
        return counts.reshape(*self._shape, size)


def _in_parts(place: Places, places: int, together: int) -> Iterator[tuple[int, Rows]]:
    """Yield the first of some neighbouring places, and the rows of the records that lie there."""
    if together >= places:
        yield 0, slice(None)
        return
    order = np.argsort(place.astype(np.uint16), kind="stable")  # at most 2**12 places; sixteen bits sort fast
    firsts = np.arange(0, places, together)
    ends = np.searchsorted(place[order], [*firsts, places])
    for number, first in enumerate(firsts.tolist()):
        yield first, order[ends[number] : ends[number + 1]]
