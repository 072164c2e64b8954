"""Differential evolution (Storn and Price 1997), scheme DE/rand/1/bin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.models.bees.colony import Box, Optimum, Uniform, Vector, checked_box, stream
from discreet.models.parameter_checks import check_integer


@dataclass(frozen=True)
class DifferentialEvolution:
    """Maximise a function over a box.

    In each round, for each point in turn: add F times the difference of two other points to a third, clip the sum to
    the box, cross it with the point, and replace the point at once if the result is strictly better.

    Parameters
    ----------
    population : number of points, at least 4.
    max_iter : number of rounds.
    F : weight of the difference, from 0 to 2.
    CR : probability that a coordinate is crossed over, from 0 to 1; one coordinate always is.

    Examples
    --------
    >>> search = DifferentialEvolution(population=20, max_iter=100)
    >>> optimum = search.maximise(lambda x: 5 - float(((x - 1) ** 2).sum()), [-3, -3], [3, 3], seed=0)
    >>> round(optimum.value, 6), optimum.x.round(3).tolist()
    (5.0, [1.0, 1.0])
    """

    population: int = 40
    max_iter: int = 500
    F: float = 0.5
    CR: float = 0.9

    def __post_init__(self) -> None:
        for name, count, least in (("population", self.population, 4), ("max_iter", self.max_iter, 1)):
            check_integer(name, count, least)
        for name, value, most in (("F", self.F, 2), ("CR", self.CR, 1)):
            if not isinstance(value, Real) or not 0 <= value <= most:
                raise ParameterError(f"{name}={value!r}; need a number from 0 to {most}")

    def maximise(
        self, function: Callable[[Vector], float], lower: Sequence[float], upper: Sequence[float], seed: Any = None
    ) -> Optimum:
        """Search within the bounds; NaN counts as the worst value. A seed makes the run repeatable."""
        box = Box(function, *checked_box(lower, upper), stream(seed))
        points = [box.draw() for _ in range(self.population)]
        for _ in range(self.max_iter):
            for i in range(self.population):
                first, second, third = (points[r].x for r in others(i, self.population, box.uniform))
                mutant = np.clip(first + self.F * (second - third), box.lower, box.upper)
                trial = box.at(self._crossed(points[i].x, mutant, box.uniform))
                if trial.value > points[i].value:
                    points[i] = trial
        best = max(points, key=lambda point: point.value)
        return Optimum(best.x, best.value, box.evaluations)

    def _crossed(self, x: Vector, mutant: Vector, uniform: Uniform) -> Vector:
        """Take each coordinate from the mutant with probability CR, and one for certain; the others from the point."""
        certain = int(uniform() * len(x))
        chosen = np.array([uniform() for _ in x]) <= self.CR
        chosen[certain] = True
        return np.where(chosen, mutant, x)


def others(i: int, population: int, uniform: Uniform) -> list[int]:
    """Draw three distinct points other than i."""
    left = [r for r in range(population) if r != i]
    return [left.pop(int(uniform() * len(left))) for _ in range(3)]
