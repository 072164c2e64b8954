"""The address of accounts in a database: `postgresql://host/database#population/dataset/project`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from discreet.errors import ParameterError
from discreet.storage.addresses import Address, as_address

LEVELS = ("population", "dataset", "project")
"""What the names after # are, in this order."""
EXAMPLE = "postgresql://host/database#population/dataset, or sqlite:////folder/accounts.db#population"


@dataclass(frozen=True, repr=False)
class AccountAddress:
    """A database and the names of accounts in it. As a text it has no user, password or options.

    >>> str(AccountAddress.parsed("postgresql://ann:secret@db.example/money#clinic/visits"))
    'postgresql://db.example/money#clinic/visits'
    """

    url: str
    names: tuple[str, ...]

    @classmethod
    def parsed(cls, text: str) -> AccountAddress:
        """Read an address; names of accounts may be written with %2F for a slash."""
        url, _, fragment = text.partition("#")
        names = tuple(unquote(part) for part in fragment.split("/")) if fragment else ()
        if len(names) > len(LEVELS) or not all(names):
            raise ParameterError(
                f"{Address(url)}#…: need a population, and perhaps a data set and a project after it: {EXAMPLE}"
            )
        return cls(url, names)

    @property
    def file(self) -> Path | None:
        """The file of the database, if it is SQLite."""
        _, is_sqlite, path = self.url.partition("sqlite:///")
        return Path(path.partition("?")[0]) if is_sqlite else None

    @property
    def needs_names(self) -> AccountAddress:
        """This address, if it names accounts; ParameterError if it is a database only."""
        if not self.names:
            raise ParameterError(f"{self} names no account; add the population after #: {EXAMPLE}")
        return self

    def __str__(self) -> str:
        named = "/".join(quote(name, safe=" ") for name in self.names)
        return f"{Address(self.url)}#{named}" if named else str(Address(self.url))

    def __repr__(self) -> str:
        return f"AccountAddress({str(self)!r})"


def need_accounts() -> None:
    """Raise MissingExtra unless the packages of accounts are installed; call it before what imports them."""
    import discreet.privacy.accounts  # noqa: F401


def as_ledger_place(text: str) -> Path | AccountAddress:
    """Where a ledger is: a file, or accounts in a database."""
    return AccountAddress.parsed(text) if as_address(text) else Path(text)
