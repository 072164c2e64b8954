"""Addresses of databases: how they are recognised, shown without secrets, and opened."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.errors import ParameterError
from discreet.sources import Source

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


def open_address(address: Address, table: str | None, *, stream: bool = False) -> Source:
    """The table of a database as a source; `stream` allows its rows to travel to this process."""
    if address.scheme not in (*POSTGRES, *SPARK):
        raise ParameterError(
            f"{address.scheme}:// is no address that can be read; need postgresql://host/database, spark://host:7077 "
            "or sc://host"
        )
    if not table:
        raise ParameterError(f"{address} is a database; name its table (--table SCHEMA.NAME)")
    if address.scheme in SPARK:
        from discreet.sources.spark_session import StartedSpark

        return StartedSpark(address.url, table=table, stream=stream, shown=str(address))
    from discreet.sources.postgres import PostgresSource

    return PostgresSource(address.url, table=table, stream=stream)
