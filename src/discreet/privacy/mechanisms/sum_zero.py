"""Uniform points of the unit ball of noise for many classes, drawn in integers.

The points of a group are matrices with `size` coordinates by K classes, in which the classes of each coordinate sum to
zero; the ball is where the absolute values sum to at most 2 in all.

Guarantee  a drawn point is a uniform point of the ball in which each endpoint of a gap was cut after 2 * WORD bits; the
           classes of each coordinate sum to exactly zero.
Proof      A coordinate b is r times a vector whose positive part and whose negative part both sum to 1, r = |b|_1 / 2.
           1. *Sizes.* b has K - 1 dimensions, so the r of the group have a density proportional to the product of
           r^(K-2) where they sum to at most 1: Dirichlet(K-1, ..., K-1, 1). These are the gaps between every (K-1)-th
           of (K-1) * size sorted uniform numbers.
           2. *Signs.* Leave out one positive class, which is linear and one-to-one: those with s positive classes have
           volume r^(s-1) / (s-1)! (the other positive ones sum to at most r) times r^(K-s-1) / (K-s-1)! dr (the
           negative ones sum to r). So a set of s positive classes has a weight proportional to C(K-2, s-1), whatever
           the set; and this is the number of ways to add K-1-s of K-2 others to it. So the positive classes are those
           among K-1 chosen uniformly from the K classes and K-2 others: one after another, with the probability of
           what is still to be chosen over what is left, an exact draw of integers.
           3. *Shares.* Given r and the signs the two parts are uniform on simplices: gaps between sorted uniform
           numbers, from 0 to 1, which sum to exactly 1.
Test       tests/privacy/mechanisms/test_multiclass_objective.py::test_points_of_the_ball_are_uniform and
           ::test_sets_of_positive_classes_have_their_law
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.randomness import Randomness

WORD = 62
"""Bits of a uniform integer, the most that `Randomness.integers` draws; two of them make a uniform number."""
ONE = 1 << (2 * WORD)
"""The number one, in the units of uniform numbers."""


def uniform_points(sizes: Sequence[int], classes: int, rng: Randomness) -> list[list[int]]:
    """A point of the ball for each group: a list of K integers per coordinate, in units of 2**-(4 * WORD)."""
    lengths = [length for size in sizes for length in _lengths(size, classes, rng)]
    positive = positive_classes(len(lengths), classes, rng).tolist()
    cuts = _uniform(len(lengths) * (classes - 2), rng)
    points = []
    for place, (length, signs) in enumerate(zip(lengths, positive, strict=True)):
        own, s = cuts[place * (classes - 2) : (place + 1) * (classes - 2)], sum(signs)
        above, below = iter(_shares(own[: s - 1])), iter(_shares(own[s - 1 :]))
        points.append([length * next(above) if sign else -length * next(below) for sign in signs])
    return points


def positive_classes(count: int, classes: int, rng: Randomness) -> NDArray[np.bool_]:
    """For each of `count` coordinates, the classes among K - 1 chosen uniformly from the K classes and K - 2 others."""
    wanted = np.full(count, classes - 1)
    chosen = np.zeros((count, classes), dtype=bool)
    for place in range(classes):
        chosen[:, place] = rng.integers(2 * classes - 2 - place, (count,)) < wanted
        wanted -= chosen[:, place]
    return chosen


def _lengths(size: int, classes: int, rng: Randomness) -> list[int]:
    """Half the L1 norm of each coordinate of a group: the gaps between every (K-1)-th of sorted uniform numbers."""
    ends = sorted(_uniform((classes - 1) * size, rng))[classes - 2 :: classes - 1]
    return [right - left for left, right in zip([0, *ends], ends, strict=False)]


def _shares(cuts: list[int]) -> list[int]:
    """A uniform point of a simplex: the gaps between sorted uniform numbers, from 0 to 1."""
    ends = sorted(cuts)
    return [right - left for left, right in zip([0, *ends], [*ends, ONE], strict=True)]


def _uniform(count: int, rng: Randomness) -> list[int]:
    """Uniform numbers in units of 2**-(2 * WORD), rounded down."""
    return [(high << WORD) + low for high, low in rng.integers(2**WORD, (count, 2)).tolist()]
