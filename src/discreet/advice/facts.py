"""What is public about a table that nobody has looked at: its size and shape, and the noise that its owner allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.schema import Schema
from discreet.schema.columns import Categorical, is_integer

MOST_RECORDS = 10**12
"""More than any table has; beyond it a number of records is taken for a slip of the pen."""


@dataclass(frozen=True)
class Facts:
    """The public facts that advice is made of.

    Parameters
    ----------
    records : the nominal number of records.
    classes, numeric, categorical : how many classes and columns there are.
    categories : of all categorical columns together.
    distance : 1 if a record is added or removed, 2 if one is replaced: what every noise of discreet is a multiple of.
    """

    records: int
    classes: int
    numeric: int
    categorical: int
    categories: int
    distance: int = 1

    @classmethod
    def of(cls, schema: Schema, records: int | None = None) -> Facts:
        """The facts of a schema; `records` counts before the number that the schema declares.

        >>> schema = Schema([Categorical("smoker", ["no", "yes"], unlisted=False)], "ill", ["no", "yes"], records=900)
        >>> Facts.of(schema).signal(0.1)
        90.0
        """
        records = schema.records if records is None else records
        if records is None:
            raise ParameterError(
                "the schema declares no number of records; give one that is public, even a rough one (--records)"
            )
        if not is_integer(records) or not 1 <= records <= MOST_RECORDS:
            raise ParameterError(f"records={records!r}; need an integer from 1 to 10**12")
        if len(schema.classes) < 2:
            raise ParameterError("the schema has one class: every model answers it, and there is nothing to advise")
        categorical = [column for column in schema.columns if isinstance(column, Categorical)]
        return cls(
            records,
            len(schema.classes),
            len(schema.columns) - len(categorical),
            len(categorical),
            sum(column.size for column in categorical),
            schema.adjacency.distance,
        )

    @property
    def columns(self) -> int:
        """Attributes of both kinds."""
        return self.numeric + self.categorical

    def signal(self, epsilon: float) -> float:
        """Records for each unit of noise: what a table's size and epsilon amount to together."""
        return self.records * epsilon / self.distance

    def coordinates(self) -> NDArray[np.float64]:
        """Where the table stands among others: sizes as logarithms, and how much of it is numbers.

        A factor e in the number of classes or columns counts as much as the whole way from numbers to categories;
        a factor e in the number of records a third of that, since records already count in the signal.
        """
        shape = [math.log(self.records) / 3, math.log(self.classes), math.log(self.columns)]
        return np.array([*shape, self.numeric / self.columns])
