"""Intervals for fractions of noisy counts: they account for the noise, whose law is public, and for sampling.

A fraction p = A / (A + B) of two exact counts is known by two noisy numbers a and b. If p is the probability with which
records like these count for A, then (1 - p) a - p b has mean zero. Its variance is (1 - p)^2 v + p^2 u from the noise,
where v and u are the variances of a and b, plus n p (1 - p) from sampling n records. The interval holds all p at which
its size is at most `quantile` of these deviations: Fieller's interval for a ratio, and without noise Wilson's for a
proportion. No division by a noisy count takes place, so it is right for few records too: then it is wide.

A negative count stands for 0. That only adds to the interval: with a < 0 <= b, every p in [0, 1] has
|(1 - p) 0 - p b| <= |(1 - p) a - p b|, and n is no smaller; the same with both sides changed. So it covers as often,
and a count that the noise made very negative, at which no p would be near enough, says "about 0" and not "anything".

The quantile is the larger one of a normal and of a Laplace law with the same variance. The exact law, a sum of
discrete Laplace and binomial parts, lies between the two: a single noisy count has Laplace tails, sums of many counts
and sampling have normal ones.

A mean of fractions has an interval by the distances of its parts' bounds: their root of squares (method of variance
estimates recovery, Zou and Donner 2008). Where the noise of a denominator is not small against it, a ratio is biased,
all parts the same way, and biases do not cancel in a mean: then the bounds are the means of the parts' bounds.

Test  tests/evaluation/test_intervals.py::test_the_intervals_cover_as_often_as_they_say
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

SURE = 0.1
"""Noise of a denominator, as a part of it, up to which ratios are taken for unbiased: the bias is its square, 1 %."""


@dataclass(frozen=True)
class Estimate:
    """A published fraction with its interval, for records like these; by itself at the stated confidence.

    Examples
    --------
    >>> print(Estimate(0.9, 0.85, 0.94))
    0.900 (0.850 to 0.940)
    """

    value: float
    lower: float
    upper: float

    def to_dict(self) -> dict[str, float]:
        """Plain data."""
        return {"value": self.value, "lower": self.lower, "upper": self.upper}

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.lower:.3f} to {self.upper:.3f})"


@dataclass(frozen=True)
class Noisy:
    """The sum of noisy counts, and the variance of its noise."""

    count: int
    variance: float


def quantile(confidence: float) -> float:
    """In deviations, the larger one of the two-sided quantiles of a normal and of a Laplace law.

    >>> round(quantile(0.95), 2), round(quantile(0.5), 2)
    (2.12, 0.67)
    """
    laplace = -math.log1p(-confidence) / math.sqrt(2)
    return max(-NormalDist().inv_cdf((1 - confidence) / 2), laplace)  # 1 + confidence would be rounded to 2


def fraction(part: Noisy, rest: Noisy, confidence: float) -> Estimate:
    """The part's fraction of both, with its interval (above); negative counts stand for 0."""
    part, rest = Noisy(max(part.count, 0), part.variance), Noisy(max(rest.count, 0), rest.variance)
    value = part.count / max(1, part.count + rest.count)
    lower, upper = _bounds(part, rest, quantile(confidence))
    return Estimate(value, min(lower, value), max(upper, value))


def _bounds(part: Noisy, rest: Noisy, deviations: float) -> tuple[float, float]:
    """All p with (part - p n)^2 <= deviations^2 ((1 - p)^2 v + p^2 u + n p (1 - p)): the roots of a parabola."""
    whole = part.count + rest.count
    records, square = max(whole, 0), deviations**2
    v, u = part.variance, rest.variance
    a = float(whole) ** 2 - square * (v + u - records)
    b = -2.0 * part.count * whole - square * (records - 2 * v)
    c = float(part.count) ** 2 - square * v
    inside = b * b - 4 * a * c
    if a <= 0 or inside < 0:  # the number of records may be 0: every fraction is possible
        return 0.0, 1.0
    root = math.sqrt(inside)
    return min(max((-b - root) / (2 * a), 0.0), 1.0), min(max((-b + root) / (2 * a), 0.0), 1.0)


def is_sure(whole: Noisy) -> bool:
    """Whether the noise of a denominator is small against it: then the bias of a ratio is far below its deviation."""
    return whole.count > 0 and math.sqrt(whole.variance) <= SURE * whole.count


def mean(parts: Sequence[Estimate], *, sure: bool) -> Estimate:
    """The mean of estimates of different records, with its interval (above); `sure` if all denominators are."""
    number = len(parts)
    value = math.fsum(each.value for each in parts) / number
    below, above = [each.value - each.lower for each in parts], [each.upper - each.value for each in parts]
    add = _root_of_squares if sure else math.fsum
    return Estimate(value, max(value - add(below) / number, 0.0), min(value + add(above) / number, 1.0))


def _root_of_squares(distances: Sequence[float]) -> float:
    return math.sqrt(math.fsum(each**2 for each in distances))
