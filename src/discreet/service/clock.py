"""Times: always UTC, with their zone, to the microsecond."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime
from sqlalchemy.types import TypeDecorator


def now() -> datetime:
    """The present time in UTC."""
    return datetime.now(UTC)


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
