"""No noise: records are read as they are, by algorithms that guarantee nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.privacy.epsilon import Epsilon
from discreet.schema import Schema


@dataclass(frozen=True, repr=False)
class Everything:
    """The query for the records themselves, in words for a receipt."""

    words: str

    def __repr__(self) -> str:
        return self.words

    def distance(self, schema: Schema) -> int:
        """One or two records; the loss is infinite in either case."""
        return schema.adjacency.distance


@dataclass(frozen=True)
class InTheClear:
    """Read the records as they are. The loss is infinite, so every ledger with a limit refuses it."""

    name: str = "none: read in the clear"
    scale: float = 0.0
    experimental = False

    def loss(self, distance: int) -> Epsilon:
        """Infinite at every distance."""
        return math.inf
