"""score, perturb and federated answers on Spark: the same as in memory."""

import pytest

from discreet import Ledger, LocalPerturbation
from discreet.errors import ParameterError
from discreet.sources import as_records
from discreet.sources.spark import SparkSource
from support.other_commands import assert_same_answers, assert_same_scores, plain_columns

TYPES = "id int, age double, dose double, sex string, site string, outcome string"


@pytest.fixture
def frame(local):
    return local.createDataFrame(list(zip(*plain_columns().values(), strict=True)), TYPES)


def test_accuracies_are_those_in_memory_and_no_record_leaves(frame, schema):
    assert_same_scores(schema, plain_columns(), lambda: SparkSource(frame))


def test_answers_are_those_in_memory(frame, schema):
    assert_same_answers(schema, plain_columns(), SparkSource(frame))


def test_a_table_is_perturbed_if_records_may_travel(frame, schema):
    public = schema.replace(ignore=["id"], adjacency="replace-one")
    perturbation, ledger = LocalPerturbation(public, epsilon=12), Ledger(12)
    with pytest.raises(ParameterError, match="stay in Spark"):
        perturbation.resample_from(SparkSource(frame), ledger=ledger)
    assert ledger.spent == 0
    ((_, labels),) = perturbation.resample_from(SparkSource(frame, stream=True), ledger=ledger)
    assert len(labels) == 200


def test_records_cannot_be_read_one_by_one(frame):
    with pytest.raises(ParameterError, match="cannot be read one by one; write it to a Parquet file"):
        as_records(SparkSource(frame, stream=True))
