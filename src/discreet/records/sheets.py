"""Excel files: the rows of one sheet, read by the package calamine, which is an extra.

The first row names the columns; each later row that has a cell is a record. Cells beyond the last name are dropped, and
a cell that is empty, or holds an error such as #N/A, is missing. Numbers, texts and truth values are those that Excel
stores, whatever it shows; a date is neither a number nor a text.

Guarantee  adding a row of any cells to a sheet, anywhere after the first row, leaves the records of all other rows as
           they are and adds at most one record.
Proof      the names and their positions come from the first row of the sheet. A record is made of the cells of its row
           at these positions, and of nothing else.
Limits     a sheet is read as a rectangle that is held in memory. One of more than `MOST_CELLS` cells, which a single
           cell far from all others can cause, is refused when the file is opened, before anything is charged.
Rests on   calamine giving each cell by its own content: if it cannot read a file, no record is read.
Test       tests/records/test_sheets.py::test_a_row_is_read_by_itself
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import FileError, MissingExtra
from discreet.records.values import Columns, objects
from discreet.schema.columns import text_of

SHEETS = (".xlsx",)
MOST_CELLS = 10**8
"""The most cells of the rectangle from the first cell to the last column and row (calamine takes 32 bytes for each)."""
CELL = re.compile(rb'<(?:\w+:)?c\s(?:[^<>]*\s)?r="([A-Z]{1,3})([0-9]{1,7})"[^<>]*(?<!/)>')
"""A cell that holds something, and its place: its column in letters, and its row."""
CHUNK = 1 << 20
LONGEST_CELL = 1 << 12
"""Bytes of a cell's opening tag that may lie in two chunks."""


def sheet_blocks(path: Path, rows: int, wanted: Sequence[str] | None, sheet: str | None = None) -> Iterator[Columns]:
    """The columns of a sheet, at most `rows` records at a time; at least one block, which may have no record."""
    content = _rows(path, sheet)
    places = {name: place for name, place in _names(path, content).items() if wanted is None or name in wanted}
    records = [row for row in content[1:] if any(cell != "" for cell in row)]
    for start in range(0, max(len(records), 1), rows):
        part = records[start : start + rows]
        yield {name: objects(_value(row[place]) for row in part) for name, place in places.items()}


def sheet_structure(path: Path, sheet: str | None = None) -> Columns:
    """The columns of a sheet without a record."""
    return {name: np.empty(0, dtype=object) for name in _names(path, _rows(path, sheet, most=1))}


def _value(cell: Any) -> Any:
    return None if isinstance(cell, str) and cell == "" else cell


def _rows(path: Path, sheet: str | None, most: int | None = None) -> list[list[Any]]:
    """The rows of the sheet, all of the same length; the first sheet if none is named."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise MissingExtra("excel") from None
    _check_extent(path)
    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            names = list(book.sheet_names)
            chosen = names[0] if sheet is None and names else sheet
            if chosen in names:
                table = book.get_sheet_by_name(str(chosen))
                return list(table.to_python(skip_empty_area=False, nrows=most))
    except Exception:  # its message may quote a cell
        raise FileError(
            f"{path} cannot be read as an Excel file; open it in Excel and save it as .xlsx again"
        ) from None
    raise FileError(f"{path} has no sheet {sheet!r}; name one of its sheets (--table), or leave --table out")


def _check_extent(path: Path) -> None:
    """Raise FileError if a sheet is too large to be held: calamine would end the process."""
    try:
        stat = path.stat()
        most = _most_cells(path, stat.st_mtime_ns, stat.st_size)
    except Exception:  # not a file of Excel: calamine refuses it too
        return
    if most > MOST_CELLS:
        raise FileError(
            f"{path}: a sheet reaches over more than {MOST_CELLS:,} cells, perhaps by one cell far from all others; "
            "delete the rows and columns after the table, or save the sheet as .csv"
        )


@lru_cache(maxsize=8)  # a command opens a file several times; another time or size is another file
def _most_cells(path: Path, changed: int, size: int) -> int:
    """The number of cells in the rectangle of the largest sheet."""
    with zipfile.ZipFile(path) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/") and name.endswith(".xml")]
        return max((_cells_of(archive, name) for name in sheets), default=0)


def _cells_of(archive: zipfile.ZipFile, name: str) -> int:
    columns, row, rest = set[bytes](), 0, b""
    with archive.open(name) as file:
        while chunk := file.read(CHUNK):
            found = CELL.findall(rest + chunk)
            columns.update(column for column, _ in found)
            row = max([row, *(int(number) for _, number in found)])
            rest = (rest + chunk)[-LONGEST_CELL:]
    return row * max(map(_column_number, columns), default=0)


def _column_number(letters: bytes) -> int:
    """The number of a column, from 1.

    >>> _column_number(b"A"), _column_number(b"AA"), _column_number(b"XFD")
    (1, 27, 16384)
    """
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _names(path: Path, content: list[list[Any]]) -> dict[str, int]:
    """The column names in the first row, and where they stand."""
    first = [_text(cell).strip() for cell in content[0]] if content else []
    while first and not first[-1]:
        first.pop()
    if not first:
        raise FileError(f"{path} has no header: its first row is empty; need a first row with the column names")
    names = [name or f"column{place}" for place, name in enumerate(first)]
    if len({name.casefold() for name in names}) < len(names):
        raise FileError(
            f"{path}: two columns of the first row have the same name (upper and lower case count as the same); need "
            "a header row with different names"
        )
    return {name: place for place, name in enumerate(names)}


def _text(cell: Any) -> str:
    return text_of(cell) if isinstance(cell, str | int | float | bool) else str(cell)
