"""Addresses of databases: how they are recognised, and shown without secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass

POSTGRES = ("postgresql", "postgres")
SPARK = ("spark", "sc")
_SCHEME = re.compile(r"([a-z]+)://")
_PARTS = re.compile(r"([a-z]+://)(?:[^@/?#]*@)?([^@/?#]*)(/[^@?#]*)?(?:\?[^@#]*)?")


@dataclass(frozen=True, repr=False)
class Address:
    """The address of a database. As a text it has no user, password or options: it may stand in any message.

    >>> str(Address("postgresql://ann:secret@db.example:5433/clinic?sslmode=require"))
    'postgresql://db.example:5433/clinic'
    >>> str(Address("postgresql://ann:se/cr@et@db.example/clinic"))
    'postgresql://...'
    >>> str(Address("sc://spark.example:443/;token=secret"))
    'sc://spark.example:443'
    """

    url: str

    @property
    def scheme(self) -> str:
        """The word before ://."""
        return self.url.partition("://")[0]

    def __str__(self) -> str:
        url = self.url.partition("/;")[0] if self.scheme in SPARK else self.url  # Spark Connect has its token there
        parts = _PARTS.fullmatch(url)
        return f"{self.scheme}://..." if parts is None else "".join(part or "" for part in parts.groups())

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"


def as_address(text: str) -> Address | None:
    """The address that a text is; None if it has no scheme, and so is the name of a file."""
    return Address(text) if _SCHEME.match(text) else None
