"""The books: opening accounts, setting limits, and moving amounts, each inside a transaction of the caller.

Guarantee  for every account, reserved + spent is never above its limit, also with many processes and crashes at any
           statement; what is spent stays spent. So all releases that were paid from an account are together (limit)-DP
           under the adjacency of its population.
Proof      a movement locks the chain of its population, so movements of a population happen one after another. It
           looks at the balances before it changes anything, so a refusal changes nothing; and the database itself holds
           reserved + spent <= limit (CHECK). All rows of a movement belong to one transaction: a crash leaves all or
           none. Only `spend` and `give_back` take from `reserved`, and `spend` adds the same amount to `spent`, from
           which nothing is ever taken. Each price bounds the loss (`counted`), and losses under one adjacency add up.
Test       tests/privacy/accounts/test_books_model.py::TestBooks,
           tests/privacy/accounts/test_parallel.py::test_the_last_units_are_sold_once
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Row, select, update
from sqlalchemy.exc import IntegrityError

from discreet.errors import BudgetError, ParameterError
from discreet.privacy.accounts import chain
from discreet.privacy.accounts.amounts import as_fraction, counted, limit_nano
from discreet.privacy.accounts.statements import ENTER, FIND_RESERVATION, LOCK_ACCOUNTS, SETTLE, TAKE, named
from discreet.privacy.accounts.tables import KINDS, accounts, numbering
from discreet.privacy.epsilon import as_epsilon, shown_above
from discreet.schema import Adjacency

LONGEST_NAME, LONGEST_ID, LONGEST_TIME = 1000, 64, 40
"""The most characters of a name, of a reservation's own name, and of a time."""
MADE = "this reservation exists already; it can be made only once"
_NOT_UNIQUE = "23505"
"""What PostgreSQL calls a key that exists."""


@dataclass(frozen=True)
class Standing:
    """What an account may spend, has set aside, has spent, and has left, as exact epsilon."""

    limit: Fraction
    reserved: Fraction
    spent: Fraction

    @property
    def remaining(self) -> Fraction:
        """What can still be reserved."""
        return self.limit - self.reserved - self.spent


class Books:
    """All movements of amounts; each takes a connection inside `writing`, and is undone if that ends with an error."""

    def open_account(
        self,
        connection: Connection,
        kind: str,
        name: str,
        limit: object,
        population: int | None = None,
        dataset: int | None = None,
        project: int | None = None,
        adjacency: object = None,
    ) -> int:
        """Open an account and return its number.

        A population needs an adjacency, and all its accounts have the same. `population`, `dataset` and `project` are
        numbers of accounts; an account that is not a population belongs to one.
        """
        if kind not in KINDS:
            raise ParameterError(f"kind={kind!r}; need one of {', '.join(KINDS)}")
        check_name(name)
        most = limit_nano(limit)
        if (population is None) != (kind == "population"):
            raise ParameterError("a population stands by itself, and every other account belongs to a population")
        end = None
        if population is None:
            under, number = as_book_adjacency(adjacency), _next_number(connection)
        else:
            end = chain.lock(connection, population)
            under, number = _inherited(connection, population, dataset, project, adjacency), _next_number(connection)
        _check_free(connection, kind, name, population)
        home = population or number
        facts = {"id": number, "kind": kind, "dataset": dataset, "project": project}
        connection.execute(
            accounts.insert().values(
                id=number,
                kind=kind,
                name=name,
                population_id=home,
                dataset_id=dataset,
                project_id=project,
                adjacency=under.value,
                limit_nano=most,
            )
        )
        told = {"kind": "open", "name": name, "epsilon": str(as_fraction(most)), "adjacency": under.value, "nano": most}
        end = end or chain.start(connection, number)
        ENTER.run(connection, end.continued(**told, accounts=_json(facts), at=chain.now()))
        return number

    def set_limit(self, connection: Connection, account: int, limit: object) -> None:
        """Change the limit of an account; never below what is reserved and spent."""
        most, row = limit_nano(limit), _the(connection, account)
        end = chain.lock(connection, row.population_id)
        changed = connection.execute(
            update(accounts)
            .where(accounts.c.id == account, accounts.c.reserved_nano + accounts.c.spent_nano <= most)
            .values(limit_nano=most)
        )
        if end is None or changed.rowcount != 1:
            raise BudgetError(
                f"limit={limit} is below what {called(row)} has spent and reserved; a limit can only be lowered to that"
            )
        told = {"name": row.name, "epsilon": str(as_fraction(most)), "adjacency": row.adjacency, "nano": most}
        ENTER.run(connection, end.continued(kind="limit", **told, accounts=_json([account]), at=chain.now()))

    def reserve(
        self,
        connection: Connection,
        accounts: Sequence[int],
        epsilon: object,
        adjacency: object,
        name: str,
        reservation_id: str,
        at: str | None = None,
    ) -> None:
        """Set an amount aside on all these accounts, or on none: BudgetError names the account that is short.

        `adjacency` is that under which the release will be private. The price is `counted` under the population's.
        """
        paid = as_book_adjacency(adjacency)
        self._take(connection, accounts, epsilon, paid, name, reservation_id, "reserve", at or chain.now())

    def spend(self, connection: Connection, reservation_id: str) -> str:
        """Spend what was reserved, for good; returns the epsilon that is now paid, as it was asked for.

        Data may be read after this was committed, and not before.
        """
        return self._settle(connection, reservation_id, "spend")

    def give_back(self, connection: Connection, reservation_id: str) -> None:
        """Return what was reserved and not spent."""
        self._settle(connection, reservation_id, "return")

    def charge(
        self,
        connection: Connection,
        accounts: Sequence[int],
        epsilon: object,
        adjacency: object,
        name: str,
        reservation_id: str,
        at: str | None = None,
    ) -> None:
        """Reserve and spend at once."""
        self.reserve(connection, accounts, epsilon, adjacency, name, reservation_id, at)
        self.spend(connection, reservation_id)

    def bring_in(
        self,
        connection: Connection,
        accounts: Sequence[int],
        epsilon: object,
        adjacency: object,
        name: str,
        reservation_id: str,
        at: str,
    ) -> None:
        """Enter what was spent before, elsewhere; the adjacency is None if it is not known."""
        paid = None if adjacency is None else as_book_adjacency(adjacency)
        self._take(connection, accounts, epsilon, paid, name, reservation_id, "import", at)

    def standing(self, connection: Connection, account: int) -> Standing:
        """What an account has and may."""
        row = _the(connection, account)
        return Standing(as_fraction(row.limit_nano), as_fraction(row.reserved_nano), as_fraction(row.spent_nano))

    def _take(
        self,
        connection: Connection,
        ids: Sequence[int],
        epsilon: object,
        paid: Adjacency | None,
        name: str,
        reservation_id: str,
        kind: str,
        at: str,
    ) -> None:
        check_name(name, least=0)
        check_name(reservation_id)
        if len(reservation_id) > LONGEST_ID or len(at) > LONGEST_TIME:
            raise ParameterError("the name of a reservation or its time is too long; use a UUID and an ISO time")
        exact = as_epsilon(epsilon)
        wanted = sorted(set(ids))
        if not wanted or len(wanted) != len(ids):
            raise ParameterError("need at least one account, and each only once")
        population = wanted[0]  # numbers grow: a population has a smaller one than all its accounts
        asked = {"population": population, "ids": wanted, "reservation": reservation_id}
        rows = connection.execute(LOCK_ACCOUNTS, asked).all()
        if not rows:
            raise ParameterError("a release is paid by its population as well; name its account too")
        if len(rows) != len(wanted):
            raise ParameterError("all accounts of a release belong to one population; check their numbers")
        price = counted(exact, paid, Adjacency(rows[0].adjacency))
        if rows[0].is_made:
            raise BudgetError(MADE)
        _check_room(rows, price)
        facts = {"name": name, "epsilon": str(exact), "adjacency": paid and paid.value, "nano": price}
        reserves, listed = kind == "reserve", _json(wanted)
        own = {"id": reservation_id, "population_id": population, "account_ids": listed, "created_at": at}
        own["state"] = "reserved" if reserves else "spent"
        more = {"more_reserved": price if reserves else 0, "more_spent": 0 if reserves else price}
        end = chain.Chain(population, rows[0].chain_count, rows[0].chain_head)
        entry = end.continued(kind=kind, reservation_id=reservation_id, **facts, accounts=listed, at=at)
        try:
            TAKE.run(connection, {**named("reservation_", {**own, **facts}), "ids": wanted, **more, **entry})
        except IntegrityError as error:
            if getattr(error.orig, "sqlstate", None) == _NOT_UNIQUE:  # made by whom we waited for
                raise BudgetError(MADE) from None
            raise

    def _settle(self, connection: Connection, reservation_id: str, kind: str) -> str:
        asked = {"reservation": reservation_id}
        end = chain.lock_of(connection, reservation_id)
        if end is None:
            raise BudgetError("there is no such reservation; reserve first")
        row = connection.execute(FIND_RESERVATION, asked).one()
        if row.state != "reserved":
            raise BudgetError(f"this reservation is {row.state} already; it can be spent or returned only once")
        spends = kind == "spend"
        more = {"more_reserved": -row.nano, "more_spent": row.nano if spends else 0}
        facts = {"name": row.name, "epsilon": row.epsilon, "adjacency": row.adjacency, "nano": row.nano}
        entry = end.continued(kind=kind, reservation_id=row.id, **facts, accounts=row.account_ids, at=chain.now())
        state = {"new_state": "spent" if spends else "returned", "ids": json.loads(row.account_ids)}
        SETTLE.run(connection, {**asked, **state, **more, **entry})
        return str(row.epsilon)


def check_name(name: object, least: int = 1) -> None:
    """Raise ParameterError for a name that a database could not keep."""
    if not isinstance(name, str) or not least <= len(name) <= LONGEST_NAME or "\0" in name:
        raise ParameterError(f"a name needs {least} to {LONGEST_NAME} characters, none of them NUL")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ParameterError("a name has half of a character; write it in Unicode") from None


def as_book_adjacency(value: object) -> Adjacency:
    """Read an adjacency, which every population and every release must state."""
    try:
        return Adjacency(value)  # type: ignore[arg-type]
    except ValueError:
        raise ParameterError(f"adjacency={value!r}; need 'add-remove' or 'replace-one'") from None


def called(row: Row[Any]) -> str:
    """An account in words: its kind and name."""
    return f"{row.kind.replace('dataset', 'data set')} {row.name}"


def _the(connection: Connection, account: int, kind: str | None = None) -> Row[Any]:
    row = connection.execute(select(accounts).where(accounts.c.id == account)).first()
    if row is None or kind not in (None, row.kind):
        raise ParameterError(f"there is no {kind or 'account'} with number {account}; check the number")
    return row


def _inherited(
    connection: Connection, population: int, dataset: int | None, project: int | None, adjacency: object
) -> Adjacency:
    """The adjacency of a population, after checking that the other parents are its accounts."""
    under = Adjacency(_the(connection, population, "population").adjacency)
    if adjacency is not None and as_book_adjacency(adjacency) is not under:
        raise ParameterError(f"adjacency={adjacency}; this population has {under}, and so have all its accounts")
    for kind, number in (("dataset", dataset), ("project", project)):
        if number is not None and _the(connection, number, kind).population_id != population:
            raise ParameterError(f"the {kind} with number {number} belongs to another population")
    return under


def _next_number(connection: Connection) -> int:
    """A number that no account has; other transactions that open accounts wait until this one ends."""
    statement = update(numbering).where(numbering.c.id == 1).values(last=numbering.c.last + 1)
    return int(connection.execute(statement.returning(numbering.c.last)).scalar_one())


def _check_free(connection: Connection, kind: str, name: str, home: int | None) -> None:
    """Raise ParameterError if the population has an account of this name, or if another population has it."""
    same = select(accounts.c.id).where(accounts.c.kind == kind, accounts.c.name == name)
    if home is not None:
        same = same.where(accounts.c.population_id == home)
    if connection.execute(same).first() is not None:
        raise ParameterError(
            f"there is a {kind.replace('dataset', 'data set')} called {name} already; choose another name"
        )


def _check_room(rows: Sequence[Row[Any]], price: int) -> None:
    """Raise BudgetError if an account has less left than a price; the message names it, but no balance."""
    for row in rows:
        if row.reserved_nano + row.spent_nano + price > row.limit_nano:
            raise BudgetError(
                f"{called(row)} has less than epsilon={shown_above(as_fraction(price))} left; use a smaller epsilon, "
                "or ask its owner for a higher limit"
            )


def _json(content: object) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
