"""How often advice was good: each case in turn is advised on by all others, and compared with what was measured."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from discreet.advice.advisor import CLOSE, standing
from discreet.advice.cases import Case


class Record(NamedTuple):
    """The number of first choices that were the best model or within one percentage point of it, and of all."""

    good: int
    of: int

    @property
    def fraction(self) -> float:
        """The fraction of choices that were good; 0 if there were none."""
        return self.good / max(1, self.of)


@lru_cache(maxsize=4)
def track_record(cases: tuple[Case, ...]) -> Record:
    """The record of first choices over all cases and epsilons, without simulation."""
    good = []
    for case in cases:
        others = [other for other in cases if other is not case]
        for signal, measured in zip(case.signals.tolist(), case.accuracies.T, strict=True):
            first = int(standing(case.facts, signal, others).shortfall.argmin())
            good.append(bool(measured.max() - measured[first] <= CLOSE + 1e-9))
    return Record(sum(good), len(good))
