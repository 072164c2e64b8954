"""The random order of a perturbed table: uniform, the same with and without a file, and no file is left."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from discreet.errors import FileError
from discreet.perturbation import shuffling
from discreet.perturbation.shuffling import RandomOrder
from discreet.privacy.randomness import as_rng


def shuffled(rows, *, seed=None, held=None, block=5, most=None, folder=None):
    order = RandomOrder(2, as_rng(seed), folder, held)
    for start in range(0, rows, block):
        place = np.arange(start, min(start + block, rows), dtype=np.uint16)
        order.add([place, place + 1])
    return order, list(order.blocks(most))


def rows_of(blocks):
    return np.concatenate([block[0] for block in blocks]).tolist()


@pytest.mark.parametrize("held", [None, 2, 14, 60, 10**6])
@pytest.mark.parametrize("most", [None, 1, 7])
def test_every_record_leaves_once_and_whole(held, most):
    for rows in (0, 1, 5, 33):
        _, blocks = shuffled(rows, held=held, most=most)
        assert sorted(rows_of(blocks)) == list(range(rows))
        assert all((block[1] == block[0] + 1).all() for block in blocks)
        assert all(len(block[0]) <= (most or rows) for block in blocks)
        assert blocks


@pytest.mark.parametrize("held", [2, 14, 60])
def test_a_file_changes_nothing_about_the_order(held):
    expected = rows_of(shuffled(1000, seed=1)[1])
    assert expected != sorted(expected)
    assert rows_of(shuffled(1000, seed=1, held=held)[1]) == expected


@pytest.mark.parametrize("held", [None, 2])
def test_all_orders_are_equally_likely(held):
    seen = [tuple(rows_of(shuffled(4, seed=seed, held=held, block=1)[1])) for seed in range(2400)]
    counts = [seen.count(order) for order in permutations(range(4))]
    assert sum(counts) == 2400
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("held", [None, 2])
def test_equal_keys_are_told_apart_by_chance(held, monkeypatch):
    """With four keys in all, most records have to draw again; the order stays uniform."""
    monkeypatch.setattr(shuffling, "KEYS", 4)
    monkeypatch.setattr(shuffling, "SLOTS", 4)
    seen = [tuple(rows_of(shuffled(4, seed=seed, held=held, block=1)[1])) for seed in range(2400)]
    assert stats.chisquare([seen.count(order) for order in permutations(range(4))]).pvalue > 1e-3


def test_the_file_has_no_name_and_is_closed_with_its_user(tmp_path):
    order, _ = shuffled(100, held=20, folder=tmp_path)
    file = order._file
    assert list(tmp_path.iterdir()) == []
    del order
    assert file.closed


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="cannot keep the perturbed records until their turn: No such file"):
        shuffled(100, held=20, folder=tmp_path / "none")


def test_it_shows_no_values():
    assert repr(RandomOrder(1, as_rng(0))) == "RandomOrder(values hidden)"
