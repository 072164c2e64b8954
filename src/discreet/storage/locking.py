"""File locks, which keep two processes from writing at once; a clear error on systems without them."""

from __future__ import annotations

from typing import Any

from discreet.errors import FileError


def lock_module(path: object, instead: str = "") -> Any:
    """The module `fcntl`; on systems without it, a FileError that names `path` and what to do `instead`."""
    try:
        import fcntl
    except ImportError:
        remedy = f"use Linux or macOS{instead and f', or {instead}'}"
        raise FileError(f"{path} needs file locks (fcntl), which this system does not have; {remedy}") from None
    return fcntl
