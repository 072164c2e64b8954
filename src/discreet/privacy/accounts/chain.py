"""The chain of entries: each has the hash of the one before, so no entry can be changed without all that follow."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection

from discreet.privacy.accounts.statements import LOCK_CHAIN, LOCK_CHAIN_OF, named
from discreet.privacy.accounts.tables import chains

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


@dataclass(frozen=True)
class Chain:
    """The end of a population's chain, which is locked: until this transaction ends, others wait."""

    population: int
    count: int
    head: str

    def continued(self, **facts: Any) -> dict[str, Any]:
        """What is written for one more entry at the end; the next movement locks the chain again."""
        entry = {"population_id": self.population, "number": self.count + 1, "reservation_id": None, **facts}
        new = entry_hash(entry, self.head)
        moved = {"population": self.population, "new_count": self.count + 1, "new_head": new}
        return {**named("entry_", {**entry, "previous": self.head, "hash": new}), **moved}


def lock(connection: Connection, population: int) -> Chain | None:
    """Wait until no other transaction moves amounts of this population; None if there is no such population."""
    found = connection.execute(LOCK_CHAIN, {"population": population}).first()
    return None if found is None else Chain(*found)


def lock_of(connection: Connection, reservation: str) -> Chain | None:
    """The same for the population of a reservation; None if there is no such reservation."""
    found = connection.execute(LOCK_CHAIN_OF, {"reservation": reservation}).first()
    return None if found is None else Chain(*found)


def start(connection: Connection, population: int) -> Chain:
    """Begin the chain of a new population."""
    connection.execute(chains.insert().values(population_id=population, count=0, head=START))
    return Chain(population, 0, START)
