"""Facts of public data sets beside those that papers print."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from discreet import datasets
from discreet.research.reproduce.data_sets import Facts, data_table, facts


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    facts.cache_clear()
    yield
    facts.cache_clear()


def test_facts_are_counts_of_the_classes():
    known = facts("iris", None)
    assert known.records == 150
    assert known.smallest_class == 50
    assert known.largest_fraction == 1 / 3
    assert facts("nowhere", None) is None


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize(("counts", "folds"), [((50, 50), 10), ((174, 183), 3), ((7, 40), 10), ((31, 29, 30), 4)])
def test_no_training_fold_has_fewer_of_a_class(counts, folds):
    """The fold that takes most of the smallest class leaves exactly this many."""
    labels = np.repeat(np.arange(len(counts)), counts)
    splits = StratifiedKFold(folds, shuffle=True, random_state=0).split(labels, labels)
    least = min(np.bincount(labels[train], minlength=len(counts)).min() for train, _ in splits)
    known = Facts(datasets.built_in("iris")[2], dict(zip("abc", counts, strict=False)))
    assert known.smallest_trained(folds) == least


def test_data_table_has_what_is_there():
    table = data_table("vaidya2013", ["iris", "mushroom"], None, "here")
    assert table.rows[0] == ["iris", "–", "150", "–", "4", "–", "3"]
    assert table.rows[1] == ["mushroom", "8000", "–", "22", "–", "2", "–"]
