"""Lopuhaä-Zwakenberg, Alishahi, Kivits, Klarenbeek, van der Velde and Zannone 2021: naive Bayes, as published."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.privacy.randomness import Randomness
from discreet.research.papers.published import (
    ExactRecords,
    Likelihoods,
    Parameters,
    PublishedNaiveBayes,
    at_least,
    count_columns,
    count_queries,
    exact_parameters,
    laplace_noise,
    ratios,
)
from discreet.schema import Adjacency, Schema
from discreet.schema.columns import Categorical

LEAST = 1e-5
"""Noisy counts and deviations below this number are raised to it."""


class Lopuhaa2021NaiveBayes(PublishedNaiveBayes):
    """Naive Bayes with Laplace noise at the sensitivity for the exact size of each class.

    Each query has epsilon' = epsilon / (1 + #categorical + 2 #numeric). Scales: 1/epsilon' on each count,
    w/(n_c epsilon') on a mean and w/(sqrt(n_c) epsilon') on a deviation of a class with n_c records, w the
    width of the bounds. P[c] is the noisy class count over the exact n, P[v | c] the noisy cell over the noisy
    class count. The paper does not mention empty classes: here they get the noise of a class with one record.

    Parameters
    ----------
    schema : the public schema.
    epsilon : the privacy loss that the paper claims for the whole model.
    random_state : None for unpredictable draws, an integer for repeatable ones.

    Gap
    ---
    n_c is private and sets the scale of the noise on means and deviations. Laplace laws of different scales
    have an unbounded ratio far out: a class that holds (l) has mean l with scale w/epsilon', one that holds
    (l, l) has mean l with half of it, and P[noisy mean > l + t w] differs by the factor e^(t epsilon'), for
    every t: no finite epsilon holds. Without numeric columns, under replace-one, the loss is 2 epsilon, as a
    changed label touches two cells of every table; under add-remove the exact n in P[c] is not public, which a
    class count raised to 1e-5 reveals.

    Examples
    --------
    >>> from discreet.schema import Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 100)], target="ill", classes=["no", "yes"])
    >>> model = Lopuhaa2021NaiveBayes(schema, epsilon=3, random_state=0)
    >>> model.fit([[20], [30], [70], [80]], ["no", "no", "yes", "yes"]).query_epsilon
    1.0
    >>> model.honest_epsilon()
    inf
    """

    claim = "epsilon-differential privacy, tables that differ in one row (Lopuhaa-Zwakenberg et al. 2021)"
    verdict = (
        "FAILS: the noise on means and deviations has a scale set by the exact size of the class, so that the loss is "
        "infinite with any numeric column. With categorical columns only it is 2 epsilon under replace-one, where a "
        "changed label touches two cells a table, and infinite under add-remove, where the prior shows the exact n"
    )
    reason = "the exact size of a class sets the scale of its noise, and the prior shows the exact number of records"

    def __init__(self, schema: Schema, *, epsilon: object = 1.0, random_state: Any = None) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.random_state = random_state

    @property
    def query_epsilon(self) -> float:
        """The part of epsilon that each query gets."""
        return self.claimed_epsilon / count_queries(self.schema)

    def honest_epsilon(self) -> float:
        """The loss under the schema's adjacency: finite only under replace-one and without numeric columns.

        Then a record whose label and values change moves two cells of each of the 1 + #categorical tables by
        one (with a single class the class count cannot move). The loss is exactly this sum: it is attained where one
        count is raised to 1e-5 and the other is far above.
        """
        categorical, numeric = count_columns(self.schema)
        if numeric or self.schema.adjacency is Adjacency.ADD_REMOVE:
            return math.inf
        return 2 * self.query_epsilon * (categorical + (len(self.schema.classes) > 1))

    def scales(self, records: ExactRecords) -> Parameters:
        """The noise scales; they depend on the exact class sizes, which is the gap."""
        epsilon, sizes = self.query_epsilon, np.maximum(records.class_counts(), 1)
        tables, means, deviations = {}, {}, {}
        for column in self.schema.columns:
            if isinstance(column, Categorical):
                tables[column.name] = np.full((len(sizes), column.size), 1 / epsilon)
            else:
                width = float(column.upper) - float(column.lower)
                means[column.name] = width / sizes / epsilon
                deviations[column.name] = width / np.sqrt(sizes) / epsilon
        return Parameters(np.full(len(sizes), 1 / epsilon), tables, means, deviations)

    def publish(self, records: ExactRecords, rng: Randomness) -> tuple[Parameters, Likelihoods]:
        """Perturb, raise everything except means to at least 1e-5, divide by noisy class counts and by the exact n."""

        plain = laplace_noise(rng)
        raised = at_least(LEAST, plain)
        noisy = exact_parameters(records).perturb(
            self.scales(records), classes=raised, tables=raised, means=plain, deviations=raised
        )
        return noisy, ratios(self.schema, noisy, max(records.table.rows, 1))
