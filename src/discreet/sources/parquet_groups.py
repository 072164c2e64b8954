"""A row group of a Parquet file: its columns are read straight from the file where that can be, or by pyarrow."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from discreet.errors import FileError
from discreet.records.arrow_values import arrow_module
from discreet.records.parquet import open_parquet
from discreet.records.parquet_memory import PageMemory
from discreet.records.parquet_pages import ColumnPages
from discreet.records.parquet_soundness import is_sound

BUFFER = 1 << 16
"""Bytes of a column that are read at a time: a row group may be as large as the file."""
UNREAD = "a file cannot be read as Parquet; check that it is whole and free memory"


class Part(NamedTuple):
    """A row group of a file, how many of its records are read at a time, how its columns are compressed in the first
    row group of the file, and whether the records may be read all at once, a block of columns after another."""

    path: Path
    group: int
    rows: int
    metadata: Any
    places: dict[str, int]
    codecs: dict[str, str]
    is_small: bool = False

    @property
    def records(self) -> int:
        """How many records it has."""
        return int(self.metadata.row_group(self.group).num_rows)

    def batches(self, rows: int, names: list[str], dictionaries: list[str], *, helped: bool) -> Iterator[Any]:
        """Its records, `rows` at a time."""
        return self.read(self.open(dictionaries), rows, names, helped=helped)

    def pages(
        self, types: dict[str, Any], left: set[str], write_runs: Callable[..., int], memory: PageMemory
    ) -> ColumnPages | None:
        """Its columns that can be taken straight from the file; None if its description is damaged."""
        file = arrow_module().OSFile(os.fsencode(self.path))
        codecs = self.codecs
        if "UNCOMPRESSED" in codecs.values():  # that decompressing fails tells all others from these, which are asked
            if not is_sound(self.metadata, file.size(), list(codecs), [self.group]):
                return None
            stored = self.metadata.row_group(self.group)
            codecs = {name: stored.column(self.places[name]).compression for name in codecs}
        return ColumnPages(file, self.metadata, self.group, self.places, types, left, write_runs, memory, codecs)

    def open(self, dictionaries: list[str]) -> Any:
        """The file."""
        return open_parquet(self.path, dictionaries, BUFFER, self.metadata)

    def read(self, file: Any, rows: int, names: list[str], *, helped: bool) -> Iterator[Any]:
        """Some columns of its records, `rows` records at a time."""
        batches: Iterator[Any] = file.iter_batches(rows, row_groups=[self.group], columns=names, use_threads=helped)
        return batches


class GroupColumns:
    """Reads columns of a row group, all of their records: straight from the file where `pages` can, or by pyarrow."""

    def __init__(self, part: Part, texts: list[str], pages: ColumnPages | None) -> None:
        self._part, self._texts, self._pages, self._file = part, texts, pages, None

    def may_take(self, name: str) -> bool:
        """Whether this column may be one that is taken straight from the file."""
        return self._pages is not None and self._pages.may_hold(name)

    def taken(self, names: list[str], *, kept: bool) -> dict[str, Any]:
        """Those of the columns that are taken straight from the file; `kept` while others are read."""
        read = {name: self._pages.read(name, kept=kept) for name in names} if self._pages is not None else {}
        return {name: column for name, column in read.items() if column is not None}

    def read(self, names: list[str]) -> dict[str, Any]:
        """Columns, as pyarrow gives them or as ColumnPages does; one alone is taken straight from the file if it can
        be."""
        found = self.taken(names, kept=False) if len(names) == 1 else {}
        if found or not names:
            return found
        if self._file is None:
            self._file = self._part.open(self._texts)
        (batch,) = self._part.read(self._file, self._part.records, names, helped=False)
        if batch.num_rows != self._part.records:
            raise FileError(UNREAD)
        return {name: batch.column(name) for name in names}


class Whole:
    """A row group as a batch: some of its columns are there, and a block of others is read when one of them is asked
    for. Who asks holds `turn`, if there is one, which is let go meanwhile.
    """

    def __init__(
        self,
        part: Part,
        first: dict[str, Any],
        blocks: list[list[str]],
        read: Callable[[list[str]], dict[str, Any]],
        turn: threading.Semaphore | None,
    ) -> None:
        self._first, self._read, self._turn, self.num_rows = first, read, turn, part.records
        self._blocks = {name: block for block in blocks for name in block}
        self._last: dict[str, Any] = {}

    def column(self, name: str) -> Any:
        """A column, as an Arrow array or as an array of numbers."""
        if name in self._first:
            return self._first[name]
        if name not in self._last:
            self._last = {}  # before others are read
            if self._turn is not None:
                self._turn.release()
            try:
                self._last = self._read(self._blocks[name])
            except Exception:
                pass  # a reader's message may quote a value
            finally:
                if self._turn is not None:
                    self._turn.acquire()
        if name not in self._last:
            raise FileError(UNREAD)
        return self._last[name]
