"""This package as one file, which is sent to Spark's workers: they need no installation of it, nor of this version."""

from __future__ import annotations

import functools
import hashlib
import tempfile
import zipfile
from pathlib import Path

_FOLDER = "discreet"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of all files in the package: it has the same bytes whenever it is made, since Spark refuses other bytes
under the same name."""


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="discreet-")  # removed when this process ends


@functools.cache
def zipped_package() -> Path:
    """A file with the modules of this package; its name depends on what is in it."""
    root = Path(__file__).parents[1]
    modules = {path.relative_to(root.parent).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.py"))}
    digest = hashlib.sha256(repr(sorted(modules.items())).encode()).hexdigest()[:16]
    path = Path(_folder().name) / f"{_FOLDER}-{digest}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in modules.items():
            package.writestr(zipfile.ZipInfo(name, _LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return path
