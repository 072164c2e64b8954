"""Blocks of columns that come one after another: a table that is never in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.memory import MemorySource

Block = Mapping[str, Any]


class BlockSource:
    """A table that comes in blocks of columns, target included.

    Parameters
    ----------
    blocks : called for each pass with the schema; gives the blocks, which need no other columns.
    structure : gives the columns without a record. Without it no block is seen before it is read, so that whoever makes
        the blocks has to check their columns.
    """

    def __init__(
        self, blocks: Callable[[Schema], Iterable[Block]], structure: Callable[[], Block] | None = None
    ) -> None:
        self._blocks, self._structure = blocks, structure

    def __repr__(self) -> str:
        return f"{type(self).__name__}(values hidden)"

    def check(self, schema: Schema) -> None:
        """Names and types of the columns, as far as they are known beforehand; no value is looked at."""
        if self._structure is not None:
            MemorySource(self._structure()).check(schema)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """The counts of the blocks, added."""
        counted = MemorySource({name: [] for name in (*schema.names, schema.target)}).count(cells, schema)
        for block in self._blocks(schema):
            counted += MemorySource(block).count(cells, schema)
        return counted

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """The rows of the blocks, one block after another."""
        for block in self._blocks(schema):
            yield from MemorySource(block).rows(cells, schema)
