"""The database of the accounts: SQLite in a file, or PostgreSQL; what was committed is on the disk.

Guarantee  when `writing` ends without an error, what was written is on the disk and everyone sees it; when it ends with
           one, nothing was written, or (if the connection was lost while it committed) nobody knows, and callers must
           take it for written where an amount was spent and for not written where data are to be read.
Proof      SQLite runs with synchronous=FULL, which syncs the log before a commit returns; a transaction begins with
           BEGIN IMMEDIATE, so that two writers never start from the same balance. PostgreSQL syncs its log at a commit
           unless synchronous_commit is off, which each connection sets back to on.
Limits     a disk or a server that only claims to have synced (PostgreSQL with fsync=off) can lose what was committed.
           That the log of a file of SQLite is the one that others read is in sqlite_log.py, also after forks
           (forking.py).
Test       tests/privacy/accounts/test_failures.py::test_a_full_disk_moves_nothing,
           ::test_a_connection_lost_in_the_middle_moves_nothing
"""

from __future__ import annotations

import collections
import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import Pool

from discreet.errors import FileError, MissingExtra, ParameterError
from discreet.privacy.accounts import liveness, sqlite_log
from discreet.privacy.accounts.forking import Gate
from discreet.storage.addresses import POSTGRES, Address

PATIENCE = 30
"""Seconds that a writer waits for another process, or for a free connection, before it gives up."""
WRITERS = 4
"""Threads of a process that write to PostgreSQL at once: more would only wait for one another, out of order."""
DRIVER = "postgresql+psycopg"
_READS = "discreet_reads"
_GATE = Gate()
_TURNS: weakref.WeakKeyDictionary[Engine, Turns] = weakref.WeakKeyDictionary()
_ABANDONED: list[Pool] = []
"""Connections of a parent process: kept, since closing them here would close them there."""


class Turns:
    """A lock that is given in the order in which threads asked for it: nobody waits long while others go twice.

    `places` threads can have it at once.

    Test  tests/privacy/accounts/test_database.py::test_writers_take_turns_in_the_order_they_came
    """

    def __init__(self, places: int = 1) -> None:
        self._guard = threading.Lock()
        self._waiting: collections.deque[threading.Event] = collections.deque()
        self._free = places

    def __enter__(self) -> None:
        with self._guard:
            if self._free:
                self._free -= 1
                return
            turn = threading.Event()
            self._waiting.append(turn)
        try:
            arrived = turn.wait(PATIENCE)
        except BaseException:
            self._leave(turn)
            raise
        if not arrived:
            self._leave(turn)
            raise FileError("the accounts were busy for too long; nothing was written; try again")

    def __exit__(self, *error: object) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1

    def _leave(self, turn: threading.Event) -> None:
        """Stop waiting; if the turn has come meanwhile, pass it on."""
        with self._guard:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return
        self.__exit__()


def engine_for(url: str) -> Engine:
    """The engine of a database: `sqlite:////folder/accounts.db`, or `postgresql://user@host/database`.

    A file of SQLite is made if there is none, readable by its owner alone.
    """
    parsed = _parsed(url)
    if parsed.get_backend_name() == "sqlite":
        engine = _sqlite(parsed)
    else:
        try:
            engine = create_engine(
                parsed,
                hide_parameters=True,
                pool_size=8,
                max_overflow=16,
                pool_timeout=PATIENCE,
                connect_args={"connect_timeout": 10},
            )
        except ImportError:
            raise MissingExtra("postgres") from None
        event.listen(engine, "connect", _prepare_postgres)
        liveness.watch(engine)
    _TURNS[engine] = _turns(engine)
    return engine


def _turns(engine: Engine) -> Turns:
    return Turns(1 if engine.dialect.name == "sqlite" else WRITERS)


def shown(engine: Engine) -> str:
    """The address of an engine without user, password and options."""
    text = engine.url.set(drivername=engine.url.get_backend_name()).render_as_string(hide_password=False)
    return str(Address(text))


@contextlib.contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A connection in one transaction, which is committed at the end or, after an error, undone.

    Threads of a process take turns, in the order in which they asked: on SQLite one at a time, on PostgreSQL a few.
    Do not write inside `writing` with another connection: on SQLite it would wait for itself.
    """
    with _TURNS[engine], _GATE, _plainly(engine), _connected(engine) as connection:
        with connection.begin():
            sqlite_log.check(connection)
            yield connection
        sqlite_log.check(connection)


@contextlib.contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that sees one state of the whole database, however long it reads, and writes nothing."""
    with _GATE, _plainly(engine), _connected(engine) as plain:
        options: dict[str, Any] = {_READS: True}
        if engine.dialect.name == "postgresql":
            options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        connection = plain.execution_options(**options)
        with connection.begin():
            sqlite_log.check(connection)
            yield connection


@contextlib.contextmanager
def reading_apart(engine: Engine) -> Iterator[Connection]:
    """A connection for reading by statements that need not see the same state: on PostgreSQL without a transaction.

    Each statement sees one state by itself. It saves two messages to the server and back.
    """
    if engine.dialect.name != "postgresql":
        with reading(engine) as connection:
            yield connection
        return
    with _GATE, _plainly(engine), _connected(engine) as plain:
        yield plain.execution_options(isolation_level="AUTOCOMMIT")


def _connected(engine: Engine) -> Connection:
    if engine.dialect.name == "sqlite" and not _GATE.is_safe:
        raise FileError(
            f"this process was forked in the middle of a transaction and cannot use the accounts at {shown(engine)}; "
            "fork when nothing is being charged, or start processes by 'spawn'"
        )
    return engine.connect()


@contextlib.contextmanager
def _plainly(engine: Engine) -> Iterator[None]:
    """A database that cannot be used is a FileError in one line, without the words of the driver."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        raise FileError(f"the accounts at {shown(engine)} cannot be used now ({_reason(error)}); try again") from None


def _reason(error: Exception) -> str:
    """Public words for what a driver said, which may have quoted a statement or a password."""
    text = str(getattr(error, "orig", error)).lower()
    known = {
        "disk is full": "the disk is full",
        "no space left": "the disk is full",
        "locked": "another process is writing",
        "lock timeout": "another process is writing",
        "unable to open": "the file cannot be opened",
        "readonly": "the file cannot be written",
        "read-only": "the database cannot be written",
        "authentication failed": "the password is wrong",
        "does not exist": "the database or the user does not exist",
        "timeout": "it does not answer",
        "timed out": "it does not answer",
        "refused": "no server answers there",
        "no such file": "no server answers there",
    }
    return next((words for sign, words in known.items() if sign in text), "the connection was lost")


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        backend = parsed.drivername
    except (ArgumentError, ValueError):
        backend = ""
    if backend in (*POSTGRES, DRIVER) and parsed.database:
        return parsed.set(drivername=DRIVER)
    if backend in ("sqlite", "sqlite+pysqlite") and parsed.database not in (None, "", ":memory:"):
        return parsed.set(drivername="sqlite+pysqlite")
    raise ParameterError(
        f"{Address(url)} is not an address of accounts; need sqlite:////folder/accounts.db or postgresql://host/database"
    )


def _sqlite(url: URL) -> Engine:
    path = Path(str(url.database)).absolute()
    sqlite_log.make(path)
    engine = create_engine(
        url.set(database=str(path)),
        hide_parameters=True,
        pool_size=8,
        max_overflow=64,
        pool_timeout=PATIENCE,
        connect_args={"timeout": PATIENCE, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions are ours, not the driver's
    for setting in ("journal_mode=WAL", "synchronous=FULL", "fullfsync=ON", "foreign_keys=ON", "recursive_triggers=ON"):
        connection.execute(f"PRAGMA {setting}")
    sqlite_log.remember(connection, record.info)


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN" if connection.get_execution_options().get(_READS) else "BEGIN IMMEDIATE")


def _prepare_postgres(connection: Any, record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", (f"{PATIENCE}s",))
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
    connection.commit()


def _close_before_fork() -> None:
    """Close the connections to files, if nobody uses them: a forked process must not inherit any."""
    if _GATE.before():
        for engine in list(_TURNS):
            if engine.dialect.name == "sqlite":
                engine.dispose()


def _forget_after_fork() -> None:
    """In a forked process: leave the parent's connections alone, and make new ones."""
    _GATE.in_child()
    for engine in list(_TURNS):
        _ABANDONED.append(engine.pool)
        engine.dispose(close=False)
        _TURNS[engine] = _turns(engine)


if hasattr(os, "register_at_fork"):  # not where processes do not fork
    os.register_at_fork(before=_close_before_fork, after_in_parent=_GATE.in_parent, after_in_child=_forget_after_fork)
