"""Dividing rows among parties: every row once, sizes and labels as asked, repeatable."""

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.federated.partition import SIZES, apportioned, partition

LABELS = np.repeat(["a", "b", "c"], [500, 300, 200])


def sizes_of(owners, parties):
    return np.bincount(owners, minlength=parties)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("concentration", [None, 0.1, 100.0])
def test_every_row_has_one_party(sizes, concentration):
    owners = partition(LABELS, 7, sizes=sizes, concentration=concentration, seed=1)
    assert owners.shape == LABELS.shape
    assert owners.dtype == np.int64
    assert set(owners) <= set(range(7))


def test_equal_sizes_differ_by_at_most_one_row():
    for rows, parties in ((1000, 7), (1000, 1000), (5, 9), (0, 3), (1, 1)):
        counts = sizes_of(partition(np.zeros(rows), parties, seed=2), parties)
        assert counts.sum() == rows
        assert counts.max() - counts.min() <= 1


def test_uniform_and_exponential_sizes_have_the_spread_of_their_law():
    """Relative standard deviations: 1/√3 of a uniform law on [0, 1], 1 of an exponential one."""
    rows = np.zeros(400_000)
    for sizes, expected in (("uniform", 3**-0.5), ("exponential", 1.0)):
        counts = sizes_of(partition(rows, 2000, sizes=sizes, seed=3), 2000)
        assert counts.std() / counts.mean() == pytest.approx(expected, rel=0.1)


def test_an_iid_partition_spreads_the_classes_alike():
    owners = partition(np.repeat(LABELS, 100), 10, seed=4)
    for party in range(10):
        shares = [np.mean(np.repeat(LABELS, 100)[owners == party] == label) for label in "abc"]
        assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.02)


@pytest.mark.parametrize("concentration", [0.1, 1.0, 30.0])
def test_a_skewed_partition_has_the_spread_of_a_dirichlet_law(concentration):
    """A share of a symmetric Dirichlet law over N parties has variance (1/N)(1 - 1/N) / (N α + 1)."""
    parties, shares = 20, []
    for seed in range(300):
        owners = partition(np.repeat(["a", "b"], 2000), parties, concentration=concentration, seed=seed)
        shares.append(sizes_of(owners[:2000], parties) / 2000)
    expected = (1 / parties) * (1 - 1 / parties) / (parties * concentration + 1)
    assert np.var(shares) == pytest.approx(expected, rel=0.1)


def test_classes_are_skewed_independently():
    owners = partition(np.repeat(["a", "b"], 20_000), 50, concentration=0.2, seed=5)
    first, second = (sizes_of(owners[half], 50) for half in (slice(20_000), slice(20_000, None)))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.5
    assert not np.array_equal(first, second)


def test_a_tiny_concentration_gives_a_class_to_one_party():
    """Every gamma draw underflows to zero here; weights are made from logarithms."""
    owners = partition(np.zeros(100), 10, concentration=1e-5, seed=6)
    assert len(set(owners)) == 1


def test_rows_are_shuffled_and_repeatable():
    owners = partition(LABELS, 10, seed=7)
    assert np.array_equal(owners, partition(LABELS, 10, seed=7))
    assert not np.array_equal(owners, partition(LABELS, 10, seed=8))
    assert not np.array_equal(owners, np.sort(owners))


def test_apportioned_counts_are_the_nearest_whole_numbers():
    generator = np.random.default_rng(0)
    weights = generator.exponential(size=13)
    counts = apportioned(1000, weights, generator)
    assert counts.sum() == 1000
    assert np.abs(counts - 1000 * weights / weights.sum()).max() < 1
    assert apportioned(10, np.array([1.0, 1.7, 7.3]), generator).tolist() == [1, 2, 7]
    assert apportioned(6, np.zeros(3), generator).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "wrong",
    [{"parties": 0}, {"parties": 1.5}, {"sizes": "odd"}, {"concentration": 0}, {"concentration": float("nan")},
     {"seed": -1}],
)  # fmt: skip
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        partition(LABELS, **{"parties": 3, **wrong})
