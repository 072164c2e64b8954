"""How an epsilon is divided among queries: exact fractions that sum to the whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.budget import Charge, Epsilon
from discreet.errors import ParameterError
from discreet.mechanisms.laplace import DiscreteLaplace
from discreet.mechanisms.polya import PolyaShare
from discreet.mechanisms.smooth import SmoothCauchy
from discreet.queries import Query, sensitivity
from discreet.schema import Schema

Mechanism = DiscreteLaplace | SmoothCauchy | PolyaShare


@dataclass(frozen=True)
class Step:
    """One query, the mechanism that answers it, and its share of the epsilon."""

    query: Query
    mechanism: Mechanism
    epsilon: Epsilon

    def check(self, schema: Schema) -> None:
        """Raise ParameterError if the mechanism costs more than the step's epsilon."""
        if self.mechanism.loss(sensitivity(self.query, schema)) > self.epsilon:
            raise ParameterError(f"{self.mechanism!r} on {self.query!r} costs more than its share of epsilon")

    def charge(self, schema: Schema) -> Charge:
        """The line that this step adds to the receipt."""
        return Charge(
            query=repr(self.query),
            mechanism=self.mechanism.name,
            epsilon=self.epsilon,
            sensitivity=sensitivity(self.query, schema),
            scale=self.mechanism.scale,
        )


def split_evenly(epsilon: Epsilon, parts: int) -> list[Epsilon]:
    """Equal shares."""
    return split_by_weight(epsilon, [1] * parts)


def split_by_weight(epsilon: Epsilon, weights: Sequence[float]) -> list[Epsilon]:
    """Shares in proportion to the weights; they sum to epsilon exactly.

    >>> split_by_weight(Fraction(1), [1, 2])
    [Fraction(1, 3), Fraction(2, 3)]
    """
    if epsilon == math.inf:
        return [math.inf] * len(weights)
    millionths = [max(1, round(weight * 1_000_000)) for weight in weights]
    return [Fraction(epsilon) * part / sum(millionths) for part in millionths]


def laplace_steps(queries: Sequence[Query], shares: Sequence[Epsilon], schema: Schema) -> list[Step]:
    """Answer each query by discrete Laplace noise calibrated to its sensitivity and its share."""
    return [
        Step(query, DiscreteLaplace.calibrated(share, sensitivity(query, schema)), share)
        for query, share in zip(queries, shares, strict=True)
    ]
