"""The thesis's accuracies of private 1R and naive Bayes and ours, by data set, model and epsilon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from discreet.privacy.epsilon import as_epsilon
from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE
from discreet.research.comparison.summary import Cell
from discreet.research.reproduce.accuracies import MISSING, Accuracies, standard_error
from discreet.research.reproduce.printed import Printed, printed

FIGURES = "zorarpaci2019_private"
EPSILONS = ("3", "2", "1", "0.5", "0.25", "0.1")
"""The epsilons of the thesis, in its order."""

PLACES = {
    "house-votes-84": "Table 5.16",
    "mushroom": "Table 5.17",
    "heart-statlog": "Table 5.18",
    "spect": "Table 5.19",
    "credit-approval": "Table 5.20",
    "breast-w": "Table 5.21",
    "nursery": "Table 5.22",
}
PUBLISHED = {
    "1R with F.S.": "published 1R after ABC-DE",
    "NB with F.S.": "published NB after ABC-DE",
    "1R without F.S.": "published 1R",
    "NB without F.S.": "published NB",
}
"""The rows of the thesis's tables, and our models of the same algorithms."""

AS_MANY = {"1R with F.S.": "published 1R of the best k", "NB with F.S.": "published NB of the best k"}
"""The same without the search: the columns that are best alone, as many as the thesis's search kept."""

ONE_RULE, NAIVE_BAYES, SELECTING = "one-rule", "naive-bayes", "naive-bayes select"
ONE_RULE_OF_FIVE, NAIVE_BAYES_OF_FIVE, TREE = "one-rule of 5", "naive-bayes of 5", "decision-tree"
RIGOROUS = (ONE_RULE, NAIVE_BAYES, SELECTING, ONE_RULE_OF_FIVE, NAIVE_BAYES_OF_FIVE, TREE)
"""Models with a proved guarantee; epsilon includes the choice of columns."""


class Bar(NamedTuple):
    """The best of the thesis's four rows for one data set and epsilon, beside ours."""

    data: str
    epsilon: str
    asked: float
    row: str
    ours: dict[str, Cell]

    def margin(self, models: Iterable[str]) -> float | None:
        """The best of these models minus the thesis's best; None if none of them was run."""
        means = [self.ours[model].mean for model in models if model in self.ours]
        return max(means) - self.asked if means else None


class PrivateAccuracies(Accuracies):
    """Our accuracies on the data sets of Tables 5.16 to 5.22; where two experiments ran a cell, the first counts."""

    def __init__(self, found: Iterable[Sequence[Cell]]) -> None:
        super().__init__(reversed([cell for cells in found for cell in cells]))

    @property
    def data(self) -> list[str]:
        """The data sets that were run, in the order of the thesis's tables."""
        known = super().data
        return [name for name in PLACES if name in known]

    def majority(self, data: str) -> Cell | None:
        """The accuracy of always predicting the largest class."""
        return self.cell(data, MAJORITY, NOT_PRIVATE)

    def bars(self) -> list[Bar]:
        """One bar per epsilon and data set that was run."""
        bars = []
        for data in self.data:
            for epsilon in EPSILONS:
                best = max((thesis(data, row, epsilon) for row in PUBLISHED), key=lambda each: each.value)
                known = {model: self.cell(data, model, epsilon) for model in RIGOROUS}
                ours = {model: cell for model, cell in known.items() if cell is not None}
                bars.append(Bar(data, epsilon, best.value, best.model, ours))
        return bars


def thesis(data: str, row: str, epsilon: str) -> Printed:
    """One cell of Tables 5.16 to 5.22."""
    cells = printed(FIGURES, PLACES[data])
    return next(each for each in cells if each.model == row and as_epsilon(each.epsilon) == as_epsilon(epsilon))


def number(data: str, place: str, model: str) -> float:
    """One number of a table that has no epsilon."""
    return next(each.value for each in printed(FIGURES, place) if (each.data, each.model) == (data, model))


def shown(cell: Cell | None) -> str:
    """A mean and its standard error as text."""
    return MISSING if cell is None else f"{cell.mean:.3f} ± {standard_error(cell):.3f}"


def listed(names: Sequence[str]) -> str:
    """Names as a phrase: "a, b and c"; "none" for none."""
    if not names:
        return "none"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
