"""`discreet train --class-weight`: what it writes, and what is refused, for free."""

import json
from pathlib import Path

import pytest

from discreet import Categorical, Ledger, Schema, load
from support import command
from support.command import run, write_csv


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [["sign", "ill"], *([["a", "no"]] * 250), *([["b", "no"]] * 30), *([["b", "yes"]] * 20)]
    write_csv(Path("data.csv"), rows)
    Schema([Categorical("sign", ["a", "b"])], "ill", ["no", "yes"], records=300).save("s.json")
    return tmp_path


def train(*extra, status=0, out="m.json", model="naive-bayes"):
    given = ["data.csv", "--schema", "s.json", "--epsilon", "20", "--out", out, "--model", model]
    return run("train", *given, *extra, status=status)


def refused(*extra, **given):
    command.refused(train, "--ledger", "l.jsonl", "--limit", "99", *extra, **given)
    assert not Path("m.json").exists()


@pytest.mark.parametrize("model", ["naive-bayes", "decision-tree", "svm", "auto", "random-forest"])
def test_a_rare_class_is_predicted_and_the_card_says_why(here, model):
    train("--class-weight", "balanced", "--ledger", "l.jsonl", "--limit", "20", model=model)
    assert load("m.json").predict([{"sign": "b"}, {"sign": "a"}]).tolist() == ["yes", "no"]
    assert Ledger(20, "l.jsonl").spent == 20
    assert "Class weights   balanced" in run("card", "m.json").stdout
    assert json.loads(run("card", "m.json", "--json").stdout)["class_weight"] == "balanced"
    assert "Classes are weighted" in run("explain", "m.json").stdout


def test_weights_by_class(here):
    train("--class-weight", "yes=10", "--class-weight", "no = 2")
    assert load("m.json").class_weight == {"yes": 10.0, "no": 2.0}
    assert "yes × 10, no × 2" in run("card", "m.json").stdout


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--class-weight", "even"], ["balanced", "CLASS=NUMBER"]),
        (["--class-weight", "yes=much"], ["CLASS=NUMBER"]),
        (["--class-weight", "yes=-1"], ["CLASS=NUMBER"]),
        (["--class-weight", "yes=inf"], ["class_weight"]),
        (["--class-weight", "maybe=2"], ["is not a class", "no, yes"]),
        (["--class-weight", "yes=2", "--class-weight", "yes=3"], ["already"]),
        (["--class-weight", "balanced", "--class-weight", "yes=3"], ["CLASS=NUMBER"]),
        (["--class-weight", "balanced", "--with", "structure=stump", "--model", "decision-tree"], ["stump"]),
        (["--class-weight", "balanced", "--model", "one-rule"], ["weighs no classes"]),
        (["--class-weight", "balanced", "--model", "bee-rules"], ["weighs no classes"]),
    ],
)
def test_mistakes_cost_nothing(here, extra, words):
    refused(*extra, words=words)
