"""Schemas read off the data: only on request, marked as such, and never private.

Two uses: `schema="from-data"`, for public data, and `discreet schema draft`, a draft that a person completes. The
schema's `from_data` lists every entry that was read off the data; while it lists one, nothing is guaranteed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.records.encoding import as_floats
from discreet.records.tables import Table, as_frame, as_vector
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column, Label, Numeric, spells_no_usable_number, text_of

FEW = 12
"""A column of numbers written as text with at most this many distinct values is drafted as categories."""
MANY = 1000
"""A column of text with more distinct values than this is refused: it is probably an identifier or free text."""


def schema_from_data(X: Any, y: Any) -> Schema:
    """A schema with the bounds, categories and classes that occur in the data."""
    names = column_names(X)
    target = str(getattr(y, "name", None) or "target")
    while target in names:
        target += "_"
    table = Table(X, Schema([Categorical(name, ["-"]) for name in names], target, ["-"]))
    return draft({name: table.column(name) for name in names}, as_vector(y), target, table.rows)


def draft(columns: dict[str, NDArray[Any]], labels: NDArray[Any], target: str, records: int | None) -> Schema:
    """A schema read off the values; its `from_data` lists every entry that a person has to confirm."""
    drafted = [_draft_column(name, values) for name, values in columns.items()]
    marks = [mark for column in drafted for mark in _marks(column)]
    if records:
        marks.append("records")
    return Schema(drafted, target, labels_in(labels), records=records or None, from_data=[*marks, "classes"])


def column_names(X: Any) -> list[str]:
    """Column names of a data frame or a mapping; x0, x1, ... for an array."""
    frame = as_frame(X)
    if frame is not None:
        return [str(name) for name in frame.columns]
    if isinstance(X, dict):
        return [str(name) for name in X]
    if isinstance(X, list) and X and isinstance(X[0], dict):
        return list(dict.fromkeys(str(name) for record in X for name in record))
    array = np.asarray(X)
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(f"got an array of shape {array.shape}; need 2-D with at least one column. Reshape your data")
    return [f"x{position}" for position in range(array.shape[1])]


def labels_in(values: NDArray[Any]) -> list[Label]:
    """The distinct labels, sorted; missing ones left out."""
    plain = [value for value in values.tolist() if value is not None and value == value and text_of(value)]
    distinct = {text_of(value): value for value in plain}
    for text in [text for text in distinct if spells_no_usable_number(text)]:
        del distinct[text]  # no schema can list such a text: it counts as unlisted
    try:
        return sorted(distinct.values()) or ["-"]
    except TypeError:
        return [distinct[text] for text in sorted(distinct)]


def _draft_column(name: str, values: NDArray[Any]) -> Column:
    numbers = as_floats(values)
    finite = numbers[np.isfinite(numbers)]
    is_text = any(isinstance(value, str) for value in values.tolist()) if values.dtype.kind == "O" else True
    enough = len(np.unique(finite)) > (FEW if is_text else 0)
    if values.dtype.kind in "iuf" or (_all_numbers(values, numbers) and enough):
        lower, upper = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        if not lower < upper:
            upper = lower + 1.0 if lower + 1.0 > lower else math.nextafter(lower, math.inf)
        return Numeric(name, lower, upper)
    categories = labels_in(values)
    if len(categories) > MANY:
        raise DataError(
            f"column {name!r} holds more than {MANY} different texts; it looks like an identifier: leave it out"
        )
    return Categorical(name, tuple(categories))


def _all_numbers(values: NDArray[Any], numbers: NDArray[Any]) -> bool:
    """Whether every value is a number, apart from missing ones; "?" and empty texts count as missing."""
    if values.dtype.kind not in "OU":
        return False
    absent = [value is None or value != value or str(value).strip(" ") in ("", "?") for value in values.tolist()]
    return not bool(np.any(np.isnan(numbers) & ~np.array(absent, dtype=bool)))


def _marks(column: Column) -> Sequence[str]:
    if isinstance(column, Numeric):
        return [f"{column.name}.lower", f"{column.name}.upper"]
    return [f"{column.name}.categories"]
