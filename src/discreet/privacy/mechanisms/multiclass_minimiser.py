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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.minimiser import (
    FAST,
    SAMPLE,
    SURE,
    Sums,
    descended,
    fixed_point,
    nearest,
    rounded_table,
    searched,
)
from discreet.privacy.mechanisms.multiclass_problem import MARGIN, MulticlassObjective
from discreet.privacy.mechanisms.problem import BLOCK, ENTRIES, SLACK, Problem, Vector

SMOOTHER = 4.0
"""The first steps take a tau this many times as large. Chosen for speed, which benchmarks/svm.py measures."""


def minimise(
    problem: Problem, classes: int, tau: float, mu: float, b: Sequence[Fraction], tolerance: float
) -> list[Fraction]:
    """A point within tolerance / mu of the minimiser of F (proof above), as one row per class, flattened."""
    problem, floats = problem.compressed(), np.array([float(each) for each in b])
    step, w = problem.rows // SAMPLE, np.zeros(len(b))
    with np.errstate(all="ignore"):  # no warning may depend on the records
        if step > 4:
            thin = problem.thinned(step)
            for wide in (SMOOTHER * tau, tau):
                w = descended(MulticlassObjective(thin, classes, wide, mu, floats, step), w, 0.01 * mu, 20)
        else:
            w = descended(MulticlassObjective(problem, classes, SMOOTHER * tau, mu, floats), w, 0.01 * mu, 20)
        objective = MulticlassObjective(problem, classes, tau, mu, floats)
        return certified(objective, b, descended(objective, w, tolerance / 8, 1000), tolerance)


def certified(objective: MulticlassObjective, b: Sequence[Fraction], w: Vector, tolerance: float) -> list[Fraction]:
    """Take steps from w until the exact gradient is within the tolerance."""
    return searched(
        lambda bits: ExactMulticlassGradient(objective, b, bits),
        fast_bits(w, objective.classes, objective.tau),
        lambda w, gradient: objective.newton(objective.margins(w), gradient),
        objective.steepest,
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

    def __init__(self, objective: MulticlassObjective, b: Sequence[Fraction], bits: int) -> None:
        self._problem, self._classes, self._b, self.bits = objective.problem, objective.classes, b, bits
        self._mu, unit = Fraction(objective.mu), Fraction(objective.tau) * 2**bits
        if unit.denominator != 1:
            raise ValueError(f"tau={objective.tau} is not a multiple of 2**-{bits}; use a rounder number")
        self._unit = unit.numerator
        per_record = Fraction(len(self._problem.features) + 2, 2 * self._unit)
        lengths = math.sqrt(self._problem.groups * self._classes)
        self._error = float(self._problem.rows * per_record) * lengths * (1 + SLACK)

    def point(self, w: Vector) -> list[int]:
        """The fixed-point vector nearest to a float vector."""
        return fixed_point(w, self.bits)

    def __call__(self, point: Sequence[int]) -> tuple[Vector, float]:
        """The gradient, each entry rounded once, and a bound on the norm of the error in its sum over records."""
        problem, classes = self._problem, self._classes
        by_class = np.array(point, dtype=object).reshape(classes, -1)
        kind = self._kind(by_class)
        groups = list(zip(problem.features, problem.offsets[:-1], strict=True))
        tables = []
        for feature, offset in groups:
            rows = [rounded_table(feature, row[offset : offset + feature.size].tolist()) for row in by_class]
            tables.append(np.stack(rows, axis=1).astype(kind))
        sums = [Sums(len(table) * classes, kind) for table in tables]
        constant, order = Sums(classes, kind), np.arange(classes)
        for codes, sides in problem.blocks(max(256, min(BLOCK, ENTRIES // classes))):
            scores = np.repeat(by_class[:, -1].astype(kind)[None, :], len(sides), axis=0)
            for table, code in zip(tables, codes, strict=True):
                scores += table.take(code, axis=0)
            slopes = self._slopes(scores, sides.astype(np.intp)).ravel()
            for total, code in zip(sums, codes, strict=True):
                total.add((code[:, None] * classes + order).ravel(), slopes)
            constant.add(np.tile(order, len(sides)), slopes)
        gathered = np.zeros((by_class.shape[1], classes), dtype=object)
        units = np.ones(by_class.shape[1], dtype=object)
        for (feature, offset), total in zip(groups, sums, strict=True):
            units[offset : offset + feature.size] = feature.unit
            cells = np.array(total.values(), dtype=object).reshape(-1, classes)
            for place, weight in zip(feature.places.T, feature.weights.T.astype(object), strict=True):
                np.add.at(gathered, offset + place, weight[:, None] * cells)
        gathered[-1] = constant.values()
        return self._finished(gathered.T.ravel().tolist(), np.tile(units, classes).tolist(), point), self._error

    def _kind(self, by_class: NDArray[Any]) -> Any:
        """Machine integers if no sum can wrap around: the sum of |w| bounds every score; else integers of any size."""
        largest = max(sum(map(abs, row)) for row in by_class.tolist())
        largest += len(self._problem.features) + (MARGIN << self.bits)
        fits = self.bits <= FAST and self._classes * largest + 2 * self._unit < 2**62
        return np.int64 if fits and self._unit < 2**62 and self._unit >> Sums.HALF < 2**37 else object

    def _slopes(self, scores: NDArray[Any], sides: NDArray[np.intp]) -> NDArray[Any]:
        """T (p - e_y) for each record."""
        own = np.arange(len(scores)), sides
        scores += MARGIN << self.bits
        scores[own] -= MARGIN << self.bits
        descending = -np.sort(-scores, axis=1)
        above = np.cumsum(descending, axis=1) - self._unit
        counts = (descending * np.arange(1, self._classes + 1) > above).sum(axis=1, keepdims=True).astype(np.intp)
        theta = np.take_along_axis(above, counts - 1, axis=1) // counts
        slopes = np.maximum(scores - theta, 0)
        slopes[own] -= self._unit
        return np.asarray(slopes)

    def _finished(self, gathered: list[int], units: list[int], point: Sequence[int]) -> Vector:
        """The gradient from the sums over records: fractions, each rounded once."""
        mu, whole = self._mu, 1 << self.bits
        return np.array(
            [
                nearest(Fraction(total, unit * self._unit) + mu * Fraction(value, whole) + noise)
                for total, unit, value, noise in zip(gathered, units, point, self._b, strict=True)
            ]
        )
