"""What the commands of the service share: their options, and the check that its packages are installed."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.errors import FileError, MissingExtra

LEAST_MEMORY = 0.5
"""GiB: with less, engines cannot start their threads, whose address space counts in full."""
Folder = Annotated[Path, typer.Option("--folder", help="Where the service keeps its files.", envvar="DISCREET_FOLDER")]
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        help="postgresql://… for many users; default: SQLite in the folder.",
        envvar="DISCREET_DATABASE",
        show_default=False,
    ),
]
Slot = Annotated[
    float,
    typer.Option("--slot", min=1.0, help="The least time to a result, in seconds.", envvar="DISCREET_SLOT"),
]
Memory = Annotated[
    float | None,
    typer.Option(
        "--memory",
        min=LEAST_MEMORY,
        help="The most memory of one job, in GiB; a job that needs more fails.",
        envvar="DISCREET_MEMORY",
        show_default=False,
    ),
]
DEFAULT_FOLDER = Path("discreet-service")
DEFAULT_SLOT = 10.0


def settings_of(folder: Path, database: str | None, **others: Any) -> Any:
    """The settings; MissingExtra if the packages of the service are not installed, FileError on Windows."""
    if os.name != "posix":
        raise FileError("the service ends jobs by signals to groups of processes; run it on Linux or macOS")
    for package in ("sqlalchemy", "alembic", "pydantic", "pyarrow", "fastapi", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtra("service")
    from discreet.service.settings import Settings

    return Settings.of(folder, database, **others)
