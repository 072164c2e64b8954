"""`discreet advise`: from a schema and numbers, one line for each mistake, and no data."""

import builtins
import json
import math
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from discreet import Categorical, Numeric, Schema
from discreet.advice.cases import ADVISED
from discreet.cli import advise
from discreet.cli.application import CarefulGroup
from discreet.models.auto.pick import pick
from discreet.privacy.epsilon import as_epsilon

app = typer.Typer(cls=CarefulGroup)
app.callback()(lambda: None)
app.command("advise")(advise.advise)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = [Numeric("age", 0, 99), *(Categorical(f"c{i}", list("abcd")) for i in range(5))]
    Schema(columns, "ill", ["no", "yes"], records=4000).save("s.json")
    Schema(columns, "ill", ["no", "yes"]).save("unknown.json")
    Schema(columns, "ill", ["no", "yes"], records=4000, from_data=["age.lower"]).save("draft.json")


def run(*arguments, status=0):
    result = CliRunner().invoke(app, ["advise", *arguments])
    assert result.exit_code == status, (result.exit_code, result.stdout, result.stderr, result.exception)
    return result


def content(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def refused(*arguments, words):
    result = run(*arguments, status=2)
    assert result.stdout == ""
    line = result.stderr.splitlines()[-1]
    assert line.startswith("error: ")
    for word in words:
        assert word in line, line


def test_a_table_and_a_sentence():
    shown = " ".join(run("s.json", "--epsilon", "0.1,1").stdout.split())
    assert "Expected accuracy in per cent: mean, and a range that holds in about four of five tables" in shown
    assert "from about this ε on" in shown
    assert " with about 4,000 records, auto picks " in shown
    assert "To train: discreet train DATA --schema s.json --epsilon 0.1 --out M" in shown
    assert "--adjacency" not in shown
    assert "range in four of five cases" in shown
    assert "No data were read" in shown
    for model in ADVISED:
        assert model in shown
    assert "auto ← first choice" in shown
    assert shown.count("← first choice") == 1
    assert "(always the largest class)" in shown


def test_json_holds_all_of_it():
    found = content("s.json", "--epsilon", "1, 0.1, inf")
    assert found["facts"] == {
        "records": 4000,
        "classes": 2,
        "numeric": 1,
        "categorical": 5,
        "categories": 25,
        "distance": 1,
        "adjacency": "add-remove",
    }
    assert [each["epsilon"] for each in found["choices"]] == [0.1, 1.0, None]
    for choice, epsilon in zip(found["choices"], (0.1, 1, math.inf), strict=True):
        assert [each["model"] for each in choice["models"]] == list(ADVISED)
        assert choice["train"] == choice["models"][0]["model"] == "auto"
        assert choice["picked"] == pick(Schema.load("s.json"), as_epsilon(epsilon), 4000).to_dict()
        for each in choice["models"]:
            assert 0 <= each["low"] <= each["accuracy"] <= each["high"] <= 1
        assert choice["is_guess"] is False
        assert "Expect" in choice["sentence"]
        assert "guess" not in choice["sentence"]
    assert "this is a guess." in content("s.json", "--records", "2")["choices"][-1]["sentence"]
    assert [each["model"] for each in found["useful_from"]] == list(ADVISED)
    assert len(found["nearest_cases"]) == 10
    largest = found["largest_class"]
    assert 0.5 <= largest["low"] <= largest["accuracy"] <= largest["high"] < 1  # of two classes one has at least half


def test_the_default_asks_about_several_epsilons():
    assert len(content("s.json")["choices"]) == 4


def test_records_and_adjacency_can_be_given():
    assert content("unknown.json", "--records", "900")["facts"]["records"] == 900
    assert content("s.json", "--records", "900")["facts"]["records"] == 900
    found = content("s.json", "--adjacency", "replace-one")["facts"]
    assert (found["adjacency"], found["distance"]) == ("replace-one", 2)


def test_no_data_are_read(monkeypatch):
    """The only files that are opened are the schema and those of the package; a data file beside it is not touched."""
    Path("data.csv").write_text("age,ill\n1,no\n")
    opened, usual = [], builtins.open
    monkeypatch.setattr(builtins, "open", lambda *a, **k: (opened.append(str(a[0])), usual(*a, **k))[1])
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: (opened.append(str(self)), usual(self, *a, **k))[1])
    monkeypatch.setattr("discreet.sources.memory.MemorySource.count", None)
    monkeypatch.setattr("discreet.sources.memory.MemorySource.rows", None)
    content("s.json")
    assert not [name for name in opened if "data.csv" in name]


def test_a_draft_is_not_public_and_that_is_said():
    assert "draft" in run("draft.json").stderr
    assert "draft" not in run("s.json").stderr
    assert "This command read no data, but the draft's entries were read from the data." in run("draft.json").stdout
    assert "No data were read." not in run("draft.json").stdout
    assert content("draft.json")["draft"] is True
    assert content("s.json")["draft"] is False


def test_a_model_that_is_not_private_is_not_offered_as_one():
    assert "To train, without privacy: discreet train " in run("s.json", "--epsilon", "inf").stdout
    assert "without privacy" not in run("s.json", "--epsilon", "1").stdout


def test_what_is_not_worth_training_is_not_offered():
    assert "discreet train" not in run("s.json", "--epsilon", "0.00001").stdout
    found = content("s.json", "--epsilon", "0.00001,1")["choices"]
    assert [each["is_worth_training"] for each in found] == [False, True]


def test_the_command_names_an_adjacency_that_is_not_the_schema_s():
    assert "--adjacency replace-one" in run("s.json", "--adjacency", "replace-one").stdout
    assert "--adjacency" not in run("s.json", "--adjacency", "add-remove").stdout


def test_a_column_of_very_many_categories_is_not_waited_for():
    Schema([Categorical("zip", range(20_000))], "ill", ["no", "yes"], records=4000).save("zip.json")
    assert content("zip.json")["facts"]["categories"] == 20_001


def test_a_picture():
    pytest.importorskip("matplotlib")
    shown = run("s.json", "--plot", "p.svg")
    assert "p.svg" in shown.stderr
    assert "<svg" in Path("p.svg").read_text(encoding="utf-8")
    refused("s.json", "--plot", "p.svg", words=["p.svg exists", "--force"])
    run("s.json", "--plot", "p.svg", "--force")
    refused("s.json", "--plot", "q.svg", "--epsilon", "inf", words=["finite"])
    refused("s.json", "--plot", "p.gif", words=["--plot", ".png"])
    refused("s.json", "--plot", "nowhere/p.png", words=["nowhere"])


def test_mistakes_are_one_line():
    refused("unknown.json", words=["number of records", "--records"])
    refused("s.json", "--records", "0", words=["records=0"])
    refused("s.json", "--epsilon", "0", words=["epsilon"])
    refused("s.json", "--epsilon", "nan", words=["epsilon"])
    refused("s.json", "--epsilon", "-1", words=["epsilon"])
    refused("s.json", "--epsilon", ",", words=["epsilon"])
    refused("s.json", "--adjacency", "none", words=["adjacency"])
    refused("none.json", words=["none.json"])
    Path("one.json").write_text(Path("s.json").read_text().replace('"no",\n', ""))
    refused("one.json", words=["one class"])


def test_infinite_epsilons_are_null():
    assert advise._finite(math.inf) is None
    assert advise._finite(0.5) == 0.5
