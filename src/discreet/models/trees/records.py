"""What trees and forests need before they are planned: valid parameters, and a number of records."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

from discreet.doors.counts import release
from discreet.doors.passage import Spending
from discreet.doors.tree_plans import Plan
from discreet.errors import ParameterError
from discreet.models.trees import plan as planning
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import laplace_steps, split_by_weight
from discreet.queries.tables import Total
from discreet.queries.trees import MOST_BINS, SCORES
from discreet.released.statistics import Answers
from discreet.schema import Schema
from discreet.sources import Source


def known_records(
    source: Source,
    schema: Schema,
    epsilon: Epsilon,
    plans: Callable[[Epsilon, int], Sequence[Plan]],
    ledger: Spending,
    rng: Randomness,
    purpose: str,
    *,
    needed: bool,
) -> tuple[Answers, Epsilon, int]:
    """The answer that was bought, if any, the epsilon that is left, and the number of records that plans go by.

    A declared number costs nothing; where none is declared and one is needed, a noisy one is bought. Before that, plans
    for few and for many records are costed, so that an epsilon that is too small for them is refused unspent.
    """
    if schema.records is not None or not needed or epsilon == math.inf:
        return (), epsilon, schema.records or planning.MANY_RECORDS
    counting, rest = split_by_weight(epsilon, [planning.COUNTING, 1 - planning.COUNTING])
    source.check(schema)
    for records in (1, planning.MANY_RECORDS):
        for plan in plans(rest, records):
            plan.steps(schema)
    noisy = release(source, schema, laplace_steps([Total()], [counting], schema), ledger, rng, purpose)
    return noisy.tables, rest, min(max(1, int(noisy[Total()].values.item())), planning.MANY_RECORDS)


def check_tree_parameters(model: Any, structures: Sequence[str]) -> None:
    """Raise ParameterError if a parameter that trees and forests share is out of range."""
    if model.structure not in structures:
        raise ParameterError(f"structure={model.structure!r}; need one of: {', '.join(structures)}")
    if model.criterion not in ("auto", *SCORES):
        raise ParameterError(f"criterion={model.criterion!r}; need one of: auto, {', '.join(SCORES)}")
    if model.max_depth is not None and not is_between(model.max_depth, 0, planning.MOST_DEPTH):
        raise ParameterError(f"max_depth={model.max_depth!r}; need None or an integer from 0 to {planning.MOST_DEPTH}")
    if not is_between(model.thresholds, 1, MOST_BINS - 1):
        raise ParameterError(f"thresholds={model.thresholds!r}; need an integer from 1 to {MOST_BINS - 1}")
    if isinstance(model.prune, bool) or not isinstance(model.prune, Real) or not 0 <= float(model.prune) < math.inf:
        raise ParameterError(f"prune={model.prune!r}; need a number of standard deviations, 0 or more")


def is_between(value: object, least: int, most: int) -> bool:
    """Whether a value is an integer (no truth value) within bounds."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most
