"""The only door between the data and everything that is published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.budget import Charge, Epsilon, Ledger
from discreet.mechanisms.selection import PermuteAndFlip
from discreet.plan import Step, split_evenly
from discreet.queries import MajorityScore
from discreet.randomness import Randomness
from discreet.schema import Adjacency, Schema
from discreet.sources import Source
from discreet.statistics import NoisyStatistics, NoisyTable, Receipt


def release(
    source: Source, schema: Schema, plan: Sequence[Step], ledger: Ledger, rng: Randomness, purpose: str = "release"
) -> NoisyStatistics:
    """Charge the whole plan, then read, then draw noise.

    Guarantee  the result is ε-DP under the schema's adjacency, ε the sum of the steps' epsilons.
    Proof      each step's mechanism is ε_j-DP at the query's sensitivity (mechanisms/, queries.py); what is
               released depends on the data through those tables alone; losses add (sequential composition).
    Order      the structure of the table is checked first (it is public), so that a wrong column costs
               nothing; then the ledger is charged for the whole plan; only then is a value read. If reading
               fails the budget is spent: whether it failed could depend on the data. `purpose` names the ledger's
               entry.
    """
    source.check(schema)
    for step in plan:
        step.check(schema)
    charges = tuple(step.charge(schema) for step in plan)
    ledger.charge(purpose, charges)
    exact = source.count(sorted({step.query.cells(schema) for step in plan}, key=repr), schema)
    tables = [
        (
            step.query,
            NoisyTable(step.mechanism.perturb(exact.answer(step.query, schema), rng), step.mechanism.variance),
        )
        for step in plan
    ]
    return NoisyStatistics(tables, Receipt(schema.adjacency, charges, rng.seeded, schema.hash))


@dataclass(frozen=True)
class Selection:
    """The columns that were chosen, best first as far as the noise allows, and what the choice cost."""

    columns: tuple[str, ...]
    receipt: Receipt


def select(
    source: Source,
    schema: Schema,
    candidates: Sequence[MajorityScore],
    wanted: int,
    epsilon: Epsilon,
    ledger: Ledger,
    rng: Randomness,
    purpose: str = "selection",
) -> Selection:
    """Charge, then read, then choose `wanted` of the candidates one after another.

    Guarantee  the choice is ε-DP under the schema's adjacency.
    Proof      each round is permute-and-flip among the candidates that are left, at epsilon / wanted, calibrated to
               scores that move by at most one, the same way under add-remove (MajorityScore); rounds add up.
    Order      as for `release`.
    """
    source.check(schema)
    monotone = schema.adjacency is Adjacency.ADD_REMOVE
    shares = split_evenly(epsilon, wanted)
    mechanisms = [PermuteAndFlip.calibrated(share, 1, monotone=monotone) for share in shares]
    charges = tuple(
        Charge(f"best of {len(candidates) - place} columns", mechanism.name, share, 1, mechanism.scale)
        for place, (mechanism, share) in enumerate(zip(mechanisms, shares, strict=True))
    )
    ledger.charge(purpose, charges)
    exact = source.count(sorted({each.cells(schema) for each in candidates}, key=repr), schema)
    left = list(candidates)
    chosen = []
    for mechanism in mechanisms:
        scores = np.array([each.score(exact.counts[each.cells(schema)]) for each in left], dtype=np.int64)
        chosen.append(left.pop(mechanism.choose(scores, rng)).column)
    return Selection(tuple(chosen), Receipt(schema.adjacency, charges, rng.seeded, schema.hash))
