"""A sheet of an Excel file, encoded and counted like a table in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from discreet.records import files
from discreet.records.values import Columns
from discreet.schema import Schema
from discreet.sources.blocks import Block, BlockSource


class SheetSource(BlockSource):
    """A sheet of an Excel file; each row after the first is a record, as `records/sheets.py` defines it.

    Parameters
    ----------
    path : an .xlsx file.
    sheet : the name of the sheet; default: the first one.
    """

    def __init__(self, path: str | Path, sheet: str | None = None) -> None:
        super().__init__(self._read, self.structure)
        self._path, self._sheet = Path(path), sheet

    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.structure())

    def structure(self) -> Columns:
        """The columns without a record."""
        return files.structure(self._path, sheet=self._sheet)

    def values(self, names: Sequence[str], numbers: Collection[str] = ()) -> Iterator[Columns]:
        """The values of some columns, in the order of the sheet."""
        return files.read_blocks(self._path, names=names, sheet=self._sheet)

    def _read(self, schema: Schema) -> Iterator[Block]:
        self.check(schema)
        return files.read_blocks(self._path, names=schema.all_names, sheet=self._sheet)
