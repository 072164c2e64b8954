"""The door for one party's part of a secure sum: counts with a part of the noise (PolyaShare), under a mask."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.doors.counts import check_counted
from discreet.doors.passage import Payer, passage
from discreet.errors import ParameterError
from discreet.privacy.mechanisms.polya import PolyaShare
from discreet.privacy.randomness import Randomness
from discreet.privacy.receipt import Receipt
from discreet.privacy.steps import Step
from discreet.queries.tables import TableQuery, shape
from discreet.schema import Schema
from discreet.sources import Source


def share(
    source: Source,
    schema: Schema,
    plan: Sequence[Step[TableQuery, PolyaShare]],
    mask: NDArray[np.uint64],
    ledger: Payer,
    rng: Randomness,
    purpose: str,
) -> tuple[list[NDArray[np.uint64]], Receipt]:
    """Pay, then count, then add a part of the noise and a mask, modulo 2**64: one party's part of a secure sum.

    Guarantee  the sum over parties whose masks cancel is ε-DP under the schema's adjacency for anyone who sees that sum
               and the noise of all parties but `honest` of them (PolyaShare). To anyone who does not know the mask, the
               result of this function is uniform; without the mask, one party's noise guarantees nothing.
    Proof      the mask is added modulo 2**64, a group: count plus noise plus mask is uniform if the mask is. In the sum
               the masks cancel, and the noise of the honest parties adds up to discrete Laplace noise plus independent
               noise.
    Order      that of the passage, and once: two answers under one mask would show their difference.
    """
    plan = tuple(plan)
    for step in plan:
        if not isinstance(step.mechanism, PolyaShare):
            raise ParameterError(
                f"{type(step.mechanism).__name__} is not masked; need PolyaShare, or the door `release`"
            )
        check_counted(step, schema)
    sizes = [math.prod(shape(step.query, schema)) for step in plan]
    if len(mask) != sum(sizes):
        raise ParameterError(
            f"the mask has {len(mask)} numbers, the tables have {sum(sizes)} cells; need one number per cell"
        )
    reading, receipt = passage(source, schema, plan, ledger, rng, purpose, once=True)
    exact = reading.count([step.query.cells(schema) for step in plan])
    hidden, start = [], 0
    for step, size in zip(plan, sizes, strict=True):
        noisy = step.mechanism.perturb(exact.answer(step.query, schema), rng).astype(np.int64).view(np.uint64)
        hidden.append(noisy + mask[start : start + size].reshape(noisy.shape))
        start += size
    return hidden, receipt
