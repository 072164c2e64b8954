"""A table in memory: numpy counts it, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.encoding import Cells, class_codes
from discreet.records.tables import Table, open_labelled
from discreet.schema import Schema
from discreet.sources.exact import ExactRows, ExactStatistics

BLOCK = 1 << 15
"""Rows that are encoded at a time: the working set stays in the processor's cache and memory stays flat."""


class MemorySource:
    """Attributes X and labels y in memory; with y=None the labels are the schema's target column of X."""

    def __init__(self, X: Any, y: Any = None) -> None:
        self._X, self._y = X, y

    def __repr__(self) -> str:
        return "MemorySource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Columns and lengths; no value is looked at."""
        open_labelled(self._X, self._y, schema)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count block by block: linear in rows and columns."""
        table, labels = self._read(schema)
        columns = {each.column: table.column(each.column) for each in cells}
        classes = len(schema.classes)
        sizes = {each: each.size(schema) for each in cells}
        counts = {each: np.zeros((classes + 1) * size, dtype=np.int64) for each, size in sizes.items()}
        for start in range(0, table.rows, BLOCK):
            rows = slice(start, start + BLOCK)
            label = class_codes(labels[rows], schema)
            for each, size in sizes.items():
                code = each.codes(columns[each.column][rows], schema)
                code += label * size
                counts[each] += np.bincount(code, minlength=(classes + 1) * size)
        return ExactStatistics(
            {each: flat.reshape(classes + 1, sizes[each])[:classes] for each, flat in counts.items()}
        )

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """Encode block by block."""
        table, labels = self._read(schema)
        columns = {each.column: table.column(each.column) for each in cells}
        for start in range(0, table.rows, BLOCK):
            rows = slice(start, start + BLOCK)
            codes = {each: each.codes(columns[each.column][rows], schema).astype(np.uint16) for each in cells}
            yield ExactRows(codes, class_codes(labels[rows], schema).astype(np.uint16))

    def _read(self, schema: Schema) -> tuple[Table, NDArray[Any]]:
        table, labels = open_labelled(self._X, self._y, schema)
        return table, labels.read()
