"""Zafarani and Clifton 2020, "Differentially Private Naive Bayes Classifier using Smooth Sensitivity", as published."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy import smooth_sensitivity
from discreet.privacy.randomness import Randomness
from discreet.research.papers.published import (
    ExactRecords,
    Likelihoods,
    Parameters,
    PublishedNaiveBayes,
    at_least,
    cauchy_noise,
    count_columns,
    count_queries,
    exact_parameters,
    laplace_noise,
)
from discreet.schema import Adjacency, Schema
from discreet.schema.columns import Categorical

BETAS = {"printed": 1.0, "nissim": 1 / math.sqrt(2)}
"""The smoothing parameter beta, in units of the query's epsilon."""


class Zafarani2020NaiveBayes(PublishedNaiveBayes):
    """Naive Bayes with Cauchy noise at the smooth sensitivity of each class's mean and deviation.

    Each query has epsilon' = epsilon / (2 #numeric + #categorical + 1). Scales: Laplace 1/epsilon' on each
    cell, Cauchy sqrt(2)/epsilon' on the class counts, Cauchy sqrt(2) S/epsilon' on means and deviations, where
    S = max_k e^(-k beta) A_k is the smooth sensitivity for lists of the class's own, fixed size. Negative
    values become 0. One is added to each count before it becomes a probability.

    The paper leaves open: beta (printed as epsilon; here the epsilon of the query); the smooth sensitivity of a class
    count (here 1); what to do with a negative mean (here it becomes 0 if the lower bound is not negative, as in all of
    the paper's data); the deviation (the paper derives the variance; here `smooth_sensitivity.standard_deviation`).

    Parameters
    ----------
    schema : the public schema.
    epsilon : the privacy loss that the paper claims for the whole model.
    beta : "printed" (epsilon') or "nissim" (epsilon'/sqrt(2), with which a list of public size is epsilon'-DP).
    random_state : None for unpredictable draws, an integer for repeatable ones.

    Gap
    ---
    beta = epsilon' is too large: n values in the middle, one of them moved to a bound, cost
    arccosh(cosh eps' + eps'^2 e^eps' / 16) > eps' as long as eps' <= ln 2. The size of a class is private: from
    (l) to (l, u) S halves, which costs ln 2 or more however small epsilon is, and a class of one record has
    S = 0 for its deviation, published without noise: the loss is infinite. A replaced label moves two class
    counts and two cells per table, but the paper pays for one of each.

    Examples
    --------
    >>> from discreet.schema import Categorical, Schema
    >>> schema = Schema([Categorical("sex", ["F", "M"])], "ill", ["no", "yes"], adjacency="replace-one")
    >>> model = Zafarani2020NaiveBayes(schema, epsilon=1, random_state=0)
    >>> model.fit([["F"], ["M"]], ["no", "yes"]).claimed_epsilon, round(model.honest_epsilon(), 3)
    (1.0, 1.703)
    """

    claim = "epsilon-differential privacy, tables that differ in one row (Zafarani and Clifton 2020)"
    verdict = (
        "FAILS: smooth sensitivity is taken for a class of fixed size, and the size is private, so that the loss is "
        "infinite with any numeric column (a class of one record has no noise on its deviation; larger ones lose "
        "ln 2 or more at every epsilon). With categorical columns only, the loss is below epsilon under add-remove "
        "and m_cat 2 eps' + 2 arccosh(1 + eps'^2/4) under replace-one, 1.703 instead of 1 for one column"
    )
    reason = "smooth sensitivity is taken for classes of fixed, known size, and the size is private"

    def __init__(
        self, schema: Schema, *, epsilon: object = 1.0, beta: str = "printed", random_state: Any = None
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.beta = beta
        self.random_state = random_state

    @property
    def query_epsilon(self) -> float:
        """The part of epsilon that each query gets."""
        return self.claimed_epsilon / count_queries(self.schema)

    def honest_epsilon(self) -> float:
        """The exact loss under the schema's adjacency; infinite with a numeric column.

        Without numeric columns, a record is in one cell of each table (Laplace, eps') and in one class count (Cauchy,
        `cauchy_divergence` of a shift by 1); a replaced record is in two of each.
        """
        categorical, numeric = count_columns(self.schema)
        if numeric or math.isinf(self.query_epsilon):
            return math.inf
        scale = math.sqrt(2) / self.query_epsilon
        count = smooth_sensitivity.cauchy_divergence(0.0, scale, 1.0, scale)
        if self.schema.adjacency is Adjacency.ADD_REMOVE:
            return categorical * self.query_epsilon + count
        return 2 * (categorical * self.query_epsilon + count * (len(self.schema.classes) > 1))

    def scales(self, records: ExactRecords) -> Parameters:
        """The noise scales: smooth sensitivities of lists whose size is treated as public, which is the gap."""
        epsilon, classes = self.query_epsilon, len(self.schema.classes)
        factor = math.sqrt(2) / epsilon
        beta = min(BETAS[self.beta] * epsilon, 2 * smooth_sensitivity.LARGEST_EPSILON)
        tables, means, deviations = {}, {}, {}
        for column in self.schema.columns:
            if isinstance(column, Categorical):
                tables[column.name] = np.full((classes, column.size), 1 / epsilon)
                continue
            lists = [(values, column.lower, column.upper, beta, "replace-one") for values in records.values(column)]
            means[column.name] = factor * np.array([smooth_sensitivity.mean(*each) for each in lists])
            deviations[column.name] = factor * np.array(
                [smooth_sensitivity.standard_deviation(*each) for each in lists]
            )
        return Parameters(np.full(classes, factor), tables, means, deviations)

    def publish(self, records: ExactRecords, rng: Randomness) -> tuple[Parameters, Likelihoods]:
        """Perturb, raise negative values to 0, and add one to each count before dividing."""

        cauchy = cauchy_noise(rng)
        truncated, truncated_laplace = at_least(0.0, cauchy), at_least(0.0, laplace_noise(rng))
        noisy = exact_parameters(records).perturb(
            self.scales(records), classes=truncated, tables=truncated_laplace, means=cauchy, deviations=truncated
        )
        for column in self.schema.columns:
            if not isinstance(column, Categorical) and column.lower >= 0:
                np.maximum(noisy.means[column.name], 0.0, out=noisy.means[column.name])
        tables = {
            name: (table + 1) / (noisy.classes[:, np.newaxis] + table.shape[1]) for name, table in noisy.tables.items()
        }
        prior = (noisy.classes + 1) / (noisy.classes + 1).sum()
        return noisy, Likelihoods(self.schema, prior, tables, noisy.means, noisy.deviations)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; fitting begins with this check."""
        if self.beta not in BETAS:
            raise ParameterError(f"beta={self.beta!r}; need 'printed' or 'nissim'")
