"""Headers of Parquet pages, in Thrift's compact protocol: structs whose fields have numbers and types.

Only integers of 32 bits are kept, by the numbers of their fields, and structs, each again as such a dictionary. What no
header of a page has is Unusual. Anything may be raised where a header ends too early.
"""

from __future__ import annotations

from typing import Any

Struct = dict[int, Any]

HEADER = 1 << 12
"""Bytes that are looked at: headers of pages of numbers have some thirty."""
DEPTH = 3
"""A header has a header of its kind of page, and that has statistics."""
LONGEST = 10
"""Bytes of the longest integer, of 64 bits."""
YES, NO, INT, LONG, TEXT, STRUCT = 1, 2, 5, 6, 8, 12


class Unusual(Exception):  # noqa: N818 - is no error: pyarrow reads what is unusual
    """Raised where something is damaged, or not as simple as most files are."""


def varint(data: Any, place: int) -> tuple[int, int]:
    """A natural number that is written in as many bytes as it needs, and the place after it."""
    value = 0
    for shift in range(0, 7 * LONGEST, 7):
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise Unusual


def read_struct(data: Any, place: int, depth: int = 1) -> tuple[Struct, int]:
    """The fields of a struct, and the place after it."""
    fields: Struct = {}
    number = 0
    while head := data[place]:
        kind = head & 15
        place += 1
        number += head >> 4
        if head < 16 or depth > DEPTH:  # a number that does not follow the last one
            raise Unusual
        if kind == INT:
            value, place = varint(data, place) if data[place] > 127 else (data[place], place + 1)
            fields[number] = (value >> 1) ^ -(value & 1)
        elif kind == STRUCT:
            fields[number], place = read_struct(data, place, depth + 1)
        elif kind == LONG:
            _, place = varint(data, place)
        elif kind == TEXT:
            length, place = varint(data, place)
            place += length
        elif kind not in (YES, NO):
            raise Unusual
    return fields, place + 1
