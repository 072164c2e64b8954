"""Counts at the places of a published tree, in PostgreSQL's SQL: one statement, one scan, and only counts come back.

Numbers are coded as in postgres_sql.py. What else a column holds has its code looked up: its distinct values come here,
are encoded by records/encoding.py, and those whose code is not the one of unknown values go back as parameters, with
their codes, to be joined with the table. The tree is a nested CASE over codes.

Guarantee  the counts are those that the task itself adds up over coded blocks, to the last integer.
Proof      each record has the codes of the encoding: numbers by the proof of postgres_sql.py; all else by its text,
           which is compared byte by byte (COLLATE "C") and is one of the distinct values that were encoded, as both
           statements read one snapshot. A text that cannot be read here cannot be sent back: it is not found, and has
           the code of UNREADABLE, which is that of all that are not found. No text is sent twice, so no record is
           joined twice.
           A record goes left where its code is at most that of the split, or is that category, as in `Tree.leaf_of`.
           Keys hold place, class and group side by side, each below its number.
Test       tests/engines/test_postgres_levels.py::test_levels_agree, ::test_trees_are_those_of_memory
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.encoding import UNREADABLE, Cells, Codes, class_codes
from discreet.records.values import objects
from discreet.schema import Schema
from discreet.sources import postgres_sql
from discreet.sources.postgres_session import Session
from discreet.sources.postgres_values import values_of
from discreet.sources.tree_counts import CountsAt, Grouped

SETTINGS = """SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true),
set_config('join_collapse_limit', '1', true),
CASE WHEN pg_size_bytes(current_setting('work_mem')) < 67108864 THEN set_config('work_mem', '64MB', true) END"""
"""What a transaction is told before the first level. Groups are hashed, for estimates of their number are guesses, in
memory; to compile a deep tree would take longer than to run it; what is looked up is joined as written."""
PACKED = 1 << 10
"""Columns are grouped together while they have at most this many groups, ..."""
FEW = 1 << 16
"""... and all places together at most this many: a grouping costs more than what a larger one adds."""

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


@dataclass(frozen=True, eq=False, repr=False)
class Levels:
    """A table under a snapshot, and the codes that were looked up so far. Private."""

    session: Session
    relation: str
    kinds: Mapping[str, str]
    known: dict[tuple[str, Cells | None], Lookup] = field(default_factory=dict)

    def counted(self, task: CountsAt, schema: Schema) -> NDArray[np.int64]:
        """What the task answers for all records."""
        if not self.known:
            list(self.session.fetch(SETTINGS))
        looked = self._looked_up(task, schema)
        tables = {pack: np.zeros(task.places * task.classes * pack.size, dtype=np.int64) for pack in _packs(task)}
        remaining = iter(tables)
        while some := list(islice(remaining, TOGETHER)):
            left_out = [2 ** len(some) - 1 - 2 ** (len(some) - 1 - number) for number in range(len(some))]
            for rows in self.session.fetch(*_statement(self, task, some, looked, schema)):
                found = np.array(rows, dtype=np.int64)
                for pack, number in zip(some, left_out, strict=True):
                    _, keys, numbers = found[found[:, 0] == number].T
                    tables[pack][keys] = numbers
        return _answer(task, tables)

    def _looked_up(self, task: CountsAt, schema: Schema) -> dict[Cells | None, Lookup]:
        """The lookups of the cells that are not coded in SQL, and that of the classes (None)."""
        looked: dict[Cells | None, Lookup] = {}
        for each in [*_cells(task), None]:
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


@dataclass(frozen=True)
class Pack:
    """Columns that are grouped together, the groups of the first in the lowest place."""

    columns: tuple[Grouped, ...]

    @property
    def size(self) -> int:
        """Number of groups."""
        return int(np.prod([each.groups for each in self.columns], dtype=np.int64))


def _packs(task: CountsAt) -> list[Pack]:
    """The groupings of a task; one of no columns if it has none. This depends on public things alone."""
    packs = [Pack(())]
    for each in sorted(task.columns, key=lambda column: column.groups):
        joined = Pack((*packs[-1].columns, each))
        small = joined.size <= PACKED and joined.size * task.places * task.classes <= FEW
        if small or not packs[-1].columns:
            packs[-1] = joined
        else:
            packs.append(Pack((each,)))
    return packs


def _statement(
    table: Levels, task: CountsAt, packs: Sequence[Pack], looked: Mapping[Cells | None, Lookup], schema: Schema
) -> tuple[str, list[Any]]:
    """The SELECT and its parameters; a row is (which keys are left out, key, number of records)."""
    coded, names, values = _coded(table, task, looked, schema)
    placed = f"SELECT *, {_place(task, names)} AS p FROM ({coded}) AS coded WHERE y < {task.classes} OFFSET 0"
    keys = ", ".join(f"{_key(task, pack, names)} AS k{number}" for number, pack in enumerate(packs))
    keyed = f"SELECT {keys} FROM ({placed}) AS placed WHERE p >= 0 OFFSET 0"
    every = ", ".join(f"k{number}" for number in range(len(packs)))
    sets = ", ".join(f"(k{number})" for number in range(len(packs)))
    grouped = f"FROM ({keyed}) AS keyed GROUP BY GROUPING SETS ({sets})"
    return f"SELECT GROUPING({every}), coalesce({every}), count(*) {grouped}", values


def _coded(
    table: Levels, task: CountsAt, looked: Mapping[Cells | None, Lookup], schema: Schema
) -> tuple[str, dict[Cells, str], list[Any]]:
    """The SELECT of all codes, the class as y; the names of its columns; and its parameters.

    OFFSET 0 has each code computed once for all that asks about it.
    """
    inner, joins, values = [], [], []
    outer = []
    names = {each: f"c{place}" for place, each in enumerate(_cells(task))}
    for each, name in names.items():
        if each not in looked:
            inner.append(f"{_number(each, schema, table.kinds)} AS {name}")
            outer.append(name)
    for number, (cells, lookup) in enumerate(looked.items()):
        column, name = (schema.target, "y") if cells is None else (cells.column, names[cells])
        inner.append(f"{_spelled(column, table.kinds)} AS s{number}")
        joins.append(f"LEFT JOIN unnest(%s::text[], %s::int4[]) AS l{number}(v, c) ON l{number}.v = s{number}")
        values += [lookup.texts, lookup.codes]
        unknown = f"CASE WHEN s{number} IS NULL THEN {lookup.null} ELSE {lookup.other} END"
        outer.append(f"coalesce(l{number}.c, {unknown}) AS {name}")
    read = f"SELECT {', '.join(inner)} FROM {table.relation}".replace("%", "%%")
    return f"SELECT {', '.join(outer)} FROM ({read}) AS rows {' '.join(joins)} OFFSET 0", names, values


def _cells(task: CountsAt) -> list[Cells]:
    """The cells whose codes a task asks for, each once."""
    return list(dict.fromkeys([*task.tree.cells, *(each.cells for each in task.columns)]))


def _is_coded(cells: Cells, schema: Schema, kinds: Mapping[str, str]) -> bool:
    return cells.size(schema) == 1 or postgres_sql.is_coded(cells, schema, kinds)


def _number(cells: Cells, schema: Schema, kinds: Mapping[str, str]) -> str:
    return "0" if cells.size(schema) == 1 else postgres_sql.code(cells, schema, kinds)


def _spelled(column: str, kinds: Mapping[str, str]) -> str:
    """A value as a text that is compared byte by byte; equal numbers may be written in several ways."""
    return f'({postgres_sql.raw(column, kinds)}::text COLLATE "C")'


def _place(task: CountsAt, names: Mapping[Cells, str]) -> str:
    """The place of a record among those that are counted; -1 for all other places."""
    numbers = iter(task.numbers)
    left, right, _ = task.tree.links()

    def below(node: int) -> str:
        split = task.tree.nodes[node]
        if split is None:
            place = next(numbers) - task.first
            return str(place) if 0 <= place < task.places else "-1"
        test = "=" if split.bins is None else "<="
        asked = f"{names[split.cells]} {test} {split.code}"
        return f"CASE WHEN {asked} THEN {below(left[node])} ELSE {below(right[node])} END"

    return below(0)


def _key(task: CountsAt, pack: Pack, names: Mapping[Cells, str]) -> str:
    """Place, class and groups of a record as one integer."""
    is_long = task.places * task.classes * pack.size >= 2**31
    text = f"(p{'::int8' if is_long else ''} * {task.classes} + y)"
    for each in reversed(pack.columns):
        group = names[each.cells]
        if each.codes is not None:
            table = each.of_codes(np.arange(each.codes[-1] + 2, dtype=np.uint16)).tolist()
            listed = ",".join(map(str, table))
            group = f"('{{{listed}}}'::int4[])[least({group}, {len(table) - 1}) + 1]"
        text = f"({text} * {each.groups} + {group})"
    return text


def _answer(task: CountsAt, tables: Mapping[Pack, NDArray[np.int64]]) -> NDArray[np.int64]:
    """The counts in the order of the task: of all records, then of each column."""
    nodes = task.places * task.classes
    first = next(iter(tables.values()))
    parts = {}
    for pack, table in tables.items():
        shape = (nodes, *(each.groups for each in reversed(pack.columns)))
        for place, each in enumerate(reversed(pack.columns), 1):
            axes = tuple(axis for axis in range(1, len(shape)) if axis != place)
            parts[each] = table.reshape(shape).sum(axis=axes).ravel()
    return np.concatenate([first.reshape(nodes, -1).sum(axis=1), *(parts[each] for each in task.columns)])
