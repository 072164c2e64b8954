"""The statements of a movement, each built once: building them takes longer than running them.

What a movement writes is one statement on PostgreSQL, where each statement is a message to the server and back while
other movements of the population wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Insert, Table, Update, bindparam, exists, insert, select, update

from discreet.privacy.accounts.tables import accounts, chains, entries, reservations

LOCK_CHAIN = (
    select(chains.c.population_id, chains.c["count"], chains.c.head)
    .where(chains.c.population_id == bindparam("population"))
    .with_for_update()
)
LOCK_CHAIN_OF = (
    select(chains.c.population_id, chains.c["count"], chains.c.head)
    .where(
        chains.c.population_id
        == select(reservations.c.population_id).where(reservations.c.id == bindparam("reservation")).scalar_subquery()
    )
    .with_for_update()
)
"""The chain of the population that a reservation belongs to, which never changes."""
LOCK_ACCOUNTS = (
    select(
        accounts,
        chains.c["count"].label("chain_count"),
        chains.c.head.label("chain_head"),
        exists().where(reservations.c.id == bindparam("reservation")).label("is_made"),
    )
    .join(chains, chains.c.population_id == accounts.c.population_id)
    .where(chains.c.population_id == bindparam("population"), accounts.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(accounts.c.id)
    .with_for_update(of=[chains, accounts])
)
"""The chain of a population, its accounts with these numbers, and whether there is a reservation of this name.

One message to the server and back. It waits for the chain first, and then reads each row as it was committed last;
`is_made` may be older by then, and then the key of the reservations refuses the second of this name.
"""
MOVE_AMOUNTS = (
    update(accounts)
    .where(accounts.c.id.in_(bindparam("ids", expanding=True)))
    .values(
        reserved_nano=accounts.c.reserved_nano + bindparam("more_reserved"),
        spent_nano=accounts.c.spent_nano + bindparam("more_spent"),
    )
)
FIND_RESERVATION = select(reservations).where(reservations.c.id == bindparam("reservation"))


class Steps:
    """Statements that belong together, and touch different tables."""

    def __init__(self, *statements: Insert | Update) -> None:
        self._each = statements
        *before, last = statements
        self._at_once = last.add_cte(*(each.cte(f"step{place}") for place, each in enumerate(before)))

    def run(self, connection: Connection, parameters: Mapping[str, Any]) -> None:
        """Run all of them; on PostgreSQL as one statement."""
        for statement in (self._at_once,) if connection.dialect.name == "postgresql" else self._each:
            connection.execute(statement, parameters)


def named(prefix: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a new row: the names of its columns, with a prefix."""
    return {prefix + name: value for name, value in facts.items()}


def _new_row(table: Table, prefix: str) -> Insert:
    return insert(table).values(**{column.name: bindparam(prefix + column.name) for column in table.columns})


_ENTER = (
    _new_row(entries, "entry_"),
    update(chains)
    .where(chains.c.population_id == bindparam("population"))
    .values(count=bindparam("new_count"), head=bindparam("new_head")),
)
ENTER = Steps(*_ENTER)
TAKE = Steps(_new_row(reservations, "reservation_"), MOVE_AMOUNTS, *_ENTER)
SETTLE = Steps(
    update(reservations).where(reservations.c.id == bindparam("reservation")).values(state=bindparam("new_state")),
    MOVE_AMOUNTS,
    *_ENTER,
)
