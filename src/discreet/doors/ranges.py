"""The door for ranges: the parts of their ranges that numbers fill, chosen one column after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.doors.passage import Payer, passage
from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import Randomness
from discreet.privacy.receipt import Receipt
from discreet.privacy.steps import Step, split_evenly
from discreet.queries.ranges import CANDIDATES, Filled
from discreet.schema import Schema
from discreet.schema.columns import Numeric
from discreet.sources import Source


@dataclass(frozen=True)
class Narrowing:
    """The columns that fill a part of their range, each with that part, and the receipt of the choices."""

    ranges: tuple[tuple[str, int, int], ...]
    receipt: Receipt


def narrow(
    source: Source,
    schema: Schema,
    asked: Sequence[Filled],
    epsilon: Epsilon,
    ledger: Payer,
    rng: Randomness,
    purpose: str = "ranges",
) -> Narrowing:
    """Pay, then count once, then choose the part of its range that each column fills.

    Guarantee  the choices are ε-DP under the schema's adjacency.
    Proof      each choice is permute-and-flip among public candidates, at epsilon / number of columns, calibrated to
               how much their leads can change (`Filled`). The losses of the columns add up.
    Order      that of the passage.
    Test       tests/doors/test_ranges.py::test_record_and_replay
    """
    steps = planned_narrowing(schema, asked, epsilon)
    reading, receipt = passage(source, schema, steps, ledger, rng, purpose)
    exact = reading.count([step.query.cells(schema) for step in steps])
    chosen = [CANDIDATES[_chosen(step, exact.counts[step.query.cells(schema)], rng)] for step in steps]
    pairs = zip(asked, chosen, strict=True)
    return Narrowing(tuple((each.column, *part) for each, (part, halvings) in pairs if halvings), receipt)


def planned_narrowing(schema: Schema, asked: Sequence[Filled], epsilon: Epsilon) -> list[Step[Filled, PermuteAndFlip]]:
    """The steps of a narrowing; ParameterError if it cannot be made. Nothing is read or charged."""
    if not asked or not all(type(each) is Filled for each in asked):  # a subclass could state any distance
        raise ParameterError("nothing to narrow; need numeric columns of the schema")
    if not all(each.column in schema.names and isinstance(schema[each.column], Numeric) for each in asked):
        raise ParameterError("nothing to narrow in a column that is not numeric; need numeric columns of the schema")
    shares = split_evenly(epsilon, len(asked))
    return [
        Step(each, PermuteAndFlip.calibrated(share, each.distance(schema)), share)
        for each, share in zip(asked, shares, strict=True)
    ]


def _chosen(step: Step[Filled, PermuteAndFlip], counts: object, rng: Randomness) -> int:
    return step.mechanism.choose(step.query.scores(counts), rng)  # type: ignore[arg-type]
