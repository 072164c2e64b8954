"""A CSV file, encoded and counted a block of lines at a time: it may be larger than memory, and no value is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.records import files
from discreet.records.csv_columns import TextColumn, split_columns
from discreet.records.csv_header import header, header_and_delimiter
from discreet.records.csv_opening import Told, read_lines
from discreet.records.encoding import Cells, Codes
from discreet.records.tables import open_labelled
from discreet.records.values import Columns
from discreet.schema import Schema
from discreet.schema.dialect import USUAL, Dialect
from discreet.sources import Task
from discreet.sources.coding import CodedBlock, count_blocks, fold_rows, rows_of_blocks
from discreet.sources.exact import ExactRows, ExactStatistics


class CsvSource:
    """A CSV file; each line after the first is a record, as `csv_lines` defines it.

    `dialect` says how it is written; default: what the schema says, with which it is read.
    """

    told: Told | None = None
    """Is told how many bytes of how many a pass has read; may be set at any time."""

    def __init__(self, path: str | Path, dialect: Dialect | None = None) -> None:
        self._path, self._dialect = Path(path), dialect

    def __repr__(self) -> str:
        return "CsvSource(values hidden)"

    def declared(self, dialect: Dialect) -> CsvSource:
        """This file in its own dialect, or in the given one if none was named when it was opened."""
        source = CsvSource(self._path, self._dialect or dialect)
        source.told = self.told
        return source

    def check(self, schema: Schema) -> None:
        """Check the names of the columns; no record is looked at."""
        open_labelled(files.structure(self._path, self._dialect or schema.dialect), None, schema)

    def columns(self) -> list[str]:
        """Names of the columns."""
        return header(files.checked(self._path), self._dialect or USUAL)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count block by block."""
        return count_blocks(self._blocks(cells, schema), cells, schema)

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """Encode block by block, in the order of the file."""
        return rows_of_blocks(self._blocks(cells, schema), cells)

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Add up block by block."""
        return fold_rows(self.rows(cells, schema), task)

    def structure(self) -> Columns:
        """The columns without a record."""
        return files.structure(self._path, self._dialect or USUAL)

    def values(self, names: Sequence[str], numbers: Collection[str] = ()) -> Iterator[Columns]:
        """The texts of some columns, block by block, in the order of the file."""
        return files.read_blocks(self._path, names=names, numbers=numbers, dialect=self._dialect or USUAL)

    def _blocks(self, cells: Sequence[Cells], schema: Schema) -> Iterator[CodedBlock]:
        self.check(schema)
        dialect = self._dialect or schema.dialect
        names, delimiter = header_and_delimiter(self._path, dialect)
        places = {name: names.index(name) for name in [*(each.column for each in cells), schema.target]}
        for lines in read_lines(self._path, len(names), delimiter, dialect, self.told):
            columns = split_columns(lines, set(places.values()), len(names), delimiter, dialect.decimal)

            def encode(each: Cells, columns: dict[int, TextColumn] = columns) -> Codes:
                return columns[places[each.column]].codes(each, schema)

            yield encode, columns[places[schema.target]].class_codes(schema)
