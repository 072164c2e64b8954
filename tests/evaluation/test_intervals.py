"""Intervals of fractions of noisy counts: coverage with noise and sampling, edges, and the case without noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.evaluation.intervals import Estimate, Noisy, fraction, is_sure, mean, quantile
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import as_rng

DRAWS = 1000


def covered(records: int, chance: float, scale: float, cells: tuple[int, int], confidence: float) -> float:
    """How often the interval holds the chance, over draws of records and of noise."""
    samples = np.random.default_rng(1).binomial(records, chance, DRAWS)
    rng, variance = as_rng(2), DiscreteLaplace(scale).variance
    noise = [rng.discrete_laplace(scale, (DRAWS, number)).sum(axis=1) for number in cells]
    hits = 0
    for part, one, other in zip(samples, *noise, strict=True):
        counts = int(part + one), int(records - part + other)
        noisy = [Noisy(count, number * variance) for count, number in zip(counts, cells, strict=True)]
        found = fraction(*noisy, confidence)
        hits += found.lower <= chance <= found.upper
    return hits / DRAWS


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("records", "chance", "scale", "cells"),
    [
        (20, 0.5, 4.0, (1, 1)),
        (50, 0.9, 2.0, (1, 1)),
        (100, 0.05, 10.0, (1, 9)),
        (1000, 0.7, 1.0, (2, 2)),
        (1000, 0.98, 40.0, (1, 1)),
        (5000, 0.6, 100.0, (10, 90)),
        (300, 1.0, 5.0, (1, 1)),
    ],
)
def test_the_intervals_cover_as_often_as_they_say(records, chance, scale, cells, confidence):
    error = 4 * math.sqrt(confidence * (1 - confidence) / DRAWS)
    assert covered(records, chance, scale, cells, confidence) > confidence - error


def test_the_intervals_are_not_wider_than_needed():
    """With many records the width is that of a normal law, and of the stated quantile."""
    found = fraction(Noisy(50_000, 8.0), Noisy(50_000, 8.0), 0.95)
    assert math.isclose(found.upper - found.lower, 2 * quantile(0.95) * math.sqrt(0.25 / 100_000), rel_tol=0.01)
    noisy = fraction(Noisy(500_000, 1e6), Noisy(500_000, 1e6), 0.95)
    assert math.isclose(noisy.upper - noisy.lower, 2 * quantile(0.95) * math.sqrt(0.5e6 + 0.25e6) / 1e6, rel_tol=0.01)


def test_without_noise_it_is_wilsons_interval():
    from scipy.stats import binomtest

    for right, records in [(0, 10), (3, 10), (10, 10), (77, 100)]:
        found = fraction(Noisy(right, 0.0), Noisy(records - right, 0.0), 0.6)  # where the normal quantile is larger
        wilson = binomtest(right, records).proportion_ci(0.6, method="wilson")
        assert np.allclose([found.lower, found.upper], [wilson.low, wilson.high])


@pytest.mark.parametrize("counts", [(0, 0), (-5, 3), (-3, -9), (4, -20), (1, 0)])
def test_few_records_leave_everything_possible(counts):
    found = fraction(*(Noisy(count, 200.0) for count in counts), 0.95)
    assert (found.lower, found.upper) == (0.0, 1.0)
    assert 0 <= found.value <= 1


@pytest.mark.parametrize(
    ("truths", "records", "scale", "cells", "widest"),
    [
        ((0.9, 0.3, 0.6), (500, 60, 200), 1.0, (1, 2), 0.15),
        ((0.9, 0.3, 0.6), (500, 60, 200), 10.0, (1, 2), 0.6),
        ((0.8,) * 10, (200,) * 10, 20.0, (1, 9), 0.9),
        ((0.8,) * 10, (2000,) * 10, 20.0, (1, 9), 0.1),
    ],
)
def test_a_mean_covers_too(truths, records, scale, cells, widest):
    rng, noise, confidence, draws = np.random.default_rng(5), as_rng(6), 0.95, 200
    variance, hits, widths = DiscreteLaplace(scale).variance, 0, []
    for _ in range(draws):
        parts, wholes = [], []
        for truth, number in zip(truths, records, strict=True):
            part = int(rng.binomial(number, truth))
            one, other = (int(noise.discrete_laplace(scale, (each,)).sum()) for each in cells)
            noisy = Noisy(part + one, cells[0] * variance), Noisy(number - part + other, cells[1] * variance)
            parts.append(fraction(*noisy, confidence))
            wholes.append(Noisy(noisy[0].count + noisy[1].count, sum(cells) * variance))
        found = mean(parts, sure=all(map(is_sure, wholes)))
        hits += found.lower <= sum(truths) / len(truths) <= found.upper
        widths.append(found.upper - found.lower)
    assert hits / draws > confidence - 4 * math.sqrt(confidence * (1 - confidence) / draws)
    assert np.mean(widths) < widest


@pytest.mark.parametrize("count", [-1, -3, -30, -3000])
def test_a_negative_count_stands_for_none(count):
    variance = 2.0
    found = fraction(Noisy(count, variance), Noisy(2411, variance), 0.95)
    assert found == fraction(Noisy(0, variance), Noisy(2411, variance), 0.95)
    assert 0 == found.lower < found.upper < 0.01
    other = fraction(Noisy(2411, variance), Noisy(count, variance), 0.95)
    assert 0.99 < other.lower < other.upper == 1


def test_a_mean_of_one_is_itself():
    for sure in (True, False):
        assert mean([Estimate(0.5, 0.25, 0.75)], sure=sure) == Estimate(0.5, 0.25, 0.75)
    even = [Estimate(0.5, 0.4, 0.6)] * 4
    assert math.isclose(mean(even, sure=True).upper, 0.55)
    assert math.isclose(mean(even, sure=False).upper, 0.6)
