"""Loops that count records, compiled by numba where it is installed; numpy is the reference, and always enough.

numba is an extra (`fast`): it needs no compiler on the user's machine, and one wheel of ours serves every platform. A
table of counts is the same to the last integer with and without it, so nobody can tell from a model which of them
counted. Compiling takes a second or two, or a moment if numba could keep what it compiled the last time: so a pass
begins with numpy, and changes over when it has seen `PATIENCE` batches.

Guarantee  `Tally.add_numbers` adds to the counts what `Cells.number_codes` and `numpy.bincount` would add.
Proof      the same operations on doubles in the same order: subtract, multiply, add; each is rounded by itself, since
           numba contracts no product and sum into one operation unless it is asked to (`fastmath`). To add 0.0 where
           the reference adds nothing changes at most the sign of zero. Then NaN becomes the code of a missing number,
           and what is out of bounds the outermost code, as doubles, before they become integers.
Test       tests/sources/test_kernels.py
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.records.encoding import Cells
from discreet.records.parquet_runs import write_runs
from discreet.schema.columns import Numeric

Counts = NDArray[np.int64]
Labels = NDArray[np.int32]

PATIENCE = 16
"""Batches that are counted by numpy before the kernels are compiled: for less than two million records it is faster."""
CHUNK = 1 << 11
"""Records whose cells are found before they are counted: both loops stay in the processor's nearest cache."""
SMALL = 1 << 12
"""A table of at most this many cells has a second one beside it."""
_LOCK = threading.Lock()


class Kernels(NamedTuple):
    """The compiled loops, which hold no lock of Python while they run."""

    numbers: Callable[..., None]
    places: Callable[..., None]
    runs: Callable[..., int]


@functools.cache
def _compiled() -> Kernels | None:
    try:
        from numba import njit
    except Exception:  # not installed, or unable to run beside this version of numpy
        return None
    for cache in (True, False):  # there may be no folder in which numba can keep what it compiles
        with contextlib.suppress(Exception):
            compiled = njit(nogil=True, fastmath=False, cache=cache)
            loops = Kernels(compiled(_add_numbers), compiled(_add_places), compiled(write_runs))
            _try(loops)
            return loops
    return None


def _try(loops: Kernels) -> None:
    """Compile the loops for all types that they meet: not while records are counted, when nothing may fail."""
    cells, column, labels = Cells("any", 2), Numeric("any", 0, 1), np.zeros(3, dtype=np.int32)
    tally = Tally(np.zeros(4, dtype=np.int64), 2)
    for kind in (np.float32, np.float64):
        tally.add_numbers(loops, np.zeros(3, dtype=kind), labels, cells, column)
    tally.add_places(loops, np.zeros(3, dtype=np.int32), labels, np.zeros(1, dtype=np.intp))
    loops.runs(np.frombuffer(bytes(2), dtype=np.uint8), 0, 1, 1, labels)


def kernels(batches: int) -> Kernels | None:
    """The compiled loops for a pass that has seen this many batches; None if it is too early, or without numba."""
    if batches <= PATIENCE and not _compiled.cache_info().currsize:
        return None
    with _LOCK:
        return _compiled()


class Tally:
    """Counts by class and cell that the loops add to: `counts` is flat, classes first."""

    def __init__(self, counts: Counts, size: int) -> None:
        self._counts, self._size = counts, np.int32(size)
        self._missing: float | None = None
        self._joint = np.empty(CHUNK, dtype=np.int32)
        # neighbours in a batch often fall into the same cell, and one addition would have to wait for the other
        self._second = counts if len(counts) > SMALL else np.zeros_like(counts)

    def add_numbers(self, loops: Kernels, numbers: NDArray[Any], labels: Labels, cells: Cells, column: Numeric) -> None:
        """Count floats of a column, always in the same cells."""
        kind = np.float32 if numbers.dtype == np.float32 else np.float64
        if self._missing is None:
            self._missing = float(cells.missing_code(column))
        scale, offset = cells.scale_and_offset(column)
        constants = float(column.lower), scale, offset, float(self._size - 1), self._missing
        loops.numbers(_frozen(numbers, kind), labels, *constants, self._size, self._joint, self._counts, self._second)
        self._join()

    def add_places(self, loops: Kernels, places: NDArray[Any], labels: Labels, table: NDArray[np.intp]) -> None:
        """Count records that are in the cells that the table says of their places."""
        codes = table.astype(np.int32)
        loops.places(_frozen(places, np.int32), labels, codes, self._size, self._joint, self._counts, self._second)
        self._join()

    def _join(self) -> None:
        if self._second is not self._counts:
            self._counts += self._second
            self._second[:] = 0


def _frozen(values: NDArray[Any], kind: type) -> NDArray[Any]:
    """The array as the loops know it: of few types, in one piece and not to be written, so that few are compiled."""
    array: NDArray[Any] = np.ascontiguousarray(values, dtype=kind).view()
    array.flags.writeable = False
    return array


# Indices are unsigned: numba would take a negative one for a place from the end, and test for it each time.


def _add_numbers(
    numbers: Any,
    labels: Any,
    lower: float,
    scale: float,
    offset: float,
    top: float,
    missing: float,
    size: Any,
    joint: Any,
    counts: Any,
    second: Any,
) -> None:
    for start in range(0, len(numbers), len(joint)):
        rows = min(len(joint), len(numbers) - start)
        for row in range(rows):
            position: Any = (np.float64(numbers[np.uint64(start + row)]) - lower) * scale + offset
            position = position if position == position else missing
            position = position if position > 0.0 else 0.0
            position = position if position < top else top
            joint[np.uint64(row)] = np.int32(position) + labels[np.uint64(start + row)] * size
        half = rows // 2
        for row in range(half):
            counts[np.uint64(joint[np.uint64(row)])] += 1
            second[np.uint64(joint[np.uint64(half + row)])] += 1
        for row in range(2 * half, rows):
            counts[np.uint64(joint[np.uint64(row)])] += 1


def _add_places(places: Any, labels: Any, table: Any, size: Any, joint: Any, counts: Any, second: Any) -> None:
    for start in range(0, len(places), len(joint)):
        rows = min(len(joint), len(places) - start)
        for row in range(rows):
            place = np.uint64(start + row)
            joint[np.uint64(row)] = table[np.uint64(places[place])] + labels[place] * size
        half = rows // 2
        for row in range(half):
            counts[np.uint64(joint[np.uint64(row)])] += 1
            second[np.uint64(joint[np.uint64(half + row)])] += 1
        for row in range(2 * half, rows):
            counts[np.uint64(joint[np.uint64(row)])] += 1
