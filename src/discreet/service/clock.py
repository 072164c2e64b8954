"""Times: always UTC, with their zone, to the microsecond; in one process they never go back."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import DateTime
from sqlalchemy.types import TypeDecorator


class Clock:
    """The system's time, unless it was set back: then time goes on from what was told last.

    What has expired (a token, a link, a grant) stays expired while the process runs, and slots still end. A clock that
    is set forward is followed at once. After a restart the system's time counts.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._told, self._at = _system_time(), time.monotonic()

    def now(self) -> datetime:
        """The present time in UTC."""
        with self._turn:
            at = time.monotonic()
            self._told, self._at = max(_system_time(), self._told + timedelta(seconds=at - self._at)), at
            return self._told


def _system_time() -> datetime:
    return datetime.now(UTC)


now = Clock().now
"""The present time in UTC, which never goes back in this process."""


class Moment(TypeDecorator[datetime]):
    """A column of times in UTC; SQLite keeps no zone, so it is put back on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        """To the database: UTC, without a zone on SQLite."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone; need one in UTC")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        """From the database: with its zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
