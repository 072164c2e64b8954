"""The number of records by which models plan: declared in the schema, or bought for a small share of ε."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from discreet.doors.counts import CountStep, release
from discreet.doors.passage import Spending
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import laplace_steps, split_by_weight
from discreet.queries.tables import Total
from discreet.released.statistics import Answers, NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source

COUNTING = 0.05
"""Share of ε that buys the number of records where the schema declares none. The rows "n not declared" of
benchmarks/accuracy.py and benchmarks/trees.py show what this costs in accuracy."""
CAREFUL_COUNTING = 0.1
"""The share for a plan that a wrong number harms more than a smaller ε: that of naive Bayes asks too many columns, or a
wrong number of bins. The row "n not declared" of benchmarks/accuracy.py shows what this costs in accuracy."""
MOST_RECORDS = 10**12
"""A bought number is clamped to at most this: its noise has no bound, and no plan changes beyond this many records."""


class RecordCount(NamedTuple):
    """A number of records, the ε that is left, and the answers that were bought, if any."""

    records: int
    rest: Epsilon
    answers: Answers = ()


def known_records(
    source: Source,
    schema: Schema,
    epsilon: Epsilon,
    rehearse: Callable[[Epsilon], object],
    ledger: Spending,
    rng: Randomness,
    purpose: str,
    *,
    careful: bool = False,
) -> RecordCount:
    """Return the declared number of records, or the one that this fit has bought already, or buy a noisy one.

    Only the last costs anything. Before buying, `rehearse` makes the plans that may follow, at the ε that is left: if
    that ε is too small for them, it raises ParameterError and nothing has been spent.

    With `careful`, `CAREFUL_COUNTING` of ε buys the number, and it is at least the scale of its own noise: a smaller
    one is mostly noise, and a plan for more records than there are costs less than a plan for next to none. Both
    follow from ε alone.
    """
    known = ledger.records if schema.records is None else schema.records
    if known is not None:
        return RecordCount(known, epsilon)

    def buy(steps: Sequence[CountStep]) -> NoisyStatistics:
        return release(source, schema, steps, ledger, rng, purpose)

    source.check(schema)
    bought, _ = bought_records(schema, epsilon, rehearse, buy, careful=careful)
    ledger.records = bought.records
    return bought


def bought_records(
    schema: Schema,
    epsilon: Epsilon,
    rehearse: Callable[[Epsilon], object],
    buy: Callable[[Sequence[CountStep]], NoisyStatistics],
    *,
    careful: bool,
) -> tuple[RecordCount, NoisyStatistics]:
    """Buy a noisy number of records with `buy`, and return what was bought; see `known_records`."""
    share = CAREFUL_COUNTING if careful else COUNTING
    counting, rest = split_by_weight(epsilon, [share, 1 - share])
    rehearse(rest)
    steps = laplace_steps([Total()], [counting], schema)
    noisy = buy(steps)
    least = max(1, int(steps[0].mechanism.scale)) if careful else 1
    records = min(max(least, int(noisy[Total()].values.item())), MOST_RECORDS)
    return RecordCount(records, rest, noisy.tables), noisy
