"""How an objective bends, added up over the records in integers: the same from every engine, in any order.

Only a search uses it, and every step of a search is checked: that it is rounded, or taken from a part of the records,
is no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.corner import FixedCorner
from discreet.privacy.mechanisms.exact_sums import in_blocks
from discreet.privacy.mechanisms.problem import Records
from discreet.privacy.mechanisms.slopes import active_of, scores_of, with_margin
from discreet.queries.arrays import Integers
from discreet.queries.hyperplanes import Feature
from discreet.queries.mixing import fixed_factors, scattered

Vector = NDArray[np.float64]
Solver = Callable[[Vector], Vector]
Pairs = tuple[tuple[int, int], ...]
Weighed = tuple[NDArray[np.intp], Integers]
"""Some records of a block, in their order, and what each of them counts."""

BLOCK = 1 << 15
"""The most records that are multiplied together: products of two coordinates below 2**13 times the bend of a corner, or
below 2**10 times `PARTS`, are exact in floating point, and so are their sums over a block."""
ENTRIES = 1 << 22
"""The most numbers in a dense block of records: 32 MB."""
COORDINATE, CLASS_COORDINATE = 13, 10
"""Bits of a coordinate, for one hyperplane and for those of several classes: sums over 2**31 records fit 64 bits."""
MOST = 1 << 22
"""The most sums of a pass, 32 MB: with more coordinates, classes are looked at by themselves, then coordinates."""
WIDE = 64
"""With at least this many coordinates, equal records of a block are multiplied once (speed)."""
QUICK = 1 << 32
"""With more products than this, a part of the records is looked at (speed)."""
PARTS = 840
"""Shares of a record are counted in parts of this: up to eight classes divide it."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Records as vectors of integers: of each cell of each group, two coordinates and their weights."""

    places: tuple[Integers, ...]
    weights: tuple[Integers, ...]
    width: int
    diagonal: bool
    """Whether squares of coordinates are all that is wanted, not products of all pairs."""
    zeros: int
    """How many bits of a record's number have to be zero for it to be counted: one record of 2**zeros is."""

    @classmethod
    def of(cls, features: Sequence[Feature], bits: int, diagonal: bool, zeros: int) -> Vectors:
        """The vectors of these groups and the constant, with coordinates of at most this many bits."""
        places, weights, offset = [], [], 0
        for feature, unit in zip(features, units(features, bits), strict=True):
            places.append(feature.places + offset)
            weights.append(feature.weights * unit // feature.unit)
            offset += feature.size
        return cls(tuple(places), tuple(weights), offset + 1, diagonal, zeros)

    @property
    def factors(self) -> list[int]:
        """What the side and the codes of a record are multiplied by, for its number."""
        return fixed_factors(1 + len(self.places))

    @property
    def size(self) -> int:
        """Number of sums for one table of products."""
        return self.width if self.diagonal else self.width**2

    def counted(
        self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]
    ) -> Iterator[tuple[list[NDArray[np.intp]], NDArray[Any], Integers]]:
        """The records that are counted, in blocks, and how many each stands for: equal ones may be one."""
        if self.zeros:
            numbers = self._numbers(codes, sides)
            chosen = np.flatnonzero(numbers & ((1 << self.zeros) - 1) == 0)
            codes, sides = [code[chosen] for code in codes], sides[chosen]
        for block, own in in_blocks(codes, sides, max(256, min(BLOCK, ENTRIES // self.width))):
            first, counts = self._distinct(block, own)
            yield [code[first] for code in block], own[first], counts

    def _numbers(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> NDArray[np.int64]:
        return scattered([sides.astype(np.uint16), *codes], self.factors)

    def _distinct(
        self, codes: Sequence[NDArray[np.intp]], sides: NDArray[Any]
    ) -> tuple[NDArray[np.intp] | slice, Integers]:
        """One of each kind of equal records, and how many there are of it, where that saves much; else all."""
        every = slice(None), np.ones(len(sides), dtype=np.int64)
        if self.width < WIDE or self.diagonal:
            return every
        _, first, kind, counts = np.unique(
            self._numbers(codes, sides), return_index=True, return_inverse=True, return_counts=True
        )
        same = 2 * len(first) <= len(sides) and all((each == each[first][kind]).all() for each in (*codes, sides))
        return (first, counts) if same else every

    def add_products(
        self, total: Integers, codes: Sequence[NDArray[np.intp]], records: int, tables: Sequence[Weighed]
    ) -> None:
        """Add, for each table, the sum over its records of what each counts times the products of its coordinates."""
        dense, every = np.zeros((records, self.width)), np.arange(records)
        for places, weights, code in zip(self.places, self.weights, codes, strict=True):
            for place, weight in zip(places.T, weights.T, strict=True):
                if weight.any():
                    dense[every, place.take(code)] += weight.take(code)
        dense[:, -1] = 1.0
        by_table = total.reshape(len(tables), -1)
        for number, weighed_rows in enumerate(tables):
            rows, counts = weighed_rows
            some = dense if len(rows) == records else dense[rows]
            weighed = some if (counts == 1).all() else some * counts[:, None]
            products = (some * weighed).sum(axis=0) if self.diagonal else (some.T @ weighed).ravel()
            by_table[number] += products.astype(np.int64)


def units(features: Sequence[Feature], bits: int) -> list[int]:
    """What a coordinate of 1 is in each group, as an integer."""
    return [min(feature.unit, 1 << bits) for feature in features]


@dataclass(frozen=True, eq=False)
class Bend:
    """The sum of l'' x x^T over the records, at a fixed-point vector, l'' as a multiple of the last piece's."""

    vectors: Vectors
    tables: tuple[NDArray[Any], ...]
    """What each cell adds to w.x."""
    constant: int
    corner: FixedCorner

    @property
    def size(self) -> int:
        """Number of sums."""
        return self.vectors.size

    def __call__(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> Integers:
        """The sums of some records."""
        total = np.zeros(self.size, dtype=np.int64)
        for block, signs, counts in self.vectors.counted(codes, sides):
            margins = scores_of(self.tables, self.constant, block, len(signs))
            margins *= signs.astype(margins.dtype)
            bends = self.corner.bending(margins)
            rows = np.flatnonzero(bends)
            some = [code[rows] for code in block]
            self.vectors.add_products(total, some, len(rows), [(np.arange(len(rows)), (bends * counts)[rows])])
        return total


@dataclass(frozen=True, eq=False)
class ClassBend:
    """The sums of (I_S - 11^T / |S|) x x^T for pairs of classes, S the classes with p > 0 of a record.

    1 / |S| is rounded down, so that no sum is less convex than that.
    """

    vectors: Vectors
    tables: tuple[NDArray[Any], ...]
    """What each cell adds to the scores: cells by classes."""
    constant: NDArray[Any]
    margin: int
    unit: int
    """T, as in ClassSlopes."""
    pairs: Pairs

    @property
    def size(self) -> int:
        """Number of sums."""
        return len(self.pairs) * self.vectors.size

    def __call__(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> Integers:
        """The sums of some records."""
        total = np.zeros(self.size, dtype=np.int64)
        for block, signs, counts in self.vectors.counted(codes, sides):
            own = np.arange(len(signs)), signs.astype(np.intp)
            scores = with_margin(scores_of(self.tables, self.constant, block, len(signs)), own, self.margin)
            active = active_of(scores, self.unit).T
            rows = np.flatnonzero(active.sum(axis=0) > 1)
            active, some = active[:, rows], [code[rows] for code in block]
            parts = PARTS // np.maximum(active.sum(axis=0), 1)
            tables: list[Weighed] = []
            for one, other in self.pairs:
                both = np.flatnonzero(active[one] & active[other])
                tables.append((both, ((PARTS if one == other else 0) - parts[both]) * counts[rows][both]))
            self.vectors.add_products(total, some, len(rows), tables)
        return total


@dataclass(frozen=True, eq=False)
class Curvature:
    """Which products are added up for the second derivatives of F, and how Newton's equation is solved with them.

    `classes` is 1 for a hyperplane between two. All second derivatives if they are not too many, else those within a
    class, else those of single coordinates.
    """

    features: tuple[Feature, ...]
    classes: int
    steepness: float
    """The second derivative of the loss that counts as one."""
    mu: float

    @property
    def width(self) -> int:
        """Number of coordinates, including the constant."""
        return sum(feature.size for feature in self.features) + 1

    @property
    def bits(self) -> int:
        """Bits of a coordinate."""
        return COORDINATE if self.classes == 1 else CLASS_COORDINATE

    @property
    def pairs(self) -> Pairs:
        """The pairs of classes whose products are added up."""
        every = tuple((one, other) for one in range(self.classes) for other in range(one, self.classes))
        return every if self.fits(len(every)) else tuple((one, one) for one in range(self.classes))

    def fits(self, tables: int) -> bool:
        """Whether one pass can add up this many tables of products."""
        return tables * self.width**2 <= MOST

    def vectors(self, rows: int, closely: bool) -> Vectors:
        """The records as vectors: all of them, or a part if that is much faster and they are not looked at closely."""
        diagonal = not self.fits(self.classes)
        products = rows * len(self.pairs) * (self.width if diagonal else self.width**2)
        wanted = max(products / QUICK, 1.0)
        enough = max(rows / (64 * self.classes * self.width), 1.0)
        return Vectors.of(self.features, self.bits, diagonal, 0 if closely else int(math.log2(min(wanted, enough))))

    @property
    def complete(self) -> bool:
        """Whether all second derivatives are added up."""
        return self.fits(self.classes * (self.classes + 1) // 2)

    def solver(self, records: Records, asked: Bend | ClassBend) -> Solver:
        """Solves Newton's equation approximately, with what one pass tells; NaN if floats fail."""
        vectors, pairs = asked.vectors, self.pairs
        sizes = [feature.size for feature in self.features]
        lengths = np.repeat([*map(float, units(self.features, self.bits)), 1.0], [*sizes, 1])
        factor = self.steepness * 2.0**vectors.zeros / (1 if self.classes == 1 else PARTS)
        sums = records.fold(asked).reshape(len(pairs), -1) * factor
        if vectors.diagonal:
            diagonal = (sums / lengths**2 + self.mu).ravel()
            return lambda target: np.asarray(target / diagonal)
        tables = sums.reshape(len(pairs), self.width, self.width) / np.outer(lengths, lengths)
        blocks = self._together(tables) if self.complete else tables
        blocks += self.mu * np.eye(blocks.shape[1])
        return lambda target: _solved(blocks, target)

    def _together(self, tables: Vector) -> Vector:
        """The tables of all pairs of classes, as one block."""
        whole = np.zeros((self.classes, self.width, self.classes, self.width))
        for (one, other), table in zip(self.pairs, tables, strict=True):
            whole[one, :, other], whole[other, :, one] = table, table.T
        return whole.reshape(1, self.classes * self.width, -1)


def _solved(blocks: Vector, target: Vector) -> Vector:
    try:
        return np.linalg.solve(blocks, target.reshape(len(blocks), -1, 1)).ravel().astype(np.float64)
    except np.linalg.LinAlgError:
        return np.full_like(target, np.nan)
