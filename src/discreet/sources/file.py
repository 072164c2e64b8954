"""Data files as sources: CSV line by line, Parquet inside DuckDB, or in memory where DuckDB is not installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from discreet import files
from discreet.encoding import Cells
from discreet.errors import MissingExtra, ParameterError
from discreet.schema import Schema
from discreet.sources import Source
from discreet.sources.csv import CsvSource
from discreet.sources.duckdb import DuckDBSource
from discreet.sources.memory import MemorySource
from discreet.statistics import ExactRows, ExactStatistics

DATABASES = (".duckdb", ".db")


class FileSource:
    """A CSV or Parquet file counted in memory, a block at a time."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def __repr__(self) -> str:
        return "FileSource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Names and types of the columns; no value is looked at."""
        MemorySource(files.structure(self._path)).check(schema)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """The counts of the blocks, added."""
        blocks = files.read_blocks(self._path)
        counted = MemorySource(next(blocks)).count(cells, schema)
        for block in blocks:
            counted += MemorySource(block).count(cells, schema)
        return counted

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """The rows of the blocks, one block after another."""
        for block in files.read_blocks(self._path):
            yield from MemorySource(block).rows(cells, schema)


def open_file(path: str | Path, table: str | None = None) -> Source:
    """A .csv, .parquet or .duckdb file as a source; `table` names the table of a .duckdb file.

    >>> from discreet.sources.file import open_file  # doctest: +SKIP
    >>> NaiveBayes(schema, epsilon=1).fit_from(open_file("patients.parquet"))  # doctest: +SKIP
    """
    path, has_duckdb = Path(path), find_spec("duckdb") is not None
    if path.suffix.lower() in DATABASES and path.is_file():
        if not has_duckdb:
            raise MissingExtra("duckdb")
        if not table:
            raise ParameterError(f"{path} is a database; name its table (--table NAME)")
        return DuckDBSource(path, table=table)
    if table:
        raise ParameterError(f"table={table!r} is for .duckdb files; {path} is none: leave --table out")
    path = files.checked(path)
    if files.is_text(path):
        return CsvSource(path)
    return DuckDBSource(path) if has_duckdb else FileSource(path)
