"""Bringing the tables of a database to what this version needs, step by step; a newer database is refused."""

from __future__ import annotations

import sys
from typing import Any

from sqlalchemy import Connection, Engine, text

from discreet.errors import FileError, MissingExtra
from discreet.privacy.accounts.database import shown, writing

HISTORY, VERSIONS = "discreet.privacy.accounts:migrations", "accounts_version"
"""Where the steps of the accounts lie, and the table that keeps which of them were taken."""
_LOCK = 0x646973
"""The advisory lock of PostgreSQL under which one process at a time changes tables."""


def migrate(engine: Engine) -> None:
    """Make or update the tables of the accounts; nothing happens if they are as they should be."""
    migrate_history(engine, HISTORY, VERSIONS)


def migrate_history(engine: Engine, history: str, versions: str) -> None:
    """Take all steps of a history (`package:folder`) that the database lacks, all of them or none.

    `versions` is the table that keeps the last step taken. FileError if the database has steps that are not known here.
    """
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if _lacks(connection, history, versions):
            config = _config(history)
            config.attributes.update(connection=connection, version_table=versions)
            _alembic("command").upgrade(config, "head")


def check_tables(connection: Connection, history: str = HISTORY, versions: str = VERSIONS) -> None:
    """Raise FileError unless the database has exactly the tables that this version needs."""
    if _lacks(connection, history, versions):
        raise FileError(
            f"the database {shown(connection.engine)} has no accounts yet, or those of an older version; make or "
            "update them: discreet budget limit ADDRESS#POPULATION LIMIT --adjacency add-remove"
        )


def _lacks(connection: Connection, history: str, versions: str) -> bool:
    """Whether steps are missing; FileError if the database has one that is not known here."""
    script = _alembic("script").ScriptDirectory.from_config(_config(history))
    context = _alembic("runtime.migration").MigrationContext.configure(connection, opts={"version_table": versions})
    known = {step.revision for step in script.walk_revisions()}
    taken = set(context.get_current_heads())
    if not taken <= known:
        raise FileError(
            f"the database {shown(connection.engine)} was made by a newer version of discreet; upgrade discreet"
        )
    return taken != set(script.get_heads())


def _config(history: str) -> Any:
    config = _alembic("config").Config()
    config.set_main_option("script_location", history)
    config.set_main_option("path_separator", "os")
    return config


def _alembic(module: str) -> Any:
    try:
        __import__(f"alembic.{module}")
    except ImportError:
        raise MissingExtra("accounts") from None
    return sys.modules[f"alembic.{module}"]
