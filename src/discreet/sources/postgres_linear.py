"""Sums of linear models, in PostgreSQL's SQL: slopes by cell, and products of coordinates; only sums come back.

Guarantee  the answers are those that the tasks themselves add up over coded blocks, to the last integer.
Proof      each record has the integers of the tasks (postgres_scores.py). Limbs fit 32 bits, and sums of them 64 bits
           for 2**31 records, as in the tasks. Groups of several columns are added up to those of each.
           Products: the vector of a record has two coordinates in each group of coordinates, at places and with weights
           that its cell tells. Records are grouped by the places of two groups of coordinates, and the products of
           their weights, of which each fits 32 bits (COORDINATE, CLASS_COORDINATE, PARTS), are summed there. Where
           cells of one place have one weight, it is multiplied afterwards.
Test       tests/engines/test_postgres_linear.py::test_slopes_and_bends_agree, ::test_integers_of_any_size_agree
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from typing import Any

import numpy as np

from discreet.privacy.mechanisms.curvature import Bend, ClassBend, Vectors
from discreet.privacy.mechanisms.slopes import ClassSlopes, Slopes
from discreet.queries.arrays import Integers
from discreet.schema import Schema
from discreet.sources.feature_sums import OverFeatures
from discreet.sources.postgres_coded import CodedTable, listed
from discreet.sources.postgres_scores import Celled, bent, celled, slopes_of

PACKED = 1 << 10
"""Cells of several columns are grouped together while they are at most this many."""
TOGETHER = 16
"""Groupings of one statement, each of which may need its work_mem; GROUPING takes at most 31."""
SUMS = SCORES = 1500
"""Sums of one statement, and columns and classes together; PostgreSQL allows 1664 columns of a SELECT."""
SPOTS = 16
"""Coordinates of several columns are grouped together while they have at most this many places, for products; and
weights of a column's cells are not summed, if they are no more than this many besides its places."""
BRANCHES = 256
"""Groupings of products in one statement, of records that are coded once for all of them."""

KNOWN = (Slopes, ClassSlopes, Bend, ClassBend)
"""The sums that are known here."""


def added(table: CodedTable, task: OverFeatures, schema: Schema) -> Integers:
    """What the task answers for all records."""
    sums = task.sums
    if isinstance(sums, Slopes | ClassSlopes):
        return _slopes(table, task, sums, schema)
    assert isinstance(sums, Bend | ClassBend), "one of those that are known"
    cells = celled(table, task, schema, sums.vectors)
    short: Bend | ClassBend = cells.short(sums)
    return _squares(table, cells, short) if sums.vectors.diagonal else _products(table, cells, short)


def _slopes(table: CodedTable, task: OverFeatures, sums: Slopes | ClassSlopes, schema: Schema) -> Integers:
    """The number of records, the sums of all slopes, and those by cell of each group."""
    cells, layout = celled(table, task, schema, None), sums.layout
    text, limbs = slopes_of(cells, cells.short(sums))
    answer = np.zeros(layout.size, dtype=np.int64)
    everyone, *groups = layout.divided(answer)
    flat = [group.reshape(len(limbs), -1) for group in (everyone, *groups)]
    for first in range(0, len(limbs), SUMS):
        some = limbs[first : first + SUMS]
        for pack, keys, numbers in _grouped(table, text, cells.values, [len(used) for used in cells.used], some):
            count, values = numbers[:, 0], numbers[:, 1:].T
            if pack.first:
                answer[0] += 0 if first else count.sum()
                flat[0][first : first + SUMS, 0] += values.sum(axis=1)
            for place, code in pack.codes(keys):
                for row, value in enumerate(values, first):
                    np.add.at(flat[1 + place][row], cells.used[place][code], value)
    return answer


@dataclass(frozen=True)
class Pack:
    """Groups of cells that are looked at together, those of the first in the lowest place."""

    places: tuple[int, ...]
    sizes: tuple[int, ...]
    first: bool

    @property
    def key(self) -> str:
        """All cells of a record as one integer."""
        text = "0::int8" if np.prod(self.sizes, dtype=np.float64) >= 2**31 else "0"
        for place, size in zip(reversed(self.places), reversed(self.sizes), strict=True):
            text = f"({text} * {size} + g{place})"
        return text

    def codes(self, keys: Integers) -> Iterator[tuple[int, Integers]]:
        """Each group, and the cells in it."""
        for place, size in zip(self.places, self.sizes, strict=True):
            yield place, keys % size
            keys = keys // size


def _packs(sizes: Sequence[int]) -> list[Pack]:
    packs: list[list[int]] = [[]]
    for place in sorted(range(len(sizes)), key=lambda each: sizes[each]):
        if packs[-1] and np.prod([sizes[each] for each in (*packs[-1], place)], dtype=np.float64) > PACKED:
            packs.append([])
        packs[-1].append(place)
    return [Pack(tuple(each), tuple(sizes[place] for place in each), not k) for k, each in enumerate(packs)]


def _grouped(
    table: CodedTable, inner: str, values: list[Any], sizes: Sequence[int], sums: Sequence[str]
) -> Iterator[tuple[Pack, Integers, Integers]]:
    """Yield, for each pack of groups: keys, and for each of them the number of records and the sums of some texts."""
    remaining = iter(_packs(sizes))
    named = "".join(f", {text} AS v{number}" for number, text in enumerate(sums))
    added_up = "".join(f", sum(v{number})" for number in range(len(sums)))
    while some := list(islice(remaining, TOGETHER)):
        keys = ", ".join(f"{pack.key} AS k{number}" for number, pack in enumerate(some))
        every = ", ".join(f"k{number}" for number in range(len(some)))
        sets = ", ".join(f"(k{number})" for number in range(len(some)))
        keyed = f"SELECT {keys}{named} FROM ({inner}) AS made OFFSET 0"
        text = f"SELECT GROUPING({every}), coalesce({every}), count(*){added_up} FROM ({keyed}) AS keyed"
        for rows in table.fetch(f"{text} GROUP BY GROUPING SETS ({sets})", values):
            found = np.array(rows, dtype=np.int64)
            for number, pack in enumerate(some):
                own = found[found[:, 0] == 2 ** len(some) - 1 - 2 ** (len(some) - 1 - number)]
                yield pack, own[:, 1], own[:, 2:]


def _squares(table: CodedTable, cells: Celled, sums: Bend | ClassBend) -> Integers:
    """The sums of squares of coordinates: what the records of a cell count, times the squares that the cell has."""
    vectors, pairs = sums.vectors, 1 if isinstance(sums, Bend) else len(sums.pairs)
    total = np.zeros((pairs, vectors.width), dtype=np.int64)
    sizes = [pairs * len(places) for places in vectors.places]
    own = "".join(f", pair * {len(places)} + g{place} AS g{place}" for place, places in enumerate(vectors.places))
    inner = f"SELECT c, pair{own} FROM ({bent(cells, sums)}) AS bent OFFSET 0"
    if not sizes:
        sizes, inner = [pairs], f"SELECT c, pair AS g0 FROM ({bent(cells, sums)}) AS bent OFFSET 0"
    for pack, keys, numbers in _grouped(table, inner, cells.values, sizes, ["c"]):
        for place, code in pack.codes(keys):
            pair, cell = np.divmod(code, sizes[place] // pairs)
            if pack.first and place == pack.places[0]:
                np.add.at(total[:, -1], pair, numbers[:, 1])
            if vectors.places:
                for one, other, product in _squared(vectors, place, cell):
                    np.add.at(total, (pair, one), np.where(one == other, product * numbers[:, 1], 0))
    return total.ravel()


def _squared(vectors: Vectors, place: int, cell: Integers) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Products of the coordinates of cells of a group: both places, and the product of both weights."""
    places, weights = vectors.places[place][cell], vectors.weights[place][cell]
    for one in range(2):
        for other in range(2):
            yield places[:, one], places[:, other], weights[:, one] * weights[:, other]


@dataclass(frozen=True, eq=False)
class Spots:
    """The cells of a group by their places: all cells of a spot have the same two places.

    If they have the same weights too, weights are known by the spot; else they are summed.
    """

    number: int
    places: Integers
    weights: Integers

    @cached_property
    def _distinct(self) -> tuple[Integers, Integers]:
        found, spot = np.unique(self.places, axis=0, return_inverse=True)
        whole, at = np.unique(np.hstack([self.places, self.weights]), axis=0, return_inverse=True)
        known = len(whole) <= len(found) + SPOTS
        return (whole, at.ravel()) if known else (found, spot.ravel())

    @property
    def size(self) -> int:
        """Number of spots."""
        return len(self._distinct[0])

    @property
    def is_known(self) -> bool:
        """Whether the weights are known by the spot."""
        return bool(self._distinct[0].shape[1] == 4)

    @property
    def sides(self) -> list[int]:
        """Which of the two weights are not always 0."""
        return np.flatnonzero(self.weights.any(axis=0)).tolist()

    def columns(self) -> list[str]:
        """The texts of the spot and of the weights that are summed."""
        texts = [f"{listed(self._distinct[1].tolist(), f'g{self.number}')} AS p{self.number}"]
        if not self.is_known:
            for side in self.sides:
                texts.append(f"{listed(self.weights[:, side].tolist(), f'g{self.number}')} AS w{self.number}_{side}")
        return texts

    def factor(self, side: int) -> str:
        """What a sum is multiplied by for a weight."""
        return "" if self.is_known else f" * w{self.number}_{side}"

    def at(self, spots: Integers, side: int) -> tuple[Integers, Integers | int]:
        """The coordinate of each spot, and its weight there, if that is known."""
        rows = self._distinct[0][spots]
        return rows[:, side], rows[:, 2 + side] if self.is_known else 1


def _products(table: CodedTable, cells: Celled, sums: Bend | ClassBend) -> Integers:
    """The sums of products of all pairs of coordinates."""
    vectors, pairs = sums.vectors, 1 if isinstance(sums, Bend) else len(sums.pairs)
    constant = Spots(-1, np.full((1, 2), vectors.width - 1), np.array([[1, 0]]))
    groups = [Spots(k, *each) for k, each in enumerate(zip(vectors.places, vectors.weights, strict=True))]
    inner = bent(cells, sums)
    total = np.zeros((pairs, vectors.width, vectors.width), dtype=np.int64)
    for some in _statements(_groupings(groups, constant)):
        columns = dict.fromkeys(text for each in some for group in each.groups for text in group.columns())
        made = f"SELECT {', '.join(['pair', 'c', *columns])} FROM ({inner}) AS bent"
        branches = " UNION ALL ".join(each.select(number) for number, each in enumerate(some))
        for rows in table.fetch(f"WITH made AS MATERIALIZED ({made}) {branches}", cells.values):
            chosen = np.array([row[0] for row in rows], dtype=np.intp)
            for number in np.unique(chosen).tolist():
                own = [rows[row] for row in np.flatnonzero(chosen == number).tolist()]
                pair, keys = np.array([row[1:3] for row in own], dtype=np.int64).T
                some[number].add(total, pair, keys, np.array([row[3] for row in own], dtype=np.int64).T)
    return total.ravel()


@dataclass(frozen=True)
class Grouping:
    """Groups of coordinates whose spots are grouped together, and the pairs of them whose products are summed."""

    groups: tuple[Spots, ...]
    pairs: tuple[tuple[Spots, Spots], ...]

    @cached_property
    def sums(self) -> list[str]:
        """The distinct texts that are summed."""
        return list(dict.fromkeys(text for one, other in self.pairs for _, _, text in _sides(one, other)))

    def select(self, number: int) -> str:
        """The SELECT of this number, pair of classes, key and sums."""
        key = "0::int8" if np.prod([each.size for each in self.groups], dtype=np.float64) >= 2**31 else "0"
        for each in reversed(self.groups):
            key = f"({key} * {each.size} + p{each.number})"
        summed = ", ".join(f"sum({text})" for text in self.sums)
        return f"(SELECT {number}, pair, {key} AS k, ARRAY[{summed}] FROM made GROUP BY 2, 3)"

    def add(self, total: Integers, pair: Integers, keys: Integers, numbers: Integers) -> None:
        """Add the sums of some keys at their coordinates."""
        spots = {-1: np.zeros_like(keys)}
        for each in self.groups:
            keys, spots[each.number] = np.divmod(keys, each.size)
        value_of = dict(zip(self.sums, numbers, strict=True))
        for one, other in self.pairs:
            for side, across, text in _sides(one, other):
                row, weight = one.at(spots[one.number], side)
                column, factor = other.at(spots[other.number], across)
                value = value_of[text] * weight * factor
                np.add.at(total, (pair, row, column), value)
                if one is not other or side != across:
                    np.add.at(total, (pair, column, row), value)


def _statements(groupings: Iterable[Grouping]) -> Iterator[list[Grouping]]:
    """Groupings of one statement each: some at a time, of a bounded number of columns."""
    some: list[Grouping] = []
    taken: set[int] = set()
    for each in groupings:
        own = {group.number for group in each.groups}
        if some and (len(some) == BRANCHES or 3 * len(taken | own) > SUMS):
            yield some
            some, taken = [], set()
        some.append(each)
        taken |= own
    yield some


def _sides(one: Spots, other: Spots) -> Iterator[tuple[int, int, str]]:
    """The weights of two groups that are multiplied, and the text that is summed for it; those of one group once."""
    for side in one.sides:
        for across in other.sides:
            if one is not other or side <= across:
                yield side, across, f"c{one.factor(side)}{other.factor(across)}"


def _groupings(groups: Sequence[Spots], constant: Spots) -> Iterator[Grouping]:
    """Groupings in which each pair of groups meets once."""
    blocks: list[list[Spots]] = [[]]
    for each in sorted(groups, key=lambda group: group.size):
        if blocks[-1] and np.prod([other.size for other in (*blocks[-1], each)], dtype=np.float64) > SPOTS:
            blocks.append([])
        blocks[-1].append(each)
    met: set[tuple[int, int]] = set()
    for one, other in combinations(blocks, 2) if len(blocks) > 1 else [(blocks[0], [])]:
        together = (*one, *other)
        wanted = [(each, each) for each in (constant, *together)] + list(combinations((constant, *together), 2))
        fresh = [(a, b) for a, b in wanted if (a.number, b.number) not in met]
        met |= {(a.number, b.number) for a, b in fresh}
        yield Grouping(together, tuple(fresh))
