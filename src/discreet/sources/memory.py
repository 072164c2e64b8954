"""A table in memory: numpy counts it, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.encoding import Cells, Codes, class_codes
from discreet.records.tables import open_labelled
from discreet.schema import Schema
from discreet.sources import Task
from discreet.sources.coding import CodedBlock, count_blocks, fold_rows, rows_of_blocks
from discreet.sources.exact import ExactRows, ExactStatistics

BLOCK = 1 << 15
"""Rows that are encoded at a time: few enough for the processor's cache, and memory stays flat."""


class MemorySource:
    """Columns X and labels y in memory; with y=None the labels are the schema's target column of X."""

    def __init__(self, X: Any, y: Any = None) -> None:
        self._X, self._y = X, y

    def __repr__(self) -> str:
        return "MemorySource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Check columns and lengths; no value is looked at."""
        open_labelled(self._X, self._y, schema)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count block by block."""
        return count_blocks(self._blocks(cells, schema), cells, schema)

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """Encode block by block."""
        return rows_of_blocks(self._blocks(cells, schema), cells)

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Add up block by block."""
        return fold_rows(self.rows(cells, schema), task)

    def _blocks(self, cells: Sequence[Cells], schema: Schema) -> Iterator[CodedBlock]:
        table, labels = open_labelled(self._X, self._y, schema)
        classes = labels.read()
        columns = {each.column: table.column(each.column) for each in cells}
        for start in range(0, table.rows, BLOCK):
            rows = slice(start, start + BLOCK)

            def encode(each: Cells, rows: slice = rows) -> Codes:
                return each.codes(columns[each.column][rows], schema)

            yield encode, class_codes(classes[rows], schema)
