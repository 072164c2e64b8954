"""The parameters that trees and forests share, and the number of records that both plan by."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from discreet.doors.passage import Spending
from discreet.doors.tree_plans import Plan
from discreet.errors import ParameterError
from discreet.models.parameters import check_integer, check_one_of
from discreet.models.record_count import RecordCount, known_records
from discreet.models.trees import plan as planning
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.queries.trees import MOST_BINS, SCORES
from discreet.schema import Schema
from discreet.sources import Source


def records_to_plan(
    source: Source,
    schema: Schema,
    epsilon: Epsilon,
    plans: Callable[[Epsilon, int], Sequence[Plan]],
    ledger: Spending,
    rng: Randomness,
    purpose: str,
    *,
    needed: bool,
) -> RecordCount:
    """Return the number of records that plans go by; buy it only if it is needed and not declared.

    The plans for few and for many records are rehearsed before anything is paid.
    """

    def rehearse(rest: Epsilon) -> None:
        for records in (1, planning.MANY_RECORDS):
            for plan in plans(rest, records):
                plan.steps(schema)

    if not needed or epsilon == math.inf:
        return RecordCount(schema.records or planning.MANY_RECORDS, epsilon)
    return known_records(source, schema, epsilon, rehearse, ledger, rng, purpose)


def check_tree_parameters(model: Any, structures: Sequence[str]) -> None:
    """Raise ParameterError if a parameter that trees and forests share is out of range."""
    check_one_of("structure", model.structure, structures)
    check_one_of("criterion", model.criterion, ("auto", *SCORES))
    if model.max_depth is not None:
        check_integer("max_depth", model.max_depth, 0, planning.MOST_DEPTH, or_="None")
    check_integer("thresholds", model.thresholds, 1, MOST_BINS - 1)
    if isinstance(model.prune, bool) or not isinstance(model.prune, Real) or not 0 <= float(model.prune) < math.inf:
        raise ParameterError(f"prune={model.prune!r}; need a number of standard deviations, 0 or more")
