"""The database of the service: accounts and service share one, each with its own history of migrations."""

from __future__ import annotations

from sqlalchemy import Engine, inspect

from discreet.errors import FileError
from discreet.privacy.accounts import engine_for, migrate_history, reading
from discreet.privacy.accounts import migrate as migrate_accounts
from discreet.service.settings import Settings, private_folder

HISTORY, VERSIONS = "discreet.service:migrations", "service_version"
RESTORING = "restoring"
"""A table that is there while a backup is being restored (keeping.py)."""


def open_database(settings: Settings) -> Engine:
    """The engine of the service's database; its tables are made or brought up to date first."""
    private_folder(settings.folder)
    engine = engine_for(settings.database)
    with reading(engine) as connection:
        interrupted = inspect(connection).has_table(RESTORING)
    if interrupted:
        engine.dispose()
        raise FileError("a restore into this database was interrupted; drop it, and restore into a new one")
    migrate(engine)
    return engine


def migrate(engine: Engine) -> None:
    """Make or update all tables: those of the accounts, then those of the service. A newer database is refused."""
    migrate_accounts(engine)
    migrate_history(engine, HISTORY, VERSIONS)
