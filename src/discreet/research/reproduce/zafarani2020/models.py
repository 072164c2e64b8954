"""The models of the study of Zafarani and Clifton 2020 that are not estimators of their own."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from discreet.doors.counts import CountStep, release
from discreet.doors.passage import Spending
from discreet.errors import ParameterError
from discreet.models.naive_bayes import plan as planning
from discreet.models.naive_bayes.naive_bayes import NaiveBayes
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import laplace_steps, split_by_weight
from discreet.released.statistics import Answers
from discreet.research.papers.published import ExactRecords, Parameters, count_columns, count_queries
from discreet.research.papers.vaidya2013 import Vaidya2013NaiveBayes
from discreet.research.papers.zafarani2020 import Zafarani2020NaiveBayes
from discreet.research.reproduce.study import Factory
from discreet.schema import Schema
from discreet.schema.columns import Categorical
from discreet.sources import Source

SMOOTH, GLOBAL, RIGOROUS, RIGOROUS_SMOOTH = "smooth, published", "global, published", "rigorous", "rigorous, smooth"

RATIOS = ((1, 4), (1, 2), (1, 1), (2, 1), (4, 1))
"""The epsilon of a numeric column to that of a categorical one; the paper's text names 1:2 and 2:1."""


def global_sensitivity(schema: Schema, *, epsilon: Any = 1.0, random_state: Any = None) -> Vaidya2013NaiveBayes:
    """The algorithm of Vaidya et al. 2013 as Zafarani and Clifton compare with it: epsilon divided among all queries.

    They do not name the constant n; here it is the number of records of an average class. The noise on class counts has
    scale 1 at every epsilon, as published.
    """
    share = float(epsilon) / count_queries(schema)
    n = max(1, (schema.records or 1000) // len(schema.classes))
    return Vaidya2013NaiveBayes(schema, epsilon=share, n=n, random_state=random_state)


FIGURES: dict[str, Factory] = {
    SMOOTH: Zafarani2020NaiveBayes,
    GLOBAL: global_sensitivity,
    RIGOROUS: partial(NaiveBayes, select=None),
    RIGOROUS_SMOOTH: partial(NaiveBayes, numeric="smooth", select=None),
}
"""Figures 4 to 9, 11 and 12."""


class AllocatedSmooth(Zafarani2020NaiveBayes):
    """The published algorithm with another division of epsilon; 2:1 is the paper's own. It has no guarantee either.

    Parameters
    ----------
    schema : a schema with numeric and categorical columns, else there is nothing to divide.
    epsilon : the privacy loss that the paper claims.
    numeric_weight, categorical_weight : weight of each numeric column (half for its means, half for its deviations) and
        of each categorical column; the class counts have weight 1.
    random_state : None for unpredictable draws, an integer for repeatable ones.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: object = 1.0,
        numeric_weight: float = 2,
        categorical_weight: float = 1,
        random_state: Any = None,
    ) -> None:
        super().__init__(schema, epsilon=epsilon, random_state=random_state)
        self.numeric_weight = numeric_weight
        self.categorical_weight = categorical_weight

    @property
    def query_epsilon(self) -> float:
        """The part of epsilon that the class counts get: that of weight 1."""
        categorical, numeric = count_columns(self.schema)
        parts = self.numeric_weight * numeric + self.categorical_weight * categorical + 1
        return self.claimed_epsilon / parts

    @property
    def numeric_share(self) -> float:
        """The share of epsilon that all numeric columns have together."""
        categorical, numeric = count_columns(self.schema)
        own = self.numeric_weight * numeric
        return own / (own + self.categorical_weight * categorical + 1)

    def scales(self, records: ExactRecords) -> Parameters:
        """The published noise scales, with the part of epsilon that each query gets here."""
        moment = self.query_epsilon * self.numeric_weight / 2
        whole = moment * count_queries(self.schema)
        moments = Zafarani2020NaiveBayes(self.schema, epsilon=whole).scales(records)
        cell = 1 / (self.query_epsilon * self.categorical_weight)
        tables = {name: np.full_like(table, cell) for name, table in moments.tables.items()}
        counts = np.full(len(self.schema.classes), math.sqrt(2) / self.query_epsilon)
        return Parameters(counts, tables, moments.means, moments.deviations)

    def check_parameters(self) -> None:
        """Raise ParameterError if there is nothing to divide; fitting begins with this check."""
        super().check_parameters()
        if 0 in count_columns(self.schema):
            raise ParameterError(
                "the schema has only one kind of columns; need numeric and categorical ones to divide epsilon"
            )


class AllocatedNaiveBayes(NaiveBayes):
    """Our naive Bayes with epsilon divided by the kind of column.

    Guarantee: `fit` is ε-DP for one record, like that of `NaiveBayes`. Proof: the queries are those of its plan for the
    declared number of records, the weights are public, the shares sum to ε exactly (`split_by_weight`), and each
    table is released once at its share (`release`, proof there).
    Test: test_allocated_shares_sum_to_epsilon.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: Any = 1.0,
        numeric_weight: float = 1,
        categorical_weight: float = 1,
        random_state: Any = None,
    ) -> None:
        super().__init__(schema, epsilon=epsilon, select=None, random_state=random_state)
        self.numeric_weight = numeric_weight
        self.categorical_weight = categorical_weight

    def _learn(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        queries = [step.query for step in default_plan(schema, epsilon)]
        categorical = {column.name for column in schema.columns if isinstance(column, Categorical)}
        columns = [getattr(query, "column", "") for query in queries]
        weights = [self.categorical_weight if name in categorical else self.numeric_weight for name in columns]
        steps = laplace_steps(queries, split_by_weight(epsilon, weights), schema)
        return release(source, schema, steps, ledger, rng, purpose).tables


def default_plan(schema: Schema, epsilon: Epsilon) -> list[CountStep]:
    """The steps of our naive Bayes for the declared number of records."""
    return planning.steps(schema, epsilon, schema.records or 1, "histogram", "auto", "weighted")


def default_numeric_share(schema: Schema, epsilon: Epsilon) -> float:
    """The share of epsilon that our plan gives to numeric columns."""
    numeric = {column.name for column in schema.columns if not isinstance(column, Categorical)}
    steps = default_plan(schema, epsilon)
    own = sum(float(step.epsilon) for step in steps if getattr(step.query, "column", "") in numeric)
    return own / sum(float(step.epsilon) for step in steps)


def allocations() -> dict[str, Factory]:
    """The models of Figure 10: each ratio, published and ours, and our own plan."""
    made: dict[str, Factory] = {}
    for numeric, categorical in RATIOS:
        for model, family in ((SMOOTH, AllocatedSmooth), (RIGOROUS, AllocatedNaiveBayes)):
            weighted: Factory = partial(family, numeric_weight=numeric, categorical_weight=categorical)
            made[f"{model}, {numeric}:{categorical}"] = weighted
    return {**made, RIGOROUS: partial(NaiveBayes, select=None)}
