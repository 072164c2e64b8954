"""SELECTs in DuckDB's SQL that count records by class and cell, or encode them.

Counting takes two SELECTs. The first computes cells by the arithmetic of records/encoding.py, operation by operation in
double precision. Codes outside the cells are clipped after counting, which changes no count. Values without a code that
fits a small integer (missing, NaN or far out of bounds) are left to the second SELECT, which decides by an explicit
CASE before any clipping: GREATEST and LEAST skip NULL, which would turn a missing number into a bound, and engines
disagree on how NaN compares. A row of either result is (block, cell of its first column, cell of its second column,
count of class 0, count of class 1, ...).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.errors import DataError
from discreet.records.encoding import Cells, boolean_code, is_canonical_number
from discreet.records.sql_types import (
    DATE_TYPES,
    FLOAT_TYPES,
    INTEGER_TYPES,
    TEXT_TYPES,
    UNCHECKED,
    base_type,
    identifier,
    literal,
    may_fail,
)
from discreet.schema import Schema
from discreet.schema.columns import INFINITY, LONGEST_NUMBER, NUMBER, Categorical, Label, Numeric, text_of

SMALL = 64
"""Columns with at most this many cells are counted two at a time: half the work, and 64 x 64 joint counts still fit
into a processor's cache. benchmarks/speed.py measures it."""


def in_blocks(cells: Sequence[Cells], schema: Schema) -> list[tuple[Cells, ...]]:
    """The columns that are counted together."""
    small = [each for each in cells if each.size(schema) <= SMALL]
    large = [(each,) for each in cells if each.size(schema) > SMALL]
    return [*(tuple(small[start : start + 2]) for start in range(0, len(small), 2)), *large]


def count_cells(relation: str, cells: Sequence[Cells], schema: Schema, types: Mapping[str, str]) -> str:
    """The first SELECT: one pass per block. Codes fit one or two bytes, so engines can count in a plain array, without
    hashing; the code is NULL for numbers that are left to `count_rest`."""
    blocks = enumerate(in_blocks(cells, schema))
    return "\nUNION ALL\n".join(
        _count(relation, place, [_code(each, schema, types[each.column]) for each in block], schema, types)
        for place, block in blocks
    )


def count_rest(relation: str, cells: Sequence[Cells], schema: Schema, types: Mapping[str, str]) -> str:
    """The second SELECT: the records that the first left as NULL in each of these columns, one block per column."""
    parts = []
    for place, each in enumerate(cells):
        column, value = schema[each.column], as_double(each.column, types[each.column])
        assert isinstance(column, Numeric), "every category has a code"
        code = (
            f"CASE WHEN {_is_nothing(value)} THEN {each.missing_code(column)} "
            f"WHEN {value} < {double(column.lower)} THEN 0 ELSE {each.size(schema) - 1} END"
        )
        left = f"{relation} WHERE {_code(each, schema, types[each.column])} IS NULL"
        parts.append(_count(left, place, [code], schema, types))
    return "\nUNION ALL\n".join(parts)


def row_codes(relation: str, cells: Sequence[Cells], schema: Schema, types: Mapping[str, str]) -> str:
    """The code of each record in each of the cells (c0, c1, ...), and of its class (label)."""
    codes = [f"{_total_code(each, schema, types[each.column])} AS c{place}" for place, each in enumerate(cells)]
    conditions = _label_conditions(schema.target, schema.classes, types[schema.target])
    cases = " ".join(f"WHEN {condition} THEN {code}" for code, condition in enumerate(conditions))
    label = f"CAST(CASE {cases} ELSE {len(schema.classes)} END AS USMALLINT) AS label"
    return f"SELECT {', '.join([*codes, label])} FROM {relation}"


def _total_code(cells: Cells, schema: Schema, kind: str) -> str:
    """The code of any value, even a missing one. No branch of it may fail, since engines may compute all branches."""
    column = schema[cells.column]
    if isinstance(column, Categorical):
        return f"CAST({_category(column, kind)} AS USMALLINT)"
    value, top = as_double(column.name, kind), cells.size(schema) - 1
    code = f"TRY_CAST({_position(cells, column, kind)} AS BIGINT)"
    return (
        f"CAST(CASE WHEN {code} <= 0 THEN 0 WHEN {code} >= {top} THEN {top} WHEN {code} IS NOT NULL THEN {code} "
        f"WHEN {_is_nothing(value)} THEN {cells.missing_code(column)} "
        f"WHEN {value} < {double(column.lower)} THEN 0 ELSE {top} END AS USMALLINT)"
    )


def _is_nothing(value: str) -> str:
    """Whether a double is NULL or NaN. NaN is found by its spelling: DuckDB takes `isnan` for false wherever a Parquet
    file states bounds of a column, and such bounds leave NaN out."""
    return f"{value} IS NULL OR LOWER(CAST({value} AS VARCHAR)) IN ('nan', '-nan')"


def _count(relation: str, place: int, codes: Sequence[str], schema: Schema, types: Mapping[str, str]) -> str:
    """The counts of each class, grouped by one or two codes."""
    conditions = _label_conditions(schema.target, schema.classes, types[schema.target])
    counts = ", ".join(f"COALESCE(COUNT_IF({condition}), 0)" for condition in conditions)
    keys = ", ".join(str(position) for position in range(2, 2 + len(codes)))
    first, second = [*codes, "0"][:2]
    return f"SELECT {place} AS block, {first} AS first, {second} AS second, {counts} FROM {relation} GROUP BY {keys}"


def _code(cells: Cells, schema: Schema, kind: str) -> str:
    """The code of a value; the code of a number is not clipped, and is NULL if it is missing or far out of bounds."""
    column = schema[cells.column]
    size = cells.size(schema)
    integer = "TINYINT" if size <= SMALL else "SMALLINT" if size <= 2**14 else "USMALLINT"
    if isinstance(column, Categorical):
        return f"CAST({_category(column, kind)} AS {integer})"
    return f"TRY_CAST({_position(cells, column, kind)} AS {integer})"


def _position(cells: Cells, column: Numeric, kind: str) -> str:
    scale, offset = cells.scale_and_offset(column)
    position = f"({as_double(column.name, kind)} - {double(column.lower)}) * {double(scale)}"
    return f"FLOOR({position}{f' + {double(offset)}' if offset else ''})"


def _category(column: Categorical, kind: str) -> str:
    name = identifier(column.name)
    conditions = _label_conditions(column.name, column.categories, kind)
    cases = " ".join(f"WHEN {condition} THEN {code}" for code, condition in enumerate(conditions))
    missing = f"WHEN {_is_missing(name, kind)} THEN {column.missing_code}"
    return f"CASE {cases} {missing} ELSE {column.stray_code} END"


def _label_conditions(name: str, labels: Sequence[Label], kind: str) -> list[str]:
    """For each label, the condition that a value of the column is that label, as `encoding.label_codes` decides it."""
    column, texts = identifier(name), [text_of(label) for label in labels]
    if kind == "BOOLEAN":
        position = {word: boolean_code(word == "true", texts) for word in ("true", "false")}
        return [
            next((f"{column} = {word}" for word, code in position.items() if code == place), "FALSE")
            for place in range(len(texts))
        ]
    if _is_number_type(kind):
        return [_equals_number(name, kind, text) if is_canonical_number(text) else "FALSE" for text in texts]
    if base_type(kind) in TEXT_TYPES:
        return _text_conditions(column, texts, kind)
    return ["FALSE" for _ in texts]


def _text_conditions(column: str, texts: Sequence[str], kind: str) -> list[str]:
    """A text is a label if both are spelled alike, are the same number, or stand for the same truth value."""
    text = _trimmed(column, kind)
    conditions = [f"({text} = {literal(each)}" for each in texts]
    for place, each in enumerate(texts):
        if is_canonical_number(each):
            number = double(float(each))
            conditions[place] += f" OR ({_spells_number(text)} AND TRY_CAST({text} AS DOUBLE) = {number})"
    for word in ("true", "false"):
        code = boolean_code(word == "true", texts)
        if code is not None:
            listed = ", ".join(literal(each) for each in texts)
            conditions[code] += f" OR (LOWER({text}) {BYTEWISE} = '{word}' AND {text} NOT IN ({listed}))"
    return [f"{condition})" for condition in conditions]


def _spells_number(text: str) -> str:
    return f"(LENGTH({text}) <= {LONGEST_NUMBER} AND regexp_full_match({text}, {literal(NUMBER)}))"


def _equals_number(name: str, kind: str, text: str) -> str:
    """Equality with a number; integers are compared as integers, which gives the same result faster."""
    is_integer = text.lstrip("-").isdigit() and kind in INTEGER_TYPES
    return f"{identifier(name)} = {text}" if is_integer else f"{as_double(name, kind)} = {double(float(text))}"


def _is_missing(name: str, kind: str) -> str:
    if base_type(kind) in FLOAT_TYPES - {"DECIMAL"}:
        return _is_nothing(name)
    return f"{name} IS NULL OR {_trimmed(name, kind)} = ''" if base_type(kind) in TEXT_TYPES else f"{name} IS NULL"


def as_double(name: str, kind: str) -> str:
    """A column as a double: texts that match `columns.NUMBER` are parsed, values that are not numbers are NULL."""
    column = identifier(name)
    if kind == "DOUBLE":
        return column
    if kind in ("HUGEINT", "UHUGEINT"):  # rounded once, as everywhere; the direct cast rounds each half
        return f"CAST(CAST({column} AS VARCHAR) AS DOUBLE)"
    if kind == "BOOLEAN" or _is_number_type(kind):
        return f"CAST({column} AS DOUBLE)"
    if base_type(kind) not in TEXT_TYPES:
        return "CAST(NULL AS DOUBLE)"
    text = _trimmed(column, kind)
    infinite = f"CASE WHEN {text} LIKE '-%' THEN {double(float('-inf'))} ELSE {double(float('inf'))} END"
    return (
        f"(CASE WHEN {_spells_number(text)} "
        f"THEN COALESCE(TRY_CAST({text} AS DOUBLE), {infinite}) "
        f"WHEN regexp_full_match({text}, {literal(INFINITY)}) THEN {infinite} END)"
    )


def refuse_dates(schema: Schema, types: Mapping[str, str], *, stored: bool) -> None:
    """Raise DataError for columns of dates or times, which are neither numbers nor categories, as for data frames.

    Types whose values may fail to be read are refused too, unless a database stores them, which has checked them.
    """
    for name in schema.all_names:
        is_date = types[name].startswith(DATE_TYPES) and not types[name].endswith("]")
        if is_date or (not stored and may_fail(types[name])):
            raise DataError(f"column {name!r} holds dates or times; turn it into a number or a text first")


def _is_number_type(kind: str) -> bool:
    return base_type(kind) in INTEGER_TYPES | FLOAT_TYPES


BYTEWISE = 'COLLATE "C"'
"""Compare texts letter for letter, whatever collation the column or the connection has."""


def _trimmed(column: str, kind: str) -> str:
    """A text without leading and trailing spaces, as Python's strip(" ") gives it; NULL if it is not UTF-8."""
    text = f"TRY(decode(encode({column})))" if kind == UNCHECKED else f"CAST({column} AS VARCHAR)"
    return f"(TRIM({text}, ' ') {BYTEWISE})"


def double(value: float) -> str:
    """The SQL text of a double, which is read back exactly."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"
