"""What a release is made of: steps, each a query with its mechanism and its share of epsilon.

A step states what it may cost. What it does cost follows from its query and its mechanism; the passage
(doors/passage.py) compares the two before anything is charged.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, Generic, Protocol, TypeVar

from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon, as_epsilon, total
from discreet.privacy.mechanisms import MECHANISMS, Mechanism
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.receipt import Charge
from discreet.queries.crossed import CrossedCounts
from discreet.queries.predicates import exclude_each_other, listed
from discreet.queries.tables import TableQuery
from discreet.schema import Adjacency, Schema


class Query(Protocol):
    """Anything that is asked about the records; its `repr` describes it on a receipt.

    The queries whose answers are stored in files are a closed list: `StoredQuery` in queries/tables.py.
    """

    def distance(self, schema: Schema) -> int:
        """The largest distance between the mechanism's inputs for two neighbours, in the units of its `loss`."""
        ...


Q_co = TypeVar("Q_co", bound=Query, covariant=True)
M_co = TypeVar("M_co", bound=Mechanism, covariant=True)


@dataclass(frozen=True)
class Step(Generic[Q_co, M_co]):
    """One query, the mechanism that answers it, and its share of epsilon.

    Guarantee  the answer of a step that passes `check` is `epsilon`-DP under the schema's adjacency.
    Proof      the mechanism's inputs for two neighbours are at most `query.distance(schema)` apart (proof in the
               query), so the answer is `mechanism.loss(distance)`-DP (proof in the mechanism). `check` requires, in
               exact arithmetic, that this loss is at most `epsilon`.
    Test       tests/doors/test_passage.py::test_too_little_noise_is_refused_at_every_door
    """

    query: Q_co
    mechanism: M_co
    epsilon: Epsilon

    def check(self, schema: Schema) -> None:
        """Raise ParameterError unless the mechanism is proved and costs at most the step's share."""
        if type(self.mechanism) not in MECHANISMS:
            proved = ", ".join(each.__name__ for each in MECHANISMS)
            raise ParameterError(
                f"{type(self.mechanism).__name__} is not a mechanism with a proof; need one of: {proved}"
            )
        if not self.mechanism.loss(self.distance(schema)) <= as_epsilon(self.epsilon):
            raise ParameterError(
                f"{self.mechanism!r} on {self.query!r} costs more than its share of epsilon; need more noise or a "
                "larger share"
            )

    def distance(self, schema: Schema) -> int:
        """The query's distance as a Python integer, which cannot overflow."""
        distance = operator.index(self.query.distance(schema))
        if distance < 0:
            raise ParameterError(f"{self.query!r} has a negative distance ({distance}); need an integer >= 0")
        return distance

    def charges(self, schema: Schema) -> list[Charge]:
        """The line that this step adds to the receipt."""
        mechanism, epsilon = self.mechanism, as_epsilon(self.epsilon)
        line = Charge(repr(self.query), mechanism.name, epsilon, self.distance(schema), mechanism.scale)
        return [replace(line, experimental=True) if mechanism.experimental else line]


AnyStep = Step[Any, Any]
"""A step with any query and any mechanism."""


@dataclass(frozen=True)
class Lot:
    """Alternatives, each a list of steps; every record takes part in at most `met` of them, drawn by lot.

    The lots are drawn without looking at the records.

    Guarantee  the answers of all alternatives together cost the sum of the `met` most expensive alternatives.
    Proof      fix all lots; their law does not depend on the data. A record enters at most `met` alternatives.
               Add-remove: it changes the input of these alternatives only, each by an addition or a removal, which
               the alternative's steps cover; losses add. Replace-one: let the new record use the lot of the old one,
               which has the same law. Then the same alternatives change, each by a replacement, which its steps cover.
               The ratio holds for all lots, so it holds on average over them.
    Test       tests/doors/test_trees.py::test_dealt_records_cost_one_tree,
               tests/perturbation/test_local_perturbation.py::test_chosen_components_cost_epsilon_together
    """

    words: str
    alternatives: tuple[tuple[AnyStep, ...], ...]
    met: int = 1

    def check(self, schema: Schema) -> None:
        """Raise ParameterError unless every step of every alternative passes its own check."""
        if not 1 <= self.met <= len(self.alternatives):
            raise ParameterError(
                f"each record takes part in {self.met} of {len(self.alternatives)} alternatives; need at least 1, "
                "and at most all of them"
            )
        for step in (step for steps in self.alternatives for step in steps):
            step.check(schema)

    def charges(self, schema: Schema) -> list[Charge]:
        """The lines of the most expensive alternatives; if all alternatives are single steps, their sum as one line."""
        costliest = sorted(self.alternatives, key=_cost, reverse=True)[: self.met]
        lines = [line for steps in costliest for step in steps for line in step.charges(schema)]
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


@dataclass(frozen=True)
class Apart:
    """Counts of records that pass predicates no record can pass together: each alternative is one step.

    Guarantee  the answers of all alternatives together cost, under add-remove, the largest share among them. Under
               replace-one they cost the larger of two numbers: the largest share, and the sum of the two largest
               losses at the distance that one added or removed record makes (`unit`; bounded by `_moved`).
    Proof      a record enters the table of at most one alternative, since `check` requires that no record can pass two
               of their predicates (`are_disjoint`, from the predicates and the schema alone). Add-remove: one table
               changes, and its step covers that; the others have the same input. Replace-one: the old record leaves
               one table and the new one enters one. If it is the same table, or only one of the two enters any, one
               table has the tables of two neighbours, and its step covers that. If there are two, each changes by one
               record's addition or removal, an L1 distance of at most `unit`: the two losses at that distance add up.
    Test       tests/doors/test_questions.py::test_disjoint_questions_cost_the_largest,
               ::test_a_replaced_record_can_leave_one_predicate_and_enter_another, with mutants
    """

    alternatives: tuple[Step[CrossedCounts, DiscreteLaplace], ...]

    def check(self, schema: Schema) -> None:
        """Raise ParameterError unless every step passes its own check, and no record can enter two of them."""
        if not self.alternatives:
            raise ParameterError("there is no step among these alternatives; need at least one")
        for step in self.alternatives:
            if type(step) is not Step or type(step.query) is not CrossedCounts:  # a subclass could name any cells
                raise ParameterError(f"{step!r} does not count by predicates; need a step that asks CrossedCounts")
            step.check(schema)
        passing = [(step.query, step.query.where.spans(schema)) for step in self.alternatives]
        for (first, ours), (second, theirs) in combinations(passing, 2):
            if not exclude_each_other(ours, theirs):
                raise ParameterError(
                    f"a record can pass the predicates of both {first!r} and {second!r}; need predicates "
                    "that exclude each other, or pay for each"
                )

    def charges(self, schema: Schema) -> list[Charge]:
        """One line for all of them."""
        lines = [line for step in self.alternatives for line in step.charges(schema)]
        asked = listed([line.query for line in lines], quoted=False)
        words = f"{len(lines)} disjoint: {asked}" if len(lines) > 1 else asked
        names = " or ".join(dict.fromkeys(line.mechanism for line in lines))
        distance, scale = max(line.sensitivity for line in lines), max(line.scale for line in lines)
        return [Charge(words, names, self._cost(schema), distance, scale)]

    def _cost(self, schema: Schema) -> Epsilon:
        largest = max(as_epsilon(step.epsilon) for step in self.alternatives)
        if schema.adjacency is Adjacency.ADD_REMOVE:
            return largest
        moved = sorted((_moved(step, schema) for step in self.alternatives), reverse=True)
        return max(largest, total(moved[:2]))


def _moved(step: Step[CrossedCounts, DiscreteLaplace], schema: Schema) -> Epsilon:
    """What a step costs if one record enters or leaves its table: the loss is proportional to the distance, and at the
    query's own distance it is at most the share."""
    return as_epsilon(step.epsilon) * Fraction(step.query.unit(schema), step.distance(schema))


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
    """Answer each query with discrete Laplace noise, calibrated to the query's sensitivity and share."""
    return [
        Step(query, DiscreteLaplace.calibrated(share, query.distance(schema)), share)
        for query, share in zip(queries, shares, strict=True)
    ]
