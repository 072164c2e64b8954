"""The first line of a CSV file: the names of its columns."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import FileError
from discreet.records.csv_lines import LONGEST_LINE, field_text, fields_of, has_open_quote
from discreet.records.csv_opening import delimiter_in, read_header
from discreet.schema.dialect import USUAL, Dialect


def header(path: Path, dialect: Dialect = USUAL) -> list[str]:
    """The column names in the first line of a CSV file. Messages do not quote it: it may be a record by mistake."""
    return names_in(read_header(path, dialect), path, dialect)


def header_and_delimiter(path: Path, dialect: Dialect = USUAL) -> tuple[list[str], bytes]:
    """The column names, and what separates them."""
    line = read_header(path, dialect)
    return names_in(line, path, dialect), delimiter_in(line, path, dialect)


def names_in(line: bytes, path: Path, dialect: Dialect = USUAL) -> list[str]:
    """The column names in this first line of the file `path`."""
    delimiter = delimiter_in(line, path, dialect)
    _check_header(path, line, delimiter)
    fields = fields_of(line, delimiter, line.count(delimiter) + 1)
    first = [str(field_text(field)) for field in fields if field is not None]
    if any(mark in name for name in first for mark in ("\0", "\ufffd")):
        raise FileError(
            f"{path} is not {dialect.encoding.upper()} text; save it as UTF-8, or name its encoding "
            "(--encoding latin-1)"
        )
    names = [name.strip() or f"column{position}" for position, name in enumerate(first)]
    places: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if places.setdefault(name.casefold(), position) != position:
            raise FileError(
                f"{path}: two columns of the first line have the same name (upper and lower case count as the same); "
                "need a header row with different names"
            )
    return names


def _check_header(path: Path, line: bytes, delimiter: bytes) -> None:
    if not line:
        raise FileError(f"{path} has no header: its first line is empty; need a first line with the column names")
    if len(line) > LONGEST_LINE:
        raise FileError(f"the first line of {path} is longer than {LONGEST_LINE} bytes; need a line with column names")
    if b"\r" in line:
        raise FileError(
            f"{path}: the first line holds a carriage return; lines have to end with LF or CR LF, not with CR alone: "
            "save the file with such line ends, or convert it to Parquet"
        )
    if has_open_quote(line, delimiter):
        raise FileError(
            f"{path}: a quote in the first line is not closed; a column name has to stand on one line: rename the "
            "column, or convert the file to Parquet"
        )
