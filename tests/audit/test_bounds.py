"""Bounds from counts: the intervals hold as often as stated, with δ too."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from discreet.audit.bounds import at_least, at_most, enough_runs, loss


@pytest.mark.parametrize("probability", [0.001, 0.05, 0.5, 0.97])
@pytest.mark.parametrize("runs", [10, 200])
def test_intervals_miss_no_more_often_than_stated(probability, runs):
    """Exactly, over all numbers of successes: no sampling."""
    successes = np.arange(runs + 1)
    chances = binom.pmf(successes, runs, probability)
    for risk in (0.2, 0.001):
        assert chances[at_least(successes, runs, risk) > probability].sum() <= risk
        assert chances[at_most(successes, runs, risk) < probability].sum() <= risk


def test_a_loss_is_bounded_below_the_point_estimate():
    assert 0 < loss(600, 1000, 200, 1000, 0.001) < math.log(3)
    assert loss(200, 1000, 600, 1000, 0.001) == 0
    assert loss(0, 1000, 0, 1000, 0.001) == 0


def test_delta_is_given_away():
    """An event of probability δ on one table alone refutes nothing at that δ."""
    assert loss(1000, 20_000, 0, 20_000, 0.001) > 3
    assert loss(1000, 20_000, 0, 20_000, 0.001, delta=0.05) == 0
    assert loss(4000, 20_000, 0, 20_000, 0.001, delta=0.05) > 3


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_enough_runs_are_enough(epsilon):
    runs = enough_runs(epsilon, 0.0001)
    assert loss(runs, runs, 0, runs, 0.0001) > epsilon
    assert loss(runs // 2, runs // 2, 0, runs // 2, 0.0001) < epsilon
