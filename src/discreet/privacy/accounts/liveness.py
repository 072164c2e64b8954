"""Whether a connection to PostgreSQL that was kept is still there, mostly without asking the server.

A server that ends a connection says so: its last words, or the end of the stream, wait to be read. So a connection on
which nothing waits, and that was used a moment ago, is taken as it is. If something waits, or after a pause, in which a
network may have forgotten it, the server is asked; a connection that is gone is replaced before a transaction begins.
A connection that breaks later is an error for its transaction, which is then undone.

Test  tests/privacy/accounts/test_database.py::test_a_connection_that_the_server_ended_is_replaced
"""

from __future__ import annotations

import select
import time
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import InvalidatePoolError

PAUSE = 20
"""Seconds without use after which the server is asked."""
_USED = "discreet_used"


def watch(engine: Engine) -> None:
    """Check each connection of this engine when it is taken from those that are kept."""

    def check(connection: Any, record: Any, proxy: object) -> None:
        used = record.info.get(_USED)
        if used is None or (time.monotonic() - used < PAUSE and not _something_waits(connection)):
            return
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            connection.rollback()
        except engine.dialect.loaded_dbapi.Error:
            raise InvalidatePoolError from None

    event.listen(engine, "checkout", check)
    event.listen(engine, "checkin", _note)


def _note(connection: object, record: Any) -> None:
    record.info[_USED] = time.monotonic()


def _something_waits(connection: Any) -> bool:
    """Whether the server has sent something that nobody asked for, or closed the connection."""
    try:
        watched = select.poll()
        watched.register(connection.fileno(), select.POLLIN)
        return bool(watched.poll(0))
    except Exception:  # no descriptor any more: closed here
        return True
