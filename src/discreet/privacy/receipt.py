"""The receipt of a release: every charge, the adjacency, and who must be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.privacy.epsilon import Epsilon, as_epsilon, total
from discreet.schema import Adjacency


@dataclass(frozen=True)
class Charge:
    """One line of a receipt: what was asked, how it was answered, and what it cost."""

    query: str
    mechanism: str
    epsilon: Epsilon
    sensitivity: int
    scale: float
    experimental: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the epsilon as an exact fraction in text."""
        plain = {**self.__dict__, "epsilon": str(self.epsilon), "scale": str(self.scale)}
        return plain if self.experimental else {name: value for name, value in plain.items() if name != "experimental"}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Charge:
        """The inverse of `to_dict`; in files of discreet 0.1 the mechanism's name says whether it is experimental."""
        experimental = content.get("experimental", "(experimental)" in content["mechanism"])
        if not isinstance(experimental, bool):
            raise TypeError(f"experimental is a {type(experimental).__name__}; need true or false")
        read = {"epsilon": as_epsilon(content["epsilon"]), "scale": float(content["scale"])}
        return cls(**{**content, **read, "experimental": experimental})


@dataclass(frozen=True)
class Receipt:
    """What a release cost: every charge, and the adjacency under which they count.

    `seeded` says whether anyone who has the seed can repeat the noise; `trust` names who must be trusted besides the
    data's owner.
    """

    adjacency: Adjacency
    charges: tuple[Charge, ...]
    seeded: bool
    schema_hash: str
    trust: str = ""

    @property
    def epsilon(self) -> Epsilon:
        """The privacy loss of the release: the sum of its charges."""
        return total([charge.epsilon for charge in self.charges])

    def __add__(self, other: Receipt) -> Receipt:
        """The receipt of two releases on the same data."""
        own, others = ((each.adjacency, each.schema_hash, each.trust) for each in (self, other))
        if own != others:
            raise ValueError(
                "receipts differ in adjacency, schema or trust; need two of the same data under one schema"
            )
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
            raise TypeError(f"seeded is a {type(content['seeded']).__name__}; need true or false")
        adjacency, trust = Adjacency(content["adjacency"]), str(content.get("trust", ""))
        return cls(adjacency, charges, bool(content["seeded"]), content["schema_hash"], trust)
