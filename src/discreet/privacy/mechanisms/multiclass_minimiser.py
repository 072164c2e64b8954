"""The minimiser of the objective of all classes, with a proof in exact arithmetic of how near the result is.

F(W) = sum over records of l(W; x, y) + (mu / 2) |W|^2 + <B, W>, W one row per class, where
l = max over p in the simplex of <p, u> - (tau / 2) |p|^2, minus z_y; z = W x, and u is z plus the margin for all
classes but y. The p that attains it is the projection of u / tau on the simplex; the gradient of l is (p - e_y) x^T.

Guarantee  the result W is within tolerance / mu of the minimiser of F, in exact arithmetic, for all records in any
           order; the search always ends.
Proof      F is mu-strongly convex, so |W - W*| <= |grad F(W)| / mu. `ExactMulticlassGradient` bounds |grad F(W)| for
           a fixed-point W. With T = tau * 2**bits, an integer, and scores in units of 2**-bits:
           1. Scores are sums of integers, rounded once per column: each is off by at most columns / 2. A projection
           brings no two points further apart, so T p is off by at most root(K) * columns / 2 in L2 norm.
           2. T p = max(0, u - theta) with theta = (sum of the `count` largest u - T) / count, where `count` is the
           number of j for which j * (j-th largest u) exceeds (sum of the j largest) - T: comparisons of integers. theta
           is rounded down by less than 1, which changes each max(0, u - theta) by less than 1: by root(K) in all.
           3. Sums over records are sums of integers, without rounding and in any order; the rest is fractions. As x
           has length at most root(groups), the error of the gradient is at most
           rows * root(groups) * root(K) * (columns / 2 + 1) / T, which is added to its norm.
           The search ends for the reason given in minimiser.py, with L = mu + groups * rows / tau: one record's Hessian
           is (I_S - 11^T / |S|) / tau on the classes S with p > 0, times x x^T, and at most |x|^2 / tau.
Test       tests/privacy/mechanisms/test_multiclass_objective.py::test_the_certificate_holds and
           ::test_the_minimiser_is_found_whatever_the_records
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.curvature import ClassBend, Curvature, Pairs, Solver, Vectors
from discreet.privacy.mechanisms.exact_sums import FAST, gathered_limbs, joined, rounded_table
from discreet.privacy.mechanisms.minimiser import SAMPLE, SURE, descended, fixed_point, nearest, searched
from discreet.privacy.mechanisms.multiclass_problem import MARGIN, MulticlassObjective
from discreet.privacy.mechanisms.problem import SLACK, Problem, Records, Vector
from discreet.privacy.mechanisms.secants import Guide, Guiding
from discreet.privacy.mechanisms.slopes import ClassSlopes
from discreet.privacy.mechanisms.summed import NEAR, SummedGuide

SMOOTHER = 4.0
"""The first steps take a tau this many times as large. Chosen for speed, which benchmarks/svm.py measures."""


def minimise(
    records: Records, classes: int, tau: float, mu: float, b: Sequence[Fraction], tolerance: float
) -> list[Fraction]:
    """A point within tolerance / mu of the minimiser of F (proof above), as one row per class, flattened."""
    floats = np.array([float(each) for each in b])

    def over(problem: Problem) -> MulticlassObjective:
        return MulticlassObjective(problem.compressed(), classes, tau, mu, floats)

    def search(objective: MulticlassObjective, w: Vector, near: float) -> Vector:
        """The minimiser of the objective in floating point."""
        problem = objective.problem
        step = problem.rows // SAMPLE
        if step > 4:
            thin = problem.thinned(step)
            for wide in (SMOOTHER * tau, tau):
                w = descended(MulticlassObjective(thin, classes, wide, mu, floats), w, 0.01 * mu, 20)
        else:
            w = descended(MulticlassObjective(problem, classes, SMOOTHER * tau, mu, floats), w, 0.01 * mu, 20)
        return descended(objective, w, near, 1000)

    def by_sums(w: Vector, smoothness: Sequence[float]) -> SummedGuide:
        """A guide from w by sums alone, with each of these values of tau."""
        stages = [SummedClasses(OverAll(records, classes, each, mu), b) for each in smoothness]
        return SummedGuide(stages, w, tolerance / NEAR)

    with np.errstate(all="ignore"):  # no warning may depend on the records
        guide: Guiding
        if records.sums_only:
            guide = by_sums(np.zeros(len(b)), [SMOOTHER * tau, tau])
        else:
            guide = Guide(records, over, search, np.zeros(len(b)), tolerance / 8, lambda w: by_sums(w, [tau]))
        return certified(OverAll(records, classes, tau, mu), b, guide.start, tolerance, guide)


class OverAll(NamedTuple):
    """The objective of all records, wherever they are: for the exact gradient."""

    problem: Records
    classes: int
    tau: float
    mu: float


def certified(
    objective: MulticlassObjective | OverAll,
    b: Sequence[Fraction],
    w: Vector,
    tolerance: float,
    guide: Guiding | None = None,
) -> list[Fraction]:
    """Take steps from w until the exact gradient is within the tolerance."""
    return searched(
        lambda bits: ExactMulticlassGradient(objective, b, bits),
        fast_bits(w, objective.classes, objective.tau),
        Guide.of(objective) if guide is None else guide,
        w,
        tolerance,
    )


def fast_bits(w: Vector, classes: int, tau: float) -> int:
    """Bits after the binary point such that no sum leaves the 64-bit integers, even if each coordinate moves by 1."""
    rows = np.abs(w).reshape(classes, -1)
    largest = classes * (float(rows.sum(axis=1).max()) + 2 * rows.shape[1] + 2 * MARGIN + 2) + 2 * tau
    bits = min(FAST, 60 - math.ceil(math.log2(largest))) if largest < 2**30 else 0
    return bits if bits >= 30 else SURE


class ExactMulticlassGradient:
    """grad F at fixed-point weights: integers and fractions only."""

    def __init__(self, objective: MulticlassObjective | OverAll, b: Sequence[Fraction], bits: int) -> None:
        self._records: Records = objective.problem
        self._classes, self._b, self.bits = objective.classes, b, bits
        self._mu, self._tau = Fraction(objective.mu), Fraction(objective.tau)
        unit = self._tau * 2**bits
        if unit.denominator != 1:
            raise ValueError(f"tau={objective.tau} is not a multiple of 2**-{bits}; use a rounder number")
        self._unit = unit.numerator
        self.steepest, self.rows = math.inf, 0

    def point(self, w: Vector) -> list[int]:
        """The fixed-point vector nearest to a float vector."""
        return fixed_point(w, self.bits)

    def __call__(self, point: Sequence[int]) -> tuple[Vector, float]:
        """The gradient, each entry rounded once, and a bound on the norm of the error in its sum over records."""
        features, classes = self._records.features, self._classes
        slopes = ClassSlopes(*self.tables(point), MARGIN << self.bits, self._unit)
        answer = self._records.fold(slopes)
        everyone, *groups = slopes.layout.divided(answer)
        gathered, units = [], [1]
        for feature, group in reversed(list(zip(features, groups, strict=True))):
            gathered.append(np.stack([gathered_limbs(feature, group[:, place]) for place in range(classes)], axis=1))
            units = [feature.unit] * feature.size + units
        by_coordinate = np.concatenate(
            [*reversed(gathered), np.array(joined(everyone[:, :, 0]), dtype=object)[None, :]]
        )
        return self._finished(by_coordinate.T.ravel().tolist(), units * classes, point), self._error(int(answer[0]))

    def tables(self, point: Sequence[int]) -> tuple[tuple[NDArray[Any], ...], NDArray[Any]]:
        """What each cell of each group adds to the scores (cells by classes), and the constants."""
        by_class = np.array(point, dtype=object).reshape(self._classes, -1)
        kind, tables, offset = self._kind(by_class), [], 0
        for feature in self._records.features:
            rows = [rounded_table(feature, row[offset : offset + feature.size].tolist()) for row in by_class]
            tables.append(np.stack(rows, axis=1).astype(kind))
            offset += feature.size
        return tuple(tables), by_class[:, -1].astype(kind)

    def bend(self, point: Sequence[int], vectors: Vectors, pairs: Pairs) -> ClassBend:
        """The sums that tell how F bends at the point."""
        return ClassBend(vectors, *self.tables(point), MARGIN << self.bits, self._unit, pairs)

    def _error(self, rows: int) -> float:
        """The bound for the records of this pass."""
        groups, self.rows = len(self._records.features) + 1, rows
        self.steepest = float(self._mu) + groups * rows / float(self._tau)
        per_record = Fraction(groups + 1, 2 * self._unit)
        return float(rows * per_record) * math.sqrt(groups * self._classes) * (1 + SLACK)

    def _kind(self, by_class: NDArray[Any]) -> Any:
        """Machine integers if no sum can wrap around: the sum of |w| bounds every score; else integers of any size."""
        largest = max(sum(map(abs, row)) for row in by_class.tolist())
        largest += len(self._records.features) + (MARGIN << self.bits)
        fits = self.bits <= FAST and self._classes * largest + 2 * self._unit < 2**62
        return np.int64 if fits else object

    def _finished(self, gathered: list[int], units: list[int], point: Sequence[int]) -> Vector:
        """The gradient from the sums over records: fractions, each rounded once."""
        mu, whole = self._mu, 1 << self.bits
        return np.array(
            [
                nearest(Fraction(total, unit * self._unit) + mu * Fraction(value, whole) + noise)
                for total, unit, value, noise in zip(gathered, units, point, self._b, strict=True)
            ]
        )


class SummedClasses:
    """F by sums alone, for a search."""

    def __init__(self, objective: OverAll, b: Sequence[Fraction]) -> None:
        self._over, self._b, self._rows = objective, b, 0
        features = objective.problem.features
        self._curvature = Curvature(features, objective.classes, 1 / objective.tau, objective.mu)

    def gradient(self, w: Vector) -> Vector:
        """The gradient of F, from one pass."""
        exact = self._exact(w)
        gradient, _ = exact(exact.point(w))
        self._rows = exact.rows
        return gradient

    @property
    def complete(self) -> bool:
        """Whether `bend` knows all second derivatives."""
        return self._curvature.complete

    def bend(self, w: Vector, closely: bool) -> Solver:
        """Solves Newton's equation at w, from one pass over all records, or over some if not `closely`."""
        exact, curvature = self._exact(w), self._curvature
        asked = exact.bend(exact.point(w), curvature.vectors(self._rows, closely), curvature.pairs)
        return curvature.solver(self._over.problem, asked)

    def _exact(self, w: Vector) -> ExactMulticlassGradient:
        bits = min(fast_bits(w, self._over.classes, self._over.tau), FAST)
        return ExactMulticlassGradient(self._over, self._b, bits)
