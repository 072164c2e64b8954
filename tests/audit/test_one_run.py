"""The bound from one run: it must hold for mechanisms whose loss is known, and show what is plain to see."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.audit.one_run import one_run_bound, p_value


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_randomized_response_stays_within_its_loss(epsilon: float) -> None:
    """Each coin is told truly with probability e^eps / (1 + e^eps), the worst that is allowed: 300 audits, risk .02."""
    rng = np.random.default_rng(7)
    correct = rng.binomial(400, 1 / (1 + math.exp(-epsilon)), size=300)
    bounds = np.array([one_run_bound(400, 400, int(each), 0.98) for each in correct])
    assert (bounds > epsilon).sum() <= 15, "6 expected; more than 15 has a probability below .001"
    assert bounds.mean() > 0.5 * epsilon, "the bound is not idle"


def test_all_right_shows_much_and_half_right_nothing() -> None:
    assert one_run_bound(1000, 1000, 1000) > 4.9
    assert one_run_bound(1000, 1000, 500) == 0
    assert one_run_bound(1000, 0, 0) == 0


def test_delta_costs() -> None:
    """With delta, a mechanism may publish everything with a small probability."""
    assert one_run_bound(1000, 100, 90, delta=1e-5) < one_run_bound(1000, 100, 90)
    assert p_value(1000, 100, 100, 50.0, 0.1) == 1


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="guesses"):
        one_run_bound(10, 11, 3)
