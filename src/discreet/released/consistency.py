"""Answers that agree with each other: what several answers say about the same records is averaged.

Two answers may both tell how many records there are in some cells: a table by sex and a table by sex and age, or a
table of women by age and the number of women. Each says it with noise of its own, so they differ; the truth does not.

Guarantee  post-processing: only published answers and the schema are read, so it costs nothing. The estimates are
           unbiased, and the expected squared error of every cell, and of every sum of cells, is at most that of the
           answers themselves.
Proof      let x be all answers in one vector, with the independent noise of variances V (a diagonal matrix). For two
           answers, and disjoint sets of cells that count the same records in both, `_average` is the projection, in the
           norm of V^-1, on the vectors whose sums over these sets agree: within a set all cells of an answer have the
           same variance, so the nearest such vector moves them equally, to the average of the two sums weighted by the
           inverse of their variances. The truth agrees with itself and is left as it is, so the mean stays the truth.
           In the coordinates V^(-1/2) x the steps are orthogonal projections; their product T has a norm of at most 1.
           So T V T' <= V: no linear function of the estimates has a larger variance than that of the answers. This
           holds after any number of steps; repeated in turn they approach the projection on all agreements at once, the
           least squares estimate. A cell that no record can be in is zero in truth: setting it to zero projects too. So
           does raising negative counts to zero, on a convex set that holds the truth, cell by cell. (It adds a bias,
           and sums may be worse. Rounding may be worse by the rounding.)
Test       tests/released/test_consistency.py::test_no_cell_and_no_sum_is_worse (exact covariances),
           ::test_it_is_the_least_squares_estimate
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.queries.crossed import By
from discreet.queries.predicates import Spans, common
from discreet.released.answers import Answer, Answers
from discreet.schema import Schema
from discreet.schema.columns import Categorical

ROUNDS = 200
"""The most times that all agreements are restored in turn. Fewer would only give less of the gain (proof above)."""
CLOSE = 1e-9
"""Estimates that move by less than this many records have arrived."""
MOST_ANSWERS = 1000
"""The most answers that are made consistent at once: agreements are found pair by pair."""

Numbers = NDArray[np.float64]
Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Estimate:
    """An answer after it was made consistent: estimated counts, and a bound on the variance of each of them."""

    answer: Answer
    counts: Numbers

    @property
    def variance(self) -> float:
        """The variance of each count is at most this, that of the answer itself."""
        return self.answer.variance


@dataclass(frozen=True)
class _Blocks:
    """How an answer divides one column: codes of each block, and the coding; one block if the axis is not told apart.

    Codings are those of categories (0), of the grid of numbers (-1), and of numbers in some bins (their number).
    """

    coding: int
    blocks: tuple[Spans, ...]
    has_axis: bool


def consistent(
    answers: Answers, earlier: Sequence[Answers] = (), *, nonnegative: bool = False, rounded: bool = False
) -> list[Estimate]:
    """Estimates of the counts that use all answers about the same data, those of `earlier` requests too.

    Returns one estimate per answer of `answers`. All must be about the same version of the same data set, under one
    schema. With `nonnegative`, negative counts become zero; with `rounded`, counts become integers.
    """
    every = [each for one in (answers, *earlier) for each in one.answers]
    if any(each.schema.hash != answers.schema.hash for each in earlier):
        raise ParameterError("earlier answers have another schema; need answers about the same version of the data")
    if len(every) > MOST_ANSWERS:
        raise ParameterError(f"{len(every)} answers; need at most {MOST_ANSWERS}: leave out older ones")
    counts = [np.array(each.counts, dtype=np.float64).ravel() for each in every]
    possible = [_possible(each, answers.schema) for each in every]
    for values, kept in zip(counts, possible, strict=True):
        values[~kept] = 0.0
    agreements = _agreements(every, possible, answers.schema)
    for _ in range(ROUNDS if agreements else 0):
        if max(_average(each, counts, every) for each in agreements) < CLOSE:
            break
    estimates = []
    for answer, values in zip(answers.answers, counts, strict=False):
        shown = np.maximum(values, 0.0) if nonnegative else values
        shown = np.round(shown) if rounded else shown
        estimates.append(Estimate(answer, shown.reshape(answer.values.shape)))
    return estimates


@dataclass(frozen=True, eq=False)
class _Agreement:
    """Two answers, and the set that each of their cells is in (-1: none); a set counts the same records in both."""

    first: int
    second: int
    labels: tuple[Labels, Labels]
    sets: int


def _average(agreement: _Agreement, counts: list[Numbers], every: Sequence[Answer]) -> float:
    """Move the cells of two answers until their sums agree; returns the largest move."""
    places = (agreement.first, agreement.second)
    sums, sizes, weights = [], [], []
    for place, labels in zip(places, agreement.labels, strict=True):
        inside = labels >= 0
        sums.append(np.bincount(labels[inside], counts[place][inside], agreement.sets))
        sizes.append(np.maximum(np.bincount(labels[inside], minlength=agreement.sets), 1))
        weights.append(every[place].variance * sizes[-1])
    exact = np.asarray(weights[0] + weights[1] == 0)
    share = np.where(exact, 0.5, weights[1] / np.where(exact, 1.0, weights[0] + weights[1]))
    agreed = share * sums[0] + (1 - share) * sums[1]
    moved = 0.0
    for place, labels, own, size in zip(places, agreement.labels, sums, sizes, strict=True):
        inside = labels >= 0
        shift = ((agreed - own) / size)[labels[inside]]
        counts[place][inside] += shift
        moved = max(moved, float(np.abs(shift).max(initial=0.0)))
    return moved


def _agreements(every: Sequence[Answer], possible: Sequence[NDArray[np.bool_]], schema: Schema) -> list[_Agreement]:
    divided = [_divided(each, schema) for each in every]
    found = []
    for first, second in combinations(range(len(every)), 2):
        labels = _matched(every[first], every[second], divided[first], divided[second], schema)
        if labels is None:
            continue
        kept = tuple(
            np.where(possible[place], own.ravel(), -1) for place, own in zip((first, second), labels[0], strict=True)
        )
        found.append(_Agreement(first, second, (kept[0], kept[1]), labels[1]))
    return found


def _matched(
    first: Answer, second: Answer, ours: dict[str, _Blocks], theirs: dict[str, _Blocks], schema: Schema
) -> tuple[tuple[Labels, Labels], int] | None:
    """The set of each cell of two answers, and the number of sets; None if no set counts the same records in both."""
    labels = [np.zeros(answer.values.shape, dtype=np.intp) for answer in (first, second)]
    outside = [np.zeros(answer.values.shape, dtype=np.bool_) for answer in (first, second)]
    number = 1
    for column in dict.fromkeys([*ours, *theirs]):
        blocks = [side.get(column) or _whole(column, schema) for side in (ours, theirs)]
        sets = _same_sets(*blocks)
        if not sets:
            return None
        for side, answer in enumerate((first, second)):
            own = np.full(len(blocks[side].blocks), -1, dtype=np.intp)
            for place, pair in enumerate(sets):
                own[pair[side]] = place
            names = [each.column for each in answer.query.by]
            if not blocks[side].has_axis:
                own = np.full(answer.values.shape[names.index(column)] if column in names else 1, own[0])
            if column in names:
                axis = names.index(column)
                own = own.reshape([-1 if place == axis else 1 for place in range(len(names))])
            else:
                own = own.reshape([1] * len(names))
            labels[side] = labels[side] * len(sets) + np.maximum(own, 0)
            outside[side] = outside[side] | (own < 0)
        number *= len(sets)
    marked = [np.where(out, -1, own) for own, out in zip(labels, outside, strict=True)]
    return (marked[0], marked[1]), number


def _same_sets(ours: _Blocks, theirs: _Blocks) -> list[tuple[list[int], list[int]]]:
    """Sets of blocks of one answer and of another that hold the same codes: as small as they can be, and disjoint."""
    if ours.coding != theirs.coding:
        finest = max(ours.coding, theirs.coding)
        ours, theirs = _refined(ours, finest), _refined(theirs, finest)
        if ours.coding != theirs.coding:
            both = ([*range(len(ours.blocks))], [*range(len(theirs.blocks))])
            return [both] if min(ours.coding, theirs.coding) > 0 else []  # all bins together are all numbers
    groups: list[tuple[list[int], list[int]]] = []
    for own, codes in enumerate(ours.blocks):
        if not codes:
            continue  # no record can be there
        met = [place for place, others in enumerate(theirs.blocks) if common(codes, others)]
        joined = ([own], met)
        for group in [group for group in groups if {*group[1]} & {*met}]:
            groups.remove(group)
            joined = ([*group[0], *joined[0]], [*group[1], *joined[1]])
        groups.append((sorted(joined[0]), sorted({*joined[1]})))
    return [group for group in groups if _codes(ours, group[0]) == _codes(theirs, group[1])]


def _codes(blocks: _Blocks, places: Sequence[int]) -> Spans:
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(span for place in places for span in blocks.blocks[place]):
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((start, stop))
    return tuple(merged)


def _refined(blocks: _Blocks, bins: int) -> _Blocks:
    """The same blocks in codes of more bins, if these are nested: twice as many bins cut each in two.

    Only powers of two: then the scale of the code (records/encoding.py) is multiplied exactly, so that no number
    changes sides. All bins together are all numbers, however many there are.
    """
    ratio, rest = divmod(bins, blocks.coding) if blocks.coding > 0 else (0, 1)
    if rest == 0 and (ratio & (ratio - 1) == 0 or blocks.coding == 1):
        wider = tuple(tuple((start * ratio, stop * ratio) for start, stop in each) for each in blocks.blocks)
        return _Blocks(bins, wider, blocks.has_axis)
    return blocks


def _possible(answer: Answer, schema: Schema) -> NDArray[np.bool_]:
    """Whether a record can be in each cell: `where` may exclude categories that the table is divided by."""
    kept = np.ones(answer.values.shape, dtype=np.bool_)
    passing = answer.query.where.spans(schema)
    for axis, by in enumerate(answer.query.by):
        if by.column in passing and by.bins is None:
            own = np.zeros(kept.shape[axis], dtype=np.bool_)
            for start, stop in passing[by.column]:
                own[start:stop] = True
            kept &= own.reshape([-1 if place == axis else 1 for place in range(kept.ndim)])
    return kept.ravel()


def _divided(answer: Answer, schema: Schema) -> dict[str, _Blocks]:
    """How an answer divides each column that it names."""
    passing = answer.query.where.spans(schema)
    by = {each.column: each for each in answer.query.by}
    return {
        column: _blocks(column, by.get(column), passing.get(column), schema)
        for column in dict.fromkeys([*passing, *by])
    }


def _blocks(column: str, by: By | None, passing: Spans | None, schema: Schema) -> _Blocks:
    if column != schema.target and not isinstance(schema[column], Categorical):
        if passing is not None:
            return _Blocks(-1, (passing,), False)  # bins are not made of grid points: only their sum is known
        if by is None or by.overlapping or by.bins is None:
            return _whole(column, schema)
        return _Blocks(by.bins, tuple(((code, code + 1),) for code in range(by.bins)), True)
    size = _size(column, schema)
    allowed: Spans = ((0, size),) if passing is None else passing
    if by is None:
        return _Blocks(0, (allowed,), False)
    return _Blocks(0, tuple(common(((code, code + 1),), allowed) for code in range(size)), True)


def _whole(column: str, schema: Schema) -> _Blocks:
    """All records: for numbers one bin, which all others are nested in."""
    if column != schema.target and not isinstance(schema[column], Categorical):
        return _Blocks(1, (((0, 1),),), False)
    return _Blocks(0, (((0, _size(column, schema)),),), False)


def _size(column: str, schema: Schema) -> int:
    if column == schema.target:
        return len(schema.classes)
    described = schema[column]
    assert isinstance(described, Categorical), "numbers are not listed"
    return described.size
