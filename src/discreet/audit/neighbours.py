"""Pairs of neighbouring tables that privacy mechanisms often get wrong, and a search for others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from discreet.audit.tables import Record, Table, Value, bases, corner, empty
from discreet.schema import Adjacency, Categorical, Numeric, Schema

UNLISTED = "not-a-listed-value"
LARGEST = 1e308
SMALLER = ", made smaller from: "
VARIED = ", varied"
LONGEST = 16
"""Records of a pair that is varied: more make no better attack, and take longer."""


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables.

    Attributes
    ----------
    first, second : the tables; under add-remove, the first has the one record more.
    words : how they differ, as a reader is told.
    within : whether every value lies within the schema; outside it are NaN, infinities and unlisted values.
    """

    first: Table
    second: Table
    words: str
    within: bool = True


def pairs(schema: Schema, adjacency: Adjacency) -> list[Pair]:
    """All pairs of the list, none twice; pairs that follow each other are of different kinds, for whoever has no time
    for all of them."""
    alone = _alone_added(schema) if adjacency is Adjacency.ADD_REMOVE else _alone_replaced(schema)
    listed = [list(_of_base(words, base, schema, adjacency)) for words, base in bases(schema)]
    others = (list(_rivals(schema, adjacency)), list(_outside(schema, adjacency)))
    mixed = [pair for turn in zip_longest(*listed, *others) for pair in turn if pair]
    return list({(repr(pair.first), repr(pair.second)): pair for pair in reversed([*alone, *mixed])}.values())[::-1]


def _alone_added(schema: Schema) -> Iterator[Pair]:
    """One record, or none."""
    alone = empty(schema)
    for label in dict.fromkeys((schema.classes[0], schema.classes[-1])):
        yield Pair(
            alone.holding([(corner(schema, 1.0), label)]), alone, f"one record of class {label!r}; an empty table"
        )
    lowest = alone.holding([(corner(schema, 0.0), schema.classes[0])])
    yield Pair(lowest, alone, "one record at the lower bounds and of the first categories; an empty table")


def _alone_replaced(schema: Schema) -> Iterator[Pair]:
    """One record that is replaced."""
    alone = empty(schema)
    one, other = ((corner(schema, 1.0), label) for label in (schema.classes[0], schema.classes[-1]))
    yield Pair(alone.holding([one]), alone.holding([other]), "one record; its label changed")
    yield Pair(alone.holding([one]), alone.holding([(corner(schema, 0.0), one[1])]), "one record; its values changed")


def _of_base(words: str, base: Table, schema: Schema, adjacency: Adjacency) -> Iterator[Pair]:
    """A table, and what it becomes by one record within the schema."""
    for place, changed, record in _insertions(schema, base):
        pair = _changed(base, place, record, adjacency)
        if pair is not None:
            yield Pair(*pair, f"{words} ({len(base)}); {changed}")
    if adjacency is Adjacency.ADD_REMOVE:
        yield Pair(base, base.without(0), f"{words} ({len(base)}); the first record removed")


def _rivals(schema: Schema, adjacency: Adjacency, sizes: Iterable[int] = (6, 12)) -> Iterator[Pair]:
    """Every column tells the class of all records but one, in which the first column speaks against the others: what
    chooses columns or splits by their exact scores then follows that record."""
    low, high, classes = corner(schema, 0.0), corner(schema, 1.0), schema.classes
    for size in sizes if len(schema.columns) > 1 else ():
        ends = [(low, classes[0]) if place % 2 == 0 else (high, classes[-1]) for place in range(size)]
        agreeing = empty(schema).holding(ends)
        first = agreeing.holding([*ends, ((low[0], *high[1:]), classes[0])])
        other = agreeing.holding([*ends, ((high[0], *low[1:]), classes[0])])
        words = f"columns that agree ({size}); a record in which the first column tells the class and others do not"
        if adjacency is Adjacency.ADD_REMOVE:
            yield Pair(first, agreeing, words)
        else:
            yield Pair(first, other, f"{words}, or the other way round")


def _outside(schema: Schema, adjacency: Adjacency) -> Iterator[Pair]:
    """One table, and what it becomes by a record with a value outside the schema."""
    _, base = list(bases(schema))[1]
    middle, label = corner(schema, 0.5), schema.classes[0]
    odd = [(words, (values, label)) for words, values in _odd_values(schema, middle)]
    for words, record in [*odd, ("a record with an unlisted label", (middle, _other_label(schema)))]:
        pair = _changed(base, 0, record, adjacency)  # first: a reader may stumble over it, and lose what follows
        if pair is not None:
            yield Pair(*pair, f"spread records ({len(base)}); {words}", within=False)


def _changed(base: Table, place: int, record: Record, adjacency: Adjacency) -> tuple[Table, Table] | None:
    """The table with the record added, or put in place of another; and the table itself."""
    if adjacency is Adjacency.ADD_REMOVE:
        return base.holding((*base.records[:place], record, *base.records[place:])), base
    own = min(place, len(base) - 1)
    changed = base.holding((*base.records[:own], record, *base.records[own + 1 :]))
    return None if _same(changed.records[own], base.records[own]) else (changed, base)


def _insertions(schema: Schema, base: Table) -> Iterator[tuple[int, str, Record]]:
    """Records within the schema to add: where, how they are called, and the record."""
    classes, end = schema.classes, len(base)
    low, middle, high = (corner(schema, share) for share in (0.0, 0.5, 1.0))
    rare = [label for label in classes if label not in {each for _, each in base.records}]
    if rare:
        yield end, f"the only record of class {rare[-1]!r}", (low, rare[-1])
    for label in dict.fromkeys((classes[0], classes[-1])):
        yield end, f"a record at the upper bounds, class {label!r}", (high, label)
    yield 0, "a record at the upper bounds, put first", (high, classes[-1])
    for label in dict.fromkeys((classes[0], classes[-1])):
        yield end, f"a record in the middle, class {label!r}", (middle, label)
    yield end, "the last record twice", base.records[-1]


def _odd_values(schema: Schema, middle: tuple[Value, ...]) -> Iterator[tuple[str, tuple[Value, ...]]]:
    """Values outside the schema, in one column of each kind."""
    for kind in (Numeric, Categorical):
        place = next((place for place, each in enumerate(schema.columns) if isinstance(each, kind)), None)
        if place is None:
            continue
        column = schema.columns[place]
        odd: list[tuple[str, Value]] = [("missing", None), ("an unlisted value", UNLISTED), ("a lone quote", '"')]
        if isinstance(column, Numeric):
            beyond = float(column.upper) + 1000 * (float(column.upper) - float(column.lower))
            odd = [("NaN", math.nan), ("+infinity", math.inf), ("-infinity", -math.inf)]
            odd += [("a number far beyond the bound", beyond), ("1e308", LARGEST)]
        for words, value in odd:
            values = (*middle[:place], value, *middle[place + 1 :])
            yield f"a record whose {column.name!r} is {words}", values


def _other_label(schema: Schema) -> Value:
    numbers = [each for each in schema.classes if isinstance(each, int | float)]
    return max(numbers) + 1 if len(numbers) == len(schema.classes) else UNLISTED


def random_pair(schema: Schema, adjacency: Adjacency, rng: Any) -> Pair:
    """A pair at random: few records, values often at bounds, the changed record anywhere."""
    size = int(rng.integers(0, 13))
    records = [_random_record(schema, rng) for _ in range(size)]
    if size and rng.random() < 0.2:
        records = [records[0]] * size
    place, record = int(rng.choice([0, size, rng.integers(0, size + 1)])), _random_record(schema, rng)
    if rng.random() < 0.4:  # all at one point, with labels of their own, in turn or at random
        turns = [schema.classes[at % len(schema.classes)] for at in range(size)]
        labels = turns if rng.random() < 0.5 else [label for _, label in records]
        point = corner(schema, float(rng.choice([0.0, 0.5, 1.0])))  # predictions are looked at there
        records, record = [(point, label) for label in labels], (point, record[1])
    base = empty(schema)
    longer = [*records[:place], record, *records[place:]]
    if adjacency is Adjacency.ADD_REMOVE:
        return Pair(base.holding(longer), base.holding(records), f"found at random ({size} records and one more)")
    other = [*records[:place], _random_record(schema, rng), *records[place:]]
    return Pair(base.holding(longer), base.holding(other), f"found at random ({size + 1} records, one replaced)")


def in_turn(schema: Schema, sizes: Iterable[int]) -> Iterator[Pair]:
    """Records that differ in their labels only, which take turns; one more record, at either end.

    Where records are dealt by their place, to trees or to batches, one record more moves others to another part, which
    then has another label. That shows most where a part has about one record.
    """
    point, classes = corner(schema, 1.0), schema.classes
    for size in sizes:
        labels = [classes[place % len(classes)] for place in range(size)]
        base = empty(schema).holding([(point, label) for label in labels])
        for place, words in ((size, "last"), (0, "first")):
            added = (point, classes[(size if place else -1) % len(classes)])
            longer = base.holding((*base.records[:place], added, *base.records[place:]))
            yield Pair(longer, base, f"records at one point, classes in turn ({size}); one more, put {words}")


def _random_record(schema: Schema, rng: Any) -> Record:
    values: list[Value] = []
    for column in schema.columns:
        if isinstance(column, Numeric):
            share = float(rng.choice([0.0, 0.5, 1.0, rng.random()]))
            values.append(float(column.lower) + share * (float(column.upper) - float(column.lower)))
        else:
            values.append(column.categories[int(rng.integers(len(column.categories)))])
    return tuple(values), schema.classes[int(rng.integers(len(schema.classes)))]


def smaller(pair: Pair) -> Iterator[Pair]:
    """Pairs with fewer common records, the smallest first: half of them gone, a quarter, one."""
    common = _common(pair)
    step = len(common)
    while step >= 1:
        for start in range(0, len(common), step):
            gone = set(common[start : start + step])
            tables = []
            for side, table in enumerate((pair.first, pair.second)):
                places = {each[side] for each in gone}
                tables.append(table.holding([each for at, each in enumerate(table.records) if at not in places]))
            sizes = " against ".join(f"{len(each)} record{'' if len(each) == 1 else 's'}" for each in tables)
            origin = pair.words.partition(SMALLER)[2] or pair.words
            yield Pair(tables[0], tables[1], f"{sizes}{SMALLER}{origin}", pair.within)
        step //= 2


def varied(pair: Pair, schema: Schema, rng: Any) -> Pair:
    """A pair that differs in the same record, with one common record more, one less or one changed."""
    common, tables = _common(pair), [list(pair.first.records), list(pair.second.records)]
    how = int(rng.integers(3)) if common else 0
    if how == 0 and len(tables[0]) < LONGEST:
        record = _random_record(schema, rng)
        tables = [[record, *each] for each in tables]
    elif common:
        places, record = common[int(rng.integers(len(common)))], _random_record(schema, rng)
        for place, each in zip(places, tables, strict=True):
            each[place : place + 1] = [record] if how == 2 else []
    first, second = (pair.first.holding(each) for each in tables)
    return Pair(first, second, f"{pair.words.removesuffix(VARIED)}{VARIED}", pair.within)


def shown(pair: Pair) -> tuple[str, str]:
    """Both tables as texts, with a mark at the records that only one of them has."""
    common = _common(pair)
    sides = enumerate((pair.first, pair.second))
    first, second = (
        table.text(frozenset(range(len(table))) - {each[side] for each in common}) for side, table in sides
    )
    return first, second


def _common(pair: Pair) -> list[tuple[int, int]]:
    """Places of the records that both tables hold: all but the changed one."""
    first, second = pair.first.records, pair.second.records
    head = 0
    while head < min(len(first), len(second)) and _same(first[head], second[head]):
        head += 1
    tail = 0
    while tail < min(len(first), len(second)) - head and _same(first[-1 - tail], second[-1 - tail]):
        tail += 1
    before = [(place, place) for place in range(head)]
    return before + [(len(first) - place, len(second) - place) for place in range(tail, 0, -1)]


def _same(one: Record, other: Record) -> bool:
    return repr(one) == repr(other)  # NaN is the same as NaN here
