"""Batches of Arrow as blocks of codes: the one counting core of every engine that gives Arrow batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.records.arrow_values import Coder, ColumnReader, Distinct
from discreet.records.encoding import Cells, Codes, as_floats, class_codes
from discreet.schema import Schema
from discreet.schema.columns import Numeric
from discreet.sources import kernels
from discreet.sources.exact import ExactRows, ExactStatistics

BATCH = 1 << 17
"""Records of a batch: enough that reading costs more than asking for it. benchmarks/engines.py measures it."""
CHUNK = 1 << 15
"""Numbers that numpy encodes at a time: few enough for the processor's cache."""


JOINT = 1 << 14
"""Most cells of a table that numpy counts for two columns at once: few enough for the processor's cache."""

Columns = dict[str, NDArray[Any] | Distinct]


class _Indexed(NamedTuple):
    """A column as numpy counts it: each record has a place below `size`; `table` has the code of each place."""

    cells: Cells
    places: NDArray[Any]
    size: int
    table: Codes | None


class BatchCounter:
    """Encodes or counts batches, one after another, in one thread. It keeps the counts, and no record.

    Parameters
    ----------
    texts : names of the columns that hold texts as bytes.
    """

    def __init__(self, cells: Sequence[Cells], schema: Schema, texts: Collection[str] = ()) -> None:
        self._cells, self._schema = list(dict.fromkeys(cells)), schema
        self._numeric = {each.column for each in cells if isinstance(schema[each.column], Numeric)}
        names = {*(each.column for each in cells), schema.target}
        self._readers = {name: ColumnReader(as_text=name in texts) for name in names}
        self._coders = {each: Coder(_encoder(each, schema)) for each in cells}
        self._classes = Coder(lambda values: class_codes(values, schema))
        self._rows = len(schema.classes) + 1
        self._sizes = {each: each.size(schema) for each in cells}
        self._counts = {each: np.zeros(self._rows * size, dtype=np.int64) for each, size in self._sizes.items()}
        self._tallies = {each: kernels.Tally(self._counts[each], size) for each, size in self._sizes.items()}
        self._fits = sum(map(len, self._counts.values())) < 2**31  # the loops count cells in 32 bits
        self._batches = 0

    def add(self, batch: Any) -> None:
        """Count the records of a batch."""
        read, target = self._read(batch)
        self._batches += 1
        loops = kernels.kernels(self._batches) if self._fits else None
        if loops is not None:
            self._add_compiled(loops, read, self._classes.codes(target, np.int32))
            return
        for start in range(0, batch.num_rows, CHUNK):
            rows = slice(start, start + CHUNK)
            self._add(read, rows, self._classes.codes(_part(target, rows)))

    def _add(self, read: Columns, rows: slice, labels: Codes) -> None:
        """Count by numpy, small columns two at a time: it takes as long as one."""
        first: _Indexed | None = None
        for each in self._cells:
            indexed = self._indexed(each, _part(read[each.column], rows))
            if self._rows * indexed.size**2 > JOINT:
                self._tabulate(labels, indexed)
            elif first is None:
                first = indexed
            else:
                self._tabulate(labels, first, indexed)
                first = None
        if first is not None:
            self._tabulate(labels, first)

    def _indexed(self, each: Cells, read: NDArray[Any] | Distinct) -> _Indexed:
        if isinstance(read, Distinct) and self._rows * len(read.values) ** 2 <= JOINT:
            return _Indexed(each, read.places, len(read.values), self._coders[each].table(read))
        return _Indexed(each, self._coders[each].codes(read), self._sizes[each], None)

    def _tabulate(self, labels: Codes, *columns: _Indexed) -> None:
        """Count the records by class and one or two columns, and add the counts by class and each of these."""
        joint, sizes = labels, [each.size for each in columns]
        for each in columns:
            joint = joint * each.size
            joint += each.places.astype(np.intp, copy=False)
        cells = self._rows * math.prod(sizes)
        table = np.bincount(joint, minlength=cells).reshape(self._rows, *sizes)
        for place, each in enumerate(columns):
            own = table if len(columns) == 1 else table.sum(axis=2 - place)
            counts = self._counts[each.cells].reshape(self._rows, -1)
            if each.table is None:
                counts += own
            else:
                np.add.at(counts.T, each.table, own.T)

    def _add_compiled(self, loops: kernels.Kernels, read: Columns, labels: NDArray[np.int32]) -> None:
        for each, tally in self._tallies.items():
            column, values = self._schema[each.column], read[each.column]
            if isinstance(values, Distinct):
                tally.add_places(loops, values.places, labels, self._coders[each].table(values))
            elif isinstance(column, Numeric):
                tally.add_numbers(loops, as_floats(values), labels, each, column)
            else:
                tally.add_places(loops, self._coders[each].codes(values), labels, np.arange(self._sizes[each]))

    def counted(self) -> ExactStatistics:
        """The counts of all batches so far, by class and cell."""
        return ExactStatistics(
            {each: flat.reshape(self._rows, self._sizes[each])[:-1] for each, flat in self._counts.items()}
        )

    def rows(self, batch: Any) -> ExactRows:
        """The codes of the records of a batch, in two bytes each."""
        read, target = self._read(batch)
        codes = {each: self._coders[each].codes(read[each.column], np.uint16) for each in self._cells}
        return ExactRows(codes, self._classes.codes(target, np.uint16))

    def _read(self, batch: Any) -> tuple[Columns, NDArray[Any] | Distinct]:
        """The columns and the target; integers of the target are places, unless it is also a column of numbers."""
        read = {
            name: reader.read(batch.column(name), countable=name not in self._numeric)
            for name, reader in self._readers.items()
        }
        return read, read[self._schema.target]


def _encoder(cells: Cells, schema: Schema) -> Callable[[NDArray[Any]], Codes]:
    return lambda values: cells.codes(values, schema)


def _part(read: NDArray[Any] | Distinct, rows: slice) -> NDArray[Any] | Distinct:
    return read[rows] if isinstance(read, np.ndarray) else Distinct(read.values, read.places[rows])


def in_batches(batches: Iterable[Any], rows: int = BATCH) -> Iterator[Any]:
    """The same records in batches of at most so many rows; nothing is copied."""
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)
