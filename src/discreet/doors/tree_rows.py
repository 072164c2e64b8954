"""The rows of a table and their counts at the nodes of a tree. Private: inside the door only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.queries.tree_paths import Candidates
from discreet.queries.trees import Node, Places, SplitScore
from discreet.records.encoding import Cells
from discreet.schema import Schema

AT_ONCE = 2**20
"""Counts that are held at a time: they fit a processor's cache, and memory stays far below that of the records."""

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

    def among(self, kept: NDArray[np.bool_]) -> TreeRows:
        """Some of the records."""
        return TreeRows({cells: codes[kept] for cells, codes in self.codes.items()}, self.labels[kept], self.classes)

    def by_class(self, place: Places, places: int) -> Integers:
        """Counts by place and class, of records that lie at `places` places."""
        flat = np.bincount(place * self.classes + self.labels, minlength=places * self.classes)
        return flat.reshape(places, self.classes).astype(np.int64)

    def on_the_left(self, candidates: Candidates, place: Places, places: int, schema: Schema) -> Integers:
        """Counts of the records that go left, by place, class and split."""
        base = place * self.classes + self.labels
        sides = [self._left(cells, codes, base, slice(None), schema, places) for cells, _, codes in candidates.groups]
        return np.concatenate(sides, axis=2)

    def scores(
        self, candidates: Candidates, score: SplitScore, place: Places, places: int, schema: Schema
    ) -> Iterator[Integers]:
        """Yield the scores of all splits at each place in turn; some places are counted at a time, by column."""
        total = self.by_class(place, places)
        widest = max((len(codes) + 1 for _, _, codes in candidates.groups), default=1)
        together = max(1, AT_ONCE // max(len(candidates.splits), widest * self.classes))
        for first, rows in _in_parts(place, places, together):
            some = min(together, places - first)
            base = (place[rows] - first) * self.classes + self.labels[rows]
            scores = np.empty((some, len(candidates.splits)), dtype=np.int64)
            for cells, part, codes in candidates.groups:
                left = self._left(cells, codes, base, rows, schema, some)
                scores[:, part] = score.of(left, total[first : first + some])
            yield from scores

    def _left(
        self, cells: Cells, asked: Integers, base: Places, rows: Rows, schema: Schema, places: int
    ) -> NDArray[np.int64]:
        """Counts on the left of the splits of one column, for rows whose place and class are in `base`."""
        codes, size = self.codes[cells][rows], cells.size(schema)
        if cells.bins is not None:  # merge the cells between two thresholds
            codes, size = np.searchsorted(asked, np.arange(size))[codes], len(asked) + 1
        counts = np.bincount(base * size + codes, minlength=places * self.classes * size)
        by_cell = counts.reshape(places, self.classes, size)
        return np.asarray(by_cell[:, :, asked] if cells.bins is None else np.cumsum(by_cell, axis=2)[:, :, :-1])

    def below(self, chosen: Sequence[Node], place: Places) -> Places:
        """The place of each record one level down, after the split chosen for its place; below a leaf always left."""
        asked = np.array([0 if split is None else split.code for split in chosen])
        goes_right = np.zeros(len(place), dtype=np.intp)
        distinct = list(dict.fromkeys(split.cells for split in chosen if split is not None))
        number_of = {cells: number for number, cells in enumerate(distinct)}
        column = np.array([-1 if split is None else number_of[split.cells] for split in chosen])[place]
        for number, cells in enumerate(distinct):
            rows = np.flatnonzero(column == number)
            code, limit = self.codes[cells][rows], asked[place[rows]]
            goes_right[rows] = code > limit if cells.bins is not None else code != limit
        return 2 * place + goes_right


def _in_parts(place: Places, places: int, together: int) -> Iterator[tuple[int, Rows]]:
    """Yield the first of some neighbouring places, and the rows of the records that lie there."""
    if together >= places:
        yield 0, slice(None)
        return
    order = np.argsort(place, kind="stable")
    firsts = np.arange(0, places, together)
    ends = np.searchsorted(place[order], [*firsts, places])
    for number, first in enumerate(firsts.tolist()):
        yield first, order[ends[number] : ends[number + 1]]
