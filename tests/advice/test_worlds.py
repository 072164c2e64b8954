"""Made-up tables: of the schema's shape, the same each time, and each world as its name says."""

import numpy as np
import pytest

from discreet import Categorical, DecisionTree, NaiveBayes, Numeric, OneRule, Schema
from discreet.advice import worlds
from discreet.advice.worlds import WORLDS, drawn, numbered, proportions, unrelated

SCHEMA = Schema(
    [*(Numeric(f"x{i}", -5, 70) for i in range(4)), *(Categorical(f"c{i}", list("abc")) for i in range(4))],
    "y",
    ["no", "yes", "maybe"],
    adjacency="replace-one",
)
ALIKE = numbered(SCHEMA, SCHEMA.names, 2000)


def accuracy(family, table, half=1000):
    model = family(ALIKE, epsilon=float("inf")).fit(table.X[:half], table.y[:half])
    return float((model.predict(table.X[half:]) == table.y[half:]).mean())


def test_a_numbered_schema_has_the_same_shape():
    some = numbered(SCHEMA, ["x1", "c2"], 7)
    assert some.names == ["x1", "c2"]
    assert (some["c2"].size, some.classes, some.records) == (4, (0, 1, 2), 7)
    assert some.adjacency is SCHEMA.adjacency


@pytest.mark.parametrize("world", [*WORLDS, unrelated])
def test_tables_fit_the_schema_and_are_the_same_each_time(world):
    table = drawn(world, ALIKE, 300, 5)
    assert table.X.shape == (300, 8)
    assert np.isfinite(table.X).all()
    assert (table.X[:, :4] >= 0).all()
    assert (table.X[:, :4] <= 1).all()
    assert set(np.unique(table.X[:, 4:])) <= {0.0, 1.0, 2.0}
    assert set(np.unique(table.y)) == {0, 1, 2}
    again, other = drawn(world, ALIKE, 300, 5), drawn(world, ALIKE, 300, 6)
    assert np.array_equal(again.X, table.X)
    assert np.array_equal(again.y, table.y)
    assert not np.array_equal(other.X, table.X)


@pytest.mark.parametrize("world", [*WORLDS, unrelated])
def test_the_largest_class_is_as_large_as_is_said(world):
    table = drawn(world, ALIKE, 4000, 1)
    assert np.bincount(table.y).max() / 4000 == pytest.approx(proportions(3)[0], abs=0.07)


def test_proportions_sum_to_one():
    for classes in (2, 3, 10):
        found = proportions(classes)
        assert len(found) == classes
        assert found.sum() == pytest.approx(1)
        assert found.max() == found[0] > 1 / classes


@pytest.mark.parametrize("world", WORLDS)
def test_the_class_can_be_told(world):
    scores = [accuracy(NaiveBayes, drawn(world, ALIKE, 2000, seed)) for seed in range(3)]
    assert np.mean(scores) > proportions(3)[0] + 0.15


def test_nothing_can_be_told_where_nothing_is_related():
    for family in (NaiveBayes, DecisionTree):
        assert accuracy(family, drawn(unrelated, ALIKE, 2000, 0)) < proportions(3)[0] + 0.05


def test_each_world_suits_its_model():
    """Means over tables: one rule is nearly enough where one column dominates, and not where all tell a little."""
    gaps = {}
    for world in (worlds.dominant, worlds.independent):
        tables = [drawn(world, ALIKE, 2000, seed) for seed in range(6)]
        gaps[world] = np.mean([accuracy(NaiveBayes, table) - accuracy(OneRule, table) for table in tables])
    assert gaps[worlds.dominant] < gaps[worlds.independent] - 0.05


@pytest.mark.parametrize("world", WORLDS)
def test_one_column_and_a_category_alone_are_worlds_too(world):
    schema = numbered(Schema([Categorical("c", ["a"])], "y", ["no", "yes"]), ["c"], 10)
    assert drawn(world, schema, 50, 0).X.shape == (50, 1)
