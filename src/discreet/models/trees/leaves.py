"""From the answer about the leaves of a tree to a tree that predicts: pruning and smoothing, all post-processing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.models.class_weights import weights_of
from discreet.models.tabular import LEAST_PSEUDO_RECORDS
from discreet.models.trees.smoothing import smoothed
from discreet.queries.trees import LeafCounts, LeafLabels, Node, Places, Tree
from discreet.records.encoding import Cells
from discreet.records.tables import open_records
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.sources.memory import BLOCK

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class GrownTree:
    """A tree with the class probabilities of each leaf (leaves by classes), and about how many records lie in it.

    `counts` are the published records of each leaf by class, noise included, and `variances` the variance of the noise
    of one such count, which grows with the number of leaves that were merged; None where these are not known. With
    `weights` of the classes, the probabilities are weighted, and the counts are not.
    """

    tree: Tree
    probabilities: Matrix
    records: Matrix | None
    counts: Matrix | None = None
    variances: Matrix | None = None
    weights: Matrix | None = None

    def in_order(self, places: list[int]) -> GrownTree:
        """The same tree with its classes in another order."""
        counts = None if self.counts is None else self.counts[:, places]
        weights = None if self.weights is None else self.weights[places]
        return GrownTree(self.tree, self.probabilities[:, places], self.records, counts, self.variances, weights)


def all_grown(
    noisy: NoisyStatistics, prune: float | str, class_weight: Any, schema: Schema
) -> list[tuple[Tree, GrownTree]]:
    """The trees that answers are about, as published and as made: by counts of leaves, by their classes, or both."""
    found: list[tuple[Tree, GrownTree]] = []
    before: tuple[LeafCounts, NoisyTable] | None = None
    for query, table in noisy.tables:
        if not isinstance(query, LeafCounts):
            continue
        if before is not None and type(query) is LeafCounts and query.nodes == before[0].nodes:
            found[-1] = query.tree, _of_both(query.tree, np.asarray(before[1].values), table)
            before = None
            continue
        found.append((query.tree, grown(query, table, prune, class_weight, schema)))
        before = (query, table) if isinstance(query, LeafLabels) else None
    return found


def grown(query: LeafCounts, table: NoisyTable, prune: float | str, class_weight: Any, schema: Schema) -> GrownTree:
    """Make the tree from one answer: by the rule of smoothing.py, or by hand at this many standard deviations."""
    if isinstance(query, LeafLabels):
        if class_weight is not None:
            raise ParameterError(
                "leaves with classes by majority cannot be weighted; need statistics with their counts"
            )
        return _of_labels(query.tree, np.asarray(table.values))
    counts = _counts_of(table)
    noise = math.sqrt(table.variance * len(counts))
    weights = weights_of(class_weight, schema, counts.sum(axis=0), noise)
    if prune == "auto":
        return GrownTree(*smoothed(query.tree, counts, table.variance, weights), weights)
    return _of_counts(query.tree, counts, table.variance, float(prune), weights)


def _counts_of(table: NoisyTable) -> Matrix:
    """The noisy counts of the leaves, leaves by classes."""
    if not 0 <= table.variance < math.inf:
        raise ParameterError(
            "counts of leaves without the variance of their noise; need statistics made by growing a tree"
        )
    return np.asarray(table.values, dtype=np.float64).T


class _Branch(NamedTuple):
    """A pruned part of a tree: its nodes, the counts of its leaves, how many records these classify right, how many
    leaves there were before pruning, and how many of these each leaf is made of."""

    nodes: tuple[Node, ...]
    counts: tuple[Matrix, ...]
    right: float
    leaves: int
    merged: tuple[int, ...]


def _of_counts(tree: Tree, counts: Matrix, variance: float, prune: float, weights: Matrix | None) -> GrownTree:
    """Negative counts become zero; each class gets as many pseudo-records as the scale of the noise.

    Noise counts as that of the heaviest class.
    """
    each = np.ones(counts.shape[1]) if weights is None else weights
    heaviest = float(each.max())
    pruned = _pruned(tree, counts * each, prune * math.sqrt(variance) * heaviest)
    kept = np.array(pruned.counts)
    filled = np.maximum(kept, 0.0) + max(math.sqrt(variance / 2), LEAST_PSEUDO_RECORDS) * heaviest
    probabilities = filled / filled.sum(axis=1, keepdims=True)
    variances, counted = variance * np.array(pruned.merged, dtype=np.float64), kept / each
    records = np.maximum(counted.sum(axis=1), 0.0)
    return GrownTree(Tree(pruned.nodes), probabilities, records, counted, variances, weights)


def _pruned(tree: Tree, counts: Matrix, deviation: float) -> _Branch:
    """Merge two branches, from the leaves up, if their gain over one merged leaf may be due to noise."""
    waiting: list[_Branch] = []
    leaf = len(counts)
    for node in reversed(tree.nodes):
        if node is None:
            leaf -= 1
            waiting.append(_Branch((None,), (counts[leaf],), max(float(counts[leaf].max()), 0.0), 1, (1,)))
            continue
        left, right = waiting.pop(), waiting.pop()
        whole, leaves = np.sum([*left.counts, *right.counts], axis=0), left.leaves + right.leaves
        alone = max(float(whole.max()), 0.0)
        if left.right + right.right - alone <= deviation * math.sqrt(leaves):
            waiting.append(_Branch((None,), (whole,), alone, leaves, (leaves,)))
        else:
            nodes, both = (node, *left.nodes, *right.nodes), left.counts + right.counts
            waiting.append(_Branch(nodes, both, left.right + right.right, leaves, left.merged + right.merged))
    return waiting.pop()


def _of_labels(tree: Tree, table: NDArray[Any]) -> GrownTree:
    """Give the class of a leaf half of the mass, plus an equal part of the other half: its counts are not known."""
    splits, labels = _named(tree, table)
    met = _met(tree, splits)
    nodes = [tree.nodes[place] if splits[place] else None for place in met]
    chances = 0.5 * np.eye(len(table))[[labels[place] for place in met if not splits[place]]] + 0.5 / len(table)
    return GrownTree(Tree(tuple(nodes)), chances, None)


def _of_both(tree: Tree, table: NDArray[Any], counted: NoisyTable) -> GrownTree:
    """Probabilities from the counts, as far as they agree with the classes, which were chosen at a larger share of ε.

    Where another class leads in the noisy counts, as much is added to the class of the leaf as it takes to lead.
    """
    splits, labels = _named(tree, table)
    shown, chances, *rest = smoothed(tree, _counts_of(counted), counted.variance, None, splits)
    kept = [labels[place] for place in _met(tree, splits) if not splits[place]]
    own = np.arange(len(kept)), np.array(kept)
    others = chances.copy()
    others[own] = -np.inf
    behind = others.max(axis=1, initial=0.0) - chances[own]
    chances[own] += np.where(behind > -LEAST_LEAD, behind + LEAD, 0.0)
    return GrownTree(shown, chances / chances.sum(axis=1, keepdims=True), *rest)


LEAD, LEAST_LEAD = 0.01, 1e-9
"""By how much the class of a leaf leads if it does not lead in the noisy counts by the second number."""


def _named(tree: Tree, table: NDArray[Any]) -> tuple[list[bool], list[int]]:
    """Which nodes to split, those with more than one class below; and the class of every node, of its first leaf."""
    if not (np.isin(table, (0, 1)).all() and (table.sum(axis=0) == 1).all()):
        raise ParameterError("a leaf does not have exactly one class; need statistics made by growing a tree")
    left, right, _ = tree.links()
    leaves = iter(np.argmax(table, axis=0).tolist())
    labels = [next(leaves) if node is None else -1 for node in tree.nodes]
    splits = [False] * len(tree.nodes)
    for place in reversed(range(len(tree.nodes))):
        if tree.nodes[place] is not None:
            labels[place] = labels[left[place]]
            same = labels[left[place]] == labels[right[place]]
            splits[place] = not same or splits[left[place]] or splits[right[place]]
    return splits, labels


def _met(tree: Tree, splits: Sequence[bool]) -> list[int]:
    """The nodes that are left of a tree that is split at these nodes only, in preorder."""
    left, right, _ = tree.links()
    found, waiting = list[int](), [0]
    while waiting:
        found.append(place := waiting.pop())
        if splits[place]:
            waiting += [right[place], left[place]]
    return found


def asked_cells(trees: Sequence[GrownTree]) -> tuple[Cells, ...]:
    """The cells that the splits of all trees are about, each once."""
    return tuple(dict.fromkeys(cells for each in trees for cells in each.tree.cells))


def added(trees: Sequence[GrownTree]) -> tuple[Matrix, tuple[tuple[Tree, Matrix], ...], float]:
    """What `log_probabilities` adds up, in its order, and what it divides by."""
    logs = tuple((each.tree, np.log(each.probabilities)) for each in trees)
    return np.zeros(trees[0].probabilities.shape[1]), logs, float(len(trees))


def log_probabilities(trees: Sequence[GrownTree], X: Any, schema: Schema) -> Iterator[Matrix]:
    """Yield the mean log-probability of each class over the trees, one block of rows at a time."""
    table = open_records(X, schema)
    logs = [np.log(each.probabilities) for each in trees]
    encoders = {cells: table.coder(cells, schema) for cells in asked_cells(trees)}
    for start in range(0, table.rows, BLOCK):
        rows = slice(start, min(start + BLOCK, table.rows))
        codes = {cells: encode(rows) for cells, encode in encoders.items()}
        ends: list[Places] = [each.tree.leaf_of(codes, rows.stop - rows.start) for each in trees]
        yield np.asarray(sum(log[end] for log, end in zip(logs, ends, strict=True)) / len(trees))
