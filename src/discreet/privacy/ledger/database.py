"""A ledger that stands on accounts in a database, shared with everyone who uses these accounts.

Guarantee  a charge that returned is committed in the database, on all named accounts, before data are read. An open
           ledger notices a database that was replaced by an older copy. A name that may be paid once is paid once in a
           population, however many processes try.
Proof      `held` is one transaction, which is committed before `Ledger.charge` returns (`accounts/database.py`). The
           hash of the entry that was last when this ledger looked has to be at its place. To spend, the chain of the
           population is locked before anything is looked at, so no other transaction pays in between.
Test       tests/privacy/accounts/test_ledger_url.py::test_a_charge_is_committed_before_data_are_read,
           ::test_an_older_copy_is_noticed, ::test_a_name_is_paid_once_by_two_at_a_time
"""

from __future__ import annotations

import contextlib
import json
import uuid
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Row, select

from discreet.errors import FileError, ParameterError
from discreet.privacy.accounts import Books, as_fraction, chain, engine_for, reading, writing
from discreet.privacy.accounts.amounts import nano
from discreet.privacy.accounts.migration import check_tables
from discreet.privacy.accounts.tables import accounts, chains, entries, reservations
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.ledger.account import Account, Entry
from discreet.privacy.ledger.address import LEVELS, AccountAddress
from discreet.schema import Adjacency

BOOKS = Books()
OPENING = "discreet budget limit ADDRESS#POPULATION LIMIT --adjacency add-remove"


@dataclass(frozen=True)
class BookedAccount(Account):
    """The innermost of the named accounts; what is left is the least that any of them has left."""

    booked: Fraction = Fraction(0)
    left: Fraction = Fraction(0)

    @property
    def spent(self) -> Epsilon:
        """The loss so far, as the account counts it."""
        return self.booked

    @property
    def remaining(self) -> Epsilon:
        """What all named accounts have left; reserved amounts are not."""
        return self.left

    def counted(self, entry: Entry) -> Epsilon:
        """What an entry costs: under the population's adjacency, rounded up to a billionth."""
        exact = super().counted(entry)
        return exact if exact == float("inf") else as_fraction(nano(exact))


class LedgerAccounts:
    """Accounts in a database, named by an address, and the last entry that was seen there."""

    def __init__(self, address: AccountAddress) -> None:
        self.address = address.needs_names
        if address.file is not None and not address.file.exists():
            raise FileError(f"there is no database {address.file}; check the path, or open an account there: {OPENING}")
        self._engine = engine_for(address.url)
        weakref.finalize(self, self._engine.dispose)
        with reading(self._engine) as connection:
            check_tables(connection)
            self.ids = [row.id for row in named_accounts(connection, address)]
            self._seen = OpenAccounts(connection, self.ids, str(address)).end()

    @contextlib.contextmanager
    def held(self, *, spending: bool) -> Iterator[OpenAccounts]:
        """The accounts in one transaction; with `spending` nobody else can move amounts of the population."""
        held: OpenAccounts | None = None
        try:
            with (writing if spending else reading)(self._engine) as connection:
                if spending:
                    chain.lock(connection, self.ids[0])  # first: what is looked at stays true until the end
                held = OpenAccounts(connection, self.ids, str(self.address))
                held.check_seen(self._seen)
                yield held
                end = held.end()
            self._seen = end
        except FileError as error:
            if held is None or not held.has_entered:
                raise
            raise FileError(
                f"{error}; no data was read, but the charge may count: see discreet budget show '{self.address}'"
            ) from None


class OpenAccounts:
    """Accounts inside a transaction."""

    def __init__(self, connection: Connection, ids: list[int], address: str) -> None:
        self._connection, self._ids, self._address = connection, ids, address
        self.has_entered = False

    @property
    def account(self) -> BookedAccount:
        """The account with all its entries."""
        return replace(self.balance, entries=tuple(self._entries()))

    @property
    def balance(self) -> BookedAccount:
        """The account without its entries, of which there may be many."""
        rows = self._connection.execute(
            select(accounts).where(accounts.c.id.in_(self._ids)).order_by(accounts.c.id)
        ).all()
        own = next(row for row in rows if row.id == self._ids[-1])
        left = min(row.limit_nano - row.reserved_nano - row.spent_nano for row in rows)
        limit, spent = as_fraction(own.limit_nano), as_fraction(own.spent_nano)
        return BookedAccount(limit, Adjacency(own.adjacency), (), booked=spent, left=as_fraction(left))

    @property
    def head(self) -> str:
        """The hash of the population's last entry."""
        return self.end()[1]

    def end(self) -> tuple[int, str]:
        """Number and hash of the population's last entry."""
        found = self._connection.execute(
            select(chains.c.count, chains.c.head).where(chains.c.population_id == self._ids[0])
        ).one()
        count, head = found
        return int(count), str(head)

    def check_seen(self, seen: tuple[int, str]) -> None:
        """Raise FileError unless the entry that was last before is still there."""
        asked = select(entries.c.hash).where(entries.c.population_id == self._ids[0], entries.c.number == seen[0])
        if self._connection.execute(asked).scalar() != seen[1]:
            raise FileError(
                f"the accounts at {self._address} are not those that were opened: the database was replaced, perhaps "
                "by an older copy; restore it from a backup"
            )

    def check(self, entry: Entry) -> None:
        """Raise BudgetError if the entry does not fit into every named account."""
        self.balance.with_entry(entry)

    def has(self, name: str) -> bool:
        """Whether a release of this name was paid by any account of the population.

        Not by these accounts alone: a release that may be answered once is about the same people whichever data set or
        project pays, and under the same mask (doors/shares.py).
        """
        asked = select(reservations.c.id).where(
            reservations.c.population_id == self._ids[0],
            reservations.c.name == name,
            reservations.c.state != "returned",
        )
        return self._connection.execute(asked.limit(1)).first() is not None

    def enter(self, entry: Entry) -> None:
        """Spend on all named accounts; committed when the transaction ends."""
        identity = str(uuid.uuid4())
        facts = (self._ids, entry.epsilon, entry.adjacency, entry.name, identity)
        BOOKS.reserve(self._connection, *facts, at=entry.at or None)
        BOOKS.spend(self._connection, identity)
        self.has_entered = True

    def _entries(self) -> Iterator[Entry]:
        """What was spent on the innermost account, in the order in which it was reserved."""
        asked = (
            select(entries.c.name, entries.c.epsilon, entries.c.adjacency, entries.c.accounts, entries.c.at)
            .join(reservations, reservations.c.id == entries.c.reservation_id)
            .where(
                entries.c.population_id == self._ids[0],
                entries.c.kind.in_(("reserve", "import")),
                reservations.c.state == "spent",
            )
            .order_by(entries.c.number)
        )
        for row in self._connection.execute(asked):
            if self._ids[-1] in json.loads(row.accounts):
                paid = None if row.adjacency is None else Adjacency(row.adjacency)
                yield Entry(row.name, Fraction(row.epsilon), paid, row.at)


def named_accounts(connection: Connection, address: AccountAddress) -> list[Row[Any]]:
    """The accounts that an address names, the population first; ParameterError if there is none of a name."""
    rows: list[Row[Any]] = []
    for kind, name in zip(LEVELS, address.names, strict=False):
        asked = select(accounts).where(accounts.c.kind == kind, accounts.c.name == name)
        if rows:
            asked = asked.where(accounts.c.population_id == rows[0].id)
        row = connection.execute(asked).first()
        if row is None:
            raise ParameterError(
                f"{address}: there is no {kind.replace('dataset', 'data set')} {name}; open its account with a limit: "
                f"discreet budget limit ADDRESS LIMIT"
            )
        rows.append(row)
    return rows
