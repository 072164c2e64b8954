"""Which records a condition covers, as bit sets, and the genes that a search makes conditions of.

A bit set is a Python integer, bit i for record i: at a thousand records `&` takes 50 ns and `bit_count` as little,
where a call of numpy costs a microsecond whatever it does. For a number the sets of all records up to each distinct
value are made once, so that an interval is two lookups and one XOR; for a category there is one set a value.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.models.bees.colony import Uniform
from discreet.models.bees.rules import Between, Condition, Encoded, Equals
from discreet.schema import Schema
from discreet.schema.columns import Categorical

Gene: TypeAlias = tuple[float, float]
"""The two ends of an interval in order, or one number twice, which stands for a category."""

MOST_BITS = 2**23
"""Prefix sets of one attribute take at most this much (1 MB); beyond, intervals are found by comparison."""


def bits_of(mask: NDArray[np.bool_]) -> int:
    """Pack truth values into an integer, the first in its lowest bit.

    >>> bits_of(np.array([True, False, True]))
    5
    """
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def mask_of(bits: int, rows: int) -> NDArray[np.bool_]:
    """The truth values of so many records; the inverse of `bits_of`.

    >>> mask_of(5, 4).tolist()
    [True, False, True, False]
    """
    packed = np.frombuffer(bits.to_bytes(-(-rows // 8), "little"), dtype=np.uint8)
    return np.unpackbits(packed, count=rows, bitorder="little").astype(bool)


class Axis(Protocol):
    """One attribute in a search: its genes and what they cover."""

    def draw(self, uniform: Uniform) -> Gene:
        """A random gene."""
        ...

    def move(self, gene: Gene, other: Gene, uniform: Uniform) -> Gene:
        """The step of a bee, for each number of the gene."""
        ...

    def bits(self, gene: Gene) -> int:
        """The records that the gene covers."""
        ...

    def condition(self, gene: Gene) -> Condition:
        """The condition that the gene stands for."""
        ...

    def widen(self, gene: Gene, among: int) -> Gene:
        """A gene that covers the same of some records, with its ends as far out as is safe."""
        ...

    def alike(self, gene: Gene, conditions: Sequence[Condition]) -> int:
        """With how many conditions on the attribute the gene has values in common."""
        ...


class IntervalAxis:
    """A numeric attribute; genes lie between two bounds, and are widened up to the outermost, which are public."""

    def __init__(
        self,
        name: str,
        values: NDArray[np.float64],
        lower: float,
        upper: float,
        outermost: tuple[float, float] | None = None,
    ) -> None:
        self._name, self._values, self._lower, self._upper = name, values, lower, upper
        self._outermost = (lower, upper) if outermost is None else outermost
        distinct = np.unique(values[~np.isnan(values)])
        places = np.searchsorted(distinct, values)  # a blank stands beyond all: no interval has it
        self._distinct: list[float] = distinct.tolist()
        self._prefixes: list[int] = []
        if (len(distinct) + 1) * len(values) <= MOST_BITS:
            below = places[np.newaxis, :] < np.arange(len(distinct) + 1)[:, np.newaxis]
            packed = np.packbits(below, axis=1, bitorder="little")
            self._prefixes = [int.from_bytes(row.tobytes(), "little") for row in packed]

    def draw(self, uniform: Uniform) -> Gene:
        """Two uniform ends."""
        width = self._upper - self._lower
        first, second = self._lower + uniform() * width, self._lower + uniform() * width
        return (first, second) if first <= second else (second, first)

    def move(self, gene: Gene, other: Gene, uniform: Uniform) -> Gene:
        """Each end to or from the other's, clipped; ends that cross are swapped."""
        first, second = gene
        lower, upper = self._lower, self._upper
        first += (2 * uniform() - 1) * (first - other[0])
        second += (2 * uniform() - 1) * (second - other[1])
        first = lower if first < lower else min(first, upper)
        second = lower if second < lower else min(second, upper)
        return (first, second) if first <= second else (second, first)

    def bits(self, gene: Gene) -> int:
        """Records up to the upper end, without those below the lower."""
        if not self._prefixes:
            return bits_of((self._values >= gene[0]) & (self._values <= gene[1]))
        distinct, prefixes = self._distinct, self._prefixes
        return prefixes[bisect_right(distinct, gene[1])] ^ prefixes[bisect_left(distinct, gene[0])]

    def condition(self, gene: Gene) -> Condition:
        """The interval."""
        return Between(self._name, *gene)

    def widen(self, gene: Gene, among: int) -> Gene:
        """Each end halfway to the next value outside, or at the outermost bound where there is none."""
        values = self._values[mask_of(among, len(self._values))]
        below, above = values < gene[0], values > gene[1]
        covered = values[(values >= gene[0]) & (values <= gene[1])]
        if not len(covered):
            return gene
        lower, upper = self._outermost
        if below.any():
            lower = _between(float(covered.min()), float(values[below].max()))
        if above.any():
            upper = _between(float(covered.max()), float(values[above].min()))
        return lower, upper

    def alike(self, gene: Gene, conditions: Sequence[Any]) -> int:
        """Intervals that it meets."""
        return sum(gene[0] <= each.upper and each.lower <= gene[1] for each in conditions)


class CategoryAxis:
    """A categorical attribute; a gene is a number from 1 to the number of values, rounded to the nearest."""

    def __init__(self, name: str, codes: NDArray[np.intp], size: int) -> None:
        self._name, self._size = name, size
        self._bits = [bits_of(codes == code) for code in range(size)]

    def code(self, gene: Gene) -> int:
        """The category: the nearest number, halves down; counted from 0."""
        return min(max(math.ceil(gene[0] - 0.5), 1), self._size) - 1

    def draw(self, uniform: Uniform) -> Gene:
        """A uniform number."""
        first = 1 + uniform() * (self._size - 1)
        return first, first

    def move(self, gene: Gene, other: Gene, uniform: Uniform) -> Gene:
        """To or from the other's number, clipped."""
        first = gene[0] + (2 * uniform() - 1) * (gene[0] - other[0])
        first = min(max(first, 1.0), float(self._size))
        return first, first

    def bits(self, gene: Gene) -> int:
        """Records with the category."""
        return self._bits[self.code(gene)]

    def condition(self, gene: Gene) -> Condition:
        """The category."""
        return Equals(self._name, self.code(gene))

    def widen(self, gene: Gene, among: int) -> Gene:
        """The same: a category has no ends."""
        return gene

    def alike(self, gene: Gene, conditions: Sequence[Any]) -> int:
        """Conditions for the same category."""
        code = self.code(gene)
        return sum(each.code == code for each in conditions)


def _between(covered: float, next_one: float) -> float:
    """Halfway from a covered value to the next one, and never on the latter."""
    middle = covered + (next_one - covered) / 2
    return covered if middle == next_one else middle


def axes_of(encoded: Encoded, schema: Schema, public_bounds: bool) -> list[Axis]:
    """An axis for each attribute. Its bounds are the schema's if these are to be used, else those of the values.

    A category that is not listed can be in a rule only if a record has one.
    """
    axes: list[Axis] = []
    for column in schema.columns:
        values = encoded[column.name]
        if isinstance(column, Categorical):
            strays = bool((values == len(column.categories)).any())
            axes.append(CategoryAxis(column.name, values, len(column.categories) + strays))
        else:
            known = values[~np.isnan(values)]
            seen = len(known) > 0 and not public_bounds
            lower, upper = (known.min(), known.max()) if seen else (column.lower, column.upper)
            bounds = float(column.lower), float(column.upper)
            axes.append(IntervalAxis(column.name, values, float(lower), float(upper), bounds))
    return axes
