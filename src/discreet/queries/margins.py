"""How records lie about a public hyperplane: their number by class and interval of the margin."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.schema import Schema


@dataclass(frozen=True)
class Margins:
    """Number of records per class and interval of the margin w.x, for weights that were published before.

    Sensitivity  (L1, whole table) add-remove: 1; replace-one: 2.
    Proof        a record with one of the classes has one margin, which lies in one interval: it adds one to one cell. A
                 record without a class adds nothing. Replace-one is a removal and an addition.
    Test         tests/doors/test_margins.py::test_sensitivity_bounds_every_neighbour
    """

    bins: int

    def distance(self, schema: Schema) -> int:
        """Sensitivity: the largest L1 distance between the tables of two neighbours."""
        return schema.adjacency.distance

    def shape(self, schema: Schema) -> tuple[int, int]:
        """Classes by intervals."""
        return len(schema.classes), int(self.bins)
