"""Cauchy noise at smooth sensitivity: what is perturbed, by how much, and that the loss is as stated."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy import smooth_sensitivity
from discreet.privacy.mechanisms.smooth import SmoothCauchy
from discreet.privacy.smooth_sensitivity import cauchy_calibration, cauchy_divergence

GRID = 8
counts_of_a_class = st.lists(st.integers(0, 3), min_size=GRID + 1, max_size=GRID + 1)


class Fixed:
    """A source of noise with fixed draws."""

    seeded = True

    def __init__(self, draws):
        self.draws = np.asarray(draws, dtype=float)

    def cauchy(self, shape):
        assert self.draws.shape == shape
        return self.draws


def values_of(counts):
    return np.repeat(np.linspace(-1, 1, GRID + 1), counts)


def location_and_scale(counts, epsilon):
    """What is released is location + scale * Cauchy: both follow from two fixed draws."""
    table = np.array([counts])
    mechanism = SmoothCauchy(epsilon)
    zero, one = (mechanism.perturb(table, Fixed([[draw, draw]]))[0] for draw in (0.0, 1.0))
    return zero, one - zero


@given(counts_of_a_class)
def test_without_noise_the_moments_are_exact(counts):
    values = values_of(counts)
    expected = (values.mean(), values.std()) if len(values) else (0.0, 0.0)
    released = SmoothCauchy(math.inf).perturb(np.array([counts]), Fixed([[5.0, 7.0]]))
    np.testing.assert_allclose(released, [expected], atol=1e-15)
    location, scale = location_and_scale(counts, Fraction(1))
    np.testing.assert_allclose(location, expected, atol=1e-15)
    assert (scale > 0).all()


@given(counts_of_a_class, st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(4)]))
def test_each_moment_is_answered_at_half_the_epsilon(counts, epsilon):
    a, b = cauchy_calibration(float(epsilon) / 2)
    _, scale = location_and_scale(counts, epsilon)
    values = values_of(counts)
    expected = [
        bound(values, -1.0, 1.0, b, "add-remove") / a
        for bound in (smooth_sensitivity.mean, smooth_sensitivity.standard_deviation)
    ]
    np.testing.assert_allclose(scale, expected, rtol=1e-9)


@given(counts_of_a_class, st.integers(0, GRID), st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(4)]))
def test_the_loss_of_one_record_is_at_most_epsilon(counts, cell, epsilon):
    """The exact divergence of the two Cauchy laws, mean and deviation added, for one record more."""
    more = [count + (position == cell) for position, count in enumerate(counts)]
    (location, scale), (location_more, scale_more) = (location_and_scale(each, epsilon) for each in (counts, more))
    losses = [
        cauchy_divergence(location[i], scale[i], location_more[i], scale_more[i])
        for i in range(2)
    ]  # fmt: skip
    assert max(losses) <= float(epsilon) / 2 * (1 + 1e-9)
    assert sum(losses) <= float(epsilon) * (1 + 1e-9)


def test_a_change_in_one_class_leaves_the_others_alone():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 5, (3, GRID + 1))
    other = table.copy()
    other[1, 2] += 1
    noise = rng.normal(size=(3, 2))
    one, two = (SmoothCauchy(Fraction(1)).perturb(each, Fixed(noise)) for each in (table, other))
    np.testing.assert_array_equal(one[[0, 2]], two[[0, 2]])
    assert not np.array_equal(one[1], two[1])


def test_it_says_that_it_is_experimental_and_hides_its_scale():
    mechanism = SmoothCauchy(Fraction(1))
    assert "experimental" in mechanism.name
    assert math.isnan(mechanism.scale)
    assert mechanism.variance == math.inf


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(10_000)])
def test_extreme_epsilons_give_finite_answers(epsilon):
    for counts in ([0] * (GRID + 1), [1] + [0] * GRID, [1000] * (GRID + 1)):
        location, scale = location_and_scale(counts, epsilon)
        assert np.isfinite([*location, *scale]).all()
