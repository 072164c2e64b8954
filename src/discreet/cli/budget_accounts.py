"""The part of `discreet budget` that works on accounts in a database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Row, select

from discreet.cli.outputs import emit, say, tabulate
from discreet.errors import FileError, ParameterError
from discreet.privacy.accounts import Books, as_fraction, engine_for, migrate, reading, writing
from discreet.privacy.accounts.export import export as write_export
from discreet.privacy.accounts.migration import check_tables
from discreet.privacy.accounts.tables import accounts
from discreet.privacy.accounts.verification import Verification, verify
from discreet.privacy.epsilon import shown_above, shown_below
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger.account import Account
from discreet.privacy.ledger.address import LEVELS, AccountAddress
from discreet.privacy.ledger.database import named_accounts

BOOKS = Books()


@contextlib.contextmanager
def _opened(address: AccountAddress) -> Iterator[Engine]:
    engine = engine_for(address.url)
    try:
        yield engine
    finally:
        engine.dispose()


@contextlib.contextmanager
def _looked_at(address: AccountAddress) -> Iterator[Connection]:
    """A connection that only reads; a file that is not there is not made."""
    if address.file is not None and not address.file.exists():
        raise FileError(f"there is no database {address.file}; check the path")
    with _opened(address) as engine, reading(engine) as connection:
        check_tables(connection)
        yield connection


def list_accounts(address: AccountAddress) -> list[dict[str, Any]]:
    """All accounts of a database, or those that the address names, as exact fractions."""
    with _looked_at(address) as connection:
        everything = connection.execute(select(accounts).order_by(accounts.c.population_id, accounts.c.id)).all()
        rows: Sequence[Row[Any]] = named_accounts(connection, address) if address.names else everything
        populations = {row.id: row.name for row in everything if row.kind == "population"}
        return [_account(row, populations[row.population_id]) for row in rows]


def _account(row: Row[Any], population: str) -> dict[str, Any]:
    amounts = {"limit": row.limit_nano, "reserved": row.reserved_nano, "spent": row.spent_nano}
    amounts["remaining"] = row.limit_nano - row.reserved_nano - row.spent_nano
    facts = {"population": population, "kind": row.kind, "name": row.name, "adjacency": row.adjacency}
    return {**facts, **{name: str(as_fraction(amount)) for name, amount in amounts.items()}}


def entries_of(address: AccountAddress) -> Account:
    """The innermost account that an address names, with its entries."""
    return Ledger(url=address).account


def tabulate_accounts(address: AccountAddress, rows: Sequence[dict[str, Any]]) -> None:
    """Print accounts as a table, with a bar of what is left."""
    told = [
        [
            ("" if row["kind"] == "population" else "  ")
            + f"{row['kind'].replace('dataset', 'data set')} {row['name']}",
            shown_below(_exact(row, "limit")),
            shown_above(_exact(row, "reserved")),
            shown_above(_exact(row, "spent")),
            shown_below(_exact(row, "remaining")),
            bar(_exact(row, "remaining"), _exact(row, "limit")),
        ]
        for row in rows
    ]
    heads = ["account", "limit", "reserved", "spent", "left", ""]
    tabulate(str(address), heads, told, right=heads[1:5])


def _exact(row: dict[str, Any], name: str) -> Fraction:
    return Fraction(row[name])


def bar(left: Fraction | int, limit: Fraction | int, width: int = 10) -> str:
    """A small bar of what is left, never longer than it is.

    >>> bar(1, 3, width=6), bar(0, 0, width=3)
    ('██░░░░', '░░░')
    """
    full = int(left * width / limit) if limit else 0
    return "█" * full + "░" * (width - full)


def set_limit(address: AccountAddress, limit: str, adjacency: str | None) -> bool:
    """Open the innermost account that the address names, or change its limit; true if it was opened."""
    *outer, name = address.needs_names.names
    with _opened(address) as engine:
        migrate(engine)
        with writing(engine) as connection:
            parents = named_accounts(connection, AccountAddress(address.url, tuple(outer)))
            kind, population = LEVELS[len(outer)], parents[0].id if parents else None
            same = select(accounts).where(accounts.c.kind == kind, accounts.c.name == name)
            if population is not None:
                same = same.where(accounts.c.population_id == population)
            row = connection.execute(same).first()
            if row is None:
                if kind == "population" and adjacency is None:
                    raise ParameterError(
                        f"there is no population {name} yet; state which tables are neighbours to open it: "
                        "--adjacency add-remove or --adjacency replace-one"
                    )
                BOOKS.open_account(connection, kind, name, limit, population=population, adjacency=adjacency)
                return True
            if adjacency not in (None, row.adjacency):
                raise ParameterError(
                    f"--adjacency={adjacency}: this population has {row.adjacency}, and keeps it; leave --adjacency out"
                )
            BOOKS.set_limit(connection, row.id, limit)
            return False


def verified(address: AccountAddress, heads: Sequence[str]) -> Verification:
    """Verify all populations of a database."""
    with _looked_at(address) as connection:
        return verify(connection, heads)


def report(place: object, verification: Verification, as_json: bool) -> None:
    """Print that accounts are whole, with the head of each population; FileError if they are not."""
    if as_json:
        told = [
            {"name": each.population, "entries": each.entries, "head": each.head} for each in verification.populations
        ]
        emit({"path": str(place), "whole": verification.whole, "populations": told, "problems": verification.problems})
    if not verification.whole:
        raise FileError(f"{place} is not whole: {'; '.join(verification.problems)}; restore it from a backup")
    if not as_json:
        count = sum(each.entries for each in verification.populations)
        say(f"{place} is whole: {count} entries, each as it was written, and every balance is what they say.")
        for each in verification.populations:
            say(f"Head of population {each.population} after {each.entries} entries: {each.head}")


def exported(address: AccountAddress, out: Path) -> Verification:
    """Write the entries of a population, or of all, to a file."""
    with _looked_at(address) as connection:
        if len(address.names) > 1:
            raise ParameterError(
                f"{address}: a chain belongs to a whole population; export that, or leave out the name"
            )
        rows = named_accounts(connection, address)
        return write_export(connection, out, rows[0].id if rows else None)
