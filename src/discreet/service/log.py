"""The log: who did what, append-only. It holds public facts; lines that depend on the data are for owners only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from discreet.service.clock import now
from discreet.service.tables import log, people

MOST = 1000
_ADD = insert(log)


@dataclass(frozen=True)
class Line:
    """One line of the log."""

    id: int
    at: datetime
    person: str | None
    action: str
    subject: str
    detail: dict[str, Any]
    owner_only: bool


def write(
    connection: Connection,
    person_id: int | None,
    action: str,
    subject: str,
    detail: Mapping[str, Any] | None = None,
    *,
    owner_only: bool = False,
) -> None:
    """Add a line. `action` is a fixed word such as "job.approved"; `detail` holds names and amounts, never values."""
    connection.execute(_ADD, line(person_id, action, subject, detail, owner_only=owner_only))


def write_all(connection: Connection, lines: Sequence[dict[str, Any]]) -> None:
    """Add several lines, made by `line`, in one message to the database."""
    connection.execute(_ADD, lines)


def line(
    person_id: int | None,
    action: str,
    subject: str,
    detail: Mapping[str, Any] | None = None,
    *,
    owner_only: bool = False,
) -> dict[str, Any]:
    """The columns of a line (see `write`), as of now."""
    values = {"person_id": person_id, "action": action, "subject": subject[:200], "detail": dict(detail or {})}
    return {"at": now(), "owner_only": owner_only, **values}


def read(
    connection: Connection,
    *,
    for_owner: bool,
    before: int | None = None,
    subject: str | None = None,
    most: int = 100,
) -> list[Line]:
    """The latest lines, newest first; those with an id below `before`, to page on. Auditors get no owner's lines."""
    wanted = select(log, people.c.name).outerjoin(people, people.c.id == log.c.person_id)
    if not for_owner:
        wanted = wanted.where(log.c.owner_only.is_(False))
    if before is not None:
        wanted = wanted.where(log.c.id < before)
    if subject is not None:
        wanted = wanted.where(log.c.subject == subject)
    rows = connection.execute(wanted.order_by(log.c.id.desc()).limit(min(most, MOST)))
    return [Line(row.id, row.at, row.name, row.action, row.subject, row.detail, row.owner_only) for row in rows]
