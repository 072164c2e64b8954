"""The codes of all records as a SELECT inside PostgreSQL, for what is added up there.

Numbers are coded as in postgres_sql.py. What else a column holds has its code looked up: its distinct values come here,
are encoded by records/encoding.py, and those whose code is not the one of unknown values go back as parameters, with
their codes, to be joined with the table.

Guarantee  each record has the codes of the encoding.
Proof      numbers by the proof of postgres_sql.py; all else by its text, which is compared byte by byte (COLLATE "C")
           and is one of the distinct values that were encoded, as both statements read one snapshot. A text that cannot
           be read here cannot be sent back: it is not found, and has the code of UNREADABLE, which is that of all that
           are not found. No text is sent twice, so no record is joined twice.
Test       tests/engines/test_postgres_levels.py::test_levels_agree,
           tests/engines/test_postgres_linear.py::test_slopes_and_bends_agree
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.trees import Tree
from discreet.records.encoding import UNREADABLE, Cells, Codes, class_codes
from discreet.records.values import objects
from discreet.schema import Schema
from discreet.sources import postgres_sql
from discreet.sources.postgres_session import Rows, Session
from discreet.sources.postgres_values import values_of

SETTINGS = """SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true),
set_config('join_collapse_limit', '1', true),
CASE WHEN pg_size_bytes(current_setting('work_mem')) < 67108864 THEN set_config('work_mem', '64MB', true) END"""
"""What a transaction is told before the first sums. Groups are hashed, for estimates of their number are guesses, in
memory; to compile a deep tree would take longer than to run it; what is looked up is joined as written."""

TOGETHER = 16
"""Groupings of one statement, each of which may need its work_mem; GROUPING takes at most 31."""

Encode = Callable[[NDArray[Any]], Codes]


@dataclass(frozen=True)
class Lookup:
    """The codes of a column's texts: those of some, that of all others, and that of NULL."""

    texts: list[str]
    codes: list[int]
    other: int
    null: int


@dataclass(frozen=True)
class Selected:
    """A SELECT of codes, the class as y; the names of its columns by their cells; and its parameters."""

    text: str
    names: dict[Cells, str]
    values: list[Any]


@dataclass(frozen=True, eq=False, repr=False)
class CodedTable:
    """A table under a snapshot, and the codes that were looked up so far. Private."""

    session: Session
    relation: str
    kinds: Mapping[str, str]
    known: dict[tuple[str, Cells | None], Lookup] = field(default_factory=dict)
    met: dict[tuple[str, Cells], NDArray[np.intp]] = field(default_factory=dict)

    def fetch(self, text: str, values: Sequence[Any]) -> Iterator[Rows]:
        """The rows of a statement, some at a time; FileError, always the same, if anything fails."""
        return self.session.fetch(text, values)

    def select(self, cells: Iterable[Cells], schema: Schema) -> Selected:
        """The codes in some cells; OFFSET 0 has each code computed once for all that asks about it."""
        cells = list(dict.fromkeys(cells))
        looked = self._looked_up(cells, schema)
        inner, joins, values, outer = [], [], [], []
        names = {each: f"c{place}" for place, each in enumerate(cells)}
        for each, name in names.items():
            if each not in looked:
                inner.append(f"{_number(each, schema, self.kinds)} AS {name}")
                outer.append(name)
        for number, (each_or_class, lookup) in enumerate(looked.items()):
            if each_or_class is None:
                column, name = schema.target, "y"
            else:
                column, name = each_or_class.column, names[each_or_class]
            inner.append(f"{_spelled(column, self.kinds)} AS s{number}")
            joins.append(f"LEFT JOIN unnest(%s::text[], %s::int4[]) AS l{number}(v, c) ON l{number}.v = s{number}")
            values += [lookup.texts, lookup.codes]
            unknown = f"CASE WHEN s{number} IS NULL THEN {lookup.null} ELSE {lookup.other} END"
            outer.append(f"coalesce(l{number}.c, {unknown}) AS {name}")
        read = f"SELECT {', '.join(inner)} FROM {self.relation}".replace("%", "%%")
        text = f"SELECT {', '.join(outer)} FROM ({read}) AS rows {' '.join(joins)} OFFSET 0"
        return Selected(text, names, values)

    def occupied(self, cells: Iterable[Cells], schema: Schema) -> dict[Cells, NDArray[np.intp]]:
        """The codes that occur in each of some cells, in order; among all records, with or without a class."""
        cells = list(dict.fromkeys(cells))
        remaining = iter([each for each in cells if (schema.hash, each) not in self.met])
        while some := list(islice(remaining, TOGETHER)):
            coded = self.select(some, schema)
            names = [coded.names[each] for each in some]
            every, sets = ", ".join(names), ", ".join(f"({name})" for name in names)
            text = f"SELECT GROUPING({every}), coalesce({every}) FROM ({coded.text}) AS coded"
            found = [
                row for rows in self.fetch(f"{text} GROUP BY GROUPING SETS ({sets})", coded.values) for row in rows
            ]
            for number, each in enumerate(some):
                left_out = 2 ** len(some) - 1 - 2 ** (len(some) - 1 - number)
                self.met[schema.hash, each] = np.array(sorted(code for out, code in found if out == left_out), np.intp)
        return {each: self.met[schema.hash, each] for each in cells}

    def _looked_up(self, cells: Sequence[Cells], schema: Schema) -> dict[Cells | None, Lookup]:
        """The lookups of the cells that are not coded in SQL, and that of the classes (None)."""
        if not self.known:
            list(self.session.fetch(SETTINGS))
        looked: dict[Cells | None, Lookup] = {}
        for each in [*cells, None]:
            if each is None or not _is_coded(each, schema, self.kinds):
                if (schema.hash, each) not in self.known:
                    column = schema.target if each is None else each.column
                    encode = partial(class_codes if each is None else each.codes, schema=schema)
                    self.known[schema.hash, each] = self._encoded(column, encode)
                looked[each] = self.known[schema.hash, each]
        return looked

    def _encoded(self, column: str, encode: Encode) -> Lookup:
        other, null = encode(objects([UNREADABLE, None])).tolist()
        texts: list[str] = []
        codes: list[int] = []
        for rows in self.session.fetch(f"SELECT {_spelled(column, self.kinds)} FROM {self.relation} GROUP BY 1"):
            found = [row[0] for row in rows if isinstance(row[0], str)]
            code = encode(values_of(found, self.kinds[column]))
            for place in np.flatnonzero(code != other).tolist():
                texts.append(found[place])
                codes.append(int(code[place]))
        return Lookup(texts, codes, other, null)


def leaf_of(tree: Tree, names: Mapping[Cells, str], leaves: Iterable[Any]) -> str:
    """The text for the leaf in which a record ends, from those of the leaves, from left to right.

    A record goes left where its code is at most that of the split, or is that category, as in `Tree.leaf_of`.
    """
    remaining = iter(leaves)
    left, right, _ = tree.links()

    def below(node: int) -> str:
        split = tree.nodes[node]
        if split is None:
            return str(next(remaining))
        test = "=" if split.bins is None else "<="
        asked = f"{names[split.cells]} {test} {split.code}"
        return f"CASE WHEN {asked} THEN {below(left[node])} ELSE {below(right[node])} END"

    return below(0)


def listed(values: Iterable[Any], place: str, kind: str = "int4") -> str:
    """The text for one of some public numbers, at a place that is counted from 0."""
    return f"('{{{','.join(map(str, values))}}}'::{kind}[])[{place} + 1]"


def _is_coded(cells: Cells, schema: Schema, kinds: Mapping[str, str]) -> bool:
    return cells.size(schema) == 1 or postgres_sql.is_coded(cells, schema, kinds)


def _number(cells: Cells, schema: Schema, kinds: Mapping[str, str]) -> str:
    return "0" if cells.size(schema) == 1 else postgres_sql.code(cells, schema, kinds)


def _spelled(column: str, kinds: Mapping[str, str]) -> str:
    """A value as a text that is compared byte by byte; equal numbers may be written in several ways."""
    return f'({postgres_sql.raw(column, kinds)}::text COLLATE "C")'
