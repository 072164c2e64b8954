"""The cells of Figure 1 of Marchioro et al. 2022, as curves over epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterable

from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, as_number
from discreet.research.comparison.summary import Cell
from discreet.research.reproduce.accuracies import Accuracies, standard_error
from discreet.research.reproduce.marchioro2022.models import CENTRAL

EPSILONS = ("0.01", "0.031623", "0.1", "0.316228", "1", "3.16228", "10")
"""From 0.01 to 10, each √10 times the one before."""


class Curves:
    """Accuracies over all epsilons of the figure; numbers that were not measured are NaN."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._accuracies = Accuracies(cells)

    def cell(self, data: str, model: str, epsilon: str) -> Cell | None:
        """One cell; None if it was not measured."""
        return self._accuracies.cell(data, model, epsilon)

    def mean(self, data: str, model: str, epsilon: str) -> float:
        """The mean accuracy; NaN if it was not measured."""
        cell = self.cell(data, model, epsilon)
        return math.nan if cell is None else cell.mean

    def error(self, data: str, model: str, epsilon: str) -> float:
        """The standard error of the mean; NaN if it was not measured."""
        cell = self.cell(data, model, epsilon)
        return math.nan if cell is None else standard_error(cell)

    def curve(self, data: str, model: str) -> list[float]:
        """The means at all epsilons of the figure."""
        return [self.mean(data, model, epsilon) for epsilon in EPSILONS]

    def ahead(self, data: str, first: str, second: str, epsilon: str) -> float:
        """The first model's mean minus the second's, in standard errors."""
        gap = self.mean(data, first, epsilon) - self.mean(data, second, epsilon)
        error = math.hypot(self.error(data, first, epsilon), self.error(data, second, epsilon))
        return gap / max(error, 1e-9)

    def models(self, data: str) -> list[str]:
        """The models that were run on a data set."""
        return self._accuracies.models(data)

    def crossing(self, data: str, model: str) -> float:
        """The epsilon from which a curve stays above the middle between largest class and noiseless accuracy.

        Interpolated by the logarithm of epsilon; 0 if the curve is above everywhere, infinite if it ends below.
        """
        level = (self.mean(data, MAJORITY, NOT_PRIVATE) + self.mean(data, CENTRAL, NOT_PRIVATE)) / 2
        values = self.curve(data, model)
        if any(map(math.isnan, (level, *values))):
            return math.nan
        below = [place for place, value in enumerate(values) if value < level]
        if not below:
            return 0.0
        last = below[-1]
        if last == len(values) - 1:
            return math.inf
        low, high = as_number(EPSILONS[last]), as_number(EPSILONS[last + 1])
        part = (level - values[last]) / (values[last + 1] - values[last])
        return float(low * (high / low) ** part)
