"""How far noise may have moved what a naive Bayes says: from the published tables and the size of their noise.

Guarantee  the margins cost nothing. Proof: they are a function of published tables, of the variance of their noise, and
           of the schema: post-processing.
Test       tests/models/naive_bayes/test_margins.py
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.models.naive_bayes.tables import ClassTotals, class_totals, table_variance
from discreet.queries.tables import Counts, Moments, SplineCounts, TableQuery
from discreet.released.intervals import margin
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema

Matrix = NDArray[np.float64]

FEWEST = 0.05
"""A cell counts as if at least this many of its records were expected in each class: keeps margins finite."""


def margins(noisy: NoisyStatistics, schema: Schema) -> dict[str, Matrix]:
    """For each column whose counts were published: by how much "times as likely as overall" may be off, in 95 of 100.

    In classes by cells. If a class has the share p of the records, and a cell has Y of them, y of the class, then the
    cell is y / (p Y) times as likely in the class. The noise of y - p Y has (1 - p)² + (K - 1) p² times the variance of
    one cell, for K classes; that noise over p Y is the noise of the ratio, to first order.
    """
    tables = [
        (query, np.asarray(table.values, dtype=np.float64) / unit, table_variance(table, unit))
        for query, table in noisy.tables
        if isinstance(query, TableQuery) and not isinstance(query, Moments)
        for unit in [query.unit(schema)]
    ]
    classes = [(values, variance) for _, values, variance in tables if len(values) == len(schema.classes)]
    totals = class_totals([values for values, _ in classes], [variance for _, variance in classes])
    return {
        query.column: of_table(values, variance, totals)
        for query, values, variance in tables
        if isinstance(query, Counts | SplineCounts) and math.isfinite(variance)
    }


def of_table(table: Matrix, variance: float, totals: ClassTotals) -> Matrix:
    """The margins of one table of counts."""
    shares = totals.proportions
    squares = (1 - shares) ** 2 + (len(shares) - 1) * shares**2
    expected = np.maximum(shares[:, None] * np.maximum(table.sum(axis=0), 0.0), FEWEST)
    reach = np.array([margin(variance, float(each)) for each in squares])
    return np.asarray(reach[:, None] / expected)
