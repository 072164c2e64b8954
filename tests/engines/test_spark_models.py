"""Models from Spark are those from memory, and a whole fit stays within what it was charged."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet import Auto, DecisionTree, Ledger, LinearSVM, NaiveBayes, OneRule, RandomForest
from discreet.doors import gathering
from discreet.errors import ParameterError
from discreet.evaluation.accuracy import evaluate_table
from discreet.sources.memory import MemorySource
from discreet.sources.spark import SparkSource
from support.records import draw_records
from support.replay import replay, visible
from support.spark_clinic import SCHEMA, table


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


def test_a_model_is_not_scored_in_spark(local):
    model, ledger = NaiveBayes(SCHEMA, epsilon=1, random_state=1).fit_from(MemorySource(table())), Ledger(math.inf)
    with pytest.raises(ParameterError, match="Parquet"):
        evaluate_table(model, SparkSource(local.createDataFrame(table()), stream=True), ledger=ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize(
    "model",
    [
        LinearSVM(SCHEMA, epsilon=1, random_state=1),
        RandomForest(SCHEMA, epsilon=1, n_trees=2, structure="random", random_state=1),
        Auto(SCHEMA, epsilon=1, random_state=1),
    ],
    ids=["svm", "forest", "auto"],
)
@pytest.mark.parametrize("held", [gathering.HELD, 0], ids=["held", "folded"])
def test_models_that_need_codes_of_records(local, model, held, tmp_path, monkeypatch):
    """They are refused before the charge, unless codes may travel; then they are those from memory."""
    data, ledger = local.createDataFrame(table()), Ledger(math.inf)
    with pytest.raises(ParameterError, match="stream=True"):
        model.fit_from(SparkSource(data), ledger=ledger)
    assert ledger.spent == 0
    expected = saved(model.fit_from(MemorySource(table())), tmp_path / "expected.json")
    monkeypatch.setattr(gathering, "HELD", held)
    spark = model.fit_from(SparkSource(data, stream=True))
    assert saved(spark, tmp_path / "spark.json") == expected
