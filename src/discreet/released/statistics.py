"""Noisy answers: what a door publishes, what models are made from, and what a model file holds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy.receipt import Receipt
from discreet.queries.tables import Moments, StoredQuery, shape
from discreet.queries.tags import from_plain, to_plain
from discreet.schema import Schema


@dataclass(frozen=True)
class NoisyTable:
    """The published answer to one query, with the variance of the noise in each cell (infinite if unknown)."""

    values: NDArray[Any]
    variance: float


Answers: TypeAlias = tuple[tuple[StoredQuery, NoisyTable], ...]
"""Queries, each with its answer."""


class NoisyStatistics:
    """Published answers with their receipt, made by a door or read from a file. Models are made from nothing else."""

    def __init__(self, tables: Sequence[tuple[StoredQuery, NoisyTable]], receipt: Receipt) -> None:
        self.tables: Answers = tuple(tables)
        self.receipt = receipt

    def __getitem__(self, query: StoredQuery) -> NoisyTable:
        for asked, table in self.tables:
            if asked == query:
                return table
        raise KeyError(f"{query!r} has no answer here")

    def check(self, schema: Schema) -> None:
        """Raise ParameterError unless this was released under the schema, and every table has its query's shape."""
        if (self.receipt.schema_hash, self.receipt.adjacency) != (schema.hash, schema.adjacency):
            raise ParameterError("these statistics were released under another schema; use the schema of their release")
        if not self.receipt.charges:
            raise ParameterError(
                "these statistics have no charge, so no door made them; need statistics that were released"
            )
        for query, table in self.tables:
            rows, columns = shape(query, schema)
            expected = (rows, 2 if isinstance(query, Moments) else columns)
            if table.values.shape != expected or table.values.dtype.kind not in "if":
                raise ParameterError(
                    f"the table of {query!r} has the wrong shape or type, so no door made it; need statistics that "
                    "were released"
                )

    def __add__(self, other: NoisyStatistics) -> NoisyStatistics:
        """Two releases on the same data as one."""
        return NoisyStatistics(self.tables + other.tables, self.receipt + other.receipt)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a model file: integers stay exact."""
        tables = [
            {
                "query": to_plain(query),
                "variance": None if math.isinf(table.variance) else table.variance,
                "values": table.values.tolist(),
            }
            for query, table in self.tables
        ]
        return {"tables": tables, "receipt": self.receipt.to_dict()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> NoisyStatistics:
        """The inverse of `to_dict`."""
        tables = []
        for entry in content["tables"]:
            variance = math.inf if entry["variance"] is None else float(entry["variance"])
            tables.append((from_plain(entry["query"]), NoisyTable(np.array(entry["values"]), variance)))
        return cls(tables, Receipt.from_dict(content["receipt"]))
