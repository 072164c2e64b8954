"""The folder that a command writes into, checked before anything is run."""

from __future__ import annotations

from pathlib import Path

import typer

from discreet.errors import FileError


def make_folder(out: Path) -> None:
    """Make the folder of `--out`, and those that it lies in."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make folder {out}: {error.strerror}; choose another with --out") from None


def as_folder(text: str) -> Path:
    """The folder of this name, which need not exist; an empty name, or that of a file, is refused."""
    if not text.strip():
        raise typer.BadParameter("the name is empty; need the name of a folder, such as results")
    path = Path(text)
    for each in (path, *path.parents):
        if each.exists() and not each.is_dir():
            raise typer.BadParameter(f"{each} is a file; need a folder")
    return path
