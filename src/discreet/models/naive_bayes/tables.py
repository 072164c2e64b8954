"""From noisy tables to the tables of a naive Bayes: post-processing that takes the size of the noise into account.

1. Class counts. The rows of each table sum to the class counts; least squares weighs these sums by their noise. The
   counts are shrunk towards equal classes by the posterior mean under a uniform prior on the class probabilities.
2. Cells. Each table is made consistent with the class counts (least squares again); negative cells become zero.
3. Evidence. The log-count of a cell is weighed by the probability that the cell is not empty: with Laplace noise of
   scale b, the odds of "empty" against "anything up to the count expected under independence, μ" are
   r = μ/(2b) · e^(-y/b) / (1 - e^(-y/b)/2). Cells that may be only noise say little. Where noise exceeds the average
   cell, it is added to the pseudo-count in proportion to the classes, so that a table of noise favours no class.
   Without noise r = 0, and the tables are those of scikit-learn's CategoricalNB.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.models.tabular import ColumnScores, Model
from discreet.queries.outside import Outside
from discreet.queries.tables import Counts, Moments, SoftCounts, SplineCounts, TableQuery, splines
from discreet.records.encoding import Cells
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.schema.columns import Numeric

Matrix = NDArray[np.float64]

LEAST_VARIANCE = 1e-4
"""Smallest variance from noisy soft counts, on the scale [-1, 1]: a smaller one would let one column decide alone."""
LEAST_DEVIATION = 0.02
"""Smallest standard deviation from noisy moments, on the same scale and for the same reason."""
NEGLIGIBLE = 1e-200
"""A smaller variance of the noise counts as none: at a very large ε its inverse would be too large for a float."""


@dataclass(frozen=True)
class ClassTotals:
    """Estimated class counts, and the standard deviation of their error."""

    counts: Matrix
    deviation: float

    @property
    def proportions(self) -> Matrix:
        """The proportion of each class."""
        return np.asarray(self.counts / self.counts.sum())


def build(noisy: NoisyStatistics, schema: Schema, smoothing: float) -> Model:
    """Build the model from noisy statistics. What a look found outside the schema says nothing of the classes."""
    if not all(isinstance(query, TableQuery | Outside) for query, _ in noisy.tables):
        raise ParameterError("these statistics do not belong to a naive Bayes; need tables of counts")
    blocks = [
        (query, np.asarray(table.values, dtype=np.float64) / unit, table_variance(table, unit))
        for query, table in noisy.tables
        if isinstance(query, TableQuery) and not isinstance(query, Moments)
        for unit in [query.unit(schema)]
    ]
    tables = [(values, variance) for _, values, variance in blocks if len(values) == len(schema.classes)]
    totals = class_totals([values for values, _ in tables], [variance for _, variance in tables])
    exact = noisy.receipt.epsilon == float("inf")
    columns = []
    for query, values, variance in blocks:
        if isinstance(query, Counts | SplineCounts):
            columns.append(_table_column(query, values, variance, totals, smoothing, schema))
    normals = _normals(noisy, schema, totals)
    floor = 1e-9 * max((overall for *_, overall in normals), default=0.0) if exact else 0.0
    columns += [_normal_column(name, mean, variance + floor, schema) for name, mean, variance, _ in normals]
    order = {name: position for position, name in enumerate(schema.names)}
    log_prior = np.log(np.maximum(totals.proportions, 1e-300))
    return Model(log_prior, tuple(sorted(columns, key=lambda each: order[each.cells.column])))


def table_variance(table: NoisyTable, unit: int) -> float:
    """The variance of the noise of a cell, in records."""
    return table.variance / unit**2 if table.variance > NEGLIGIBLE else 0.0


def class_totals(tables: list[Matrix], variances: list[float]) -> ClassTotals:
    """Class counts by least squares over the sums of the tables, shrunk towards equal classes (step 1 above)."""
    classes = len(tables[0])
    exact = min(variances) == 0
    weights = np.array(
        [float(v == 0) if exact else 1 / (table.shape[1] * v) for table, v in zip(tables, variances, strict=True)]
    )
    counts = np.stack([table.sum(axis=1) for table in tables], axis=1) @ (weights / weights.sum())
    variance = 0.0 if exact else float(1 / weights.sum())
    total = max(float(counts.sum()), np.sqrt(classes * variance), 1e-300)
    spread = (total / classes) ** 2 * (classes - 1) / (classes + 1)
    shrink = spread / (spread + variance) if spread + variance > 0 else 1.0
    deviation = float(np.sqrt(shrink * variance))
    counts = np.maximum(total / classes + shrink * (counts - counts.mean()), deviation / 4)
    whole = counts.sum()
    counts = counts * (total / whole) if whole > 0 else np.full(classes, total / classes)
    return ClassTotals(counts, deviation)


def log_table(table: Matrix, variance: float, totals: ClassTotals, smoothing: float) -> Matrix:
    """Log-probability of each cell in each class, from one noisy table (steps 2 and 3 above)."""
    cells = table.shape[1]
    consistent = table + ((totals.counts - table.sum(axis=1)) / cells)[:, None] if variance > 0 else table
    expected = totals.proportions[:, None] * np.maximum(consistent.sum(axis=0, keepdims=True), 0.0)
    counts = np.maximum(consistent, 0.0)
    odds: Matrix | float = 0.0
    pseudo: Matrix | float = smoothing
    scale = np.sqrt((variance * (1 - 1 / cells) + (totals.deviation / cells) ** 2) / 2)
    if variance > 0 and scale > 0:
        noise = np.exp(-counts / scale)
        odds = expected / (2 * scale) * noise / (1 - noise / 2)
        excess = scale / (scale + totals.counts.mean() / cells)
        pseudo = smoothing + len(table) * totals.proportions[:, None] * scale * excess**2
    logs = np.log(pseudo) + np.log1p(counts / pseudo) / (1 + odds)
    logs -= logs.max(axis=1, keepdims=True)
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))


def _table_column(
    query: Counts | SplineCounts, values: Matrix, variance: float, totals: ClassTotals, smoothing: float, schema: Schema
) -> ColumnScores:
    logs = log_table(values, variance, totals, smoothing)
    by_cell = splines(query.bins) / query.unit(schema) @ logs.T if isinstance(query, SplineCounts) else logs.T
    return ColumnScores(query.cells(schema), logs, np.ascontiguousarray(by_cell))


Normal = tuple[str, Matrix, Matrix, float]
"""A column, the mean and the variance of each class on the scale [-1, 1], and the overall variance."""


def _normals(noisy: NoisyStatistics, schema: Schema, totals: ClassTotals) -> list[Normal]:
    found: list[Normal] = []
    for query, table in noisy.tables:
        if isinstance(query, SoftCounts):
            unit = query.unit(schema)
            found.append((query.column, *_from_soft_counts(table.values / unit, table_variance(table, unit), totals)))
        elif isinstance(query, Moments):
            found.append((query.column, *_from_moments(table.values, totals, noisy.receipt.epsilon == float("inf"))))
    return found


def _from_soft_counts(table: Matrix, variance: float, totals: ClassTotals) -> tuple[Matrix, Matrix, float]:
    """Mean and variance from low, middle and high soft counts; more noise adds pseudo-records and raises the floor."""
    counts = np.maximum(totals.counts, 1e-300)
    low, middle, high = (table + ((counts - table.sum(axis=1)) / 3)[:, None] if variance > 0 else table).T
    sums = np.clip(high - low, -counts, counts)
    squares = np.clip(low + high - middle, sums**2 / counts, counts)
    scale = np.sqrt(variance / 2)
    pseudo = max(1.0, 2 * scale) if variance > 0 else 0.0
    mean = sums / (counts + pseudo)
    spread = (squares + pseudo / 3) / (counts + pseudo) - mean**2
    floor = (
        np.clip(np.sqrt(16 / 3) * scale / counts, LEAST_VARIANCE, 1 / 3)
        if variance > 0
        else np.full(len(counts), 1e-300)
    )
    total = counts.sum()
    overall = squares.sum() / total - (sums.sum() / total) ** 2
    return mean, np.maximum(spread, floor), float(overall)


def _from_moments(table: Matrix, totals: ClassTotals, exact: bool) -> tuple[Matrix, Matrix, float]:
    """Mean and variance as released, clipped to their valid range."""
    mean = np.clip(table[:, 0], -1.0, 1.0)
    deviation = np.clip(table[:, 1], 1e-150 if exact else LEAST_DEVIATION, 1.0)
    overall = totals.proportions @ (deviation**2 + mean**2) - (totals.proportions @ mean) ** 2
    return mean, deviation**2, float(overall)


def _normal_column(name: str, mean: Matrix, variance: Matrix, schema: Schema) -> ColumnScores:
    """One normal law per class, tabulated on the column's grid."""
    column = schema[name]
    assert isinstance(column, Numeric)
    z = np.linspace(-1.0, 1.0, column.grid + 1)
    density = -0.5 * np.log(2 * np.pi * variance)[:, None] - (z - mean[:, None]) ** 2 / (2 * variance[:, None])
    logs = density - np.logaddexp.reduce(density, axis=1, keepdims=True)
    return ColumnScores(Cells(name), logs, np.ascontiguousarray(density.T))
