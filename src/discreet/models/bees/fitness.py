"""What a subset of attributes is worth: the accuracy of a tree on records, or of naive Bayes on noisy tables."""

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
RECORDS = 2000
"""Records that are drawn from noisy tables to compare subsets on."""


class TreeAccuracy:
    """Mean accuracy of an entropy tree with at least two records a leaf, in 3-fold cross-validation.

    Categories are coded by their place in the schema's list; a tree that is deep enough tells all of them apart. Folds
    are stratified, drawn once, and the same for all subsets.
    """

    def __init__(self, encoded: Mapping[str, NDArray[Any]], labels: Codes, uniform: Uniform) -> None:
        columns = [np.nan_to_num(np.asarray(values, dtype=np.float32), nan=-1.0) for values in encoded.values()]
        self._records = np.column_stack(columns)
        self._labels = labels
        self._folds = _stratified(labels, uniform)

    def __call__(self, bits: Bits) -> float:
        """The accuracy with these attributes; 0 if there are not two records to learn from and to test on."""
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
    """The fold of each record: within each class in turn, at random."""
    keys = np.array([uniform() for _ in range(len(labels))])
    order = np.lexsort((keys, labels))
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = np.arange(len(labels)) % FOLDS
    return folds


@dataclass(frozen=True)
class NoisyHistogram:
    """One attribute in noisy statistics: records by class and cell, each record worth 1, and the noise's variance."""

    counts: Matrix
    variance: float

    def conditional(self) -> Matrix:
        """Probability of each cell in each class, after what is chance has been taken off.

        The table is drawn towards independence of cell and class by the factor that makes the expected squared error
        least (James and Stein): one minus the expected over the observed squared distance, chance being the noise and
        the sampling of the records. An attribute that is within two standard deviations of chance says nothing.
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
    """Accuracy of naive Bayes, were the records as the noisy tables say, less a price for each attribute.

    Records are drawn once from the prior and the attributes' conditional probabilities (attributes independent within a
    class), and every subset is tried on them. Tables of single attributes cannot show that two attributes say the same;
    they show which say enough to change decisions. Reads nothing but noisy tables: post-processing.
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
        """The accuracy with these attributes, less their price."""
        joint = self._log_prior + self._evidence[np.array(bits)].sum(axis=0)
        return float(np.mean(np.argmax(joint, axis=1) == self._labels)) - self._price * sum(bits)


def _draws(probabilities: Matrix, uniform: Uniform) -> Codes:
    """One draw from each row."""
    spins = np.array([uniform() for _ in range(len(probabilities))])
    passed = np.cumsum(probabilities, axis=1)
    codes = (passed < spins[:, np.newaxis] * passed[:, -1:]).sum(axis=1)
    return np.asarray(np.minimum(codes, probabilities.shape[1] - 1))
