"""What replaces each of Weka's classifiers, which Zorarpacı 2019 compares with."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.models.naive_bayes.naive_bayes import NaiveBayes
from discreet.models.one_rule import OneRule
from discreet.records.encoding import as_floats, category_codes
from discreet.research.reproduce.zorarpaci2019.rules_models import Columns, as_numbers, published_noise
from discreet.schema import Schema
from discreet.schema.columns import Numeric


class WellKnown:
    """A classifier of scikit-learn, or ours without noise, on training records with the thesis's noise.

    Parameters
    ----------
    make : makes, from a schema and a seed, a scikit-learn classifier on a matrix or one of our models on columns.
    on_columns : whether `make` makes one of our models.
    numbers : whether numbered categories are treated as numbers, and therefore perturbed.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: float,
        random_state: int,
        make: Callable[[Schema, int], Any],
        on_columns: bool = False,
        numbers: bool = True,
    ) -> None:
        self.schema = as_numbers(schema) if numbers else schema
        self.epsilon, self.random_state = float(epsilon), random_state
        self.make, self.on_columns = make, on_columns

    def fit(self, X: Columns, y: Any) -> WellKnown:
        """Perturb, encode by the public schema, fit."""
        schema, columns, labels = published_noise(self.schema, X, y, self.epsilon, self.random_state)
        self.model_ = self.make(schema, self.random_state ^ 1)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*lbfgs failed to converge", category=UserWarning)
            self.model_.fit(columns if self.on_columns else matrix(columns, self.schema), labels)
        return self

    def predict(self, X: Columns) -> Any:
        """The class of each record."""
        return self.model_.predict(X if self.on_columns else matrix(X, self.schema))


def matrix(X: Columns, schema: Schema) -> NDArray[np.float64]:
    """Numbers scaled by their public bounds, not clipped; categories one-hot; missing values as the schema says."""
    parts = []
    for column in schema.columns:
        if isinstance(column, Numeric):
            numbers = np.nan_to_num(as_floats(X[column.name]), nan=column.missing_value)
            width = float(column.upper) - float(column.lower)
            parts.append((numbers[:, None] - float(column.lower)) / width)
        else:
            codes = category_codes(X[column.name], column)
            parts.append((codes[:, None] == np.arange(column.size)).astype(np.float64))
    return np.hstack(parts)


def _tree(schema: Schema, seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, ccp_alpha=0.01, random_state=seed)


def _random_tree(schema: Schema, seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(criterion="entropy", max_features="log2", random_state=seed)


def _gaussian_naive_bayes(schema: Schema, seed: int) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB(var_smoothing=1e-3)  # a column of zeros, as one-hot columns of a class are, has no deviation


def _nearest_neighbour(schema: Schema, seed: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(1)


def _bagging(schema: Schema, seed: int) -> Any:
    from sklearn.ensemble import BaggingClassifier

    return BaggingClassifier(_tree(schema, seed), n_estimators=10, random_state=seed)


def _perceptron(schema: Schema, seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    hidden = (len(schema.columns) + len(schema.classes)) // 2
    return MLPClassifier((hidden,), activation="logistic", solver="lbfgs", max_iter=500, random_state=seed)


def _one_rule(schema: Schema, seed: int) -> Any:
    return OneRule(schema, epsilon=math.inf, random_state=seed)


def _binned_naive_bayes(schema: Schema, seed: int) -> Any:
    return NaiveBayes(schema, epsilon=math.inf, random_state=seed)


class Counterpart(NamedTuple):
    """What replaces a classifier of Weka; no factory if neither scikit-learn nor we have anything like it."""

    description: str
    factory: partial[WellKnown] | None


def _counterpart(description: str, make: Callable[[Schema, int], Any], on_columns: bool = False) -> Counterpart:
    return Counterpart(description, partial(WellKnown, make=make, on_columns=on_columns))


COUNTERPARTS = {
    "J48": _counterpart("scikit-learn's tree by entropy, leaves of 2, cost-complexity pruning 0.01", _tree),
    "NB": _counterpart("scikit-learn's Gaussian naive Bayes", _gaussian_naive_bayes),
    "Bayes Net": _counterpart(
        "our naive Bayes on equal bins without noise: Weka's default network has one parent, the class, for each "
        "attribute, on bins found by entropy",
        _binned_naive_bayes,
        True,
    ),
    "PART": Counterpart("no counterpart: rules from partial trees", None),
    "RIPPER": Counterpart("no counterpart: rules grown and pruned by turns", None),
    "1R": _counterpart(
        "our 1R without noise, eight equal bins; Weka's bins hold at least six records", _one_rule, True
    ),
    "KStar": Counterpart("no counterpart: neighbours by an entropic distance", None),
    "IBk": _counterpart("scikit-learn's nearest neighbour, k = 1", _nearest_neighbour),
    "RT": _counterpart("scikit-learn's tree with log2 of the attributes drawn at each split", _random_tree),
    "Bagging": _counterpart("ten of the trees above for J48, in place of REPTree", _bagging),
    "MLP": _counterpart(
        "scikit-learn's perceptron, Weka's hidden layer, by L-BFGS in place of stochastic steps", _perceptron
    ),
}
"""The eleven classifiers of Weka, in the order of the tables."""
