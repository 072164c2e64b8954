"""How trees and forests ask the data: plan by the number of records, then grow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from discreet.doors.counts import release
from discreet.doors.passage import Spending
from discreet.doors.tree_plans import Greedy, Plan
from discreet.doors.trees import grow
from discreet.models.class_weights import in_integers
from discreet.models.record_count import RecordCount, known_records
from discreet.models.trees import plan as planning
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import Step, laplace_steps, split_by_weight
from discreet.queries.tables import ClassCounts, TableQuery
from discreet.queries.trees import HEAVIEST
from discreet.released.statistics import Answers
from discreet.schema import Schema
from discreet.sources import Source

WEIGHING = 0.03
"""Share of ε that buys the sizes of the classes, if they are to be balanced (recall: benchmarks/imbalance.py)."""
Plans = Callable[[Epsilon, int], Sequence[Plan]]
"""Makes one plan per tree from an epsilon and a number of records."""


def plan_and_grow(
    source: Source,
    schema: Schema,
    epsilon: Epsilon,
    plans: Plans,
    ledger: Spending,
    rng: Randomness,
    purpose: str,
    *,
    needs_records: bool,
    class_weight: Any = None,
) -> Answers:
    """Return the answers about all trees; `plans` makes one plan per tree from an epsilon and a number of records.

    The number of records is bought only if the plans need it and the schema does not declare it; before that, the plans
    for few and for many records are rehearsed. Several greedy trees grow each on its own records, dealt at random. If
    classes are to be balanced, a small share of ε buys their sizes, and greedy trees weigh classes when they compare
    splits.
    """

    def rehearsed(rest: Epsilon) -> None:
        rehearse(schema, rest, plans, class_weight)

    known = RecordCount(schema.records or planning.MANY_RECORDS, epsilon)
    if needs_records and epsilon != math.inf:
        known = known_records(source, schema, epsilon, rehearsed, ledger, rng, purpose)
    answers, (weighing, rest) = known.answers, _shares(known.rest, class_weight)
    weights = None if class_weight is None else in_integers(class_weight, schema)
    if weighing is not None:
        rehearsed(known.rest)
        sizes = release(source, schema, _sizes(weighing, schema), ledger, rng, purpose)
        answers += sizes.tables
        weights = in_integers(class_weight, schema, sizes[ClassCounts()].values.ravel())
    planned = [_weighted(plan, weights) for plan in plans(rest, known.records)]
    dealt = len(planned) > 1 and isinstance(planned[0], Greedy)
    return answers + grow(source, schema, planned, ledger, rng, purpose, dealt=dealt).tables


def rehearse(schema: Schema, epsilon: Epsilon, plans: Plans, class_weight: Any = None) -> None:
    """Raise ParameterError if epsilon is too small for the plans of few or of many records."""
    weighing, rest = _shares(epsilon, class_weight)
    if weighing is not None:
        _sizes(weighing, schema)
    weights = None if class_weight is None else (HEAVIEST,) * len(schema.classes)
    for records in (1, planning.MANY_RECORDS):
        for plan in plans(rest, records):
            _weighted(plan, weights).steps(schema)


def _shares(epsilon: Epsilon, class_weight: Any) -> tuple[Epsilon | None, Epsilon]:
    """Epsilon for the sizes of the classes, if they have to be known, and for the trees."""
    if not isinstance(class_weight, str):
        return None, epsilon
    weighing, rest = split_by_weight(epsilon, [WEIGHING, 1 - WEIGHING])
    return weighing, rest


def _sizes(epsilon: Epsilon, schema: Schema) -> list[Step[TableQuery, DiscreteLaplace]]:
    return laplace_steps([ClassCounts()], [epsilon], schema)


def _weighted(plan: Plan, weights: tuple[int, ...] | None) -> Plan:
    return replace(plan, weights=weights) if isinstance(plan, Greedy) else plan
