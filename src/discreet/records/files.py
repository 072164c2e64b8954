"""CSV, Parquet and Excel files as blocks of columns in memory.

How a file is read must not depend on its records: column names come from the first line, nothing is guessed from the
rows, and no row can make reading fail. `csv_lines` defines what a record of a CSV file is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError
from discreet.records.csv_columns import split_columns
from discreet.records.csv_header import header, header_and_delimiter
from discreet.records.csv_opening import TEXT_FILES, kind_of, read_lines
from discreet.records.parquet import parquet_blocks, parquet_structure
from discreet.records.sheets import SHEETS, sheet_blocks, sheet_structure
from discreet.records.values import Columns
from discreet.schema.dialect import USUAL, Dialect

Block = Columns
"""The columns of some consecutive records."""

PARQUET_FILES = (".parquet", ".pq")
ROWS = 50_000
"""Records per block: bounds the memory that a large file needs."""


def read_blocks(
    path: str | Path,
    rows: int = ROWS,
    names: Sequence[str] | None = None,
    numbers: Collection[str] = (),
    dialect: Dialect = USUAL,
    sheet: str | None = None,
) -> Iterator[Block]:
    """The file's columns, at most `rows` records at a time, in the order of the file.

    There is at least one block, which tells the columns of an empty file too. With `names`, only these columns are
    read, as far as the file has them: an engine might fail to read a value of another column.

    The columns of a CSV file hold texts, None where a line ends before the column, and b"" where a line is too long.
    Those in `numbers` hold the numbers that these stand for, NaN for all else, which is faster.
    """
    path = checked(path)
    if is_text(path):
        return _csv_blocks(path, rows, names, numbers, dialect)
    return sheet_blocks(path, rows, names, sheet) if is_sheet(path) else parquet_blocks(path, rows, names)


def read_columns(path: str | Path, dialect: Dialect = USUAL, numbers: Collection[str] = ()) -> Block:
    """The whole file as columns in memory. Equal texts of a column share one object, which saves memory and time.

    Where numbers have a decimal comma, the columns in `numbers` come as numbers.
    """
    blocks = list(read_blocks(path, numbers=numbers if dialect.decimal == "," else (), dialect=dialect))
    return {name: _pooled(np.concatenate([block[name] for block in blocks])) for name in blocks[0]}


def _pooled(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype == object:
        pool: dict[Any, Any] = {}
        for place, value in enumerate(column.tolist()):
            if isinstance(value, str):
                column[place] = pool.setdefault(value, value)
    return column


def structure(path: str | Path, dialect: Dialect = USUAL, sheet: str | None = None) -> Block:
    """The columns without a row: names and types, no value is read."""
    path = checked(path)
    if is_text(path):
        return {name: np.empty(0, dtype=object) for name in header(path, dialect)}
    if is_sheet(path):
        return sheet_structure(path, sheet)
    return parquet_structure(path)


def checked(path: str | Path) -> Path:
    """The path as a Path; FileError unless it is an existing CSV, Parquet or Excel file, by its name."""
    path = Path(path)
    if path.is_dir():
        raise FileError(f"{path} is a folder; need a .csv or .parquet file")
    if not path.is_file():
        raise FileError(f"cannot read {path}: no such file; check the path")
    if kind_of(path) not in (*TEXT_FILES, *PARQUET_FILES, *SHEETS):
        raise FileError(f"{path} is neither .csv, .csv.gz, .xlsx nor .parquet; convert it to one of these")
    return path


def is_text(path: Path) -> bool:
    """Whether the file is a CSV file, by its name."""
    return kind_of(path) in TEXT_FILES


def is_sheet(path: Path) -> bool:
    """Whether the file is an Excel file, by its name."""
    return kind_of(path) in SHEETS


def file_hash(path: Path, remedy: str = "check the path") -> str:
    """SHA-256 of the bytes of a file; FileError, with what to do, if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; {remedy}") from None


def _csv_blocks(
    path: Path, rows: int, wanted: Sequence[str] | None, numbers: Collection[str], dialect: Dialect
) -> Iterator[Block]:
    present, delimiter = header_and_delimiter(path, dialect)
    names = {name: place for place, name in enumerate(present) if wanted is None or name in wanted}
    yielded = False
    for lines in read_lines(path, len(present), delimiter, dialect):
        columns = split_columns(lines, names.values(), len(present), delimiter, dialect.decimal)
        values = {
            name: columns[place].numbers if name in numbers else columns[place].values()
            for name, place in names.items()
        }
        for start in range(0, len(lines), rows):
            yielded = True
            yield {name: column[start : start + rows] for name, column in values.items()}
    if not yielded:
        yield {name: np.empty(0, dtype=object) for name in names}
