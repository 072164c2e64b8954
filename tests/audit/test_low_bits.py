"""Low bits: floats tell what they were added to; integers do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet import Numeric, Schema
from discreet.audit import audit
from discreet.audit.low_bits import LowBits, lowest_bit
from discreet.privacy.randomness import as_rng

ONE = Schema([Numeric("a", 0, 1)], "label", [0, 1])
FLOATS = np.random.default_rng(5)
INTEGERS = as_rng(6)


def float_laplace(X: Any, y: Any) -> float:
    """A count with floating-point noise of the right scale."""
    return float(len(X) + FLOATS.laplace(0.0, 1.0))


def discrete_laplace(X: Any, y: Any) -> float:
    """A count with integer noise, published in sixteenths."""
    return float(len(X) + INTEGERS.discrete_laplace(1.0, (1,))[0]) / 16


def test_floating_point_noise_is_caught() -> None:
    report = audit(
        float_laplace, 1.0, schema=ONE, stages=[LowBits()], within=True, minutes=1.0, most_runs=60_000, seed=1
    )
    assert report.refuted
    assert report.findings[0].stage == "low bits"
    assert "lowest bit of output" in report.findings[0].event


def test_integer_noise_is_not_accused() -> None:
    report = audit(discrete_laplace, 1.0, schema=ONE, stages=[LowBits()], within=True, most_runs=20_000, seed=2)
    assert not report.refuted
    assert "floats" in report.stages[0].tried[0]


def test_lowest_bits() -> None:
    numbers = np.array([1.0, 6.0, -0.5, 2.0**-1074, 1 + 2.0**-52, 0.0, np.inf, np.nan])
    places = lowest_bit(numbers)
    assert places[:5].tolist() == [0, 1, -1, -1074, -52]
    assert places[5] > 1000
    assert places[6] > places[5]
    assert np.isnan(places[7])
