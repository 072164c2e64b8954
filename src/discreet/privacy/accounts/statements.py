"""The statements of a movement, each built once: building them takes longer than running them."""

from __future__ import annotations

from sqlalchemy import bindparam, insert, select, update

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
MOVE_CHAIN = (
    update(chains)
    .where(chains.c.population_id == bindparam("population"))
    .values(count=bindparam("new_count"), head=bindparam("new_head"))
)
ADD_ENTRY = insert(entries)

LOCK_ACCOUNTS = (
    select(accounts)
    .where(accounts.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(accounts.c.id)
    .with_for_update()
)
MOVE_AMOUNTS = (
    update(accounts)
    .where(accounts.c.id.in_(bindparam("ids", expanding=True)))
    .values(
        reserved_nano=accounts.c.reserved_nano + bindparam("more_reserved"),
        spent_nano=accounts.c.spent_nano + bindparam("more_spent"),
    )
)
ADD_RESERVATION = insert(reservations)
FIND_RESERVATION = select(reservations).where(reservations.c.id == bindparam("reservation"))
SETTLE_RESERVATION = (
    update(reservations).where(reservations.c.id == bindparam("reservation")).values(state=bindparam("new_state"))
)
