"""What is inside a page of a Parquet file: numbers, texts of a dictionary, and places in it.

Guarantee  each function gives the values that the format describes, to the last byte of the page; or it raises.
Proof      lengths are compared with what is there before they are used. One run of levels says of all values of a page
           that they are there; others are read as the places are (`parquet_runs`), each below 2. Places are those of a
           dictionary of `size` values, or `size` itself, which stands for null. Numbers are the bytes of the page, read
           as the type that they have in the file.
Test       tests/records/test_parquet_pages.py, tests/records/test_parquet_places.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.records.parquet_headers import Struct, Unusual, varint
from discreet.records.parquet_runs import WIDEST
from discreet.records.values import objects

PLAIN, OLD_PLACES, RUNS, PLACES = 0, 2, 3, 8
"""Values one after another; places in a dictionary, as older files name them; levels in runs; places in a dictionary.
"""
FEW = 1 << 14
"""Most texts of a dictionary: of more, pyarrow makes objects as fast."""


class Kind(NamedTuple):
    """A type in the file, and in numpy if its values have the same bytes there; texts have no such type."""

    stored: str
    values: Any


KINDS = {
    "float": Kind("FLOAT", np.float32), "double": Kind("DOUBLE", np.float64),
    "int32": Kind("INT32", np.int32), "uint32": Kind("INT32", np.uint32),
    "int64": Kind("INT64", np.int64), "uint64": Kind("INT64", np.uint64),
    "string": Kind("BYTE_ARRAY", None), "large_string": Kind("BYTE_ARRAY", None),
}  # fmt: skip
"""The types of Arrow that are known."""


def plain_numbers(body: Any, stated: Struct, kind: Any, has_levels: bool) -> NDArray[Any]:
    """The numbers of a page whose header states their number (1), and the encodings of them (2) and of levels (3)."""
    count = stated[1]
    start = _run_of_ones(body, stated) if has_levels else 0
    if start is None or stated[2] != PLAIN:
        raise Unusual
    return _numbers(body, start, count, kind)


def dictionary_values(body: Any, stated: Struct, kind: Any) -> NDArray[Any]:
    """The values of a dictionary whose header states their number (1) and encoding (2); texts if `kind` is None."""
    if stated[2] not in (PLAIN, OLD_PLACES):
        raise Unusual
    return _texts(bytes(body), stated[1]) if kind is None else _numbers(body, 0, stated[1], kind)


def with_null(values: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """The values of a dictionary, and what stands for null after them: for numbers as pyarrow gives them, if any is
    null."""
    if values.dtype == object:
        return objects([*values, None])
    if not len(places) or int(places.max()) < len(values):
        return values
    floats = values if values.dtype.kind == "f" else values.astype(np.float64)
    return np.append(floats, floats.dtype.type(np.nan))


def write_places(
    write_runs: Callable[..., int] | None,
    body: Any,
    stated: Struct,
    size: int,
    places: NDArray[Any],
    has_levels: bool,
) -> None:
    """Write the places of a page in a dictionary of so many values; `size` for null."""
    data = np.frombuffer(body, dtype=np.uint8)
    if write_runs is None or stated[2] not in (OLD_PLACES, PLACES):
        raise Unusual
    start = _run_of_ones(body, stated) if has_levels else 0
    if start is not None:
        _write(write_runs, data, start, size, places)
        return
    levels = np.empty_like(places)
    start = 4 + int.from_bytes(data[:4].tobytes(), "little")
    if stated[3] != RUNS or write_runs(data[:start], 4, 1, 2, levels) != start:
        raise Unusual
    there = levels.astype(bool)
    held = np.empty(np.count_nonzero(there), dtype=places.dtype)
    _write(write_runs, data, start, size, held)
    places[:] = size
    np.place(places, there, held)


def _write(write_runs: Callable[..., int], data: NDArray[Any], start: int, size: int, places: NDArray[Any]) -> None:
    """Write places without null, which begin with their width."""
    if not len(places) and start == len(data):
        return
    width = int(data[start])
    if width > WIDEST or write_runs(data, start + 1, width, size, places) != len(data):
        raise Unusual


def _run_of_ones(body: Any, stated: Struct) -> int | None:
    """The place after the levels of a page, if they are one run that says of all values that they are there."""
    head = bytes(memoryview(body)[:16])
    run, place = varint(head, 4)
    start = place + 1
    is_one = stated[3] == RUNS and (run, head[place]) == (stated[1] << 1, 1)
    return start if is_one and int.from_bytes(head[:4], "little") == start - 4 else None


def _numbers(body: Any, start: int, count: int, kind: Any) -> NDArray[Any]:
    if len(memoryview(body)) != start + count * np.dtype(kind).itemsize:
        raise Unusual
    numbers = np.frombuffer(body, dtype=kind, offset=start) if count else np.empty(0, dtype=kind)
    return numbers if numbers.flags.aligned else numbers.copy()


def _texts(body: bytes, count: int) -> NDArray[Any]:
    """Texts, each after the number of its bytes."""
    texts, start = [], 0
    if not 0 <= count <= FEW:
        raise Unusual
    for _ in range(count):
        end = start + 4 + int.from_bytes(body[start : start + 4], "little")
        if not start + 4 <= end <= len(body):
            raise Unusual
        texts.append(body[start + 4 : end].decode())
        start = end
    if start != len(body):
        raise Unusual
    return objects(texts)
