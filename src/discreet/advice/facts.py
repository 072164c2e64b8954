"""What is public about a table before anyone looks at it: its size, its shape and its adjacency."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.schema import Schema
from discreet.schema.columns import Categorical, is_integer

MOST_RECORDS = 10**12
"""No table has more records: a larger number is taken for a typing error."""


@dataclass(frozen=True)
class Facts:
    """The public facts that advice is based on.

    Parameters
    ----------
    records : the nominal number of records.
    classes, numeric, categorical : the number of classes, of numeric and of categorical columns.
    categories : the number of categories of all categorical columns together.
    distance : 1 under add-remove, 2 under replace-one; every noise of discreet is a multiple of it.

    Examples
    --------
    >>> from discreet import datasets
    >>> facts = Facts.of(datasets.load("iris")[2])
    >>> facts.records, facts.classes, facts.numeric, facts.categorical
    (150, 3, 4, 0)
    """

    records: int
    classes: int
    numeric: int
    categorical: int
    categories: int
    distance: int = 1

    @classmethod
    def of(cls, schema: Schema, records: int | None = None) -> Facts:
        """The facts of a schema; `records` overrides the number that the schema declares.

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
            raise ParameterError("the schema has one class, which every model predicts; need at least two classes")
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
        """The number of columns of both kinds."""
        return self.numeric + self.categorical

    def signal(self, epsilon: float) -> float:
        """Records per unit of noise: the number of records times epsilon, halved under replace-one."""
        return self.records * epsilon / self.distance

    def signal_per_class(self, epsilon: float) -> float:
        """The signal of a class of average size, on the scale of two classes: what decides how much noise hides.

        >>> Facts(900, 2, 4, 0, 0).signal_per_class(0.1), Facts(900, 6, 4, 0, 0).signal_per_class(0.1)
        (90.0, 30.0)
        """
        return 2 * self.signal(epsilon) / self.classes

    def coordinates(self) -> NDArray[np.float64]:
        """A point that places the table among others: the number of classes and of columns, as logarithms.

        A factor of e in the number of classes counts as much as one of e² in the number of columns. Other facts told
        nothing more about accuracies at the same signal (`benchmarks/advise.py`).
        """
        return np.array([math.log(self.classes), math.log(self.columns) / 2])
