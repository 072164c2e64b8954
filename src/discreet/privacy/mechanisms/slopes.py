"""The sums that a gradient is made of, at fixed-point weights: integers, of all records and by cell of each group.

These are tasks that engines may know and translate: their fields are public, and their answers are sums of integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.corner import FixedCorner
from discreet.privacy.mechanisms.exact_sums import add_up, divided, in_blocks, limbs_of, split_limbs
from discreet.privacy.mechanisms.problem import BLOCK, ENTRIES
from discreet.queries.arrays import Integers


@dataclass(frozen=True)
class Layout:
    """Where sums lie in an answer: the number of records, the sums over all of them, and those by cell of each group.

    Each sum is one for each class (one for a single hyperplane), in limbs.
    """

    limbs: int
    classes: int
    cells: tuple[int, ...]

    @property
    def size(self) -> int:
        """Length of the answer."""
        return 1 + self.limbs * self.classes * (1 + sum(self.cells))

    def divided(self, answer: Integers) -> list[Integers]:
        """The sums over all records, and those of each group: limbs by class by cell."""
        sizes = [self.classes * each for each in (1, *self.cells)]
        parts = divided(answer[1:], self.limbs, sizes)
        return [part.reshape(self.limbs, self.classes, -1) for part in parts]

    def add(self, total: Integers, codes: Sequence[NDArray[np.intp]], values: NDArray[Any]) -> None:
        """Add numbers, classes by records, at the cells of the records in each group."""
        total[0] += values.shape[1]
        limbs = split_limbs(values, self.limbs)
        everyone, *groups = self.divided(total)
        everyone[:, :, 0] += np.stack([limb.sum(axis=1) for limb in limbs]).astype(np.int64)
        for group, code in zip(groups, codes, strict=True):
            for place in range(self.classes):
                add_up(group[:, place], code, [limb[place] for limb in limbs])


def scores_of(
    tables: Sequence[NDArray[Any]], constant: Any, codes: Sequence[NDArray[np.intp]], records: int
) -> NDArray[Any]:
    """The constant and what the cells of each record add to it: by record, and by class if there are several."""
    kind: Any = tables[0].dtype if tables else object
    scores = np.repeat(np.asarray(constant, dtype=kind)[None, ...], records, axis=0)
    for table, code in zip(tables, codes, strict=True):
        scores += table.take(code, axis=0)
    return scores


@dataclass(frozen=True, eq=False)
class Slopes:
    """The sums of the records' slopes, at a fixed-point vector: y times the slope of the corner at y w.x."""

    tables: tuple[NDArray[Any], ...]
    """What each cell adds to w.x."""
    constant: int
    corner: FixedCorner

    @property
    def layout(self) -> Layout:
        """Where the sums lie."""
        return Layout(limbs_of(self.corner.full), 1, tuple(map(len, self.tables)))

    @property
    def size(self) -> int:
        """Length of the answer."""
        return self.layout.size

    def __call__(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> Integers:
        """The sums of some records."""
        layout, total = self.layout, np.zeros(self.size, dtype=np.int64)
        for block, signs in in_blocks(codes, sides, BLOCK):
            margins = scores_of(self.tables, self.constant, block, len(signs))
            own = signs.astype(margins.dtype)
            margins *= own
            slopes = self.corner.rising(margins) * own
            layout.add(total, block, slopes[None, :])
        return total


@dataclass(frozen=True, eq=False)
class ClassSlopes:
    """The sums of T (p - e_y), by class, at fixed-point weights: p is the projection of u / T on the simplex, u the
    scores plus a margin for all classes but y."""

    tables: tuple[NDArray[Any], ...]
    """What each cell adds to the scores: cells by classes."""
    constant: NDArray[Any]
    margin: int
    unit: int
    """T."""

    @property
    def layout(self) -> Layout:
        """Where the sums lie."""
        return Layout(limbs_of(self.unit), len(self.constant), tuple(map(len, self.tables)))

    @property
    def size(self) -> int:
        """Length of the answer."""
        return self.layout.size

    def __call__(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> Integers:
        """The sums of some records."""
        layout, total = self.layout, np.zeros(self.size, dtype=np.int64)
        for block, signs in in_blocks(codes, sides, max(256, min(BLOCK, ENTRIES // layout.classes))):
            own = np.arange(len(signs)), signs.astype(np.intp)
            scores = with_margin(scores_of(self.tables, self.constant, block, len(signs)), own, self.margin)
            _, above, counts = supported(scores, self.unit)
            theta = np.take_along_axis(above, counts - 1, axis=1) // counts
            slopes = np.maximum(scores - theta, 0)
            slopes[own] -= self.unit
            layout.add(total, block, np.ascontiguousarray(slopes.T))
        return total


def with_margin(scores: NDArray[Any], own: tuple[NDArray[np.intp], NDArray[np.intp]], margin: int) -> NDArray[Any]:
    """The scores, plus the margin for all classes but each record's own; in place."""
    scores += margin
    scores[own] -= margin
    return scores


def supported(scores: NDArray[Any], unit: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.intp]]:
    """Of each record: its scores in descending order, their running sums less T, and how many have p > 0."""
    descending = -np.sort(-scores, axis=1)
    above = np.cumsum(descending, axis=1) - unit
    counts = (descending * np.arange(1, scores.shape[1] + 1) > above).sum(axis=1, keepdims=True).astype(np.intp)
    return descending, above, counts


def active_of(scores: NDArray[Any], unit: int) -> NDArray[np.bool_]:
    """Which classes of each record have p > 0."""
    descending, _, counts = supported(scores, unit)
    return np.asarray(scores >= np.take_along_axis(descending, counts - 1, axis=1)).astype(bool)
