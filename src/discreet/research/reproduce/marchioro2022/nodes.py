"""What Figures 2 and 3 of Marchioro et al. 2022 show: sensitivities by node, and errors of noisy means.

These are exact quantities of public data sets, read from the records directly; nothing here is private.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.models.naive_bayes import plan as naive_bayes_plan
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import Randomness, as_rng
from discreet.queries.tables import SoftCounts
from discreet.records.encoding import Cells
from discreet.research.papers import Marchioro2022NaiveBayes
from discreet.research.papers.marchioro2022_exchange import FLOOR, node_sums, partition, public_sensitivity
from discreet.research.papers.published import Array, ExactRecords, clipped_numbers
from discreet.schema import Schema
from discreet.schema.columns import Numeric

NODES = (1, 10, 100, 1000)
ENOUGH = 200
"""A distribution is over at least this many pairs of node and class; the records are divided again until it is."""
DRAWS_AT_ONCE = 50
LAPLACE_TAILS = math.log(20) / math.log(2)
NORMAL_TAILS = 2.906
"""For each law, the width that holds 95% of it over the width that holds 50%."""


class Sensitivity(NamedTuple):
    """The local sensitivity of the sum of one column, for every node and class.

    fractions : sensitivities relative to the largest that the schema allows.
    growth : the deviation of the noise in the sum over all nodes, relative to that of one node with all records; the
        root mean square over classes. It is at least 1, since some node holds the largest value of all.
    """

    column: str
    nodes: int
    fractions: Array
    growth: float

    @property
    def bare(self) -> float:
        """The fraction of sums whose sensitivity, and therefore noise, is zero."""
        return float(np.mean(self.fractions == 0))


def sensitivities(records: ExactRecords, nodes: Sequence[int], seed: int) -> list[Sensitivity]:
    """The sensitivities of every numeric column at every number of nodes."""
    rng, found = as_rng(seed), []
    classes, columns = len(records.schema.classes), _numeric(records.schema)
    for many in nodes:
        times = 1 if many == 1 else math.ceil(ENOUGH / (many * classes))
        divided = [partition(records.labels, many, "equal", True, rng) for _ in range(times)]
        for column in columns:
            numbers = clipped_numbers(records.table.column(column.name), column)
            largest = np.stack([node_sums(numbers, records.labels, own, (many, classes))[1] for own in divided])
            whole = np.maximum(largest.max(axis=(0, 1)), np.finfo(np.float64).tiny)
            growth = math.sqrt(float(np.mean((largest / whole) ** 2) * many))
            found.append(Sensitivity(column.name, many, largest.ravel() / public_sensitivity(column), growth))
    return found


class Errors(NamedTuple):
    """Relative errors of the means, averaged over columns and classes: one number per draw of partition and noise."""

    method: str
    nodes: int
    values: Array

    @property
    def middle(self) -> float:
        """The median; with many draws, a median other than 0 shows a bias."""
        return float(np.median(self.values))

    @property
    def width(self) -> float:
        """The distance between the quartiles; a deviation would depend on a few draws whose count is nearly zero."""
        low, high = np.quantile(self.values, [0.25, 0.75])
        return float(high - low)

    @property
    def tails(self) -> float:
        """The width that holds 95% of the draws over `width`: about 4.3 for a Laplace law, 2.9 for a normal one."""
        low, high = np.quantile(self.values, [0.025, 0.975])
        return float((high - low) / self.width) if self.width else math.nan


def published_errors(records: ExactRecords, epsilon: float, many: int, draws: int, seed: int) -> Errors:
    """The errors of S/n as Algorithms 1 and 2 publish it; the records are divided again every few draws."""
    rng = as_rng(seed)
    query_epsilon = Marchioro2022NaiveBayes(records.schema, epsilon=epsilon).query_epsilon
    cells, values = (many, len(records.schema.classes)), []
    for batch in _batches(draws):
        node_of = partition(records.labels, many, "equal", True, rng)
        counts = node_sums(np.ones(len(node_of)), records.labels, node_of, cells)[0]
        noisy = np.maximum(counts + rng.laplace((batch, *cells)) / query_epsilon, FLOOR).sum(axis=1)
        errors = []
        for column in _numeric(records.schema):
            numbers = clipped_numbers(records.table.column(column.name), column)
            sums, largest = node_sums(numbers, records.labels, node_of, cells)
            mean = (sums + largest / query_epsilon * rng.laplace((batch, *cells))).sum(axis=1) / np.maximum(
                noisy, FLOOR
            )
            errors.append(_relative(mean, sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)))
        values.append(np.mean(errors, axis=(0, 2)))
    return Errors("published", many, np.concatenate(values))


def our_errors(records: ExactRecords, epsilon: float, many: int, draws: int, seed: int) -> Errors:
    """The errors of the means in the soft counts of `NaiveBayes(numeric="gaussian")`; every party adds the whole noise.

    Soft counts hold a class count and a sum on the public range: the mean is their ratio. With one party this is
    training at one place, and a secure sum of any number of parties has the same law.
    """
    rng, schema, errors = as_rng(seed), records.schema, []
    rows = int(records.class_counts().sum())
    for step in naive_bayes_plan.steps(schema, epsilon, rows, "gaussian", "auto", "weighted"):
        if isinstance(step.query, SoftCounts) and isinstance(step.mechanism, DiscreteLaplace):
            column = schema[step.query.column]
            assert isinstance(column, Numeric), "soft counts are of numeric columns"
            exact = step.query.fold(records.counts(Cells(column.name)).astype(np.int64), schema)
            noise = _summed_noise(step.mechanism.scale, many, draws, exact.shape, rng)
            numbers = clipped_numbers(records.table.column(column.name), column)
            sums, _ = node_sums(numbers, records.labels, np.zeros_like(records.labels), (1, len(schema.classes)))
            errors.append(_relative(_mean(exact + noise, column), sums[0] / np.maximum(records.class_counts(), 1)))
    return Errors("ours", many, np.mean(errors, axis=(0, 2)))


def _summed_noise(scale: float, many: int, draws: int, shape: tuple[int, ...], rng: Randomness) -> Any:
    batches = [rng.discrete_laplace(scale, (batch, many, *shape)).sum(axis=1) for batch in _batches(draws)]
    return np.concatenate(batches)


def _mean(table: Any, column: Numeric) -> Array:
    """The mean that low, middle and high soft counts give; a count below one record is raised to one."""
    low, high = table[..., 0], table[..., 2]
    count = np.maximum(table.sum(axis=-1), column.grid**2)
    middle, half = (float(column.upper) + float(column.lower)) / 2, (float(column.upper) - float(column.lower)) / 2
    return np.asarray(middle + half * (high - low) / count)


def _relative(mean: Array, true: Array) -> Array:
    """Errors relative to the true means; means of 0 are left out."""
    kept = true != 0
    return np.asarray(mean[:, kept] / true[kept] - 1)


def _batches(draws: int) -> Iterator[int]:
    for start in range(0, draws, DRAWS_AT_ONCE):
        yield min(DRAWS_AT_ONCE, draws - start)


def _numeric(schema: Schema) -> list[Numeric]:
    return [column for column in schema.columns if isinstance(column, Numeric)]
