"""Names, texts and types in SQL: how names and texts are quoted, and what kind of values each type holds."""

from __future__ import annotations

_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
INTEGER_TYPES = frozenset((*_INTEGERS, *("U" + name for name in _INTEGERS)))
FLOAT_TYPES = frozenset(("FLOAT", "DOUBLE", "REAL", "DECIMAL"))
TEXT_TYPES = frozenset(("VARCHAR", "CHAR", "TEXT", "ENUM", "UUID"))
DATE_TYPES = ("DATE", "TIME", "INTERVAL")
STRICT_TYPES = ("JSON", "GEOMETRY", "GEOGRAPHY", "VARIANT")
"""Types whose values DuckDB checks one by one while it reads them."""
UNCHECKED = "VARCHAR(unchecked)"
"""Our name for the type of a text column that DuckDB has not checked to be UTF-8, such as one behind a view."""


def may_fail(kind: str) -> bool:
    """Whether reading a value of this type may fail, because a file can hold invalid ones: dates, JSON, geometries.

    Lists and structs are judged by the words in their type; the names of their fields are taken for types too.
    """
    known = INTEGER_TYPES | FLOAT_TYPES | TEXT_TYPES | {"BOOLEAN", "BLOB", UNCHECKED}
    return base_type(kind) not in known and any(word in kind.upper() for word in (*DATE_TYPES, *STRICT_TYPES))


def base_type(kind: str) -> str:
    """A type without its parameters; the type of a list is left as it is, and so is not one of the types above."""
    return kind if kind.endswith("]") else kind.partition("(")[0]


def identifier(name: str) -> str:
    """A quoted column name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A quoted text."""
    return "'" + text.replace("'", "''") + "'"
