"""Where a search goes next: Newton's step with the curvature of some records, corrected by what was seen of all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from discreet.privacy.mechanisms.problem import Problem, Records, Vector
from discreet.privacy.mechanisms.sampling_by_code import sampled

REMEMBERED = 10
"""Steps that are remembered."""
SLOW = 0.5
"""If two steps in a row leave more of the gradient than this, a larger sample is taken, then sums over all records
(speed)."""
SUMS = (1 << 21, 1 << 23)
"""Sums that a sample is read from: first 16 MB of them, then 64 MB."""

Over = Callable[[Problem], Any]
"""The objective of some records, in floating point."""
Search = Callable[[Any, Vector, float], Vector]
"""The minimiser of such an objective, from a point, to a gradient of this length."""


class Secants:
    """How the gradient changed along the last steps, and steps that are corrected by it (L-BFGS)."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._seen: deque[tuple[Vector, Vector]] = deque(maxlen=most)

    def remember(self, move: Vector, change: Vector) -> None:
        """Keep what a step changed, if it makes sense for a convex function."""
        if float(move @ change) > 0 and np.isfinite(change).all():
            self._seen.append((move, change))

    def forget(self) -> None:
        """Keep nothing."""
        self._seen.clear()

    def step(self, gradient: Vector, newton: Callable[[Vector], Vector]) -> Vector:
        """The step that should bring the gradient to zero, if `newton` makes one from some curvature; always finite."""
        rest, factors = gradient.copy(), []
        with np.errstate(all="ignore"):
            for move, change in reversed(self._seen):
                factors.append(float(move @ rest) / float(move @ change))
                rest -= factors[-1] * change
            step = newton(rest)
            for (move, change), factor in zip(self._seen, reversed(factors), strict=True):
                step -= (factor + float(change @ step) / float(move @ change)) * move
        return step if np.isfinite(step).all() else np.zeros_like(step)


class Guiding(Protocol):
    """Proposes steps to a search. Nothing of it needs to be right: every step is checked."""

    start: Vector
    knows_all: bool
    """Whether the steps are those of all records."""

    @property
    def parts(self) -> tuple[float, ...]:
        """Parts of a step that are tried, until one helps."""
        ...

    def step(self, w: Vector, gradient: Vector) -> Vector:
        """A step from w that should bring the gradient to zero."""
        ...

    def learn(self, w: Vector, move: Vector, change: Vector, left: float) -> None:
        """Remember how a step to w changed the gradient; `left` is the part of it that the step has left."""
        ...


class Guide:
    """Proposes steps to the minimiser of F over all records, of which it has seen a few or all.

    Few records are all looked at. Else a sample tells where to start, and how F bends; the exact gradients of all
    records, which every step needs anyway, tell how it bends along the steps so far (a quasi-Newton method: L-BFGS,
    with the sample's Hessian in place of a multiple of the identity). If that is slow, as on tables of equal records, a
    larger sample is taken. Then all records are looked at, if they are in memory; else another guide takes over, which
    `last` makes from a point: one by sums over all records.
    """

    def __init__(
        self, records: Records, over: Over, search: Search, w: Vector, near: float, last: Callable[[Vector], Guiding]
    ) -> None:
        self._records, self._over, self._last = records, over, last
        self._search, self._near = search, near
        self._secants = Secants()
        self._other: Guiding | None = None
        self._larger, self._slow = list(SUMS), 0
        self._next: Vector | None = None
        few = records.few()
        self.knows_all = few is not None
        if few is None:
            few = sampled(records, self._larger.pop(0))
            near = max(near, 0.01 * records.count() / max(1, few.rows) ** 0.5)  # a sample cannot tell more
        self._objective = over(few)
        self.start = search(self._objective, w, near)

    @classmethod
    def of(cls, objective: Any) -> Guide:
        """A guide that knows all records."""
        guide = cls.__new__(cls)
        guide._objective, guide._secants, guide._next, guide._other = objective, Secants(), None, None
        guide.knows_all, guide.start = True, np.zeros(0)
        return guide

    @property
    def parts(self) -> tuple[float, ...]:
        """Parts of a step that are tried, until one helps."""
        return (1.0, 0.5, 0.25, 0.125) if self.knows_all else (1.0, 0.25)

    def step(self, w: Vector, gradient: Vector) -> Vector:
        """A step from w that should bring the gradient to zero."""
        if self._next is not None:
            found, self._next = self._next, None
            return found - w
        if self._other is not None:
            return self._other.step(w, gradient)
        objective = self._objective
        margins = objective.margins(w)
        return self._secants.step(gradient, lambda rest: objective.newton(margins, rest))

    def learn(self, w: Vector, move: Vector, change: Vector, left: float) -> None:
        """Remember how a step to w changed the gradient; `left` is the part of it that the step has left."""
        if self._other is not None:
            self._other.learn(w, move, change, left)
        if self.knows_all:
            return
        self._secants.remember(move, change)
        self._slow = self._slow + 1 if left > SLOW else 0
        if self._slow == 2:
            self._slow = 0
            self._look_closer(w)

    def _look_closer(self, w: Vector) -> None:
        """Take the curvature of a larger sample; if there is none, that of all records, or let the last guide go on."""
        self._secants.forget()
        if self._larger:
            self._objective = self._over(sampled(self._records, self._larger.pop(0)))
            return
        self.knows_all = True
        if isinstance(self._records, Problem):
            self._objective = self._over(self._records)
            self._next = self._search(self._objective, w, self._near)
        else:
            self._other = self._last(w)
            self._next = self._other.start
