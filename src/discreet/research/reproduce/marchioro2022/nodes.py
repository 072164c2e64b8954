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
"""Node and class pairs that a distribution has at least, by dividing the records several times."""
DRAWS_AT_ONCE = 50
LAPLACE_TAILS = math.log(20) / math.log(2)
NORMAL_TAILS = 2.906
"""The width that holds 95% of a law over the width that holds 50%."""


class Sensitivity(NamedTuple):
    """The local sensitivity of the sum of one column, over nodes and classes, as shares of what the schema allows.

    growth : the deviation of the noise in the sum over all nodes, relative to that of one node with all records; the
        root mean square over classes. It cannot be below 1, as the largest value of all is at some node.
    """

    column: str
    nodes: int
    shares: Array
    growth: float

    @property
    def bare(self) -> float:
        """The share of sums whose sensitivity, and so whose noise, is zero."""
        return float(np.mean(self.shares == 0))


def sensitivities(records: ExactRecords, nodes: Sequence[int], seed: int) -> list[Sensitivity]:
    """Every numeric column at every number of nodes."""
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
    """Relative errors of the means, averaged over columns and classes: one number a draw of partition and noise."""

    method: str
    nodes: int
    values: Array

    @property
    def middle(self) -> float:
        """The median: what is left of it with many draws is a bias."""
        return float(np.median(self.values))

    @property
    def width(self) -> float:
        """Between the quartiles: deviations would follow a few draws whose count is nearly zero."""
        low, high = np.quantile(self.values, [0.25, 0.75])
        return float(high - low)

    @property
    def tails(self) -> float:
        """The width that holds 95% of the draws over `width`: about 4.3 for a Laplace law, 2.9 for a normal one."""
        low, high = np.quantile(self.values, [0.025, 0.975])
        return float((high - low) / self.width) if self.width else math.nan


def published_errors(records: ExactRecords, epsilon: float, many: int, draws: int, seed: int) -> Errors:
    """Of S/n as Algorithms 1 and 2 publish it, with the records divided anew for every few draws."""
    rng = as_rng(seed)
    share = Marchioro2022NaiveBayes(records.schema, epsilon=epsilon).query_epsilon
    cells, values = (many, len(records.schema.classes)), []
    for batch in _batches(draws):
        node_of = partition(records.labels, many, "equal", True, rng)
        counts = node_sums(np.ones(len(node_of)), records.labels, node_of, cells)[0]
        noisy = np.maximum(counts + rng.laplace((batch, *cells)) / share, FLOOR).sum(axis=1)
        errors = []
        for column in _numeric(records.schema):
            numbers = clipped_numbers(records.table.column(column.name), column)
            sums, largest = node_sums(numbers, records.labels, node_of, cells)
            mean = (sums + largest / share * rng.laplace((batch, *cells))).sum(axis=1) / np.maximum(noisy, FLOOR)
            errors.append(_relative(mean, sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)))
        values.append(np.mean(errors, axis=(0, 2)))
    return Errors("published", many, np.concatenate(values))


def our_errors(records: ExactRecords, epsilon: float, many: int, draws: int, seed: int) -> Errors:
    """Of the means in the soft counts of `NaiveBayes(numeric="gaussian")`, every party with the whole noise of its own.

    Soft counts hold a class count and a sum on the public range: the mean is their ratio. With one party this is
    training at one place, and a secure sum of any number of parties has that law.
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
    """The mean that low, middle and high soft counts hold; a count below one record is raised to one."""
    low, high = table[..., 0], table[..., 2]
    count = np.maximum(table.sum(axis=-1), column.grid**2)
    middle, half = (float(column.upper) + float(column.lower)) / 2, (float(column.upper) - float(column.lower)) / 2
    return np.asarray(middle + half * (high - low) / count)


def _relative(mean: Array, true: Array) -> Array:
    """Errors relative to means that are not 0."""
    kept = true != 0
    return np.asarray(mean[:, kept] / true[kept] - 1)


def _batches(draws: int) -> Iterator[int]:
    for start in range(0, draws, DRAWS_AT_ONCE):
        yield min(DRAWS_AT_ONCE, draws - start)


def _numeric(schema: Schema) -> list[Numeric]:
    return [column for column in schema.columns if isinstance(column, Numeric)]
