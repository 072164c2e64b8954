"""Which branches of a tree are worth keeping, and the class probabilities of its leaves. All of it is post-processing.

Sums of noisy leaf counts are noisy counts of the nodes above: the deviation of their noise grows with the square root
of the number of leaves. Everything is measured in these deviations, so that there is nothing to tune
(benchmarks/trees.py shows the accuracy).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.models.tabular import LEAST_PSEUDO_RECORDS
from discreet.queries.trees import Node, Tree

Matrix = NDArray[np.float64]


def smoothed(
    tree: Tree, counts: Matrix, variance: float, weights: Matrix | None = None, splits: Sequence[bool] | None = None
) -> tuple[Tree, Matrix, Matrix, Matrix, Matrix]:
    """The pruned tree, the class probabilities of its leaves, about how many records lie in each, and their counts by
    class with the variance of the noise of each.

    A node's probabilities are its counts, negative ones as zero, plus pseudo-records: one deviation of its noise spread
    as the node above is, and one spread evenly. So a leaf of few records says about what the node above says. With
    weights of the classes, counts are weighted, and the noise counts as that of the heaviest class. With `splits`,
    these nodes are split, and no others.
    """
    left, right, _ = tree.links()
    whole, leaves = _sums(tree, counts, left, right)
    deviation = np.sqrt(variance * leaves)
    each = np.ones(counts.shape[1]) if weights is None else weights
    if splits is None:
        splits = _worth_it(((whole - deviation[:, None]) * each).max(axis=1), left, right)
    pseudo = np.maximum(deviation, LEAST_PSEUDO_RECORDS)[:, None] * float(each.max())
    filled, even = np.maximum(whole, 0.0) * each, 1 / counts.shape[1]
    chances, nodes, kept = np.full_like(whole, even), list[Node](), list[int]()
    waiting = [(0, 0)]
    while waiting:
        place, above = waiting.pop()
        mass = filled[place] + pseudo[place] * (chances[above] + even)
        chances[place] = mass / mass.sum()
        nodes.append(tree.nodes[place] if splits[place] else None)
        if splits[place]:
            waiting += [(right[place], place), (left[place], place)]
        else:
            kept.append(place)
    records = np.maximum(whole[kept].sum(axis=1), 0.0)
    return Tree(tuple(nodes)), chances[kept], records, whole[kept], variance * leaves[kept]


def _sums(tree: Tree, counts: Matrix, left: list[int], right: list[int]) -> tuple[Matrix, Matrix]:
    """Counts by class of every node, and its number of leaves."""
    whole, leaves = np.zeros((len(tree.nodes), counts.shape[1])), np.ones(len(tree.nodes))
    whole[[node is None for node in tree.nodes]] = counts
    for place in reversed(range(len(tree.nodes))):
        if tree.nodes[place] is not None:
            whole[place] = whole[left[place]] + whole[right[place]]
            leaves[place] = leaves[left[place]] + leaves[right[place]]
    return whole, leaves


def _worth_it(alone: Matrix, left: list[int], right: list[int]) -> list[bool]:
    """Which nodes to split: where the best leaves below classify more records right than the node as a leaf does.

    A leaf is worth its largest count minus one standard deviation of its noise: the largest of several noisy counts is
    too high by about that much.
    """
    best, splits = alone.tolist(), [False] * len(alone)
    for place in reversed(range(len(alone))):
        if left[place] >= 0:
            below = best[left[place]] + best[right[place]]
            splits[place] = below > best[place]
            best[place] = max(below, best[place])
    return splits
