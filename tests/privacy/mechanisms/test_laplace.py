"""Discrete Laplace noise: the charged loss is the loss of the exact law."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import as_rng

epsilons = st.fractions(Fraction(1, 10**6), 1000).filter(lambda epsilon: epsilon > 0) | st.floats(1e-6, 1000).map(
    lambda value: Fraction(str(value))
)


def log_pmf(z, scale):
    """The exact law: P[z] = (1 - p) / (1 + p) * p^|z| with p = exp(-1 / scale)."""
    return math.log(math.tanh(0.5 / scale)) - abs(z) / scale


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 2.5, 17.0, 1e4])
@pytest.mark.parametrize("distance", [1, 2, 3, 50])
def test_loss_equals_worst_ratio(scale, distance):
    """An equality: the worst log-ratio over outputs, for every way to divide the distance between two cells."""
    loss = float(DiscreteLaplace(scale).loss(distance))
    worst = max(
        log_pmf(o1, scale) + log_pmf(o2, scale) - log_pmf(o1 - first, scale) - log_pmf(o2 - (distance - first), scale)
        for first in {0, 1, distance // 2, distance}
        for o1 in range(-60, 61, 4)
        for o2 in range(-60, 61, 4)
    )
    assert worst == pytest.approx(loss, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 2.5, 17.0])
def test_the_law_sums_to_one_and_has_the_stated_variance(scale):
    z = np.arange(-int(60 * scale) - 60, int(60 * scale) + 61)
    pmf = np.exp([log_pmf(each, scale) for each in z])
    assert pmf.sum() == pytest.approx(1, rel=1e-12)
    assert (pmf * z.astype(float) ** 2).sum() == pytest.approx(DiscreteLaplace(scale).variance, rel=1e-10)


@given(epsilons, st.integers(1, 2 * 2048**2))
def test_calibration_never_exceeds_epsilon_and_is_tight(epsilon, sensitivity):
    mechanism = DiscreteLaplace.calibrated(epsilon, sensitivity)
    assert mechanism.loss(sensitivity) <= epsilon
    for _ in range(2):
        mechanism = DiscreteLaplace(math.nextafter(mechanism.scale, 0))
    assert mechanism.loss(sensitivity) > epsilon


@given(epsilons, st.integers(1, 1000))
def test_losses_add_along_the_distance(epsilon, distance):
    mechanism = DiscreteLaplace.calibrated(epsilon, 1)
    assert mechanism.loss(distance) == distance * mechanism.loss(1)
    assert mechanism.loss(0) == 0


@pytest.mark.parametrize("epsilon", ["1e-400", 1e-320, 1e-20, 1e-17])
def test_an_epsilon_whose_noise_does_not_fit_is_refused(epsilon):
    """Noise that saturates at 2^63 would wrap around and show the count."""
    with pytest.raises(ParameterError, match="too small"):
        DiscreteLaplace.calibrated(Fraction(str(epsilon)), 1)


def test_the_largest_scale_that_is_accepted_leaves_room():
    """P[|Z| >= 2^62] = 2 p^(2^62) / (1 + p), at most exp(-2^62 / scale): nobody will see it."""
    smallest = Fraction(1)
    while True:
        try:
            scale = DiscreteLaplace.calibrated(smallest, 1).scale
        except ParameterError:
            break
        smallest /= 2
    assert 2**62 / scale > 1000


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5000), Fraction(10_000), Fraction(1, 10**6)])
def test_the_variance_is_finite_for_every_epsilon(epsilon):
    variance = DiscreteLaplace.calibrated(epsilon, 1).variance
    assert 0 <= variance < math.inf
    if epsilon < 1:
        assert variance == pytest.approx(2 / float(epsilon) ** 2, rel=1e-3)


def test_without_noise_the_table_is_copied_and_the_loss_infinite():
    mechanism, table = DiscreteLaplace.calibrated(math.inf, 3), np.array([[1, 2]])
    perturbed = mechanism.perturb(table, as_rng(0))
    assert perturbed.tolist() == table.tolist()
    assert not np.shares_memory(perturbed, table)
    assert (mechanism.variance, mechanism.loss(1), mechanism.loss(0)) == (0.0, math.inf, 0)


def test_noise_is_added_to_every_cell_with_its_scale():
    class Spy:
        seeded = True

        def discrete_laplace(self, scale, shape):
            self.asked = scale, shape
            return np.arange(6).reshape(shape)

    spy, table = Spy(), np.full((2, 3), 100)
    mechanism = DiscreteLaplace.calibrated(Fraction(1, 4), 2)
    assert mechanism.perturb(table, spy).tolist() == [[100, 101, 102], [103, 104, 105]]
    assert spy.asked == (8.0, (2, 3))
    assert table.tolist() == [[100] * 3] * 2
