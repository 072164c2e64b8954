"""Which part of its range a number fills: declared bounds are wide, and values often sit in a small part between them.

The candidates are the whole range, and parts of a half, a quarter, and so on, each of which begins where the one before
it has its middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.queries.arrays import Integers
from discreet.queries.hyperplanes import PARTS, WHOLE, Part
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.schema.columns import is_integer

MOST_HALVINGS = 5
"""The narrowest part is the range halved this often: it has two of the `PARTS`, so that it can begin in its middle."""
MOST_FAVOUR = 1 << 40
"""No favour is larger, so that no score wraps around."""


@dataclass(frozen=True)
class Filled:
    """For each part of a column's range, the number of records in it, and a public favour for narrow parts: scores.

    No more than `enough` records count for a part, so that a narrow one that holds nearly all wins against a wide one,
    and one that holds a value that is frequent, such as 0, does not. A part that was halved k times is favoured by k
    times `favour` records, which may be less than 0. Records without a listed class do not count.

    Sensitivity  each score moves by at most 1 for both adjacencies; under add-remove monotone: all scores move the same
                 way. So the lead of one part over another moves by at most 1 under add-remove, and by 2 under
                 replace-one: `distance`.
    Proof        a record lies in one cell. Adding it raises the counts of the parts that hold this cell by one, and
                 changes no other; the lesser of a count and a constant is raised by 0 or 1, too; so each lead moves by
                 -1, 0 or 1. Replacing is a removal, which moves a lead by at
                 most 1, and an addition, which moves it by at most 1. Favours are public: constants, or made from a
                 noisy number of records that was paid for.
    Test         tests/queries/test_ranges.py::test_leads_move_by_at_most_the_distance_and_attain_it
    """

    column: str
    favour: int
    enough: int = MOST_FAVOUR

    def __post_init__(self) -> None:
        for name in ("favour", "enough"):
            value = getattr(self, name)
            if not is_integer(value) or abs(value) > MOST_FAVOUR:
                raise ValueError(f"{name}={value!r}; need an integer of at most {MOST_FAVOUR:,} in size")

    def __repr__(self) -> str:
        """The words on the receipt."""
        return f"the part of its range that {self.column} fills"

    def distance(self, schema: Schema) -> int:
        """How much the lead of one part over another can change between neighbours."""
        return schema.adjacency.distance

    def cells(self, schema: Schema) -> Cells:
        """The cells that are counted."""
        return Cells(self.column, PARTS)

    def scores(self, counts: Integers) -> Integers:
        """The score of each of `CANDIDATES`, from counts by class and cell."""
        below = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
        return np.array(
            [
                min(int(below[high] - below[low]), self.enough) + halvings * self.favour
                for (low, high), halvings in CANDIDATES
            ],
            dtype=np.int64,
        )


def _candidates() -> tuple[tuple[Part, int], ...]:
    found = [(WHOLE, 0)]
    for halvings in range(1, MOST_HALVINGS + 1):
        width = PARTS >> halvings
        found += [((low, low + width), halvings) for low in range(0, PARTS - width + 1, width // 2)]
    return tuple(found)


CANDIDATES = _candidates()
"""All parts that can be chosen, and how often the range was halved for each."""
