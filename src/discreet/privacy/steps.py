"""What a release is made of: steps, each a question with its mechanism and its share of epsilon.

A step states what it may cost, never what it does cost: that follows from its question and its mechanism, and the
passage (doors/passage.py) compares the two before anything is charged.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon, as_epsilon, total
from discreet.privacy.mechanisms import MECHANISMS, Mechanism
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.receipt import Charge
from discreet.queries.tables import TableQuery
from discreet.schema import Schema


class Question(Protocol):
    """Something that is asked of the data; its `repr` is what a receipt says of it."""

    def distance(self, schema: Schema) -> int:
        """How far apart what enters the mechanism can be for neighbours, in the terms of the mechanism's `loss`."""
        ...


Q_co = TypeVar("Q_co", bound=Question, covariant=True)
M_co = TypeVar("M_co", bound=Mechanism, covariant=True)


@dataclass(frozen=True)
class Step(Generic[Q_co, M_co]):
    """One question, the mechanism that answers it, and its share of epsilon.

    Guarantee  an answer by a step that passes `check` is `epsilon`-DP under the schema's adjacency.
    Proof      neighbours enter the mechanism at most `query.distance(schema)` apart (proof in the question), so the
               answer is `mechanism.loss(distance)`-DP (proof in the mechanism), which `check` finds to be at most
               `epsilon`, in exact arithmetic.
    Test       tests/doors/test_passage.py::test_too_little_noise_is_refused_at_every_door
    """

    query: Q_co
    mechanism: M_co
    epsilon: Epsilon

    def check(self, schema: Schema) -> None:
        """Raise ParameterError unless the mechanism is a proved one and costs no more than the step's share."""
        if type(self.mechanism) not in MECHANISMS:
            raise ParameterError(f"{type(self.mechanism).__name__} is not a mechanism of discreet; need a proved one")
        if not self.mechanism.loss(self.distance(schema)) <= as_epsilon(self.epsilon):
            raise ParameterError(f"{self.mechanism!r} on {self.query!r} costs more than its share of epsilon")

    def distance(self, schema: Schema) -> int:
        """How far apart neighbours can enter the mechanism; a plain integer, so that no arithmetic wraps around."""
        distance = operator.index(self.query.distance(schema))
        if distance < 0:
            raise ParameterError(f"{self.query!r} has a negative distance; need how far apart neighbours can be")
        return distance

    def charges(self, schema: Schema) -> list[Charge]:
        """The line that this step adds to the receipt."""
        mechanism, epsilon = self.mechanism, as_epsilon(self.epsilon)
        line = Charge(repr(self.query), mechanism.name, epsilon, self.distance(schema), mechanism.scale)
        return [replace(line, experimental=True) if mechanism.experimental else line]


AnyStep = Step[Any, Any]


@dataclass(frozen=True)
class Lot:
    """Alternatives, each a list of steps, of which a lot deals every record at most `met`, without looking at it.

    Guarantee  the answers of all alternatives together cost the sum of the `met` dearest alternatives.
    Proof      fix all lots; their law is free of the data. A record enters at most `met` alternatives. Add-remove: it
               changes the input of these alone, each an addition or a removal, which its steps cover; losses add.
               Replace-one: let the new record draw the lot of the old one, which has the same law: the same
               alternatives change, each by a replacement, which its steps cover. Averaging over lots keeps the ratio.
    Test       tests/doors/test_trees.py::test_dealt_records_cost_one_tree,
               tests/perturbation/test_local_perturbation.py::test_chosen_components_cost_epsilon_together
    """

    words: str
    alternatives: tuple[tuple[AnyStep, ...], ...]
    met: int = 1

    def check(self, schema: Schema) -> None:
        """Raise ParameterError unless every step of every alternative keeps to its share."""
        if not 1 <= self.met <= len(self.alternatives):
            raise ParameterError(f"a record meets {self.met} of {len(self.alternatives)} alternatives; need some")
        for step in (step for steps in self.alternatives for step in steps):
            step.check(schema)

    def charges(self, schema: Schema) -> list[Charge]:
        """The lines of the alternatives that cost most; of single steps, one line with what they cost together."""
        dearest = sorted(self.alternatives, key=_cost, reverse=True)[: self.met]
        lines = [line for steps in dearest for step in steps for line in step.charges(schema)]
        if any(len(steps) != 1 for steps in self.alternatives):
            return [replace(line, query=f"{self.words}: {line.query}") for line in lines]
        every = [line for (step,) in self.alternatives for line in step.charges(schema)]
        asked = {line.query for line in every}
        return [
            Charge(
                f"{self.words}: {asked.pop()}" if len(asked) == 1 else self.words,
                " or ".join(dict.fromkeys(line.mechanism for line in every)),
                total([line.epsilon for line in lines]),
                max(line.sensitivity for line in every),
                max(line.scale for line in every),
                any(line.experimental for line in every),
            )
        ]


def _cost(steps: Sequence[AnyStep]) -> Epsilon:
    return total([as_epsilon(step.epsilon) for step in steps])


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


def laplace_steps(
    queries: Sequence[TableQuery], shares: Sequence[Epsilon], schema: Schema
) -> list[Step[TableQuery, DiscreteLaplace]]:
    """Answer each query by discrete Laplace noise calibrated to its sensitivity and its share."""
    return [
        Step(query, DiscreteLaplace.calibrated(share, query.distance(schema)), share)
        for query, share in zip(queries, shares, strict=True)
    ]
