"""A new job and its lines in the log: on PostgreSQL one statement, so one message to the server and back."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select, union_all
from sqlalchemy.dialects import postgresql, sqlite

from discreet.service.log import write_all
from discreet.service.tables import jobs, log

COLUMNS = ("at", "owner_only", "person_id", "action", "subject", "detail")
"""Of a line, as `log.line` makes it."""
_UNIQUE = ["person_id", "idempotency_key"]
_ON_SQLITE = sqlite.insert(jobs).on_conflict_do_nothing(index_elements=_UNIQUE).returning(jobs.c.id)


def add_job(connection: Connection, values: Mapping[str, Any], lines: Sequence[dict[str, Any]]) -> bool:
    """Enter a job with its lines; nothing, and False, if the person has a job of this key."""
    if connection.dialect.name == "sqlite":
        is_new = connection.execute(_ON_SQLITE, values).first() is not None
        if is_new:
            write_all(connection, lines)
        return is_new
    named = {_name(place, column): line[column] for place, line in enumerate(lines) for column in COLUMNS}
    statement = _at_once(tuple(values), len(lines))
    return connection.execute(statement, {**values, **named}).first() is not None


def _name(place: int, column: str) -> str:
    return f"line{place}_{column}"


@functools.lru_cache
def _at_once(columns: tuple[str, ...], lines: int) -> Select[Any]:
    """The job, and from it, if it was entered, the lines; built once, since building takes longer than running it."""
    row = {column: bindparam(column, type_=jobs.c[column].type) for column in columns}
    job = postgresql.insert(jobs).values(**row).on_conflict_do_nothing(index_elements=_UNIQUE)
    entered = job.returning(jobs.c.id).cte("entered")
    added = [
        select(*(bindparam(_name(place, each), type_=log.c[each].type) for each in COLUMNS)).select_from(entered)
        for place in range(lines)
    ]
    written = insert(log).from_select(COLUMNS, union_all(*added), include_defaults=False)  # in this order
    return select(entered.c.id).add_cte(written.cte("written"))
