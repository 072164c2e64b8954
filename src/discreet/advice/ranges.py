"""The range of accuracy to expect: quantiles over the cases, widened until they hold four times in five.

Accuracies are compared on a scale from 0 (as good as guessing a random class) to 1 (no mistakes).

Quantiles alone would be too narrow, since the next table may be unlike all cases. Leaving out one case after another
shows how much too narrow: the widening is the smallest one with which the ranges would have held four times in five
(conformalised quantiles: Romano, Patterson and Candès 2019; with this few cases a guide, not a guarantee).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from discreet.advice.cases import ADVISED, Case, rising
from discreet.advice.facts import Facts
from discreet.advice.neighbours import Values, quantile, weights

NOMINAL = 0.8
"""The fraction of tables whose accuracy a range should hold."""


def expected(facts: Facts, signal: float, cases: Sequence[Case]) -> Values:
    """The low end, the middle and the high end of the accuracy of each model (rows)."""
    wider = widening(tuple(cases))
    ranges = quantiles(facts, signal, cases) + np.array([-wider, 0.0, wider])
    floor = 1 / facts.classes
    return np.asarray(np.clip(floor + (1 - floor) * ranges, 0.0, 1.0))


def quantiles(facts: Facts, signal: float, cases: Sequence[Case]) -> Values:
    """The same without widening, on the scale from 0 to 1."""
    weight = weights(facts, cases)
    scaled = np.array([_scaled(case, rising(case).at(signal)) for case in cases])
    levels = ((1 - NOMINAL) / 2, 0.5, (1 + NOMINAL) / 2)
    return np.array([[quantile(scaled[:, model], weight, level) for level in levels] for model in range(len(ADVISED))])


def _scaled(case: Case, accuracies: Values) -> Values:
    floor = 1 / case.facts.classes
    return (accuracies - floor) / (1 - floor)


@lru_cache(maxsize=64)
def widening(cases: tuple[Case, ...]) -> float:
    """How far both ends of a range have to move, measured on each case in turn, for ranges to hold often enough."""
    missed: list[float] = []
    for place, left_out in enumerate(cases):
        others = [*cases[:place], *cases[place + 1 :]]
        for signal in left_out.signals.tolist():
            low, _, high = quantiles(left_out.facts, signal, others).T
            accuracies = _scaled(left_out, left_out.at(signal))
            missed += np.maximum(low - accuracies, accuracies - high).tolist()
    return float(np.quantile(missed, NOMINAL)) if missed else 0.0
