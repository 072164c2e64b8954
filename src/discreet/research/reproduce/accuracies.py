"""The accuracies of a study by data set, model and epsilon, as numbers, curves and tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, as_number
from discreet.research.comparison.summary import Cell, shown
from discreet.research.report import ReportTable
from discreet.research.reproduce.curves import Curve

MISSING = "–"
"""Shown in a table if nothing was measured."""

INDEPENDENT = "runs taken as independent; they share records, so that true errors may be larger"
"""Said beside every standard error: folds share training records, and repeats share all."""

DEVIATIONS = "mean ± deviation of single runs, which share records"
"""Said in captions of tables."""


class Accuracies:
    """The cells that were found, by data set, model and epsilon, however an epsilon is written.

    Where two cells have the same place, the later one counts.
    """

    def __init__(self, found: Iterable[Cell]) -> None:
        self.cells = list(found)
        self._by_place = {(cell.data, cell.model, _key(cell.epsilon)): cell for cell in self.cells}

    @property
    def data(self) -> list[str]:
        """The data sets, in the order of their cells."""
        return list(dict.fromkeys(cell.data for cell in self.cells))

    @property
    def epsilons(self) -> list[str]:
        """The epsilons of private runs, smallest first."""
        return sorted({cell.epsilon for cell in self.cells if cell.epsilon != NOT_PRIVATE}, key=as_number)

    def models(self, data: str | None = None) -> list[str]:
        """The models, or those on one data set; the largest class is not a model."""
        names = dict.fromkeys(cell.model for cell in self.cells if data in (None, cell.data))
        return [name for name in names if name != MAJORITY]

    def cell(self, data: str, model: str, epsilon: str | float) -> Cell | None:
        """One cell; None if it was not measured."""
        return self._by_place.get((data, model, _key(epsilon)))

    def mean(self, data: str, model: str, epsilon: str | float = NOT_PRIVATE) -> float | None:
        """The mean accuracy, by default without noise; None if it was not measured."""
        cell = self.cell(data, model, epsilon)
        return None if cell is None else cell.mean

    def error(self, data: str, model: str, epsilon: str | float) -> float:
        """The standard error of the mean, as if runs were independent; 0 if nothing was measured."""
        cell = self.cell(data, model, epsilon)
        return 0.0 if cell is None else standard_error(cell)

    def curve(self, data: str, model: str, line: str, colour: int, label: str = "") -> Curve:
        """Accuracy against epsilon, with standard errors."""
        points = [(as_number(each), self.mean(data, model, each)) for each in self.epsilons]
        errors = [self.error(data, model, each) for each in self.epsilons]
        return Curve(label or model, points, line, colour, errors)

    def largest_class(self, data: str) -> Curve:
        """The accuracy of always naming the largest class, as a line."""
        value = self.mean(data, MAJORITY)
        return Curve("largest class", [(as_number(each), value) for each in self.epsilons], ":", -1)

    def table(self, caption: str, origin: str, models: Sequence[str] | None = None) -> ReportTable:
        """A row per data set and model, a column per epsilon; mean and deviation of single runs."""
        epsilons = [*self.epsilons, NOT_PRIVATE]
        heads = ["data", "model", *(f"ε = {shown(each)}" for each in epsilons)]
        rows = [
            [data, model, *(self._shown(data, model, each) for each in epsilons)]
            for data in self.data
            for model in [*(self.models(data) if models is None else models), MAJORITY]
        ]
        return ReportTable(caption, heads, rows, origin)

    def _shown(self, data: str, model: str, epsilon: str) -> str:
        cell = self.cell(data, model, epsilon)
        return MISSING if cell is None else f"{cell.mean:.3f} ± {cell.deviation:.3f}"


def standard_error(cell: Cell) -> float:
    """The standard error of the mean over runs, as if they were independent (`INDEPENDENT`)."""
    return cell.deviation / math.sqrt(cell.runs)


def _key(epsilon: str | float) -> str:
    return f"{as_number(epsilon) if isinstance(epsilon, str) else epsilon:.4g}"


def loss_text(value: float) -> str:
    """A privacy loss for people."""
    return "∞" if value == math.inf else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
