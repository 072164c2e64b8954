"""The only door between the data and everything that is published."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.budget import Charge, Epsilon, Ledger
from discreet.errors import ParameterError
from discreet.mechanisms.polya import PolyaShare
from discreet.mechanisms.selection import PermuteAndFlip
from discreet.plan import Step, split_evenly
from discreet.queries import MajorityScore, Score, ShareScore, shape
from discreet.randomness import Randomness
from discreet.schema import Adjacency, Schema
from discreet.sources import Source
from discreet.statistics import NoisyStatistics, NoisyTable, Receipt


def release(
    source: Source,
    schema: Schema,
    plan: Sequence[Step],
    ledger: Ledger,
    rng: Randomness,
    purpose: str = "release",
    *,
    once: bool = False,
) -> NoisyStatistics:
    """Charge the whole plan, then read, then draw noise.

    Guarantee  the result is ε-DP under the schema's adjacency, ε the sum of the steps' epsilons.
    Proof      each step's mechanism is ε_j-DP at the query's sensitivity (mechanisms/, queries.py); what is
               released depends on the data through those tables alone; losses add (sequential composition).
    Order      the structure of the table is checked first (it is public), so that a wrong column costs
               nothing; then the ledger is charged for the whole plan; only then is a value read. If reading
               fails the budget is spent: whether it failed could depend on the data. `purpose` names the ledger's
               entry; with `once`, a second release of that name is refused.
    """
    source.check(schema)
    for step in plan:
        if isinstance(step.mechanism, PolyaShare):
            raise ParameterError("a share of the noise guarantees nothing by itself; it leaves by `share`, masked")
        step.check(schema)
    charges = tuple(step.charge(schema) for step in plan)
    ledger.charge(purpose, charges, schema.adjacency, once=once)
    exact = source.count(sorted({step.query.cells(schema) for step in plan}, key=repr), schema)
    tables = [
        (
            step.query,
            NoisyTable(step.mechanism.perturb(exact.answer(step.query, schema), rng), step.mechanism.variance),
        )
        for step in plan
    ]
    return NoisyStatistics(tables, Receipt(schema.adjacency, charges, rng.seeded, schema.hash))


def share(
    source: Source,
    schema: Schema,
    plan: Sequence[Step],
    mask: NDArray[np.uint64],
    ledger: Ledger,
    rng: Randomness,
    purpose: str,
) -> tuple[list[NDArray[np.uint64]], Receipt]:
    """Charge, then read, then add a share of the noise and a mask, modulo 2**64: one party's part of a secure sum.

    Guarantee  the sum over parties whose masks cancel is ε-DP under the schema's adjacency for whoever sees that sum
               and all but `honest` of the parties' own shares (PolyaShare). What leaves here is uniform to who does
               not know the mask; without the mask a share guarantees nothing.
    Proof      the mask is added modulo 2**64, a group: exact plus noise plus mask is uniform if the mask is. In the sum
               the masks cancel, and the honest shares add up to discrete Laplace noise plus independent noise.
    Order      as for `release`, and once: two answers under one mask would show their difference.
    """
    source.check(schema)
    for step in plan:
        if not isinstance(step.mechanism, PolyaShare):
            raise ParameterError("only shares of noise are masked; other noise leaves by `release`")
        step.check(schema)
    sizes = [math.prod(shape(step.query, schema)) for step in plan]
    if len(mask) != sum(sizes):
        raise ParameterError(f"a mask of {len(mask)} numbers for {sum(sizes)} cells; need one a cell")
    charges = tuple(step.charge(schema) for step in plan)
    ledger.charge(purpose, charges, schema.adjacency, once=True)
    exact = source.count(sorted({step.query.cells(schema) for step in plan}, key=repr), schema)
    hidden, start = [], 0
    for step, size in zip(plan, sizes, strict=True):
        noisy = step.mechanism.perturb(exact.answer(step.query, schema), rng).astype(np.int64).view(np.uint64)
        hidden.append(noisy + mask[start : start + size].reshape(noisy.shape))
        start += size
    return hidden, Receipt(schema.adjacency, charges, rng.seeded, schema.hash)


@dataclass(frozen=True)
class Selection:
    """The columns that were chosen, best first as far as the noise allows, and what the choice cost.

    A round that was won by a ShareScore has chosen no column.
    """

    columns: tuple[str, ...]
    receipt: Receipt


def select(
    source: Source,
    schema: Schema,
    candidates: Sequence[Score],
    wanted: int,
    epsilon: Epsilon,
    ledger: Ledger,
    rng: Randomness,
    purpose: str = "selection",
) -> Selection:
    """Charge, then read, then choose `wanted` of the candidates one after another.

    Guarantee  the choice is ε-DP under the schema's adjacency.
    Proof      each round is permute-and-flip among the candidates that are left, at epsilon / wanted, calibrated to
               scores that move by at most one, the same way under add-remove (MajorityScore, ShareScore); who is left
               follows from earlier choices alone; rounds add up.
    Order      as for `release`.
    """
    if not 1 <= wanted <= len(candidates):
        raise ParameterError(f"{wanted} of {len(candidates)} columns cannot be chosen; need at least 1 and no more")
    source.check(schema)
    monotone = schema.adjacency is Adjacency.ADD_REMOVE
    shares = split_evenly(epsilon, wanted)
    mechanisms = [PermuteAndFlip.calibrated(share, 1, monotone=monotone) for share in shares]
    charges = tuple(
        Charge(_contest(candidates, place), mechanism.name, share, 1, mechanism.scale)
        for place, (mechanism, share) in enumerate(zip(mechanisms, shares, strict=True))
    )
    ledger.charge(purpose, charges, schema.adjacency)
    exact = source.count(sorted({each.cells(schema) for each in candidates}, key=repr), schema)
    left = list(candidates)
    chosen: list[Score] = []
    for mechanism in mechanisms:
        scores = np.array([each.score(exact.counts[each.cells(schema)]) for each in left], dtype=np.int64)
        chosen.append(left.pop(mechanism.choose(scores, rng)))
    columns = tuple(each.column for each in chosen if isinstance(each, MajorityScore))
    return Selection(columns, Receipt(schema.adjacency, charges, rng.seeded, schema.hash))


def _contest(candidates: Sequence[Score], place: int) -> str:
    """What a round chooses from, for the receipt: public, since it does not say who won before."""
    shares = [f"{each.right}/{each.of} of the records" for each in candidates if isinstance(each, ShareScore)]
    return " or ".join([f"best of {len(candidates) - len(shares) - place} columns", *shares])
