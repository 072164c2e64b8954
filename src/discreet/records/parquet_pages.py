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
           `parquet_bodies`.
Test       tests/records/test_parquet_pages.py, tests/records/test_parquet_places.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

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


class ColumnPages:
    """The columns of a row group.

    Parameters
    ----------
    file : the open file, as pyarrow opens it.
    metadata : what the end of the file says.
    places : the place of each column among those of the file.
    types : the types of Arrow of the columns.
    left : names of the columns that were left to pyarrow, in this or in other row groups, and so will be.
    write_runs : `parquet_runs.write_runs`, compiled; without it, columns with a dictionary are left to pyarrow.
    memory : what columns are read into.
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
    ) -> None:
        from pyarrow import Codec

        self._file, self._group, self._places, self._types = file, metadata.row_group(group), places, types
        self._left, self._runs = left, write_runs
        self._levels = metadata.schema
        self._codec, self._pool = Codec("snappy"), decompressing_pool()
        self._memory = PageMemory() if memory is None else memory

    def may_hold(self, name: str) -> bool:
        """Whether this is a column of numbers, or of texts with a dictionary. Its name has no dot, as those inside
        structs do."""
        place, kind = self._places.get(name), KINDS.get(str(self._types[name]))
        if place is None or kind is None or name in self._left or "." in name or sys.byteorder != "little":
            return False
        chunk, level = self._group.column(place), self._levels.column(place)
        is_plain = chunk.dictionary_page_offset is None
        return (
            (kind.values is not None if is_plain else self._runs is not None)
            and chunk.compression in ("SNAPPY", "UNCOMPRESSED")
            and (chunk.physical_type, chunk.num_values) == (kind.stored, self._group.num_rows)
            and level.max_repetition_level == 0
            and level.max_definition_level <= 1
        )

    def read(self, name: str, *, kept: bool = False) -> NDArray[Any] | Distinct | None:
        """A column; None if it is to be left to pyarrow. It is valid until another column is read; one that is `kept`,
        until the same column of another row group is."""
        try:
            if self.may_hold(name):
                chunk = self._group.column(self._places[name])
                if chunk.dictionary_page_offset is None:
                    return self._numbers(name, chunk)
                return self._coded(name, chunk, self._memory.places(name if kept else None, self._group.num_rows))
        except Exception:
            pass  # Unusual, and what the file or the decompression raises
        self._left.add(name)
        return None

    def _numbers(self, name: str, chunk: Any) -> NDArray[Any]:
        kind = KINDS[str(self._types[name])].values
        most = self._group.num_rows * np.dtype(kind).itemsize + SLACK
        levels = self._has_levels(name)
        pages = [plain_numbers(body, header[5], kind, levels) for header, body in self._pages(chunk, most)]
        return pages[0] if len(pages) == 1 else np.concatenate(pages)

    def _coded(self, name: str, chunk: Any, places: NDArray[np.int32]) -> Distinct:
        pages = self._pages(chunk, len(places) * places.itemsize + LARGEST + SLACK)
        header, body = next(pages)
        values = dictionary_values(body, header[7], KINDS[str(self._types[name])].values)
        row, levels = 0, self._has_levels(name)
        for header, body in pages:
            part = places[row : row + header[5][1]]
            write_places(self._runs, body, header[5], len(values), part, levels)
            row += len(part)
        return Distinct(with_null(values, places), places)

    def _has_levels(self, name: str) -> bool:
        """Whether pages say of their values whether they are null."""
        return bool(self._levels.column(self._places[name]).max_definition_level == 1)

    def _pages(self, chunk: Any, most: int) -> Iterator[tuple[Struct, Any]]:
        """The headers and bodies of all pages; a dictionary comes first, if there is one."""
        rows, start = self._group.num_rows, chunk.dictionary_page_offset
        kind = DATA if start is None else DICTIONARY
        stored, place = self._bytes(chunk.data_page_offset if start is None else start, chunk, most), 0
        while place < len(stored):
            header, place = _header(stored, place)
            size, end = header[2], place + header[3]
            if header[1] != kind or not 0 <= size <= most or not place <= end <= len(stored):
                raise Unusual
            if kind == DATA:
                if not min(LEAST, self._group.num_rows) <= header[5][1] <= rows:
                    raise Unusual
                rows -= header[5][1]
            yield header, self._body(stored[place:end], size, chunk.compression)
            kind, place = DATA, end
        if rows:
            raise Unusual

    def _bytes(self, start: int, chunk: Any, most: int) -> memoryview:
        """A part of the file."""
        length = chunk.total_compressed_size
        if start < 0 or not 0 <= length <= most:
            raise Unusual
        part = self._memory.stored(length)
        self._file.seek(start)
        if self._file.readinto(part) != length:
            raise Unusual
        return part

    def _body(self, page: memoryview, size: int, compression: str) -> Any:
        """The `size` bytes of a page, in memory of their own."""
        if compression == "UNCOMPRESSED":
            if len(page) != size:
                raise Unusual
            return bytes(page)
        if varint(page, 0)[0] != size:  # snappy begins with the length
            raise Unusual
        return self._codec.decompress(page, size, memory_pool=self._pool)


def _header(stored: memoryview, start: int) -> tuple[Struct, int]:
    """A header that has what every one has, as pyarrow reads no other; and the place after it."""
    header, length = read_struct(stored[start : start + HEADER], 0)
    stated, fields = (header[7], 2) if header[1] == DICTIONARY else (header[5], 4)
    needed = [*map(header.get, range(1, 4)), *map(stated.get, range(1, fields + 1))]
    if not all(isinstance(each, int) for each in needed):
        raise Unusual
    return header, start + length
