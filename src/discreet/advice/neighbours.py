"""How much each case tells about another table: the more alike their public facts, the more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.advice.cases import Case
from discreet.advice.facts import Facts

Values = NDArray[np.float64]

FEWEST = 5
"""At least this many cases have a say, however far away they are."""


def distances(facts: Facts, cases: Sequence[Case]) -> Values:
    """The distance of each case from a table."""
    here = facts.coordinates()
    return np.array([np.linalg.norm(case.facts.coordinates() - here) for case in cases])


def weights(facts: Facts, cases: Sequence[Case]) -> Values:
    """Weights that sum to 1: a Gaussian of the distance, of width 1 or of the distance to the fifth nearest case."""
    apart = distances(facts, cases)
    width = max(1.0, float(np.sort(apart)[min(FEWEST, len(apart)) - 1]))
    bell = np.exp(-((apart / width) ** 2) / 2)
    return np.asarray(bell / bell.sum())


def peers(facts: Facts, cases: Sequence[Case]) -> NDArray[np.intp]:
    """The comparable cases: those with two classes if the table has two, else those with more; all if there are none.

    Trees and hyperplanes do best with two classes. With more, each class has fewer records and leaves, and each
    hyperplane a smaller epsilon; counts by class are not affected, since each record has one class.
    """
    alike = [place for place, case in enumerate(cases) if (case.facts.classes == 2) == (facts.classes == 2)]
    return np.array(alike or range(len(cases)), dtype=np.intp)


def quantile(values: Values, weight: Values, level: float) -> float:
    """The weighted quantile: the smallest value with at least this fraction of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    enough = np.cumsum(weight[order]) >= level * weight.sum() - 1e-12
    return float(values[order][int(np.argmax(enough))])
