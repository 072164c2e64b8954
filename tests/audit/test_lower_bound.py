"""The auditor itself: it must neither accuse the innocent nor acquit the guilty."""

import math

import numpy as np
import pytest

from discreet.audit import lower_bound
from discreet.privacy.randomness import as_rng


def _laplace(centre: int, scale: float, runs: int, seed: int) -> np.ndarray:
    return centre + as_rng(seed).discrete_laplace(scale, (runs,))


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_bound_stays_below_the_true_loss(epsilon: float) -> None:
    for seed in range(20):
        first, second = _laplace(0, 1 / epsilon, 4000, 2 * seed), _laplace(1, 1 / epsilon, 4000, 2 * seed + 1)
        assert lower_bound(first, second).epsilon <= epsilon


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_bound_comes_close_with_many_runs(epsilon: float) -> None:
    first, second = _laplace(0, 1 / epsilon, 200_000, 0), _laplace(1, 1 / epsilon, 200_000, 1)
    assert lower_bound(first, second).epsilon > 0.7 * epsilon


def test_no_noise_is_caught() -> None:
    bound = lower_bound(np.zeros(2000), np.ones(2000))
    assert bound.epsilon > 4
    assert bound.confidence == 0.999


def test_a_value_that_one_table_alone_can_give_is_caught() -> None:
    """A point mass inside a continuous law, as in attacks on floating-point noise."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=20_000)
    second = rng.normal(size=20_000)
    second[rng.random(20_000) < 0.05] = 0.125
    assert lower_bound(first, second).epsilon > 2


def test_same_law_gives_nothing() -> None:
    rng = np.random.default_rng(1)
    assert lower_bound(rng.normal(size=5000), rng.normal(size=5000)).epsilon < 0.2
    assert math.isfinite(lower_bound([0.0], [0.0]).epsilon)
