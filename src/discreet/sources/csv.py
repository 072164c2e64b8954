"""A CSV file, encoded and counted a block of lines at a time: larger than memory, no value is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from discreet.records import files
from discreet.records.csv_columns import TextColumn, delimiter_of, read_lines, split_columns
from discreet.records.csv_header import header
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.memory import MemorySource


class CsvSource:
    """A CSV file; each line after the first is a record, as `csv_lines` says."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def __repr__(self) -> str:
        return "CsvSource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Names of the columns; no record is looked at."""
        MemorySource(files.structure(self._path)).check(schema)

    def columns(self) -> list[str]:
        """Names of the columns."""
        return header(files.checked(self._path))

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count block by block: linear in rows and columns."""
        classes = len(schema.classes)
        sizes = {each: each.size(schema) for each in cells}
        counts = {each: np.zeros((classes + 1) * size, dtype=np.int64) for each, size in sizes.items()}
        for columns in self._blocks(cells, schema):
            label = columns[schema.target].class_codes(schema)
            for each, size in sizes.items():
                code = columns[each.column].codes(each, schema) + label * size
                counts[each] += np.bincount(code, minlength=(classes + 1) * size)
        return ExactStatistics(
            {each: flat.reshape(classes + 1, sizes[each])[:classes] for each, flat in counts.items()}
        )

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """Encode block by block, in the order of the file."""
        for columns in self._blocks(cells, schema):
            codes = {each: columns[each.column].codes(each, schema).astype(np.uint16) for each in cells}
            yield ExactRows(codes, columns[schema.target].class_codes(schema).astype(np.uint16))

    def _blocks(self, cells: Sequence[Cells], schema: Schema) -> Iterator[dict[str, TextColumn]]:
        """The columns that are asked for, by name."""
        self.check(schema)
        names, delimiter = self.columns(), delimiter_of(self._path)
        places = {name: names.index(name) for name in [*(each.column for each in cells), schema.target]}
        for lines in read_lines(self._path, len(names)):
            columns = split_columns(lines, set(places.values()), len(names), delimiter)
            yield {name: columns[place] for name, place in places.items()}
