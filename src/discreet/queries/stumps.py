"""Stumps: one column, and a class for each part of it. A choice among them takes splits and classes at once.

A stump gives one class to a whole column (`base`), and other classes to a few runs of its cells: next to each other
along a number, and single categories. Stumps come in families, so that simple ones do not drown among many finer ones.
All of this is public: it follows from the schema.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.queries.tree_paths import Box
from discreet.queries.trees import Node, Split
from discreet.records.encoding import Cells

PARTS = 64
"""Cells of a number between which a stump may cut it."""
MOST_FINE_CATEGORIES = 64
"""Columns of more categories have stumps of one exception only: of two there would be thousands."""


class Ways(NamedTuple):
    """Stumps of one column, one per row: the class of most cells, and exceptions as runs from `start` to below `stop`.

    Rows with fewer exceptions than others are filled up with empty runs.
    """

    base: Integers
    start: Integers
    stop: Integers
    label: Integers

    def right(self, counts: Integers) -> Integers:
        """How many records each stump classifies right (places by stumps), from counts by place, class and cell.

        Sensitivity  adding a record raises each by 0 or 1; replacing one moves each by at most 1.
        Proof        a stump gives each cell one class: the sum has one count of each cell, and a record is in one cell.
        Test         tests/queries/test_stumps.py::test_a_record_counts_once_for_each_stump (exhaustive)
        """
        before = np.concatenate([np.zeros_like(counts[:, :, :1]), np.cumsum(counts, axis=2)], axis=2)
        found = before[:, self.base, -1]
        for start, stop, label in zip(self.start.T, self.stop.T, self.label.T, strict=True):
            for which, sign in ((label, 1), (self.base, -1)):
                found = found + sign * (before[:, which, stop] - before[:, which, start])
        return np.asarray(found)


@dataclass(frozen=True)
class Stumps:
    """A family of stumps on one column, of at least `fewest` and at most `most` changes of the class.

    Numbers (`cuts` are places among `PARTS` cells): the class may change at each of the cuts, but not at those of
    `known` alone, whose stumps another family has. Categories (`cuts` is empty): so many categories have another class
    than all others.
    """

    column: str
    cells: int
    fewest: int
    most: int
    cuts: tuple[int, ...] = ()
    known: tuple[int, ...] = ()

    @property
    def read(self) -> Cells:
        """The cells of a record that tell its class."""
        return Cells(self.column, PARTS if self.cuts else None)

    @property
    def splits(self) -> list[Split]:
        """Splits whose counts on the left tell the counts of all cells."""
        return [Split(self.column, PARTS, code) for code in range(PARTS - 1)] if self.cuts else self._by_category()

    def _by_category(self) -> list[Split]:
        return [Split(self.column, None, code) for code in range(self.cells)]

    def ways(self, classes: int) -> Ways:
        """All stumps of the family."""
        if self.cuts:
            return _along(self.cuts, self.known, self.fewest, self.most, classes)
        return _among(self.cells, self.fewest, self.most, classes)

    @property
    def leaves(self) -> int:
        """The most parts that a stump has."""
        return self.most + 1

    def number(self, classes: int) -> int:
        """How many stumps there are."""
        return len(self.ways(classes).base)

    def open_to(self, box: Box, classes: int) -> NDArray[np.bool_]:
        """Which stumps divide the records of a box at every one of their cuts, or have each exception among them.

        All others classify the box as another stump does.
        """
        ways = self.ways(classes)
        is_open = np.ones(len(ways.base), dtype=bool)
        for cells, left in box.items():
            if cells.column != self.column:
                continue
            for start, stop in zip(ways.start.T, ways.stop.T, strict=True):
                is_run = start < stop
                if isinstance(left, range):
                    bins = cells.bins or 1
                    for cut in (start, stop):
                        inside = (cut * bins > left.start * PARTS) & (cut * bins < left.stop * PARTS)
                        is_open &= inside | ~is_run | (cut == 0) | (cut == PARTS)
                else:
                    is_open &= np.isin(start, sorted(left)) | ~is_run
            if not isinstance(left, range):  # one category must be left for the other class
                is_open &= (ways.start < ways.stop).sum(axis=1) < len(left)
        return is_open

    def nodes(self, number: int, classes: int) -> tuple[list[Node], list[int]]:
        """The nodes of a stump as a tree in preorder, and the classes of its leaves."""
        ways = self.ways(classes)
        base = int(ways.base[number])
        runs = zip(ways.start[number].tolist(), ways.stop[number].tolist(), ways.label[number].tolist(), strict=True)
        nodes: list[Node] = []
        labels: list[int] = []
        end = 0
        for start, stop, label in sorted(run for run in runs if run[0] < run[1]):
            if not self.cuts:
                nodes += [Split(self.column, None, start), None]
                labels.append(label)
                continue
            if start > end:
                nodes += [Split(self.column, PARTS, start - 1), None]
                labels.append(base)
            if stop < PARTS:
                nodes += [Split(self.column, PARTS, stop - 1), None]
                labels.append(label)
                end = stop
            else:
                return [*nodes, None], [*labels, label]
        return [*nodes, None], [*labels, base]


def counts_of(left: Integers, total: Integers, *, ordered: bool) -> Integers:
    """Counts by place, class and cell, from those on the left of each split of a column (`Stumps.splits`)."""
    if not ordered:
        return left
    return np.diff(np.concatenate([np.zeros_like(left[:, :, :1]), left, total[:, :, None]], axis=2), axis=2)


@lru_cache(maxsize=256)  # columns are cut alike
def _along(cuts: tuple[int, ...], known: tuple[int, ...], fewest: int, most: int, classes: int) -> Ways:
    """Stumps along a number: neighbouring parts have different classes."""
    rows = []
    for changes in range(fewest, most + 1):
        labelled = [each for each in product(range(classes), repeat=changes + 1) if _differ(each)]
        for places in combinations(cuts, changes):
            if not set(places) <= set(known):
                ends = [0, *places, PARTS]
                rows += [(each[-1], _runs(ends, each)) for each in labelled]
    return _filled(rows)


def _differ(labels: Sequence[int]) -> bool:
    return all(one != other for one, other in pairwise(labels))


def _runs(ends: Sequence[int], labels: Sequence[int]) -> list[tuple[int, int, int]]:
    """The parts whose class is not that of the last one."""
    parts = zip(ends, ends[1:], labels, strict=False)
    return [(start, stop, label) for start, stop, label in parts if label != labels[-1]]


@lru_cache(maxsize=256)
def _among(cells: int, fewest: int, most: int, classes: int) -> Ways:
    """Stumps of categories, each division into classes once: the base is the class of most of them, the first such."""
    rows = []
    for exceptions in range(fewest, most + 1):
        for places in combinations(range(cells), exceptions):
            for base in range(classes):
                others = [label for label in range(classes) if label != base]
                for labels in product(others, repeat=exceptions):
                    if _is_first(base, cells - exceptions, labels):
                        rows.append((base, [(at, at + 1, label) for at, label in zip(places, labels, strict=True)]))
    return _filled(rows)


def _is_first(base: int, remaining: int, labels: Sequence[int]) -> bool:
    """Whether no other class has more of the categories, or as many and comes before."""
    return not any((labels.count(each), -each) > (remaining, -base) for each in set(labels))


def _filled(rows: Sequence[tuple[int, list[tuple[int, int, int]]]]) -> Ways:
    width = max((len(runs) for _, runs in rows), default=0)
    table = np.zeros((3, len(rows), width), dtype=np.int64)
    for number, (_, runs) in enumerate(rows):
        for place, run in enumerate(runs):
            table[:, number, place] = run
    arrays: list[NDArray[np.int64]] = [np.array([base for base, _ in rows], dtype=np.int64), *table]
    for each in arrays:
        each.flags.writeable = False
    return Ways(*arrays)


def along(column: str, classes: int, parts: Sequence[int | Sequence[int]], most: int) -> Iterator[Stumps]:
    """Families along a number: cut into so many equal parts, or at such places; at most `most` stumps in all.

    The class changes fewer times than there are classes, and at most twice. A family for which there is no room has one
    change only, or is left out.
    """
    known: tuple[int, ...] = ()
    for each in parts:
        step = PARTS // each if isinstance(each, int) else 0
        cuts = tuple(range(step, PARTS, step)) if step else tuple(each)  # type: ignore[arg-type]
        limits = range(min(classes - 1, len(cuts), 2 if step else 1), 0, -1)
        changes = next((limit for limit in limits if _many(len(cuts), limit, classes) <= most), 0)
        if changes:
            yield Stumps(column, PARTS, 1, changes, cuts, known if step else ())
            most -= _many(len(cuts), changes, classes)
            known = cuts if step else known


def most_along(parts: Sequence[int | Sequence[int]], classes: int) -> int:
    """The most stumps along one number, in all families together."""
    cuts = [(each - 1, 2) if isinstance(each, int) else (len(each), 1) for each in parts]
    return sum(_many(number, changes, classes) for number, changes in cuts)


def _many(cuts: int, changes: int, classes: int) -> int:
    """About how many stumps have up to so many changes; at least as many as there are."""
    return sum(math.comb(cuts, each) * classes * (classes - 1) ** each for each in range(1, changes + 1))


def among(column: str, categories: int, classes: int, most: int) -> Iterator[Stumps]:
    """Families of categories: one exception; and more, as many as give at most `most` stumps."""
    if categories < 2 or classes < 2 or categories * classes * (classes - 1) > most:
        return
    yield Stumps(column, categories, 1, 1)
    count, exceptions = categories * classes * (classes - 1), 1
    while exceptions < categories - 1 and categories <= MOST_FINE_CATEGORIES:
        count += math.comb(categories, exceptions + 1) * classes * (classes - 1) ** (exceptions + 1)
        if count > most:
            break
        exceptions += 1
    finer = Stumps(column, categories, 2, exceptions)
    if exceptions > 1 and finer.number(classes):  # of three categories and two classes all stumps have one exception
        yield finer
