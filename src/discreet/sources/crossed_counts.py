"""The task of crossed counts: all tables of a request in one pass over coded records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.queries.crossed import CrossedCounts
from discreet.queries.predicates import Spans
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.exact import ExactRows

BLOCK = 1 << 15
"""Records that are counted at a time: few enough for the processor's cache."""

Coded = dict[Cells | None, NDArray[np.uint16]]
"""The codes of some records in each of some cells, and their classes (None)."""


@dataclass(frozen=True)
class CountedTable:
    """One table: the codes that pass in some cells (None: the classes), and the cells that it is divided by."""

    passing: tuple[tuple[Cells | None, Spans], ...]
    axes: tuple[tuple[Cells | None, int], ...]

    @classmethod
    def of(cls, query: CrossedCounts, schema: Schema) -> CountedTable:
        """The table of a query; public."""
        passing = tuple(
            (None if name == schema.target else Cells(name), spans) for name, spans in query.where.spans(schema).items()
        )
        return cls(passing, tuple((each.cells(schema), each.counted(schema)) for each in query.by))

    @property
    def size(self) -> int:
        """Number of cells."""
        return math.prod(size for _, size in self.axes)

    @property
    def cells(self) -> list[Cells]:
        """The cells of columns that it needs."""
        return [each for each, _ in (*self.passing, *self.axes) if each is not None]

    def add(
        self, codes: Coded, known: NDArray[np.bool_], total: Integers, numbers: NDArray[np.int64] | None = None
    ) -> None:
        """Add records to the counts, in place: those that pass and are `known` to have a class.

        With `numbers`, each row stands for that number of equal records.
        """
        kept = known
        for cells, spans in self.passing:
            kept = kept & _passes(spans)[codes[cells]]
        flat = np.zeros(len(known), dtype=np.intp)
        for cells, size in self.axes:
            flat *= size
            flat += codes[cells]
        if numbers is None:
            total += np.bincount(flat[kept], minlength=self.size)
        else:
            np.add.at(total, flat[kept], numbers[kept])


@dataclass(frozen=True)
class CountedTables:
    """A task: several tables, one after another. Records without one of the classes are not counted."""

    tables: tuple[CountedTable, ...]
    classes: int

    @classmethod
    def of(cls, queries: Sequence[CrossedCounts], schema: Schema) -> CountedTables:
        """The task that counts for all queries at once."""
        return cls(tuple(CountedTable.of(query, schema) for query in queries), len(schema.classes))

    @property
    def size(self) -> int:
        """Number of counts."""
        return sum(each.size for each in self.tables)

    @property
    def cells(self) -> list[Cells]:
        """The cells of columns that it needs, each once."""
        return list(dict.fromkeys(cells for each in self.tables for cells in each.cells))

    def __call__(self, block: ExactRows) -> Integers:
        """The counts of some records."""
        total = np.zeros(self.size, dtype=np.int64)
        for start in range(0, len(block.labels), BLOCK):
            rows = slice(start, start + BLOCK)
            codes: Coded = {each: block.codes[each][rows] for each in self.cells}
            codes[None] = block.labels[rows]
            known = codes[None] < self.classes
            place = 0
            for table in self.tables:
                table.add(codes, known, total[place : place + table.size])
                place += table.size
        return total

    def split(self, counts: Integers) -> list[Integers]:
        """The counts of each table."""
        return np.split(counts, np.cumsum([each.size for each in self.tables])[:-1])


@lru_cache(maxsize=256)
def _passes(spans: Spans) -> NDArray[np.bool_]:
    """Whether each code of sixteen bits passes."""
    passing = np.zeros(1 << 16, dtype=np.bool_)
    for start, stop in spans:
        passing[start:stop] = True
    return passing
