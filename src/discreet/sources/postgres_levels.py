"""Counts at the places of a published tree, in PostgreSQL's SQL: one statement, one scan, and only counts come back.

Guarantee  the counts are those that the task itself adds up over coded blocks, to the last integer.
Proof      each record has the codes of the encoding (postgres_coded.py). The tree is a nested CASE over codes. Keys
           hold place, class and group side by side, each below its number.
Test       tests/engines/test_postgres_levels.py::test_levels_agree, ::test_trees_are_those_of_memory
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.mixing import PRIME
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.postgres_coded import CodedTable, leaf_of, listed
from discreet.sources.tree_counts import CountsAt, Grouped, Hand

PACKED = 1 << 10
"""Columns are grouped together while they have at most this many groups, ..."""
FEW = 1 << 16
"""... and all places together at most this many: a grouping costs more than what a larger one adds."""

TOGETHER = 16
"""Groupings of one statement, each of which may need its work_mem; GROUPING takes at most 31."""


def counted(table: CodedTable, task: CountsAt, schema: Schema) -> NDArray[np.int64]:
    """What the task answers for all records."""
    tables = {pack: np.zeros(task.places * task.classes * pack.size, dtype=np.int64) for pack in _packs(task)}
    remaining = iter(tables)
    while some := list(islice(remaining, TOGETHER)):
        left_out = [2 ** len(some) - 1 - 2 ** (len(some) - 1 - number) for number in range(len(some))]
        for rows in table.fetch(*_statement(table, task, some, schema)):
            found = np.array(rows, dtype=np.int64)
            for pack, number in zip(some, left_out, strict=True):
                _, keys, numbers = found[found[:, 0] == number].T
                tables[pack][keys] = numbers
    return _answer(task, tables)


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


def _statement(table: CodedTable, task: CountsAt, packs: Sequence[Pack], schema: Schema) -> tuple[str, list[Any]]:
    """The SELECT and its parameters; a row is (which keys are left out, key, number of records)."""
    dealt = () if task.hand is None else task.hand.cells
    coded = table.select([*task.tree.cells, *(each.cells for each in task.columns), *dealt], schema)
    place = leaf_of(task.tree, coded.names, [_place(task, number) for number in task.numbers])
    held = f"y < {task.classes}{_held(task.hand, coded.names)}"
    placed = f"SELECT *, {place} AS p FROM ({coded.text}) AS coded WHERE {held} OFFSET 0"
    keys = ", ".join(f"{_key(task, pack, coded.names)} AS k{number}" for number, pack in enumerate(packs))
    keyed = f"SELECT {keys} FROM ({placed}) AS placed WHERE p >= 0 OFFSET 0"
    every = ", ".join(f"k{number}" for number in range(len(packs)))
    sets = ", ".join(f"(k{number})" for number in range(len(packs)))
    grouped = f"FROM ({keyed}) AS keyed GROUP BY GROUPING SETS ({sets})"
    return f"SELECT GROUPING({every}), coalesce({every}), count(*) {grouped}", coded.values


def _place(task: CountsAt, number: int) -> int:
    """The place of a leaf among those that are counted; -1 for all other places."""
    return number - task.first if 0 <= number - task.first < task.places else -1


def _held(hand: Hand | None, names: Mapping[Cells, str]) -> str:
    """The condition that a record is in a hand, in SQL; nothing if there is none."""
    if hand is None:
        return ""
    terms = zip(["1", "y", *(names[each] for each in hand.cells)], hand.factors, strict=True)
    number = " + ".join(f"{code}::int8 * {factor}" for code, factor in terms)
    return f" AND mod(mod({number}, {PRIME}), {hand.hands}) = {hand.number}"


def _key(task: CountsAt, pack: Pack, names: Mapping[Cells, str]) -> str:
    """Place, class and groups of a record as one integer."""
    is_long = task.places * task.classes * pack.size >= 2**31
    text = f"(p{'::int8' if is_long else ''} * {task.classes} + y)"
    for each in reversed(pack.columns):
        group = names[each.cells]
        if each.codes is not None:
            table = each.of_codes(np.arange(each.codes[-1] + 2, dtype=np.uint16)).tolist()
            group = listed(table, f"least({group}, {len(table) - 1})")
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
