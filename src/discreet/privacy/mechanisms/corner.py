"""The rounded corner of a hinge: a chain of parabolas, each bent half as much as the one before.

The hinge max(0, 1 - z) is 0 above z = 1 and falls with slope 1 below. Rounded, it begins to rise at 1 + h, first with
the second derivative 1 / (2h), then with half of it, and so on, until its slope is full. What a record does to noise
grows with its slope, and what it does to a determinant grows with its second derivative (objective.py): a corner that
is bent little where it is steep costs less than the largest slope and the largest bend together.

All numbers of a corner are integers in steps of 2**-`STEPS`, so that its slope at a fixed-point margin is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

STEPS = 20
"""A corner is described in steps of 2**-20."""


@dataclass(frozen=True)
class Corner:
    """The loss l of a margin z: 0 from `start` on, and below it a parabola for each of `rises`, then a line.

    In piece j the slope |l'| rises by rises[j] / sum(rises), and l'' is 1 / (2**j `first`), `first` = sum(rises) steps.
    """

    start: int
    rises: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.rises or min(self.rises) < 0 or self.rises[0] < 1:
            raise ValueError(f"rises={self.rises}; need a positive integer, and none below 0")

    @classmethod
    def of(cls, huber: float, shares: Sequence[Fraction] = ()) -> Corner:
        """A hinge that begins to rise at 1 + `huber`, with the second derivative 1 / (2 `huber`).

        `shares` are the slopes at which pieces end, but for the last, which ends at 1. They are rounded down.
        """
        half = max(1, round(math.ldexp(huber, STEPS)))
        ends = [math.floor(share * 2 * half) for share in shares] + [2 * half]
        return cls((1 << STEPS) + half, tuple(end - begin for begin, end in zip([0, *ends], ends, strict=False)))

    @property
    def full(self) -> int:
        """What the slope is counted in: this many are 1."""
        return sum(self.rises)

    @property
    def slopes(self) -> list[Fraction]:
        """The largest |l'| of each piece."""
        return [Fraction(each, self.full) for each in accumulate(self.rises)]

    @property
    def bends(self) -> list[Fraction]:
        """The second derivative of each piece."""
        return [Fraction(1 << STEPS, self.full << piece) for piece in range(len(self.rises))]

    @property
    def bend(self) -> Fraction:
        """The largest second derivative, that of the first piece."""
        return self.bends[0]

    @property
    def widths(self) -> list[int]:
        """How much of the margin each piece takes."""
        return [rise << piece for piece, rise in enumerate(self.rises)]

    @property
    def ends(self) -> list[int]:
        """The margin at which each piece begins, from above."""
        return [self.start - before for before in accumulate([0, *self.widths[:-1]])]

    @property
    def reach(self) -> float:
        """No number that describes the corner, in fixed point, is larger than this, as a margin."""
        return math.ldexp(self.start + sum(self.widths) + (self.full << len(self.rises)), -STEPS)

    def value(self, margins: Vector) -> Vector:
        """The loss, in floating point."""
        total = np.zeros_like(margins)
        for end, width, bend in self._pieces():
            gap = np.maximum(end - margins, 0.0)
            total += bend * np.where(gap < width, gap * gap / 2, width * (gap - width / 2))
        return total

    def slope(self, margins: Vector) -> Vector:
        """|l'|, in floating point."""
        total = np.zeros_like(margins)
        for end, width, bend in self._pieces():
            total += bend * np.clip(end - margins, 0.0, width)
        return total

    def bending(self, margins: Vector) -> Vector:
        """The second derivative, in floating point."""
        total = np.zeros_like(margins)
        for end, width, bend in self._pieces():
            total += bend * ((margins <= end) & (margins > end - width))
        return total

    def _pieces(self) -> Iterator[tuple[float, float, float]]:
        for end, width, bend in zip(self.ends, self.widths, self.bends, strict=True):
            if width:
                yield math.ldexp(end, -STEPS), math.ldexp(width, -STEPS), float(bend)

    def at(self, bits: int) -> FixedCorner:
        """The same in fixed point, with at least `STEPS` bits."""
        finer = bits - STEPS
        return FixedCorner(tuple(end << finer for end in self.ends), tuple(width << finer for width in self.widths))


@dataclass(frozen=True)
class FixedCorner:
    """A corner in the fixed point of margins: where pieces begin, from above, and how wide they are. Public."""

    ends: tuple[int, ...]
    widths: tuple[int, ...]

    @property
    def factors(self) -> list[int]:
        """The second derivatives of the pieces, as multiples of the last one's."""
        return [1 << piece for piece in reversed(range(len(self.widths)))]

    @property
    def full(self) -> int:
        """The full slope, in the units of `rising`."""
        return sum(factor * width for factor, width in zip(self.factors, self.widths, strict=True))

    def rising(self, margins: NDArray[Any]) -> NDArray[Any]:
        """|l'| at integer margins, as a part of `full`: exact."""
        total = np.zeros_like(margins)
        for end, width, factor in zip(self.ends, self.widths, self.factors, strict=True):
            total += np.minimum(np.maximum(end - margins, 0), width) * factor
        return total

    def bending(self, margins: NDArray[Any]) -> NDArray[np.int64]:
        """l'' at integer margins, as a multiple of that of the last piece."""
        total = np.zeros(len(margins), dtype=np.int64)
        for end, width, factor in zip(self.ends, self.widths, self.factors, strict=True):
            total += factor * ((margins <= end) & (margins > end - width)).astype(np.int64)
        return total
