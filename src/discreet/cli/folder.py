"""The folder that a command writes into, checked before anything is run."""

from __future__ import annotations

from pathlib import Path

import typer


def as_folder(text: str) -> Path:
    """The folder of that name, which need not exist; no text is no name, and a file is no folder."""
    if not text.strip():
        raise typer.BadParameter("the name is empty; need the name of a folder, such as results")
    path = Path(text)
    for each in (path, *path.parents):
        if each.exists() and not each.is_dir():
            raise typer.BadParameter(f"{each} is a file; need a folder")
    return path
