"""Data files as sources: CSV line by line, Parquet inside DuckDB, or block by block if DuckDB is not installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from discreet.errors import MissingExtra, ParameterError
from discreet.records import files
from discreet.sources import Source
from discreet.sources.blocks import BlockSource
from discreet.sources.csv import CsvSource
from discreet.sources.duckdb import DATABASES, DuckDBSource


class FileSource(BlockSource):
    """A CSV or Parquet file counted in memory, a block at a time."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(lambda schema: files.read_blocks(path, names=schema.all_names), lambda: files.structure(path))


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
        raise ParameterError(f"table={table!r} is for .duckdb files; {path} is not one: leave --table out")
    path = files.checked(path)
    if files.is_text(path):
        return CsvSource(path)
    return DuckDBSource(path) if has_duckdb else FileSource(path)
