"""The rows of a table and their counts at the nodes of a tree. Private: inside the door only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.queries.trees import Places, Split
from discreet.records.encoding import Cells
from discreet.schema import Schema


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

    def on_the_left(self, splits: Sequence[Split], place: Places, places: int, schema: Schema) -> Integers:
        """Counts of the records that go left, by place, class and split; splits of one column must be adjacent."""
        base, parts = place * self.classes + self.labels, []
        for cells, group in groupby(splits, key=lambda split: split.cells):
            size, asked = cells.size(schema), [split.code for split in group]
            flat = np.bincount(base * size + self.codes[cells], minlength=places * self.classes * size)
            counts = flat.reshape(places, self.classes, size)
            parts.append((counts if cells.bins is None else np.cumsum(counts, axis=2))[:, :, asked])
        return np.concatenate(parts, axis=2).astype(np.int64)

    def below(self, chosen: Sequence[Split], place: Places) -> Places:
        """The place of each record one level down, after the split chosen for its place."""
        asked, goes_right = np.array([split.code for split in chosen]), np.zeros(len(place), dtype=np.intp)
        distinct = list(dict.fromkeys(split.cells for split in chosen))
        column = np.array([distinct.index(split.cells) for split in chosen])[place]
        for number, cells in enumerate(distinct):
            rows = np.flatnonzero(column == number)
            code, limit = self.codes[cells][rows], asked[place[rows]]
            goes_right[rows] = code > limit if cells.bins is not None else code != limit
        return 2 * place + goes_right
