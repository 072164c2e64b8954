"""Values of records on their way out of Spark, for their owner, who has allowed it: to predict the class of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.encoding import UNREADABLE
from discreet.records.files import ROWS
from discreet.records.values import Columns, objects
from discreet.sources.spark_sql import DATE_TYPES, INTEGER_TYPES, NUMBER_TYPES, TEXT_TYPES, base_type

KINDS = {"date": "M8[us]", "integer": "i8", "float": "f8"}
"""The types of columns as arrays, where they are not objects."""


def structure_of(types: Mapping[str, str]) -> Columns:
    """The columns without a record."""
    return {name: np.empty(0, dtype=KINDS.get(_kind(stored), object)) for name, stored in types.items()}


def expression(column: str, stored: str) -> str:
    """How a column travels: texts as bytes, of dates nothing, of what is neither number nor text that it is there."""
    kind = _kind(stored)
    if kind == "date":
        return "CAST(NULL AS STRING)"
    if kind == "text":
        return f"CAST({column} AS BINARY)"
    return f"CASE WHEN {column} IS NULL THEN NULL ELSE X'FF' END" if kind == "opaque" else column


def value_blocks(rows: Iterable[Any], names: Sequence[str], types: Mapping[str, str]) -> Iterator[Columns]:
    """The records in blocks of columns; at least one."""
    yield structure_of({name: types[name] for name in names})
    stream = iter(rows)
    while block := list(islice(stream, ROWS)):
        columns = zip(*block, strict=True)
        yield {name: _values(list(values), _kind(types[name])) for name, values in zip(names, columns, strict=True)}


def _kind(stored: str) -> str:
    base = base_type(stored)
    if base.startswith(DATE_TYPES):
        return "date"
    kinds = {"integer": INTEGER_TYPES, "float": ("float", "double"), "other": (*NUMBER_TYPES, "boolean")}
    return next((kind for kind, bases in {**kinds, "text": TEXT_TYPES}.items() if base in bases), "opaque")


def _values(values: list[Any], kind: str) -> NDArray[Any]:
    if kind == "date":
        return np.full(len(values), "NaT", dtype=KINDS[kind])
    if kind == "float":
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if kind == "integer" and None not in values:
        return np.array(values, dtype=np.int64)
    return objects(_text(value) if isinstance(value, bytes | bytearray) else value for value in values)


def _text(value: bytes | bytearray) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return UNREADABLE
