"""The one SELECT that DuckDB runs: the columns of a table as they are, in types that Arrow can carry.

No value is compared, parsed or rounded in SQL: what DuckDB's own types need is turned into text or into bytes, and the
rest is for the encoding.

Guarantee  each record becomes one row, and a value becomes a function of itself, of the type of its column and of
           `longest`, which are public.
Proof      expressions look at one value each. Texts longer than `longest` are trimmed, and a text that is still longer
           is neither a label nor a number: one other text, longer than all labels, stands for all of these. So the
           size of a batch is bounded by public things, and no long text can make a batch fail.
Test       tests/sources/test_duckdb.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.errors import DataError
from discreet.records.sql_types import (
    DATE_TYPES,
    FLOAT_TYPES,
    INTEGER_TYPES,
    UNCHECKED,
    base_type,
    identifier,
    may_fail,
)
from discreet.schema import Schema
from discreet.schema.columns import LONGEST_NUMBER, Categorical, text_of

TEXTS = frozenset(("VARCHAR", "CHAR", "TEXT"))
HUGE = frozenset(("HUGEINT", "UHUGEINT"))


def select_columns(relation: str, names: Sequence[str], schema: Schema, types: Mapping[str, str]) -> str:
    """The SELECT of these columns, under their own names."""
    longest = longest_text(schema)
    columns = ", ".join(f"{plain(name, types[name], longest)} AS {identifier(name)}" for name in names)
    return f"SELECT {columns} FROM {relation}"


def select_values(relation: str, names: Sequence[str], types: Mapping[str, str]) -> str:
    """The SELECT of these columns under their own names, with texts in full, for the owner of the records."""
    columns = ", ".join(f"{_whole(name, types[name])} AS {identifier(name)}" for name in names)
    return f"SELECT {columns} FROM {relation}"


def _whole(name: str, kind: str) -> str:
    column = identifier(name)
    if kind.startswith(DATE_TYPES) and not kind.endswith("]"):
        return "CAST(NULL AS TIMESTAMP)"  # of dates, only their type is looked at
    if kind == UNCHECKED:
        return f"encode({column})"
    return column if base_type(kind) in TEXTS else plain(name, kind, 0)


def texts_as_bytes(names: Sequence[str], types: Mapping[str, str]) -> list[str]:
    """The columns whose texts come as bytes, because DuckDB has not checked that they are texts."""
    return [name for name in names if types[name] == UNCHECKED]


def longest_text(schema: Schema) -> int:
    """The most bytes of a text, without spaces around it, that can be a label of the schema or a number."""
    labels = [*schema.classes]
    for column in schema.columns:
        labels += column.categories if isinstance(column, Categorical) else ()
    return max(LONGEST_NUMBER, *(len(text_of(label).encode()) for label in labels))


def plain(name: str, kind: str, longest: int) -> str:
    """A column in a type that Arrow has: of values that are neither numbers nor texts only whether they are there."""
    column, base = identifier(name), base_type(kind)
    if kind == UNCHECKED:
        raw, text = f"encode({column})", _shortened(f"TRY(decode(encode({column})))", longest)
        return f"(CASE WHEN octet_length({raw}) <= {longest} THEN {raw} WHEN {raw} IS NOT NULL " + (
            f"THEN COALESCE(encode({text}), '\\xFF'::BLOB) END)"
        )
    if base in TEXTS:
        return _shortened(column, longest)
    if base in HUGE or base == "UUID":
        return f"CAST({column} AS VARCHAR)"
    if base in INTEGER_TYPES | FLOAT_TYPES | {"BOOLEAN", "ENUM"}:
        return column
    return f"(CASE WHEN {column} IS NOT NULL THEN ''::BLOB END)"


def _shortened(text: str, longest: int) -> str:
    trimmed = f"TRIM({text}, ' ')"
    return (
        f"(CASE WHEN strlen({text}) <= {longest} THEN {text} WHEN strlen({trimmed}) <= {longest} THEN {trimmed} "
        f"WHEN {text} IS NOT NULL THEN repeat('x', {longest + 1}) END)"
    )


def refuse_dates(schema: Schema, types: Mapping[str, str], *, stored: bool) -> None:
    """Raise DataError for columns of dates or times, which are neither numbers nor categories, as for data frames.

    Types whose values may fail to be read are refused too, unless a database stores them, which has checked them.
    """
    for name in schema.all_names:
        is_date = types[name].startswith(DATE_TYPES) and not types[name].endswith("]")
        if is_date or (not stored and may_fail(types[name])):
            raise DataError(f"column {name!r} holds dates or times; turn it into a number or a text first")
