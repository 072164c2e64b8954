"""Locks on files, which keep two processes from writing at once; systems without them are told so."""

from __future__ import annotations

from typing import Any

from discreet.errors import FileError


def lock_module(path: object, instead: str = "") -> Any:
    """The module `fcntl`; FileError on systems that have no such locks, with what can be done `instead`."""
    try:
        import fcntl
    except ImportError:
        remedy = f"use Linux or macOS{instead and f', or {instead}'}"
        raise FileError(f"{path} needs file locks (fcntl), which this system does not have; {remedy}") from None
    return fcntl
