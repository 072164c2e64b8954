"""Memory that columns of Parquet files are read into, again and again: new memory takes longer to get than to fill."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MORE = 1 << 16
"""Bytes that are taken beyond what is needed, as the next column or row group may be somewhat longer."""


class PageMemory:
    """For one thread. What is in it is lost when the same memory is asked for again."""

    def __init__(self) -> None:
        self._stored = bytearray()
        self._places: dict[str | None, NDArray[np.int32]] = {}

    def stored(self, length: int) -> memoryview:
        """So many bytes."""
        if len(self._stored) < length:
            self._stored = bytearray(length + MORE)
        return memoryview(self._stored)[:length]

    def places(self, name: str | None, rows: int) -> NDArray[np.int32]:
        """So many places, in memory of this name."""
        if name not in self._places or len(self._places[name]) < rows:
            self._places[name] = np.empty(rows + MORE // 4, dtype=np.int32)
        return self._places[name][:rows]


def decompressing_pool() -> Any:
    """The pool of Arrow that gives threads the same memory again, where there is one; Arrow's own choice gives it back
    to the system, and has to wait for the other threads when it takes it again."""
    import pyarrow as pa

    try:
        return pa.jemalloc_memory_pool()
    except NotImplementedError:
        return pa.default_memory_pool()
