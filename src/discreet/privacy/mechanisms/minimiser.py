"""The minimiser of a perturbed objective, with a proof in exact arithmetic of how near the result is.

F(w) = sum over records of l(y w.x) + (mu / 2) |w|^2 + b.w, where l is the hinge max(0, 1 - z), rounded to a parabola
between 1 - h and 1 + h (Huber). Its second derivative is at most c = 1 / (2h).

Guarantee  the result w is within tolerance / mu of the minimiser of F, in exact arithmetic, for all records in any
           order; the search always ends.
Proof      F is mu-strongly convex, so |w - w*| <= |grad F(w)| / mu. `ExactGradient` bounds |grad F(w)| for a
           fixed-point w. Margins are sums of integers, rounded once per column. The slope of l,
           s = clip((1 + h - z) / 2h, 0, 1), is off by at most (columns + 2) / (2 * width) with width = 2h * 2**bits
           (half a unit for each column, for 1 + h and for the width). Sums over records are sums of integers, without
           rounding and in any order; the rest is fractions. A vector x has length at most root(groups), so the error
           of the gradient is at most rows * root(groups) * (columns + 2) / (2 * width), which is added to its norm.
           `certified` returns only a point that passes. It ends: if Newton's step does not help, a step of -grad F / L
           with L = mu + c * groups * rows shrinks |grad F| by 1 - mu / L (grad F(w - g / L) = (I - A / L) g for some A
           with mu <= A <= L); if the rounding to 2**-bits would stop that, integers of any size are used.
Test       tests/privacy/mechanisms/test_objective.py::test_the_certificate_holds and
           ::test_the_minimiser_is_found_whatever_the_records
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.problem import SLACK, Objective, Problem, Vector
from discreet.queries.hyperplanes import Feature

SAMPLE = 1 << 12
"""On larger tables, start from a sample of about this size. Chosen for speed, which benchmarks/svm.py measures."""
ROUND = 2.0
"""Width of the rounded corner of the hinge in the first steps. Chosen for speed, which benchmarks/svm.py measures."""
FAST, SURE = 50, 200
"""Bits after the binary point: with 64-bit integers, whose sums must not overflow, and with integers of any size, where
rounding stays far below every tolerance."""


def minimise(problem: Problem, huber: float, mu: float, b: Sequence[Fraction], tolerance: float) -> list[Fraction]:
    """A point within tolerance / mu of the minimiser of F (proof above)."""
    problem, floats = problem.compressed(), np.array([float(each) for each in b])
    step, w = problem.rows // SAMPLE, np.zeros(len(b))
    few = step <= 4
    with np.errstate(all="ignore"):  # no warning may depend on the records
        if not few:
            w = _sharpened(problem.thinned(step), ROUND, huber, mu, floats, step, w)
        w = _sharpened(problem, ROUND if few else ROUND / 8, huber, mu, floats, 1, w)
        objective = Objective(problem, huber, mu, floats)
        return certified(objective, b, descended(objective, w, tolerance / 8, 1000), tolerance)


def _sharpened(problem: Problem, first: float, huber: float, mu: float, b: Vector, weight: int, w: Vector) -> Vector:
    """A start near the minimiser: minimise with a round corner, then with sharper ones, which mislead Newton's step."""
    width = first
    while width > huber:
        w = descended(Objective(problem, width, mu, b, weight), w, 0.01 * mu, 20)
        width /= 2
    return w


def descended(objective: Any, w: Vector, tolerance: float, steps: int) -> Vector:
    """Newton's method with halved steps, in floating point, until it gains nothing: only a good start.

    The objective is an `Objective` or a `MulticlassObjective`, which each know what they call the margins at w.
    """
    margins = objective.margins(w)
    value = objective.value(w, margins)
    for _ in range(steps):
        gradient = objective.gradient(w, margins)
        if float(np.linalg.norm(gradient)) <= tolerance:
            break
        step = objective.newton(margins, gradient)
        slope = float(gradient @ step)
        for halvings in range(40):
            trial = w + step * 0.5**halvings
            trial_margins = objective.margins(trial)
            trial_value = objective.value(trial, trial_margins)
            if trial_value <= value + 1e-4 * 0.5**halvings * slope:
                break
        else:
            break
        gains, w, margins, value = trial_value < value, trial, trial_margins, trial_value
        if not gains:
            break  # floats cannot improve it: `certified` continues with integers
    return w


def certified(objective: Objective, b: Sequence[Fraction], w: Vector, tolerance: float) -> list[Fraction]:
    """Take steps from w until the exact gradient is within the tolerance."""
    problem = objective.problem
    return searched(
        lambda bits: ExactGradient(objective, b, bits),
        fast_bits(w, objective.huber),
        lambda w, gradient: objective.newton(objective.margins(w), gradient),
        objective.mu + problem.groups * problem.rows / (2 * objective.huber),
        w,
        tolerance,
    )


class Exact(Protocol):
    """grad F at fixed-point vectors, with a bound on the norm of its error."""

    bits: int

    def __call__(self, point: Sequence[int]) -> tuple[Vector, float]: ...


def searched(
    exact_with: Callable[[int], Exact],
    bits: int,
    newton: Callable[[Vector, Vector], Vector],
    steepest: float,
    w: Vector,
    tolerance: float,
) -> list[Fraction]:
    """Take steps from w until the exact gradient, at first with `bits`, is within the tolerance.

    `newton` proposes a step from a point and its gradient; `steepest` bounds the second derivative of F.
    """
    exact = exact_with(bits)
    point = fixed_point(w if np.isfinite(w).all() else np.zeros_like(w), exact.bits)
    gradient, error = exact(point)
    if not math.isfinite(norm(gradient)):  # floats failed: start from zero, any start will do
        point = [0] * len(point)
        gradient, error = exact(point)
    tried = 0
    while not norm(gradient) + error <= tolerance:
        tried += 1
        if exact.bits < SURE and (error > tolerance / 2 or tried > 20):
            point = [value << (SURE - exact.bits) for value in point]
            exact = exact_with(SURE)
            gradient, error = exact(point)
            continue
        step = newton(floats_of(point, exact.bits), gradient)
        for move, part in (*((step * part, part) for part in (1.0, 0.5, 0.25, 0.125)), (-gradient / steepest, 0)):
            trial = [value + change for value, change in zip(point, fixed_point(move, exact.bits), strict=True)]
            trial_gradient, trial_error = exact(trial)
            if norm(trial_gradient) < (1 - part / 4) * norm(gradient):
                break
        point, gradient, error = trial, trial_gradient, trial_error
    return [Fraction(value, 1 << exact.bits) for value in point]


def fixed_point(w: Vector, bits: int) -> list[int]:
    """The fixed-point vector nearest to a float vector."""
    return [round(Fraction(value) * 2**bits) for value in w.tolist()]


def floats_of(point: Sequence[int], bits: int) -> Vector:
    """The float vector nearest to a fixed-point vector."""
    return np.array([nearest(Fraction(value, 1 << bits)) for value in point])


def fast_bits(w: Vector, huber: float) -> int:
    """Bits after the binary point such that no sum leaves the 64-bit integers, even if each coordinate moves by 1."""
    largest = float(np.abs(w).sum()) + 2 * len(w) + 2 + 2 * huber
    bits = min(FAST, 60 - math.ceil(math.log2(largest))) if largest < 2**30 else 0
    return bits if bits >= 30 else SURE


class ExactGradient:
    """grad F at fixed-point vectors: integers and fractions only."""

    def __init__(self, objective: Objective, b: Sequence[Fraction], bits: int) -> None:
        self._problem, self._b, self.bits = objective.problem, b, bits
        self._mu = Fraction(objective.mu)
        huber = Fraction(objective.huber)
        self._end, self._width = round((1 + huber) * 2**bits), round(2 * huber * 2**bits)
        columns = len(self._problem.features)
        slope_error = Fraction(columns + 2, 2 * (self._width - 1))
        self._error = float(self._problem.rows * slope_error) * math.sqrt(self._problem.groups) * (1 + SLACK)

    def point(self, w: Vector) -> list[int]:
        """The fixed-point vector nearest to a float vector."""
        return fixed_point(w, self.bits)

    def __call__(self, point: Sequence[int]) -> tuple[Vector, float]:
        """The gradient, each entry rounded once, and a bound on the norm of the error in its sum over records."""
        problem = self._problem
        # the sum of |w| bounds every margin: no sum of machine integers can wrap around
        fits = self.bits <= FAST and sum(map(abs, point)) + self._end + self._width < 2**62
        kind: Any = np.int64 if fits else object
        tables = [
            rounded_table(feature, point[offset : offset + feature.size]).astype(kind)
            for feature, offset in self._groups()
        ]
        sums = [Sums(len(table), kind) for table in tables]
        constant = Sums(1, kind)
        for codes, signs in problem.blocks():
            sides = signs.astype(kind)
            margins = np.full(len(sides), point[-1], dtype=kind)
            for table, code in zip(tables, codes, strict=True):
                margins += table.take(code)
            slopes = np.minimum(np.maximum(self._end - margins * sides, 0), self._width) * sides
            for total, code in zip(sums, codes, strict=True):
                total.add(code, slopes)
            constant.add(np.zeros(len(sides), dtype=np.intp), slopes)
        gathered = [0] * len(point)
        units = [1] * len(point)
        for (feature, offset), total in zip(self._groups(), sums, strict=True):
            units[offset : offset + feature.size] = [feature.unit] * feature.size
            cells = total.values()
            for place, weight in zip(feature.places.T.tolist(), feature.weights.T.tolist(), strict=True):
                for coordinate, factor, value in zip(place, weight, cells, strict=True):
                    gathered[offset + coordinate] += factor * value
        gathered[-1] = constant.values()[0]
        gradient = [
            nearest(Fraction(-total, unit * self._width) + self._mu * Fraction(value, 1 << self.bits) + noise)
            for total, unit, value, noise in zip(gathered, units, point, self._b, strict=True)
        ]
        return np.array(gradient), self._error

    def _groups(self) -> list[tuple[Feature, int]]:
        return list(zip(self._problem.features, self._problem.offsets[:-1], strict=True))


def rounded_table(feature: Feature, own: Sequence[int]) -> NDArray[Any]:
    """What each cell adds to a margin, rounded to an integer, with the weights of this group in fixed point."""
    pairs = zip(feature.places.tolist(), feature.weights.tolist(), strict=True)
    exact = (own[i] * a + own[j] * c for (i, j), (a, c) in pairs)
    return np.array([(2 * value + feature.unit) // (2 * feature.unit) for value in exact], dtype=object)


class Sums:
    """Sums of integers by code that never round: 64-bit numbers in two halves, or integers of any size."""

    HALF = 26

    def __init__(self, size: int, kind: Any) -> None:
        self._size, self._halves = size, [np.zeros(size, dtype=kind) for _ in range(2)]
        self._fast = kind is np.int64

    def add(self, code: NDArray[np.intp], values: NDArray[Any]) -> None:
        """Add each value at its code."""
        high, low = self._halves
        if not self._fast:
            np.add.at(low, code, values)
            return
        # a block's halves sum to less than 2**53: floats hold them exactly
        high += np.bincount(code, values >> self.HALF, minlength=self._size).astype(np.int64)
        low += np.bincount(code, values & ((1 << self.HALF) - 1), minlength=self._size).astype(np.int64)

    def values(self) -> list[int]:
        """The sums."""
        high, low = self._halves
        shift = self.HALF if self._fast else 0
        return [(int(h) << shift) + int(value) for h, value in zip(high.tolist(), low.tolist(), strict=True)]


def nearest(value: Fraction) -> float:
    """The nearest float, or infinity if there is none: no step is taken to such a point."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def norm(gradient: Vector) -> float:
    """The norm, rounded up; infinite if it is too large for a float."""
    length = float(np.linalg.norm(gradient))
    return length * (1 + SLACK) if math.isfinite(length) else math.inf
