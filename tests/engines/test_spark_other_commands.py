"""score, perturb and federated answers on Spark: the same as in memory."""

from decimal import Decimal

import pytest

from discreet import Ledger, LocalPerturbation, NaiveBayes
from discreet.errors import FileError, ParameterError
from discreet.evaluation import evaluate_from
from discreet.sources import as_records
from discreet.sources.spark import SparkSource
from support.other_commands import assert_same_answers, assert_same_scores, plain_columns
from support.records import draw_records

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


def test_values_of_all_types_come_as_they_are(local):
    frame = local.sql(
        "SELECT 1 AS whole, CAST(NULL AS INT) AS none, 2.5D AS number, CAST(1.25 AS DECIMAL(5, 2)) AS exact, "
        "'é' AS text, CAST(X'FF' AS STRING) AS bad, true AS truth, DATE '2024-01-01' AS day, array(1) AS list"
    )
    empty, block = SparkSource(frame, stream=True).values(frame.columns)
    assert {name: len(column) for name, column in empty.items()} == dict.fromkeys(frame.columns, 0)
    assert block.pop("day").dtype.kind == empty["day"].dtype.kind == "M"
    values = {name: column.tolist() for name, column in block.items()}
    expected = {"whole": [1], "none": [None], "number": [2.5], "exact": [Decimal("1.25")], "text": ["é"]}
    assert values == {**expected, "bad": [b""], "truth": [True], "list": [b""]}


def test_predictions_are_those_in_memory(frame, schema):
    model = NaiveBayes(schema, epsilon=5, random_state=0).fit(draw_records(400, seed=3))
    with pytest.raises(ParameterError, match="stay in Spark"):
        as_records(SparkSource(frame))
    found = {}
    for block in as_records(SparkSource(frame, stream=True)).values(["id", *schema.names]):
        found |= dict(zip(block.pop("id").tolist(), model.predict(block).tolist(), strict=True))
    columns = plain_columns()
    expected = model.predict({name: columns[name] for name in schema.names}).tolist()
    assert [found[number] for number in columns["id"]] == expected


class Homeless:
    """Something that no worker can load."""

    def __reduce__(self):
        return __import__, ("no_such_package_of_a_worker",)


def test_workers_that_cannot_use_the_model_cost_nothing(frame, schema):
    model, ledger = NaiveBayes(schema, epsilon=5, random_state=0).fit(draw_records(400, seed=3)), Ledger(1)
    model.extra_ = Homeless()
    with pytest.raises(FileError, match="lack a package of discreet's own"):
        evaluate_from(model, SparkSource(frame), epsilon=1, ledger=ledger)
    assert ledger.spent == 0
