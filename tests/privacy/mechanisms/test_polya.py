"""Pólya shares: the sum of `honest` of them is exactly discrete Laplace noise; one alone guarantees nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ParameterError
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.polya import PolyaShare
from discreet.privacy.negative_binomial import weight
from discreet.privacy.randomness import SecureRandomness, as_rng

epsilons = st.fractions(Fraction(1, 10**4), 1000).filter(lambda epsilon: epsilon > 0)


def one_sided(scale, honest, last):
    """The law NB(1 / honest, exp(-1 / scale)) on 0 ... last, by its recurrence."""
    p, r = math.exp(-1 / scale), 1 / honest
    k = np.arange(1, last + 1)
    return (-math.expm1(-1 / scale)) ** r * np.concatenate([[1.0], np.cumprod((k - 1 + r) / k * p)])


def share_law(scale, honest, last, parties=1):
    """The law of the sum of this many shares, on -last ... last."""
    law = one_sided(scale, honest, last)
    total = law
    for _ in range(parties - 1):
        total = np.convolve(total, law)[: last + 1]
    return np.convolve(total, total[::-1])


def laplace_law(scale, last):
    return np.tanh(0.5 / scale) * np.exp(-np.abs(np.arange(-last, last + 1)) / scale)


@pytest.mark.parametrize("honest", [1, 2, 5, 20])
def test_shares_add_up_to_laplace(honest):
    """The weights of `honest` shares convolve to 1 for each k, in exact fractions: the geometric law."""
    weights = [weight(k, honest) for k in range(25)]
    total = [Fraction(1)] + [Fraction(0)] * 24
    for _ in range(honest):
        total = [sum(total[i] * weights[k - i] for i in range(k + 1)) for k in range(25)]
    assert total == [1] * 25
    for scale in (0.2, 1.0, 2.5, 9.0):
        last = int(40 * scale) + 5
        np.testing.assert_allclose(share_law(scale, honest, last, honest), laplace_law(scale, last), rtol=0, atol=1e-12)


def test_fewer_shares_do_not_add_up():
    """The test above detects one share too few and one too many."""
    for parties in (4, 6):
        assert np.abs(share_law(2.5, 5, 105, parties) - laplace_law(2.5, 105)).max() > 1e-3


def chi_squared(draws, law, last):
    """P-value against a law on -last ... last, cells of fewer than ten expected draws pooled."""
    expected = law * len(draws)
    large = np.flatnonzero(expected >= 10)
    observed = np.array([np.sum(draws == cell - last) for cell in large])
    rest = len(draws) - expected[large].sum()
    if rest < 10 and len(large) == 1:
        return min(1.0, 2 * stats.poisson.sf(len(draws) - observed[0] - 1, rest))
    if rest < 10:
        return stats.chisquare(observed, expected[large] / expected[large].sum() * observed.sum()).pvalue
    return stats.chisquare([*observed, len(draws) - observed.sum()], [*expected[large], rest]).pvalue


SOURCES = pytest.mark.parametrize(("random_state", "least"), [(20261115, 1e-3), (None, 1e-6)], ids=["seeded", "secure"])
SIZES = pytest.mark.parametrize("size", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])


@SOURCES
@SIZES
@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
@pytest.mark.parametrize("honest", [1, 2, 10, 1000])
def test_a_share_fits_its_law(random_state, least, size, scale, honest):
    draws = as_rng(random_state).polya(scale, honest, (size,))
    assert draws.dtype == np.int64
    last = int(60 * scale) + 20
    assert chi_squared(draws, share_law(scale, honest, last), last) > least


@SOURCES
@SIZES
@pytest.mark.parametrize(("honest", "scale"), [(5, 1.0), (5, 20.0), (20, 3.0)])
def test_the_sum_of_draws_is_laplace_noise(random_state, least, size, honest, scale):
    draws = as_rng(random_state).polya(scale, honest, (honest, size)).sum(axis=0)
    last = int(60 * scale)
    assert chi_squared(draws, laplace_law(scale, last), last) > least
    assert chi_squared(draws, laplace_law(0.8 * scale, last), last) < 1e-6


@SOURCES
@pytest.mark.parametrize("scale", [0.5, 4.0])
def test_one_party_draws_laplace_noise(random_state, least, scale):
    np.testing.assert_allclose(share_law(scale, 1, 300), laplace_law(scale, 300), rtol=0, atol=1e-12)
    draws = as_rng(random_state).polya(scale, 1, (20_000,))
    assert chi_squared(draws, laplace_law(scale, 300), 300) > least


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("parties", [4, 6])
@pytest.mark.parametrize("distance", [1, 2, 5])
def test_loss_bounds_the_worst_ratio_of_a_sum(scale, parties, distance):
    """For exactly `honest` shares it is an equality; more shares only help."""
    loss = float(PolyaShare(scale, 4).loss(distance))
    last = int(12 * scale) + 12  # no further: a truncated law is wrong at its ends
    law = share_law(scale, 4, 4 * last, parties)[3 * last : -3 * last]
    worst = np.log(law[:-distance] / law[distance:]).max()
    if parties == 4:
        assert worst == pytest.approx(loss, rel=1e-6)
    else:
        assert worst <= loss * (1 + 1e-9)


def test_one_share_alone_guarantees_nothing():
    """Its worst ratio is far beyond what the sum costs, and most shares are 0."""
    mechanism = PolyaShare(10.0, 100)
    law = share_law(10.0, 100, 400)
    assert law[400] > 0.95
    assert math.log(law[400] / law[401]) > 40 * float(mechanism.loss(1))


@given(epsilons, st.integers(1, 10**6), st.integers(1, 1000))
def test_calibration_never_exceeds_epsilon_and_is_tight(epsilon, distance, honest):
    mechanism = PolyaShare.calibrated(epsilon, distance, honest)
    assert mechanism.honest == honest
    assert mechanism.loss(distance) <= epsilon
    assert mechanism.scale == DiscreteLaplace.calibrated(epsilon, distance).scale
    smaller = PolyaShare(math.nextafter(math.nextafter(mechanism.scale, 0), 0), honest)
    assert smaller.loss(distance) > epsilon


@pytest.mark.parametrize("scale", [0.3, 2.5, 17.0])
@pytest.mark.parametrize("honest", [1, 3, 50])
def test_variances_are_those_of_the_laws(scale, honest):
    mechanism, last = PolyaShare(scale, honest), int(60 * scale)
    z = np.arange(-last, last + 1).astype(float)
    assert (share_law(scale, honest, last) * z**2).sum() == pytest.approx(mechanism.variance, rel=1e-9)
    assert mechanism.total_variance(honest) == pytest.approx(DiscreteLaplace(scale).variance)
    assert mechanism.total_variance(3 * honest) == pytest.approx(3 * honest * mechanism.variance)
    with pytest.raises(ParameterError, match="need at least honest="):
        mechanism.total_variance(honest - 1)


def test_without_noise_the_table_is_copied_and_the_loss_infinite():
    mechanism, table = PolyaShare.calibrated(math.inf, 3, 5), np.array([[1, 2]])
    perturbed = mechanism.perturb(table, as_rng(0))
    assert perturbed.tolist() == table.tolist()
    assert not np.shares_memory(perturbed, table)
    assert (mechanism.variance, mechanism.loss(1), mechanism.loss(0)) == (0.0, math.inf, 0)


def test_a_share_is_added_to_every_cell_with_its_scale():
    class Spy:
        seeded = True

        def polya(self, scale, parties, shape):
            self.asked = scale, parties, shape
            return np.arange(6).reshape(shape)

    spy, table = Spy(), np.full((2, 3), 100)
    mechanism = PolyaShare.calibrated(Fraction(1, 4), 2, 7)
    assert mechanism.perturb(table, spy).tolist() == [[100, 101, 102], [103, 104, 105]]
    assert spy.asked == (8.0, 7, (2, 3))
    assert table.tolist() == [[100] * 3] * 2


@pytest.mark.parametrize("honest", [0, -1, 1.0, True, None, "3", 10**9 + 1])
def test_a_number_of_honest_parties_that_is_none_is_refused(honest):
    with pytest.raises(ParameterError, match="honest="):
        PolyaShare.calibrated(Fraction(1), 1, honest)


@pytest.mark.parametrize("scale", [-1.0, math.nan, math.inf, 2.0**51])
def test_a_scale_that_does_not_fit_is_refused(scale):
    with pytest.raises(ParameterError, match="scale="):
        PolyaShare(scale, 3)


def test_an_epsilon_whose_noise_does_not_fit_is_refused():
    with pytest.raises(ParameterError, match="too small"):
        PolyaShare.calibrated(Fraction(1, 10**17), 1, 3)


@pytest.mark.parametrize("random_state", [0, None], ids=["seeded", "secure"])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (1, 1), (2, 3)])
def test_shapes_are_kept(random_state, shape):
    assert as_rng(random_state).polya(2.0, 3, shape).shape == shape


def test_a_seed_repeats_and_secure_shares_do_not():
    np.testing.assert_array_equal(as_rng(5).polya(30.0, 2, (50,)), as_rng(5).polya(30.0, 2, (50,)))
    assert as_rng(None).polya(30.0, 2, (50,)).tolist() != as_rng(None).polya(30.0, 2, (50,)).tolist()


def test_secure_shares_come_from_the_operating_system(monkeypatch):
    """And from nowhere else: with the same words every share is the same."""
    monkeypatch.setattr("os.urandom", lambda count: b"\1" * count)
    assert SecureRandomness().polya(30.0, 2, (50,)).tolist() == [0] * 50


def test_extreme_scales_draw():
    for rng in (as_rng(0), as_rng(None)):
        assert (rng.polya(1e-4, 2, (100,)) == 0).all()
        assert np.abs(rng.polya(1e12, 2, (200,))).max() > 1e9
        assert np.abs(rng.polya(2.0**50, 2, (200,))).max() > 1e12


@pytest.mark.parametrize("random_state", [3, None], ids=["seeded", "secure"])
def test_cells_are_independent(random_state):
    draws = np.sign(as_rng(random_state).polya(50.0, 3, (4000, 3)))
    limit = 5.5 / math.sqrt(4000)  # more than five standard deviations
    assert np.abs(np.corrcoef(draws.T)[np.triu_indices(3, 1)]).max() < limit
    assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < limit
