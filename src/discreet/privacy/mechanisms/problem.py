"""The objective of a support vector machine on coded records, in floating point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.corner import Corner
from discreet.queries.arrays import Integers
from discreet.queries.hyperplanes import Feature

Vector = NDArray[np.float64]

SLACK = 1e-9
"""Relative error that covers the rounding of many float operations; each one is off by at most 2**-52."""
BLOCK = 1 << 15
"""Number of records processed together: few enough to stay in the processor's cache (speed: benchmarks/svm.py)."""
ENTRIES = 1 << 22
"""The most numbers in a dense block of records: 32 MB of memory, however many records there are."""
DIRECT = 1000
"""With more coordinates, Newton's equation is solved by conjugate gradients instead of by factoring, whose time grows
with their cube (speed: benchmarks/svm.py)."""
LARGE = 64
"""From this many coordinates on, a group that is nonzero in one place per record is multiplied as a sparse matrix
(speed: benchmarks/features.py)."""


FEW = 1 << 16
"""Up to this many records the search in floating point takes all of them, else a sample (speed: benchmarks/svm.py)."""


class Sums(Protocol):
    """Integers that are added up over records: a frozen dataclass of public things, pure, in one or several blocks."""

    @property
    def size(self) -> int:
        """Length of the answer; public."""
        ...

    def __call__(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> Integers:
        """The answer for some records, from their cells in each group and their sides."""
        ...


class Records(Protocol):
    """Coded records on the sides of hyperplanes, held in memory or not. Private."""

    @property
    def features(self) -> tuple[Feature, ...]:
        """The groups of coordinates, without the constant."""
        ...

    def fold(self, sums: Sums) -> Integers:
        """The sums over all records, from one pass."""
        ...

    def count(self) -> int:
        """About how many records there are: only the search may use it."""
        ...

    def few(self) -> Problem | None:
        """All records in memory; None if they are more than FEW."""
        ...

    @property
    def sums_only(self) -> bool:
        """Whether sums are all that may be asked: not even a sample is read off them."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Coded records, each on one side (-1 or 1) of a hyperplane, or the number of its class as its side, if there are
    more than two. Private: these are exact records."""

    features: tuple[Feature, ...]
    codes: tuple[NDArray[np.uint16], ...]
    sides: NDArray[np.int8] | NDArray[np.uint16]
    weights: Vector | None = None
    """How many records each stands for, in a sample; None for one each."""

    @property
    def rows(self) -> int:
        """Number of records."""
        return len(self.sides)

    @property
    def groups(self) -> int:
        """Number of groups of coordinates, including the constant."""
        return len(self.features) + 1

    @property
    def offsets(self) -> list[int]:
        """Where each group's coordinates begin; the constant is the last."""
        return [0, *np.cumsum([each.size for each in self.features], dtype=int).tolist()]

    def compressed(self) -> Problem:
        """The same records, with codes only for cells that occur, which makes tables of cells short."""
        features, codes = [], []
        for feature, code in zip(self.features, self.codes, strict=True):
            used = np.flatnonzero(np.bincount(code, minlength=len(feature.places)))
            ranks = np.zeros(len(feature.places), dtype=np.uint16)
            ranks[used] = np.arange(len(used))
            features.append(replace(feature, places=feature.places[used], weights=feature.weights[used]))
            codes.append(ranks[code])
        return Problem(tuple(features), tuple(codes), self.sides, self.weights)

    def thinned(self, step: int) -> Problem:
        """A sample: the first record, and every `step`-th after it, each in place of `step` records."""
        kept = self.picked(np.arange(0, self.rows, step))
        return replace(kept, weights=step * (np.ones(kept.rows) if kept.weights is None else kept.weights))

    def picked(self, rows: NDArray[np.intp]) -> Problem:
        """Some of the records."""
        weights = None if self.weights is None else self.weights[rows]
        return Problem(self.features, tuple(code[rows] for code in self.codes), self.sides[rows], weights)

    def matrix(self) -> Any:
        """The vectors of all records as the rows of a sparse matrix."""
        from scipy.sparse import csr_array  # not at the top: workers that add up sums need numpy alone

        columns, entries = [], []
        for feature, code, offset in zip(self.features, self.codes, self.offsets, strict=False):
            kept = [each for each in range(feature.places.shape[1]) if feature.weights[:, each].any()]
            columns += [(offset + feature.places[:, each])[code] for each in kept]
            entries += [(feature.weights[:, each] / feature.unit)[code] for each in kept]
        columns.append(np.full(self.rows, self.offsets[-1]))
        entries.append(np.ones(self.rows))
        starts = np.arange(0, self.rows * len(columns) + 1, len(columns))
        flat = np.column_stack(entries).ravel(), np.column_stack(columns).ravel().astype(np.int32), starts
        return csr_array(flat, shape=(self.rows, self.offsets[-1] + 1))

    def weighted(self, values: Vector) -> Vector:
        """Values by record (the last axis), each times what the record stands for."""
        return values if self.weights is None else values * self.weights

    def few(self) -> Problem | None:
        """As Records."""
        return self if self.rows <= FEW else None

    @property
    def sums_only(self) -> bool:
        """As Records."""
        return False

    def count(self) -> int:
        """As Records."""
        return self.rows

    def fold(self, sums: Sums) -> Integers:
        """As Records."""
        total = np.zeros(sums.size, dtype=np.int64)
        together = max(BLOCK, sums.size // 4)
        for start in range(0, self.rows, together):
            rows = slice(start, start + together)
            total += sums([code[rows] for code in self.codes], self.sides[rows])
        return total

    def blocks(
        self, size: int = BLOCK
    ) -> Iterator[tuple[list[NDArray[np.intp]], NDArray[np.int8] | NDArray[np.uint16]]]:
        """Codes and sides, `size` records at a time."""
        for start in range(0, self.rows, size):
            rows = slice(start, start + size)
            yield [code[rows].astype(np.intp) for code in self.codes], self.sides[rows]

    def __repr__(self) -> str:
        return "Problem(values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact records are private and cannot be pickled; pickle the fitted model")


class Objective:
    """F in floating point, good enough for searching; the records of a sample count as many."""

    def __init__(self, problem: Problem, corner: Corner, mu: float, b: Vector) -> None:
        self.problem, self.corner, self.mu, self.b = problem, corner, mu, b

    def margins(self, w: Vector) -> Vector:
        """The margin y w.x of each record."""
        problem = self.problem
        groups = zip(problem.features, problem.offsets[:-1], problem.offsets[1:], strict=True)
        tables = [feature.table(w[start:stop]) for feature, start, stop in groups]
        margins = np.full(problem.rows, w[-1])
        start = 0
        for codes, sides in problem.blocks():
            part = margins[start : start + len(sides)]
            for table, code in zip(tables, codes, strict=True):
                part += table.take(code)
            start += len(sides)
        margins *= problem.sides
        return margins

    def value(self, w: Vector, margins: Vector) -> float:
        """F(w)."""
        hinges = self.problem.weighted(self.corner.value(margins)).sum()
        return float(hinges + self.mu / 2 * (w @ w) + self.b @ w)

    def gradient(self, w: Vector, margins: Vector) -> Vector:
        """The gradient of F."""
        slopes = self.corner.slope(margins)
        return self.mu * w + self.b - self._gathered(self.problem.weighted(slopes * self.problem.sides))

    def newton(self, margins: Vector, gradient: Vector) -> Vector:
        """Newton's step -H^-1 gradient, H = mu + sum of l'' x x^T.

        Always finite, and no exception depends on the records: if floats fail, the records' part of H is ignored, or
        the step is zero. Every step is checked anyway.
        """
        bends = self.corner.bending(margins)
        solve = self._conjugate_gradients if len(gradient) > DIRECT else self._factored
        with np.errstate(all="ignore"):
            for step in (solve(bends, -gradient), -gradient / self.mu):
                if np.isfinite(step).all():
                    return step
        return np.zeros_like(gradient)

    def _factored(self, bends: Vector, target: Vector) -> Vector:
        hessian = self._gram(bends)
        hessian[np.diag_indices_from(hessian)] += self.mu
        try:
            return np.linalg.solve(hessian, target).astype(np.float64)
        except np.linalg.LinAlgError:
            return np.full_like(target, np.nan)

    def _gathered(self, values: Vector) -> Vector:
        """The sum of value times x over all records."""
        problem, offsets = self.problem, self.problem.offsets
        result = np.zeros(offsets[-1] + 1)
        sums = [np.zeros(len(each.places)) for each in problem.features]
        start = 0
        for codes, sides in problem.blocks():
            part = values[start : start + len(sides)]
            for place, code in enumerate(codes):
                sums[place] += np.bincount(code, part, minlength=len(sums[place]))
            start += len(sides)
        for feature, total, offset in zip(problem.features, sums, offsets, strict=False):
            parts = total[:, None] * feature.weights / feature.unit
            np.add.at(result, offset + feature.places, parts)
        result[-1] = values.sum()
        return result

    def _gram(self, bends: Vector) -> Vector:
        """The sum of x x^T over the records, each times what it bends and what it stands for."""
        problem, largest = self.problem, self._largest_indicator()
        bends = problem.weighted(bends)
        coordinates = problem.offsets[-1] + 1
        others = np.arange(coordinates)
        if largest is not None:
            others = np.delete(others, np.s_[problem.offsets[largest] : problem.offsets[largest + 1]])
        gram = np.zeros((coordinates, coordinates))
        size = max(256, min(BLOCK, ENTRIES // coordinates))
        for start in range(0, problem.rows, size):
            chosen = np.flatnonzero(bends[start : start + size]) + start
            dense = self._dense(chosen, largest, len(others))
            counted = dense * bends[chosen][:, None]
            gram[np.ix_(others, others)] += dense.T @ counted
            if largest is not None:
                self._add_indicator(gram, counted, others, largest, chosen, bends)
        return gram

    def _dense(self, chosen: NDArray[np.intp], left_out: int | None, width: int) -> Vector:
        """The vectors of some records as rows, without the coordinates of one group."""
        problem, rows, offset = self.problem, np.arange(len(chosen)), 0
        dense = np.zeros((len(chosen), width))
        for group, (feature, codes) in enumerate(zip(problem.features, problem.codes, strict=True)):
            if group == left_out:
                continue
            code = codes[chosen].astype(np.intp)
            for place, weight in zip(feature.places.T, feature.weights.T / feature.unit, strict=True):
                if weight.any():
                    dense[rows, offset + place.take(code)] += weight.take(code)
            offset += feature.size
        dense[:, -1] = 1.0
        return dense

    def _largest_indicator(self) -> int | None:
        """The largest group that is nonzero in one place per record, such as leaves, if it is large; else None."""
        sizes = {
            group: feature.size
            for group, feature in enumerate(self.problem.features)
            if feature.size >= LARGE and not feature.weights[:, 1].any()
        }
        return max(sizes, key=sizes.__getitem__) if sizes else None

    def _add_indicator(
        self, gram: Vector, dense: Vector, others: NDArray[np.intp], group: int, chosen: NDArray[np.intp], bends: Vector
    ) -> None:
        """Add the products of a group that is nonzero in one place per record, with itself and with the others."""
        from scipy.sparse import csr_array  # not at the top: workers that add up sums need numpy alone

        feature, start = self.problem.features[group], self.problem.offsets[group]
        own = np.arange(start, start + feature.size)
        code = self.problem.codes[group][chosen].astype(np.intp)
        place, weight = feature.places[code, 0], feature.weights[code, 0] / feature.unit
        matrix = csr_array((weight, (place, np.arange(len(code)))), shape=(feature.size, len(code)))
        cross = matrix @ dense
        gram[np.ix_(own, others)] += cross
        gram[np.ix_(others, own)] += cross.T
        gram[own, own] += np.bincount(place, weight * weight * bends[chosen], minlength=feature.size)

    def _conjugate_gradients(self, bends: Vector, target: Vector) -> Vector:
        """An approximate solution, good enough for a step; NaN if floats fail, for instance with too large numbers."""
        sides = self.problem.sides
        x = np.zeros_like(target)
        residual, direction = target.copy(), target.copy()
        goal = 1e-6 * float(np.linalg.norm(target))
        for _ in range(500):
            norm = float(residual @ residual)
            if math.sqrt(norm) <= goal:
                break
            moved = self.problem.weighted(np.where(bends, self.margins(direction) * sides, 0.0) * bends)
            image = self._gathered(moved)
            image += self.mu * direction
            bend = float(direction @ image)
            if not (0 < bend < math.inf and norm < math.inf):
                return np.full_like(target, np.nan)
            length = norm / bend
            x += length * direction
            residual -= length * image
            direction = residual + (float(residual @ residual) / norm) * direction
        return x
