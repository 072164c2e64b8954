"""Perturbed records in random order: those that do not fit in memory wait in a file that has no name."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.doors.rows import NoisyCodes
from discreet.errors import FileError
from discreet.privacy.randomness import Randomness

HELD = 2**23
"""Codes that are held in memory, in two bytes each, before they go to the file: 760,000 records of ten columns, about
60 MB while they are sorted. Only time and memory depend on it."""
KEYS = 2**62
"""Number of keys. Each record draws one of them."""
SLOTS = 2**12
"""Equal ranges of keys; each run in the file knows where each range begins."""

Keys = NDArray[np.int64]
Result = TypeVar("Result")


class RandomOrder:
    """Takes perturbed records as they come, and gives them back in a uniformly random order.

    Guarantee  all orders are equally likely, whatever the records are.
    Proof      each record draws a key, uniformly and independently of everything else; records leave in the order of
               their keys, and those with equal keys in the order of further keys, drawn in the same way. Keys are
               exchangeable, so every order of the records has the same probability. Records wait in runs that are
               sorted by key, and leave one range of keys after another: this is the order of all keys.
    Test       tests/perturbation/test_shuffling.py

    Only perturbed codes and their keys are written to the file. It is deleted by the system when it is closed.

    Parameters
    ----------
    width : number of codes of a record.
    folder : where the file is made, if one is needed; None for the system's folder of temporary files.
    held : number of codes that are held in memory; None for all.
    """

    def __init__(self, width: int, rng: Randomness, folder: Path | None = None, held: int | None = None) -> None:
        self._width, self._rng, self._folder = width, rng, folder
        self._most = None if held is None else max(held // width, 1)
        self._waiting: list[tuple[Keys, NDArray[np.uint16]]] = []
        self._rows = 0
        self._file: Any = None
        self._runs: list[tuple[int, Keys]] = []

    def __repr__(self) -> str:
        return "RandomOrder(values hidden)"

    def add(self, codes: NoisyCodes) -> None:
        """Take some records: one array per component."""
        keys = self._rng.integers(KEYS, (len(codes[0]),))
        self._waiting.append((keys, np.stack(codes, axis=1)))
        self._rows += len(keys)
        if self._most is not None and self._rows >= self._most:
            _on_disk(self._write)

    def blocks(self, most: int | None = None) -> Iterator[NoisyCodes]:
        """All records in their new order, at most `most` at a time; at least one block, which may be empty."""
        if not self._runs:
            yield from self._cut(*self._taken(), most)
            return
        if self._rows:
            _on_disk(self._write)
        edges = np.linspace(0, SLOTS, min(len(self._runs), SLOTS) + 1).astype(np.int64)
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            yield from self._cut(*_on_disk(partial(self._bucket, first, last)), most)

    def _cut(self, keys: Keys, codes: NDArray[np.uint16], most: int | None) -> Iterator[NoisyCodes]:
        order = self._order(keys)
        step = most or max(1, len(order))
        for start in range(0, max(1, len(order)), step):
            rows = codes[order[start : start + step]]
            yield [np.ascontiguousarray(rows[:, place]) for place in range(self._width)]

    def _order(self, keys: Keys) -> NDArray[np.intp]:
        """The order of the keys; equal keys are told apart by further keys."""
        drawn = [keys]
        while True:
            order = np.lexsort(drawn[::-1])
            if not np.logical_and.reduce([np.diff(each[order]) == 0 for each in drawn]).any():
                return order
            drawn.append(self._rng.integers(KEYS, (len(keys),)))

    def _taken(self) -> tuple[Keys, NDArray[np.uint16]]:
        """What waits in memory, which is left empty."""
        nothing = np.empty(0, dtype=np.int64), np.empty((0, self._width), dtype=np.uint16)
        waiting, self._waiting, self._rows = [nothing, *self._waiting], [], 0
        return _joined(waiting)

    def _write(self) -> None:
        """Write what waits in memory as a run."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        keys, codes = self._taken()
        order = keys.argsort()
        keys, codes = keys[order], codes[order]
        starts = np.searchsorted(keys, np.arange(SLOTS + 1) * (KEYS // SLOTS))
        self._runs.append((self._file.seek(0, 2), starts))
        self._file.write(keys.tobytes())
        self._file.write(codes.tobytes())

    def _bucket(self, first: int, last: int) -> tuple[Keys, NDArray[np.uint16]]:
        return _joined([self._read(place, starts, first, last) for place, starts in self._runs])

    def _read(self, place: int, starts: Keys, first: int, last: int) -> tuple[Keys, NDArray[np.uint16]]:
        """The records of a run whose keys lie in some slots."""
        start, end, rows, wide = int(starts[first]), int(starts[last]), int(starts[-1]), 2 * self._width
        keys = self._bytes(place + 8 * start, 8 * (end - start))
        codes = self._bytes(place + 8 * rows + wide * start, wide * (end - start))
        return np.frombuffer(keys, dtype=np.int64), np.frombuffer(codes, dtype=np.uint16).reshape(-1, self._width)

    def _bytes(self, place: int, length: int) -> bytes:
        self._file.seek(place)
        read: bytes = self._file.read(length)
        return read


def _joined(parts: list[tuple[Keys, NDArray[np.uint16]]]) -> tuple[Keys, NDArray[np.uint16]]:
    return np.concatenate([keys for keys, _ in parts]), np.concatenate([codes for _, codes in parts])


def _on_disk(work: Callable[[], Result]) -> Result:
    try:
        return work()
    except OSError as error:
        raise FileError(
            f"cannot keep the perturbed records until their turn: {error.strerror}; free some space on the disk"
        ) from None
