"""The tables of the accounts. No column holds a value of the data: names, amounts, times and hashes only."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    text,
)

accounts_metadata = MetaData()

KINDS = ("population", "dataset", "project", "grant")
"""Kinds of accounts. A population is the people whose data these are; all else is a part of one."""
STATES = ("reserved", "spent", "returned")
"""States of a reservation."""
MOVEMENTS = ("open", "limit", "reserve", "spend", "return", "import")
"""Kinds of entries."""


def _one_of(column: str, words: tuple[str, ...]) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(repr(word) for word in words)})", name=f"known_{column}")


accounts = Table(
    "accounts",
    accounts_metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("name", Text, nullable=False),
    Column("population_id", Integer, ForeignKey("accounts.id"), nullable=False),
    Column("dataset_id", Integer, ForeignKey("accounts.id")),
    Column("project_id", Integer, ForeignKey("accounts.id")),
    Column("adjacency", String(16), nullable=False),
    Column("limit_nano", BigInteger, nullable=False),
    Column("reserved_nano", BigInteger, nullable=False, server_default="0"),
    Column("spent_nano", BigInteger, nullable=False, server_default="0"),
    _one_of("kind", KINDS),
    CheckConstraint("reserved_nano >= 0 AND spent_nano >= 0", name="not_negative"),
    CheckConstraint("reserved_nano + spent_nano <= limit_nano", name="within_limit"),
    Index(
        "one_population_of_a_name",
        "name",
        unique=True,
        sqlite_where=text("kind = 'population'"),
        postgresql_where=text("kind = 'population'"),
    ),
    Index("one_account_of_a_name", "population_id", "kind", "name", unique=True),
)
"""`dataset_id` and `project_id` are the accounts that a grant belongs to; a population's `population_id` is itself."""

reservations = Table(
    "reservations",
    accounts_metadata,
    Column("id", String(64), primary_key=True),
    Column("population_id", Integer, ForeignKey("accounts.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("adjacency", String(16)),
    Column("nano", BigInteger, nullable=False),
    Column("account_ids", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_at", String(40), nullable=False),
    _one_of("state", STATES),
    CheckConstraint("nano > 0", name="costs_something"),
    Index("reservations_by_name", "population_id", "name"),
)
"""`nano` is the price under the population's adjacency; `adjacency` is null if it is not known, as in old ledgers."""

entries = Table(
    "entries",
    accounts_metadata,
    Column("population_id", Integer, ForeignKey("accounts.id"), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("reservation_id", String(64)),
    Column("name", Text, nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("adjacency", String(16)),
    Column("nano", BigInteger, nullable=False),
    Column("accounts", Text, nullable=False),
    Column("at", String(40), nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    PrimaryKeyConstraint("population_id", "number"),
    _one_of("kind", MOVEMENTS),
)
"""Append-only: triggers refuse every change. One chain of hashes for each population."""

chains = Table(
    "chains",
    accounts_metadata,
    Column("population_id", Integer, ForeignKey("accounts.id"), primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("head", String(64), nullable=False),
)
"""The end of each chain. Whoever moves an amount locks this row first, so all movements of a population are serial."""

numbering = Table(
    "account_numbering",
    accounts_metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("last", Integer, nullable=False),
)
"""One row: the last number that an account was given. It is locked while an account is opened."""
