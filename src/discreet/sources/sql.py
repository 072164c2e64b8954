"""One portable SELECT that counts records by class and cell, for every engine that speaks SQL.

Missing values are decided by an explicit CASE before any clipping: GREATEST and LEAST skip NULL, which would
turn a missing number into a bound, and engines disagree on how NaN compares. The arithmetic is that of
encoding.py, operation by operation in double precision, so that counts agree with numpy's to the last record.
A row of the result is (table, cell, count of class 0, count of class 1, ...).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.encoding import INFINITY, NUMBER, Cells, boolean_code, is_canonical_number
from discreet.errors import DataError
from discreet.schema import Categorical, Label, Numeric, Schema, text_of

_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
INTEGER_TYPES = frozenset((*_INTEGERS, *("U" + name for name in _INTEGERS)))
FLOAT_TYPES = frozenset(("FLOAT", "DOUBLE", "REAL", "DECIMAL"))
TEXT_TYPES = frozenset(("VARCHAR", "CHAR", "TEXT", "ENUM", "UUID"))
DATE_TYPES = ("DATE", "TIME", "INTERVAL")


def count_cells(relation: str, cells: Sequence[Cells], schema: Schema, types: Mapping[str, str]) -> str:
    """The SELECT: one pass a column, conditional counts over the classes. A cell fits one byte where it can: engines
    count those in a plain array, without hashing."""
    return "\nUNION ALL\n".join(
        _count_one(relation, position, each, schema, types) for position, each in enumerate(cells)
    )


def _count_one(relation: str, position: int, cells: Cells, schema: Schema, types: Mapping[str, str]) -> str:
    sums = ", ".join(
        f"COALESCE(COUNT_IF({condition}), 0)"
        for condition in _label_conditions(schema.target, schema.classes, types[schema.target])
    )
    code = _code(cells, schema, types[cells.column])
    return f"SELECT {position} AS block, {code} AS cell, {sums} FROM {relation} GROUP BY 2"


def _code(cells: Cells, schema: Schema, kind: str) -> str:
    column = schema[cells.column]
    if isinstance(column, Categorical):
        return _category(column, kind)
    return _number(cells, column, cells.size(schema), kind)


def _number(cells: Cells, column: Numeric, size: int, kind: str) -> str:
    """The cell of a number. Codes above the last cell are clipped after counting, which changes no count."""
    value, integer = number_of(column.name, kind), "UTINYINT" if size <= 255 else "USMALLINT"
    scale, offset = cells.scale_and_offset(column)
    lower = double(column.lower)
    position = f"({value} - {lower}) * {double(scale)}" + (f" + {double(offset)}" if offset else "")
    missing, first, last = (f"CAST({code} AS {integer})" for code in (cells.missing_code(column), 0, size - 1))
    return (
        f"COALESCE(TRY_CAST(FLOOR({position}) AS {integer}), "
        f"CASE WHEN {value} IS NULL OR isnan({value}) THEN {missing} "
        f"WHEN {value} < {lower} THEN {first} ELSE {last} END)"
    )


def _category(column: Categorical, kind: str) -> str:
    name = identifier(column.name)
    conditions = _label_conditions(column.name, column.categories, kind)
    cases = " ".join(f"WHEN {condition} THEN {code}" for code, condition in enumerate(conditions))
    missing = f"WHEN {_is_missing(name, kind)} THEN {column.missing_code}"
    return f"CASE {cases} {missing} ELSE {column.stray_code} END"


def _label_conditions(name: str, labels: Sequence[Label], kind: str) -> list[str]:
    """When a value of the column is each of the labels, as `encoding.label_codes` decides it."""
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
        return [f"{_trimmed(column)} = {literal(text)}" for text in texts]
    return ["FALSE" for _ in texts]


def _equals_number(name: str, kind: str, text: str) -> str:
    """Equality with a number; integers are compared as integers, which says the same and is faster."""
    is_integer = text.lstrip("-").isdigit() and kind in INTEGER_TYPES
    return f"{identifier(name)} = {text}" if is_integer else f"{number_of(name, kind)} = {double(float(text))}"


def _is_missing(name: str, kind: str) -> str:
    if base_type(kind) in FLOAT_TYPES - {"DECIMAL"}:
        return f"{name} IS NULL OR isnan({name})"
    return f"{name} IS NULL OR {_trimmed(name)} = ''" if base_type(kind) in TEXT_TYPES else f"{name} IS NULL"


def number_of(name: str, kind: str) -> str:
    """A column as a double: text is parsed by `encoding.NUMBER`, what is no number is NULL."""
    column = identifier(name)
    if kind == "DOUBLE":
        return column
    if kind == "BOOLEAN" or _is_number_type(kind):
        return f"CAST({column} AS DOUBLE)"
    if base_type(kind) not in TEXT_TYPES:
        return "CAST(NULL AS DOUBLE)"
    text = _trimmed(column)
    infinite = f"CASE WHEN {text} LIKE '-%' THEN {double(float('-inf'))} ELSE {double(float('inf'))} END"
    return (
        f"(CASE WHEN regexp_full_match({text}, {literal(NUMBER)}) "
        f"THEN COALESCE(TRY_CAST({text} AS DOUBLE), {infinite}) "
        f"WHEN regexp_full_match({text}, {literal(INFINITY)}) THEN {infinite} END)"
    )


def refuse_dates(schema: Schema, types: Mapping[str, str]) -> None:
    """Dates and times are neither numbers nor categories: a clear error, as for data frames."""
    for name in schema.names:
        if types[name].startswith(DATE_TYPES) and not types[name].endswith("]"):
            raise DataError(f"column {name!r} holds dates or times; turn it into a number or a text first")


def base_type(kind: str) -> str:
    """A type without its parameters; that of a list is none of those above."""
    return kind if kind.endswith("]") else kind.partition("(")[0]


def _is_number_type(kind: str) -> bool:
    return base_type(kind) in INTEGER_TYPES | FLOAT_TYPES


def _trimmed(column: str) -> str:
    """A text without spaces around it; spaces only, as in Python's strip(" ")."""
    return f"TRIM(CAST({column} AS VARCHAR), ' ')"


def identifier(name: str) -> str:
    """A quoted column name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A quoted text."""
    return "'" + text.replace("'", "''") + "'"


def double(value: float) -> str:
    """A double, spelled so that it is read back exactly."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"
