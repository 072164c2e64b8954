"""Counts of records in the cells of several columns at once, among those that pass public predicates.

Sensitivity  (L1, whole table) add-remove: `unit`; replace-one: 2 * `unit`, or `unit` for a table of one cell.
Proof        whether a record passes, and where it lies in each column, follows from that record alone. A record that
             passes and has one of the classes adds non-negative integers that sum to `unit`: 1 in one cell, or for an
             overlapping column a row of `splines`, whose entries sum to 2 * fine. Any other record adds nothing.
             Replacing is a removal and an addition. In a table of one cell both change the same number, one up and one
             down, so that it moves by at most `unit`.
Test         tests/queries/test_crossed.py::test_sensitivity_bounds_every_neighbour and ::test_sensitivity_is_attained
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.queries.arrays import Integers
from discreet.queries.predicates import Where, listed
from discreet.queries.tables import Adding, fine, splines
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric, is_integer

MOST_COLUMNS = 4
"""The most columns that one table is divided by. Noise would drown the cells of more."""
MOST_CELLS = 65_536
"""The most cells that one table is counted in: half a megabyte."""
MOST_OVERLAPPING = 127
"""The most overlapping bins: each has at least two finer cells, fewer than 256 in all (queries/tables.py)."""

EVERYONE = Where()
"""No predicate: all records."""


@dataclass(frozen=True)
class By:
    """One column that a table is divided by: its categories, the classes, or `bins` equal intervals of its numbers.

    With `overlapping`, each record is divided between the two intervals whose centres are nearest, in proportion to
    nearness (`SplineCounts` in queries/tables.py): with the same noise, a curve that depends less on the edges.
    """

    column: str
    bins: int | None = None
    overlapping: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise ParameterError(f"a table is divided by a {type(self.column).__name__}; need the name of a column")
        object.__setattr__(self, "column", str.__str__(self.column))  # without methods of its own
        if isinstance(self.bins, int) and is_integer(self.bins):
            object.__setattr__(self, "bins", int.__int__(self.bins))
        if self.bins is not None and not (is_integer(self.bins) and 2 <= self.bins <= MOST_CELLS):
            raise ParameterError(f"column {self.column!r}: bins={self.bins!r}; need an integer from 2 to {MOST_CELLS}")
        if not isinstance(self.overlapping, bool):
            raise ParameterError(f"column {self.column!r}: overlapping={self.overlapping!r}; need true or false")
        if self.overlapping and (self.bins is None or self.bins > MOST_OVERLAPPING):
            raise ParameterError(f"column {self.column!r}: overlapping bins; need from 2 to {MOST_OVERLAPPING} of them")

    @classmethod
    def from_plain(cls, content: object) -> By:
        """From plain data such as {"column": "age", "bins": 8}, or the name of a column."""
        if isinstance(content, str):
            return cls(content)
        if not isinstance(content, Mapping) or "column" not in content:
            raise ParameterError('a table is divided by a column; need one such as {"column": "age", "bins": 8}')
        for key in content:
            if key not in ("column", "bins", "overlapping"):
                raise ParameterError(f"by: entry {str(key)[:40]!r} is not known; need column, bins or overlapping")
        return cls(content["column"], content.get("bins"), content.get("overlapping", False))

    def to_plain(self) -> dict[str, Any]:
        """Plain data, as in a request or a file."""
        bins = {} if self.bins is None else {"bins": self.bins}
        return {"column": self.column, **bins, **({"overlapping": True} if self.overlapping else {})}

    def check(self, schema: Schema) -> None:
        """Raise ParameterError unless the schema has such a column, divided as a column of its kind can be."""
        if self.column != schema.target and self.column not in schema:
            raise ParameterError(
                f"column {self.column!r} is not in the schema; need one of: {listed(schema.all_names)}"
            )
        is_number = self.column != schema.target and isinstance(schema[self.column], Numeric)
        if is_number and self.bins is None:
            raise ParameterError(f"column {self.column!r} holds numbers; say how many bins, for instance 8")
        if not is_number and self.bins is not None:
            raise ParameterError(f"column {self.column!r} holds categories, which are cells already; leave out bins")

    def cells(self, schema: Schema) -> Cells | None:
        """The cells that are counted, finer than the bins if these overlap; None for the classes."""
        if self.column == schema.target:
            return None
        return Cells(self.column, self.bins * fine(self.bins) if self.overlapping and self.bins else self.bins)

    def counted(self, schema: Schema) -> int:
        """Number of cells that are counted."""
        cells = self.cells(schema)
        return len(schema.classes) if cells is None else cells.size(schema)

    def size(self, schema: Schema) -> int:
        """Number of cells in the table."""
        return self.bins if self.overlapping and self.bins else self.counted(schema)

    def names(self, schema: Schema) -> list[str]:
        """The name of each cell: a category, a class, or an interval."""
        column = None if self.column == schema.target else schema[self.column]
        if isinstance(column, Numeric):
            assert self.bins is not None, "checked before"
            width = (column.upper - column.lower) / self.bins
            edges = [f"{column.lower + place * width:.6g}" for place in range(self.bins + 1)]
            about = "about " if self.overlapping else ""
            return [f"{about}{low} to {high}" for low, high in pairwise(edges)]
        labels = schema.classes if column is None else column.categories
        stray = ["(any other)"] if isinstance(column, Categorical) and column.unlisted else []
        return [*map(str, labels), *stray]


@dataclass(frozen=True)
class CrossedCounts(Adding):
    """Number of records that pass `where`, in each combination of the cells of the columns `by`.

    Only records that have one of the classes are counted, as the schema says.

    Examples
    --------
    >>> from discreet import Categorical, Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 80), Categorical("sex", ["F", "M"])], "ill", ["no", "yes"])
    >>> query = CrossedCounts.of(where=[{"column": "age", "between": [40, 60]}], by=["sex", "ill"])
    >>> query.shape(schema), query.where.counted(schema)
    ((3, 2), ['age from 39.9805 to 60.0195 or missing'])
    """

    where: Where = EVERYONE
    by: tuple[By, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", tuple(self.by))
        if type(self.where) is not Where or any(type(each) is not By for each in self.by):
            raise ParameterError("a count needs predicates (Where) and columns (By); use CrossedCounts.of")
        names = [each.column for each in self.by]
        if len(names) > MOST_COLUMNS:
            raise ParameterError(f"a table is divided by {len(names)} columns; need at most {MOST_COLUMNS}")
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"a table is divided by column {twice!r} twice; name it once")
        if sum(each.overlapping for each in self.by) > 1:
            raise ParameterError("a table has several columns with overlapping bins; need at most one")

    @classmethod
    def of(cls, where: Any = (), by: Any = ()) -> CrossedCounts:
        """From plain data, or from predicates and columns."""
        if not isinstance(by, list | tuple) or len(by) > MOST_COLUMNS:
            raise ParameterError(f"by: need a list of at most {MOST_COLUMNS} columns")
        divided = tuple(each if isinstance(each, By) else By.from_plain(each) for each in by)
        return cls(where if isinstance(where, Where) else Where.from_plain(where), divided)

    @classmethod
    def from_plain(cls, content: object) -> CrossedCounts:
        """From plain data such as {"where": [...], "by": [...]}; both may be left out."""
        if not isinstance(content, Mapping) or not {*content} <= {"where", "by"}:
            raise ParameterError("a count query has entries other than 'where' and 'by'; leave them out")
        return cls.of(content.get("where", ()), content.get("by", ()))

    def to_plain(self) -> dict[str, Any]:
        """Plain data, as in a request or a file."""
        return {"where": self.where.to_plain(), "by": [each.to_plain() for each in self.by]}

    def __repr__(self) -> str:
        """The words on a receipt."""
        by = " × ".join(f"{each.column}:{each.bins}" if each.bins else each.column for each in self.by)
        tests = [f"{each.column} {each.test} {listed(each.values, 4)}".strip() for each in self.where.predicates]
        return f"CrossedCounts({' and '.join(tests) or 'all records'}{f' by {by}' if by else ''})"

    def check(self, schema: Schema) -> None:
        """Raise ParameterError unless the query fits the schema and its table is not too large."""
        for each in self.by:
            each.check(schema)
        if self.counted(schema) > MOST_CELLS:
            raise ParameterError(
                f"the table is counted in {self.counted(schema)} cells; need at most {MOST_CELLS}: use fewer columns "
                "or bins"
            )
        self.where.spans(schema)

    def shape(self, schema: Schema) -> tuple[int, ...]:
        """The number of cells along each column of `by`."""
        return tuple(each.size(schema) for each in self.by)

    def counted(self, schema: Schema) -> int:
        """Number of cells that are counted."""
        return math.prod(each.counted(schema) for each in self.by)

    def unit(self, schema: Schema) -> int:
        """Sum of what one record adds to the cells of the table."""
        return next((2 * fine(each.bins) for each in self.by if each.overlapping and each.bins), 1)

    def distance(self, schema: Schema) -> int:
        """Sensitivity: the largest L1 distance between the tables of two neighbours (proof above)."""
        unit = self.unit(schema)
        return unit if math.prod(self.shape(schema)) == 1 else unit * schema.adjacency.distance

    def fold(self, counts: Integers, schema: Schema) -> Integers:
        """The table of the query, from the counted cells in order; exact integers."""
        table = counts.reshape([each.counted(schema) for each in self.by])
        for axis, each in enumerate(self.by):
            if each.overlapping and each.bins:
                table = np.moveaxis(np.moveaxis(table, axis, -1) @ splines(each.bins), -1, axis)
        return np.asarray(table)
