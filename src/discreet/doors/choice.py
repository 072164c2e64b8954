"""The door for choices: the columns that tell the most about the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from discreet.doors.passage import Payer, passage
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
    """The columns that were chosen, best first as far as the noise allows, and the receipt of the choice.

    A round that a FractionScore wins chooses no column.
    """

    columns: tuple[str, ...]
    receipt: Receipt


@dataclass(frozen=True, repr=False)
class Round:
    """The query of one round: which candidate is best, after `taken` of them were chosen in earlier rounds."""

    candidates: tuple[ColumnScore, ...]
    taken: int

    def __repr__(self) -> str:
        """The words on the receipt. They are public: they do not tell which candidates won before."""
        scores = [each for each in self.candidates if isinstance(each, FractionScore)]
        columns = len(self.candidates) - len(scores) - self.taken
        return " or ".join(
            [f"best of {columns} columns", *(f"{each.right}/{each.of} of the records" for each in scores)]
        )

    def distance(self, schema: Schema) -> int:
        """How much one score's lead over another can change between neighbours: the largest of all candidates."""
        return max(each.distance(schema) for each in self.candidates)


def select(
    source: Source,
    schema: Schema,
    candidates: Sequence[ColumnScore],
    wanted: int,
    epsilon: Epsilon,
    ledger: Payer,
    rng: Randomness,
    purpose: str = "selection",
) -> Selection:
    """Pay, then count, then choose `wanted` of the candidates one after another.

    Guarantee  the choice is ε-DP under the schema's adjacency.
    Proof      each round is permute-and-flip among the candidates that are left, at epsilon / wanted, calibrated to how
               much their leads can change (MajorityScore, FractionScore). Which candidates are left follows from
               earlier choices alone. The losses of the rounds add up.
    Order      that of the passage.
    """
    candidates = tuple(candidates)
    steps = planned_choice(schema, candidates, wanted, epsilon)
    reading, receipt = passage(source, schema, steps, ledger, rng, purpose)
    exact = reading.count([each.cells(schema) for each in candidates])
    left, scores = list(candidates), [each.score(exact.counts[each.cells(schema)]) for each in candidates]
    chosen: list[ColumnScore] = []
    for step in steps:
        place = step.mechanism.choose(np.array(scores, dtype=np.int64), rng)
        chosen.append(left.pop(place))
        del scores[place]
    columns = tuple(each.column for each in chosen if isinstance(each, MajorityScore))
    return Selection(columns, receipt)


def planned_choice(
    schema: Schema, candidates: Sequence[ColumnScore], wanted: int, epsilon: Epsilon
) -> list[Step[Round, PermuteAndFlip]]:
    """The steps of a choice; ParameterError if it cannot be made. Nothing is read or charged."""
    candidates = tuple(candidates)
    if not 1 <= wanted <= len(candidates):
        raise ParameterError(f"wanted={wanted}; need an integer from 1 to {len(candidates)}, the number of candidates")
    for each in candidates:
        if type(each) not in get_args(ColumnScore):  # a subclass could state any distance
            raise ParameterError(
                f"{type(each).__name__} is not a score of a column; need MajorityScore or FractionScore"
            )
    steps = []
    for taken, share in enumerate(split_evenly(epsilon, wanted)):
        asked = Round(candidates, taken)
        steps.append(Step(asked, PermuteAndFlip.calibrated(share, asked.distance(schema)), share))
    return steps
