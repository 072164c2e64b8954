"""What follows from the runs and from Table 2 of Lopuhaä 2021: averages, ceilings, and where ours is below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from discreet import datasets
from discreet.errors import DiscreetError
from discreet.records.encoding import class_codes
from discreet.research.comparison.grid import MAJORITY, as_number
from discreet.research.comparison.summary import Cell
from discreet.research.reproduce.lopuhaa2021.models import FAMILIES, OTHERS
from discreet.research.reproduce.printed import printed
from discreet.schema import Schema

DATA = ("adult", "mushroom", "nursery", "spect", "house-votes-84", "skin")
EPSILONS = ("1e-11", "0.001", "0.005", "0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "1")
OURS = (*(rigorous for _, rigorous in FAMILIES.values()), *OTHERS)
PRINTED_LOSSES = tuple(float(loss) for loss in EPSILONS)
"""The epsilons that the printed averages are over, whatever was run here."""

FOLDS = 10


class Scores:
    """The cells of an experiment by data set, model and epsilon; what is not there is None."""

    def __init__(self, found: Iterable[Cell]) -> None:
        self.cells = list(found)
        self._by_place = {(cell.data, cell.model, as_number(cell.epsilon)): cell for cell in self.cells}
        self.data = list(dict.fromkeys(cell.data for cell in self.cells))
        self.losses = sorted({as_number(cell.epsilon) for cell in self.cells} - {math.inf})

    @property
    def whole(self) -> bool:
        """Whether the epsilons are those of the paper: else averages over them are of something else."""
        return self.losses == list(PRINTED_LOSSES)

    @property
    def all_data(self) -> bool:
        """Whether the data sets are those of the paper: else averages over them are of something else."""
        return set(self.data) == set(DATA)

    def mean(self, data: str, model: str, epsilon: float = math.inf) -> float | None:
        """The mean accuracy; without an epsilon, that without noise."""
        cell = self._by_place.get((data, model, epsilon))
        return None if cell is None else cell.mean

    def average(self, data: str, model: str) -> float | None:
        """The paper's average accuracy: over all epsilons of the grid; None unless all are there."""
        return average([self.mean(data, model, loss) for loss in self.losses])

    def error(self, data: str, model: str) -> float:
        """The standard error of that average; runs on overlapping training sets are taken as independent."""
        return math.hypot(*(self.spread(data, model, loss) for loss in self.losses)) / max(len(self.losses), 1)

    def spread(self, data: str, model: str, epsilon: float) -> float:
        """The standard error of one mean; 0 if it is not there."""
        cell = self._by_place.get((data, model, epsilon))
        return 0.0 if cell is None else cell.deviation / math.sqrt(cell.runs)

    def ratio(self, data: str, model: str) -> float | None:
        """The average over the accuracy without noise."""
        return divided(self.average(data, model), self.mean(data, model))

    def best_without_noise(self, data: str) -> float | None:
        """The largest accuracy of any model without noise."""
        found = [self.mean(data, cell.model) for cell in self.cells if cell.data == data and cell.model != MAJORITY]
        return max((value for value in found if value is not None), default=None)


def average(values: Sequence[float | None]) -> float | None:
    """The mean; None if a value is missing or there is none."""
    present = [value for value in values if value is not None]
    return float(np.mean(present)) if present and len(present) == len(values) else None


def divided(value: float | None, by: float | None) -> float | None:
    """The quotient, if both are there."""
    return value / by if value is not None and by else None


def table_two(measure: str) -> dict[tuple[str, str], float]:
    """Table 2 by data set and classifier: "no privacy", "average" or "ratio"; data "" is the column of averages."""
    return {(each.data, each.model): each.value for each in printed("lopuhaa2021", f"Table 2, {measure}")}


class Facts(NamedTuple):
    """What is known of a data set: its schema, and how many records each class has."""

    schema: Schema
    counts: dict[str, int]

    @property
    def records(self) -> int:
        """All that have a class."""
        return sum(self.counts.values())

    @property
    def largest_share(self) -> float:
        """Of the largest class."""
        return max(self.counts.values()) / self.records


@lru_cache(maxsize=8)
def facts(data: str, directory: str | None) -> Facts | None:
    """None if the data set is not there."""
    try:
        _, labels, schema = datasets.load(data, directory)
    except DiscreetError:
        return None
    counts = np.bincount(class_codes(labels, schema), minlength=len(schema.classes))
    return Facts(schema, {str(name): int(count) for name, count in zip(schema.classes, counts, strict=False)})


def ceiling(classes: int, distance: float, epsilon: float, best: float = 1.0) -> float:
    """The most that the expected accuracy of an ε-DP learner can be, averaged over namings of the classes.

    Let D_k be the data D with the label j renamed to j + k modulo K, for k = 0 ... K - 1, training and test records
    alike. A classifier h is right on each test record under exactly one naming, so that its accuracies on the K test
    sets add up to 1. D_0 and D_k are `distance` adjacent steps apart at most (n under replace-one), so that by group
    privacy E[accuracy on D_k of what D_0 teaches] >= e^(-distance ε) E[accuracy on D_k of what D_k teaches]. Sum over
    all pairs of namings: with A the mean accuracy over namings of learning and testing on the same one,
    1 >= A (1 + (K - 1) e^(-distance ε)). A learner that treats all classes alike has the accuracy A under each.

    Parameters
    ----------
    best : no classifier is taken to be more accurate than this.
    """
    return min(best, 1 / (1 + (classes - 1) * math.exp(-min(distance * epsilon, 700.0))))


def average_ceiling(known: Facts, best: float, losses: Sequence[float]) -> float:
    """The mean of the ceilings for the training part of ten folds and tables that differ in one row, as the paper's."""
    steps = known.records * (1 - 1 / FOLDS)
    classes = len(known.schema.classes)
    return float(np.mean([ceiling(classes, steps, loss, best) for loss in losses]))


def envelope(scores: Scores, data: str, known: Facts) -> float | None:
    """The average over the epsilons if at each the best of our models were known beforehand, luck taken off.

    No accuracy counts above the ceiling of its epsilon; ours run under add-remove, where a changed label is two steps.
    """
    classes, steps = len(known.schema.classes), 2 * known.records * (1 - 1 / FOLDS)
    tops: list[float | None] = []
    for loss in scores.losses:
        at = [value for model in OURS if (value := scores.mean(data, model, loss)) is not None]
        tops.append(min(max(at), ceiling(classes, steps, loss)) if at else None)
    return average(tops)


class Contest(NamedTuple):
    """One of the 18 cells: the paper's average, and ours over the epsilons that were run; whole if those are its."""

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
        """Whether the rigorous counterpart is above the paper's average; None unless ours is over the same epsilons."""
        return self.rigorous > self.printed if self.rigorous is not None and self.whole else None

    @property
    def some_above(self) -> bool:
        """Whether the best of ours, picked after the fact, is above it, over the same epsilons."""
        return self.best is not None and self.best[1] > self.printed and self.whole


def contests(scores: Scores) -> list[Contest]:
    """All cells of Table 2 on data sets that were run."""
    found = []
    for (data, family), value in table_two("average").items():
        if data not in scores.data:
            continue
        published, rigorous = FAMILIES[family]
        all_ours = [(model, average) for model in OURS if (average := scores.average(data, model)) is not None]
        best = max(all_ours, key=lambda pair: pair[1], default=None)
        ours = scores.average(data, rigorous)
        error = scores.error(data, rigorous)
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
        """Negative."""
        return self.rigorous - self.published

    @property
    def clear(self) -> bool:
        """Whether it is more than two standard errors, the two models taken as independent."""
        return -self.difference > 2 * self.error


def defeats(scores: Scores) -> tuple[list[Defeat], int]:
    """Those cells, and of how many."""
    found, all_cells = [], 0
    for data in scores.data:
        for family, (published, rigorous) in FAMILIES.items():
            for loss in scores.losses:
                theirs, ours = scores.mean(data, published, loss), scores.mean(data, rigorous, loss)
                if theirs is not None and ours is not None:
                    all_cells += 1
                    error = math.hypot(*(scores.spread(data, model, loss) for model in (published, rigorous)))
                    found += [Defeat(data, family, loss, ours, theirs, error)] if ours < theirs else []
    return found, all_cells


def printed_formula_p_value(p_value: float) -> float:
    """The two-sided p-value if the variance had the printed 1/4 for 1/24: z shrinks by the root of 6."""
    from scipy.stats import norm

    return float(2 * norm.sf(norm.isf(p_value / 2) / math.sqrt(6)))


def least_printed_p_value(pairs: int) -> float:
    """The least two-sided p-value that the printed formula can give: all ranks on one side, T = 0."""
    from scipy.stats import norm

    return float(2 * norm.sf((pairs * (pairs + 1) / 4) / math.sqrt(pairs * (pairs + 1) * (2 * pairs + 1) / 4)))
