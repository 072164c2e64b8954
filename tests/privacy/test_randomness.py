"""Randomness: secure and seeded draws have the law that the proofs use."""

import math
import pickle

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.privacy.randomness import SecureRandomness, SeededRandomness, as_rng, search_generator


def chi_squared(draws, scale, cells=None):
    """P-value of the draws against the exact law, tails pooled."""
    reach = cells or max(1, int(3 * scale))
    p = math.exp(-1 / scale)
    inside = np.arange(-reach, reach + 1)
    pmf = (1 - p) / (1 + p) * p ** np.abs(inside)
    tail = p ** (reach + 1) / (1 + p)
    observed = np.array([np.sum(draws < -reach), *(np.sum(draws == z) for z in inside), np.sum(draws > reach)])
    expected = np.array([tail, *pmf, tail]) * len(draws)
    return stats.chisquare(observed, expected).pvalue


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
@pytest.mark.parametrize(
    ("random_state", "size", "threshold"),
    [
        (20260730, 20_000, 1e-3),
        (None, 20_000, 1e-6),
        pytest.param(20260730, 2_000_000, 1e-3, marks=pytest.mark.slow),
        pytest.param(None, 300_000, 1e-6, marks=pytest.mark.slow),
    ],
    ids=["seeded", "secure", "seeded-many", "secure-many"],
)
def test_discrete_laplace_fits_its_law(random_state, size, threshold, scale):
    draws = as_rng(random_state).discrete_laplace(scale, (size,))
    assert draws.dtype == np.int64
    assert chi_squared(draws, scale) > threshold


def test_the_test_itself_sees_half_the_noise():
    """The chi-squared test rejects a law of half the scale, a continuous law rounded, and a shifted one."""
    draws = as_rng(1).discrete_laplace(1.0, (20_000,))
    assert chi_squared(as_rng(1).discrete_laplace(0.5, (20_000,)), 1.0) < 1e-6
    assert chi_squared(np.rint(as_rng(1).laplace((20_000,))).astype(int), 1.0) < 1e-6
    assert chi_squared(draws + 1, 1.0) < 1e-6


@pytest.mark.parametrize("random_state", [3, None], ids=["seeded", "secure"])
def test_cells_are_independent(random_state):
    draws = as_rng(random_state).discrete_laplace(5.0, (4000, 3)).astype(float)
    correlation = np.corrcoef(draws.T)
    lagged = np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]
    limit = 5.5 / math.sqrt(4000)  # more than five standard deviations
    assert np.abs(correlation[np.triu_indices(3, 1)]).max() < limit
    assert abs(lagged) < limit


@pytest.mark.parametrize("kind", ["cauchy", "laplace"])
@pytest.mark.parametrize("random_state", [11, None], ids=["seeded", "secure"])
def test_continuous_draws_fit_their_law(kind, random_state):
    draws = getattr(as_rng(random_state), kind)((100, 200))
    assert draws.shape == (100, 200)
    assert np.isfinite(draws).all()
    assert stats.kstest(draws.ravel(), kind).pvalue > (1e-3 if random_state else 1e-6)


def test_a_seed_repeats_and_goes_on():
    one, other = as_rng(5), as_rng(np.int64(5))
    first = one.discrete_laplace(3.0, (50,))
    np.testing.assert_array_equal(first, other.discrete_laplace(3.0, (50,)))
    np.testing.assert_array_equal(one.cauchy((5,)), other.cauchy((5,)))
    assert not np.array_equal(first, one.discrete_laplace(3.0, (50,)))
    assert not np.array_equal(first, as_rng(6).discrete_laplace(3.0, (50,)))
    assert one.seeded


def test_secure_noise_does_not_repeat_even_under_numpys_seed():
    draws = []
    for _ in range(2):
        np.random.seed(0)
        draws.append(as_rng(None).discrete_laplace(100.0, (30,)).tolist())
    assert draws[0] != draws[1]
    assert not as_rng(None).seeded


def test_numpy_generators_are_seeded_and_shared():
    generator = np.random.default_rng(1)
    first = as_rng(generator).discrete_laplace(10.0, (20,))
    assert not np.array_equal(first, as_rng(generator).discrete_laplace(10.0, (20,)))
    assert as_rng(generator).seeded
    legacy = np.random.RandomState(1)
    assert as_rng(legacy).seeded
    assert not np.array_equal(
        as_rng(legacy).discrete_laplace(10.0, (20,)), as_rng(legacy).discrete_laplace(10.0, (20,))
    )


def test_a_source_of_noise_is_taken_as_it_is():
    for source in (SecureRandomness(), SeededRandomness(np.random.default_rng(0))):
        assert as_rng(source) is source


@pytest.mark.parametrize("random_state", [-1, 1.5, "7", [1], object(), math.nan])
def test_other_random_states_are_refused(random_state):
    with pytest.raises(ParameterError, match=r"random_state=.*; need None \(secure noise\) or a non-negative integer"):
        as_rng(random_state)


@pytest.mark.parametrize("random_state", [0, None], ids=["seeded", "secure"])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (1, 1), (2, 3)])
def test_shapes_are_kept(random_state, shape):
    rng = as_rng(random_state)
    assert rng.discrete_laplace(2.0, shape).shape == shape
    assert rng.cauchy(shape).shape == shape
    assert rng.laplace(shape).shape == shape


def test_secure_noise_is_drawn_by_opendp_at_our_scale(monkeypatch):
    import opendp.prelude as dp

    asked = []
    real = dp.m.make_laplace

    def spy(domain, metric, scale):
        asked.append((str(domain), str(metric), scale))
        return real(domain, metric, scale=scale)

    monkeypatch.setattr(dp.m, "make_laplace", spy)
    scale = 0.1 + 0.2
    SecureRandomness().discrete_laplace(scale, (2, 3))
    ((domain, metric, used),) = asked
    assert used == scale
    assert "i64" in domain
    assert "L1Distance" in metric


def test_opendp_states_the_loss_that_we_charge():
    """OpenDP's own map from sensitivity to loss agrees with distance / scale."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    for scale in (0.3, 1.0, 12.5):
        measurement = dp.m.make_laplace(*space, scale=scale)
        for distance in (1, 2, 16):
            assert measurement.map(distance) == pytest.approx(distance / scale, rel=1e-12)


def test_extreme_scales_draw():
    for rng in (as_rng(0), as_rng(None)):
        assert (rng.discrete_laplace(1e-4, (100,)) == 0).all()
        assert np.abs(rng.discrete_laplace(1e12, (20,))).max() > 1e9


def test_sources_of_noise_can_be_pickled_with_a_model():
    assert not pickle.loads(pickle.dumps(SecureRandomness())).seeded


@pytest.mark.parametrize("below", [1, 3, 5, 48, 1000])
@pytest.mark.parametrize("random_state", [None, 3])
def test_integers_are_uniform(below, random_state):
    """A word folded back by a remainder would favour small numbers."""
    draws = as_rng(random_state).integers(below, (60_000,))
    assert draws.min() >= 0
    assert draws.max() < below
    if below > 1:
        assert stats.chisquare(np.bincount(draws, minlength=below)).pvalue > 1e-7


def test_integers_near_the_largest_range_are_not_folded():
    """Three quarters of 2**62: folding back would put two thirds of the draws below a third."""
    below = 3 * 2**60
    draws = as_rng(None).integers(below, (20_000,))
    assert abs((draws < below // 3).mean() - 1 / 3) < 0.02


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState, int, np.int64])
def test_a_seed_of_any_kind_makes_a_search_repeatable(make):
    first, second = (search_generator(make(5)).integers(10**9, size=4).tolist() for _ in range(2))
    assert first == second


def test_a_generator_given_to_a_search_is_the_one_that_draws():
    given = np.random.default_rng(0)
    assert search_generator(given) is given
