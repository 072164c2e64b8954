"""Made-up tables of many shapes, as cases beside the real data sets; a module, not a command.

Public data sets are mostly tables on which classification works. Made-up families fill what they leave out: wide,
skewed, imbalanced and many-classed tables, classes that only pairs of columns tell, and tables with nothing to learn.
Each family has three tables that differ in size, in how large the largest class is, and in how much of the class can
be told at all: the label of a fraction `BLUR` of the records is redrawn, so that difficulty is spread evenly.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column, Numeric

Matrix = NDArray[np.float64]
Labels = NDArray[np.intp]
Draws = np.random.Generator

ROWS = (600, 3000, 20_000)
BLUR = (0.05, 0.35, 0.65)
IMBALANCE = (0.0, 0.15, 0.4)
"""How large the largest class is, from 0 (all classes are equal) to 1 (it has all records)."""
SEPARATION = 4.0
"""Smallest distance of two classes over all columns, in standard deviations."""
READING = 0.5
"""Standard deviation of a column around the hidden quantity that it measures, in the correlated family."""
MATTER = 6
"""How many columns of a wide table tell something."""


class Made(NamedTuple):
    """A made-up table: its schema, columns in the order of the schema, and classes by number."""

    schema: Schema
    X: Matrix
    y: Labels


@dataclass(frozen=True)
class Family:
    """A kind of table: how many columns and classes it has, and how scores of columns follow from the class."""

    rule: Callable[[Labels, int, Draws], Matrix]
    numeric: int
    categorical: int
    classes: int = 2
    categories: int = 4
    skewed: bool = False
    rare: float | None = None
    """The share of the smaller of two classes, instead of `IMBALANCE`."""

    def schema(self, rows: int) -> Schema:
        """Numbers between 0 and 1; categories and classes 0, 1, ..."""
        columns: list[Column] = [Numeric(f"x{place}", 0.0, 1.0) for place in range(self.numeric)]
        columns += [Categorical(f"c{place}", range(self.categories)) for place in range(self.categorical)]
        return Schema(columns, "y", range(self.classes), records=rows)

    def proportions(self, imbalance: float) -> Matrix:
        """The fraction of records in each class: the first is larger, all others are equal."""
        first = 1 / self.classes + imbalance * (1 - 1 / self.classes) if self.rare is None else 1 - self.rare
        return np.array([first, *[(1 - first) / (self.classes - 1)] * (self.classes - 1)])


def independent(y: Labels, width: int, rng: Draws) -> Matrix:
    """Every column tells something by itself, some more than others: the world of naive Bayes."""
    centres = _apart(rng.normal(size=(y.max() + 1, width)) * rng.exponential(size=width))
    return centres[y] + rng.normal(size=(len(y), width))


def correlated(y: Labels, width: int, rng: Draws) -> Matrix:
    """All columns measure the same two hidden quantities, which tell the class: columns repeat each other."""
    hidden = _apart(rng.normal(size=(y.max() + 1, 2)))[y] + rng.normal(size=(len(y), 2))
    angles = rng.uniform(0, 2 * np.pi, size=width)
    return np.asarray(hidden @ [np.cos(angles), np.sin(angles)] + READING * rng.normal(size=(len(y), width)))


def dominant(y: Labels, width: int, rng: Draws) -> Matrix:
    """One column tells nearly everything, the others nothing: the world of one rule."""
    scores = rng.normal(size=(len(y), width))
    scores[:, rng.integers(width)] += SEPARATION * rng.permutation(y.max() + 1)[y]
    return scores


def wide(y: Labels, width: int, rng: Draws) -> Matrix:
    """A few columns tell the class, all others nothing."""
    scores = rng.normal(size=(len(y), width))
    told = rng.permutation(width)[:MATTER]
    scores[:, told] = independent(y, MATTER, rng)
    return scores


def ruled(y: Labels, width: int, rng: Draws) -> Matrix:
    """Signs of columns tell the class by a tree of random questions: the world of trees."""
    scores = rng.normal(size=(len(y), width))
    classes = int(y.max()) + 1
    depth = max(2, math.ceil(math.log2(classes)))
    asked = rng.integers(width, size=2**depth)
    owner = np.sort(y)[(rng.permutation(2**depth) * len(y)) >> depth]  # leaves in proportion to the records of a class
    for label in range(classes):
        rows = np.flatnonzero(y == label)
        leaf = rng.choice(np.flatnonzero(owner == label) if (owner == label).any() else 2**depth, size=len(rows))
        for level in range(depth):
            node = (leaf + 2**depth) >> (depth - level)
            answer = (leaf >> (depth - 1 - level)) & 1
            scores[rows, asked[node]] = np.abs(scores[rows, asked[node]]) * np.where(answer, 1, -1)
    return scores


def parity(y: Labels, width: int, rng: Draws) -> Matrix:
    """Two columns tell the class together, each alone tells nothing: exclusive or."""
    scores = rng.normal(size=(len(y), width))
    first, second = rng.permutation(width)[:2]
    scores[:, second] = np.abs(scores[:, second]) * np.sign(scores[:, first]) * np.where(y == 0, 1, -1)
    return scores


def unrelated(y: Labels, width: int, rng: Draws) -> Matrix:
    """No column tells anything: no model can be better than the largest class."""
    return np.asarray(rng.normal(size=(len(y), width)))


FAMILIES = {
    "independent": Family(independent, 5, 5),
    "correlated": Family(correlated, 8, 4, classes=3),
    "dominant": Family(dominant, 4, 6),
    "ruled": Family(ruled, 4, 6, classes=4, categories=2),
    "wide": Family(wide, 0, 60, classes=3),
    "skewed": Family(independent, 8, 0, skewed=True),
    "imbalanced": Family(independent, 6, 2, rare=0.05),
    "ten-classes": Family(independent, 12, 4, classes=10),
    "many-classes": Family(independent, 16, 0, classes=26),
    "parity": Family(parity, 6, 0),
    "unrelated": Family(unrelated, 5, 5, classes=3),
}
NAMES = tuple(f"{family}-{number}" for family in FAMILIES for number in range(len(ROWS)))
"""The names of all made-up tables: that of the family, and a number."""


def family_of(name: str) -> str:
    """The family of a made-up table.

    >>> family_of("many-classes-2")
    'many-classes'
    """
    return name.rpartition("-")[0]


def rows_of(name: str) -> int:
    """The number of rows of a made-up table; sizes take turns, so that they do not go with difficulty."""
    turn = list(FAMILIES).index(family_of(name))
    return ROWS[(int(name.rpartition("-")[2]) + turn) % len(ROWS)]


def made(name: str) -> Made:
    """The made-up table of this name; the same at each call."""
    family, number = FAMILIES[family_of(name)], int(name.rpartition("-")[2])
    turn = list(FAMILIES).index(family_of(name))
    rows, imbalance = rows_of(name), IMBALANCE[(2 * number + turn) % len(IMBALANCE)]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    share, schema = family.proportions(imbalance), family.schema(rows)
    y = np.asarray(rng.choice(family.classes, size=rows, p=share), dtype=np.intp)
    X = _readings(schema, family.rule(y, len(schema.columns), rng), family.skewed, rng)
    redrawn = rng.random(rows) < BLUR[number]
    return Made(schema, X, np.where(redrawn, rng.choice(family.classes, size=rows, p=share), y))


def _apart(centres: Matrix) -> Matrix:
    """The centres of the classes, scaled until the nearest two are `SEPARATION` apart."""
    gaps = [np.linalg.norm(first - second) for first, second in combinations(centres, 2)]
    return np.asarray(centres * SEPARATION / max(min(gaps, default=1.0), 1e-9))


def _readings(schema: Schema, scores: Any, skewed: bool, rng: Draws) -> Matrix:
    """Turn scores into values of the columns: numbers in part of the range, or categories, some of them rare."""
    scores = (scores - scores.mean(axis=0)) / np.maximum(scores.std(axis=0), 1e-9)
    for place, column in enumerate(schema.columns):
        if isinstance(column, Categorical):
            size = len(column.categories)
            edges = [0.5] if size == 2 else np.cumsum(rng.dirichlet(np.full(size, 2.0)))[:-1]
            cuts = np.quantile(scores[:, place], edges)
            scores[:, place] = rng.permutation(size)[np.searchsorted(cuts, scores[:, place])]
        elif skewed:
            scores[:, place] = np.clip(np.exp(1.2 * scores[:, place]) / 100, 0, 1)  # the median at 1/100 of the range
        else:
            middle, spread = rng.uniform(0.3, 0.7), rng.uniform(0.05, 0.2)
            scores[:, place] = np.clip(middle + spread * scores[:, place], 0, 1)
    return np.asarray(scores)
