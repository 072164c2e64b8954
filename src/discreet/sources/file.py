"""Data files as sources: CSV line by line, Parquet files by Arrow batches, sheets of Excel, tables of a DuckDB file."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path

from discreet.errors import FileError, MissingExtra, ParameterError
from discreet.records import files
from discreet.schema.dialect import Dialect
from discreet.sources import Source
from discreet.sources.csv import CsvSource
from discreet.sources.duckdb import DATABASES, DuckDBSource
from discreet.sources.parquet import ParquetSource
from discreet.sources.sheet import SheetSource

MARKS = "*?["
"""What makes a path a pattern, unless there is a file of this very name."""


def open_file(path: str | Path, table: str | None = None, *, dialect: Dialect | None = None) -> Source:
    """A .csv, .csv.gz, .xlsx, .parquet or .duckdb file as a source.

    `table` names the table of a .duckdb file, or the sheet of an .xlsx file (default: the first). `dialect` says how a
    CSV file is written, for instance `Dialect(decimal=",", encoding="latin-1")`; default: as the schema says.

    Several Parquet files with the same columns are one table: give their folder, or a pattern such as
    `data/*.parquet`. The list of files is taken now, and is public. Folders inside the folder are not read, and names
    such as "year=2024" do not become columns.

    >>> from discreet.sources.file import open_file  # doctest: +SKIP
    >>> NaiveBayes(schema, epsilon=1).fit_from(open_file("patients.parquet"))  # doctest: +SKIP
    """
    path = Path(path)
    if path.suffix.lower() in DATABASES and path.is_file():
        if find_spec("duckdb") is None:
            raise MissingExtra("duckdb")
        if not table:
            raise ParameterError(f"{path} is a database; name its table (--table NAME)")
        return DuckDBSource(path, table=table)
    if table and not files.is_sheet(path):
        raise ParameterError(f"table={table!r} is for .duckdb and .xlsx files; {path} is neither: leave --table out")
    if is_list(path):
        return ParquetSource(listed(path), listing=partial(listed, path))
    path = files.checked(path)
    if files.is_sheet(path):
        return SheetSource(path, table)
    return CsvSource(path, dialect) if files.is_text(path) else ParquetSource(path)


def is_list(path: Path) -> bool:
    """Whether a path stands for several files: a folder, or a pattern that is not the name of a file."""
    return path.is_dir() or (not path.exists() and any(mark in str(path) for mark in MARKS))


def listed(path: Path) -> list[Path]:
    """The Parquet files in a folder, or those that a pattern names, in the order of their names; at least one."""
    if path.is_dir():
        found = [each for each in path.iterdir() if not each.name.startswith((".", "_"))]
        found = [each for each in found if each.suffix.lower() in files.PARQUET_FILES and each.is_file()]
        if not found:
            raise FileError(
                f"{path} is a folder without .parquet files; need a .csv or .parquet file, or a folder of the latter. "
                "Folders inside it are not read (give a pattern, such as 'data/*/*.parquet')"
            )
        return sorted(found)
    start = Path(path.anchor) if path.is_absolute() else Path()
    try:
        found = [each for each in start.glob(str(path.relative_to(start))) if each.is_file()]
    except (ValueError, NotImplementedError):  # not a pattern
        found = []
    if not found or _is_read_otherwise(path):
        raise FileError(f"cannot read {path}: no file has such a name; check the pattern")
    strange = [each for each in found if each.suffix.lower() not in files.PARQUET_FILES]
    if strange:
        raise FileError(f"{path} also names {strange[0].name}, which is not .parquet; a list holds Parquet files only")
    return sorted(found)


def _is_read_otherwise(pattern: Path) -> bool:
    """Whether versions of Python take a pattern for different files: from 3.13 on, `***` and `a**` are patterns, and a
    last `**` names files."""
    return pattern.name == "**" or any("**" in part and part != "**" for part in pattern.parts)
