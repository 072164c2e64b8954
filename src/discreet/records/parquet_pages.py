"""Numbers taken straight from the pages of a Parquet file, where they lie there one after another.

pyarrow looks at the level of each value, which says whether it is null, and that takes as long as counting it. Most
files say once for a page that nothing is null. Whatever else is in a column chunk is left to pyarrow, and so is what
looks damaged.

Guarantee  `PlainPages.read` gives the array that pyarrow would give for the same bytes, or None. No bytes make it
           fail, and it takes little more memory than the values of the row group take, three times.
Proof      a length is compared with what is there before it is used; the pages have to use up the bytes of the column
           chunk, and their values have to be as many as the row group has records. One run of levels says of all
           values of a page that they are there. What is compressed states the length of what it was, and is checked
           against it by the decompression. The array is these bytes, read as the type that they have in the file.
Test       tests/records/test_parquet_pages.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.parquet_headers import HEADER, Struct, Unusual, read_struct, varint

NUMBERS = {
    "float": ("FLOAT", np.float32), "double": ("DOUBLE", np.float64),
    "int32": ("INT32", np.int32), "uint32": ("INT32", np.uint32),
    "int64": ("INT64", np.int64), "uint64": ("INT64", np.uint64),
}  # fmt: skip
"""Types of Arrow whose values have the same bytes in the file, with their types there and in numpy."""
DATA, PLAIN, RUNS = 0, 0, 3
"""A page of values; values one after another; levels in runs."""
LEAST = 1 << 15
"""Of pages with fewer values than this, pyarrow reads the headers faster."""
SLACK = 1 << 16
"""Bytes that a column chunk may have besides its values: headers and levels."""


class PlainPages:
    """The columns of a row group.

    Parameters
    ----------
    file : the open file, as pyarrow opens it.
    metadata : what the end of the file says.
    places : the place of each column among those of the file.
    types : the types of Arrow of the columns.
    left : names of the columns that were left to pyarrow, in this or in other row groups, and so will be.
    """

    def __init__(
        self, file: Any, metadata: Any, group: int, places: dict[str, int], types: dict[str, Any], left: set[str]
    ) -> None:
        from pyarrow import Codec

        self._file, self._group, self._places, self._types = file, metadata.row_group(group), places, types
        self._left = left
        self._levels = metadata.schema
        self._codec = Codec("snappy")
        self._stored = bytearray()

    def may_hold(self, name: str) -> bool:
        """Whether this is a column of numbers without a dictionary. Its name has no dot, as those inside structs do."""
        place, known = self._places.get(name), NUMBERS.get(str(self._types[name]))
        if place is None or known is None or name in self._left or "." in name or sys.byteorder != "little":
            return False
        chunk, level = self._group.column(place), self._levels.column(place)
        return (
            chunk.dictionary_page_offset is None
            and chunk.compression in ("SNAPPY", "UNCOMPRESSED")
            and (chunk.physical_type, chunk.num_values) == (known[0], self._group.num_rows)
            and level.max_repetition_level == 0
            and level.max_definition_level <= 1
        )

    def read(self, name: str) -> NDArray[Any] | None:
        """A column; None if it is to be left to pyarrow."""
        try:
            pages = list(self._pages(name)) if self.may_hold(name) else []
            if pages and sum(map(len, pages)) == self._group.num_rows:
                return pages[0] if len(pages) == 1 else np.concatenate(pages)
        except Exception:
            pass  # Unusual, and what the file or the decompression raises
        self._left.add(name)
        return None

    def _pages(self, name: str) -> Iterator[NDArray[Any]]:
        place = self._places[name]
        chunk, kind = self._group.column(place), np.dtype(NUMBERS[str(self._types[name])][1])
        is_optional = self._levels.column(place).max_definition_level == 1
        most = self._group.num_rows * kind.itemsize + SLACK
        stored, start = self._bytes(chunk.data_page_offset, chunk.total_compressed_size, most), 0
        rows = self._group.num_rows
        while start < len(stored):
            header, start = _header(stored, start)
            size, end = header[2], start + header[3]
            if not min(LEAST, self._group.num_rows) <= header[5][1] <= rows:
                raise Unusual
            rows -= header[5][1]
            if header[1] != DATA or not 0 <= size <= most or not start <= end <= len(stored):
                raise Unusual
            body = self._body(stored[start:end], size, chunk.compression)
            yield _numbers(body, header[5], kind, is_optional=is_optional)
            start = end

    def _bytes(self, start: int, length: int, most: int) -> memoryview:
        """A part of the file, in memory that is used again: new memory would take longer than to read."""
        if start < 0 or not 0 <= length <= most:
            raise Unusual
        if len(self._stored) < length:
            self._stored = bytearray(length + SLACK)  # the next column may be somewhat longer
        part = memoryview(self._stored)[:length]
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
        return self._codec.decompress(page, size)


def _header(stored: memoryview, start: int) -> tuple[Struct, int]:
    header, length = read_struct(stored[start : start + HEADER], 0)
    return header, start + length


def _numbers(body: Any, stated: Struct, kind: np.dtype[Any], *, is_optional: bool) -> NDArray[Any]:
    """The values of a page whose header states their number (1), and the encodings of them (2) and of levels (3)."""
    count, start = stated[1], 0
    if is_optional:
        head = bytes(memoryview(body)[:16])
        run, place = varint(head, 4)
        start = place + 1
        if (
            stated[3] != RUNS
            or (run, head[place]) != (count << 1, 1)
            or int.from_bytes(head[:4], "little") != start - 4
        ):
            raise Unusual
    if stated[2] != PLAIN or len(memoryview(body)) != start + count * kind.itemsize:
        raise Unusual
    numbers = np.frombuffer(body, dtype=kind, offset=start) if count else np.empty(0, dtype=kind)
    return numbers if numbers.flags.aligned else numbers.copy()
