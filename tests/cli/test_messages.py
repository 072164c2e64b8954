"""No Python in what the command line says: a mistake is one line in the words of the command line."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema
from discreet.cli import app
from discreet.cli.wording import as_typed

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"])], "y", ["no", "yes"], records=40)
TRAIN = ["train", "t.csv", "--schema", "s.json", "--out", "o.json"]
PYTHON = re.compile(
    r"Fraction\(|float\(|\bTrue\b|\bFalse\b|\bNone\b|NoneType|<class|object at 0x|Traceback|\[Errno|[a-z]\.[a-z]+\(|"
    r"\b(NaiveBayes|OneRule|DecisionTree|RandomForest|LinearSVM|BeeRules|LocalPerturbation|FeatureSelector)\b|"
    r"went wrong|\w+=(True|False)\b"
)
SETTINGS = {
    "naive-bayes": ["select=-1", "select=abc", "numeric=none", "bins=0", "smoothing=inf", "split=x", "x=1", "bins"],
    "one-rule": ["bins=1.5", "choosing=2", "bins=none"],
    "decision-tree": ["max_depth=-1", "structure=none", "criterion=x", "thresholds=none", "smoothing=nan"],
    "random-forest": ["n_trees=none", "n_trees=0"],
    "svm": ["select=0", "leaves=-1", "knots=0", "regularisation=inf"],
    "bee-rules": ["strategy=none", "polish=maybe", "n_rules=0"],
    "auto": ["bins=3"],
}
EPSILONS = ["0", "-1", "abc", "1/0", "nan", "1e9", "20000", "", "1e-30"]
BAD_SCHEMAS = [
    {"columns": 3},
    {"target": None},
    {"classes": [None]},
    {"records": True},
    {"adjacency": None},
    {"chosen": 1},
    {"version": 9},
    {"columns": [{"name": "a", "kind": "numeric", "lower": None, "upper": True}]},
    {"columns": [{"name": "a", "kind": "categorical", "categories": ["a"], "unlisted": None}]},
    {"columns": [{"name": None, "kind": "categorical", "categories": ["a"]}]},
    {"columns": [{"name": "a", "kind": None}]},
    {"columns": [{"name": "a", "kind": "categorical", "categories": ["a"], "missing": False}]},
]
COUNT = ["count", "t.csv", "--schema", "s.json", "--epsilon", "1"]
COMMANDS = [
    *([*TRAIN, "--epsilon", epsilon] for epsilon in EPSILONS),
    *(["epsilon", "--", epsilon] for epsilon in EPSILONS[:5]),
    *(["score", "m.json", "t.csv", "--epsilon", epsilon] for epsilon in EPSILONS),
    *(["advise", "s.json", "--epsilon", epsilon] for epsilon in EPSILONS[:5]),
    *(
        [*TRAIN, "--epsilon", "1", "--model", name, "--with", each]
        for name, given in SETTINGS.items()
        for each in given
    ),
    *(["schema", "check", f"bad{place}.json"] for place in range(len(BAD_SCHEMAS))),
    *([*COUNT, "--where", each] for each in ("age", "age between x y", "foo equals 1")),
    *([*COUNT, "--by", each] for each in ("foo", "age:0", "age:x")),
    [*TRAIN, "--epsilon", "1", "--adjacency", "none"],
    [*TRAIN, "--epsilon", "1", "--seed", "-1"],
    [*TRAIN, "--epsilon", "2", "--ledger", "l.jsonl"],
    [*TRAIN, "--epsilon", "1", "--ledger", "l.jsonl", "--limit", "1/3"],
    [*TRAIN, "--epsilon", "1", "--ledger", "s.json"],
    ["predict", "s.json", "t.csv"],
    ["predict", "m.json", "s.json"],
    ["perturb", "t.csv", "--schema", "s.json", "--epsilon", "1", "--out", "p.csv"],
    ["compare", "--data", "nothing-of-this-name", "--out", "c"],
    ["compare", "--data", "iris", "--models", "naive-bayes(bins=0)", "--out", "c"],
    [
        "federated",
        "invite",
        "--schema",
        "s.json",
        "--epsilon",
        "1e9",
        "--party",
        "a",
        "--party",
        "b",
        "--out",
        "i.json",
    ],
    ["federated", "simulate", "iris", "--epsilons", "-1", "--out", "sim"],
    ["budget", "show", "none.jsonl"],
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    SCHEMA.save(folder / "s.json")
    for place, changes in enumerate(BAD_SCHEMAS):
        (folder / f"bad{place}.json").write_text(json.dumps({**SCHEMA.to_dict(), **changes}))
    (folder / "t.csv").write_text("age,sex,y\n" + "1,F,no\n2,M,yes\n" * 20)
    model = NaiveBayes(SCHEMA, epsilon=1).fit([{"age": 1, "sex": "F"}, {"age": 2, "sex": "M"}] * 20, ["no", "yes"] * 20)
    model.save(folder / "m.json")
    Ledger(1, path=folder / "l.jsonl")
    return folder


def test_mistakes_are_told_without_python(desk, monkeypatch):
    monkeypatch.chdir(desk)
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    wrong = {}
    for command in COMMANDS:
        result = CliRunner().invoke(app, command)
        last = result.stderr.strip().splitlines()[-1] if result.stderr.strip() else ""
        if result.exit_code != 2 or PYTHON.search(last):
            wrong[" ".join(command)] = (result.exit_code, last)
    assert wrong == {}
    assert not Path("o.json").exists()
    assert Ledger.open("l.jsonl").spent == 0


def test_what_is_quoted_stays_as_the_user_wrote_it():
    assert as_typed("column 'None' is missing in True.csv") == "column 'None' is missing in True.csv"
    assert as_typed("epsilon=Fraction(2, 1); use NaiveBayes, bins=None") == "epsilon=2; use naive-bayes, bins=none"
