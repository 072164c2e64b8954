"""All records of a table at once, for doors that need more than counts. Private: inside a door only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.doors.passage import Passes
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.exact import ExactRows
from discreet.sources.feature_sums import with_class

HELD = 2**26
"""The most codes that are held in memory, in one or two bytes each, where records can be read again instead: 128 MB,
or 6 million records of 10 columns. Only speed depends on it."""

Gathered = tuple[dict[Cells, NDArray[Any]], NDArray[Any]]
"""The codes of all records in each of some cells, and the code of their classes."""


def gather(passes: Passes, cells: Sequence[Cells], schema: Schema, *, smallest: bool = False) -> Gathered:
    """Read all records that have one of the classes.

    Codes take two bytes each; with `smallest`, as few as their public number of cells allows.
    """
    cells, classes = list(dict.fromkeys(cells)), len(schema.classes)
    kinds = [_kind(size, smallest) for size in (classes, *(each.size(schema) for each in cells))]
    blocks = classified(passes, classes)
    held, _ = hold(([block.labels, *(block.codes[each] for each in cells)] for block in blocks), kinds, None)
    labels, *codes = held or []
    return dict(zip(cells, codes, strict=True)), labels


def gather_few(passes: Passes, cells: Sequence[Cells], schema: Schema) -> Gathered | None:
    """Read all records that have one of the classes, in as few bytes as can be; None if their codes exceed HELD, or if
    records stay where they are."""
    if passes.sums_only:
        return None
    cells, classes = list(dict.fromkeys(cells)), len(schema.classes)
    kinds = [_kind(size, True) for size in (classes, *(each.size(schema) for each in cells))]
    blocks = ([block.labels, *(block.codes[each] for each in cells)] for block in classified(passes, classes))
    held, _ = hold(blocks, kinds, HELD // len(kinds))
    return None if held is None else (dict(zip(cells, held[1:], strict=True)), held[0])


def classified(passes: Passes, classes: int) -> Iterator[ExactRows]:
    """The records that have one of the classes, in blocks."""
    return (with_class(block, classes) for block in passes.rows())


def hold(
    blocks: Iterable[Sequence[NDArray[Any]]], kinds: Sequence[np.dtype[Any]], most: int | None
) -> tuple[list[NDArray[Any]] | None, int]:
    """The arrays of all blocks, each as one of its kind, or None if they are longer than `most`; and how long they are.

    All blocks are looked at, even then: later passes are compared with this one.
    """
    parts, records = [[np.empty(0, dtype=kind)] for kind in kinds], 0
    for block in blocks:
        records += len(block[0])
        if most is not None and records > most:
            parts = [[] for _ in kinds]
            continue
        for own, values in zip(parts, block, strict=True):
            own.append(values.astype(own[0].dtype))
    if most is not None and records > most:
        return None, records
    held = []
    while parts:
        held.append(np.concatenate(parts.pop(0)))  # pop: frees the parts
    return held, records


def _kind(size: int, smallest: bool) -> np.dtype[Any]:
    return np.min_scalar_type(size) if smallest else np.dtype(np.uint16)
