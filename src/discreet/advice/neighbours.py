"""How much each case tells about another table: more, the more alike their public facts are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.advice.cases import Case
from discreet.advice.facts import Facts

Values = NDArray[np.float64]

FEWEST = 5
"""At least so many cases are listened to: the nearest, however far."""


def distances(facts: Facts, cases: Sequence[Case]) -> Values:
    """How unlike the cases are."""
    here = facts.coordinates()
    return np.array([np.linalg.norm(case.facts.coordinates() - here) for case in cases])


def weights(facts: Facts, cases: Sequence[Case]) -> Values:
    """Weights that sum to 1: a bell around the table, as wide as 1 or as the way to the fifth nearest case."""
    apart = distances(facts, cases)
    width = max(1.0, float(np.sort(apart)[min(FEWEST, len(apart)) - 1]))
    bell = np.exp(-((apart / width) ** 2) / 2)
    return np.asarray(bell / bell.sum())


def peers(facts: Facts, cases: Sequence[Case]) -> NDArray[np.intp]:
    """The cases that have two classes if the table has two, and more if it has more; all if there are none.

    Two classes are where a tree and a hyperplane are at home; with more, the records of a class, the leaves and the
    epsilon of each hyperplane become fewer, while counts by class lose nothing, since each record has one class.
    """
    alike = [place for place, case in enumerate(cases) if (case.facts.classes == 2) == (facts.classes == 2)]
    return np.array(alike or range(len(cases)), dtype=np.intp)


def quantile(values: Values, weight: Values, share: float) -> float:
    """The least value that has at least the given share of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order]) >= share * weight.sum() - 1e-12
    return float(values[order][int(np.argmax(reached))])
