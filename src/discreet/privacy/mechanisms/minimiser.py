"""The minimiser of a perturbed objective, with a proof in exact arithmetic of how near the result is.

F(w) = sum over records of l(y w.x) + (mu / 2) |w|^2 + b.w, where l is the hinge max(0, 1 - z) with a rounded corner
(corner.py). Its second derivative is at most c, that of the corner's first piece.

Guarantee  the result w is within tolerance / mu of the minimiser of F, in exact arithmetic, for all records in any
           order; the search always ends.
Proof      F is mu-strongly convex, so |w - w*| <= |grad F(w)| / mu. `ExactGradient` bounds |grad F(w)| for a
           fixed-point w. Margins are sums of integers, rounded once per column. At an integer margin the slope of l
           is exact, since the corner is described by integers; so it is off by at most c * columns / 2 units of
           2**-bits. Sums over records are sums of integers, without rounding and in any order; the rest is fractions.
           A vector x has length at most root(groups), so the error of the gradient is at most
           rows * root(groups) * c * columns / 2 units, which is added to its norm.
           The number of records in this bound is that of the pass that the sums are from.
           `certified` returns only a point that passes; where the search looked before does not matter. It ends: a
           guide takes finitely many passes to propose a step (secants.py, summed.py); if that does not help, a step of
           -grad F / L with L = mu + c * groups * rows shrinks |grad F| by 1 - mu / L (grad F(w - g / L)
           = (I - A / L) g for some A with mu <= A <= L); if the rounding to 2**-bits would stop that, integers of any
           size are used.
Test       tests/privacy/mechanisms/test_objective.py::test_the_certificate_holds and
           ::test_the_minimiser_is_found_whatever_the_records
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.corner import Corner
from discreet.privacy.mechanisms.curvature import Bend, Curvature, Solver, Vectors
from discreet.privacy.mechanisms.exact_sums import FAST, gathered_limbs, joined, rounded_table
from discreet.privacy.mechanisms.problem import SLACK, Objective, Problem, Records, Vector
from discreet.privacy.mechanisms.secants import Guide, Guiding
from discreet.privacy.mechanisms.slopes import Slopes
from discreet.privacy.mechanisms.summed import NEAR, SummedGuide

SAMPLE = 1 << 12
"""On larger tables, start from a sample of about this size. Chosen for speed, which benchmarks/svm.py measures."""
ROUND = 2.0
"""Width of the rounded corner of the hinge in the first steps. Chosen for speed, which benchmarks/svm.py measures."""
SURE = 200
"""Bits after the binary point with integers of any size, where rounding stays far below every tolerance. With 64-bit
integers, whose sums must not overflow, there are up to FAST."""


def minimise(records: Records, corner: Corner, mu: float, b: Sequence[Fraction], tolerance: float) -> list[Fraction]:
    """A point within tolerance / mu of the minimiser of F (proof above)."""
    floats = np.array([float(each) for each in b])

    def over(problem: Problem) -> Objective:
        return Objective(problem.compressed(), corner, mu, floats)

    def search(objective: Objective, w: Vector, near: float) -> Vector:
        """The minimiser of the objective in floating point."""
        problem = objective.problem
        step = problem.rows // SAMPLE
        few = step <= 4
        if not few:
            w = _sharpened(problem.thinned(step), ROUND, corner, mu, floats, w)
        w = _sharpened(problem, ROUND if few else ROUND / 8, corner, mu, floats, w)
        return descended(objective, w, near, 1000)

    def by_sums(w: Vector, corners: Sequence[Corner]) -> SummedGuide:
        """A guide from w by sums alone, with each of these corners."""
        return SummedGuide([SummedObjective(OverAll(records, each, mu), b) for each in corners], w, tolerance / NEAR)

    with np.errstate(all="ignore"):  # no warning may depend on the records
        guide: Guiding
        if records.sums_only:
            guide = by_sums(np.zeros(len(b)), rounds(corner))
        else:
            guide = Guide(records, over, search, np.zeros(len(b)), tolerance / 8, lambda w: by_sums(w, [corner]))
        return certified(OverAll(records, corner, mu), b, guide.start, tolerance, guide)


def _sharpened(problem: Problem, first: float, corner: Corner, mu: float, b: Vector, w: Vector) -> Vector:
    """A start near the minimiser: minimise with a round corner, then with sharper ones, which mislead Newton's step."""
    for rounder in rounds(corner, first)[:-1]:
        w = descended(Objective(problem, rounder, mu, b), w, 0.01 * mu, 20)
    return w


def rounds(corner: Corner, first: float = ROUND) -> list[Corner]:
    """A round corner, then sharper ones, then that of the objective itself."""
    found = []
    while 2 * first * corner.bend > 1:
        found.append(Corner.of(first))
        first /= 2
    return [*found, corner]


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


class OverAll(NamedTuple):
    """The objective of all records, wherever they are: for the exact gradient."""

    problem: Records
    corner: Corner
    mu: float


def certified(
    objective: Objective | OverAll, b: Sequence[Fraction], w: Vector, tolerance: float, guide: Guiding | None = None
) -> list[Fraction]:
    """Take steps from w until the exact gradient is within the tolerance."""
    return searched(
        lambda bits: ExactGradient(objective, b, bits),
        fast_bits(w, objective.corner),
        Guide.of(objective) if guide is None else guide,
        w,
        tolerance,
    )


class Exact(Protocol):
    """grad F at fixed-point vectors, with a bound on the norm of its error; both from the same pass over the records.

    `steepest` bounds the second derivative of F, by the number of records of the last pass.
    """

    bits: int
    steepest: float
    rows: int

    def __call__(self, point: Sequence[int]) -> tuple[Vector, float]: ...


STALLED = 0.9
"""A full step that leaves more of the gradient than this has met the last bit of the point: finer ones are needed."""


def searched(
    exact_with: Callable[[int], Exact], bits: int, guide: Guiding, w: Vector, tolerance: float
) -> list[Fraction]:
    """Take steps from w until the exact gradient, at first with `bits`, is within the tolerance.

    `guide` proposes a step from a point and its gradient.
    """
    exact = exact_with(bits)
    point = fixed_point(w if np.isfinite(w).all() else np.zeros_like(w), exact.bits)
    gradient, error = exact(point)
    if not math.isfinite(norm(gradient)):  # floats failed: start from zero, any start will do
        point = [0] * len(point)
        gradient, error = exact(point)
    tried, left = 0, 0.0
    while not norm(gradient) + error <= tolerance:
        tried = tried + 1 if guide.knows_all else 0
        if exact.bits < SURE and (error > tolerance / 2 or tried > 20 or (tried > 1 and left > STALLED)):
            point = [value << (SURE - exact.bits) for value in point]
            exact = exact_with(SURE)
            gradient, error = exact(point)
            continue
        step = guide.step(floats_of(point, exact.bits), gradient)
        for move, part in (*((step * part, part) for part in guide.parts), (-gradient / exact.steepest, 0)):
            trial = [value + change for value, change in zip(point, fixed_point(move, exact.bits), strict=True)]
            trial_gradient, trial_error = exact(trial)
            if norm(trial_gradient) < (1 - part / 4) * norm(gradient):
                break
        left = norm(trial_gradient) / norm(gradient)
        guide.learn(floats_of(trial, exact.bits), move, trial_gradient - gradient, left)
        point, gradient, error = trial, trial_gradient, trial_error
    return [Fraction(value, 1 << exact.bits) for value in point]


def fixed_point(w: Vector, bits: int) -> list[int]:
    """The fixed-point vector nearest to a float vector."""
    return [round(Fraction(value) * 2**bits) for value in w.tolist()]


def floats_of(point: Sequence[int], bits: int) -> Vector:
    """The float vector nearest to a fixed-point vector."""
    return np.array([nearest(Fraction(value, 1 << bits)) for value in point])


def fast_bits(w: Vector, corner: Corner) -> int:
    """Bits after the binary point such that no sum leaves the 64-bit integers, even if each coordinate moves by 1."""
    largest = float(np.abs(w).sum()) + 2 * len(w) + corner.reach
    bits = min(FAST, 60 - math.ceil(math.log2(largest))) if largest < 2**30 else 0
    return bits if bits >= 30 else SURE


class ExactGradient:
    """grad F at fixed-point vectors: integers and fractions only."""

    def __init__(self, objective: Objective | OverAll, b: Sequence[Fraction], bits: int) -> None:
        self._records: Records = objective.problem
        self._b, self.bits = b, bits
        self._mu, self._bend = Fraction(objective.mu), objective.corner.bend
        self._corner, self._reach = objective.corner.at(bits), math.ceil(objective.corner.reach) << bits
        self.steepest, self.rows = math.inf, 0

    def point(self, w: Vector) -> list[int]:
        """The fixed-point vector nearest to a float vector."""
        return fixed_point(w, self.bits)

    def __call__(self, point: Sequence[int]) -> tuple[Vector, float]:
        """The gradient, each entry rounded once, and a bound on the norm of the error in its sum over records."""
        features = self._records.features
        slopes = Slopes(self.tables(point), point[-1], self._corner)
        answer = self._records.fold(slopes)
        everyone, *groups = slopes.layout.divided(answer)
        gathered: list[int] = []
        units: list[int] = []
        for feature, group in zip(features, groups, strict=True):
            gathered += gathered_limbs(feature, group[:, 0]).tolist()
            units += [feature.unit] * feature.size
        gradient = [
            nearest(Fraction(-total, unit * self._corner.full) + self._mu * Fraction(value, 1 << self.bits) + noise)
            for total, unit, value, noise in zip(
                [*gathered, *joined(everyone[:, :, 0])], [*units, 1], point, self._b, strict=True
            )
        ]
        return np.array(gradient), self._error(int(answer[0]))

    def tables(self, point: Sequence[int]) -> tuple[NDArray[Any], ...]:
        """What each cell of each group adds to a margin; machine integers if no sum of them can wrap around.

        The sum of |w| bounds every margin.
        """
        features = self._records.features
        fits = self.bits <= FAST and sum(map(abs, point)) + self._reach < 2**62
        kind: Any = np.int64 if fits else object
        offsets = np.cumsum([0, *(each.size for each in features)]).tolist()
        own = [point[start:stop] for start, stop in pairwise(offsets)]
        return tuple(rounded_table(feature, part).astype(kind) for feature, part in zip(features, own, strict=True))

    def bend(self, point: Sequence[int], vectors: Vectors) -> Bend:
        """The sums that tell how F bends at the point."""
        return Bend(vectors, self.tables(point), point[-1], self._corner)

    def _error(self, rows: int) -> float:
        """The bound for the records of this pass."""
        groups, self.rows = len(self._records.features) + 1, rows
        self.steepest = float(self._mu) + groups * rows * float(self._bend)
        slope_error = self._bend * Fraction(groups, 2 << self.bits)
        return float(rows * slope_error) * math.sqrt(groups) * (1 + SLACK)


class SummedObjective:
    """F by sums alone, for a search."""

    def __init__(self, objective: OverAll, b: Sequence[Fraction]) -> None:
        self._over, self._b, self._rows = objective, b, 0
        self._curvature = Curvature(objective.problem.features, 1, float(objective.corner.bends[-1]), objective.mu)

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
        exact = self._exact(w)
        asked = exact.bend(exact.point(w), self._curvature.vectors(self._rows, closely))
        return self._curvature.solver(self._over.problem, asked)

    def _exact(self, w: Vector) -> ExactGradient:
        return ExactGradient(self._over, self._b, min(fast_bits(w, self._over.corner), FAST))


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
