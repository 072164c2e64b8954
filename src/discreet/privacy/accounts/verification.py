"""Verifying accounts: the chain and all balances, computed again from the entries, in a database or in an export.

Test  tests/privacy/accounts/test_verify.py::test_an_edit_of_any_column_is_noticed
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from discreet.privacy.accounts.chain import START
from discreet.privacy.accounts.replay import Balance, Replay
from discreet.privacy.accounts.tables import accounts, chains, entries, numbering, reservations

AT_ONCE = 2000
"""Rows that are read at once: bounds the memory of a long history."""


@dataclass(frozen=True)
class Verified:
    """One population: its name, how many entries it has, and the hash of the last, to be noted elsewhere."""

    population: str
    entries: int
    head: str


@dataclass(frozen=True)
class Verification:
    """What was verified, and every problem that was found; without one the accounts are whole."""

    populations: tuple[Verified, ...]
    problems: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether no problem was found."""
        return not self.problems


class Heads:
    """Heads that were noted elsewhere, each of which has to occur in some chain."""

    def __init__(self, noted: Collection[str]) -> None:
        self._missing = {head.strip().lower() for head in noted} - {START}

    def meet(self, head: str) -> None:
        """Take note of a hash that occurs."""
        self._missing.discard(head)

    def problems(self) -> list[str]:
        """One problem for each head that did not occur."""
        return [
            f"no entry has the noted head {head[:64]}: entries were removed, or these are other accounts"
            for head in sorted(self._missing)
        ]


def verify(connection: Connection, noted: Collection[str] = ()) -> Verification:
    """Verify all populations of a database; call it inside `reading`, so that all tables are of one moment."""
    populations, problems = _populations(connection)
    heads, done = Heads(noted), []
    for population in populations:
        replay = Replay(population)
        for entry in entries_of(connection, population):
            replay.take(entry)
            heads.meet(entry["hash"])
        _compare_chain(connection, replay)
        _compare_accounts(connection, replay)
        _compare_reservations(connection, replay)
        done.append(Verified(replay.name, replay.count, replay.head))
        problems += replay.problems
    last = connection.execute(select(numbering.c.last).where(numbering.c.id == 1)).scalar()
    most = connection.execute(select(func.max(accounts.c.id))).scalar() or 0
    if type(last) is not int or last != most:  # no account is ever removed, and numbers are given in their order
        problems.append("the numbering of accounts was changed")
    return Verification(tuple(done), (*problems, *heads.problems()))


def entries_of(connection: Connection, population: int) -> Iterator[Mapping[str, Any]]:
    """All entries of a population in their order."""
    asked = select(entries).where(entries.c.population_id == population).order_by(entries.c.number)
    for row in connection.execute(asked.execution_options(yield_per=AT_ONCE)).mappings():
        yield dict(row)


def _populations(connection: Connection) -> tuple[list[int], list[str]]:
    """Every number that some table takes for a population, and a problem for each table that has something else there.

    SQLite keeps text, bytes and fractions in a column of whole numbers, too.
    """
    numbers: set[int] = set()
    problems = []
    for column in (
        accounts.c.population_id,
        entries.c.population_id,
        chains.c.population_id,
        reservations.c.population_id,
    ):
        found = connection.execute(select(column).distinct()).scalars().all()
        numbers |= {each for each in found if type(each) is int}
        if any(type(each) is not int for each in found):
            problems.append(f"the table {column.table.name} has a row of a population that is not a number")
    return sorted(numbers), problems


def _compare_chain(connection: Connection, replay: Replay) -> None:
    asked = select(chains.c["count"], chains.c.head).where(chains.c.population_id == replay.population)
    kept = connection.execute(asked).first()
    if kept is None or tuple(kept) != (replay.count, replay.head):
        replay.trouble(f"the chain of population {replay.name} does not end where it is said to end")


def _compare_accounts(connection: Connection, replay: Replay) -> None:
    rows = connection.execute(select(accounts).where(accounts.c.population_id == replay.population)).all()
    found = {
        row.id: (
            Balance(
                row.kind, row.name, row.dataset_id, row.project_id, row.limit_nano, row.reserved_nano, row.spent_nano
            ),
            row.adjacency,
        )
        for row in rows
    }
    for number in sorted(found.keys() | replay.accounts.keys()):
        told = replay.accounts.get(number)
        if found.get(number) != (told, replay.adjacency):
            name = told.name if told else f"number {number}"
            replay.trouble(f"account {name} of population {replay.name} is not what its entries say")


def _compare_reservations(connection: Connection, replay: Replay) -> None:
    asked = select(reservations).where(reservations.c.population_id == replay.population)
    seen = 0
    for row in connection.execute(asked.execution_options(yield_per=AT_ONCE)):
        told, seen = replay.reservations.get(row.id), seen + 1
        facts = (row.name, row.epsilon, row.adjacency, row.nano, row.account_ids, row.created_at, row.state)
        if told is None or facts != (
            told.name,
            told.epsilon,
            told.adjacency,
            told.nano,
            told.accounts,
            told.at,
            told.state,
        ):
            replay.trouble(f"reservation {row.id} of population {replay.name} is not what its entries say")
    if seen != len(replay.reservations):
        replay.trouble(
            f"population {replay.name} has {seen} reservations, and its entries tell {len(replay.reservations)}"
        )
