"""Made-up tables with a given schema: what a private table might be like, without looking at it.

Each world is one way in which columns may tell the class. A table of a world follows from the schema, a number of rows
and a seed. Nothing in it comes from records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.randomness import search_generator
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column, Numeric

Matrix = NDArray[np.float64]
Labels = NDArray[np.intp]
Draws: TypeAlias = Any
"""A generator of `randomness.search_generator`; its draws protect no record."""

SEPARATION = 4.0
"""Smallest distance of two classes over all columns, in standard deviations: one record in forty is misread at best."""
READING = 0.5
"""Standard deviation of a column around the hidden quantity that it measures. It is small: on most public data sets the
best column alone is nearly as good as all together (Holte 1993)."""
MISLABELLED = 0.05
"""The fraction of records whose class does not follow the rule, in the worlds with rules."""
IMBALANCE = 0.15
"""How large the largest class is, from 0 (all classes are equal) to 1 (it has all records)."""


@dataclass(frozen=True)
class Sample:
    """Rows of a made-up world: columns in the order of the schema, and classes by number."""

    X: Matrix
    y: Labels


def numbered(schema: Schema, names: Sequence[str], records: int) -> Schema:
    """A schema of the same shape: numbers between 0 and 1, categories 0, 1, ..., and classes 0, 1, ..."""
    columns: list[Column] = []
    for name in names:
        column = schema[name]
        if isinstance(column, Categorical):
            columns.append(Categorical(name, range(len(column.categories)), unlisted=column.unlisted))
        else:
            columns.append(Numeric(name, 0.0, 1.0))
    return Schema(columns, schema.target, range(len(schema.classes)), schema.adjacency.value, records)


def proportions(classes: int) -> Matrix:
    """The fraction of records in each class: the first is moderately larger, all others are equal."""
    first = 1 / classes + IMBALANCE * (1 - 1 / classes)
    return np.array([first, *[(1 - first) / max(1, classes - 1)] * (classes - 1)])


def independent(schema: Schema, y: Labels, rng: Draws) -> Sample:
    """Every column tells something by itself, some more than others: the world of naive Bayes."""
    strengths = rng.exponential(size=len(schema.columns))
    centres = _apart(rng.normal(size=(len(schema.classes), len(schema.columns))) * strengths)
    return Sample(_readings(schema, centres[y] + _noise(y, schema, rng), rng), y)


def redundant(schema: Schema, y: Labels, rng: Draws) -> Sample:
    """All columns measure the same two hidden quantities, which tell the class: columns repeat each other."""
    centres = _apart(rng.normal(size=(len(schema.classes), 2)))
    hidden = centres[y] + rng.normal(size=(len(y), 2))
    angles = rng.uniform(0, 2 * np.pi, size=len(schema.columns))
    scores = hidden @ [np.cos(angles), np.sin(angles)] + READING * _noise(y, schema, rng)
    return Sample(_readings(schema, scores, rng), y)


def dominant(schema: Schema, y: Labels, rng: Draws) -> Sample:
    """One column tells nearly everything, the others nothing: the world of one rule."""
    scores = _noise(y, schema, rng)
    places = rng.permutation(len(schema.classes))
    scores[:, rng.integers(len(schema.columns))] += SEPARATION * places[_mistaken(y, schema, rng)]
    return Sample(_readings(schema, scores, rng), y)


def ruled(schema: Schema, y: Labels, rng: Draws) -> Sample:
    """Columns tell the class together, not one by one: the world of trees, with questions drawn at random."""
    X = _readings(schema, _noise(y, schema, rng), rng)
    answers = np.column_stack([_answers(X[:, place], each) for place, each in enumerate(schema.columns)])
    depth = max(2, math.ceil(math.log2(len(schema.classes))))
    asked = rng.integers(len(schema.columns), size=2**depth)
    leaves = np.ones(len(y), dtype=np.intp)
    for _ in range(depth):
        leaves = 2 * leaves + answers[np.arange(len(y)), asked[leaves]]
    order = rng.permutation(2**depth)
    rule = np.sort(y)[(order * len(y)) >> depth]  # each class gets leaves in proportion to its records
    return Sample(X, _mistaken(rule[leaves - 2**depth], schema, rng))


def _answers(values: Matrix, column: Column) -> Labels:
    """The answers (0 or 1) to one question per column: is it above its median, or in its most frequent category?"""
    if isinstance(column, Categorical):
        return np.asarray(values == np.bincount(values.astype(np.intp)).argmax(), dtype=np.intp)
    return np.asarray(values > np.median(values), dtype=np.intp)


def _apart(centres: Matrix) -> Matrix:
    """The centres of the classes, scaled until the nearest two are `SEPARATION` apart."""
    gaps = [np.linalg.norm(first - second) for first, second in combinations(centres, 2)]
    return np.asarray(centres * SEPARATION / max(min(gaps, default=1.0), 1e-9))


def unrelated(schema: Schema, y: Labels, rng: Draws) -> Sample:
    """No column tells anything: no model can be better than the largest class."""
    return Sample(_readings(schema, _noise(y, schema, rng), rng), y)


World = Callable[[Schema, Labels, Draws], Sample]
WORLDS: tuple[World, ...] = (independent, redundant, dominant, ruled)
"""The worlds in which columns tell the class."""


def drawn(world: World, schema: Schema, rows: int, seed: int) -> Sample:
    """Draw a table of a world."""
    rng = search_generator(seed)
    y = np.asarray(rng.choice(len(schema.classes), size=rows, p=proportions(len(schema.classes))), dtype=np.intp)
    return world(schema, y, rng)


def _noise(y: Labels, schema: Schema, rng: Draws) -> Matrix:
    return np.asarray(rng.normal(size=(len(y), len(schema.columns))))


def _mistaken(y: Labels, schema: Schema, rng: Draws) -> Labels:
    """The classes, a fraction `MISLABELLED` of them replaced by a random class."""
    return np.where(rng.random(len(y)) < MISLABELLED, rng.integers(len(schema.classes), size=len(y)), y)


def _readings(schema: Schema, scores: Matrix, rng: Draws) -> Matrix:
    """Turn scores into values of the columns: numbers in part of the range, or categories, some of them rare."""
    scores = (scores - scores.mean(axis=0)) / np.maximum(scores.std(axis=0), 1e-9)
    for place, column in enumerate(schema.columns):
        if isinstance(column, Categorical):
            size = len(column.categories)
            edges = np.cumsum(rng.dirichlet(np.ones(size)))[:-1]
            cuts = np.quantile(scores[:, place], edges)
            scores[:, place] = rng.permutation(size)[np.searchsorted(cuts, scores[:, place])]
        else:
            middle, spread = rng.uniform(0.3, 0.7), rng.uniform(0.05, 0.2)
            scores[:, place] = np.clip(middle + spread * scores[:, place], 0, 1)
    return scores
