"""Files that are written completely or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.errors import FileError


@contextlib.contextmanager
def whole_file(path: str | Path, *, binary: bool = False, mode: int | None = None) -> Iterator[Any]:
    """A file to write to. It gets its name only when all is on the disk; after an error nothing is left behind.

    `mode` says who may read and write it; None for what is usual.
    """
    path = Path(path)
    how: dict[str, Any] = {"mode": "wb"} if binary else {"mode": "w", "encoding": "utf-8", "newline": ""}
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False, **how) as file:
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                _discard(file.name)
                raise
        try:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(file.name, 0o666 & ~umask if mode is None else mode)
            os.replace(file.name, path)
        except OSError:
            _discard(file.name)
            raise
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror}; check the folder") from None


def _discard(name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name)
