"""Which tables are neighbours, and what a privacy loss under one adjacency is under the other."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from discreet.errors import SchemaError

_FRACTION = re.compile("[0-9]{1,500}(/[0-9]{1,500})?")
"""How an epsilon is written in a schema file. Far more digits than anyone needs; more could not be read quickly."""


class Adjacency(StrEnum):
    """Which tables are neighbours, that is, which tables an attacker must not be able to tell apart.

    Examples
    --------
    >>> from discreet import Adjacency
    >>> Adjacency("replace-one").distance
    2
    """

    ADD_REMOVE = "add-remove"
    """One record is added or removed; the number of records is private."""
    REPLACE_ONE = "replace-one"
    """One record is replaced by any other, label included; the number of records is public."""

    @property
    def distance(self) -> int:
        """Number of records added or removed between neighbours: 1, or 2 (one is removed, another added)."""
        return 1 if self is Adjacency.ADD_REMOVE else 2

    def counted(self, epsilon: Fraction | float, paid: Adjacency) -> Fraction | float:
        """What a release that is epsilon-DP under the adjacency `paid` costs under this one.

        Proof  replacing a record is a removal and then an addition: two steps under add-remove, so twice epsilon.
               Nothing follows in the other direction: a release that is private under replace-one may publish the
               number of records.
        Test   tests/schema/test_schema.py::test_a_loss_is_counted_under_another_adjacency

        >>> Adjacency.REPLACE_ONE.counted(Fraction(1, 2), Adjacency.ADD_REMOVE)
        Fraction(1, 1)
        """
        if paid is self:
            return epsilon
        return 2 * epsilon if self is Adjacency.REPLACE_ONE else math.inf


@dataclass(frozen=True)
class Paid:
    """The privacy loss, on the same data, of a choice that the schema reveals.

    Attributes
    ----------
    epsilon : the loss, as an exact fraction.
    adjacency : the adjacency under which it was paid; None if unknown, as in files of discreet 0.1.
    experimental : whether some of the noise was continuous and drawn in floating point.
    trust : who must be trusted besides the data's owner, in one sentence.
    """

    epsilon: Fraction
    adjacency: Adjacency | None
    experimental: bool = False
    trust: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or self.epsilon < 0:
            raise SchemaError(f"chosen: epsilon={self.epsilon!r}; need a Fraction that is not negative")

    def under(self, adjacency: Adjacency) -> Fraction | float:
        """The loss under an adjacency (`Adjacency.counted`); if its own adjacency is unknown, the largest possible."""
        if self.adjacency is not None:
            return adjacency.counted(self.epsilon, self.adjacency)
        return max(adjacency.counted(self.epsilon, each) for each in Adjacency)

    def to_json(self) -> str | dict[str, Any]:
        """Plain data, as it is written to a file."""
        if self.adjacency is None:
            return str(self.epsilon)
        optional = {"experimental": self.experimental, "trust": self.trust}
        given = {name: value for name, value in optional.items() if value}
        return {"epsilon": str(self.epsilon), "adjacency": self.adjacency.value, **given}

    @classmethod
    def from_json(cls, content: object) -> Paid:
        """From plain data, or from a text such as "1/2" (adjacency unknown); SchemaError if it is neither."""
        entries: dict[str, Any] = {"epsilon": content, "adjacency": None}
        if isinstance(content, Mapping) and {"epsilon", "adjacency"} <= content.keys():
            entries = dict(content)
        try:
            text, adjacency = entries.pop("epsilon"), entries.pop("adjacency")
            experimental, trust = entries.pop("experimental", False), entries.pop("trust", "")
            if entries or not isinstance(experimental, bool) or not isinstance(trust, str):
                raise ValueError
            if not isinstance(text, str) or not _FRACTION.fullmatch(text) or not Fraction(text) > 0:
                raise ValueError
            known = None if adjacency is None and text is content else Adjacency(adjacency)
            return cls(Fraction(text), known, experimental, trust)
        except (ValueError, ZeroDivisionError):
            raise SchemaError(
                'chosen: need the epsilon and adjacency that chose the columns, such as {"epsilon": "1/2", '
                '"adjacency": "add-remove"}'
            ) from None
