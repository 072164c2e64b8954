"""The door for choices: the columns that tell most about the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from discreet.doors.passage import Account, passage
from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import Randomness
from discreet.privacy.receipt import Receipt
from discreet.privacy.steps import Step, split_evenly
from discreet.queries.tables import ColumnScore, FractionScore, MajorityScore
from discreet.schema import Schema
from discreet.sources import Source


@dataclass(frozen=True)
class Selection:
    """The columns that were chosen, best first as far as the noise allows, and what the choice cost.

    A round that was won by a FractionScore has chosen no column.
    """

    columns: tuple[str, ...]
    receipt: Receipt


@dataclass(frozen=True, repr=False)
class Round:
    """Which of the candidates is best, after so many have been taken away."""

    candidates: tuple[ColumnScore, ...]
    taken: int

    def __repr__(self) -> str:
        """What a receipt says: public, since it does not tell who won before."""
        shares = [
            f"{each.right}/{each.of} of the records" for each in self.candidates if isinstance(each, FractionScore)
        ]
        return " or ".join([f"best of {len(self.candidates) - len(shares) - self.taken} columns", *shares])

    def distance(self, schema: Schema) -> int:
        """How far one score's lead over another can move between neighbours: the most of all candidates."""
        return max(each.distance(schema) for each in self.candidates)


def select(
    source: Source,
    schema: Schema,
    candidates: Sequence[ColumnScore],
    wanted: int,
    epsilon: Epsilon,
    ledger: Account,
    rng: Randomness,
    purpose: str = "selection",
) -> Selection:
    """Pay, then count, then choose `wanted` of the candidates one after another.

    Guarantee  the choice is ε-DP under the schema's adjacency.
    Proof      each round is permute-and-flip among the candidates that are left, at epsilon / wanted, calibrated to how
               far their leads can move (MajorityScore, FractionScore); who is left follows from earlier choices alone;
               rounds add up.
    Order      that of the passage.
    """
    if not 1 <= wanted <= len(candidates):
        raise ParameterError(f"{wanted} of {len(candidates)} columns cannot be chosen; need at least 1 and no more")
    candidates = tuple(candidates)
    for each in candidates:
        if type(each) not in get_args(ColumnScore):  # a subclass could say anything of its distance
            raise ParameterError(f"{type(each).__name__} is not a score of a column; need one that is proved")
    steps = []
    for taken, share in enumerate(split_evenly(epsilon, wanted)):
        asked = Round(tuple(candidates), taken)
        steps.append(Step(asked, PermuteAndFlip.calibrated(share, asked.distance(schema)), share))
    reading, receipt = passage(source, schema, steps, ledger, rng, purpose)
    exact = reading.count([each.cells(schema) for each in candidates])
    left = list(candidates)
    chosen: list[ColumnScore] = []
    for step in steps:
        scores = np.array([each.score(exact.counts[each.cells(schema)]) for each in left], dtype=np.int64)
        chosen.append(left.pop(step.mechanism.choose(scores, rng)))
    columns = tuple(each.column for each in chosen if isinstance(each, MajorityScore))
    return Selection(columns, receipt)
