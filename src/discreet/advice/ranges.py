"""The accuracy to expect, and a range: means and quantiles over the cases, widened until they hold four times in five.

Accuracies are compared at the same signal per class, on a scale from 0 (as good as guessing a random class) to 1 (no
mistakes). The middle is the mean, since the expectation of a table is the mean over tables that may be like it.

Quantiles alone would be too narrow, since the next table may be unlike all cases. Leaving out one real data set after
another shows how much too narrow: the widening is the smallest one with which the ranges would have held often enough
(conformalised quantiles: Romano, Patterson and Candès 2019). It is a guarantee only for a table that is drawn like the
data sets; `benchmarks/advise.py` measures how ranges fare on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from discreet.advice.cases import Case, Values
from discreet.advice.facts import Facts
from discreet.advice.neighbours import quantile, weights

NOMINAL = 0.8
"""The fraction of tables whose accuracy a range should hold."""


def expected(facts: Facts, epsilons: Values, cases: Sequence[Case]) -> Values:
    """The low end, the middle and the high end (first axis) of the accuracy of each model at each epsilon."""
    low, middle, high = quantiles(facts, epsilons, cases)
    wider = widening(tuple(cases))
    floor = 1 / facts.classes
    ends = np.array([low - wider, np.clip(middle, low - wider, high + wider), high + wider])
    return np.asarray(np.clip(floor + (1 - floor) * ends, 0.0, 1.0))


def quantiles(facts: Facts, epsilons: Values, cases: Sequence[Case]) -> Values:
    """The same without widening, on the scale from 0 to 1."""
    weight = weights(facts, cases)
    signals = np.array([facts.signal_per_class(each) for each in epsilons])
    scaled = np.array([case.scaled(case.at(signals)) for case in cases])
    middle = np.tensordot(weight, scaled, axes=1)
    return np.array([quantile(scaled, weight, (1 - NOMINAL) / 2), middle, quantile(scaled, weight, (1 + NOMINAL) / 2)])


def largest_class(facts: Facts, cases: Sequence[Case]) -> tuple[float, float, float]:
    """The low end, the middle and the high end of the accuracy of always predicting the largest class.

    How large that class is cannot be known without the data: this is what it was in comparable cases, four times in
    five.
    """
    weight, floor = weights(facts, cases), 1 / facts.classes
    scaled = np.array([case.scaled(np.array([case.largest])) for case in cases])
    ends = [quantile(scaled, weight, (1 - NOMINAL) / 2), weight @ scaled, quantile(scaled, weight, (1 + NOMINAL) / 2)]
    low, middle, high = (floor + (1 - floor) * float(np.asarray(each).item()) for each in ends)
    return low, middle, high


@lru_cache(maxsize=256)
def widening(cases: tuple[Case, ...]) -> float:
    """How far both ends of a range have to move, measured on each real case in turn, for ranges to hold often enough.

    All epsilons and models of a case are left out together. With n cases, a range has to hold in ⌈.8 (n + 1)⌉ of n, so
    that it holds four times in five for the next one. Cases of which none is real are measured all.
    """
    tried = [case for case in cases if case.is_real] or list(cases)
    if len(cases) < 2:
        return 0.0
    missed: list[float] = []
    for left_out in tried:
        low, _, high = quantiles(left_out.facts, left_out.epsilons, [each for each in cases if each is not left_out])
        measured = left_out.scaled(left_out.accuracies)
        missed += np.maximum(low - measured, measured - high).ravel().tolist()
    enough = min(1.0, np.ceil(NOMINAL * (len(tried) + 1)) / len(tried))
    return float(np.quantile(missed, enough))
