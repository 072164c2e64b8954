"""A table that comes in blocks of columns, one after another, and is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.encoding import Cells
from discreet.records.tables import open_labelled
from discreet.schema import Schema
from discreet.sources import Task
from discreet.sources.coding import fold_rows
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.memory import MemorySource

Block = Mapping[str, Any]


class BlockSource:
    """A table that comes in blocks of columns, target included.

    Parameters
    ----------
    blocks : called with the schema once per pass; returns the blocks, each with the columns of the schema.
    structure : returns the columns without a record. Without it `check` knows no column: then whoever makes the blocks
        has to check them.
    """

    def __init__(
        self, blocks: Callable[[Schema], Iterable[Block]], structure: Callable[[], Block] | None = None
    ) -> None:
        self._blocks, self._structure = blocks, structure

    def __repr__(self) -> str:
        return f"{type(self).__name__}(values hidden)"

    def check(self, schema: Schema) -> None:
        """Check names and types of the columns, as far as they are known beforehand; no value is looked at."""
        if self._structure is not None:
            open_labelled(self._structure(), None, schema)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Add up the counts of the blocks."""
        counted = MemorySource({name: [] for name in schema.all_names}).count(cells, schema)
        for block in self._blocks(schema):
            counted += MemorySource(block).count(cells, schema)
        return counted

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """The rows of the blocks, one block after another."""
        for block in self._blocks(schema):
            yield from MemorySource(block).rows(cells, schema)

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Add up block by block."""
        return fold_rows(self.rows(cells, schema), task)
