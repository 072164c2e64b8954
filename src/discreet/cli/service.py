"""`discreet service`: looking after a service: tables, backup, restore, a link for an owner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import serving
from discreet.cli.outputs import advise, say


def migrate(folder: serving.Folder = serving.DEFAULT_FOLDER, database: serving.Database = None) -> None:
    """Make or update the tables; `serve` and `worker` do so themselves when they start.

    \b
    Example:
      discreet service migrate --database postgresql://host/discreet
    """
    settings = serving.settings_of(folder, database)
    from discreet.service.database import open_database

    open_database(settings).dispose()
    say("The tables are up to date.")


def backup(
    out: Annotated[Path, typer.Argument(help="The file to write.", show_default=False)],
    folder: serving.Folder = serving.DEFAULT_FOLDER,
    database: serving.Database = None,
) -> None:
    """Write the database to a file; the service may go on meanwhile. Snapshots lie in the worker's folder: copy it too.

    \b
    Example:
      discreet service backup discreet-monday.backup
    """
    settings = serving.settings_of(folder, database)
    from discreet.service.keeping import back_up

    back_up(settings, out)
    say(f"The database is in {out}.")
    advise(f"The snapshots and their key are in {settings.worker_folder}; copy that folder under the worker's account.")


def restore(
    backup: Annotated[Path, typer.Argument(help="A file that `backup` wrote.", show_default=False)],
    folder: serving.Folder = serving.DEFAULT_FOLDER,
    database: serving.Database = None,
) -> None:
    """Restore a backup into a database that does not exist yet, or is empty.

    The backup does not know what was spent after it was made. What it has in reserve is spent, and not run again; for
    what else was released since, lower the limits by hand.

    \b
    Example:
      discreet service restore discreet-monday.backup --folder restored
    """
    settings = serving.settings_of(folder, database)
    from discreet.service.keeping import restore as put_back

    spent = put_back(settings, backup)
    say(f"Restored. {spent} reservations of the backup were spent, and will not run.")
    advise("What was spent after the backup was made is not in it: lower the limits by what was released since.")


def owner_link(
    folder: serving.Folder = serving.DEFAULT_FOLDER,
    database: serving.Database = None,
    public_url: Annotated[str, typer.Option(help="Where people reach the service.")] = "http://127.0.0.1:8000",
) -> None:
    """Print a link that makes an owner, once; for the first start, or if no owner can sign in any more.

    \b
    Example:
      discreet service owner-link --public-url https://privacy.example.org
    """
    settings = serving.settings_of(folder, database, public_url=public_url.rstrip("/"))
    from discreet.cli.serve import owner_link as made
    from discreet.service.database import open_database

    engine = open_database(settings)
    try:
        say(f"Become an owner, once, within {settings.link_hours:g} hours: {made(settings, engine)}")
    finally:
        engine.dispose()


owner_link.__name__ = "owner-link"
