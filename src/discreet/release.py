"""The only door between the data and everything that is published."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.budget import Ledger
from discreet.plan import Step
from discreet.randomness import Randomness
from discreet.schema import Schema
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
