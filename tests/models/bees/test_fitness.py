"""What subsets are worth: trees see what is there, noisy tables are cleared of chance."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from discreet.models.bees.colony import stream
from discreet.models.bees.fitness import FOLDS, NoisyAccuracy, NoisyHistogram, TreeAccuracy, _stratified


@pytest.fixture
def records():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 300)
    return {"good": labels + rng.normal(0, 0.3, 300), "bad": rng.normal(size=300), "code": labels % 2}, labels


def test_the_accuracy_is_that_of_cross_validated_trees(records):
    encoded, labels = records
    fitness = TreeAccuracy(encoded, labels, stream(0))
    folds = fitness._folds
    X = np.column_stack(list(encoded.values())).astype(np.float32)
    for bits in ((True, False, True), (False, True, False), (True, True, True)):
        tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
        splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(3)]
        expected = cross_val_score(tree, X[:, list(bits)], labels, cv=splits).mean()
        assert fitness(bits) == pytest.approx(expected)
    assert fitness((True, False, False)) > 0.85
    assert fitness((False, True, False)) < 0.6


def test_folds_are_stratified_and_random():
    labels = np.array([0] * 31 + [1] * 8 + [2] * 2)
    folds = _stratified(labels, stream(1))
    assert sorted(np.bincount(folds)) == [13, 14, 14]
    for label, size in ((0, 31), (1, 8), (2, 2)):
        counts = np.bincount(folds[labels == label], minlength=FOLDS)
        assert counts.sum() == size
        assert counts.max() - counts.min() <= 1
    assert (folds != _stratified(labels, stream(2))).any()


@pytest.mark.parametrize("rows", [0, 1, 2, 3])
def test_few_records_are_worth_something_finite(rows):
    fitness = TreeAccuracy({"x": np.arange(rows, dtype=float)}, np.zeros(rows, dtype=int), stream(0))
    assert fitness((True,)) == (1.0 if rows > 1 else 0.0)


def test_a_table_of_chance_says_nothing_and_one_of_signal_keeps_it():
    rng = np.random.default_rng(0)
    flat = np.full((2, 4), 100.0)
    kept = []
    for _ in range(200):
        noisy = NoisyHistogram(flat + rng.normal(0, 30, (2, 4)), 900.0).conditional()
        kept.append(np.abs(noisy[0] - noisy[1]).max())
    unaware = [
        np.abs(np.subtract(*NoisyHistogram(flat + rng.normal(0, 30, (2, 4)), 0.0).conditional())).max()
        for _ in range(200)
    ]
    assert np.mean(kept) < 0.2 * np.mean(unaware)
    assert np.mean(np.array(kept) < 1e-6) > 0.85
    signal = NoisyHistogram(np.array([[900.0, 100.0], [100.0, 900.0]]), 900.0).conditional()
    np.testing.assert_allclose(signal, [[0.9, 0.1], [0.1, 0.9]], atol=0.01)


@pytest.mark.parametrize("counts", [[[0, 0], [0, 0]], [[-5, 3], [2, -9]], [[7.0, 3.0]], [[4.0], [5.0]], [[0], [0]]])
def test_strange_tables_are_laws_all_the_same(counts):
    law = NoisyHistogram(np.array(counts, dtype=float), 2.0).conditional()
    assert np.isfinite(law).all()
    assert (law > 0).all()
    np.testing.assert_allclose(law.sum(axis=1), 1)


def test_noisy_accuracy_is_that_of_naive_bayes_on_its_law():
    prior = np.array([0.25, 0.75])
    tables = [
        NoisyHistogram(np.array([[240.0, 10.0], [75.0, 675.0]]), 0.0),
        NoisyHistogram(np.array([[125.0, 125.0], [375.0, 375.0]]), 0.0),
    ]
    fitness = NoisyAccuracy(prior, tables, 0.01, stream(0))
    exact = 0.25 * 0.96 + 0.75 * 0.9  # the first attribute decides: cell 0 for class 0, cell 1 for class 1
    assert fitness((True, False)) == pytest.approx(exact - 0.01, abs=0.02)
    assert fitness((True, True)) == pytest.approx(fitness((True, False)) - 0.01)
    assert fitness((False, True)) == pytest.approx(0.75 - 0.01, abs=0.03)
