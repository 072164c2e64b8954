"""How trees and forests ask the data: plan by the number of records, then grow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from discreet.doors.passage import Spending
from discreet.doors.tree_plans import Greedy, Plan
from discreet.doors.trees import grow
from discreet.models.record_count import RecordCount, known_records
from discreet.models.trees import plan as planning
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.released.statistics import Answers
from discreet.schema import Schema
from discreet.sources import Source

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
) -> Answers:
    """Return the answers about all trees; `plans` makes one plan per tree from an epsilon and a number of records.

    The number of records is bought only if the plans need it and the schema does not declare it; before that, the plans
    for few and for many records are rehearsed. Several greedy trees grow each on its own records, dealt at random.
    """

    def rehearsed(rest: Epsilon) -> None:
        rehearse(schema, rest, plans)

    known = RecordCount(schema.records or planning.MANY_RECORDS, epsilon)
    if needs_records and epsilon != math.inf:
        known = known_records(source, schema, epsilon, rehearsed, ledger, rng, purpose)
    planned = plans(known.rest, known.records)
    dealt = len(planned) > 1 and isinstance(planned[0], Greedy)
    return known.answers + grow(source, schema, planned, ledger, rng, purpose, dealt=dealt).tables


def rehearse(schema: Schema, epsilon: Epsilon, plans: Plans) -> None:
    """Raise ParameterError if epsilon is too small for the plans of few or of many records."""
    for records in (1, planning.MANY_RECORDS):
        for plan in plans(epsilon, records):
            plan.steps(schema)
