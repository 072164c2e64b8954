"""Drafts of schemas for owners: a suggestion that holds nothing rare, so that a hasty confirmation publishes no person.

Limits  a draft is read from the data and is not private: common values, and bounds between which almost all values lie.
        Only owners see it, and it is erased when they confirm the schema. What they confirm is their word.
Test    tests/service/test_drafts.py::test_no_rare_value_is_in_a_draft
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.records import drafting
from discreet.records.encoding import as_floats, label_codes
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column, Label, Numeric
from discreet.sources import Source, as_records

RARE = 10
"""A category is drafted if at least this many records have it; bounds leave out fewer than this many values."""
MOST_RECORDS = 200_000
"""A draft looks at the first records only, at most about this many."""


def draft(source: Source, target: str, ignore: Sequence[str]) -> tuple[Schema | None, dict[str, Any]]:
    """A draft of the schema, None if there can be none, and what was found, for owners."""
    records = as_records(source)
    names = [str(name) for name in records.structure()]
    absent = [name for name in (target, *ignore) if name not in names]
    if absent:
        return None, {"problem": "no-such-column", "columns": absent}
    kept = [name for name in names if name not in ignore]
    columns, complete = _first(records, kept)
    labels = columns.pop(target)
    classes = _common(labels, drafting.labels_in(labels)) if _is_plain(labels) else []
    if not classes:
        return None, {"problem": "no-common-class", "columns": [target]}
    drafted, left_out = _drafted(columns)
    if not drafted:
        return None, {"problem": "no-usable-column", "columns": left_out}
    marks = [mark for column in drafted for mark in _marks(column)]
    schema = Schema(drafted, target, classes, ignore=[*ignore, *left_out], from_data=[*marks, "classes"])
    counted = {"records": _two_digits(len(labels)), "complete": complete}
    return schema, {"left_out": left_out, **counted}


def _first(records: Any, names: Sequence[str]) -> tuple[dict[str, NDArray[Any]], bool]:
    """The first records, column by column, and whether these are all."""
    blocks, held, complete = [], 0, True
    for block in records.values(names, ()):
        if held >= MOST_RECORDS:
            complete = False
            break
        blocks.append(block)
        held += len(block[names[0]])
    return {name: np.concatenate([block[name] for block in blocks]) for name in names}, complete


def _drafted(columns: dict[str, NDArray[Any]]) -> tuple[list[Column], list[str]]:
    drafted: list[Column] = []
    left_out: list[str] = []
    for name, values in columns.items():
        column = _column(name, values) if _is_plain(values) else None
        if column is None:
            left_out.append(name)
        else:
            drafted.append(column)
    return drafted, left_out


def _is_plain(values: NDArray[Any]) -> bool:
    return values.dtype.kind not in "mM" and not any(isinstance(value, bytes) for value in values.tolist())


def _column(name: str, values: NDArray[Any]) -> Column | None:
    """The draft of a column; None if it holds too many different texts, or nothing that is common."""
    try:
        found = drafting.draft({name: values}, np.array(["-"]), "-" if name != "-" else "+", None).columns[0]
    except DataError:
        return None
    if isinstance(found, Numeric):
        numbers = as_floats(values)
        return _rounded(name, np.sort(numbers[np.isfinite(numbers)]))
    common = _common(values, found.categories)
    return Categorical(name, common) if common else None


def _common(values: NDArray[Any], labels: Sequence[Label]) -> list[Label]:
    codes = label_codes(values, labels, len(labels), len(labels))
    counts = np.bincount(codes, minlength=len(labels) + 1)
    return [label for label, count in zip(labels, counts.tolist(), strict=False) if count >= RARE]


def _rounded(name: str, ordered: NDArray[Any]) -> Numeric | None:
    """Round bounds around all but the fewest values at both ends."""
    if len(ordered) < 2 * RARE:
        return None
    low, high = float(ordered[RARE - 1]), float(ordered[-RARE])
    width = high - low
    if not 0 < width < math.inf:
        width = max(abs(low), 1.0)
    step = 10.0 ** math.floor(math.log10(width))
    step = step / 2 if width / step < 2.5 else step
    lower, upper = math.floor(low / step) * step, math.ceil(high / step) * step
    upper = upper if lower < upper else lower + step
    return Numeric(name, _plain(lower), _plain(upper))


def _plain(number: float) -> float:
    """The number without the digits that a product of floats leaves behind: 0.30000000000000004 is 0.3."""
    short = float(f"{number:.12g}")
    return int(short) if short.is_integer() and abs(short) < 2**53 else short


def _two_digits(count: int) -> int:
    return 0 if count == 0 else int(float(f"{count:.1e}"))


def _marks(column: Column) -> list[str]:
    entries = ("lower", "upper") if isinstance(column, Numeric) else ("categories",)
    return [f"{column.name}.{entry}" for entry in entries]
