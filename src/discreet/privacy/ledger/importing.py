"""Taking the entries of a ledger file over into accounts, each exactly once.

Guarantee  an entry of a ledger file is counted once in a database, however often the file is imported.
Proof      the reservation of an imported entry is named by the hash of that entry in its file, which covers the entry,
           all before it and the moment at which the file was made; reservations have unique names.
Test       tests/privacy/accounts/test_importing.py::test_a_file_is_imported_once
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from discreet.errors import BudgetError, FileError
from discreet.privacy.accounts import Books, engine_for, migrate, writing
from discreet.privacy.accounts.tables import reservations
from discreet.privacy.ledger.address import AccountAddress
from discreet.privacy.ledger.database import named_accounts
from discreet.privacy.ledger.file import Contents, LedgerFile

BOOKS = Books()


@dataclass(frozen=True)
class Imported:
    """How many entries were taken over now, and how many were there already."""

    taken: int
    there: int


def import_file(path: Path, address: AccountAddress) -> Imported:
    """Enter everything that a ledger file holds into the named accounts, all of it or nothing."""
    with LedgerFile(path).held(spending=False) as held:
        contents = held.contents
    engine = engine_for(address.needs_names.url)
    try:
        migrate(engine)
        with writing(engine) as connection:
            return _enter(connection, contents, address, path)
    finally:
        engine.dispose()


def _enter(connection: Connection, contents: Contents, address: AccountAddress, path: Path) -> Imported:
    ids = [row.id for row in named_accounts(connection, address)]
    there = 0
    for entry, identity in zip(contents.account.entries, contents.hashes[1:], strict=True):
        if connection.execute(select(reservations.c.id).where(reservations.c.id == identity)).first() is not None:
            there += 1
            continue
        try:
            BOOKS.bring_in(connection, ids, entry.epsilon, entry.adjacency, entry.name, identity, entry.at)
        except BudgetError as error:
            raise BudgetError(f"{error}; nothing of {path} was imported") from None
    count = len(contents.account.entries)
    if there == count:
        what = "was imported already" if count else "has no entries"
        raise FileError(f"ledger {path} {what}; there is nothing to import")
    return Imported(count - there, there)
