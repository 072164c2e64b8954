"""What follows from our runs and from Table 2 of Lopuhaä 2021: averages, upper bounds, and where ours is below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from discreet.research.comparison.grid import as_number
from discreet.research.reproduce.accuracies import Accuracies
from discreet.research.reproduce.data_sets import Facts
from discreet.research.reproduce.lopuhaa2021.models import FAMILIES, OTHERS
from discreet.research.reproduce.printed import printed

DATA = ("adult", "mushroom", "nursery", "spect", "house-votes-84", "skin")
EPSILONS = ("1e-11", "0.001", "0.005", "0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "1")
OURS = (*(rigorous for _, rigorous in FAMILIES.values()), *OTHERS)
PRINTED_EPSILONS = tuple(float(epsilon) for epsilon in EPSILONS)
"""The epsilons of the printed averages, whichever were run here."""

FOLDS = 10


class TableTwo(Accuracies):
    """The accuracies of an experiment, and their averages over all epsilons, as Table 2 has them."""

    @property
    def grid(self) -> list[float]:
        """The epsilons of private runs as numbers, smallest first."""
        return sorted({as_number(epsilon) for epsilon in self.epsilons})

    @property
    def whole(self) -> bool:
        """Whether the epsilons are those of the paper: only then can averages over them be compared."""
        return self.grid == list(PRINTED_EPSILONS)

    @property
    def all_data(self) -> bool:
        """Whether the data sets are those of the paper: only then can averages over them be compared."""
        return set(self.data) == set(DATA)

    def average(self, data: str, model: str) -> float | None:
        """The paper's average accuracy: over all epsilons of the grid; None if one of them is missing."""
        return average([self.mean(data, model, epsilon) for epsilon in self.grid])

    def average_error(self, data: str, model: str) -> float:
        """The standard error of that average; runs on overlapping training sets are taken as independent."""
        return math.hypot(*(self.error(data, model, epsilon) for epsilon in self.grid)) / max(len(self.grid), 1)

    def ratio(self, data: str, model: str) -> float | None:
        """The average divided by the accuracy without noise."""
        return divided(self.average(data, model), self.mean(data, model))

    def best_without_noise(self, data: str) -> float | None:
        """The largest accuracy of any model without noise."""
        found = [self.mean(data, model) for model in self.models(data)]
        return max((value for value in found if value is not None), default=None)


def average(values: Sequence[float | None]) -> float | None:
    """The mean; None if a value is missing or the list is empty."""
    present = [value for value in values if value is not None]
    return float(np.mean(present)) if present and len(present) == len(values) else None


def divided(value: float | None, by: float | None) -> float | None:
    """The quotient; None if a number is missing or the divisor is 0."""
    return value / by if value is not None and by else None


def table_two(measure: str) -> dict[tuple[str, str], float]:
    """Table 2 by data set and classifier: "no privacy", "average" or "ratio"; data "" is the column of averages."""
    return {(each.data, each.model): each.value for each in printed("lopuhaa2021", f"Table 2, {measure}")}


def ceiling(classes: int, distance: float, epsilon: float, best: float = 1.0) -> float:
    """Upper bound on the expected accuracy of an ε-DP learner, averaged over namings of the classes.

    Let D_k be the data D with the label j renamed to j + k modulo K, for k = 0 ... K - 1, training and test records
    alike. A classifier h is right on each test record under exactly one naming, so that its accuracies on the K test
    sets add up to 1. D_0 and D_k are `distance` adjacent steps apart at most (n under replace-one), so that by group
    privacy E[accuracy on D_k of what D_0 teaches] >= e^(-distance ε) E[accuracy on D_k of what D_k teaches]. Sum over
    all pairs of namings: with A the mean accuracy over namings of learning and testing on the same one,
    1 >= A (1 + (K - 1) e^(-distance ε)). A learner that treats all classes alike has the accuracy A under each.

    Parameters
    ----------
    best : accuracy that no classifier is assumed to exceed.
    """
    return min(best, 1 / (1 + (classes - 1) * math.exp(-min(distance * epsilon, 700.0))))


def average_ceiling(known: Facts, best: float, epsilons: Sequence[float]) -> float:
    """The mean of the bounds over these epsilons, for the training part of ten folds and the paper's adjacency."""
    steps = known.records * (1 - 1 / FOLDS)
    classes = len(known.schema.classes)
    return float(np.mean([ceiling(classes, steps, epsilon, best) for epsilon in epsilons]))


def envelope(scores: TableTwo, data: str, known: Facts) -> float | None:
    """The average over the epsilons if the best of our models at each epsilon were known beforehand.

    To remove luck, no accuracy counts above the bound of its epsilon. Ours run under add-remove, where a changed label
    is two steps.
    """
    classes, steps = len(known.schema.classes), 2 * known.records * (1 - 1 / FOLDS)
    tops: list[float | None] = []
    for epsilon in scores.grid:
        at = [value for model in OURS if (value := scores.mean(data, model, epsilon)) is not None]
        tops.append(min(max(at), ceiling(classes, steps, epsilon)) if at else None)
    return average(tops)


class Contest(NamedTuple):
    """One of the 18 cells: the paper's average, and ours over the epsilons that were run.

    `whole` says whether these are the paper's epsilons.
    """

    data: str
    family: str
    printed: float
    published: float | None
    rigorous: float | None
    best: tuple[str, float] | None
    error: float
    whole: bool

    @property
    def above(self) -> bool | None:
        """Whether our counterpart is above the paper's average; None unless both are over the same epsilons."""
        return self.rigorous > self.printed if self.rigorous is not None and self.whole else None

    @property
    def some_above(self) -> bool:
        """Whether the best of our models, picked afterwards, is above the paper's average over the same epsilons."""
        return self.best is not None and self.best[1] > self.printed and self.whole


def contests(scores: TableTwo) -> list[Contest]:
    """All cells of Table 2 on data sets that were run."""
    found = []
    for (data, family), value in table_two("average").items():
        if data not in scores.data:
            continue
        published, rigorous = FAMILIES[family]
        all_ours = [(model, average) for model in OURS if (average := scores.average(data, model)) is not None]
        best = max(all_ours, key=lambda pair: pair[1], default=None)
        ours = scores.average(data, rigorous)
        error = scores.average_error(data, rigorous)
        found.append(Contest(data, family, value, scores.average(data, published), ours, best, error, scores.whole))
    return found


class Defeat(NamedTuple):
    """A cell in which the rigorous model is below the published one on the same folds."""

    data: str
    family: str
    epsilon: float
    rigorous: float
    published: float
    error: float

    @property
    def difference(self) -> float:
        """Ours minus theirs, which is negative."""
        return self.rigorous - self.published

    @property
    def clear(self) -> bool:
        """Whether the difference is more than two standard errors, the two models taken as independent."""
        return -self.difference > 2 * self.error


def defeats(scores: TableTwo) -> tuple[list[Defeat], int]:
    """The defeats, and the number of all cells."""
    found, all_cells = [], 0
    for data in scores.data:
        for family, (published, rigorous) in FAMILIES.items():
            for epsilon in scores.grid:
                theirs, ours = scores.mean(data, published, epsilon), scores.mean(data, rigorous, epsilon)
                if theirs is not None and ours is not None:
                    all_cells += 1
                    error = math.hypot(*(scores.error(data, model, epsilon) for model in (published, rigorous)))
                    found += [Defeat(data, family, epsilon, ours, theirs, error)] if ours < theirs else []
    return found, all_cells


def printed_formula_p_value(p_value: float) -> float:
    """The two-sided p-value if the variance had the printed 1/4 for 1/24: z shrinks by the root of 6."""
    from scipy.stats import norm

    return float(2 * norm.sf(norm.isf(p_value / 2) / math.sqrt(6)))


def least_printed_p_value(pairs: int) -> float:
    """The smallest two-sided p-value that the printed formula can give: all ranks on one side, T = 0."""
    from scipy.stats import norm

    return float(2 * norm.sf((pairs * (pairs + 1) / 4) / math.sqrt(pairs * (pairs + 1) * (2 * pairs + 1) / 4)))
