"""Names, texts and types in SQL: how they are quoted, and which types a value can be read from."""

from __future__ import annotations

_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")


INTEGER_TYPES = frozenset((*_INTEGERS, *("U" + name for name in _INTEGERS)))


FLOAT_TYPES = frozenset(("FLOAT", "DOUBLE", "REAL", "DECIMAL"))


TEXT_TYPES = frozenset(("VARCHAR", "CHAR", "TEXT", "ENUM", "UUID"))


DATE_TYPES = ("DATE", "TIME", "INTERVAL")


STRICT_TYPES = ("JSON", "GEOMETRY", "GEOGRAPHY", "VARIANT")
"""Types of which DuckDB checks each value while it reads."""


UNCHECKED = "VARCHAR(unchecked)"
"""The type of a column of text that the engine did not check to be UTF-8, such as one of a view of other memory."""


def may_fail(kind: str) -> bool:
    """Whether reading a value of this type may fail, since not all that a file can hold is one: dates, JSON, shapes.

    Of a list or a struct by the words in its type, among which its names are taken for types too.
    """
    known = INTEGER_TYPES | FLOAT_TYPES | TEXT_TYPES | {"BOOLEAN", "BLOB", UNCHECKED}
    return base_type(kind) not in known and any(word in kind.upper() for word in (*DATE_TYPES, *STRICT_TYPES))


def base_type(kind: str) -> str:
    """A type without its parameters; that of a list is none of those above."""
    return kind if kind.endswith("]") else kind.partition("(")[0]


def identifier(name: str) -> str:
    """A quoted column name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A quoted text."""
    return "'" + text.replace("'", "''") + "'"


def is_utf8(text: str) -> bool:
    """Whether a text can stand in a statement at all; no text that an engine holds equals one that cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
