"""Pruning and probabilities of deep trees, from noisy counts alone."""

import math

import numpy as np
import pytest

from discreet.models.trees.smoothing import smoothed
from discreet.queries.trees import Split, Tree, complete_tree

LEVELS = [[Split("n", 8, 3)], [Split("n", 8, 1), Split("n", 8, 5)]]
TREE = complete_tree(LEVELS)


def test_branches_stay_where_they_gain_more_than_the_noise():
    """Left of the root two pure leaves; right of it two that say the same."""
    counts = np.array([[100.0, 0.0], [0.0, 100.0], [50.0, 0.0], [40.0, 0.0]])
    tree, chances, records, *_ = smoothed(TREE, counts, 4.0)
    assert tree.nodes == (LEVELS[0][0], LEVELS[1][0], None, None, None)
    assert records.tolist() == [100, 100, 90]
    assert chances.argmax(axis=1).tolist() == [0, 1, 0]
    assert chances.sum(axis=1) == pytest.approx(1)
    assert chances[2, 0] > 0.95


def test_the_gain_is_compared_with_the_deviation_of_the_noise():
    """By hand: two leaves of deviation s cost 2 s, one merged leaf √2 s; the gain here is 10."""
    pair = Tree((Split("n", 8, 3), None, None))
    for deviation, leaves in ((10 / (2 - math.sqrt(2)) - 0.01, 2), (10 / (2 - math.sqrt(2)) + 0.01, 1)):
        tree, *_ = smoothed(pair, np.array([[60.0, 10.0], [20.0, 30.0]]), deviation**2)
        assert tree.leaves == leaves


def test_probabilities_by_hand():
    """Root, then leaf: counts plus one deviation as above, plus one evenly; negative counts are zero."""
    pair = Tree((Split("n", 8, 3), None, None))
    _, chances, records, *_ = smoothed(pair, np.array([[90.0, -3.0], [10.0, 83.0]]), 2.0)
    root = np.array([100 + 2 * 0.5 + 2 * 0.5, 80 + 2 * 0.5 + 2 * 0.5])  # two leaves: a deviation of 2
    root /= root.sum()
    left = np.array([90.0, 0.0]) + math.sqrt(2) * (root + 0.5)
    assert chances[0] == pytest.approx(left / left.sum())
    assert records.tolist() == [87, 93]


def test_a_leaf_without_records_says_what_the_node_above_says():
    three = Tree((Split("n", 8, 3), Split("n", 8, 1), None, None, None))
    tree, chances, *_ = smoothed(three, np.array([[300.0, 0.0], [0.0, 200.0], [0.0, 0.0]]), 1.0)
    assert tree == three
    assert chances[2] == pytest.approx([0.55, 0.45], abs=0.001)  # half-way between 60 : 40 and even


@pytest.mark.parametrize("variance", [0.0, 1.0, 1e12])
def test_all_counts_give_probabilities(variance):
    for counts in (np.zeros((4, 3)), np.full((4, 3), -7.0), np.eye(4, 3) * 1e12):
        tree, chances, records, *_ = smoothed(TREE, counts, variance)
        assert chances.shape == (tree.leaves, 3)
        assert (chances > 0).all()
        assert chances.sum(axis=1) == pytest.approx(1)
        assert (records >= 0).all()
