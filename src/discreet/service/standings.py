"""Accounts and their entries as people may see them: analysts their own grants', owners and auditors all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Select, select

from discreet.privacy.accounts import as_fraction
from discreet.privacy.accounts.tables import accounts, entries
from discreet.service.errors import NotFoundError
from discreet.service.people import Person
from discreet.service.tables import grants


@dataclass(frozen=True)
class Account:
    """What an account may spend, has set aside and has spent."""

    id: int
    kind: str
    name: str
    population: str
    adjacency: str
    limit: Fraction
    reserved: Fraction
    spent: Fraction

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.limit - self.reserved - self.spent


def _accounts(person: Person) -> Select[Any]:
    home = accounts.alias("home")
    wanted = select(accounts, home.c.name.label("population")).join(home, home.c.id == accounts.c.population_id)
    if person.is_owner or person.is_auditor:
        return wanted
    return wanted.where(accounts.c.id.in_(select(grants.c.account).where(grants.c.person_id == person.id)))


def _account(row: Any) -> Account:
    amounts = (as_fraction(row.limit_nano), as_fraction(row.reserved_nano), as_fraction(row.spent_nano))
    return Account(row.id, row.kind, row.name, row.population, row.adjacency, *amounts)


def accounts_of(connection: Connection, person: Person) -> list[Account]:
    """The accounts that a person may see, in the order in which they were opened."""
    return [_account(row) for row in connection.execute(_accounts(person).order_by(accounts.c.id))]


def account_of(connection: Connection, account: int, person: Person) -> Account:
    """One account; NotFoundError unless the person may see it."""
    row = connection.execute(_accounts(person).where(accounts.c.id == account)).first()
    if row is None:
        raise NotFoundError("there is no such account")
    return _account(row)


def entries_of(
    connection: Connection, population: int, *, before: int | None = None, most: int = 100
) -> list[dict[str, Any]]:
    """The latest entries of a population's chain, newest first; for owners and auditors."""
    wanted = select(entries).where(entries.c.population_id == population).order_by(entries.c.number.desc())
    if before is not None:
        wanted = wanted.where(entries.c.number < before)
    return [dict(row._mapping) for row in connection.execute(wanted.limit(min(most, 1000)))]
