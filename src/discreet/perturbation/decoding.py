"""From perturbed codes back to values of the schema, and the digest by which a published table is recognised."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.doors.rows import NOT_RELEASED, NoisyCodes
from discreet.records.encoding import Cells, class_codes
from discreet.schema import Schema
from discreet.schema.columns import Column, Numeric, text_of

UNLISTED = "(unlisted)"
"""How a value outside the listed categories is written."""


def decoded(codes: NDArray[np.uint16], column: Column) -> NDArray[Any]:
    """The public value of each code; NaN or None where nothing was released."""
    absent = codes == NOT_RELEASED
    if isinstance(column, Numeric):
        lower, upper = float(column.lower), float(column.upper)
        numbers = np.clip(lower + codes.astype(np.float64) * ((upper - lower) / column.grid), lower, upper)
        numbers[absent] = np.nan
        return np.asarray(numbers)
    values = np.empty(column.size + 1, dtype=object)
    values[: column.size] = [*column.categories, UNLISTED][: column.size]
    return np.asarray(values[np.where(absent, column.size, codes)])


def as_texts(values: NDArray[Any]) -> list[str]:
    """Values as they are written to a CSV file: reading finds the same cells; missing values are empty texts."""
    return ["" if value is None or value != value else text_of(value) for value in values.tolist()]


class TableDigest:
    """The digest of a table whose codes are published in this order; `digest_of_values` finds the same in its file."""

    def __init__(self, schema: Schema) -> None:
        self._tables = [_codes_when_read(column, schema) for column in schema.columns]
        self._digest = _Digest(len(schema.columns) + 1)

    def add(self, codes: NoisyCodes) -> None:
        """Take the next records."""
        *columns, labels = codes
        read = [table[np.minimum(code, len(table) - 1)] for table, code in zip(self._tables, columns, strict=True)]
        self._digest.add([*read, labels])

    def __str__(self) -> str:
        return str(self._digest)


def digest_of_values(blocks: Iterable[Mapping[str, NDArray[Any]]], schema: Schema) -> str:
    """The digest of a published table that was read in blocks of columns, target included, from any kind of file."""
    digest = _Digest(len(schema.names) + 1)
    for block in blocks:
        codes = [Cells(name).codes(block[name], schema) for name in schema.names]
        digest.add([*codes, class_codes(block[schema.target], schema)])
    return str(digest)


def _codes_when_read(column: Column, schema: Schema) -> NDArray[np.intp]:
    """The code that each published value has when it is read; the last entry is for values that are not released."""
    size = Cells(column.name).size(schema)
    values = decoded(np.array([*range(size), NOT_RELEASED], dtype=np.uint16), column)
    if not isinstance(column, Numeric):
        values = np.array(as_texts(values), dtype=object)
    return Cells(column.name).codes(values, schema)


class _Digest:
    """SHA-256 of the codes, column by column: it does not depend on how the rows are cut into blocks."""

    def __init__(self, columns: int) -> None:
        self._hashes = [hashlib.sha256() for _ in range(columns)]

    def add(self, block: list[NDArray[Any]]) -> None:
        for each, codes in zip(self._hashes, block, strict=True):
            each.update(codes.astype("<u2").tobytes())

    def __str__(self) -> str:
        return hashlib.sha256(b"".join(each.digest() for each in self._hashes)).hexdigest()
