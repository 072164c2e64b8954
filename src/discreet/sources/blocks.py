"""Blocks of columns that come one after another: a table that is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from discreet.encoding import Cells
from discreet.schema import Schema
from discreet.sources.memory import MemorySource
from discreet.statistics import ExactRows, ExactStatistics


class BlockSource:
    """Blocks of columns, target included. None is seen before it is read: who makes them checks their columns."""

    def __init__(self, blocks: Iterable[Mapping[str, Any]]) -> None:
        self._blocks = blocks

    def __repr__(self) -> str:
        return "BlockSource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Nothing can be checked before the first block is read."""

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """The counts of the blocks, added."""
        counted = MemorySource({name: [] for name in (*schema.names, schema.target)}).count(cells, schema)
        for block in self._blocks:
            counted += MemorySource(block).count(cells, schema)
        return counted

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """The rows of the blocks, one block after another."""
        for block in self._blocks:
            yield from MemorySource(block).rows(cells, schema)
