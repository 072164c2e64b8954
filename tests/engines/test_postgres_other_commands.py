"""score, predict, perturb and federated answers on PostgreSQL: the same as from a file."""

import csv
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet import Ledger, NaiveBayes, PostgresSource
from discreet.errors import ParameterError
from discreet.evaluation import evaluate_from
from support.agreement import fill_table
from support.command import run
from support.estimators import PRIVATE
from support.other_commands import assert_same_answers, assert_same_scores, plain_columns
from support.records import draw_records
from support.untidy import in_memory, mixed_schema, types, untidy

TYPES = {"id": "int4", "age": "float8", "dose": "numeric", "sex": "text", "site": "text", "outcome": "text"}
STAYS = "no row leaves the database"


@pytest.fixture
def address(database, postgres):
    fill_table(database, "patients", TYPES, plain_columns())
    return postgres


def test_accuracies_are_those_in_memory(address, schema):
    for stream in (False, True):
        opened = partial(PostgresSource, address, table="clinic.patients", stream=stream)
        assert_same_scores(schema, plain_columns(), opened)


@pytest.mark.parametrize("classes", [["a", 1], ["it's", "a", 1, 0]], ids=["two", "four"])
def test_every_model_is_scored_in_the_database(database, postgres, classes):
    columns, schema = untidy(400, 7), mixed_schema(classes, records=1000)
    fill_table(database, "t", types(), columns)
    with PostgresSource(postgres, table="clinic.t") as source:
        for name, kind in PRIVATE.items():
            model = kind(schema, epsilon=3, random_state=1).fit_from(in_memory(untidy(300), schema))
            found, expected = (
                evaluate_from(model, each, epsilon=math.inf) for each in (source, in_memory(columns, schema))
            )
            assert found.confusion == expected.confusion, name
            assert min(found.right, found.wrong) > 0


def test_what_cannot_be_scored_in_sql_is_refused_before_the_charge(address, schema, monkeypatch):
    model = NaiveBayes(schema, epsilon=5, random_state=0).fit(draw_records(400, seed=3))
    source, ledger = PostgresSource(address, table="clinic.patients"), Ledger(1)
    whole = model.added_scores()
    tiny, huge, lost = (np.full_like(whole.constants, value) for value in (1e-300, 1e300, np.nan))
    unsuitable = [replace(whole, constants=each) for each in (tiny, huge, lost)]
    unsuitable += [replace(whole, divisor=each) for each in (0.0, 1e-20, math.inf)]
    for scores in [*unsuitable, None]:
        monkeypatch.setattr(NaiveBayes, "added_scores", lambda self, scores=scores: scores)
        with pytest.raises(ParameterError, match=STAYS):
            evaluate_from(model, source, epsilon=1, ledger=ledger)
    assert ledger.spent == 0


def test_an_accuracy_is_shown_without_a_row(address, schema, tmp_path):
    model = NaiveBayes(schema, epsilon=5, random_state=0).fit(draw_records(400, seed=3))
    model.save(tmp_path / "m.json")
    given = ["score", tmp_path / "m.json", address, "--table", "clinic.patients", "--epsilon", "5", "--seed", "1"]
    shown = [run(*given, *more).stdout for more in ([], ["--stream"])]
    assert "Accuracy" in shown[0]
    assert shown[0] == shown[1]


def test_answers_are_those_in_memory_and_need_counts_only(address, schema):
    assert_same_answers(schema, plain_columns(), PostgresSource(address, table="clinic.patients"))


def test_predictions_are_those_in_memory(address, schema, tmp_path):
    model, columns = NaiveBayes(schema, epsilon=5, random_state=0).fit(draw_records(400, seed=3)), plain_columns()
    model.save(tmp_path / "m.json")
    given = [tmp_path / "m.json", address, "--table", "clinic.patients", "--keep", "id", "--keep", "dose"]
    assert STAYS in run("predict", *given, status=2).stderr
    for name in ("p.csv", "p.parquet"):
        run("predict", *given, "--stream", "--out", tmp_path / name)
    with (tmp_path / "p.csv").open(newline="") as file:
        rows = {int(row["id"]): row["prediction"] for row in csv.DictReader(file)}
    expected = model.predict({name: columns[name] for name in schema.names}).tolist()
    assert [rows[number] for number in columns["id"]] == expected
    table = pq.read_table(tmp_path / "p.parquet")
    assert dict(zip(table["id"].to_pylist(), table["prediction"].to_pylist(), strict=True)) == rows


def test_a_table_is_perturbed(address, schema, tmp_path):
    schema.replace(ignore=["id"], adjacency="replace-one").save(tmp_path / "s.json")
    given = ["perturb", address, "--table", "clinic.patients", "--schema", tmp_path / "s.json", "--epsilon", "12"]
    given += ["--ledger", tmp_path / "l.jsonl", "--limit", "12", "--out", tmp_path / "p.csv"]
    assert STAYS in run(*given, status=2).stderr
    assert not (tmp_path / "l.jsonl").exists()
    run(*given, "--stream")
    assert (tmp_path / "p.csv").read_text().count("\n") == 201
    assert (tmp_path / "p.csv.receipt.json").exists()
