"""SELECTs in PostgreSQL's SQL: numbers are coded by the arithmetic of records/encoding.py, all else is grouped raw.

Values that are not numbers are encoded outside, each distinct value once and by the encoding itself, so that no rule of
the encoding is written a second time in SQL.

Guarantee  `code` is the code that `Cells.number_codes` gives, for every value that the column's type can hold, and no
           value makes the statement fail.
Proof      number_codes is the floor of a position, which grows with x (each float operation is monotone), clipped to
           0 ... top. `low` lies w / 2**30 above `lower`, w the width, rounded to a float; its position is at most
           65,000 / 2**29 + 1/2 < 1, so all x <= low have code 0. `high` lies as far below `upper`: its position is at
           least top, so all x >= high have code top. PostgreSQL compares floats as IEEE 754 does, except for NaN, which
           is above all numbers and equal to itself: it is neither below `high`, nor below `low`, nor different from
           NaN, and takes ELSE, as NULL does. Between low and high the operations are those of number_codes: the
           difference is at most w, so nothing overflows; it is 0 or at least w / 2**31, so the product does not
           underflow (PostgreSQL raises an error for both); and the position is below top + 1. A decimal is compared
           with low and high exactly, which agrees with comparing its float, because rounding is monotone; between
           them it is cast, which rounds to nearest as Python's float() does, but fails where the result would be 0 and
           the decimal is not: those decimals are at most 2**-1075 in size, and become 0 by CASE. Its float may be low
           or high itself, so its code is clipped.
Test       tests/engines/test_postgres_agrees.py::test_edges_of_cells_agree
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from itertools import islice

from discreet.errors import DataError
from discreet.records.encoding import Cells, Codes
from discreet.records.sql_types import identifier
from discreet.schema import Schema
from discreet.schema.columns import Numeric

FLOAT, INTEGER, DECIMAL, BOOLEAN, TEXT, WORD, OPAQUE, DATE = (
    "float", "integer", "decimal", "boolean", "text", "word", "opaque", "date",
)  # fmt: skip
"""What the values of a type are. A word is a text in another form (an enum, a UUID). Of opaque values, which are
neither numbers nor texts (bytes, JSON, arrays, ranges), only whether they are missing is looked at."""
AS_NUMBER = {FLOAT: "::float8", INTEGER: "::int8::float8", DECIMAL: "::numeric"}
"""How a number is cast before it is compared and coded; each of these rounds at most once, to nearest."""

GROUPED = {
    FLOAT: "{}::float8",
    INTEGER: "{}::int8",
    DECIMAL: "{}::numeric",
    BOOLEAN: "{}::bool",
    TEXT: '({}::text COLLATE "C")',
    WORD: "{}",
    OPAQUE: "({} IS NULL)",
}
"""What a column is grouped by. Collations other than "C" may take different texts for one."""

KINDS = {
    "float4": FLOAT, "float8": FLOAT, "int2": INTEGER, "int4": INTEGER, "int8": INTEGER, "oid": INTEGER,
    "numeric": DECIMAL, "money": DECIMAL, "bool": BOOLEAN, "uuid": WORD, "char": TEXT,
}  # fmt: skip
CATEGORIES = {"S": TEXT, "E": WORD, "D": DATE, "T": DATE}
"""The kinds of other types, by their category in pg_type: strings, enums, dates and times, intervals."""

PACKED = 16
"""Columns are grouped together while their codes fit this many bits: the table is scanned and hashed once for all of
them. benchmarks/engines_postgres.py measures it."""
TOGETHER = 12
"""Groupings that are sent as one statement, which PostgreSQL can work on in parallel; each may need its work_mem."""
TINY = Context(prec=2000).power(Decimal(2), -1075)
"""The largest decimal that rounds to 0 as a float."""


def kind_of(name: str, category: str) -> str:
    """What the values of a type are, from its name and category in pg_type; domains are given by their base type."""
    return KINDS.get(name) or CATEGORIES.get(category, OPAQUE)


@dataclass(frozen=True)
class Block:
    """What is grouped at once: the packed codes of some numbers, or the raw values of one column."""

    cells: tuple[Cells, ...]
    packed: bool


def in_blocks(cells: Sequence[Cells], schema: Schema, kinds: Mapping[str, str], bits: int = PACKED) -> list[Block]:
    """What is grouped or sent together: codes of numbers, packed into at most `bits` bits, or the values of one column.

    This depends on public things alone.
    """
    numbers = {each for each in cells if is_coded(each, schema, kinds)}
    blocks: list[list[Cells]] = []
    used = bits + 1
    for each in sorted(numbers, key=lambda number: (number.size(schema), repr(number))):
        width = bits_of(each, schema)
        if used + width > bits:
            blocks.append([])
            used = 0
        blocks[-1].append(each)
        used += width
    raws: dict[str, list[Cells]] = {}
    for each in cells:
        if each not in numbers:
            raws.setdefault(each.column, []).append(each)
    return [*(Block(tuple(block), True) for block in blocks), *(Block(tuple(block), False) for block in raws.values())]


def bits_of(cells: Cells, schema: Schema) -> int:
    """Bits that a code takes."""
    return (cells.size(schema) - 1).bit_length()


def bits_in(cells: Sequence[Cells], schema: Schema) -> dict[Cells, tuple[int, int]]:
    """Where the code of each of the cells is in their key: the bits below it, and a mask of its own."""
    places, used = {}, 0
    for each in cells:
        width = bits_of(each, schema)
        places[each] = used, (1 << width) - 1
        used += width
    return places


def unpacked(packed: Codes, below: int, mask: int) -> Codes:
    """The codes of some cells, from the keys that they are in; a new array."""
    codes = packed >> below
    codes &= mask
    return codes


def is_coded(cells: Cells, schema: Schema, kinds: Mapping[str, str]) -> bool:
    """Whether the codes are computed in SQL: those of numbers, and those of columns that have a single code."""
    is_number = isinstance(schema[cells.column], Numeric)
    return is_number and (kinds[cells.column] in AS_NUMBER or cells.size(schema) == 1)


def counts(relation: str, blocks: Sequence[Block], schema: Schema, kinds: Mapping[str, str]) -> Iterator[str]:
    """The statements that count; a row is (block, packed code, raw value, raw label, number of records)."""
    label = raw(schema.target, kinds)
    parts = []
    for place, block in enumerate(blocks):
        if block.packed:
            value, shown = key(block.cells, schema, kinds), "v, NULL"
        else:
            value, shown = raw(block.cells[0].column, kinds), "0, v::text"
        grouped = f"SELECT {value} AS v, {label} AS y, count(*) AS n FROM {relation} GROUP BY 1, 2"
        parts.append(f"SELECT {place}, {shown}, y::text, n FROM ({grouped}) AS grouped")
    remaining = iter(parts)
    while some := list(islice(remaining, TOGETHER)):
        yield "\nUNION ALL\n".join(some)


def key(cells: Sequence[Cells], schema: Schema, kinds: Mapping[str, str]) -> str:
    """The codes of some numbers as one integer, side by side; the first is in the lowest bits."""
    parts, used = [], 0
    for each in cells:
        width = bits_of(each, schema)
        if width:
            unit = f"{1 << used}::int8" if used + width > 30 else str(1 << used)
            parts.append(f"{unit} * {code(each, schema, kinds)}" if used else code(each, schema, kinds))
            used += width
    return " + ".join(parts) or "0"


def code(cells: Cells, schema: Schema, kinds: Mapping[str, str]) -> str:
    """The code of a number (proof above)."""
    column, kind = schema[cells.column], kinds[cells.column]
    assert isinstance(column, Numeric), "categories are encoded outside"
    low, high = _ends(column)
    x, number = identifier(column.name) + AS_NUMBER[kind], decimal if kind == DECIMAL else double
    scale, offset = cells.scale_and_offset(column)
    difference = f"({_as_double(x, kind)} - {double(float(column.lower))})"
    position = f"{difference if column.lower else _as_double(x, kind)} * {double(scale)}"  # x - 0 is x
    inner = f"floor({position}{f' + {double(offset)}' if offset else ''})::int4"
    top = cells.size(schema) - 1
    if kind == DECIMAL:
        inner = f"least({inner}, {top})"
    return (
        f"(CASE WHEN {x} > {number(low)} AND {x} < {number(high)} THEN {inner} WHEN {x} <= {number(low)} THEN 0 "
        f"WHEN {x} <> 'NaN' THEN {top} ELSE {cells.missing_code(column)} END)"
    )


def _ends(column: Numeric) -> tuple[float, float]:
    """A number whose code is 0, close above the lower bound; and one whose code is the last, close below the upper."""
    lower, upper = float(column.lower), float(column.upper)
    margin = (upper - lower) * 2.0**-30
    return lower + margin, upper - margin


def _as_double(x: str, kind: str) -> str:
    return x if kind != DECIMAL else f"(CASE WHEN abs({x}) <= {TINY:f} THEN 0 ELSE {x}::float8 END)"


def raw(name: str, kinds: Mapping[str, str]) -> str:
    """What a column is grouped by, if it is encoded outside."""
    return GROUPED[kinds[name]].format(identifier(name))


def trial(relation: str, schema: Schema, kinds: Mapping[str, str]) -> str:
    """A SELECT with all that is computed from columns, of no rows: what it lacks, later statements would lack too."""
    cells = [Cells(name) for name in schema.names]
    texts = [code(each, schema, kinds) if is_coded(each, schema, kinds) else raw(each.column, kinds) for each in cells]
    return f"SELECT {', '.join([*texts, raw(schema.target, kinds)])} FROM {relation} LIMIT 0"


def refuse_dates(schema: Schema, kinds: Mapping[str, str]) -> None:
    """Raise DataError for columns of dates or times, which are neither numbers nor categories, as for data frames."""
    for name in schema.all_names:
        if kinds[name] == DATE:
            raise DataError(f"column {name!r} holds dates or times; turn it into a number or a text first")


def double(value: float) -> str:
    """The SQL text of a double, which is read back exactly."""
    return f"'{value!r}'::float8"


def decimal(value: float) -> str:
    """The SQL text of the decimal that is exactly a double."""
    return f"'{Decimal(value):f}'::numeric"
