"""Ways to grow a tree, each with its proof: the cells it reads, the steps it pays for, and its answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.doors.tree_records import Placed, TreeRecords
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import AnyStep, Step
from discreet.queries.arrays import Integers
from discreet.queries.tree_paths import Box, Candidates, branches
from discreet.queries.trees import SCORES, LeafCounts, LeafLabels, Node, Split, Tree, complete_tree
from discreet.records.encoding import Cells
from discreet.released.statistics import NoisyTable
from discreet.schema import Schema

Answer = tuple[LeafCounts, NoisyTable]


class Plan(Protocol):
    """How a tree is grown, with every share of epsilon fixed beforehand."""

    def cells(self) -> list[Cells]:
        """The cells that have to be read."""
        ...

    def steps(self, schema: Schema) -> list[AnyStep]:
        """The queries in order, each with its mechanism and its share; the door checks and charges them."""
        ...

    def answer(self, records: TreeRecords, steps: Sequence[AnyStep], schema: Schema, rng: Randomness) -> list[Answer]:
        """Grow the tree by the mechanisms of exactly these steps; all answers are about the same tree."""
        ...


@dataclass(frozen=True, repr=False)
class Asked:
    """A query to the records at the nodes of a tree: in words, with the most that one record can change its answer."""

    words: str
    unit: int

    def __repr__(self) -> str:
        return self.words

    def distance(self, schema: Schema) -> int:
        """How much neighbours can differ: a table in L1, or one score's lead over another.

        Proof      see each plan. Add-remove: tables and scores change by at most `unit`, all scores in the same
                   direction. Replace-one: either scores of one node change by at most `unit` in both directions, and
                   leads by twice that; or there is one such change in each of two nodes.
        """
        return self.unit * schema.adjacency.distance


@dataclass(frozen=True)
class Greedy:
    """Choose the best split of every node, level by level, then count the leaves.

    With `leaves=None` they are not counted and cost nothing: doors/splits.py publishes the splits alone.

    Guarantee  (sum of `levels` + `leaves`)-DP under the schema's adjacency.
    Proof      the nodes of a level partition the records, by splits already published. Add-remove: a record lies in
               one node of each level and changes the scores of all splits there in the same direction, by at most the
               score's sensitivity: that node's permute-and-flip costs at most ε_l, all others nothing. Replace-one: if
               both records lie in one node, its scores change by at most the sensitivity in either direction, and the
               scale is doubled for this; if they lie in two nodes, there is one monotone change in each, at half of
               ε_l. Leaf counts cost `leaves` (LeafCounts, DiscreteLaplace). The losses of the levels add up, each
               level chosen after the last (adaptive sequential composition). A node's candidates are the splits that
               its path leaves undecided: a function of the splits above it, which are published, and of the schema
               (Candidates.open_to); fewer candidates have the same sensitivity. A node without candidates is a leaf.
               So which nodes are asked, and about what, depends on published splits alone. Nodes without records are
               split like any other: the shape of the tree tells nothing.
    Test       tests/doors/test_trees.py::test_every_plan_stays_within_epsilon and ..._attains_it,
               ::test_candidates_follow_from_the_published_splits_alone,
               ::test_a_node_without_candidates_is_a_leaf_on_all_tables
    """

    splits: tuple[Split, ...]
    score: str
    levels: tuple[Epsilon, ...]
    leaves: Epsilon | None
    weights: tuple[int, ...] | None = None
    """Weights of the classes in the score, public (proof in SplitScore.weighted); None for equal ones."""

    def cells(self) -> list[Cells]:
        """The cells of all candidate splits."""
        return list(dict.fromkeys(split.cells for split in self.splits))

    def steps(self, schema: Schema) -> list[AnyStep]:
        """One step per level, and one for the leaves if they are counted."""
        unit, depth = SCORES[self.score].weighted(self.weights).sensitivity, len(self.levels)
        choices = []
        for level, share in enumerate(self.levels, 1):
            words = f"level {level} of {depth}: best of {len(self.splits)} splits"
            choices.append(chosen_step(Asked(words, unit), share, schema))
        return choices if self.leaves is None else [*choices, leaf_counts(2**depth, self.leaves, schema)]

    def answer(self, records: TreeRecords, steps: Sequence[AnyStep], schema: Schema, rng: Randomness) -> list[Answer]:
        """Grow, then count."""
        *choices, leaves = steps
        tree, placed = self.grown(records, choices, schema, rng)
        return [counted(tree, placed, leaves.mechanism, rng)]

    def grown(
        self, records: TreeRecords, choices: Sequence[AnyStep], schema: Schema, rng: Randomness
    ) -> tuple[Tree, Placed]:
        """The tree that the steps of the levels choose, which may be published, and the records at its leaves."""
        candidates, score = Candidates(self.splits), SCORES[self.score].weighted(self.weights)
        levels: list[list[Node]] = []
        boxes: list[Box | None] = [{}]  # None: below a leaf, to the right, where no record goes
        placed = records.at_the_top()
        for step in choices:
            chosen: list[Node] = []
            for box, scores in zip(boxes, placed.scores(candidates, score, len(boxes), schema), strict=True):
                open_ = candidates.open_to(box)
                chosen.append(self.splits[open_[step.mechanism.choose(scores[open_], rng)]] if len(open_) else None)
            levels.append(chosen)
            boxes = [half for box, node in zip(boxes, chosen, strict=True) for half in branches(box, node, schema)]
            placed = placed.below(chosen)
        leaf = np.cumsum([box is not None for box in boxes]) - 1
        return complete_tree(levels), placed.renumbered(leaf)


@dataclass(frozen=True)
class Published:
    """The tree of Lopuhaä-Zwakenberg et al. 2021 with its accounting corrected: noisy tables of every unused split.

    Guarantee  (sum of `levels` + `leaves`)-DP under the schema's adjacency.
    Proof      with m splits, a node at level l has tables of the m - l splits that are not on its path. A record lies
               in one node of the level and in one cell of each of its tables: the tables of a level have L1
               sensitivity m - l (add-remove) or 2 (m - l) (replace-one), to which the noise is calibrated
               (DiscreteLaplace). The choice is post-processing; leaves are as in Greedy; losses of levels add up.
    Test       tests/doors/test_trees.py::test_every_plan_stays_within_epsilon and ..._attains_it
    """

    splits: tuple[Split, ...]
    levels: tuple[Epsilon, ...]
    leaves: Epsilon

    def cells(self) -> list[Cells]:
        """The cells of all splits."""
        return list(dict.fromkeys(split.cells for split in self.splits))

    def steps(self, schema: Schema) -> list[AnyStep]:
        """One step per level, and one for the leaves."""
        tables = []
        for level, share in enumerate(self.levels):
            unused = len(self.splits) - level
            words = f"level {level + 1} of {len(self.levels)}: tables of {unused} splits at each node"
            tables.append(counted_step(Asked(words, unused), share, schema))
        return [*tables, leaf_counts(2 ** len(self.levels), self.leaves, schema)]

    def answer(self, records: TreeRecords, steps: Sequence[AnyStep], schema: Schema, rng: Randomness) -> list[Answer]:
        """Grow on noisy tables, then count."""
        *noises, leaves = [step.mechanism for step in steps]
        candidates = Candidates(self.splits)
        levels: list[list[Split]] = []
        placed, used = records.at_the_top(), np.zeros((1, 0), dtype=np.intp)
        for noise in noises:
            places = 2 ** len(levels)
            left, total = placed.tables(candidates, places, schema)
            right = total[:, :, None] - left
            unused = np.stack([np.setdiff1d(np.arange(len(self.splits)), row) for row in used])
            tables = np.take_along_axis(np.stack([left, right]), unused[None, :, None, :], axis=3)
            best = np.argmin(_gini_index(noise.perturb(tables, rng)), axis=1)
            chosen = unused[np.arange(places), best]
            used = np.repeat(np.column_stack([used, chosen]), 2, axis=0)
            levels.append([self.splits[number] for number in chosen])
            placed = placed.below(levels[-1])
        return [counted(complete_tree(levels), placed, leaves, rng)]


LEAST = 1e-5
"""Noisy counts below this are raised to it: the value of the published algorithm."""


def _gini_index(tables: Integers) -> NDArray[np.float64]:
    """The noisy Gini index (nodes by splits) of tables by side, node, class and split."""
    counts = np.maximum(tables.astype(np.float64), LEAST)
    sides = counts.sum(axis=2)
    return np.asarray(((sides - (counts**2).sum(axis=2) / sides) / sides.sum(axis=0)).sum(axis=0))


@dataclass(frozen=True)
class Fixed:
    """A tree that was drawn without the data: all of epsilon goes to the counts, or only the classes, of its leaves.

    Guarantee  `epsilon`-DP under the schema's adjacency.
    Proof      counts: LeafCounts, DiscreteLaplace. Classes: the class of each leaf is chosen by permute-and-flip on its
               counts. Add-remove: a record raises one count of one leaf by one (monotone), other leaves do not change.
               Replace-one: within one leaf one count falls and one rises, and the scale is doubled for this; between
               two leaves there is one monotone change in each, at half of ε.
    Test       tests/doors/test_trees.py::test_every_plan_stays_within_epsilon and ..._attains_it
    """

    tree: Tree
    epsilon: Epsilon
    labels: bool

    def cells(self) -> list[Cells]:
        """The cells that the tree asks about."""
        return self.tree.cells

    def steps(self, schema: Schema) -> list[AnyStep]:
        """One step, for all leaves."""
        if not self.labels:
            return [leaf_counts(self.tree.leaves, self.epsilon, schema)]
        return [chosen_step(Asked(f"class of each of {self.tree.leaves} leaves", 1), self.epsilon, schema)]

    def answer(self, records: TreeRecords, steps: Sequence[AnyStep], schema: Schema, rng: Randomness) -> list[Answer]:
        """Count or choose."""
        (mechanism,) = [step.mechanism for step in steps]
        placed = records.at_the_leaves(self.tree)
        if not self.labels:
            return [counted(self.tree, placed, mechanism, rng)]
        chosen = [mechanism.choose(row, rng) for row in placed.by_class(self.tree.leaves)]
        return [labelled(self.tree, chosen, schema)]


def chosen_step(asked: Asked, share: Epsilon, schema: Schema) -> Step[Asked, PermuteAndFlip]:
    """A choice at a share of epsilon."""
    return Step(asked, PermuteAndFlip.calibrated(share, asked.distance(schema)), share)


def counted_step(asked: Asked, share: Epsilon, schema: Schema) -> Step[Asked, DiscreteLaplace]:
    """Noisy counts at a share of epsilon."""
    return Step(asked, DiscreteLaplace.calibrated(share, asked.distance(schema)), share)


def leaf_counts(leaves: int, share: Epsilon, schema: Schema) -> Step[Asked, DiscreteLaplace]:
    """Counts of at most so many leaves, at a share of epsilon."""
    return counted_step(Asked(f"records by class in {leaves} leaves", 1), share, schema)


def counted(tree: Tree, placed: Placed, noise: DiscreteLaplace, rng: Randomness) -> Answer:
    """The noisy counts of the leaves of a tree, by the records at these leaves."""
    counts = placed.by_class(tree.leaves).T
    return LeafCounts(tree.nodes), NoisyTable(noise.perturb(counts, rng), noise.variance)


def labelled(tree: Tree, chosen: Sequence[int], schema: Schema) -> Answer:
    """The classes that were chosen for the leaves of a tree, as a table."""
    table = np.zeros((len(schema.classes), tree.leaves), dtype=np.int64)
    table[chosen, np.arange(tree.leaves)] = 1
    return LeafLabels(tree.nodes), NoisyTable(table, math.inf)
