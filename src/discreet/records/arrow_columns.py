"""Batches of Arrow as blocks of columns in memory: values as they are, for those who may see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.arrow_values import ColumnReader, arrow_kind
from discreet.records.encoding import UNREADABLE
from discreet.records.values import Columns, objects


class BatchReader:
    """Turns batches into blocks of columns.

    Parameters
    ----------
    types : the Arrow types of the columns by name.
    texts : names of the columns that hold texts as bytes.
    """

    def __init__(self, types: Mapping[str, Any], texts: Collection[str] = ()) -> None:
        self._kinds = {name: "text" if name in texts else _kind(stored) for name, stored in types.items()}
        self._readers = {name: ColumnReader(as_text=name in texts) for name in types}

    def structure(self) -> Columns:
        """The columns without a row."""
        return {name: _array([], kind) for name, kind in self._kinds.items()}

    def block(self, batch: Any) -> Columns:
        """The columns of a batch, which has them all, in any order. A text that is not UTF-8 is UNREADABLE."""
        return {name: self._column(name, batch.column(name)) for name in self._kinds}

    def _column(self, name: str, column: Any) -> NDArray[Any]:
        kind = self._kinds[name]
        if kind in ("number", "integer") and column.null_count == 0 and not hasattr(column, "dictionary"):
            numbers = column.to_numpy(zero_copy_only=False)
            if numbers.dtype.kind == "f":
                return np.asarray(numbers, dtype=np.float64)
            if numbers.dtype.kind in "iu" and numbers.dtype != np.uint64:
                return np.asarray(numbers, dtype=np.int64)
        return _array(self._readers[name].listed(column), kind)


def _kind(stored: Any) -> str:
    """The kind of a column: integer, number, truth, text, date, opaque or other."""
    from pyarrow import types

    stored = stored.value_type if types.is_dictionary(stored) else stored
    found = arrow_kind(stored)
    return "integer" if found == "number" and types.is_integer(stored) else found


def _array(values: list[Any], kind: str) -> NDArray[Any]:
    """One column; dates keep their type but not their values, which no model can use."""
    if kind == "date":
        return np.full(len(values), "NaT", dtype="datetime64[us]")
    if kind == "number":
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if kind == "integer" and None not in values:
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    return objects((None if value is None else UNREADABLE for value in values) if kind == "opaque" else values)
