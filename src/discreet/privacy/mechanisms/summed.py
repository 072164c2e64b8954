"""A search by sums alone: one pass over the records tells the gradient, another one how the objective bends.

No record is held or read off: what is added up are slopes by cell, and products of coordinates. So the steps are the
same on every engine, in whatever order the records come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from discreet.privacy.mechanisms.curvature import Solver
from discreet.privacy.mechanisms.problem import Vector
from discreet.privacy.mechanisms.secants import SLOW, Secants

NEAR = 256
"""The search goes on to this part of the tolerance: Newton's last step mostly arrives far below it, so that results are
seldom told apart from those of a search in memory."""
ROUGHLY = 0.05
"""A stage that is not the last ends when this part of the gradient is left."""
REMEMBERED, AGE = 40, 10
"""Steps that are remembered; and steps after which a part of the second derivatives is added up anew (all of them are
added up for every step)."""
ENOUGH, PATIENCE = 32, 100
"""Steps that do not halve the gradient: one ends the search if it is within this many times the goal, an eighth of the
tolerance; `PATIENCE` of them in a row end it anywhere."""
STEPS, STAGE_STEPS, TRIALS = 2000, 6, 24
"""The most steps of the last stage and of an earlier one, and of points tried on the way of a step."""


class Stage(Protocol):
    """An objective, each of whose answers is one pass over the records."""

    def gradient(self, w: Vector) -> Vector:
        """Its gradient."""
        ...

    @property
    def complete(self) -> bool:
        """Whether `bend` knows all second derivatives."""
        ...

    def bend(self, w: Vector, closely: bool) -> Solver:
        """How it bends at w, by all records or by some if not `closely`: solves Newton's equation."""
        ...


class SummedGuide:
    """Proposes steps (`Guiding`) by sums over all records.

    The start is found in stages, from a smooth objective to that of the last stage. Steps are Newton's, corrected by
    how the gradient has changed along earlier ones (`Secants`). How far to go is found by the slope along a step, which
    for a convex objective only rises: beyond the lowest point it is positive.
    """

    knows_all = True

    def __init__(self, stages: Sequence[Stage], w: Vector, near: float) -> None:
        self._closely, self._slow = False, 0
        self._solve: Solver | None = None
        self._age, self._secants = 0, Secants(REMEMBERED)
        for stage in stages[:-1]:
            self._stage = stage
            w = self._descended(w, None, STAGE_STEPS)
        self._stage = stages[-1]
        self.start = self._descended(w, near, STEPS)

    @property
    def parts(self) -> tuple[float, ...]:
        """As Guiding."""
        return (1.0, 0.5, 0.25, 0.125)

    def step(self, w: Vector, gradient: Vector) -> Vector:
        """As Guiding."""
        if self._solve is None or self._stage.complete or self._age >= AGE:
            self._solve, self._age = self._stage.bend(w, self._closely), 0
        self._age += 1
        solve = self._solve
        return self._secants.step(gradient, lambda rest: solve(-rest))

    def learn(self, w: Vector, move: Vector, change: Vector, left: float) -> None:
        """As Guiding."""
        self._secants.remember(move, change)
        self._slow = self._slow + 1 if left > SLOW else 0
        if self._slow == 2 and not self._closely:
            self._closely, self._solve = True, None
            self._secants.forget()

    def _descended(self, w: Vector, near: float | None, steps: int) -> Vector:
        """Take steps from w to a gradient of this length, or roughly; only a good start, so it may give up."""
        self._secants.forget()
        self._solve = None
        gradient = self._stage.gradient(w)
        length = least = float(np.linalg.norm(gradient))
        goal, waited = ROUGHLY * length if near is None else near, 0
        for _ in range(steps):
            if not goal < length < np.inf or waited > PATIENCE or (waited and length < ENOUGH * goal):
                break
            step = self.step(w, gradient)
            slope = float(step @ gradient)
            found = self._along(w, step, slope) if slope < 0 else None
            if found is None:
                break
            trial, after = found
            left = float(np.linalg.norm(after)) / length
            self.learn(trial, trial - w, after - gradient, left)
            w, gradient, length = trial, after, left * length
            least, waited = (length, 0) if length < SLOW * least else (least, waited + 1)
        return w

    def _along(self, w: Vector, step: Vector, slope: float) -> tuple[Vector, Vector] | None:
        """A point on the way of a step that does not lie far beyond the lowest one, and its gradient.

        The slope along a step may be flat, then rise within a short part of the way, as on equal records, where all
        pass a corner at once. So every other guess halves the part of the way where the lowest point must be.
        """
        part, low, at_low, high = 1.0, 0.0, slope, np.inf
        found = None
        for trial_number in range(TRIALS):
            trial = w + part * step
            if not np.isfinite(trial).all():
                return found
            gradient = self._stage.gradient(trial)
            here = float(gradient @ step)
            if abs(here) <= 0.5 * abs(slope) or (part == 1 and here <= 0):
                return trial, gradient
            if not abs(here) < np.inf:
                return found
            if here <= 0:
                low, at_low, found = part, here, (trial, gradient)
            else:
                high, at_high = part, here
            if high == np.inf:
                part *= 1.5
            else:
                between = abs(at_low) / (abs(at_low) + at_high) if trial_number % 2 == 0 else 0.5
                part = low + (high - low) * min(max(between, 0.05), 0.95)
        return found
