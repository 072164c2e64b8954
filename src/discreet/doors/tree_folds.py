"""Counts at the nodes of a tree, added up where the records live: a pass per level, and no record is held.

A level with too many counts for one pass takes several, each for some of its places. All passes have to meet one state
of the table (`Passes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.doors.passage import Passes
from discreet.queries.arrays import Integers
from discreet.queries.tree_paths import Candidates
from discreet.queries.trees import Node, Places, SplitScore, Tree, complete_tree
from discreet.schema import Schema
from discreet.sources.tree_counts import CountsAt, Grouped, Hand

AT_ONCE = 2**22
"""Counts of a pass, or those of one place: memory stays within a few times this many integers."""


@dataclass(frozen=True, repr=False)
class TreeFolds:
    """The records of a table that is read again for each level (`TreeRecords`). Private."""

    passes: Passes
    classes: int
    hand: Hand | None = None
    """Which records are looked at; None for all."""

    def __repr__(self) -> str:
        return "TreeFolds(values hidden)"

    def at_the_top(self) -> PlacedFolds:
        """As TreeRecords."""
        return PlacedFolds(self, complete_tree([]), (0,), ())

    def at_the_leaves(self, tree: Tree) -> PlacedFolds:
        """As TreeRecords."""
        return PlacedFolds(self, tree, tuple(range(tree.leaves)), None)

    def counted(self, task: CountsAt) -> list[Integers]:
        """The tables of a task, from one pass."""
        return task.tables(self.passes.fold(task))


@dataclass(frozen=True, repr=False)
class PlacedFolds:
    """The records at the leaves of a published tree, leaf k at the place `numbers[k]` (`Placed`). Private."""

    records: TreeFolds
    tree: Tree
    numbers: tuple[int, ...]
    levels: tuple[tuple[Node, ...], ...] | None
    """The levels that the tree was made of, or None if it was drawn as a whole."""

    def __repr__(self) -> str:
        return "PlacedFolds(values hidden)"

    @cached_property
    def classes(self) -> int:
        """Number of classes."""
        return self.records.classes

    def scores(self, candidates: Candidates, score: SplitScore, places: int, schema: Schema) -> Iterator[Integers]:
        """As Placed; some places are counted in each pass."""
        columns = tuple(Grouped.of(cells, codes, schema) for cells, _, codes in candidates.groups)
        together = max(1, AT_ONCE // (self.classes * (1 + sum(each.groups for each in columns))))
        for first in range(0, places, together):
            some = min(together, places - first)
            task = CountsAt(self.tree, self.numbers, first, some, self.classes, columns, self.records.hand)
            total, *tables = self.records.counted(task)
            scores = np.empty((some, len(candidates.splits)), dtype=np.int64)
            for each, (_, part, codes), table in zip(columns, candidates.groups, tables, strict=True):
                scores[:, part] = score.of(each.left(table, codes), total)
            yield from scores

    def tables(self, candidates: Candidates, places: int, schema: Schema) -> tuple[Integers, Integers]:
        """As Placed; in one pass."""
        columns = tuple(Grouped.of(cells, codes, schema) for cells, _, codes in candidates.groups)
        task = CountsAt(self.tree, self.numbers, 0, places, self.classes, columns, self.records.hand)
        total, *tables = self.records.counted(task)
        groups = zip(columns, candidates.groups, tables, strict=True)
        return np.concatenate([each.left(table, codes) for each, (_, _, codes), table in groups], axis=2), total

    def by_class(self, places: int) -> Integers:
        """As Placed; in one pass."""
        task = CountsAt(self.tree, self.numbers, 0, places, self.classes, (), self.records.hand)
        return self.records.counted(task)[0]

    def below(self, chosen: Sequence[Node]) -> PlacedFolds:
        """As Placed; nothing is read."""
        if self.levels is None:
            raise ValueError("the tree was drawn as a whole and does not grow; ask for its leaves")
        numbers: list[int] = []
        for place in self.numbers:
            numbers += [2 * place] if chosen[place] is None else [2 * place, 2 * place + 1]
        levels = (*self.levels, tuple(chosen))
        return PlacedFolds(self.records, complete_tree(levels), tuple(numbers), levels)

    def renumbered(self, numbers: Places) -> PlacedFolds:
        """As Placed; nothing is read."""
        again = tuple(int(numbers[place]) for place in self.numbers)
        return PlacedFolds(self.records, self.tree, again, None)
