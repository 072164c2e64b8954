"""What the splits above a node have already decided. Public: these splits are published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from discreet.queries.trees import Node, Places, Split, Tree
from discreet.records.encoding import Cells
from discreet.schema import Schema

Box = Mapping[Cells, frozenset[int] | range]
"""The codes that a path leaves, for the cells that it has asked about: a range of numbers, or a set of categories."""


def branches(box: Box | None, node: Node, schema: Schema) -> tuple[Box | None, Box | None]:
    """The boxes below a node, left and right. Below a leaf its records go on to the left; None is a box of none."""
    if box is None or node is None:
        return box, None
    before = box.get(node.cells, range(node.cells.size(schema)))
    if isinstance(before, range) and node.bins is not None:
        middle = min(max(node.code + 1, before.start), before.stop)
        return {**box, node.cells: range(before.start, middle)}, {**box, node.cells: range(middle, before.stop)}
    codes = frozenset(before)
    return {**box, node.cells: codes & {node.code}}, {**box, node.cells: codes - {node.code}}


def boxes_of_leaves(tree: Tree, schema: Schema) -> list[Box]:
    """What the path to each leaf leaves, from left to right."""
    found: list[Box] = []
    waiting: list[Box] = [{}]
    for node in tree.nodes:
        box = waiting.pop()
        if node is None:
            found.append(box)
        else:
            left, right = branches(box, node, schema)
            waiting += [each for each in (right, left) if each is not None]
    return found


class Candidates:
    """Candidate splits, those of one column next to each other, and which of them a path leaves undecided."""

    def __init__(self, splits: Sequence[Split]) -> None:
        self.splits = tuple(splits)
        self.groups: list[tuple[Cells, slice, NDArray[np.int64]]] = []
        start = 0
        for cells, group in groupby(self.splits, key=lambda split: split.cells):
            codes = np.array([split.code for split in group], dtype=np.int64)
            self.groups.append((cells, slice(start, start + len(codes)), codes))
            start += len(codes)
        self._group_of = {cells: (part, codes) for cells, part, codes in self.groups}

    def open_to(self, box: Box | None) -> Places:
        """The positions of the splits that can send records of the box to either side, each such division once.

        Proof      numbers: the codes are a range a ... b, and `code` divides them if a <= code < b. Categories: a code
                   of the box divides it if another one is left; with two left, both codes divide alike: the first.
        Test       tests/queries/test_tree_paths.py::test_open_splits_are_those_that_divide_the_box (exhaustive)
        """
        is_open = np.full(len(self.splits), box is not None)
        for cells, left in (box or {}).items():
            part, codes = self._group_of[cells]
            if isinstance(left, range):
                is_open[part] = (codes >= left.start) & (codes < left.stop - 1)
            else:
                is_open[part] = np.isin(codes, sorted(left) if len(left) > 2 else sorted(left)[:-1])
        return np.flatnonzero(is_open)
