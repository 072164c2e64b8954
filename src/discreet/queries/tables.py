"""Queries that are answered from counts of one column, each with the most that one record can change the answer.

Every query is a public linear map of cell counts. A record lies in one cell of one class, so it adds one row
of the map to one class; the row's entries are non-negative integers that sum to `unit`.

Sensitivity  (L1, whole table) add-remove: `unit`; replace-one: 2 * `unit`; of the total: 1 for both.
Proof        add-remove: the table changes by one row, whose L1 norm is at most `unit` (0 if the record has none
             of the public classes). Replace-one is a removal and an addition, even if only the label changes. The
             total changes by at most one in any case, since it does not depend on where a record lies.
Test         tests/queries/test_tables.py::test_sensitivity_bounds_every_neighbour and ..._is_attained
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from discreet.queries.arrays import Integers
from discreet.queries.hyperplanes import Hyperplanes
from discreet.queries.margins import Margins
from discreet.queries.outside import Outside
from discreet.queries.trees import LeafCounts
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.schema.columns import Numeric, is_integer

MOST_BINS = 127
"""The most bins of a numeric column in a table: with two cells per bin (`fine`) it has fewer than 256 cells."""


class Adding:
    """A query whose table grows by at most `unit` in total per record (proof above)."""

    def unit(self, schema: Schema) -> int:
        """Sum of what one record adds to the cells of the table; 1 unless a query says otherwise."""
        return 1

    def distance(self, schema: Schema) -> int:
        """Sensitivity: the largest L1 distance between the tables of two neighbours."""
        return self.unit(schema) * schema.adjacency.distance


@dataclass(frozen=True)
class Counts(Adding):
    """Number of records per class and cell: per category, or per interval of a numeric column cut into `bins` parts."""

    column: str
    bins: int | None = None

    def cells(self, schema: Schema) -> Cells:
        """The cells that are counted."""
        return Cells(self.column, self.bins)

    def fold(self, counts: Integers, schema: Schema) -> Integers:
        """The table of the query, from counts by class and cell."""
        return counts


@dataclass(frozen=True)
class SplineCounts(Adding):
    """Records per class and overlapping bin of a numeric column: each record is divided between two bins.

    Each bin has `fine` cells. A record adds `unit` in total, divided between the two bins whose centres enclose its
    cell, in proportion to nearness (linear B-splines). With the same noise, estimates are smoother than those of hard
    bins and depend less on where the edges lie.
    """

    column: str
    bins: int

    def cells(self, schema: Schema) -> Cells:
        """The cells that are counted: `fine` in each bin."""
        return Cells(self.column, self.bins * fine(self.bins))

    def unit(self, schema: Schema) -> int:
        """Sum of what one record adds to the cells of the table."""
        return 2 * fine(self.bins)

    def fold(self, counts: Integers, schema: Schema) -> Integers:
        """The table of the query, from counts by class and cell; exact integers."""
        return counts @ splines(self.bins)


@dataclass(frozen=True)
class SoftCounts(Adding):
    """Three overlapping cells of a numeric column: low, middle and high (quadratic Bernstein basis).

    With g grid steps a record of code t adds (g-t)^2, 2t(g-t) and t^2, which sum to g^2. The three sums determine the
    class count, the sum and the sum of squares: all that a Gaussian needs, from one table.
    """

    column: str

    def cells(self, schema: Schema) -> Cells:
        """The cells that are counted: the column's grid."""
        return Cells(self.column)

    def unit(self, schema: Schema) -> int:
        """Sum of what one record adds to the cells of the table."""
        return _grid(self.column, schema) ** 2

    def fold(self, counts: Integers, schema: Schema) -> Integers:
        """The table of the query, from counts by class and grid point; exact integers."""
        return counts @ bernstein(_grid(self.column, schema))


@dataclass(frozen=True)
class ClassCounts(Adding):
    """Number of records per class."""

    def cells(self, schema: Schema) -> Cells:
        """The column with the fewest cells; any would do, since each record lies in one cell of each column."""
        columns = [Cells(column.name, 1 if isinstance(column, Numeric) else None) for column in schema.columns]
        return min(columns, key=lambda cells: cells.size(schema))

    def fold(self, counts: Integers, schema: Schema) -> Integers:
        """The class totals, as a table with one column."""
        return np.asarray(counts.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Total(Adding):
    """The number of records that have one of the classes."""

    def distance(self, schema: Schema) -> int:
        """One for both adjacencies: the total does not depend on where a record lies."""
        return self.unit(schema)

    def cells(self, schema: Schema) -> Cells:
        """The same cells as for the class counts."""
        return ClassCounts().cells(schema)

    def fold(self, counts: Integers, schema: Schema) -> Integers:
        """The number of records, as a table with one cell."""
        return np.asarray(counts.sum(keepdims=True))


@dataclass(frozen=True)
class Moments(Adding):
    """Mean and standard deviation of a numeric column by class, from counts on its grid.

    Not a linear map: only privacy/mechanisms/smooth.py answers it, and bounds how much one record can change it.
    """

    column: str

    def cells(self, schema: Schema) -> Cells:
        """The cells that are counted: the column's grid."""
        return Cells(self.column)

    def fold(self, counts: Integers, schema: Schema) -> Integers:
        """The counts themselves; the mechanism makes the moments."""
        return counts


MOST_WEIGHT = 1_000_000
"""The largest weight of a class: scores of 2**43 records stay within 64 bits, where they are exact."""


@dataclass(frozen=True)
class MajorityScore(Adding):
    """Number of records classified correctly if each cell of the column predicts its largest class: a score, no table.

    With `weights`, positive integers, a record of a class counts as many times as its class weighs. Frequent classes
    that weigh less no longer hide what a column tells about the others. With `cuts`, each a list of places at which
    neighbouring cells are parted and between which they are one, the score is that of the best of these partitions.

    Sensitivity  the largest weight u (1 without weights) for both adjacencies; under add-remove monotone: all scores
                 move the same way. So the lead of one score over another moves by at most u under add-remove and by 2 u
                 under replace-one: `distance`.
    Proof        a record lies in one cell. Adding it raises one class's weighted count in that cell by that class's
                 weight, so it raises the cell's maximum, and with it the score, by 0 to u; this holds for every column,
                 for every partition of its cells, and so for the largest score of several partitions.
                 Replacing is a removal, which lowers one maximum by 0 to u, and an addition, which raises one by 0 to
                 u. The weights are public: constants, or made from noisy answers that were paid for. No score wraps
                 around, since weights have a bound (`MOST_WEIGHT`).
    Test         tests/privacy/mechanisms/test_selection.py::test_scores_move_by_at_most_one,
                 ::test_weighted_scores_move_by_at_most_the_largest_weight (exhaustive) and
                 ::test_weights_that_could_wrap_around_are_refused
    """

    column: str
    bins: int | None = None
    weights: tuple[int, ...] | None = None
    cuts: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cuts", tuple(tuple(each) for each in self.cuts))
        for each in self.cuts:
            if not all(is_integer(place) and place >= 1 for place in each) or list(each) != sorted(set(each)):
                raise ValueError(
                    "the places of cuts are not in order; need integers from 1 on, each larger than the last"
                )
        if self.weights is None:
            return
        object.__setattr__(self, "weights", tuple(self.weights))  # a list could change after its price was found
        if not self.weights or not all(is_integer(each) and 1 <= each <= MOST_WEIGHT for each in self.weights):
            raise ValueError(f"the weights of classes must be integers from 1 to {MOST_WEIGHT}, one for each class")

    def unit(self, schema: Schema) -> int:
        """The most that one record counts; ValueError if weights or cuts do not fit the schema."""
        if max((place for each in self.cuts for place in each), default=0) >= self.cells(schema).size(schema):
            raise ValueError(f"column {self.column!r} is cut where it has no cells; need smaller places")
        if self.weights is None:
            return 1
        if len(self.weights) != len(schema.classes):
            raise ValueError(f"{len(self.weights)} weights for {len(schema.classes)} classes; need one for each class")
        return max(self.weights)

    def cells(self, schema: Schema) -> Cells:
        """The cells that vote."""
        return Cells(self.column, self.bins)

    def score(self, counts: Integers) -> int:
        """The score from counts by class and cell."""
        weighted = counts if self.weights is None else counts * np.array(self.weights, dtype=np.int64)[:, None]
        parted = [np.add.reduceat(weighted, (0, *cuts), axis=1) for cuts in self.cuts] or [weighted]
        return max(int(each.max(axis=0).sum()) for each in parted)


@dataclass(frozen=True)
class FractionScore(Adding):
    """A fraction of all records, rounded down: the score that a column must beat; if none does, none is chosen.

    Sensitivity  1 for both adjacencies; under add-remove it moves the same way as every MajorityScore.
    Proof        with m records of the public classes the score is floor(m * right / of), right <= of. One more record
                 raises m by 0 or 1, so it raises the score by 0 or 1. Replacing changes m by at most one.
    Test         tests/privacy/mechanisms/test_selection.py::test_scores_move_by_at_most_one and
                 ::test_a_fraction_moves_by_at_most_one
    """

    right: int
    of: int

    def __post_init__(self) -> None:
        if not 0 <= self.right <= self.of or self.of < 1:
            raise ValueError(f"right={self.right}, of={self.of}; need a fraction from 0 to 1")

    def cells(self, schema: Schema) -> Cells:
        """The same cells as for the class counts; any would do, since each record lies in one of them."""
        return ClassCounts().cells(schema)

    def score(self, counts: Integers) -> int:
        """The score from counts by class and cell."""
        return int(counts.sum()) * self.right // self.of


ColumnScore: TypeAlias = MajorityScore | FractionScore
"""A candidate when columns are chosen."""
TableQuery: TypeAlias = Counts | SplineCounts | SoftCounts | ClassCounts | Total | Moments
"""A query that is answered from counts of one column."""
StoredQuery: TypeAlias = TableQuery | Hyperplanes | LeafCounts | Margins | Outside
"""A query whose answer a file may hold. The query is also the key of its answer: equal queries have one answer."""


def shape(query: StoredQuery, schema: Schema) -> tuple[int, int]:
    """Rows and columns of the query's table; public."""
    if isinstance(query, Hyperplanes | LeafCounts | Margins | Outside):
        return query.shape(schema)
    classes = np.zeros((len(schema.classes), query.cells(schema).size(schema)), dtype=np.int64)
    rows, columns = query.fold(classes, schema).shape
    return int(rows), int(columns)


def fine(bins: int) -> int:
    """Number of cells per bin: 8 or 4 if all bins together have at most 64 cells, else 2.

    Engines count columns of at most 64 cells two at a time. The rule must not change: tables in model files rest on it.
    """
    return next((parts for parts in (8, 4) if bins * parts <= 64), 2)


def splines(bins: int) -> Integers:
    """How each fine cell is divided among the bins: rows of integers that sum to 2 * fine."""
    parts = fine(bins)
    unit = 2 * parts
    rows = np.arange(bins * parts)
    position = np.clip(2 * rows + 1 - parts, 0, unit * (bins - 1))
    left, beyond = np.divmod(position, unit)
    weights = np.zeros((bins * parts, bins), dtype=np.int64)
    weights[rows, left] = unit - beyond
    weights[rows, np.minimum(left + 1, bins - 1)] += beyond
    return weights


def bernstein(grid: int) -> Integers:
    """The three weights of each grid point, as integers that sum to grid^2."""
    high = np.arange(grid + 1, dtype=np.int64)
    low = grid - high
    return np.stack([low * low, 2 * low * high, high * high], axis=1)


def _grid(name: str, schema: Schema) -> int:
    column = schema[name]
    assert isinstance(column, Numeric), "soft counts are of numeric columns"
    return column.grid
