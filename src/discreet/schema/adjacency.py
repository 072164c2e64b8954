"""Which tables are neighbours, and what a loss under one adjacency means under the other."""

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


class Adjacency(StrEnum):
    """Which tables are neighbours, that is, what an attacker must not be able to tell apart."""

    ADD_REMOVE = "add-remove"
    """One record is added or removed; the number of records is private."""
    REPLACE_ONE = "replace-one"
    """One record is replaced by any other, label included; the number of records is public."""

    @property
    def distance(self) -> int:
        """How many records come or go between neighbours: one, or two (one goes, another comes)."""
        return 1 if self is Adjacency.ADD_REMOVE else 2

    def counted(self, epsilon: Fraction | float, paid: Adjacency) -> Fraction | float:
        """What a release that is epsilon-DP under the adjacency `paid` costs under this one.

        Proof  replacing a record is a removal and then an addition: two steps under add-remove, so twice epsilon.
               Nothing follows the other way round: what is private under replace-one may publish the number of records.
        Test   tests/schema/test_schema.py::test_a_loss_is_counted_under_another_adjacency

        >>> Adjacency.REPLACE_ONE.counted(Fraction(1, 2), Adjacency.ADD_REMOVE)
        Fraction(1, 1)
        """
        if paid is self:
            return epsilon
        return 2 * epsilon if self is Adjacency.REPLACE_ONE else math.inf


@dataclass(frozen=True)
class Paid:
    """What was paid, on the same data, for a choice that a schema shows.

    Attributes
    ----------
    epsilon : the loss, as an exact fraction.
    adjacency : the adjacency that it was paid under; None if nobody knows, as in files of 0.1.
    experimental : whether some of its noise was continuous and drawn in floating point.
    trust : who has to be trusted for it beyond the data's owner, in a sentence.
    """

    epsilon: Fraction
    adjacency: Adjacency | None
    experimental: bool = False
    trust: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.epsilon, Fraction) or self.epsilon < 0:
            raise SchemaError("chosen: need an epsilon above 0, as an exact fraction")

    def under(self, adjacency: Adjacency) -> Fraction | float:
        """What it costs under an adjacency (`Adjacency.counted`); where nobody knows, the worst that it can be."""
        if self.adjacency is not None:
            return adjacency.counted(self.epsilon, self.adjacency)
        return max(adjacency.counted(self.epsilon, each) for each in Adjacency)

    def to_json(self) -> str | dict[str, Any]:
        """Plain data, as it stands in a file."""
        if self.adjacency is None:
            return str(self.epsilon)
        more = {"experimental": self.experimental, "trust": self.trust}
        said = {name: value for name, value in more.items() if value}
        return {"epsilon": str(self.epsilon), "adjacency": self.adjacency.value, **said}

    @classmethod
    def from_json(cls, content: object) -> Paid:
        """From plain data, or from a text such as "1/2", whose adjacency nobody knows; SchemaError if it is neither."""
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
