"""Engines that hold the data. Each counts records by class and cell; all agree to the last integer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from discreet.encoding import Cells
from discreet.schema import Schema
from discreet.statistics import ExactRows, ExactStatistics


class Source(Protocol):
    """A table about people, wherever it lives."""

    def check(self, schema: Schema) -> None:
        """Raise DataError if the columns do not fit the schema. Looks at structure only, never at a value."""
        ...

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count the records of each class in each cell. Never fails on a value."""
        ...

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """The codes of each record, in blocks, for learners that need more than counts. Never fails on a value."""
        ...


__all__ = ["Source"]
