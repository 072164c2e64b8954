"""The value of a set of columns: the accuracy of a tree on records, or of naive Bayes on noisy tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.models.bees.colony import Uniform
from discreet.models.bees.selection import Bits
from discreet.records.encoding import Codes

Matrix = NDArray[np.float64]

FOLDS = 3
"""Folds of the published method."""
RECORDS = 2000
"""Number of records that are drawn from noisy tables to compare subsets on: their accuracies err by about 0.01."""


class TreeAccuracy:
    """Mean accuracy of an entropy tree with at least two records per leaf, in 3-fold cross-validation.

    Categories are coded by their position in the schema; a tree that is deep enough tells all of them apart. The folds
    are stratified, drawn once, and the same for all subsets.
    """

    def __init__(self, encoded: Mapping[str, NDArray[Any]], labels: Codes, uniform: Uniform) -> None:
        columns = [np.nan_to_num(np.asarray(values, dtype=np.float32), nan=-1.0) for values in encoded.values()]
        self._records = np.column_stack(columns)
        self._labels = labels
        self._folds = _stratified(labels, uniform)

    def __call__(self, bits: Bits) -> float:
        """Return the accuracy with these columns; 0 if there are too few records to train and to test."""
        from sklearn.tree import DecisionTreeClassifier

        chosen = self._records[:, np.array(bits)]
        accuracies = []
        for fold in range(FOLDS):
            test = self._folds == fold
            if test.any() and not test.all():
                tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
                tree.fit(chosen[~test], self._labels[~test])
                accuracies.append(float(np.mean(tree.predict(chosen[test]) == self._labels[test])))
        return sum(accuracies) / len(accuracies) if accuracies else 0.0


def _stratified(labels: Codes, uniform: Uniform) -> NDArray[np.intp]:
    """Deal the records of each class to the folds in turn, in random order; returns the fold of each record."""
    keys = np.array([uniform() for _ in range(len(labels))])
    order = np.lexsort((keys, labels))
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = np.arange(len(labels)) % FOLDS
    return folds


@dataclass(frozen=True)
class NoisyHistogram:
    """One column in noisy statistics: noisy counts of records by class and cell, and the variance of the noise."""

    counts: Matrix
    variance: float

    def conditional(self) -> Matrix:
        """Probability of each cell in each class, shrunk to remove what is due to chance.

        The table is shrunk towards independence of cell and class by the factor that minimises the expected squared
        error (James and Stein): one minus the squared distance expected by chance over the observed one. Chance is the
        noise and the sampling of the records. A column within two standard deviations of chance says nothing.
        """
        counts = np.maximum(self.counts, 0.0) + 1e-9
        total = counts.sum()
        cells, classes = counts.sum(axis=0) / total, counts.sum(axis=1, keepdims=True) / total
        independent = total * classes * cells
        distance = self.counts - independent
        freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1)
        noise = 0.0 if math.isinf(self.variance) else self.variance * freedom
        chance = noise + float((independent * (1 - classes) * (1 - cells)).sum())
        observed = float((distance**2).sum())
        doubtful = chance * (1 + 2 * math.sqrt(2 / max(freedom, 1)))
        kept = 1 - chance / observed if observed > doubtful else 0.0
        shrunk = np.maximum(independent + kept * distance, 0.0) + 1e-3 * independent + 1e-9
        return np.asarray(shrunk / shrunk.sum(axis=1, keepdims=True))


class NoisyAccuracy:
    """Accuracy of naive Bayes on records drawn from the noisy tables, minus a price per column.

    Records are drawn once, from the class frequencies and the probabilities of each column (independent within a
    class), and every subset is tried on them. Tables of single columns cannot show that two columns say the same; they
    show which columns say enough to change decisions. Only noisy tables are read: post-processing.
    """

    def __init__(self, prior: Matrix, tables: Sequence[NoisyHistogram], price: float, uniform: Uniform) -> None:
        self._price = price
        self._labels = _draws(np.tile(prior, (RECORDS, 1)), uniform)
        self._log_prior = np.log(np.maximum(prior, 1e-12))
        conditionals = [table.conditional() for table in tables]
        cells = [_draws(each[self._labels], uniform) for each in conditionals]
        evidence = [np.log(each).T[cell] for each, cell in zip(conditionals, cells, strict=True)]
        self._evidence = np.stack(evidence, axis=0)

    def __call__(self, bits: Bits) -> float:
        """Return the accuracy with these columns, minus their price."""
        joint = self._log_prior + self._evidence[np.array(bits)].sum(axis=0)
        return float(np.mean(np.argmax(joint, axis=1) == self._labels)) - self._price * sum(bits)


def _draws(probabilities: Matrix, uniform: Uniform) -> Codes:
    """Draw one position from each row of probabilities."""
    spins = np.array([uniform() for _ in range(len(probabilities))])
    passed = np.cumsum(probabilities, axis=1)
    codes = (passed < spins[:, np.newaxis] * passed[:, -1:]).sum(axis=1)
    return np.asarray(np.minimum(codes, probabilities.shape[1] - 1))
