"""Sets of columns by bees and differential evolution together (ABC-DE, Zorarpacı and Özel 2016)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from discreet.errors import ParameterError
from discreet.models.bees.colony import Uniform, proportions
from discreet.models.parameter_checks import check_integer

Bits: TypeAlias = tuple[bool, ...]
"""For each column, whether it is chosen."""


@dataclass(frozen=True)
class Subset:
    """A set of columns and its value."""

    bits: Bits
    value: float

    def beats(self, other: Subset) -> bool:
        """Whether this set is worth more, or equally much with fewer columns."""
        return self.value > other.value or (self.value == other.value and sum(self.bits) < sum(other.bits))


@dataclass(frozen=True)
class SubsetSearch:
    """Search for the best subset; the fitness of each subset is computed once.

    In each round every subset in turn is changed, by a step of differential evolution or by a bee; then onlookers flip
    single bits of subsets that lag behind. In the published method, the probability of evolution is a value over the
    sum of all values: about one over the population, and nearly zero for onlookers. With `normalise`, a value is
    divided by the largest one, so that evolution is the rule and onlookers help subsets that lag behind.

    The steps are published. The numbers of subsets, rounds and onlookers are not, nor what happens to an empty subset:
    here it gets one random column.
    """

    population: int = 20
    max_iter: int = 100
    onlookers: int = 20
    normalise: bool = False

    def __post_init__(self) -> None:
        for name, least in (("population", 4), ("max_iter", 1), ("onlookers", 0)):
            check_integer(name, getattr(self, name), least)
        if not isinstance(self.normalise, bool):
            raise ParameterError(f"normalise={self.normalise!r}; need True or False")

    def best(self, size: int, fitness: Callable[[Bits], float], uniform: Uniform) -> Subset:
        """Return the best subset of `size` columns that was seen."""
        hive = _Hive(size, fitness, uniform)
        swarm = [hive.draw() for _ in range(self.population)]
        for _ in range(self.max_iter):
            chances = self._chances(swarm)
            for i, chance in enumerate(chances):
                trial = hive.evolved(swarm, i) if chance > uniform() else hive.visited(swarm, i)
                swarm[i] = trial if trial.beats(swarm[i]) else swarm[i]
            chances = self._chances(swarm)
            highest = max(chances)
            for turn in range(self.onlookers):
                i = turn % self.population
                if highest - chances[i] > uniform():
                    trial = hive.turned(swarm[i])
                    swarm[i] = trial if trial.beats(swarm[i]) else swarm[i]
        return _best(swarm)  # a subset is replaced only by a better one, so the best that was seen is still here

    def _chances(self, swarm: list[Subset]) -> list[float]:
        parts = proportions([each.value for each in swarm])
        return [part / max(parts) for part in parts] if self.normalise else parts


class _Hive:
    """The moves of the search, and the values that are already known."""

    def __init__(self, size: int, fitness: Callable[[Bits], float], uniform: Uniform) -> None:
        self._size, self._fitness, self._uniform = size, fitness, uniform
        self._known: dict[Bits, float] = {}

    def draw(self) -> Subset:
        """Draw a subset: each column with probability 1/2."""
        return self._valued([self._uniform() < 0.5 for _ in range(self._size)])

    def evolved(self, swarm: list[Subset], i: int) -> Subset:
        """The columns of the third of three others, and those that the first has and the second lacks."""
        first, second, third = (swarm[k].bits for k in self._others(len(swarm), i, 3))
        return self._valued([(a and not b) or c for a, b, c in zip(first, second, third, strict=True)])

    def visited(self, swarm: list[Subset], i: int) -> Subset:
        """With probability 1/2 add one random column, if the first of two others has it and the second lacks it."""
        first, second = (swarm[k].bits for k in self._others(len(swarm), i, 2))
        j = self._pick(self._size)
        bits = list(swarm[i].bits)
        differs = first[j] and not second[j]
        if self._uniform() > self._uniform() and differs:
            bits[j] = True
        return self._valued(bits)

    def turned(self, subset: Subset) -> Subset:
        """Add or drop one random column."""
        bits = list(subset.bits)
        j = self._pick(self._size)
        bits[j] = not bits[j]
        return self._valued(bits)

    def _valued(self, bits: list[bool]) -> Subset:
        if not any(bits):
            bits[self._pick(self._size)] = True
        key = tuple(bits)
        if key not in self._known:
            self._known[key] = float(self._fitness(key))
        return Subset(key, self._known[key])

    def _others(self, population: int, i: int, count: int) -> list[int]:
        """Draw distinct positions in the population other than i."""
        chosen = [i]
        while len(chosen) <= count:
            k = self._pick(population)
            if k not in chosen:
                chosen.append(k)
        return chosen[1:]

    def _pick(self, below: int) -> int:
        return int(self._uniform() * below)


def _best(subsets: list[Subset]) -> Subset:
    best = subsets[0]
    for each in subsets:
        best = each if each.beats(best) else best
    return best
