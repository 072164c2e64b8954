"""Counting without numba: small columns several at a time, as it takes as long as one; in memory that is used again."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from discreet.records.encoding import Cells, Codes
from discreet.schema.columns import Numeric

CHUNK = 1 << 17
"""Numbers that are encoded at a time, as many as there are in a batch: threads wait for each other between operations
of numpy, and the fewer there are the better; more would need memory without being faster."""
JOINT = 1 << 14
"""Most cells of a table for several columns: few enough for the processor's cache, and for integers of 16 bits."""
FEW = 1 << 12
"""Fewer places than this are counted by numpy, which takes less time to begin."""


class _Column(NamedTuple):
    """A column that is being counted: each record has a place below `size`; `table` has the code of each place."""

    counts: NDArray[np.int64]
    size: int
    table: Codes | None


class JointCounter:
    """Counts records by class and cell, batch after batch, and adds to tables of counts: classes first, then cells.

    Parameters
    ----------
    classes : number of rows of each table.
    wide : whether a table may have more cells than 32 bits can number.
    """

    def __init__(self, classes: int, *, wide: bool = False) -> None:
        self._classes = classes
        self._small, self._large = np.dtype(np.int16), np.dtype(np.intp if wide else np.int32)
        self._kind = self._large
        self._columns: list[_Column] = []
        self._positions = np.empty(CHUNK)
        self._given: NDArray[Any] = np.empty(0, dtype=self._large)
        self._labels: dict[np.dtype[Any], NDArray[Any]] = {}
        self._joint, self._codes = ({kind: np.empty(0, kind) for kind in self._kinds} for _ in range(2))
        self._ones = _ones(0)

    @property
    def _kinds(self) -> tuple[np.dtype[Any], np.dtype[Any]]:
        return self._small, self._large

    def begin(self, labels: NDArray[Any]) -> None:
        """Begin a batch, with the class code of each record."""
        self._given, self._labels = labels, {}
        if len(self._joint[self._large]) < len(labels):
            self._joint = {kind: np.empty(len(labels), kind) for kind in self._kinds}
            self._codes = {kind: np.empty(min(len(labels), CHUNK), kind) for kind in self._kinds}

    def is_small(self, size: int) -> bool:
        """Whether two columns of this many cells each can be counted at once."""
        return self._classes * size**2 <= JOINT

    def add_places(self, counts: NDArray[np.int64], size: int, places: NDArray[Any], table: Codes | None) -> None:
        """Count a column by its places; what is counted at a place belongs to the cell that `table` says."""
        joint = self._next(_Column(counts, size, table))
        if places.dtype == self._kind:
            joint += places
            return
        for start in range(0, len(places), CHUNK):
            part = places[start : start + CHUNK]
            codes = self._codes[self._kind][: len(part)]
            np.copyto(codes, part, casting="unsafe")
            joint[start : start + CHUNK] += codes

    def add_numbers(self, counts: NDArray[np.int64], numbers: NDArray[Any], cells: Cells, column: Numeric) -> None:
        """Count a column of floats."""
        joint = self._next(_Column(counts, counts.shape[1], None))
        for start in range(0, len(numbers), CHUNK):
            part = numbers[start : start + CHUNK]
            codes = self._codes[self._kind][: len(part)]
            cells.write_codes(part, column, codes, self._positions[: len(part)])
            joint[start : start + CHUNK] += codes

    def _next(self, column: _Column) -> NDArray[Any]:
        """The places of the records among the columns that are counted together, with room for another column."""
        if self._columns and self._classes * math.prod(each.size for each in self._columns) * column.size > JOINT:
            self.end()
        if not self._columns:
            self._kind = self._small if self._classes * column.size <= JOINT else self._large
        joint = self._joint[self._kind][: len(self._given)]
        np.multiply(joint if self._columns else self._label(), self._kind.type(column.size), out=joint)
        self._columns.append(column)
        return joint

    def _label(self) -> NDArray[Any]:
        """The class codes of the batch, as integers of the kind that is used now."""
        if self._kind not in self._labels:
            self._labels[self._kind] = self._given.astype(self._kind, copy=False)
        return self._labels[self._kind]

    def end(self) -> None:
        """Count what was not counted yet."""
        if not self._columns:
            return
        sizes = [each.size for each in self._columns]
        table = self._counted(self._classes * math.prod(sizes)).reshape(self._classes, *sizes)
        for place, each in enumerate(self._columns, 1):
            others = tuple(axis for axis in range(1, table.ndim) if axis != place)
            own = table.sum(axis=others, dtype=table.dtype)  # another type would take longer
            if each.table is None:
                each.counts[:] += own
            else:
                np.add.at(each.counts.T, each.table, own.T)
        self._columns = []

    def _counted(self, size: int) -> NDArray[Any]:
        """How many of the places are 0, 1, ..., size - 1; none may be another one."""
        places = self._joint[self._kind][: len(self._given)]
        if self._kind is self._large or len(places) < FEW:
            return np.bincount(places, minlength=size)
        if places.view(np.uint16).max() >= size:
            raise ValueError("a place is outside the table")  # scipy would write there
        if self._ones.nnz != len(places):
            self._ones = _ones(len(places))
        np.copyto(self._ones.indices, places)
        return np.asarray(self._ones @ np.ones(1, dtype=np.int32))[:size]


def _ones(rows: int) -> Any:
    """A sparse matrix of one column with so many ones, whose rows are written into its `indices`.

    Times a vector of one 1 it says how many ones each row has: `numpy.bincount` takes twice as long for that, and
    holds the lock of Python meanwhile.
    """
    ends = np.array([0, rows], dtype=np.int32)
    return csc_array((np.ones(rows, np.int32), np.zeros(rows, np.int32), ends), shape=(JOINT, 1))
