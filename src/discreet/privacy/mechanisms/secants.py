"""Where a search goes next: Newton's step with the curvature of some records, corrected by what was seen of all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.privacy.mechanisms.problem import Problem, Records, Vector
from discreet.privacy.mechanisms.sampling_by_code import sampled

REMEMBERED = 10
"""Steps that are remembered."""
SLOW = 0.5
"""If a step leaves more of the gradient than this, a larger sample is taken, then all records (speed)."""
SUMS = (1 << 21, 1 << 24)
"""Sums that a sample is read from: first 16 MB of them, then 128 MB."""

Search = Callable[[Problem, Vector, float], tuple[Any, Vector]]
"""Minimises the objective of some records in floating point, from a point to a gradient: the objective and the
minimiser."""


class Guide:
    """Proposes steps to the minimiser of F over all records, of which it has seen a few or all.

    Few records are all looked at. Else a sample tells where to start, and how F bends; the exact gradients of all
    records, which every step needs anyway, tell how it bends along the steps so far (a quasi-Newton method: L-BFGS,
    with the sample's Hessian in place of a multiple of the identity). Nothing here needs to be right: every step is
    checked.
    """

    def __init__(self, records: Records, search: Search, w: Vector, near: float) -> None:
        self._records, self._search, self._near = records, search, near
        self._steps: deque[tuple[Vector, Vector]] = deque(maxlen=REMEMBERED)
        self._larger = list(SUMS)
        few = records.few()
        self.knows_all = few is not None
        self._objective, self.start = self._sampled(w) if few is None else search(few, w, near)
        self._at, self._target = self.start, self.start

    @classmethod
    def of(cls, objective: Any) -> Guide:
        """A guide that knows all records."""
        return cls(objective.problem, lambda problem, w, near: (objective, w), np.zeros(0), 0.0)

    @property
    def parts(self) -> tuple[float, ...]:
        """Parts of a step that are tried, until one helps."""
        return (1.0, 0.5, 0.25, 0.125) if self.knows_all else (1.0, 0.25)

    def step(self, w: Vector, gradient: Vector) -> Vector:
        """A step from w that should bring the gradient to zero."""
        self._at, target = w, self._target
        self._target = self.start
        if target is not self.start:
            return target - w
        objective = self._objective
        margins = objective.margins(w)
        rest, factors = gradient.copy(), []
        with np.errstate(all="ignore"):
            for move, change in reversed(self._steps):
                factors.append(float(move @ rest) / float(move @ change))
                rest -= factors[-1] * change
            step = objective.newton(margins, rest)
            for (move, change), factor in zip(self._steps, reversed(factors), strict=True):
                step -= (factor + float(change @ step) / float(move @ change)) * move
        return step if np.isfinite(step).all() else np.zeros_like(step)

    def learn(self, move: Vector, change: Vector, left: float) -> None:
        """Remember how the gradient changed; `left` is the part of it that a step has left."""
        if self.knows_all:
            return
        if float(move @ change) > 0 and np.isfinite(change).all():
            self._steps.append((move, change))
        if left > SLOW:
            self._look_closer(self._at + move)

    def _look_closer(self, w: Vector) -> None:
        """Take a larger sample, or all records, and go next to the minimiser that they have."""
        self._steps.clear()
        if self._larger:
            self._objective, self._target = self._sampled(w)
        else:
            self._objective, self._target = self._search(self._records.whole(), w, self._near)
            self.knows_all = True

    def _sampled(self, w: Vector) -> tuple[Any, Vector]:
        sample = sampled(self._records, self._larger.pop(0))
        by_chance = self._records.count() / max(1, sample.rows) ** 0.5
        return self._search(sample, w, max(self._near, 0.01 * by_chance))
