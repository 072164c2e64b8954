"""Values that PostgreSQL has written as texts, read back for the encoding."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from numpy.typing import NDArray

from discreet.records.encoding import UNREADABLE
from discreet.records.values import objects
from discreet.sources import postgres_sql

READ: dict[str, Callable[[str], Any]] = {
    postgres_sql.FLOAT: float,
    postgres_sql.INTEGER: int,
    postgres_sql.DECIMAL: Decimal,
    postgres_sql.BOOLEAN: lambda text: text == "true",
    postgres_sql.OPAQUE: lambda text: None if text == "true" else UNREADABLE,
}
"""From the text that PostgreSQL writes to a value of the encoding; other kinds are texts already."""


def values_of(texts: Iterable[Any], kind: str) -> NDArray[Any]:
    """The values of a column of some kind."""
    read = READ.get(kind)
    return objects(texts if read is None else (None if text is None else read(text) for text in texts))
