"""A tree whose last questions are chosen together with the classes of its leaves: counts need not tell these."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from discreet.doors.tree_plans import Answer, Asked, Greedy, chosen_step, counted, labelled, leaf_counts
from discreet.doors.tree_records import Placed, TreeRecords
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import AnyStep
from discreet.queries.arrays import Integers
from discreet.queries.stumps import Stumps, counts_of
from discreet.queries.tree_paths import Box, Candidates, boxes_of_leaves
from discreet.queries.trees import Node, Places, Tree
from discreet.records.encoding import Cells
from discreet.schema import Schema

AT_ONCE = 2**22
"""Counts that are held at a time: memory stays within a few times this many integers, besides the scores."""


@dataclass(frozen=True, repr=False)
class Labelled:
    """Ask the questions of `above`, if there are any; then choose for each of its leaves one class, or one stump: a
    column, how it is divided, and the classes of its parts at once. The most accurate of all. Then count the leaves of
    the whole tree, unless `leaves` is None: their classes are known, so a small share tells how sure they are.

    Guarantee  (sum of `above.levels` + `epsilon` + `leaves`)-DP under the schema's adjacency.
    Proof      the questions: Greedy, without its leaves. They are published, and partition the records. The stumps are
               public. Each predicts a record right or wrong: adding the record raises each score of its leaf by 0 or 1
               (monotone), replacing it by one in the same leaf changes each by at most one, and by one in another leaf
               is one monotone change in each of two leaves, at half of ε each. A public number is taken off each score
               (`handicaps`), which moves no lead. The choice is one permute-and-flip for each leaf, on records that no
               other leaf has: together they cost `epsilon`. Which stumps are compared at a leaf follows from its path,
               which is published, and from the schema. The leaves of the tree are published then, and counting them
               costs `leaves` (LeafCounts, DiscreteLaplace). The losses add up (adaptive sequential composition).
    Test       tests/doors/test_trees.py::test_every_plan_stays_within_epsilon and ..._attains_it,
               ::test_families_of_many_stumps_have_a_handicap, ::test_the_best_stump_of_each_leaf_is_found

    Without handicaps a column that can be divided in many ways would win by their number alone where the signal is
    weak. Permute-and-flip is about as likely to choose a stump as exp(score / scale) says; so each stump has a handicap
    of scale * ln m, with m the stumps of its family times the families of its column: before any record counts all
    columns are about alike, and so are the families of a column (accuracy: benchmarks/frontier.py). Together the single
    classes count as a column, too; but below a question, where there are two classes, as the root of the number of
    columns: the question may have told them apart already. On tables of both collections with two classes, at signals
    from 110 to 600, that is .0003 to .006 more accurate on average (a search that is not kept).
    """

    above: Greedy | None
    families: tuple[Stumps, ...]
    epsilon: Epsilon
    leaves: Epsilon | None = None

    def __post_init__(self) -> None:
        if self.above is not None and self.above.leaves is not None:
            raise ValueError("the leaves of the questions above are not counted; need leaves=None")

    def __repr__(self) -> str:
        return f"Labelled({len(self.levels)} levels, {len(self.families)} families of stumps, {self.epsilon})"

    @property
    def levels(self) -> tuple[Epsilon, ...]:
        """The shares of the questions above."""
        return () if self.above is None else self.above.levels

    def cells(self) -> list[Cells]:
        """The cells that questions and stumps are about, each once."""
        above = [] if self.above is None else self.above.cells()
        return list(dict.fromkeys([*above, *(family.read for family in self.families)]))

    def steps(self, schema: Schema) -> list[AnyStep]:
        """One step per level, one for the stumps of all leaves, and one for the counts."""
        above = [] if self.above is None else self.above.steps(schema)
        number = len(schema.classes) + sum(family.number(len(schema.classes)) for family in self.families)
        words = f"best of {number} labelled stumps" + (f" at each of {2 ** len(above)} leaves" if above else "")
        stumps = chosen_step(Asked(words, 1), self.epsilon, schema)
        most = 2 ** len(above) * max((family.leaves for family in self.families), default=1)
        counts = [] if self.leaves is None else [leaf_counts(most, self.leaves, schema)]
        return [*above, stumps, *counts]

    def answer(self, records: TreeRecords, steps: Sequence[AnyStep], schema: Schema, rng: Randomness) -> list[Answer]:
        """Ask, then choose a stump for each leaf, then count."""
        steps, counts = (steps, None) if self.leaves is None else (steps[:-1], steps[-1])
        *choices, last = steps
        tree, placed = Tree((None,)), records.at_the_top()
        if self.above is not None:
            tree, placed = self.above.grown(records, choices, schema, rng)
        handicaps, chosen = self.handicaps(schema, last.mechanism.scale), list[int]()
        for box, row in zip(boxes_of_leaves(tree, schema), self._scores(placed, tree.leaves, schema), strict=True):
            open_ = self._open_to(box, len(schema.classes))
            chosen.append(int(open_[last.mechanism.choose(row[open_] - handicaps[open_], rng)]))
        nodes, labels = self._joined(tree, chosen, len(schema.classes))
        whole = Tree(tuple(nodes))
        answers = [labelled(whole, labels, schema)]
        if counts is not None:
            answers.append(counted(whole, records.at_the_leaves(whole), counts.mechanism, rng))
        return answers

    def _open_to(self, box: Box, classes: int) -> Places:
        """The positions of single classes and of the stumps that the path to a leaf leaves undecided. Public."""
        every = [np.ones(classes, dtype=bool), *(family.open_to(box, classes) for family in self.families)]
        return np.flatnonzero(np.concatenate(every))

    def handicaps(self, schema: Schema, scale: float) -> Integers:
        """What is taken off the score of each single class, and then of each stump."""
        classes, of_column = len(schema.classes), Counter(family.column for family in self.families)
        numbers = [family.number(classes) for family in self.families]
        ways = [max(1, number * of_column[each.column]) for each, number in zip(self.families, numbers, strict=True)]
        favoured = self.above is not None and classes == 2
        single = classes / math.sqrt(max(1, len(of_column))) if favoured else classes
        each = [round(scale * math.log(way)) for way in (single, *ways)]
        return np.repeat(np.array(each, dtype=np.int64), [classes, *numbers])

    def _scores(self, placed: Placed, places: int, schema: Schema) -> Integers:
        """How many records each single class, and then each stump, classifies right (places by stumps). Private."""
        classes = len(schema.classes)
        columns = [list(group) for _, group in groupby(self.families, key=lambda family: family.read)]
        found = [placed.by_class(places)]
        for some in _together(columns, places * classes):
            splits = [split for families in some for split in families[0].splits]
            left, total = placed.tables(Candidates(splits), places, schema)
            start = 0
            for families in some:
                size = len(families[0].splits)
                own = counts_of(left[:, :, start : start + size], total, ordered=bool(families[0].cuts))
                found += [family.ways(classes).right(own) for family in families]
                start += size
        return np.concatenate(found, axis=1)

    def _joined(self, tree: Tree, chosen: Sequence[int], classes: int) -> tuple[list[Node], list[int]]:
        """The tree with the chosen class or stump in place of each leaf, and the classes of its leaves."""
        starts = np.cumsum([classes, *(family.number(classes) for family in self.families)])
        nodes, labels, leaves = list[Node](), list[int](), iter(chosen)
        for node in tree.nodes:
            if node is not None:
                nodes.append(node)
                continue
            number = next(leaves)
            family = int(np.searchsorted(starts, number, side="right"))
            own: tuple[list[Node], list[int]] = [None], [number]
            if family:
                own = self.families[family - 1].nodes(number - int(starts[family - 1]), classes)
            nodes += own[0]
            labels += own[1]
        return nodes, labels


def _together(columns: Sequence[list[Stumps]], times: int) -> Iterator[list[list[Stumps]]]:
    """Columns whose counts are held at a time: at most `AT_ONCE`, or those of one column."""
    some: list[list[Stumps]] = []
    held = 0
    for families in columns:
        size = times * len(families[0].splits)
        if some and held + size > AT_ONCE:
            yield some
            some, held = [], 0
        some.append(families)
        held += size
    if some:
        yield some
