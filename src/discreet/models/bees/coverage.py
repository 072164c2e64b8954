"""Which records a condition covers, as bit sets, and the genes from which a search makes conditions.

A bit set is a Python integer, bit i for record i: for a thousand records, `&` and `bit_count` take 50 ns each, while
any call of numpy takes a microsecond. For a numeric column, the set of all records up to each distinct value is made
once, so that an interval takes two lookups and one XOR; for a categorical column there is one set per category.
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
"""The two ends of an interval in order, or a number twice that stands for a category."""

MOST_BITS = 2**23
"""Most bits for the prefix sets of one column (1 MB); beyond, intervals are compared with all values."""


def bits_of(mask: NDArray[np.bool_]) -> int:
    """Pack truth values into an integer, the first in its lowest bit.

    >>> bits_of(np.array([True, False, True]))
    5
    """
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def mask_of(bits: int, rows: int) -> NDArray[np.bool_]:
    """Unpack an integer into the truth values of `rows` records; the inverse of `bits_of`.

    >>> mask_of(5, 4).tolist()
    [True, False, True, False]
    """
    packed = np.frombuffer(bits.to_bytes(-(-rows // 8), "little"), dtype=np.uint8)
    return np.unpackbits(packed, count=rows, bitorder="little").astype(bool)


class Axis(Protocol):
    """One column in a search: its genes, and the records that they cover."""

    def draw(self, uniform: Uniform) -> Gene:
        """Draw a random gene."""
        ...

    def move(self, gene: Gene, other: Gene, uniform: Uniform) -> Gene:
        """Move each number of the gene towards the other gene or away from it."""
        ...

    def bits(self, gene: Gene) -> int:
        """The records that the gene covers."""
        ...

    def condition(self, gene: Gene) -> Condition:
        """The condition that the gene stands for."""
        ...

    def widen(self, gene: Gene, among: int) -> Gene:
        """Move the ends of the gene halfway to the next record in `among`; it covers the same records of `among`."""
        ...

    def alike(self, gene: Gene, conditions: Sequence[Condition]) -> int:
        """Number of conditions on this column that have values in common with the gene."""
        ...


class IntervalAxis:
    """A numeric column; genes lie between two bounds, and are widened up to the outermost bounds, which are public."""

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
        places = np.searchsorted(distinct, values)  # a blank is sorted last, so no interval contains it
        self._distinct: list[float] = distinct.tolist()
        self._prefixes: list[int] = []
        if (len(distinct) + 1) * len(values) <= MOST_BITS:
            below = places[np.newaxis, :] < np.arange(len(distinct) + 1)[:, np.newaxis]
            packed = np.packbits(below, axis=1, bitorder="little")
            self._prefixes = [int.from_bytes(row.tobytes(), "little") for row in packed]

    def draw(self, uniform: Uniform) -> Gene:
        """Draw two uniform ends."""
        width = self._upper - self._lower
        first, second = self._lower + uniform() * width, self._lower + uniform() * width
        return (first, second) if first <= second else (second, first)

    def move(self, gene: Gene, other: Gene, uniform: Uniform) -> Gene:
        """Move each end towards the other gene's or away from it, clipped; ends that cross are swapped."""
        first, second = gene
        lower, upper = self._lower, self._upper
        first += (2 * uniform() - 1) * (first - other[0])
        second += (2 * uniform() - 1) * (second - other[1])
        first = lower if first < lower else min(first, upper)
        second = lower if second < lower else min(second, upper)
        return (first, second) if first <= second else (second, first)

    def bits(self, gene: Gene) -> int:
        """Records up to the upper end, without those below the lower end."""
        if not self._prefixes:
            return bits_of((self._values >= gene[0]) & (self._values <= gene[1]))
        distinct, prefixes = self._distinct, self._prefixes
        return prefixes[bisect_right(distinct, gene[1])] ^ prefixes[bisect_left(distinct, gene[0])]

    def condition(self, gene: Gene) -> Condition:
        """The interval."""
        return Between(self._name, *gene)

    def widen(self, gene: Gene, among: int) -> Gene:
        """Move each end halfway to the next value outside, or to the outermost bound if there is none."""
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
        """Number of intervals that overlap with the gene."""
        return sum(gene[0] <= each.upper and each.lower <= gene[1] for each in conditions)


class CategoryAxis:
    """A categorical column; a gene is a number from 1 to the number of categories, rounded to the nearest."""

    def __init__(self, name: str, codes: NDArray[np.intp], size: int) -> None:
        self._name, self._size = name, size
        self._bits = [bits_of(codes == code) for code in range(size)]

    def code(self, gene: Gene) -> int:
        """The code of the category: the gene rounded to the nearest number (halves down), counted from 0."""
        return min(max(math.ceil(gene[0] - 0.5), 1), self._size) - 1

    def draw(self, uniform: Uniform) -> Gene:
        """Draw a uniform number."""
        first = 1 + uniform() * (self._size - 1)
        return first, first

    def move(self, gene: Gene, other: Gene, uniform: Uniform) -> Gene:
        """Move the number towards the other gene's or away from it, clipped."""
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
        """Return the gene unchanged: a category has no ends."""
        return gene

    def alike(self, gene: Gene, conditions: Sequence[Any]) -> int:
        """Number of conditions for the same category."""
        code = self.code(gene)
        return sum(each.code == code for each in conditions)


def _between(covered: float, next_one: float) -> float:
    """The middle between a covered value and the next one, but never the next one itself."""
    middle = covered + (next_one - covered) / 2
    return covered if middle == next_one else middle


def axes_of(encoded: Encoded, schema: Schema, public_bounds: bool) -> list[Axis]:
    """Make one axis per column, with the bounds of the schema if `public_bounds`, else with those of the values.

    Rules can name the unlisted category only if some record has it.
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
