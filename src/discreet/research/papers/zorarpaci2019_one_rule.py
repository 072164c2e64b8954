"""Zorarpacı 2019 (PhD thesis, Çukurova University): the one-rule classifier over noisy count queries, as published."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.models.tabular import sorted_classes
from discreet.privacy.randomness import Randomness
from discreet.records.encoding import Cells
from discreet.records.tables import Table
from discreet.research.papers.published import (
    ExactRecords,
    Parameters,
    check_bins,
    count_cells,
    exact_parameters,
    laplace_noise,
)
from discreet.research.papers.reproduction import PublishedClassifier
from discreet.schema import Adjacency, Schema


class Zorarpaci2019OneRule(PublishedClassifier):
    """1R (Holte 1993) from count queries that each get an equal part of epsilon.

    With K classes and V_j cells in column j each count gets Laplace noise of scale 1/epsilon',
    epsilon' = epsilon / (K sum_j V_j): as if one record were in all cells. Each value of a column predicts the class
    with its largest noisy count, and the column with the smallest error is the rule.

    The thesis leaves open how the error follows from noisy counts. Here it is as in Weka, whose counts the thesis
    perturbed: the column with the largest sum of the counts of its chosen classes wins. With exact counts this column
    has the smallest error; with noisy counts it may not, and of three readings this one agrees best with the thesis's
    results (Nursery, Breast-w). The thesis does not say how to treat negative counts (here used as they are), or how
    numbers become categories (here `bins` equal public bins). It calls the Laplace parameter a standard deviation, but
    its results fit a scale.

    Parameters
    ----------
    schema : the public schema.
    epsilon : the privacy loss that the thesis claims for the whole model.
    bins : number of equal bins of a numeric column.
    random_state : None for unpredictable draws, an integer for repeatable ones.

    Gap
    ---
    None in the arithmetic, if the schema is public and no column was selected by looking at the data (the thesis first
    runs ABC-DE on the exact records: `Zorarpaci2019Pipeline`). A record is in one cell of each of the A tables, so that
    the loss of the noisy counts is A epsilon' under add-remove and 2 A epsilon' under replace-one. Both are at most
    epsilon: K sum V >= 2 A if K >= 2. Most of the budget is wasted: Nursery could have 16.9 times less noise. The noise
    is drawn in floating point, which can be attacked: no guarantee is stated here either.

    Examples
    --------
    >>> from discreet.schema import Categorical, Schema
    >>> schema = Schema([Categorical("sex", ["F", "M"], unlisted=False)], "ill", ["no", "yes"])
    >>> model = Zorarpaci2019OneRule(schema, epsilon=1, random_state=0)
    >>> model.fit([["F"], ["M"]], ["no", "yes"]).attribute_, model.query_epsilon, model.honest_epsilon()
    ('sex', 0.25, 0.25)
    """

    claim = "epsilon-differential privacy by sequential composition over all count queries (Zorarpaci 2019)"
    verdict = (
        "HOLDS IF the schema is public and no column was selected on the data. The true loss is A eps' under "
        "add-remove and 2 A eps' under replace-one with A columns and eps' = epsilon / (K sum V), so most of the "
        "budget is wasted. The noise here is drawn in floating point and is not hardened"
    )
    reason = "the counts are as private as claimed, for a public schema; the noise is drawn in floating point"

    def __init__(self, schema: Schema, *, epsilon: object = 1.0, bins: int = 10, random_state: Any = None) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.bins = bins
        self.random_state = random_state

    @property
    def query_epsilon(self) -> float:
        """The part of epsilon that each count gets."""
        return self.claimed_epsilon / (len(self.schema.classes) * sum(count_cells(self.schema, self.bins).values()))

    def honest_epsilon(self) -> float:
        """The exact loss of all noisy counts, for real-valued noise: the sum over the cells that one record is in.

        With one class, a replaced record cannot leave its cell in a column that has only one cell.
        """
        if self.schema.adjacency is Adjacency.ADD_REMOVE:
            return len(self.schema.columns) * self.query_epsilon
        cells = count_cells(self.schema, self.bins).values()
        movable = [size for size in cells if size > 1 or len(self.schema.classes) > 1]
        return 2 * len(movable) * self.query_epsilon

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; fitting begins with this check."""
        check_bins(self.bins)

    def learn(self, X: Any, y: Any, rng: Randomness) -> None:
        """Count every cell with noise; choose the best column and, for each of its cells, the largest class."""
        exact = exact_parameters(ExactRecords.read(X, y, self.schema), self.bins).tables
        laplace, scale = laplace_noise(rng), np.asarray(1 / self.query_epsilon)
        noisy = {name: laplace(table, scale) for name, table in exact.items()}
        self.parameters_ = Parameters(np.empty(0), noisy, {}, {})
        self.attribute_ = max(self.schema.names, key=lambda name: float(noisy[name].max(axis=0).sum()))
        _, places = sorted_classes(self.schema)
        self.rule_ = np.argmax(noisy[self.attribute_][places], axis=0)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each record's cell in the chosen column."""
        check_is_fitted(self, "rule_")
        table = Table(X, self.schema)
        table.check(self.schema)
        codes = Cells(self.attribute_, self.bins).codes(table.column(self.attribute_), self.schema)
        labels: NDArray[Any] = self.classes_[self.rule_[codes]]
        return labels
