"""All records of a table at once, for doors that need more than counts. Private: inside a door only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.doors.passage import Passes
from discreet.records.encoding import Cells
from discreet.schema import Schema

HELD = 2**26
"""The most codes that are held in memory, in one or two bytes each, where records can be read again instead: 128 MB,
or 6 million records of 10 columns. Only speed depends on it."""

Gathered = tuple[dict[Cells, NDArray[Any]], NDArray[Any]]
"""The codes of all records in each of some cells, and the code of their classes."""


def gather(passes: Passes, cells: Sequence[Cells], schema: Schema, *, smallest: bool = False) -> Gathered:
    """Read all records that have one of the classes.

    Codes take two bytes each; with `smallest`, as few as their public number of cells allows.
    """
    gathered = _gathered(passes, cells, schema, None, smallest=smallest)
    assert gathered is not None
    return gathered


def gather_few(
    passes: Passes, cells: Sequence[Cells], schema: Schema, *, smallest: bool = False, most: int | None = None
) -> Gathered | None:
    """Read all records that have one of the classes; None if they are more than `most`, or their codes than HELD, or if
    records stay where they are."""
    if passes.sums_only:
        return None
    fitting = HELD // (len(cells) + 1) if most is None else most
    return _gathered(passes, cells, schema, fitting, smallest=smallest)


def _gathered(
    passes: Passes,
    cells: Sequence[Cells],
    schema: Schema,
    most: int | None,
    *,
    smallest: bool = False,
) -> Gathered | None:
    cells, classes, records = list(dict.fromkeys(cells)), len(schema.classes), 0
    codes = {each: [np.empty(0, dtype=_kind(each.size(schema), smallest))] for each in cells}
    labels = [np.empty(0, dtype=_kind(classes, smallest))]
    for block in passes.rows():  # to its end: all later passes are compared with this one
        if most is not None and records > most:
            continue
        kept = block.labels < classes
        labels.append(block.labels[kept].astype(labels[0].dtype))
        for each, parts in codes.items():
            parts.append(block.codes[each][kept].astype(parts[0].dtype))
        records += len(labels[-1])
        if most is not None and records > most:
            labels, codes = [], {}
    if most is not None and records > most:
        return None
    return {each: np.concatenate(codes.pop(each)) for each in cells}, np.concatenate(labels)  # pop: frees the parts


def _kind(size: int, smallest: bool) -> np.dtype[Any]:
    return np.min_scalar_type(size) if smallest else np.dtype(np.uint16)
