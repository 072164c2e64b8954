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
from discreet.released.statistics import NoisyTable
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


def grown(query: LeafCounts, table: NoisyTable, prune: float | str, class_weight: Any, schema: Schema) -> GrownTree:
    """Make the tree from one answer: by the rule of smoothing.py, or by hand at this many standard deviations."""
    if isinstance(query, LeafLabels):
        if class_weight is not None:
            raise ParameterError(
                "leaves with classes by majority cannot be weighted; need statistics with their counts"
            )
        return _of_labels(query.tree, np.asarray(table.values))
    if not 0 <= table.variance < math.inf:
        raise ParameterError(
            "counts of leaves without the variance of their noise; need statistics made by growing a tree"
        )
    counts = np.asarray(table.values, dtype=np.float64).T
    noise = math.sqrt(table.variance * len(counts))
    weights = weights_of(class_weight, schema, counts.sum(axis=0), noise)
    if prune == "auto":
        return GrownTree(*smoothed(query.tree, counts, table.variance, weights), weights)
    return _of_counts(query.tree, counts, table.variance, float(prune), weights)


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
    if not (np.isin(table, (0, 1)).all() and (table.sum(axis=0) == 1).all()):
        raise ParameterError("a leaf does not have exactly one class; need statistics made by growing a tree")
    labels, leaf = np.argmax(table, axis=0), table.shape[1]
    waiting: list[tuple[tuple[Node, ...], tuple[int, ...]]] = []
    for node in reversed(tree.nodes):
        if node is None:
            leaf -= 1
            waiting.append(((None,), (int(labels[leaf]),)))
            continue
        (left, named), (right, others) = waiting.pop(), waiting.pop()
        same = len(set(named + others)) == 1
        waiting.append(((None,), named[:1]) if same else ((node, *left, *right), named + others))
    nodes, kept = waiting.pop()
    return GrownTree(Tree(nodes), 0.5 * np.eye(len(table))[list(kept)] + 0.5 / len(table), None)


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
