"""Trees of splits: which leaf a record ends in, and the queries about the leaves.

The structure of a tree is public: it was drawn without the data, or chosen by a mechanism that was paid for. It is part
of the query about its leaves, so a model file holds it. A tree is the list of its nodes from the root, each followed by
its left and then its right branch (preorder); a leaf is None. Such a list cannot contain a cycle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.schema.columns import Categorical, is_integer

Places = NDArray[np.intp]

MOST_DEPTH = 64
"""The greatest depth of a tree in a file. Trees that discreet grows are much shallower, so a deeper one is damaged."""
MOST_CATEGORIES = 1000
"""Columns with more categories are never split on: each category is too rare to tell anything."""
MOST_BINS = 2048
"""The most bins that a tree may cut a numeric column into: the fine cells that thresholds of many scales lie on."""
STEPS = 256
"""Fine thresholds cut the range of a numeric column into this many equal steps, and the outermost steps further."""


class Split(NamedTuple):
    """A split on one column. Left: the records whose cell is at most `code` (numeric, `bins` equal cells), or is the
    category `code`."""

    column: str
    bins: int | None
    code: int

    @property
    def cells(self) -> Cells:
        """The cells whose codes decide."""
        return Cells(self.column, self.bins)

    def fits(self, schema: Schema) -> bool:
        """Whether the schema has such a column, and records can go to either side."""
        if self.column not in schema.names or isinstance(schema[self.column], Categorical) != (self.bins is None):
            return False
        size = self.cells.size(schema)
        return 0 <= self.code < (size if self.bins is None else size - 1) and size > 1


Node = Split | None


def candidates(schema: Schema, bins: int | None, columns: Sequence[str] | None = None) -> tuple[Split, ...]:
    """Every split on the columns: at each inner edge of the bins (None: fine thresholds of many scales), and on each
    category (of two only the first)."""
    splits: list[Split] = []
    for name in schema.names if columns is None else columns:
        column = schema[name]
        if isinstance(column, Categorical):
            codes = range(column.size if column.size > 2 else column.size - 1)
            splits += [Split(name, None, code) for code in codes if column.size <= MOST_CATEGORIES]
        elif bins is None:
            splits += _fine(name, column.grid)
        else:
            splits += [Split(name, bins, code) for code in range(bins - 1)]
    return tuple(splits)


@lru_cache(maxsize=256)  # they are asked for again at every plan and every level of a tree
def _fine(name: str, grid: int) -> tuple[Split, ...]:
    """Thresholds in equal steps, and at 1/8, 1/4 and 1/2 of a step from both bounds, near which skewed columns have
    their values. Of thresholds with the same grid points on their left one is kept; on a grid with fewer points than
    steps it is the one half-way between two points."""
    if grid < STEPS:
        return tuple(Split(name, 2 * grid, 2 * point) for point in range(grid))
    step = MOST_BINS // STEPS
    near = [2**power for power in range(step.bit_length() - 1)]
    edges = [*near, *range(step, MOST_BINS, step), *(MOST_BINS - edge for edge in reversed(near))]
    distinct = {math.ceil(edge * grid / MOST_BINS): edge for edge in edges}
    return tuple(Split(name, MOST_BINS, edge - 1) for edge in distinct.values())


@dataclass(frozen=True, repr=False)
class Tree:
    """A binary tree as the list of its nodes in preorder."""

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(_node(each) for each in self.nodes))
        if max(self.links()[2]) > MOST_DEPTH:
            raise ValueError(f"the tree is too deep; need a depth of at most {MOST_DEPTH}")

    def __repr__(self) -> str:
        return f"Tree({self.leaves} leaves)"

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.nodes.count(None)

    @property
    def depth(self) -> int:
        """Number of splits on the longest path."""
        return max(self.links()[2])

    @property
    def cells(self) -> list[Cells]:
        """The cells that its splits are about, each once."""
        return list(dict.fromkeys(node.cells for node in self.nodes if node is not None))

    def links(self) -> tuple[list[int], list[int], list[int]]:
        """Where the branches of each node begin (-1 for a leaf), and its depth; ValueError if this is not a tree."""
        left, right, depth = ([-1] * len(self.nodes) for _ in range(3))
        waiting: list[int] = []
        for place, node in enumerate(self.nodes):
            if waiting:
                parent = waiting[-1]
                depth[place] = depth[parent] + 1
                if left[parent] < 0:
                    left[parent] = place
                else:
                    right[waiting.pop()] = place
            elif place:
                raise ValueError("there are nodes after the end of the tree; need one tree in preorder")
            else:
                depth[place] = 0
            if node is not None:
                waiting.append(place)
        if waiting or not self.nodes:
            raise ValueError("the tree lacks a branch; need two branches after each split")
        return left, right, depth

    def leaf_of(self, codes: Mapping[Cells, NDArray[Any]], records: int) -> Places:
        """The leaf in which each record ends; leaves are numbered from left to right."""
        way = _way_down(self.nodes)
        place = np.zeros(records, dtype=np.intp)
        if not way.cells:
            return place
        matrix, row = np.stack([codes[each] for each in way.cells]).ravel(), np.arange(records)
        start = way.column * records
        for _ in range(way.depth):
            answers, asked = matrix.take(start.take(place) + row), way.code.take(place)
            goes_right = answers > asked
            if way.categories.any():
                goes_right = np.where(way.categories.take(place), answers != asked, goes_right)
            place += place
            place += goes_right
            place = way.below.take(place)
        return way.leaf.take(place)

    def fits(self, schema: Schema) -> bool:
        """Whether all its splits are about columns and cells of this schema."""
        return all(node is None or node.fits(schema) for node in self.nodes)


class _WayDown(NamedTuple):
    """How records go down a tree, as arrays by node: which of the cells it asks about, the code, and the branches."""

    cells: tuple[Cells, ...]
    depth: int
    column: Places
    code: Integers
    categories: NDArray[np.bool_]
    below: Places
    leaf: Places


@lru_cache(maxsize=16)  # many blocks of records go down the same tree
def _way_down(nodes: tuple[Node, ...]) -> _WayDown:
    tree = Tree(nodes)
    left, right, depth = tree.links()
    cells = tuple(tree.cells)
    number_of = {each: number for number, each in enumerate(cells)}
    inner = np.array([node is not None for node in nodes])
    below = np.where(inner[:, None], np.stack([left, right], axis=1), np.arange(len(nodes))[:, None])
    return _WayDown(
        cells,
        max(depth),
        np.array([0 if node is None else number_of[node.cells] for node in nodes], dtype=np.intp),
        np.array([0 if node is None else node.code for node in nodes]),
        np.array([node is not None and node.bins is None for node in nodes]),
        below.ravel().astype(np.intp),
        np.cumsum(~inner) - 1,
    )


def complete_tree(levels: Sequence[Sequence[Node]]) -> Tree:
    """The tree whose level l has the 2**l nodes `levels[l]`, from left to right; below a leaf nothing is looked at."""
    nodes: list[Node] = []
    waiting = [(0, 0)]
    while waiting:
        level, place = waiting.pop()
        node = levels[level][place] if level < len(levels) else None
        nodes.append(node)
        if node is not None:
            waiting += [(level + 1, 2 * place + 1), (level + 1, 2 * place)]
    return Tree(tuple(nodes))


def _node(content: Any) -> Node:
    """A node from plain data, as it is written to a file; ValueError if it is not a node."""
    if content is None or isinstance(content, Split):
        return content
    if not isinstance(content, list | tuple) or len(content) != 3:
        raise ValueError("a node is neither a leaf nor a split; need null, or a list of column, bins and code")
    column, bins, code = content
    sized = bins is None or (is_integer(bins) and 2 <= bins <= MOST_BINS)
    if not isinstance(column, str) or not is_integer(code) or not sized:
        raise ValueError(
            f"a split is malformed; need a column name, 2 to {MOST_BINS} bins (or null) and an integer code"
        )
    return Split(column, bins, code)


@dataclass(frozen=True, repr=False)
class LeafCounts:
    """Number of records per class and leaf of a public tree.

    Sensitivity  (L1) add-remove: 1; replace-one: 2 (`Asked.distance` in doors/tree_plans.py).
    Proof        a record with one of the classes ends in one leaf and adds one to one cell; any other record adds
                 nothing. Replace-one is a removal and an addition.
    Test         tests/queries/test_trees.py::test_leaf_counts_move_by_one_record
    """

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", Tree(self.nodes).nodes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.tree.leaves} leaves)"

    @property
    def tree(self) -> Tree:
        """The tree whose leaves are counted."""
        return Tree(self.nodes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the tree splits on."""
        return tuple(dict.fromkeys(node.column for node in self.nodes if node is not None))

    def shape(self, schema: Schema) -> tuple[int, int]:
        """Number of classes and of leaves; ValueError if the tree does not fit the schema."""
        if not self.tree.fits(schema):
            raise ValueError(
                "the tree splits on columns or cells that the schema does not have; use the schema of the tree"
            )
        return len(schema.classes), self.tree.leaves


class LeafLabels(LeafCounts):
    """The class of each leaf of a public tree, without counts: a table with 1 for the leaf's class and 0 elsewhere."""


def majority(counts: Integers) -> Integers:
    """Number of records of the largest class, for counts whose second axis is the class.

    Sensitivity  adding a record raises it by 0 or 1.
    Proof        one count grows by one, so the maximum grows by 0 or 1.
    Test         tests/queries/test_trees.py::test_scores_move_within_their_sensitivity (exhaustive)
    """
    return np.asarray(counts.max(axis=1))


def gini_purity(counts: Integers) -> Integers:
    """Minus the Gini impurity times the number of records, rounded to an integer: -floor((m^2 - sum m_c^2) / m).

    Sensitivity  adding a record lowers it by 0, 1 or 2.
    Proof        f = m - sum m_c^2 / m (0 without records). One more record of class k adds
                 (m^2 - 2 m m_k + sum m_c^2) / (m (m + 1)) to f for m > 0, and 0 for m = 0. The numerator is at least
                 (m - m_k)^2 >= 0, and at most 2 m^2, since sum m_c^2 <= m^2: f grows by a number in [0, 2), and its
                 floor, computed in integers, by 0, 1 or 2. Squares of 2^31 records fit 64 bits; those of more are
                 integers of any size.
    Test         tests/queries/test_trees.py::test_scores_move_within_their_sensitivity (exhaustive),
                 ::test_scores_of_billions_of_records_move_within_their_sensitivity
    """
    records = counts.sum(axis=1)
    if records.max(initial=0) >= 2**31:
        counts, records = counts.astype(object), records.astype(object)
        impurity = (records**2 - (counts**2).sum(axis=1)) // np.maximum(records, 1)
        return np.asarray(-impurity).astype(np.int64)
    return np.asarray(-((records**2 - (counts**2).sum(axis=1)) // np.maximum(records, 1)))


@dataclass(frozen=True)
class SplitScore:
    """How good a split is: the sum of the values of its two sides; higher is better.

    Sensitivity  adding a record moves every split's score by 0 to `sensitivity`, all the same way (monotone); replacing
                 one moves each by at most `sensitivity`, up or down.
    Proof        the record is on one side of each split, and only the value of that side moves, as its own proof says.
                 Replacing is a removal, which moves all scores by 0 to `sensitivity` one way, and an addition, which
                 moves all the other way.
    Test         tests/queries/test_trees.py::test_scores_move_within_their_sensitivity (exhaustive)
    """

    name: str
    value: Callable[[Integers], Integers]
    sensitivity: int

    def of(self, left: Integers, total: Integers) -> Integers:
        """Scores (nodes by splits) from counts on the left (nodes, classes, splits) and in total (nodes, classes)."""
        return self.value(left) + self.value(total[:, :, None] - left)

    def weighted(self, weights: Sequence[int] | None) -> SplitScore:
        """The same score with a record of each class counted as often as its weight says: positive integers, public.

        Sensitivity  that of the score times the largest weight.
        Proof        a record of weight w counts as w equal records, which are added one after another: each moves all
                     scores by 0 to `sensitivity`, all the same way, so all of them by 0 to w times that.
        Test         tests/queries/test_trees.py::test_weighted_scores_move_within_their_sensitivity (exhaustive)
        """
        if weights is None:
            return self
        if not all(is_integer(weight) and 1 <= weight <= HEAVIEST for weight in weights):
            raise ValueError(f"weights of classes must be integers from 1 to {HEAVIEST}")
        factors = np.array(weights, dtype=np.int64)[:, None]

        def value(counts: Integers) -> Integers:
            return self.value(counts * factors)

        return SplitScore(f"{self.name}, weighted", value, self.sensitivity * max(weights))


HEAVIEST = 16
"""The largest weight of a class in a score; others weigh less, in integers."""
SCORES = {each.name: each for each in (SplitScore("max", majority, 1), SplitScore("gini", gini_purity, 2))}
"""The scores by which splits can be chosen, by name."""
