"""`discreet score`: an accuracy to publish; each mistake is one line, status 2, and free."""

import csv
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema
from discreet.cli import score
from discreet.cli.application import CarefulGroup
from discreet.sources.predictions import MarkedTable
from support import command

CANARY = "CANARY-7731"
CANARY_NUMBER = "77.311977"

app = typer.Typer(cls=CarefulGroup)
app.callback()(lambda: None)
app.command("score")(score.score)

RIGHT, WRONG = 7301, 2411
"""Numbers that do not turn up by chance."""


def schema():
    columns = [Numeric("age", 0, 100), Categorical("smoker", ["no", "yes"])]
    return Schema(columns, target="ill", classes=["no", "yes"], records=400, ignore=["note"])


def write_csv(path, rows):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a model and test records (some a canary, some without a class); the working directory."""
    monkeypatch.chdir(tmp_path)
    people = [{"age": 40, "smoker": "yes"}, {"age": 40, "smoker": "no"}] * 100
    NaiveBayes(schema(), epsilon=20, random_state=0).fit(people, ["yes", "no"] * 100).save("m.json")
    rows = [["ill", "note", "age", "smoker"], [CANARY, CANARY, CANARY_NUMBER, CANARY]]
    rows += [["yes", "-", "40", "yes"]] * RIGHT + [["no", "-", "40", "yes"]] * WRONG
    write_csv("data.csv", rows)
    return tmp_path


def run(*extra, status=0, model="m.json", data="data.csv", epsilon="1"):
    arguments = ["score", model, data, "--epsilon", epsilon, *extra]
    return command.run(*arguments, status=status)


def refused(*extra, **given):
    command.refused(run, *extra, secrets=(CANARY, CANARY_NUMBER), **given)


def test_an_accuracy_to_publish(here):
    shown = run("--ledger", "l.jsonl", "--limit", "2")
    assert "Accuracy 0.75" in shown.stdout
    assert "accuracy is 1-differentially private" in shown.stdout
    assert "Predictions" in shown.stdout
    assert "1 of 2 spent, 1 left" in shown.stdout
    assert "wide" not in shown.stderr
    assert Ledger(2, "l.jsonl").entries == [("accuracy of naive-bayes for ill", Fraction(1))]
    run("--ledger", "l.jsonl")
    refused("--ledger", "l.jsonl", words=["left in ledger"])


def test_no_exact_count_is_shown(here):
    """With noise of scale 10000 a printed truth cannot be luck."""
    for extra in ((), ("--json",)):
        shown = run(*extra, epsilon="1/10000")
        numbers = re.findall(r"\d+", shown.stdout + shown.stderr)  # whole ones: any four digits turn up in a long one
        assert not {str(secret) for secret in (RIGHT, WRONG, RIGHT + WRONG, RIGHT + WRONG + 1)} & {*numbers}
        assert CANARY not in shown.stdout + shown.stderr
    assert "wide" in run(epsilon="1/10000").stderr


def test_json_is_pure(here):
    found = json.loads(run("--json", "--ledger", "l.jsonl", "--limit", "3").stdout)
    assert found["lower"] <= found["accuracy"] <= found["upper"]
    assert abs(found["right"] - RIGHT) < 60
    assert abs(found["wrong"] - WRONG) < 60
    assert (found["confidence"], found["margin"]) == (0.95, 5)
    assert found["guarantee"]["holds"] is True
    assert [charge["query"] for charge in found["charges"]] == ["Predictions(true, predicted)"]
    assert found["ledger"] == {"limit": "3", "spent": "1", "remaining": "2"}
    assert json.loads(run("--json").stdout)["ledger"] is None


def test_adjacency_confidence_and_seed(here):
    found = json.loads(run("--json", "--adjacency", "replace-one", "--confidence", "0.5", "--seed", "3").stdout)
    assert found["charges"][0]["sensitivity"] == 2
    assert found["guarantee"]["adjacency"] == "replace-one"
    assert not found["guarantee"]["holds"]
    assert found["margin"] < 10
    again = run("--json", "--adjacency", "replace-one", "--confidence", "0.5", "--seed", "3").stdout
    assert json.loads(again) == found


def test_without_noise(here):
    found = json.loads(run("--json", epsilon="inf").stdout)
    assert math.isclose(found["accuracy"], RIGHT / (RIGHT + WRONG))
    assert "No privacy is guaranteed" in run(epsilon="inf").stdout


def test_an_empty_file_has_an_accuracy_too(here):
    write_csv("none.csv", [["age", "smoker", "ill"]])
    assert json.loads(run("--json", data="none.csv").stdout)["lower"] == 0


@pytest.mark.parametrize("epsilon", ["0", "-1", "much", "20000", "1e-300"])
def test_wrong_epsilon(here, epsilon):
    refused("--ledger", "l.jsonl", "--limit", "2", epsilon=epsilon, words=["epsilon"])


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--confidence", "1"], ["confidence"]),
        (["--confidence", "nan"], ["confidence"]),
        (["--adjacency", "both"], ["adjacency"]),
        (["--seed", "-1"], ["random_state"]),
    ],
)
def test_wrong_options(here, extra, words):
    refused("--ledger", "l.jsonl", "--limit", "2", *extra, words=words)


def test_a_ledger_needs_a_limit_and_a_limit_a_ledger(here):
    refused("--ledger", "l.jsonl", words=["--limit"])
    refused("--limit", "2", words=["--ledger"])
    refused("--ledger", "l.jsonl", "--limit", "0.5", words=["more than"])


def test_wrong_files(here):
    refused(data="nowhere.csv", words=["nowhere.csv"])
    refused(data="m.json", words=["nor .parquet"])
    refused(model="nowhere.json", words=["nowhere.json"])
    refused(model="data.csv", words=["data.csv"])
    write_csv("unlabelled.csv", [["age", "smoker"], [CANARY_NUMBER, CANARY]])
    refused("--ledger", "l.jsonl", "--limit", "2", data="unlabelled.csv", words=["'ill'"])
    write_csv("headless.csv", [[CANARY_NUMBER, CANARY, CANARY]])
    refused("--ledger", "l.jsonl", "--limit", "2", data="headless.csv", words=["header"])


def test_an_interruption_is_paid_and_says_so(here, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(MarkedTable, "count", interrupted)
    result = run("--ledger", "l.jsonl", "--limit", "2", status=130)
    assert result.stdout == ""
    assert "was charged 1 and keeps it" in result.stderr
    assert Ledger(2, "l.jsonl").spent == 1


def test_the_matrix_and_the_figures_of_each_class(here):
    found = json.loads(run("--json").stdout)["confusion"]
    assert found["classes"] == ["no", "yes"]
    assert all(
        abs(got - true) < 60
        for got, true in zip([*found["counts"][0], *found["counts"][1]], [0, WRONG, 0, RIGHT], strict=True)
    )
    no, yes = found["by_class"]
    assert no["sensitivity"]["upper"] < 0.05
    assert yes["sensitivity"]["lower"] > 0.95
    assert 0.7 < yes["precision"]["lower"] < RIGHT / (RIGHT + WRONG) < yes["precision"]["upper"] < 0.8
    assert 0.4 < found["balanced_accuracy"]["value"] < 0.6
    shown = run()
    assert re.search(r"balanced accuracy 0\.(49|50)", shown.stdout)
    assert "trained on, all figures are too good" in shown.stdout
    assert "rarest class, no, is hardly found" in shown.stderr
    assert "--class-weight balanced" in shown.stderr


def test_only_the_accuracy(here):
    found = json.loads(run("--json", "--only", "accuracy").stdout)
    assert (found["margin"], found["confusion"]) == (4, None)
    assert [charge["query"] for charge in found["charges"]] == ["Predictions(right, wrong)"]
    refused("--only", "recall", words=["only='recall'", "accuracy"])


def test_training_rows_are_named_if_the_ledger_knows(here):
    with_fit = Ledger(9, "l.jsonl")
    people = [{"age": 40, "smoker": "yes"}, {"age": 40, "smoker": "no"}]
    NaiveBayes(schema(), epsilon=1, random_state=0).fit(people, ["yes", "no"], ledger=with_fit)
    assert "charged for training: naive-bayes for ill" in run("--ledger", "l.jsonl").stdout
    remark = json.loads(run("--json", "--ledger", "l.jsonl").stdout)["remark"]
    assert "too good" in remark
    assert "charged for training" not in run().stdout


def test_a_picture_of_the_matrix(here):
    pytest.importorskip("matplotlib")
    assert "Picture written" in run("--plot", "c.svg").stderr
    assert Path("c.svg").read_bytes().startswith(b"<?xml")
    for extra, words in [
        (["--plot", "c.svg"], ["exists", "--force"]),
        (["--plot", "c.txt"], [".png"]),
        (["--plot", "d.svg", "--only", "accuracy"], ["--only accuracy"]),
        (["--plot", "data.csv"], [".png"]),
    ]:
        refused("--ledger", "l.jsonl", "--limit", "2", *extra, words=words)
    run("--plot", "c.svg", "--force")


def test_help_has_an_example(here):
    shown = CliRunner().invoke(app, ["score", "--help"]).stdout
    assert "discreet score discreet-demo/model.json" in shown


def test_a_verdict_in_words_comes_with_the_figures(here):
    judged = json.loads(run("--json").stdout)["verdict"]
    assert judged.startswith(("Better than a guess: ", "Worth nothing, as far as this score shows: "))
    assert "a guess has 0.500" in " ".join(run().stdout.split())
    assert json.loads(run("--json", "--only", "accuracy").stdout)["verdict"] is None
