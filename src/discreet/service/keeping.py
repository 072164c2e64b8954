"""Backup and restore of the service's database.

A backup that is restored does not know what was spent after it was made. So a restore never overwrites a database,
spends what the backup still has in reserve, and leaves a line in the log; how much was released in between, only those
who keep the chain's head or an export of the entries elsewhere can tell. Nor does a backup know what was revoked or
used after it was made: sessions, tokens and one-time links that it holds are ended.

Guarantee  nothing that a backup has in reserve is ever run, also if a restore is interrupted at any point, and no page
           of an earlier database gets into the restored one.
Proof      on SQLite the file gets its name when all of this is done, and only where there is no log of another file. On
           PostgreSQL a table stands in the database from before the first row until the transaction that spends, and no
           process opens a database that has it.
Test       tests/service/test_keeping.py::test_a_restored_reservation_is_spent_and_never_run,
           ::test_a_restore_that_was_interrupted_opens_nothing, ::test_the_log_of_a_killed_service_is_not_replayed
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from sqlalchemy import Engine, delete, inspect, update
from sqlalchemy.engine import make_url

from discreet.errors import FileError
from discreet.privacy.accounts import engine_for, writing
from discreet.service import jobs, log
from discreet.service.clock import now
from discreet.service.database import RESTORING, migrate
from discreet.service.settings import Settings, private_folder
from discreet.service.tables import links, sessions, tokens


def back_up(settings: Settings, out: Path) -> None:
    """Write the database to a file, which must not exist; other processes may go on meanwhile."""
    if out.exists():
        raise FileError(f"{out} exists; name a new file")
    mask = os.umask(0o077)
    try:
        if _is_sqlite(settings):
            _copy(_sqlite_file(settings), out)
        else:
            _run("pg_dump", settings, ["--format=custom", f"--file={out}"])
    finally:
        os.umask(mask)


def restore(settings: Settings, backup: Path) -> int:
    """Restore a backup into a database that is empty; returns how many reservations were spent with it."""
    if not backup.is_file():
        raise FileError(f"cannot read {backup}: no such file; check the path")
    private_folder(settings.folder)
    if _is_sqlite(settings):
        return _restore_file(_sqlite_file(settings), backup)
    _check_empty(settings)
    _mark(settings)
    _run("pg_restore", settings, ["--no-owner", "--exit-on-error", "--dbname", _plain_url(settings), str(backup)])
    return _after(settings.database)


def _restore_file(place: Path, backup: Path) -> int:
    """Restore a file of SQLite, which gets its name when all is done; returns how many reservations were spent."""
    _check_free(place)
    part = place.with_name(place.name + ".part")
    for left in _files_of(part):  # of a restore that was interrupted: its log would be replayed into this one
        left.unlink(missing_ok=True)
    _copy(backup, part)
    part.chmod(0o600)
    forfeited = _after(f"sqlite:///{part}")
    if any(each.exists() for each in _files_of(part)[1:]):
        raise FileError(f"{part} is in use by another process; end that, and restore again")
    _check_free(place)  # a worker or web process may have been started meanwhile
    os.replace(part, place)
    return forfeited


def _files_of(place: Path) -> list[Path]:
    """A file of SQLite, and those beside it from which SQLite changes it when it is opened next."""
    return [place.with_name(place.name + end) for end in ("", "-wal", "-shm", "-journal")]


def _check_free(place: Path) -> None:
    """Raise FileError if there is a database, or the log of one that was killed: it would undo the restore.

    From such a log, SQLite would write pages of the old database into the restored one: tokens that the restore has
    ended would be in force, or the file would be a mixture of both.
    """
    if found := [str(each) for each in _files_of(place) if each.exists()]:
        verb, them = ("exists", "it") if len(found) == 1 else ("exist", "them")
        raise FileError(
            f"{', '.join(found)} {verb}, and entries in {them} would be forgotten; end every process of the service, "
            f"move {them} away together, and keep {them}"
        )


def _mark(settings: Settings) -> None:
    engine = engine_for(settings.database)
    try:
        with writing(engine) as connection:
            connection.exec_driver_sql(f"CREATE TABLE {RESTORING} (at TEXT)")
    finally:
        engine.dispose()


def _after(address: str) -> int:
    """Spend what is reserved and end what lets anybody in, all in one transaction; returns how many were spent."""
    engine = engine_for(address)
    try:
        migrate(engine)
        return _forfeit(engine)
    finally:
        engine.dispose()


def _forfeit(engine: Engine) -> int:
    with writing(engine) as connection:
        forfeited = jobs.forfeit(connection)
        connection.execute(delete(sessions))
        connection.execute(update(tokens).where(tokens.c.revoked_at.is_(None)).values(revoked_at=now()))
        connection.execute(update(links).where(links.c.used_at.is_(None)).values(used_at=now()))
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {RESTORING}")
        log.write(connection, None, "service.restored", "database", {"forfeited": forfeited})
    return forfeited


def _copy(source: Path, target: Path) -> None:
    """Copy a SQLite database that may be in use."""
    if not source.is_file():
        raise FileError(f"cannot read {source}: no such file; check the folder")
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
            found = new.execute("PRAGMA integrity_check").fetchone()[0]
            new.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error:
        target.unlink(missing_ok=True)
        raise FileError(f"{source} is not a whole database of the service") from None
    if found != "ok":
        target.unlink(missing_ok=True)
        raise FileError(f"{source} is damaged; take another backup")


def _is_sqlite(settings: Settings) -> bool:
    return make_url(settings.database).get_backend_name() == "sqlite"


def _sqlite_file(settings: Settings) -> Path:
    return Path(str(make_url(settings.database).database))


def _plain_url(settings: Settings) -> str:
    """The address for PostgreSQL's own programs, without the password, which they get by their environment."""
    url = make_url(settings.database).set(drivername="postgresql", password=None)
    return url.render_as_string()


def _run(program: str, settings: Settings, options: list[str]) -> None:
    if shutil.which(program) is None:
        raise FileError(f"{program} is not installed; it comes with PostgreSQL")
    password = make_url(settings.database).password
    environment = {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}
    named = options if program == "pg_restore" else [*options, _plain_url(settings)]
    done = subprocess.run([program, *named], env=environment, capture_output=True, check=False)
    if done.returncode:
        raise FileError(f"{program} failed (status {done.returncode}); check the address, the rights and the file")


def _check_empty(settings: Settings) -> None:
    engine = engine_for(settings.database)
    try:
        if inspect(engine).get_table_names():
            raise FileError("the database has tables, whose entries would be forgotten; restore into an empty one")
    finally:
        engine.dispose()
