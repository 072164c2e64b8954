"""Models from Spark are those from memory, and a whole fit stays within what it was charged."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet import (
    Auto,
    Categorical,
    DecisionTree,
    LinearSVM,
    NaiveBayes,
    Numeric,
    OneRule,
    RandomForest,
    Schema,
)
from discreet.doors import gathering
from discreet.sources.memory import MemorySource
from discreet.sources.spark import SparkSource
from support.records import draw_records
from support.replay import replay, visible
from support.spark_clinic import SCHEMA, table
from support.sums_only import SumsOnly


def as_table(columns):
    return pa.table({name: pa.array(list(values), from_pandas=True) for name, values in columns.items()})


def saved(model, path):
    model.save(path)
    return Path(path).read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", [NaiveBayes, OneRule, DecisionTree])
def test_record_and_replay_on_neighbours(local, schema, kind):
    """A record more: equal noisy answers give equal models, and the exact loss is within epsilon."""
    columns = draw_records(200, seed=4)
    more = {name: np.append(values, None if name == "sex" else values[0]) for name, values in columns.items()}
    more["age"] = more["age"].astype(float)

    def fit(rows):
        return kind(schema, epsilon=1, random_state=2).fit_from(SparkSource(local.createDataFrame(as_table(rows))))

    loss, model, twin = replay(fit, columns, more)
    assert 0 < loss <= 1 + 1e-9
    assert visible(model) == visible(twin)


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(SCHEMA, epsilon=1, random_state=1),
        NaiveBayes(SCHEMA, epsilon=1, select=1, random_state=1),
        OneRule(SCHEMA, epsilon=1, random_state=1),
        DecisionTree(SCHEMA, epsilon=1, random_state=1),
        DecisionTree(SCHEMA, epsilon=1, structure="random", random_state=1),
    ],
    ids=["naive Bayes", "selected columns", "one rule", "tree", "random tree"],
)
def test_models_by_sums_alone_are_those_from_memory(local, model, tmp_path):
    expected = saved(model.fit_from(MemorySource(table())), tmp_path / "expected.json")
    spark = model.fit_from(SparkSource(local.createDataFrame(table())))
    assert saved(spark, tmp_path / "spark.json") == expected


@pytest.mark.parametrize(
    "model",
    [
        LinearSVM(SCHEMA, epsilon=1, leaves=0, random_state=1),
        RandomForest(SCHEMA, epsilon=1, n_trees=2, structure="random", random_state=1),
    ],
    ids=["svm", "forest"],
)
def test_linear_models_and_forests_by_sums_alone(local, model, tmp_path):
    """To the last bit what sums over the same records give elsewhere, and at most a lattice step from memory."""
    expected = model.fit_from(MemorySource(table())).noisy_
    elsewhere = saved(model.fit_from(SumsOnly(table())), tmp_path / "elsewhere.json")
    spark = saved(model.fit_from(SparkSource(local.createDataFrame(table()))), tmp_path / "spark.json")
    assert spark == elsewhere
    for (_, found), (_, own) in zip(model.noisy_.tables, expected.tables, strict=True):
        assert np.abs(found.values - own.values).max() <= 1


def test_auto_picks_a_linear_model_and_finds_it_by_sums_alone(local, tmp_path):
    columns = [Numeric("age", 0, 100), Numeric("dose", -2, 3, grid=50)]
    columns += [Categorical("sex", ["F", "M"]), Categorical("site", ["north", "south"])]
    wide = Schema(columns, "outcome", ["well", "ill", "unknown"], records=2000)
    data, model = as_table(draw_records(2000, seed=4)), Auto(wide, epsilon=4, random_state=1)
    elsewhere = saved(model.fit_from(SumsOnly(data)), tmp_path / "elsewhere.json")
    assert saved(model.fit_from(SparkSource(local.createDataFrame(data))), tmp_path / "spark.json") == elsewhere
    assert model.picked_.model == "svm"


def test_forests_that_deal_records_are_those_of_sums_in_memory(local, tmp_path):
    model = RandomForest(SCHEMA, n_trees=3, structure="greedy", max_depth=2, random_state=1)
    expected = saved(model.fit_from(SumsOnly(table())), tmp_path / "expected.json")
    spark = model.fit_from(SparkSource(local.createDataFrame(table())))
    assert saved(spark, tmp_path / "spark.json") == expected


@pytest.mark.parametrize(
    "model",
    [
        LinearSVM(SCHEMA, epsilon=1, random_state=1),
        RandomForest(SCHEMA, epsilon=1, n_trees=2, structure="random", random_state=1),
        RandomForest(SCHEMA, epsilon=1, n_trees=2, structure="greedy", max_depth=1, random_state=1),
        Auto(SCHEMA, epsilon=1, random_state=1),
    ],
    ids=["svm", "forest", "dealt", "auto"],
)
@pytest.mark.parametrize("held", [gathering.HELD, 0], ids=["held", "folded"])
def test_models_from_codes_that_may_travel(local, model, held, tmp_path, monkeypatch):
    """They are those from memory."""
    expected = saved(model.fit_from(MemorySource(table())), tmp_path / "expected.json")
    monkeypatch.setattr(gathering, "HELD", held)
    spark = model.fit_from(SparkSource(local.createDataFrame(table()), stream=True))
    assert saved(spark, tmp_path / "spark.json") == expected
