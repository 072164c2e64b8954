"""How much each case tells about another table: the more alike their public facts, the more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.advice.cases import Case, Values
from discreet.advice.facts import Facts

FEWEST = 5
"""At least this many cases have a say, however far away they are."""
MADE_UP = 0.5
"""The weight of a made-up table, where a real data set weighs 1; chosen by hand."""


def distances(facts: Facts, cases: Sequence[Case]) -> Values:
    """The distance of each case from a table."""
    here = facts.coordinates()
    return np.array([np.linalg.norm(case.facts.coordinates() - here) for case in cases])


def weights(facts: Facts, cases: Sequence[Case]) -> Values:
    """Weights that sum to 1: a Gaussian of the distance, of width 1 or of the distance to the fifth nearest case."""
    apart = distances(facts, cases)
    width = max(1.0, float(np.sort(apart)[min(FEWEST, len(apart)) - 1]))
    bell = np.exp(-((apart / width) ** 2) / 2) * np.array([1.0 if case.is_real else MADE_UP for case in cases])
    return np.asarray(bell / bell.sum())


def quantile(values: Values, weight: Values, level: float) -> Values:
    """The weighted quantile over the first axis: the least value with at least this fraction of weight up to it."""
    order = np.argsort(values, axis=0, kind="stable")
    enough = np.cumsum(weight[order], axis=0) >= level * weight.sum() - 1e-12
    first = np.expand_dims(enough.argmax(axis=0), 0)
    return np.asarray(np.take_along_axis(np.take_along_axis(values, order, axis=0), first, axis=0)[0])
