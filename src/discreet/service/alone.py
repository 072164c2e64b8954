"""One worker of a name in a folder: a second one would believe that it is the first, started again.

A worker takes its next job when the slot of its last one is over (slots.py), which it finds by its name.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from discreet.errors import FileError
from discreet.service.settings import private_folder
from discreet.storage.locking import lock_module

POLL = 0.1
"""Seconds between two looks whether the other one has ended."""


@contextlib.contextmanager
def alone(folder: Path, name: str, patience: float = 0.0) -> Iterator[None]:
    """Be the only worker of this name in its folder; FileError if another one still is after `patience` seconds.

    The lock ends with the process that has it, however that ends.
    """
    path = private_folder(folder) / f"worker-{quote(name, safe='')}.lock"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise FileError(f"cannot open {path}: {error.strerror}; check the folder, or take a shorter --name") from None
    try:
        until = time.monotonic() + patience
        while not _is_locked(handle, path):
            if time.monotonic() >= until:
                raise FileError(
                    f"a worker named {name} runs already on {folder}; end that one, or give this one another --name"
                )
            time.sleep(POLL)
        yield
    finally:
        os.close(handle)


def _is_locked(handle: int, path: Path) -> bool:
    locks = lock_module(path)
    try:
        locks.flock(handle, locks.LOCK_EX | locks.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise FileError(f"cannot lock {path}: {error.strerror}; put the folder on a local disk") from None
    return True
