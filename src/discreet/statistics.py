"""Tables on either side of the door: exact ones, which never leave, and noisy ones, from which models are made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.budget import Charge, Epsilon, total
from discreet.encoding import Cells
from discreet.errors import ParameterError
from discreet.hyperplanes import Hyperplanes
from discreet.queries import (
    ClassCounts,
    Counts,
    Moments,
    Query,
    SoftCounts,
    SplineCounts,
    Table,
    TableQuery,
    Total,
    shape,
)
from discreet.schema import Adjacency, Schema
from discreet.trees import LeafCounts, LeafLabels

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Counts, SplineCounts, SoftCounts, ClassCounts, Total, Moments, Hyperplanes, LeafCounts, LeafLabels)
}
"""The queries whose answers a model file may hold."""


@dataclass(frozen=True, repr=False)
class ExactStatistics:
    """Integer counts by class and cell. They add: halves of a table added equal the whole.

    Private: an object of this type lives inside a door only, shows no values and refuses to be pickled.
    """

    counts: Mapping[Cells, Table]

    def __add__(self, other: ExactStatistics) -> ExactStatistics:
        if self.counts.keys() != other.counts.keys():
            raise ValueError("statistics of different cells cannot be added")
        return ExactStatistics({cells: table + other.counts[cells] for cells, table in self.counts.items()})

    def answer(self, query: TableQuery, schema: Schema) -> Table:
        """The exact table of a query."""
        return query.fold(self.counts[query.cells(schema)], schema)

    def __repr__(self) -> str:
        return f"ExactStatistics({len(self.counts)} tables, values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact statistics are private and cannot be pickled")


@dataclass(frozen=True, repr=False)
class ExactRows:
    """A block of records: the code of each in each of some cells, and of its class (the number of classes if none).

    Private, as exact statistics are.
    """

    codes: Mapping[Cells, NDArray[np.uint16]]
    labels: NDArray[np.uint16]

    def __repr__(self) -> str:
        return "ExactRows(values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact rows are private and cannot be pickled")


@dataclass(frozen=True)
class Receipt:
    """What a release cost: adjacency, every charge, whether the noise can be repeated by who has the seed, and who has
    to be trusted beyond the data's owner."""

    adjacency: Adjacency
    charges: tuple[Charge, ...]
    seeded: bool
    schema_hash: str
    trust: str = ""

    @property
    def epsilon(self) -> Epsilon:
        """The whole loss: that of the charges, added."""
        return total([charge.epsilon for charge in self.charges])

    def __add__(self, other: Receipt) -> Receipt:
        """The receipt of two releases on the same data."""
        own, others = ((each.adjacency, each.schema_hash, each.trust) for each in (self, other))
        if own != others:
            raise ValueError("receipts of different schemas cannot be added")
        seeded = self.seeded or other.seeded
        return Receipt(self.adjacency, self.charges + other.charges, seeded, self.schema_hash, self.trust)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "adjacency": self.adjacency.value,
            "epsilon": str(self.epsilon),
            "seeded": self.seeded,
            "schema_hash": self.schema_hash,
            "trust": self.trust,
            "charges": [charge.to_dict() for charge in self.charges],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Receipt:
        """The inverse of `to_dict`."""
        charges = tuple(Charge.from_dict(charge) for charge in content["charges"])
        if not isinstance(content["seeded"], bool):
            raise TypeError("a receipt says whether its noise can be repeated")
        adjacency, trust = Adjacency(content["adjacency"]), str(content.get("trust", ""))
        return cls(adjacency, charges, bool(content["seeded"]), content["schema_hash"], trust)


@dataclass(frozen=True)
class NoisyTable:
    """The published answer to one query, with the variance of the noise in each cell (infinite if unknown)."""

    values: NDArray[Any]
    variance: float


Answers: TypeAlias = tuple[tuple[Query, NoisyTable], ...]
"""Queries with what was answered."""


class NoisyStatistics:
    """Published tables with their receipt. Made by a door (or read from a file); models accept no other."""

    def __init__(self, tables: Sequence[tuple[Query, NoisyTable]], receipt: Receipt) -> None:
        self.tables: Answers = tuple(tables)
        self.receipt = receipt

    def __getitem__(self, query: Query) -> NoisyTable:
        for asked, table in self.tables:
            if asked == query:
                return table
        raise KeyError(f"{query!r} was not released")

    def check(self, schema: Schema) -> None:
        """Raise ParameterError unless released under this schema, with tables of their queries' shapes."""
        if (self.receipt.schema_hash, self.receipt.adjacency) != (schema.hash, schema.adjacency):
            raise ParameterError("these statistics were released under another schema; use the one they came with")
        if not self.receipt.charges:
            raise ParameterError("these statistics have no charge; they were not made by release")
        for query, table in self.tables:
            rows, columns = shape(query, schema)
            expected = (rows, 2 if isinstance(query, Moments) else columns)
            if table.values.shape != expected or table.values.dtype.kind not in "if":
                raise ParameterError(f"the table of {query!r} has the wrong shape or type; it was not made by release")

    def __add__(self, other: NoisyStatistics) -> NoisyStatistics:
        """Two releases on the same data, as one."""
        return NoisyStatistics(self.tables + other.tables, self.receipt + other.receipt)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a model file: integers stay exact."""
        tables = [
            {
                "query": {"kind": type(query).__name__, **query.__dict__},
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
            fields = dict(entry["query"])
            kind = fields.pop("kind")
            if kind not in KINDS:
                raise ValueError(f"query kind {kind!r} is not known")
            variance = math.inf if entry["variance"] is None else float(entry["variance"])
            tables.append((KINDS[kind](**fields), NoisyTable(np.array(entry["values"]), variance)))
        return cls(tables, Receipt.from_dict(content["receipt"]))
