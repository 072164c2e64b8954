"""Trees: questions about one column each, where a record ends, and what is asked of the leaves.

The structure of a tree is public: it was drawn without the data, or chosen by a mechanism that was paid for. It lives
in the query that asks about its leaves, so that a model file holds it. A tree is the list of its nodes from the root,
each followed by its left and then its right branch (preorder); a leaf is None. Such a list has no cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.schema.columns import Categorical, is_integer

Places = NDArray[np.intp]

MOST_DEPTH = 64
"""No tree is deeper; a file that says otherwise was not written by us."""
MOST_CATEGORIES = 1000
"""A column with more categories is asked no question: each of its values is too rare to tell anything."""
MOST_BINS = 128
"""The most bins in which a tree may cut a column of numbers."""


class Split(NamedTuple):
    """A question: is the cell at most `code` (numbers, `bins` equal cells), or is it the category `code`? Yes: left."""

    column: str
    bins: int | None
    code: int

    @property
    def cells(self) -> Cells:
        """The cells whose codes answer the question."""
        return Cells(self.column, self.bins)

    def fits(self, schema: Schema) -> bool:
        """Whether the schema has such a column, and both answers are possible."""
        if self.column not in schema.names or isinstance(schema[self.column], Categorical) != (self.bins is None):
            return False
        size = self.cells.size(schema)
        return 0 <= self.code < (size if self.bins is None else size - 1) and size > 1


Node = Split | None


def candidates(schema: Schema, bins: int, columns: Sequence[str] | None = None) -> tuple[Split, ...]:
    """Every question about the columns: each inner edge of the bins, each category (of two only the first)."""
    splits = []
    for name in schema.names if columns is None else columns:
        column = schema[name]
        if isinstance(column, Categorical):
            codes = range(column.size if column.size > 2 else column.size - 1)
            splits += [Split(name, None, code) for code in codes if column.size <= MOST_CATEGORIES]
        else:
            splits += [Split(name, bins, code) for code in range(bins - 1)]
    return tuple(splits)


@dataclass(frozen=True, repr=False)
class Tree:
    """A binary tree as the list of its nodes in preorder."""

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(_node(each) for each in self.nodes))
        if max(self.links()[2]) > MOST_DEPTH:
            raise ValueError("the tree is too deep")

    def __repr__(self) -> str:
        return f"Tree({self.leaves} leaves)"

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.nodes.count(None)

    @property
    def depth(self) -> int:
        """Questions on the longest path."""
        return max(self.links()[2])

    @property
    def cells(self) -> list[Cells]:
        """The cells that its questions are about, each once."""
        return list(dict.fromkeys(node.cells for node in self.nodes if node is not None))

    def links(self) -> tuple[list[int], list[int], list[int]]:
        """For each node where its left and right branch begin (-1 for a leaf), and its depth; ValueError if broken."""
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
                raise ValueError("nodes after the end of the tree")
            else:
                depth[place] = 0
            if node is not None:
                waiting.append(place)
        if waiting or not self.nodes:
            raise ValueError("the tree lacks a branch")
        return left, right, depth

    def leaf_of(self, codes: Mapping[Cells, NDArray[Any]], records: int) -> Places:
        """The leaf, numbered from left to right, in which each of so many records ends."""
        if self.leaves == 1:
            return np.zeros(records, dtype=np.intp)
        left, right, _ = self.links()
        cells, places = self.cells, np.arange(len(self.nodes))
        matrix = np.stack([codes[each] for each in cells]).ravel()
        inner = [node is not None for node in self.nodes]
        start = np.array([0 if node is None else cells.index(node.cells) * records for node in self.nodes])
        code = np.array([0 if node is None else node.code for node in self.nodes])
        ordered = np.array([node is not None and node.bins is not None for node in self.nodes])
        yes, no = np.where(inner, left, places), np.where(inner, right, places)
        place, row = np.zeros(records, dtype=np.intp), np.arange(records)
        for _ in range(self.depth):
            answers, asked = matrix[start[place] + row], code[place]
            goes_left = np.where(ordered[place], answers <= asked, answers == asked)
            place = np.where(goes_left, yes[place], no[place])
        return np.asarray(np.cumsum([not each for each in inner])[place] - 1)

    def fits(self, schema: Schema) -> bool:
        """Whether all its questions are about this schema's columns."""
        return all(node is None or node.fits(schema) for node in self.nodes)


def complete_tree(levels: Sequence[Sequence[Split]]) -> Tree:
    """The tree whose level l has the 2**l questions `levels[l]`, from left to right."""
    nodes: list[Node] = []
    waiting = [(0, 0)]
    while waiting:
        level, place = waiting.pop()
        nodes.append(levels[level][place] if level < len(levels) else None)
        if level < len(levels):
            waiting += [(level + 1, 2 * place + 1), (level + 1, 2 * place)]
    return Tree(tuple(nodes))


def _node(content: Any) -> Node:
    """A node from plain data, as it stands in a file; ValueError if it is none."""
    if content is None or isinstance(content, Split):
        return content
    if not isinstance(content, list | tuple) or len(content) != 3:
        raise ValueError("a node is a leaf (null) or column, bins and code")
    column, bins, code = content
    sized = bins is None or (is_integer(bins) and 2 <= bins <= MOST_BINS)
    if not isinstance(column, str) or not is_integer(code) or not sized:
        raise ValueError("a node has a column, a number of bins (or null) and an integer code")
    return Split(column, bins, code)


@dataclass(frozen=True, repr=False)
class LeafCounts:
    """Records by class and leaf of a public tree.

    Sensitivity  (L1) add-remove: 1; replace-one: 2 (`Asked.distance` in doors/tree_plans.py).
    Proof        a record with one of the classes ends in one leaf and adds one to one cell; a record with none of them
                 adds nothing. Replace-one is a removal and an addition.
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
        """The columns that the tree asks about."""
        return tuple(dict.fromkeys(node.column for node in self.nodes if node is not None))

    def shape(self, schema: Schema) -> tuple[int, int]:
        """Classes and leaves; ValueError if the tree is not one of this schema."""
        if not self.tree.fits(schema):
            raise ValueError("the tree asks about columns or cells that the schema has not")
        return len(schema.classes), self.tree.leaves


class LeafLabels(LeafCounts):
    """The class of each leaf of a public tree, without counts: a table with a single one in each leaf's column."""


def majority(counts: Integers) -> Integers:
    """Records of the largest class, for counts whose second axis is the class.

    Sensitivity  adding a record raises it by 0 or 1.
    Proof        one count grows by one, so the maximum by 0 or 1.
    Test         tests/queries/test_trees.py::test_scores_move_within_their_sensitivity (exhaustive)
    """
    return np.asarray(counts.max(axis=1))


def gini_purity(counts: Integers) -> Integers:
    """Minus the Gini impurity times the number of records, rounded to an integer: -floor((m^2 - sum m_c^2) / m).

    Sensitivity  adding a record lowers it by 0, 1 or 2.
    Proof        f = m - sum m_c^2 / m (0 without records). One more record of class k adds
                 (m^2 - 2 m m_k + sum m_c^2) / (m (m + 1)) to f for m > 0, and 0 for m = 0. The numerator is at least
                 (m - m_k)^2 >= 0, and at most 2 m^2, since sum m_c^2 <= m^2: f grows by a number in [0, 2), and its
                 floor, computed in integers, by 0, 1 or 2.
    Test         tests/queries/test_trees.py::test_scores_move_within_their_sensitivity (exhaustive)
    """
    records = counts.sum(axis=1)
    return np.asarray(-((records**2 - (counts**2).sum(axis=1)) // np.maximum(records, 1)))


@dataclass(frozen=True)
class SplitScore:
    """How good a split is: the sum of a value of its two sides; higher is better.

    Sensitivity  adding a record moves every split's score by 0 to `sensitivity`, all the same way (monotone); replacing
                 one moves each by at most `sensitivity`, up or down.
    Proof        the record is on one side of each split, whose value alone moves, as the value's proof says; replacing
                 is a removal, which moves all by 0 to `sensitivity` one way, and an addition, all the other way.
    Test         tests/queries/test_trees.py::test_scores_move_within_their_sensitivity (exhaustive)
    """

    name: str
    value: Callable[[Integers], Integers]
    sensitivity: int

    def of(self, left: Integers, total: Integers) -> Integers:
        """Scores (nodes by splits) from counts on the left (nodes, classes, splits) and in all (nodes, classes)."""
        return self.value(left) + self.value(total[:, :, None] - left)


SCORES = {each.name: each for each in (SplitScore("max", majority, 1), SplitScore("gini", gini_purity, 2))}
