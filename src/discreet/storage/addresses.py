"""Addresses of databases: how they are recognised, and shown without secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass

POSTGRES = ("postgresql", "postgres")
SPARK = ("spark", "sc")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://)")
_MEANT = re.compile(rf"://|\bpassword\s*=|^({'|'.join((*POSTGRES, *SPARK))}):/", re.IGNORECASE)
"""What makes a text an address, perhaps a misspelled one: it may hold a password, so it is not shown as a file name."""
_HOST = r"(?:\[[0-9A-Fa-f:.]*\]|[^@/?#:,]*)(?::[0-9]*)?"  # what follows a colon is a port, or else a password
_PARTS = re.compile(rf"([a-z]+://)(?:[^@/?#]*@)?({_HOST}(?:,{_HOST})*)(/[^@?#;=]*)?(?:\?[^@#]*)?")


@dataclass(frozen=True, repr=False)
class Address:
    """The address of a database. As a text it has no user, password or options: it may stand in any message.

    >>> str(Address("postgresql://ann:secret@db.example:5433/clinic?sslmode=require"))
    'postgresql://db.example:5433/clinic'
    >>> str(Address("postgresql://ann:se/cr@et@db.example/clinic"))
    'postgresql://...'
    >>> str(Address("sc://spark.example:443/;token=secret"))
    'sc://spark.example:443'
    >>> str(Address("host=db.example password=secret"))
    'the database'
    >>> str(Address("postgresql://ann:secret"))
    'postgresql://...'
    """

    url: str

    @property
    def scheme(self) -> str:
        """The word before ://; empty if there is none."""
        scheme = _SCHEME.match(self.url)
        return scheme.group() if scheme else ""

    def __str__(self) -> str:
        url = self.url.partition("/;")[0] if self.scheme in SPARK else self.url  # Spark Connect has its token there
        parts = _PARTS.fullmatch(url)
        if parts is None:
            return f"{self.scheme}://..." if self.scheme else "the database"
        return "".join(part or "" for part in parts.groups())

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"


def as_address(text: str) -> Address | None:
    """The address that a text is, right or wrong; None if it does not look like one, and so is the name of a file."""
    return Address(text) if _MEANT.search(text) else None
