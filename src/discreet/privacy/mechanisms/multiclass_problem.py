"""The objective of all classes at once on coded records, in floating point."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.problem import BLOCK, ENTRIES, Problem, Vector

MARGIN = 2
"""By how much the score of a record's class should exceed the others; weights are measured by it."""
MOST_STEPS = 500
"""The most steps of conjugate gradients. Every step that they lead to is checked."""
NEAR, NEAR_IN_A_SAMPLE = 1e-3, 1e-2
"""Conjugate gradients stop when the residual is this part of the target (speed: benchmarks/svm.py). The curvature of a
sample is further off than that."""

Turn = Callable[[Vector, slice], Vector]


class Seen(NamedTuple):
    """The records' part of F at some weights: loss, its gradient, and where p > 0 (classes by records)."""

    loss: float
    slopes: Vector
    active: NDArray[np.bool_]


class MulticlassObjective:
    """F of multiclass_minimiser.py in floating point, good enough for searching; w is one row per class, flattened.

    The sides of the problem are the numbers of the records' classes. The records of a sample count as many.
    """

    def __init__(self, problem: Problem, classes: int, tau: float, mu: float, b: Vector) -> None:
        self.problem, self.classes, self.tau, self.mu, self.b = problem, classes, tau, mu, b

    def margins(self, w: Vector) -> Seen:
        """What the records say at w."""
        loss, active = 0.0, np.zeros((self.classes, self.problem.rows), dtype=bool)

        def slopes(scores: Vector, rows: slice) -> Vector:
            nonlocal loss
            own = self.problem.sides[rows].astype(np.intp), np.arange(scores.shape[1])
            weights = 1.0 if self.problem.weights is None else self.problem.weights[rows]
            loss -= float((weights * scores[own]).sum())
            scores += MARGIN
            scores[own] -= MARGIN
            p = projected(scores / self.tau)
            active[:, rows] = p > 0
            loss += float((weights * ((scores - self.tau / 2 * p) * p)).sum())
            p[own] -= 1
            p *= weights
            return p

        gathered = self._gathered(self.problem, slopes, w)
        return Seen(loss, gathered, active)

    def value(self, w: Vector, seen: Seen) -> float:
        """F(w)."""
        return float(seen.loss + self.mu / 2 * (w @ w) + self.b @ w)

    def gradient(self, w: Vector, seen: Seen) -> Vector:
        """The gradient of F."""
        return seen.slopes + self.mu * w + self.b

    def newton(self, seen: Seen, gradient: Vector) -> Vector:
        """Newton's step -H^-1 gradient, approximately, by conjugate gradients.

        Always finite, and no exception depends on the records: if floats fail, the records' part of H is ignored, or
        the step is zero. Every step is checked anyway.
        """
        with np.errstate(all="ignore"):
            for step in (self._conjugate_gradients(seen.active, -gradient), -gradient / self.mu):
                if np.isfinite(step).all():
                    return step
        return np.zeros_like(gradient)

    def _conjugate_gradients(self, active: NDArray[np.bool_], target: Vector) -> Vector:
        """An approximate solution, good enough for a step; NaN if floats fail. Each coordinate is scaled by its own
        entry of H; records with one active class have no part in H."""
        curvature, sizes = 1 / self.tau, active.sum(axis=0)
        chosen = np.flatnonzero(sizes > 1)
        bent, active, parts = self.problem.picked(chosen), active[:, chosen], 1 / np.maximum(sizes[chosen], 1)
        counted = bent.weighted(active.astype(np.float64))

        def centred(scores: Vector, rows: slice) -> Vector:
            scores *= active[:, rows]
            scores -= scores.sum(axis=0) * parts[rows]
            scores *= counted[:, rows]
            return scores

        matrix = bent.matrix() if 2 * bent.groups * bent.rows <= ENTRIES else None

        def bending(direction: Vector) -> Vector:
            if matrix is None:
                return self._gathered(bent, centred, direction)
            scores = (matrix @ direction.reshape(self.classes, -1).T).T
            return np.asarray((matrix.T @ centred(scores, slice(None)).T).T.ravel())

        shares = self._gathered(bent, lambda _, rows: counted[:, rows] * (1 - parts[rows]), None, power=2)
        scale = 1 / (shares * curvature + self.mu)
        x, residual = np.zeros_like(target), target.copy()
        direction = scaled = scale * residual
        near = NEAR if self.problem.weights is None else NEAR_IN_A_SAMPLE
        goal, norm = near * float(np.linalg.norm(target)), float(residual @ scaled)
        for _ in range(MOST_STEPS):
            if not float(np.linalg.norm(residual)) > goal:
                break
            image = bending(direction) * curvature + self.mu * direction
            bend = float(direction @ image)
            if not (0 < bend < np.inf and 0 < norm < np.inf):
                return np.full_like(target, np.nan)
            x += norm / bend * direction
            residual -= norm / bend * image
            scaled = scale * residual
            before, norm = norm, float(residual @ scaled)
            direction = scaled + norm / before * direction
        return x

    def _gathered(self, problem: Problem, turn: Turn, w: Vector | None, power: int = 1) -> Vector:
        """The sum over records of value by class times x, where `turn` makes the values from the scores at w.

        Without w there are no scores. With power 2, the squares of the coordinates of x are taken instead.
        """
        classes, offsets = self.classes, problem.offsets
        tables, constant = self._tables(w) if w is not None else ([], np.zeros(classes))
        result = np.zeros((classes, offsets[-1] + 1))
        sums = [np.zeros((classes, len(each.places))) for each in problem.features]
        start = 0
        for codes, sides in problem.blocks(max(256, min(BLOCK, ENTRIES // classes))):
            scores = np.repeat(constant[:, None], len(sides), axis=1)
            for table, code in zip(tables, codes, strict=False):
                for place in range(classes):
                    scores[place] += table[place].take(code)
            values = turn(scores, slice(start, start + len(sides)))
            start += len(sides)
            for total, code in zip(sums, codes, strict=True):
                for place in range(classes):
                    total[place] += np.bincount(code, values[place], minlength=total.shape[1])
            result[:, -1] += values.sum(axis=1)
        for feature, total, offset in zip(problem.features, sums, offsets, strict=False):
            for place, weight in zip(feature.places.T, (feature.weights.T / feature.unit) ** power, strict=True):
                np.add.at(result.T, offset + place, (weight * total).T)
        return result.ravel()

    def _tables(self, w: Vector) -> tuple[list[Vector], Vector]:
        """What each cell adds to the scores of the classes (classes by cells), and the constants."""
        by_coordinate = w.reshape(self.classes, -1).T
        offsets = self.problem.offsets
        groups = zip(self.problem.features, offsets[:-1], offsets[1:], strict=True)
        tables = [np.ascontiguousarray(feature.table(by_coordinate[start:stop]).T) for feature, start, stop in groups]
        return tables, by_coordinate[-1]


def projected(u: Vector) -> Vector:
    """The nearest point of the simplex to each column: max(0, u - theta), with theta such that the sum is 1."""
    descending = -np.sort(-u, axis=0)
    above = np.cumsum(descending, axis=0) - 1
    counts = (descending * np.arange(1, len(u) + 1)[:, None] > above).sum(axis=0)
    counts = np.maximum(counts, 1)
    return np.asarray(np.maximum(u - above[counts - 1, np.arange(u.shape[1])] / counts, 0.0))
