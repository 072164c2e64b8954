"""The answers of a source: exact counts and exact rows, which never leave the private side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.queries.arrays import Integers
from discreet.queries.tables import TableQuery
from discreet.records.encoding import Cells
from discreet.schema import Schema


@dataclass(frozen=True, repr=False)
class ExactStatistics:
    """Integer counts by class and cell. They can be added: two halves of a table sum to the whole.

    Private: an object of this type exists inside a door only, shows no values and refuses to be pickled.
    """

    counts: Mapping[Cells, Integers]

    def __add__(self, other: ExactStatistics) -> ExactStatistics:
        if self.counts.keys() != other.counts.keys():
            raise ValueError("statistics of different cells cannot be added")
        return ExactStatistics({cells: table + other.counts[cells] for cells, table in self.counts.items()})

    def answer(self, query: TableQuery, schema: Schema) -> Integers:
        """The exact table of a query."""
        return query.fold(self.counts[query.cells(schema)], schema)

    def __repr__(self) -> str:
        return f"ExactStatistics({len(self.counts)} tables, values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact statistics are private and cannot be pickled")


@dataclass(frozen=True, repr=False)
class ExactRows:
    """A block of records: their codes in each of some cells, and their class codes (number of classes: no class).

    Private, as exact statistics are.
    """

    codes: Mapping[Cells, NDArray[np.uint16]]
    labels: NDArray[np.uint16]

    def __repr__(self) -> str:
        return "ExactRows(values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact rows are private and cannot be pickled")
