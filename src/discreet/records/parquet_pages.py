"""Columns taken straight from the pages of a Parquet file, where these are as simple as most are.

pyarrow looks at the level of each value, which says whether it is null, and that takes as long as counting it. Most
files say once for a page that nothing is null. Where values have a dictionary, pyarrow looks up each of them, though
only the places in the dictionary are needed. Whatever else is in a column chunk is left to pyarrow, and so is what
looks damaged.

Guarantee  `ColumnPages.read` gives what pyarrow would give for the same bytes, or None: an array of numbers, or the
           distinct values with the place of each record among them. No bytes make it fail, and it takes little more
           memory than the values of the row group take, three times.
Proof      a length is compared with what is there before it is used; the pages have to use up the bytes of the column
           chunk, and their values have to be as many as the row group has records. What is compressed states the
           length of what it was, and is checked against it by the decompression. What is inside a page:
           `parquet_bodies`. (Of a column whose compression is damaged in one row group alone, and only named there
           otherwise than it is, these are the values that were written, where pyarrow fails.)
Test       tests/records/test_parquet_pages.py, tests/records/test_parquet_places.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.records.arrow_values import Distinct
from discreet.records.parquet_bodies import KINDS, dictionary_values, plain_numbers, with_null, write_places
from discreet.records.parquet_headers import HEADER, Struct, Unusual, read_struct, varint
from discreet.records.parquet_memory import PageMemory, decompressing_pool

DATA, DICTIONARY = 0, 2
"""A page of values, and one of distinct values."""
LEAST = 1 << 15
"""Of pages with fewer values than this, pyarrow reads the headers faster."""
SLACK = 1 << 16
"""Bytes that a column chunk may have besides its values: headers and levels."""
LARGEST = 1 << 20
"""Bytes of the largest dictionary: most writers write no larger one."""


class Chunk(NamedTuple):
    """What the end of a file says of a column of a row group: its values in numpy (None for texts), whether they have a
    dictionary, where its bytes begin and how many they are, and whether pages are compressed and say what is null."""

    kind: Any
    is_coded: bool
    start: int
    length: int
    is_compressed: bool
    has_levels: bool


class ColumnPages:
    """The columns of a row group.

    Parameters
    ----------
    file : the open file, as pyarrow opens it.
    metadata : what the end of the file says; it is sound (`parquet_soundness`).
    places : the place of each column among those of the file.
    types : the types of Arrow of the columns.
    left : names of the columns that were left to pyarrow, in this or in other row groups, and so will be.
    write_runs : `parquet_runs.write_runs`, compiled; without it, columns with a dictionary are left to pyarrow.
    memory : what columns are read into.
    codecs : how columns are compressed, by name; by default as `metadata` says.
    """

    def __init__(
        self,
        file: Any,
        metadata: Any,
        group: int,
        places: dict[str, int],
        types: dict[str, Any],
        left: set[str],
        write_runs: Callable[..., int] | None = None,
        memory: PageMemory | None = None,
        codecs: Mapping[str, str] | None = None,
    ) -> None:
        from pyarrow import Codec

        self._file, self._group, self._places, self._types = file, metadata.row_group(group), places, types
        self._rows: int = self._group.num_rows
        self._chunks: dict[str, Chunk | None] = {}
        self._reached = -1
        self._left, self._runs, self._codecs = left, write_runs, codecs
        self._levels = metadata.schema
        self._codec, self._pool = Codec("snappy"), decompressing_pool()
        self._memory = PageMemory() if memory is None else memory

    def may_hold(self, name: str) -> bool:
        """Whether this is a column of numbers, or of texts with a dictionary. Its name has no dot, as those inside
        structs do."""
        if name not in self._chunks:
            self._chunks[name] = self._chunk(name)
        return self._chunks[name] is not None and name not in self._left

    def _chunk(self, name: str) -> Chunk | None:
        place, kind = self._places.get(name), KINDS.get(str(self._types[name]))
        if place is None or kind is None or "." in name or sys.byteorder != "little":
            return None
        chunk, level = self._group.column(place), self._levels.column(place)
        start, levels = chunk.dictionary_page_offset, level.max_definition_level
        codec = chunk.compression if self._codecs is None else self._codecs.get(name)
        is_coded = start is not None
        if (
            (self._runs is None if is_coded else kind.values is None)
            or codec not in ("SNAPPY", "UNCOMPRESSED")
            or (chunk.physical_type, chunk.num_values) != (kind.stored, self._rows)
            or level.max_repetition_level != 0
            or levels > 1
        ):
            return None
        start = start if is_coded else chunk.data_page_offset
        return Chunk(kind.values, is_coded, start, chunk.total_compressed_size, codec == "SNAPPY", levels == 1)

    def read(self, name: str, *, kept: bool = False) -> NDArray[Any] | Distinct | None:
        """A column; None if it is to be left to pyarrow. It is valid until another column is read; one that is `kept`,
        until the same column of another row group is."""
        try:
            chunk = self._chunks[name] if self.may_hold(name) else None
            if chunk is not None:
                return self._coded(chunk, name if kept else None) if chunk.is_coded else self._numbers(chunk)
        except Exception:
            pass  # Unusual, and what the file or the decompression raises
        self._left.add(name)
        return None

    def _numbers(self, chunk: Chunk) -> NDArray[Any]:
        most = self._rows * np.dtype(chunk.kind).itemsize + SLACK
        pages = [
            plain_numbers(body, header[5], chunk.kind, chunk.has_levels) for header, body in self._pages(chunk, most)
        ]
        return pages[0] if len(pages) == 1 else np.concatenate(pages)

    def _coded(self, chunk: Chunk, memory: str | None) -> Distinct:
        places = self._memory.places(memory, self._rows)
        pages = self._pages(chunk, len(places) * places.itemsize + LARGEST + SLACK)
        header, body = next(pages)
        values, row = dictionary_values(body, header[7], chunk.kind), 0
        for header, body in pages:
            part = places[row : row + header[5][1]]
            write_places(self._runs, body, header[5], len(values), part, chunk.has_levels)
            row += len(part)
        return Distinct(with_null(values, places), places)

    def _pages(self, chunk: Chunk, most: int) -> Iterator[tuple[Struct, Any]]:
        """The headers and bodies of all pages; a dictionary comes first, if there is one."""
        rows, kind, place = self._rows, DICTIONARY if chunk.is_coded else DATA, 0
        stored = self._bytes(chunk.start, chunk.length, most)
        while place < len(stored):
            header, place = _header(stored, place)
            size, end = header[2], place + header[3]
            if header[1] != kind or not 0 <= size <= most or not place <= end <= len(stored):
                raise Unusual
            if kind == DATA:
                if not min(LEAST, self._rows) <= header[5][1] <= rows:
                    raise Unusual
                rows -= header[5][1]
            yield header, self._body(stored[place:end], size, chunk.is_compressed)
            kind, place = DATA, end
        if rows:
            raise Unusual

    def _bytes(self, start: int, length: int, most: int) -> memoryview:
        """A part of the file."""
        if start < 0 or not 0 <= length <= most:
            raise Unusual
        part = self._memory.stored(length)
        if self._reached != start:  # the next column follows, as a rule; and each operation lets another thread in
            self._file.seek(start)
        self._reached = -1
        if self._file.readinto(part) != length:
            raise Unusual
        self._reached = start + length
        return part

    def _body(self, page: memoryview, size: int, is_compressed: bool) -> Any:
        """The `size` bytes of a page, in memory of their own."""
        if not is_compressed:
            if len(page) != size:
                raise Unusual
            return bytes(page)
        if varint(page, 0)[0] != size:  # snappy begins with the length
            raise Unusual
        return self._codec.decompress(page, size, memory_pool=self._pool)


def _header(stored: memoryview, start: int) -> tuple[Struct, int]:
    """A header that has what every one has, as pyarrow reads no other; and the place after it."""
    header, length = read_struct(bytes(stored[start : start + HEADER]), 0)
    is_dictionary = header[1] == DICTIONARY
    stated = header[7 if is_dictionary else 5]
    needed = header[1], header[2], header[3], stated[1], stated[2], *(() if is_dictionary else (stated[3], stated[4]))
    if dict in map(type, needed):
        raise Unusual
    return header, start + length
