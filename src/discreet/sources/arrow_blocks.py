"""Batches of Arrow as blocks of codes: the one counting core of every engine that gives Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.arrow_values import Coder, ColumnReader, Distinct
from discreet.records.encoding import Cells, Codes, as_floats, class_codes
from discreet.schema import Schema
from discreet.schema.columns import Numeric
from discreet.sources import kernels
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.joint import JointCounter

BATCH = 1 << 17
"""Records of a batch: enough that reading costs more than asking for it. benchmarks/engines.py measures it."""

Read = NDArray[Any] | Distinct
Labels = NDArray[Any]


class BatchCounter:
    """Encodes or counts batches, one after another, in one thread. It keeps the counts; of
    records only what it needed for the last batch.

    Parameters
    ----------
    texts : names of the columns that hold texts as bytes.
    """

    def __init__(self, cells: Sequence[Cells], schema: Schema, texts: Collection[str] = ()) -> None:
        self._schema = schema
        self._by_column: dict[str, list[Cells]] = {each.column: [] for each in cells}
        for each in dict.fromkeys(cells):
            self._by_column[each.column].append(each)
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
        self._joint = JointCounter(self._rows, wide=not self._fits)
        self._batches = 0

    def add(self, batch: Any) -> None:
        """Count the records of a batch, one column after another."""
        self._batches += 1
        loops = kernels.kernels(self._batches) if self._fits else None
        target = self._read(batch, self._schema.target)
        labels = self._classes.codes(target, np.int32 if self._fits else np.intp)
        if loops is None:
            self._add(batch, target, labels)
        else:
            self._add_compiled(loops, batch, target, labels)

    def _add(self, batch: Any, target: Read, labels: Labels) -> None:
        """Count by numpy. Distinct values are counted as they are if they are few, and encoded afterwards."""
        self._joint.begin(labels)
        for each, read in self._columns(batch, target):
            column, size = self._schema[each.column], self._sizes[each]
            counts = self._counts[each].reshape(self._rows, size)
            if isinstance(read, Distinct) and self._joint.is_small(len(read.values)):
                self._joint.add_places(counts, len(read.values), read.places, self._coders[each].table(read))
            elif isinstance(read, Distinct) or not isinstance(column, Numeric):
                self._joint.add_places(counts, size, self._coders[each].codes(read), None)
            else:
                self._joint.add_numbers(counts, as_floats(read), each, column)
        self._joint.end()

    def _add_compiled(self, loops: kernels.Kernels, batch: Any, target: Read, labels: Labels) -> None:
        for each, values in self._columns(batch, target):
            column, tally = self._schema[each.column], self._tallies[each]
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
        target = self._read(batch, self._schema.target)
        codes = {each: self._coders[each].codes(read, np.uint16) for each, read in self._columns(batch, target)}
        return ExactRows(codes, self._classes.codes(target, np.uint16))

    def _columns(self, batch: Any, target: Read) -> Iterator[tuple[Cells, Read]]:
        """The cells, with what is read of their columns: each column once, and not before it is needed."""
        for name, cells in self._by_column.items():
            read = target if name == self._schema.target else self._read(batch, name)
            yield from ((each, read) for each in cells)

    def _read(self, batch: Any, name: str) -> Read:
        """A column; integers are places, unless it is a column of numbers."""
        return self._readers[name].read(batch.column(name), countable=name not in self._numeric)


def _encoder(cells: Cells, schema: Schema) -> Callable[[NDArray[Any]], Codes]:
    return lambda values: cells.codes(values, schema)


def in_batches(batches: Iterable[Any], rows: int = BATCH) -> Iterator[Any]:
    """The same records in batches of at most this many rows; nothing is copied."""
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)
