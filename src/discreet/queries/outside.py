"""How many records a schema does not expect in a column: outside its list, outside its bounds, or not a number.

Cells do not tell these apart from others: a missing number takes the cell of the column's fill value, and a number far
outside the bounds the outermost one. So records are counted under another public encoding of the same columns, in which
numbers have wider bounds and everything unexpected falls into the outermost cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.schema.columns import Column, Numeric

WATCHED = 64
"""Into this many intervals the widened range of a numeric column is cut; the two outermost ones are outside."""


def is_watched(column: Column) -> bool:
    """Whether values that the schema does not expect can be noticed.

    Not in a list that is complete by definition, nor where floats leave no room beside the bounds.
    """
    return _widened(column) is not None if isinstance(column, Numeric) else column.unlisted


def watching(schema: Schema) -> Schema:
    """The same columns, encoded so that everything unexpected has cells of its own.

    A numeric column gets two more intervals on each side, each 1/60 of its range, and missing values get the lowest
    one. So the outermost two intervals hold what is missing or not a number, and numbers that are off by more than
    1/60 of the range. Categories keep their cells: one is for what is unlisted.
    """
    return replace(schema, columns=tuple(_watched(column) for column in schema.columns))


def _watched(column: Column) -> Column:
    return (_widened(column) if isinstance(column, Numeric) else None) or column


def _widened(column: Numeric) -> Numeric | None:
    """The column with wider bounds, or None if floats have no room for them."""
    lower, upper = float(column.lower), float(column.upper)
    margin = (upper - lower) * 2 / (WATCHED - 4)
    if not (upper - lower + 2 * margin < math.inf and lower - margin < lower - margin / 2 < lower < upper):
        return None
    if not upper < upper + margin / 2 < upper + margin:
        return None
    return replace(column, lower=lower - margin, upper=upper + margin, fill=lower - margin, grid=WATCHED)


@dataclass(frozen=True)
class Outside:
    """Number of records that the schema expects in a column, and of those that it does not: one row of two cells.

    Records without a listed class are in neither.

    Sensitivity  (L1) add-remove: 1; replace-one: 2.
    Proof        a record adds one to one cell, or nothing. Replacing is a removal and an addition.
    Test         tests/queries/test_outside.py::test_sensitivity_bounds_every_neighbour_and_is_attained
    """

    column: str

    def distance(self, schema: Schema) -> int:
        """Sensitivity: the largest L1 distance between the tables of two neighbours."""
        return schema.adjacency.distance

    def cells(self, schema: Schema) -> Cells:
        """The cells that are counted, under `watching(schema)`."""
        return Cells(self.column, WATCHED if isinstance(schema[self.column], Numeric) else None)

    def astray(self, schema: Schema) -> NDArray[np.bool_]:
        """Which of these cells the schema does not expect."""
        column = schema[self.column]
        if isinstance(column, Numeric):
            return np.isin(np.arange(WATCHED), (0, WATCHED - 1))
        return np.asarray(np.arange(column.size) == column.stray_code)

    def fold(self, counts: Integers, schema: Schema) -> Integers:
        """The table of the query, from counts by class and cell."""
        astray = self.astray(schema)
        return np.asarray([[counts[:, ~astray].sum(), counts[:, astray].sum()]])

    def shape(self, schema: Schema) -> tuple[int, int]:
        """Rows and columns of the table."""
        return 1, 2


@dataclass(frozen=True, repr=False)
class Worst:
    """Which of some columns has the most records outside the schema; and then, how many inside and outside.

    Sensitivity  of the lead of one column over another: 1 under add-remove, 2 under replace-one.
    Proof        adding a record raises the number of records outside by 0 or 1 in each column, so a lead moves by at
                 most 1. Replacing is a removal and an addition, so a lead moves by at most 2.
    Test         tests/queries/test_outside.py::test_a_lead_moves_by_at_most_the_distance
    """

    columns: tuple[str, ...]

    def __repr__(self) -> str:
        return f"column with the most values outside the schema, of {len(self.columns)}"

    def distance(self, schema: Schema) -> int:
        """How much the lead of one column over another can change between neighbours."""
        return schema.adjacency.distance


@dataclass(frozen=True, repr=False)
class OfWorst:
    """The table `Outside` of a column that was chosen from published answers alone; which one is public."""

    def __repr__(self) -> str:
        return "records inside and outside the schema in that column"

    def distance(self, schema: Schema) -> int:
        """That of `Outside`, which is the same for all columns."""
        return Outside("").distance(schema)
