"""A search by sums alone: one pass over the records tells the gradient, another one how the objective bends.

No record is held or read off: what is added up are slopes by cell, and products of coordinates. So the steps are the
same on every engine, in whatever order the records come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from discreet.privacy.mechanisms.problem import Vector
from discreet.privacy.mechanisms.secants import SLOW, Secants

NEAR = 256
"""The search goes on to this part of the tolerance: Newton's last step mostly arrives far below it, so that results are
seldom told apart from those of a search in memory."""
ROUGHLY = 0.05
"""A stage that is not the last ends when this part of the gradient is left."""
STEPS, STAGE_STEPS, TRIALS = 200, 6, 12
"""The most steps of the last stage and of an earlier one, and of points tried on the way of a step."""


class Stage(Protocol):
    """An objective, each of whose answers is one pass over the records."""

    def gradient(self, w: Vector) -> Vector:
        """Its gradient."""
        ...

    def newton(self, w: Vector, gradient: Vector, closely: bool) -> Vector:
        """Newton's step, of all records or of some if not `closely`."""
        ...


class SummedGuide:
    """Proposes steps (`Guiding`) by sums over all records.

    The start is found in stages, from a smooth objective to that of the last stage. Steps are Newton's, corrected by
    how the gradient has changed along earlier ones (`Secants`). How far to go is found by the slope along a step, which
    for a convex objective only rises: beyond the lowest point it is positive.
    """

    knows_all = True

    def __init__(self, stages: Sequence[Stage], w: Vector, near: float) -> None:
        self._secants, self._closely, self._slow = Secants(), False, 0
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
        return self._secants.step(gradient, lambda rest: self._stage.newton(w, rest, self._closely))

    def learn(self, w: Vector, move: Vector, change: Vector, left: float) -> None:
        """As Guiding."""
        self._secants.remember(move, change)
        self._slow = self._slow + 1 if left > SLOW else 0
        if self._slow == 2 and not self._closely:
            self._closely = True
            self._secants.forget()

    def _descended(self, w: Vector, near: float | None, steps: int) -> Vector:
        """Take steps from w to a gradient of this length, or roughly; only a good start, so it may give up."""
        self._secants.forget()
        gradient = self._stage.gradient(w)
        goal = ROUGHLY * float(np.linalg.norm(gradient)) if near is None else near
        for _ in range(steps):
            before = float(np.linalg.norm(gradient))
            if not goal < before < np.inf:
                break
            step = self.step(w, gradient)
            if not float(step @ gradient) < 0:
                break
            found = self._along(w, step, float(step @ gradient))
            if found is None:
                break
            trial, after = found
            self.learn(trial, trial - w, after - gradient, float(np.linalg.norm(after)) / before)
            if (trial == w).all():
                break
            w, gradient = trial, after
        return w

    def _along(self, w: Vector, step: Vector, slope: float) -> tuple[Vector, Vector] | None:
        """A point on the way of a step that does not lie far beyond the lowest one, and its gradient."""
        part, low, at_low = 1.0, 0.0, slope
        for _ in range(TRIALS):
            trial = w + part * step
            if not np.isfinite(trial).all():
                return None
            gradient = self._stage.gradient(trial)
            here = float(gradient @ step)
            if -0.9 * abs(slope) <= here <= 0.5 * abs(slope) or (part == 1 and here <= 0):
                return trial, gradient
            if not here < np.inf:
                return None
            if here <= 0:
                low, at_low, part = part, here, part * 1.5
            else:
                between = abs(at_low) / (abs(at_low) + here)
                part = low + (part - low) * min(max(between, 0.05), 0.9)
        return None
