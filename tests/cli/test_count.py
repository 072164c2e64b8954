"""`discreet count`: counts to publish; each mistake is one line, status 2, and free."""

import csv
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from discreet import Categorical, Ledger, Numeric, Schema
from discreet.released.answers import Answers
from support import command

CANARY = "CANARY-7731"
CANARY_NUMBER = "77.311977"
RIGHT, WRONG = 7301, 2411
"""Numbers that do not turn up by chance."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with records (some a canary, some without a class) and a schema; the working directory."""
    monkeypatch.chdir(tmp_path)
    columns = [Numeric("age", 0, 100), Categorical("smokes now", ["no", "yes", "?"], missing="?")]
    Schema(columns, target="ill", classes=["no", "yes"], ignore=["note"]).save("s.json")
    rows = [["ill", "note", "age", "smokes now"], [CANARY, CANARY, CANARY_NUMBER, CANARY]]
    rows += [["yes", "-", "40", "yes"]] * RIGHT + [["no", "-", "60", "no"]] * WRONG
    with Path("data.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return tmp_path


def run(*extra, status=0, data="data.csv", epsilon="1"):
    return command.run("count", data, "--schema", "s.json", "--epsilon", epsilon, *extra, status=status)


def refused(*extra, **given):
    command.refused(run, *extra, secrets=(CANARY, CANARY_NUMBER), **given)


def test_counts_to_publish(here):
    shown = run("--where", "age between 30 50", "--by", "ill", "--ledger", "l.jsonl", "--limit", "2", "--seed", "1")
    assert "Records with age from 29.9561 to 50.0244 or missing" in " ".join(shown.stdout.split())
    assert re.search(r"yes +│ +7[23]\d\d", shown.stdout)
    assert "█" in shown.stdout
    assert "1 of 2 spent, 1 left" in shown.stdout
    run("--by", "age:4", "--by", "smokes now", "--ledger", "l.jsonl", "--out", "a.json")
    assert Ledger(2, "l.jsonl").entries == [("counts", Fraction(1)), ("counts", Fraction(1))]
    assert Answers.load("a.json")[0].values.shape == (4, 4)
    refused("--ledger", "l.jsonl", words=["left in ledger"])
    whole = run()
    assert "All records" in whole.stdout
    assert "These answers are 1-differentially private" in " ".join(whole.stdout.split())


@pytest.mark.parametrize(
    ("where", "about"),
    [
        ("smokes now = yes", RIGHT),
        ("smokes now equals no", WRONG),
        ("smokes now in yes,no", RIGHT + WRONG),
        ("smokes now missing", 0),
        ("smokes now unlisted", 0),
        ("ill = no", WRONG),
        ("age = 60", WRONG),
        ("age in 40, 60.0", RIGHT + WRONG),
        ("  age   between  59.5  6e1 ", WRONG),
    ],
)
def test_predicates_in_words(here, where, about):
    found = json.loads(run("--where", where, "--json").stdout)
    assert abs(found["answers"][0]["values"] - about) < 40
    assert found["ledger"] is None


def test_several_questions_from_a_file(here):
    questions = [
        {"where": [{"column": "smokes now", "equals": "yes"}], "by": ["ill"]},
        {"where": [{"column": "smokes now", "equals": "no"}], "by": ["ill"]},
    ]
    Path("q.json").write_text(json.dumps(questions), encoding="utf-8")
    found = json.loads(run("--questions", "q.json", "--json").stdout)
    assert [each["scale"] for each in found["answers"]] == [1.0, 1.0]
    assert len(found["receipt"]["charges"]) == 1
    refused("--questions", "q.json", "--by", "ill", words=["leave out --where and --by"])
    Path("q.json").write_text("{}", encoding="utf-8")
    refused("--questions", "q.json", words=["not a list"])
    Path("q.json").write_text("[", encoding="utf-8")
    refused("--questions", "q.json", words=["not JSON"])
    refused("--questions", "none.json", words=["none.json"])


def test_no_exact_count_is_shown(here):
    """With noise of scale 10000 a printed truth cannot be luck."""
    for extra in ((), ("--json",)):
        shown = run("--by", "ill", *extra, epsilon="1/10000")
        numbers = re.findall(r"\d+", shown.stdout + shown.stderr)
        assert not {str(secret) for secret in (RIGHT, WRONG, RIGHT + WRONG, RIGHT + WRONG + 1)} & {*numbers}
        assert CANARY not in shown.stdout + shown.stderr


def test_mistakes_cost_nothing(here):
    ledger = ("--ledger", "l.jsonl", "--limit", "2")
    for extra, words in (
        (("--where", "height = 3"), ["does not begin with a column"]),
        (("--where", "age > 3"), ["need COLUMN = VALUE"]),
        (("--where", "age between 3"), ["need COLUMN = VALUE"]),
        (("--where", "age between a b"), ["'age' holds numbers"]),
        (("--where", "smokes now = perhaps"), ["not listed"]),
        (("--by", "height"), ["'height' is not in the schema"]),
        (("--by", "ill:3"), ["leave out bins"]),
        (("--by", "age:70000"), ["need an integer"]),
        (("--by", "age:" + "9" * 5000), ["a number of 5000 digits"]),
        (("--out", "data.csv"), ["overwrite an input"]),
        (("--table", "t"), ["table"]),
    ):
        refused(*extra, *ledger, words=words)
    refused(*ledger, data="none.csv", words=["none.csv"])
    refused(*ledger, epsilon="0", words=["epsilon"])
    refused(*ledger, epsilon="3", words=["more than"])
    assert not Path("l.jsonl").exists()


def test_long_tables_are_cut_and_numbers_have_eight_bins(here):
    shown = run("--by", "age:100")
    assert "40 more cells are not shown" in shown.stderr
    assert len(json.loads(run("--by", "age", "--json").stdout)["answers"][0]["values"]) == 8
