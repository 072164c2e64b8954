"""Scores of records: what each group of coordinates adds for each class, looked up by the cell of the record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.hyperplanes import Feature
from discreet.records.encoding import Cells
from discreet.records.tables import open_records
from discreet.schema import Schema
from discreet.sources.memory import BLOCK

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Scorer:
    """The constant of each class, and for each group what its cells add (cells by classes)."""

    constants: Matrix
    groups: tuple[tuple[Feature, Matrix], ...]

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells whose codes decide, each once."""
        return tuple(dict.fromkeys(cells for feature, _ in self.groups for cells in feature.read))

    def scores(self, X: Any, schema: Schema) -> Iterator[Matrix]:
        """Yield the scores of each class, one block of rows at a time, so that memory use stays flat."""
        table = open_records(X, schema)
        encoders = {cells: table.coder(cells, schema) for cells in self.cells}
        for start in range(0, table.rows, BLOCK):
            rows = slice(start, min(start + BLOCK, table.rows))
            joint = np.tile(self.constants, (rows.stop - rows.start, 1))
            added = np.empty_like(joint)
            codes = {cells: encode(rows) for cells, encode in encoders.items()}
            for feature, by_cell in self.groups:
                # every code is in range; mode="clip" only keeps numpy from checking again, which is much faster
                np.take(by_cell, feature.codes(codes, len(joint)), axis=0, out=added, mode="clip")
                joint += added
            yield joint
