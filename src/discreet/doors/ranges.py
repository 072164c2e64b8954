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
    names: Sequence[str],
    favour: int,
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
    steps = planned_narrowing(schema, names, favour, epsilon)
    reading, receipt = passage(source, schema, steps, ledger, rng, purpose)
    exact = reading.count([step.query.cells(schema) for step in steps])
    chosen = [CANDIDATES[_chosen(step, exact.counts[step.query.cells(schema)], rng)] for step in steps]
    pairs = zip(names, chosen, strict=True)
    return Narrowing(tuple((name, *part) for name, (part, halvings) in pairs if halvings), receipt)


def planned_narrowing(
    schema: Schema, names: Sequence[str], favour: int, epsilon: Epsilon
) -> list[Step[Filled, PermuteAndFlip]]:
    """The steps of a narrowing; ParameterError if it cannot be made. Nothing is read or charged."""
    if not names or not all(name in schema.names and isinstance(schema[name], Numeric) for name in names):
        raise ParameterError("nothing to narrow; need numeric columns of the schema")
    asked = [Filled(name, favour) for name in names]
    shares = split_evenly(epsilon, len(asked))
    return [
        Step(each, PermuteAndFlip.calibrated(share, each.distance(schema)), share)
        for each, share in zip(asked, shares, strict=True)
    ]


def _chosen(step: Step[Filled, PermuteAndFlip], counts: object, rng: Randomness) -> int:
    return step.mechanism.choose(step.query.scores(counts), rng)  # type: ignore[arg-type]
