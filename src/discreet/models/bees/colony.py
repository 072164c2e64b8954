"""The artificial bee colony (Karaboga 2005): a swarm that searches where it has found the best solutions.

Half of the swarm are employed bees, each with one food source (a solution). The other half are onlookers, who prefer
rich sources. A source that has not improved for long is replaced by a scout. The search takes numbers between 0 and 1
from one stream, in the order in which its steps are written here, so a seed determines a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.models.parameter_checks import check_integer
from discreet.privacy.randomness import search_generator

Vector: TypeAlias = NDArray[np.float64]
Uniform: TypeAlias = Callable[[], float]
"""The next number of the stream, in [0, 1)."""

PATIENCE = 1000
"""After this many draws per onlooker, those without a source are sent by roulette: it bounds the time of a cycle."""
RICHEST = 1e300
"""Values count as at most this, so that their sum stays finite."""
_BLOCK = 4096
"""Random numbers that are drawn at a time."""


class Solution(Protocol):
    """A solution and its value."""

    @property
    def value(self) -> float:
        """The number that the search maximises."""
        ...


S = TypeVar("S", bound=Solution)


class Landscape(Protocol[S]):
    """What a colony searches: how to start, how to move, and which of two solutions is better."""

    def draw(self) -> S:
        """A random solution."""
        ...

    def neighbour(self, current: S, other: S) -> S:
        """A solution near the current one, in the direction of another or away from it."""
        ...

    def accepts(self, candidate: S, current: S) -> bool:
        """Whether the candidate replaces the current solution."""
        ...

    def is_better(self, solution: S, best: S) -> bool:
        """Whether a solution is better than the best so far."""
        ...


def stream(seed: Any) -> Uniform:
    """Return a function that gives uniform numbers one by one; drawing them in blocks is twenty times as fast."""
    generator = search_generator(seed)
    blocks = iter(lambda: generator.random(_BLOCK).tolist(), None)
    return chain.from_iterable(blocks).__next__


def forage(landscape: Landscape[S], sources: int, max_iter: int, limit: int, uniform: Uniform) -> S:
    """Search with this many food sources and equally many onlookers; returns the best solution that was seen."""
    swarm = [landscape.draw() for _ in range(sources)]
    trials = [0] * sources
    best = _best(swarm, swarm[0], landscape)

    def visit(i: int) -> None:
        k = int(uniform() * (sources - 1))
        candidate = landscape.neighbour(swarm[i], swarm[k + (k >= i)])
        if landscape.accepts(candidate, swarm[i]):
            swarm[i], trials[i] = candidate, 0
        else:
            trials[i] += 1

    for _ in range(max_iter):
        for i in range(sources):
            visit(i)
        for i in onlookers(proportions([solution.value for solution in swarm]), uniform):
            visit(i)
        best = _best(swarm, best, landscape)
        tired = max(range(sources), key=trials.__getitem__)
        if trials[tired] > limit:
            swarm[tired], trials[tired] = landscape.draw(), 0
    return best


def proportions(values: Sequence[float]) -> list[float]:
    """How attractive each source is: its value over the sum of all values; equal parts if all values are 0.

    If any value is negative, v counts as 1 + v, or as 1 / (1 - v) if v itself is negative, so that all are positive.
    """
    if min(values) < 0:
        values = [1 + value if value >= 0 else 1 / (1 - value) for value in values]
    total = sum(values)
    if not 0 < total < math.inf:
        values = [min(value, RICHEST) for value in values] if total > 0 else [1.0] * len(values)
        total = sum(values)
    return [value / total for value in values]


def onlookers(parts: Sequence[float], uniform: Uniform) -> Iterator[int]:
    """Yield the sources that the onlookers choose: they pass all sources in turn and take each with its probability.

    There are as many onlookers as sources. After `PATIENCE` draws per onlooker, those left choose by roulette.
    """
    sources = len(parts)
    served = i = 0
    for _ in range(PATIENCE * sources):
        if uniform() < parts[i]:
            yield i
            served += 1
            if served == sources:
                return
        i = i + 1 if i + 1 < sources else 0
    for _ in range(sources - served):
        yield roulette(parts, uniform())


def roulette(parts: Sequence[float], spin: float) -> int:
    """The source whose part of [0, 1) contains the number `spin`; the parts sum to 1."""
    passed = 0.0
    for i, part in enumerate(parts):
        passed += part
        if spin < passed:
            return i
    return max(range(len(parts)), key=parts.__getitem__)


def _best(swarm: Sequence[S], best: S, landscape: Landscape[S]) -> S:
    for solution in swarm:
        if landscape.is_better(solution, best):
            best = solution
    return best


@dataclass(frozen=True)
class Optimum:
    """The result of a search: the best point, its value, and how often the function was evaluated."""

    x: Vector
    value: float
    evaluations: int


@dataclass(frozen=True)
class ArtificialBeeColony:
    """Maximise a function over a box.

    Parameters
    ----------
    swarm : number of bees; half of them have a food source, the others are onlookers.
    max_iter : number of cycles; a run evaluates the function (swarm / 2) + swarm * max_iter times, plus once per scout.
    limit : a source is left after more than this many failures in a row; at most one source is left per cycle.

    Examples
    --------
    >>> colony = ArtificialBeeColony(swarm=20, max_iter=200)
    >>> optimum = colony.maximise(lambda x: 5 - float(((x - 1) ** 2).sum()), [-3, -3], [3, 3], seed=0)
    >>> round(optimum.value, 6), optimum.x.round(3).tolist()
    (5.0, [1.0, 1.0])
    """

    swarm: int = 20
    max_iter: int = 500
    limit: int = 100

    def __post_init__(self) -> None:
        check_colony(self.swarm, self.max_iter, self.limit)

    def maximise(
        self, function: Callable[[Vector], float], lower: Sequence[float], upper: Sequence[float], seed: Any = None
    ) -> Optimum:
        """Search within the bounds; NaN counts as the worst value. A seed makes the run repeatable."""
        box = Box(function, *checked_box(lower, upper), stream(seed))
        best = forage(box, self.swarm // 2, self.max_iter, self.limit, box.uniform)
        return Optimum(best.x, best.value, box.evaluations)


@dataclass(frozen=True)
class Point:
    """A point of the box and its value."""

    x: Vector
    value: float


class Box:
    """A function over a box, as a landscape: a move changes one coordinate, and only better points are accepted."""

    def __init__(self, function: Callable[[Vector], float], lower: Vector, upper: Vector, uniform: Uniform) -> None:
        self.lower, self.upper, self.uniform = lower, upper, uniform
        self.evaluations = 0
        self._function = function

    def at(self, x: Vector) -> Point:
        """Evaluate the function."""
        self.evaluations += 1
        value = float(self._function(x.copy()))
        return Point(x, -math.inf if math.isnan(value) else value)

    def draw(self) -> Point:
        """Draw a uniform point of the box."""
        draws = np.array([self.uniform() for _ in self.lower])
        return self.at(self.lower + draws * (self.upper - self.lower))

    def neighbour(self, current: Point, other: Point) -> Point:
        """Move one coordinate towards or away from the other point, by at most their distance; clipped to the box."""
        j = int(self.uniform() * len(self.lower))
        x = current.x.copy()
        moved = x[j] + (2 * self.uniform() - 1) * (x[j] - other.x[j])
        x[j] = min(max(moved, self.lower[j]), self.upper[j])
        return self.at(x)

    def accepts(self, candidate: Point, current: Point) -> bool:
        """Whether the candidate is strictly better."""
        return candidate.value > current.value

    is_better = accepts


def checked_box(lower: Sequence[float], upper: Sequence[float]) -> tuple[Vector, Vector]:
    """Return the bounds as vectors; ParameterError if they are not the bounds of a box."""
    low, high = (np.array(bounds, dtype=np.float64) for bounds in (lower, upper))
    if low.ndim != 1 or low.shape != high.shape or not low.size or not _is_box(low, high):
        raise ParameterError(f"bounds of shapes {low.shape} and {high.shape}; need two lists, finite, lower <= upper")
    return low, high


def _is_box(low: Vector, high: Vector) -> bool:
    with np.errstate(all="ignore"):
        width = high - low
    return bool(np.isfinite(width).all() and (width >= 0).all())


def check_colony(swarm: object, max_iter: object, limit: object) -> None:
    """Raise ParameterError if a colony cannot search with these numbers."""
    for name, value, least in (("swarm", swarm, 4), ("max_iter", max_iter, 1), ("limit", limit, 0)):
        check_integer(name, value, least)
