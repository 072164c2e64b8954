"""Whether what the end of a Parquet file says of its columns can be asked for.

pyarrow's answers about a column chunk (its size, its compression) end the whole process where a byte of the description
is damaged; its readers raise. So a reader is made for a file that has the description and no content: it fails at the
first byte that it wants, and before that if the description is damaged.

Test  tests/sources/test_parquet_damage.py::test_no_damaged_byte_ends_the_process
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

from discreet.records.arrow_values import arrow_module


class Nothing(io.RawIOBase):
    """A file of some size that cannot be read."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size, self._place, self.was_asked = size, 0, False

    def readable(self) -> bool:
        """It is opened for reading."""
        return True

    def seekable(self) -> bool:
        """Its size is asked for in this way."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Any place is as good as another."""
        self._place = offset + (self._size if whence == os.SEEK_END else 0)
        return self._place

    def tell(self) -> int:
        """The place that was asked for last."""
        return self._place

    def read(self, size: int | None = -1) -> bytes:
        """Note that somebody wanted to read, and give nothing, which is an error of pyarrow.

        An error of Python's own would be put into words by pyarrow, and Ctrl-C in that moment would be lost.
        """
        self.was_asked = True
        return b""


def is_sound(metadata: Any, size: int, names: Sequence[str], groups: Sequence[int]) -> bool:
    """Whether all that is said of these columns in these row groups of a file of so many bytes can be asked for, but
    for how they are compressed, which is known of the first of these row groups only."""
    filled = [group for group in groups if metadata.row_group(group).num_rows]
    if not filled or not names:
        return True
    places = {"pre_buffer": True, "buffer_size": 0}
    compression = {"pre_buffer": False, "buffer_size": 1}
    return _wants(metadata, size, names, groups, places) and _wants(metadata, size, names, filled[:1], compression)


def _wants(metadata: Any, size: int, names: Sequence[str], groups: Sequence[int], options: dict[str, Any]) -> bool:
    """Whether a reader of the row groups gets as far as to want what they hold. One that reads beforehand looks at the
    places of all columns first; another one makes what decompresses them."""
    from pyarrow import parquet

    content = Nothing(size)
    try:
        file = parquet.ParquetFile(arrow_module().PythonFile(content, mode="r"), metadata=metadata, **options)
        for _ in file.iter_batches(1, row_groups=list(groups), columns=list(names), use_threads=False):
            break
    except Exception:
        pass
    return content.was_asked
