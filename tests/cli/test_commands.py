"""The command line: each command does its job; each mistake is one line, status 2, and costs nothing."""

import csv
import json
import os
import random
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from discreet import Categorical, Ledger, Numeric, Schema, __version__, load
from discreet.cli import demo, inputs
from discreet.cli.application import explanation
from discreet.cli.train import KINDS
from discreet.models import MODELS
from discreet.storage.envelope import content_hash
from support.command import run, write_csv

CANARY = "CANARY-7731"
CANARY_NUMBER = "77.311977"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with data (one record is a canary), a schema and new records; the working directory."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(3)
    rows = [["age", "smoker", "note", "ill"], [CANARY_NUMBER, CANARY, CANARY, "yes"]]
    for _ in range(400):
        smoker = draw.choice(["no", "yes"])
        ill = draw.choice(["yes", "yes", "yes", "no"] if smoker == "yes" else ["no", "no", "no", "yes"])
        rows.append([str(draw.randint(20, 80)), smoker, "-", ill])
    write_csv(Path("data.csv"), rows)
    write_csv(Path("new.csv"), [["smoker", "age"], ["yes", "50"], ["no", ""], ["unheard-of"], ["", "old"]])
    schema().save("s.json")
    return tmp_path


def schema():
    columns = [Numeric("age", 0, 100), Categorical("smoker", ["no", "yes"])]
    return Schema(columns, target="ill", classes=["no", "yes"], records=400, ignore=["note"])


def train(*extra, data="data.csv", public="s.json", epsilon="1", status=0):
    given = [data, "--schema", public, "--epsilon", epsilon, "--out", "m.json"]
    return run("train", *given, "--force", *extra, status=status)


def first_two():
    """What the model predicts for the first two records of new.csv: with ε = 1 noise decides now and then."""
    return list(load("m.json").predict([{"smoker": "yes", "age": 50}, {"smoker": "no", "age": None}]))


def refused(result, *words):
    """One line on standard error that has the words; nothing on standard output; no model."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    assert CANARY not in result.stderr
    assert CANARY_NUMBER not in result.stderr
    for word in words:
        assert word in result.stderr, result.stderr
    assert not Path("m.json").exists()


# Every command's happy path


def test_train_card_explain_predict(here):
    shown = train().stdout
    assert "1-differentially private" in shown
    assert "m.json" in shown
    card = run("card", "m.json").stdout
    for word in ("1-differentially private", "add-remove", "one record", "Assumed public", "Limits", "sum"):
        assert word in card
    assert schema().hash in card
    assert "smoker" in run("explain", "m.json", "--top", "1").stdout
    lines = run("predict", "m.json", "new.csv").stdout.splitlines()
    assert lines[:3] == ["prediction", *first_two()]
    assert len(lines) == 5


def test_json_is_pure(here):
    trained = json.loads(train("--json", "--ledger", "l.jsonl", "--limit", "2").stdout)
    assert trained["guarantee"]["holds"] is True
    assert sum(Fraction(charge["epsilon"]) for charge in trained["charges"]) == 1
    assert trained["ledger"] == {"limit": "2", "spent": "1", "remaining": "1"}
    card = json.loads(run("card", "m.json", "--json").stdout)
    assert card["schema_hash"] == schema().hash
    said = json.loads(run("explain", "m.json", "--json", "--top", "1").stdout)
    assert (said["model"], said["target"]) == ("auto", "ill")
    assert said["picked"] == card["picked"] == trained["picked"]
    assert said["picked"]["model"] == "decision-tree"
    checked = json.loads(run("schema", "check", "s.json", "data.csv", "--json").stdout)
    assert (checked["is_public"], checked["hash"]) == (True, schema().hash)
    assert json.loads(run("schema", "draft", "data.csv", "--target", "ill").stdout)["target"] == "ill"
    predicted = json.loads(run("predict", "m.json", "new.csv", "--json", "--proba").stdout)
    assert [record["prediction"] for record in predicted[:2]] == first_two()
    assert sum(predicted[0][f"p({label})"] for label in ("no", "yes")) == pytest.approx(1)
    write_csv(Path("none.csv"), [["age", "smoker"]])
    assert json.loads(run("predict", "m.json", "none.csv", "--json").stdout) == []
    summary = json.loads(run("predict", "m.json", "new.csv", "--json", "--out", "p.csv").stdout)
    assert summary == {"out": "p.csv", "rows": 4}


def test_predict_in_blocks_keeps_the_order(here, monkeypatch):
    train()
    whole = run("predict", "m.json", "data.csv", "--proba").stdout
    blocks = inputs.files.read_blocks
    monkeypatch.setattr(inputs.files, "read_blocks", lambda path, **given: blocks(path, 7, **given))
    run("predict", "m.json", "data.csv", "--proba", "--out", "p.csv")
    assert Path("p.csv").read_text() == whole
    rows = list(csv.DictReader(whole.splitlines()))
    assert list(rows[0]) == ["prediction", "p(no)", "p(yes)"]
    with open("data.csv", newline="") as file:
        records = [{"age": row["age"], "smoker": row["smoker"]} for row in csv.DictReader(file)]
    assert [row["prediction"] for row in rows] == list(load("m.json").predict(records))


def test_parquet_and_database(here):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect("data.duckdb") as connection:
        connection.execute("CREATE TABLE patients AS SELECT * FROM read_csv('data.csv', all_varchar = true)")
        connection.execute("COPY patients TO 'data.parquet' (FORMAT parquet)")
    made = []
    for data, *more in (["data.csv"], ["data.parquet"], ["data.duckdb", "--table", "patients"]):
        train("--seed", "5", *more, data=data)
        made.append(json.loads(Path("m.json").read_text())["statistics"])
    assert made[0] == made[1] == made[2]
    assert run("predict", "m.json", "data.parquet").stdout == run("predict", "m.json", "data.csv").stdout
    drafted = json.loads(run("schema", "draft", "data.parquet", "--target", "ill").stdout)
    assert drafted == json.loads(run("schema", "draft", "data.csv", "--target", "ill").stdout)
    Path("m.json").unlink()
    refused(train(data="data.duckdb", status=2), "--table")
    refused(train("--table", "absent", data="data.duckdb", status=2), "name")
    refused(train("--table", "patients", status=2), "--table", "data.csv")


def test_without_duckdb_the_model_is_the_same(here, monkeypatch):
    train("--seed", "5")
    by_duckdb = Path("m.json").read_text()
    monkeypatch.setattr("discreet.sources.file.find_spec", lambda name: None)
    train("--seed", "5")
    assert Path("m.json").read_text() == by_duckdb
    Path("m.json").unlink()
    Path("data.duckdb").write_bytes(b"x")
    refused(train("--table", "t", data="data.duckdb", status=2), "pip install 'discreet[duckdb]'")


def test_the_default_picks_a_model_and_says_why(here):
    """Few columns, or a weak signal: a tree. From a strong signal on: a linear model."""
    for text in (train().stdout, run("card", "m.json").stdout, run("explain", "m.json").stdout):
        assert "Picked a decision tree: a tree can divide 2 columns as finely as the noise allows." in text
    columns = [Categorical("smoker", ["no", "yes"]), *(Numeric(name, 0, 100) for name in ("age", "height", "weight"))]
    Schema(columns, target="ill", classes=["no", "yes"], ignore=["note"], records=400).save("s.json")
    with open("data.csv", newline="", encoding="utf-8") as file:
        rows = [[*row, "50", "50"] for row in csv.reader(file)]
    write_csv(Path("data.csv"), [[*rows[0][:4], "height", "weight"], *rows[1:]])
    weak, strong = train(epsilon="0.01").stdout, train().stdout
    assert "Picked a decision tree: about 400 records times ε is 4, and below" in weak
    assert "Picked a linear model: about 400 records times ε is 400, and from" in strong
    assert load("m.json").model_.kind == "svm"


def test_options_reach_the_model(here):
    bayes = ["--model", "naive-bayes", "--with", "numeric=gaussian", "--with", "smoothing=2"]
    train("--adjacency", "replace-one", *bayes, epsilon="1/3")
    model = load("m.json")
    assert (model.guarantee_.epsilon, model.guarantee_.adjacency.value) == (Fraction(1, 3), "replace-one")
    assert (model.numeric, model.smoothing) == ("gaussian", 2)
    assert "random_state was set" in train("--seed", "1").stdout
    assert "infinite" in train(epsilon="inf").stdout
    assert "∞" in run("card", "m.json").stdout


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "bee-rules"])
def test_every_model_trains_explains_plots_and_predicts(kind, here):
    told = train("--model", kind, "--ledger", "l.jsonl", "--limit", "2").stdout
    assert "1-differentially private" in told
    assert Ledger(2, "l.jsonl").spent == 1
    assert run("explain", "m.json").stdout
    assert run("explain", "m.json", "--top", "1").stdout
    content = json.loads(run("explain", "m.json", "--json").stdout)
    assert (content["model"], content["target"]) == (kind, "ill")
    run("plot", "m.json", "--out", "m.png")
    run("plot", "m.json", "--out", "m.svg", "--top", "1")
    card = json.loads(run("card", "m.json", "--json").stdout)
    assert card["model"] == kind
    assert sorted(card["attributes"] + card["not_asked"]) == ["age", "smoker"]
    assert "Columns" in run("card", "m.json").stdout
    assert run("predict", "m.json", "new.csv").stdout.splitlines()[0] == "prediction"
    assert run("predict", "m.json", "new.csv", "--proba").stdout.startswith("prediction,p(no),p(yes)")
    assert CANARY not in Path("m.json").read_text()


def test_the_kinds_are_those_of_the_library():
    assert tuple(MODELS) == KINDS


def test_rules_keep_the_guarantee_of_a_perturbed_table(here):
    given = ["data.csv", "--schema", "s.json", "--adjacency", "replace-one", "--epsilon", "9", "--out", "p.csv"]
    assert "p.csv.receipt.json" in run("perturb", *given).stdout
    rules = ["--model", "bee-rules", "--with", "max_iter=20", "--seed", "1", "--out", "m.json", "--force"]
    told = run("train", "p.csv", *rules).stdout
    assert "9-" in told
    assert "No privacy" not in told
    assert "IF" in run("explain", "m.json").stdout
    assert json.loads(run("card", "m.json", "--json").stdout)["guarantee"]["holds"]
    assert json.loads(run("explain", "m.json", "--json").stdout)["model"] == "bee-rules"
    run("plot", "m.json", "--out", "m.png")
    run("predict", "m.json", "new.csv", "--proba")
    Path("m.json").unlink()
    for extra in (["--epsilon", "1"], ["--ledger", "l.jsonl"], ["--schema", "s.json"], ["--with", "swarm=x"]):
        refused(run("train", "p.csv", *rules, *extra, status=2))
    with open("p.csv", "a", encoding="utf-8") as file:
        file.write("50,no,yes\n")
    refused(run("train", "p.csv", *rules, status=2), "changed since")
    refused(run("train", "data.csv", *rules, status=2), "receipt", "--clear")
    refused(run("train", "data.csv", *rules, "--clear", status=2), "--schema")
    told = run("train", "data.csv", *rules, "--clear", "--schema", "s.json").stdout
    assert "No privacy is guaranteed" in told
    assert not json.loads(run("card", "m.json", "--json").stdout)["guarantee"]["holds"]
    Path("m.json").unlink()
    refused(train("--clear", status=2), "--clear")
    refused(run("train", "data.csv", "--epsilon", "1", "--out", "m.json", status=2), "--schema")


def test_a_model_is_not_overwritten_unasked(here):
    train("--ledger", "l.jsonl", "--limit", "9")
    kept, spent = Path("m.json").read_text(), Path("l.jsonl").read_text()
    given = ["data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "m.json", "--ledger", "l.jsonl"]
    result = run("train", *given, status=2)
    assert "m.json exists" in result.stderr
    assert "--force" in result.stderr
    assert (Path("m.json").read_text(), Path("l.jsonl").read_text()) == (kept, spent)


def test_identifiers_can_be_kept_beside_predictions(here):
    train()
    write_csv(Path("ids.csv"), [["id", "smoker", "age"], ["p7", "yes", "50"], ["p8", "no", "20"]])
    lines = run("predict", "m.json", "ids.csv", "--keep", "id").stdout.splitlines()
    assert lines[0] == "id,prediction"
    assert [line.split(",")[0] for line in lines[1:]] == ["p7", "p8"]
    assert "no such column" in run("predict", "m.json", "ids.csv", "--keep", "name", status=2).stderr


def test_an_interrupted_training_says_what_it_cost(here, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    for way in ("count", "rows"):
        monkeypatch.setattr(f"discreet.sources.csv.CsvSource.{way}", interrupt)
    result = train("--ledger", "l.jsonl", "--limit", "9", status=130)
    assert "and keeps it" in result.stderr
    assert not Path("m.json").exists()
    assert len(Path("l.jsonl").read_text().splitlines()) == 2


def test_a_schema_of_several(here):
    columns = [
        {"name": "age", "kind": "numeric", "lower": 0, "upper": 100},
        {"name": "smoker", "kind": "categorical", "categories": ["no", "yes"]},
        {"name": "note", "kind": "categorical", "categories": ["-"]},
        {"name": "ill", "kind": "categorical", "categories": ["no", "yes"]},
    ]
    Path("all.json").write_text(json.dumps({"ill": {"target": "ill", "columns": columns}}))
    train(public="all.json#ill")
    assert "3 columns" in run("schema", "check", "all.json#ill").stdout
    Path("m.json").unlink()
    refused(train(public="all.json", status=2), "ill")
    refused(train(public="all.json#well", status=2), "well")


def test_plot(here):
    pytest.importorskip("matplotlib")
    train()
    for name in ("m.png", "m.svg", "m.pdf"):
        run("plot", "m.json", "--out", name, "--top", "2")
        assert Path(name).stat().st_size > 1000
    wrong = run("plot", "m.json", "--out", "m.jpg", status=2)
    assert ".png" in wrong.stderr


def test_draft_is_marked_refused_and_voids_the_guarantee(here):
    result = run("schema", "draft", "data.csv", "--target", "ill", "--ignore", "note", "--out", "d.json")
    assert result.stdout == ""
    assert "discreet schema edit d.json" in result.stderr
    draft = Schema.load("d.json")
    assert draft.ignore == ("note",)
    assert {"age.lower", "age.upper", "smoker.categories", "classes", "records"} <= set(draft.from_data)
    assert "age.lower" in run("schema", "check", "d.json", "data.csv").stdout
    refused(train(public="d.json", status=2), "d.json", "draft", "--draft-ok")
    assert "No privacy is guaranteed" in train("--draft-ok", public="d.json").stdout
    assert load("m.json").guarantee_.holds is False


def test_draft_advises_where_fields_seem_to_span_lines(here):
    text = Path("data.csv").read_text(encoding="utf-8")
    Path("two.csv").write_text(text + '-,"two\nlines",yes,yes\n-,"one",no,no\n', encoding="utf-8")
    shown = run("schema", "draft", "two.csv", "--target", "ill", "--ignore", "note", "--ignore", "age")
    assert "two.csv: 1 line has a quote that is never closed" in shown.stderr
    assert "convert the file to Parquet" in " ".join(shown.stderr.split())
    Path("two.csv").write_text(text + '-,"two\nlines\n-,"three\n', encoding="utf-8")
    shown = run("schema", "draft", "two.csv", "--target", "ill", "--ignore", "note", "--ignore", "age")
    assert "two.csv: 2 lines have a quote that is never closed" in shown.stderr
    assert "quote" not in run("schema", "draft", "data.csv", "--target", "ill", "--ignore", "note").stderr


def test_a_line_too_long_is_refused_by_draft_and_predicted(here, monkeypatch):
    monkeypatch.setattr("discreet.records.csv_lines.LONGEST_LINE", 100)
    Path("long.csv").write_text(f"id,smoker,age\np7,yes,50\np8,no,{'2' * 100}\np9,no,20\n", encoding="utf-8")
    refused(run("schema", "draft", "long.csv", "--target", "id", status=2), "long.csv", "too long", "Parquet")
    train()
    printed = json.loads(run("predict", "m.json", "long.csv", "--keep", "id", "--json").stdout)
    assert [record["id"] for record in printed] == ["p7", None, "p9"]
    run("predict", "m.json", "long.csv", "--keep", "id", "--out", "out.tsv")
    lines = [line.split("\t") for line in Path("out.tsv").read_text().splitlines()]
    assert [line[0] for line in lines] == ["id", "p7", "", "p9"]
    assert [line[1] for line in lines[1:]] == [record["prediction"] for record in printed]


def test_draft_refuses_without_quoting(here):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"day": pa.array([7, 8], pa.date32()), "ill": ["a", "b"]}), "t.parquet")
    refused(run("schema", "draft", "t.parquet", "--target", "ill", status=2), "no column is left", "'day'", "date")
    refused(run("schema", "draft", "t.parquet", "--target", "ill", "--ignore", "day", status=2), "no column is left")
    refused(run("schema", "draft", "data.csv", "--target", "absent", status=2), "'absent'", "header")
    write_csv(Path("names.csv"), [["who", "ill"], *([f"{CANARY}-{i}", "yes"] for i in range(1100))])
    refused(
        run("schema", "draft", "names.csv", "--target", "ill", status=2), "no column is left", "'who'", "identifier"
    )


ENDING = """
import atexit, ctypes
from discreet.cli import main
libc = ctypes.CDLL(None)
libc.__cxa_atexit(libc.abort, None, None)  # what a compiled library does whose thread is still there
atexit.register(print, "tidied")
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs the C library of Linux")
@pytest.mark.parametrize(("arguments", "status"), [(["--version"], 0), (["card", "missing.json"], 2)])
def test_no_library_decides_how_a_command_ends(arguments, status, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", ENDING, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert done.stdout.endswith("tidied\n")
    assert ("missing.json" in done.stderr) == bool(status)


def test_version_and_help():
    assert run("--version").stdout == f"discreet {__version__}\n"
    federated = [f"federated {each}" for each in ("key", "invite", "answer", "combine", "simulate")]
    commands = [
        "demo",
        "schema draft",
        "schema edit",
        "schema check",
        "train",
        "predict",
        "card",
        "explain",
        "plot",
        "perturb",
    ]
    commands += ["perturb", "score", "compare", "budget show", "budget verify", "budget adopt", *federated]
    for command in commands:
        text = run(*command.split(), "--help").stdout
        assert f"discreet {command}" in text.partition("Example")[2]


# Every mistake


@pytest.mark.parametrize("epsilon", ["0", "-1", "abc", "nan", "", "1/0", "99999"])
def test_epsilon(epsilon, here):
    refused(train("--ledger", "l.jsonl", "--limit", "2", epsilon=epsilon, status=2), "epsilon=")
    assert not Path("l.jsonl").exists()


def columns_of(header):
    return [header.split(","), ["1"] * len(header.split(","))]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("age,ill", ["'smoker'", "missing"]),
        ("age,smoker,salary,ill", ["'salary'", "ignore"]),
        ("age,smoker,sick", ["'ill'", "missing"]),
        (f"51,{CANARY},no", ["header row"]),
        ("age,smoker,Ill,ill", ["two columns", "header row"]),
    ],
)
def test_columns(header, words, here):
    write_csv(Path("odd.csv"), columns_of(header))
    Ledger(2, "l.jsonl")
    before = Path("l.jsonl").read_bytes()
    refused(train("--ledger", "l.jsonl", data="odd.csv", status=2), *words)
    refused(run("schema", "check", "s.json", "odd.csv", status=2), *words)
    assert Path("l.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("header", "words"),
    [("age,ill", ["'smoker'", "missing"]), ("51,yes", ["header row"])],
)
def test_columns_of_new_records(header, words, here):
    train()
    Path("m.json").rename("model.json")
    write_csv(Path("odd.csv"), columns_of(header))
    for extra in ([], ["--out", "p.csv"], ["--json"]):
        refused(run("predict", "model.json", "odd.csv", *extra, status=2), *words)
    assert not Path("p.csv").exists()


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--model", "forest", ["forest", "naive-bayes"]),
        (
            "--with",
            "bins=8",
            ["'bins=8'", "auto takes no parameters except --class-weight", "name a model", "--model decision-tree"],
        ),
        ("--adjacency", "swap", ["swap", "replace-one"]),
        ("--seed", "x", ["--seed"]),
        ("--limit", "2", ["--ledger"]),
        ("--frobnicate", "2", ["--frobnicate", "--help"]),
    ],
)
def test_options(option, value, words, here):
    refused(train(option, value, status=2), *words)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("numeric=median", ["median", "histogram"]),
        ("colour=red", ["colour", "numeric=...", "bins=..."]),
        ("bins", ["bins", "numeric=..."]),
        ("epsilon=9", ["epsilon", "numeric=..."]),
        ("bins=1", ["bins=1", "127"]),
    ],
)
def test_parameters_of_a_model(setting, words, here):
    refused(train("--model", "naive-bayes", "--with", setting, status=2), *words)
    refused(train("--model", "auto", "--with", setting, status=2), setting, "auto takes no parameters")


def test_files_that_cannot_be_read(here):
    Path("folder.csv").mkdir()
    Path("table.ods").write_bytes(b"x")
    Path("broken.parquet").write_bytes(CANARY.encode())
    Path("broken.duckdb").write_bytes(CANARY.encode())
    Path("empty.csv").write_bytes(b"")
    for name in ("absent.csv", "absent.duckdb", "folder.csv", "table.ods", "broken.parquet", "empty.csv"):
        refused(train("--ledger", "l.jsonl", "--limit", "1", data=name, status=2), name)
    refused(train("--table", "t", data="broken.duckdb", status=2), "broken.duckdb")
    for arguments in (["card"], ["explain"], ["plot", "--out", "x.png"], ["predict", "new.csv"]):
        for name in ("absent.json", "folder.csv", "data.csv", "s.json"):
            given = [arguments[0], name, *arguments[1:]]
            refused(run(*given, status=2), name)
    for name in ("absent.json", "folder.csv", "data.csv"):
        refused(train(public=name, status=2), name)
    assert not Path("l.jsonl").exists()
    if os.getuid() != 0:
        Path("data.csv").chmod(0)
        refused(train(status=2), "data.csv")


@pytest.mark.parametrize("out", ["absent/m.json", "folder", "data.csv", "s.json", "l.jsonl"])
def test_places_that_cannot_be_written(out, here):
    Path("folder").mkdir()
    Ledger(2, "l.jsonl")
    before = {path: path.read_bytes() for path in here.iterdir() if path.is_file()}
    given = ["data.csv", "--schema", "s.json", "--epsilon", "1", "--out", out, "--ledger", "l.jsonl"]
    refused(run("train", *given, status=2), out)
    assert {path: path.read_bytes() for path in here.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"columns": [{"name": "age", "kind": "numeric", "lower": 9, "upper": 1}]}, ["'age'", "lower < upper"]),
        ({"columns": [{"name": "smoker", "kind": "categorical", "categories": ["a", "a"]}]}, ["'smoker'", "twice"]),
        ({"classes": ["yes", "yes"]}, ["classes", "twice"]),
        ({"adjacency": "swap"}, ["replace-one"]),
        ({"version": 99}, ["99", "upgrade"]),
        ({"colums": []}, ["colums"]),
        ({"columns": 7}, ["s.json"]),
        ({"columns": [[[]]]}, ["s.json"]),
        ({"classes": None}, ["classes"]),
        ({"records": [1]}, ["records"]),
    ],
)
def test_schemas_that_contradict_themselves(change, words, here):
    Path("s.json").write_text(json.dumps({**schema().to_dict(), **change}))
    refused(train("--ledger", "l.jsonl", "--limit", "2", status=2), "s.json", *words)
    refused(run("schema", "check", "s.json", status=2), "s.json", *words)
    assert not Path("l.jsonl").exists()


def test_models_that_are_damaged(here):
    train()
    content = json.loads(Path("m.json").read_text())
    Path("m.json").unlink()
    body = {key: value for key, value in content.items() if key != "hash"}
    newer = {**body, "version": 99}
    odd = {**body, "statistics": {"tables": [{"query": {"kind": "Nothing"}}]}}
    for broken, word in [
        ({**content, "hash": "0" * 64}, "altered or damaged"),
        ({**newer, "hash": content_hash(newer)}, "upgrade"),
        ({**odd, "hash": content_hash(odd)}, "get it again"),
        ([], "not an object"),
    ]:
        Path("broken.json").write_text(json.dumps(broken))
        for command in (["card", "broken.json"], ["predict", "broken.json", "new.csv"], ["explain", "broken.json"]):
            refused(run(*command, status=2), "broken.json", word)


def test_the_ledger_limits_and_is_charged_once(here):
    given = ["--ledger", "l.jsonl"]
    refused(train(*given, status=2), "--limit 2")
    refused(train(*given, "--limit", "zero", status=2), "--limit='zero'")
    refused(train(*given, "--limit", "0.5", status=2), "l.jsonl", "smaller epsilon")
    assert not Path("l.jsonl").exists()
    train(*given, "--limit", "1.5")
    assert Ledger("1.5", "l.jsonl").spent == 1
    Path("m.json").unlink()
    before = Path("l.jsonl").read_bytes()
    refused(train(*given, status=2), "0.5 of 1.5 left")
    refused(train(*given, "--limit", "3", status=2), "has limit 1.5, got 3")
    assert Path("l.jsonl").read_bytes() == before
    train(*given, epsilon="0.5")
    assert Ledger("1.5", "l.jsonl").remaining == 0
    Path("m.json").unlink()
    for damage in (b"{}\n", b"\xff\xfe", b"[1]\n", b"nonsense"):
        Path("bad.jsonl").write_bytes(damage)
        refused(train("--ledger", "bad.jsonl", "--limit", "2", status=2), "bad.jsonl", "backup")
        assert Path("bad.jsonl").read_bytes() == damage
    refused(train("--ledger", "absent/l.jsonl", "--limit", "2", status=2), "absent/l.jsonl")


def test_a_ledger_without_a_number_of_records_is_checked_for_the_whole(here):
    schema().replace(records=None).save("s.json")
    train("--ledger", "l.jsonl", "--limit", "1.5")
    Path("m.json").unlink()
    before = Path("l.jsonl").read_bytes()
    refused(train("--ledger", "l.jsonl", status=2), "left")
    assert Path("l.jsonl").read_bytes() == before


# No value of the data is ever shown


def test_no_output_shows_a_value_of_a_record(here):
    assert CANARY in run("schema", "draft", "data.csv", "--target", "ill").stdout  # a draft is private, and says so
    shown = []
    for extra in ([], ["--json"], ["--model", "naive-bayes", "--with", "numeric=gaussian"], ["--seed", "1"]):
        shown.append(train(*extra))
        shown += [run("card", "m.json"), run("card", "m.json", "--json"), run("explain", "m.json")]
        shown += [run("explain", "m.json", "--json"), run("predict", "m.json", "data.csv", "--proba")]
    shown += [run("schema", "check", "s.json", "data.csv")]
    for text in [each.stdout + each.stderr for each in shown] + [Path("m.json").read_text()]:
        assert CANARY not in text
        assert CANARY_NUMBER not in text


@pytest.mark.parametrize("debug", [False, True])
def test_an_unexpected_error_is_held_back(debug, here, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError(f"engine says: {CANARY}")

    monkeypatch.setattr("discreet.cli.inputs.open_file", fail)
    options = ["--debug"] if debug else []
    given = ["train", "data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "m.json"]
    result = run(*options, *given, status=1)
    if debug:
        assert CANARY in str(result.exception)
    else:
        assert CANARY not in result.output + str(result.exception)
        assert result.stderr.startswith("error: ")
        assert "RuntimeError" in result.stderr
        assert result.stderr.count("\n") == 1


def test_reading_that_fails_inside_the_check_is_an_unreadable_file(here, monkeypatch):
    class Source:
        def check(self, schema):
            raise RuntimeError(CANARY)

    monkeypatch.setattr("discreet.cli.inputs.open_file", lambda *_, **__: Source())
    refused(train(status=2), "data.csv")


def test_names_cannot_steer_the_terminal(here):
    odd = Schema([Categorical("a\x1b[31m\nb", ["x\x1b]0;t\x07"])], target="ill", classes=["no", "yes"])
    odd.save("odd.json")
    text = run("schema", "check", "odd.json").stdout
    assert "\x1b" not in text
    refused(run("schema", "check", "odd.json", "new.csv", status=2))
    assert explanation(ValueError(CANARY)) is None


# Real processes


def process(*arguments, **options):
    source = str(Path(inputs.__file__).parents[2])
    old_typer = "ignore:'click.utils.get_:DeprecationWarning"  # typer up to 0.25 beside click 8.5
    command = [sys.executable, "-W", "error", "-W", old_typer, "-m", "discreet.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": source, "COLUMNS": "100"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False, **options)


def test_a_real_process(here):
    done = process("train", "data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "m.json", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["guarantee"]["holds"] is True
    done = process("train", "data.csv", "--schema", "s.json", "--epsilon", "nan", "--out", "m2.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: epsilon='nan'")
    assert done.stderr.count("\n") == 1
    done = process("--bogus")
    assert done.returncode == 2
    assert re.fullmatch(r"error: No such option:? '?--bogus'?; see `discreet --help`\n", done.stderr)


def test_demo_in_a_real_process(tmp_path):
    pytest.importorskip("matplotlib")
    done = process("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "discreet-demo"
    names = {path.name for path in folder.iterdir()}
    assert names == {"demo.png", "model.json", "schema.json", "train.csv", "new.csv"}
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    model = load(folder / "model.json")
    assert (model.kind, model.guarantee_.holds) == ("auto", True)
    for words in (
        model.picked_.statement(),
        "not themselves private",
        "seeded",
        "1-differentially private",
        "discreet card",
        "breast-cancer",
    ):
        assert words in done.stdout


def test_demo_without_matplotlib(tmp_path, monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):  # an earlier test may have loaded both
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(demo, "NAMES", ("breast-cancer", "iris"))
    monkeypatch.setattr(demo, "DRAWS", 2)
    result = run("demo", "--out", tmp_path / "deep" / "er", "--json")
    content = json.loads(result.stdout)
    assert "pip install 'discreet[plot]'" in result.stderr
    assert [row["data"] for row in content["scores"]] == ["breast-cancer", "iris"]
    assert all(Path(name).exists() for name in content["files"])
    assert content["scores"][0]["auto"]["inf"] > content["scores"][0]["majority"]
    folder = tmp_path / "deep" / "er"
    out = tmp_path / "m.json"
    run("train", folder / "train.csv", "--schema", folder / "schema.json", "--epsilon", "1", "--out", out)
    assert len(run("predict", out, folder / "new.csv").stdout.splitlines()) == 1 + 190
    refused(run("demo", "--out", folder / "new.csv", status=2), "--out")
