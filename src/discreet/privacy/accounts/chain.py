"""The chain of entries: each has the hash of the one before, so no entry can be changed without all that follow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, select

from discreet.errors import FileError
from discreet.privacy.accounts.tables import chains, entries

START = "0" * 64
"""What the first entry of a chain is chained to."""
FIELDS = ("population_id", "number", "kind", "reservation_id", "name", "epsilon", "adjacency", "nano", "accounts", "at")
"""What the hash of an entry covers, besides the hash of the entry before."""


def now() -> str:
    """The time, as entries note it. Nothing is decided by it: entries are ordered by their numbers."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def entry_hash(entry: Mapping[str, Any], previous: str) -> str:
    """SHA-256 of an entry and of the hash before it, in one spelling."""
    content = {field: entry[field] for field in FIELDS}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(previous.encode("ascii") + canonical.encode("ascii")).hexdigest()


def start(connection: Connection, population: int) -> None:
    """Begin the chain of a new population."""
    connection.execute(chains.insert().values(population_id=population, count=0, head=START))


def lock(connection: Connection, population: int) -> None:
    """Wait until no other transaction moves amounts of this population; until this one ends, others wait."""
    found = connection.execute(
        select(chains.c.count).where(chains.c.population_id == population).with_for_update()
    ).first()
    if found is None:
        raise FileError("the accounts are damaged: a population has no chain; restore the database from a backup")


def append(connection: Connection, population: int, **facts: Any) -> None:
    """Add an entry at the end of a chain whose lock is held."""
    count, head = connection.execute(
        select(chains.c.count, chains.c.head).where(chains.c.population_id == population)
    ).one()
    entry = {"population_id": population, "number": count + 1, "reservation_id": None, **facts}
    new = entry_hash(entry, head)
    connection.execute(entries.insert().values(**entry, previous=head, hash=new))
    connection.execute(chains.update().where(chains.c.population_id == population).values(count=count + 1, head=new))
