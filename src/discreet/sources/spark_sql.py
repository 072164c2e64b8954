"""Spark's SQL: numbers are coded and packed into few integers per record; other columns go to the workers as they are.

Sending ten numbers of a record to a Python worker takes longer than counting them, so the SQL sends their codes, as
many as fit into one integer (benchmarks/engines_spark.py). The code of a number is found by the float operations of
`Cells.number_codes`, in double precision, one by one. NaN and NULL are replaced by the code of a missing value before
anything is compared or cast: Spark takes NaN for the largest number, floors it to 0, and its LEAST and GREATEST skip
NULL. What is cast to an integer lies within the cells, so no cast fails in ANSI mode, and nothing overflows.

Texts are sent as bytes: Spark's own comparisons depend on collations, and its casts read "1d" as a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.errors import DataError
from discreet.records.encoding import Cells, boolean_code, is_canonical_number
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Label, Numeric, text_of
from discreet.sources.spark_workers import NUMBERS, OPAQUE, TEXTS, Layout, Packed, Place, Raw

BITS = 63
"""Bits of an integer that are used: all but the sign."""
FEW = 64
"""At most this many numbers are compared with a value one after another; a longer list is left to the workers."""

LONG = 1 << 14
"""Bytes of a text that travel in any case; numbers have at most LONGEST_NUMBER."""

INTEGER_TYPES = ("tinyint", "smallint", "int", "bigint")
NUMBER_TYPES = (*INTEGER_TYPES, "float", "double", "decimal")
TEXT_TYPES = ("string", "char", "varchar")
DATE_TYPES = ("date", "time", "timestamp", "interval")


def base_type(kind: str) -> str:
    """The first word of a type as Spark spells it: "decimal" for "decimal(10,2)", "array" for "array<int>"."""
    return kind.split("<", 1)[0].split("(", 1)[0].split(" ", 1)[0]


def refuse_dates(schema: Schema, types: Mapping[str, str]) -> None:
    """Raise DataError for columns of dates, times or intervals, which are neither numbers nor categories."""
    for name in schema.all_names:
        if base_type(types[name]).startswith(DATE_TYPES):
            raise DataError(f"column {name!r} holds dates or times; turn it into a number or a text first")


@dataclass(frozen=True)
class Selected:
    """What a pass selects: SQL expressions, and where the codes of the records are found in their values."""

    expressions: tuple[str, ...]
    layout: Layout


def select_codes(
    cells: Sequence[Cells], schema: Schema, types: Mapping[str, str], names: Mapping[str, str]
) -> Selected:
    """The expressions for some cells and the class. `names` are the names of the columns in SQL, already quoted."""
    packing = _Packing()
    places: dict[Cells | None, Place] = {}
    left: dict[str, list[Cells | None]] = {}
    for each in (None, *cells):
        column = schema.target if each is None else each.column
        code, size = _code(each, schema, base_type(types[column]), names[column])
        if code is None:
            left.setdefault(column, []).append(each)
        else:
            places[each] = packing.add(code, size)
    words = packing.words()
    raw: list[str] = []
    for column, waiting in left.items():
        kind, value = _raw(base_type(types[column]), names[column], _longest(column, schema))
        places |= dict.fromkeys(waiting, Raw(len(words) + len(raw), kind))
        raw.append(value)
    expressions = tuple(f"{value} AS c{place}" for place, value in enumerate([*words, *raw]))
    label = places.pop(None)
    return Selected(expressions, Layout(schema, tuple(cells), tuple(places[each] for each in cells), label))


class _Packing:
    """Codes side by side in as few integers as they fit into, in the order in which they come."""

    def __init__(self) -> None:
        self._words: list[list[str]] = []
        self._used = BITS

    def add(self, code: str, size: int) -> Packed:
        bits = (size - 1).bit_length()
        if self._used + bits > BITS or not self._words:
            self._words.append([])
            self._used = 0
        place = Packed(len(self._words) - 1, self._used, size)
        self._words[-1].append(f"shiftleft(CAST({code} AS BIGINT), {self._used})")
        self._used += bits
        return place

    def words(self) -> list[str]:
        return [f"({' | '.join(parts)})" for parts in self._words]


def _code(cells: Cells | None, schema: Schema, kind: str, name: str) -> tuple[str | None, int]:
    """The expression of a code, or None if only the workers can encode the column; and the number of codes."""
    column = None if cells is None else schema[cells.column]
    if cells is not None and isinstance(column, Numeric):
        return _number(cells, column, kind, name), cells.size(schema)
    if isinstance(column, Categorical):
        return _label(column.categories, column.stray_code, column.missing_code, kind, name), column.size
    classless = len(schema.classes)
    return _label(schema.classes, classless, classless, kind, name), classless + 1


def _number(cells: Cells, column: Numeric, kind: str, name: str) -> str | None:
    """The code of a number; clipped before it is cast. numpy's cast of a number that is not negative is a floor too."""
    if kind not in (*NUMBER_TYPES, "boolean"):
        return None
    scale, offset = cells.scale_and_offset(column)
    top = (column.grid + 1 if cells.bins is None else cells.bins) - 1
    position = f"(CAST({name} AS DOUBLE) - {double(column.lower)}) * {double(scale)}"
    position = f"{position} + {double(offset)}" if offset else position
    there = f"nanvl(coalesce({position}, {NAN}), {double(cells.missing_code(column))})"
    return f"CAST(least(greatest({there}, {double(0)}), {double(top)}) AS INT)"


def _label(labels: Sequence[Label], stray: int, missing: int, kind: str, name: str) -> str | None:
    """The position of a number or a boolean among labels; None for a long list and for all other types."""
    texts = [text_of(label) for label in labels]
    if kind == "boolean":
        true, false = (stray if code is None else code for code in (boolean_code(b, texts) for b in (True, False)))
        return f"CASE WHEN {name} THEN {true} WHEN NOT {name} THEN {false} ELSE {missing} END"
    spelled = [(float(text), code) for code, text in enumerate(texts) if is_canonical_number(text)]
    if kind not in NUMBER_TYPES or len(spelled) > FEW:
        return None
    value = f"CAST({name} AS DOUBLE)"
    cases = " ".join(f"WHEN {value} = {double(number)} THEN {code}" for number, code in spelled)
    return f"CASE WHEN {value} IS NULL OR isnan({value}) THEN {missing} {cases} ELSE {stray} END"


def _longest(name: str, schema: Schema) -> int:
    """The most bytes that a label of a column has, at least LONG."""
    column = None if name == schema.target else schema[name]
    labels = schema.classes if column is None else getattr(column, "categories", ())
    return max([LONG, *(len(text_of(label).encode()) for label in labels)])


def _raw(kind: str, name: str, longest: int) -> tuple[str, str]:
    """How a column travels to the workers. A text that is longer than any number or label, without the spaces around
    it, is replaced by one that is neither: a batch of long texts could exceed what Arrow can hold, and fail."""
    if kind in TEXT_TYPES:
        trimmed = f"trim(BOTH ' ' FROM {name} COLLATE UTF8_BINARY)"
        short = f"CASE WHEN octet_length({trimmed}) <= {longest} THEN CAST({trimmed} AS BINARY) ELSE {UNREADABLE} END"
        return TEXTS, f"CASE WHEN octet_length({name}) > {longest} THEN {short} ELSE CAST({name} AS BINARY) END"
    if kind in (*NUMBER_TYPES, "boolean"):
        return NUMBERS, name
    return OPAQUE, f"CASE WHEN {name} IS NULL THEN NULL ELSE X'00' END"


NAN = "DOUBLE('NaN')"
UNREADABLE = "X'FF'"
"""A text that is not UTF-8: neither a number, nor a label, nor missing."""


def double(value: float) -> str:
    """The SQL text of a double, which is read back exactly."""
    return f"({float(value)!r}D)"
