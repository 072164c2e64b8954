"""The door for choices: the columns that tell the most about the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from discreet.doors.passage import Payer, passage
from discreet.errors import DiscreetError, FileError, ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import Randomness
from discreet.privacy.receipt import Receipt
from discreet.privacy.steps import Step, split_evenly
from discreet.queries.tables import ColumnScore, FractionScore, MajorityScore
from discreet.schema import Schema
from discreet.sources import Source
from discreet.storage.envelope import Envelope, as_text

FILE = Envelope("discreet/choice", 1, "a choice of columns by discreet", "a count database")


@dataclass(frozen=True)
class Selection:
    """The columns that were chosen, best first as far as the noise allows, and the receipt of the choice.

    A round that a FractionScore wins chooses no column.
    """

    columns: tuple[str, ...]
    receipt: Receipt

    def to_dict(self) -> dict[str, Any]:
        """Plain data, sealed: the columns and the receipt."""
        return FILE.wrap({"columns": list(self.columns), "receipt": self.receipt.to_dict()})

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], name: str = "the choice") -> Selection:
        """The inverse of `to_dict`; FileError if it was altered."""
        FILE.check(content, name)
        try:
            columns, receipt = tuple(map(as_text, content["columns"])), Receipt.from_dict(content["receipt"])
            if not receipt.charges:
                raise ValueError("no charge")
        except (DiscreetError, KeyError, TypeError, ValueError, AttributeError):
            raise FileError(f"{name} was altered or damaged; get it again from its owner") from None
        return cls(columns, receipt)


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
    if not 1 <= wanted <= len(candidates):
        raise ParameterError(f"wanted={wanted}; need an integer from 1 to {len(candidates)}, the number of candidates")
    candidates = tuple(candidates)
    for each in candidates:
        if type(each) not in get_args(ColumnScore):  # a subclass could state any distance
            raise ParameterError(
                f"{type(each).__name__} is not a score of a column; need MajorityScore or FractionScore"
            )
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
