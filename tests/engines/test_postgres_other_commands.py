"""score, predict, perturb and federated answers on PostgreSQL: the same as from a file."""

import csv

import pyarrow.parquet as pq
import pytest

from discreet import Ledger, NaiveBayes, PostgresSource
from discreet.errors import ParameterError
from discreet.evaluation import evaluate_from
from support.agreement import fill_table
from support.command import run
from support.other_commands import assert_same_answers, assert_same_scores, plain_columns
from support.records import draw_records

TYPES = {"id": "int4", "age": "float8", "dose": "numeric", "sex": "text", "site": "text", "outcome": "text"}
STAYS = "no row leaves the database"


@pytest.fixture
def address(database, postgres):
    fill_table(database, "patients", TYPES, plain_columns())
    return postgres


def test_accuracies_are_those_in_memory(address, schema):
    assert_same_scores(schema, plain_columns(), lambda: PostgresSource(address, table="clinic.patients", stream=True))
    model, ledger = NaiveBayes(schema, epsilon=5, random_state=0).fit(draw_records(400, seed=3)), Ledger(1)
    with pytest.raises(ParameterError, match=STAYS):
        evaluate_from(model, PostgresSource(address, table="clinic.patients"), epsilon=1, ledger=ledger)
    assert ledger.spent == 0


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
