"""`discreet schema`: drafts of messy files, going through them, private checks of values, and a dry run."""

import gzip
import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import Categorical, Ledger, Numeric, Schema, load
from discreet.cli import schema_edit
from discreet.cli.application import app
from support.command import refused, run, write_csv
from support.sheets import write_sheets

EUROPEAN = ("--decimal", ",", "--encoding", "latin-1")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The same patients in a plain file and in a European one; the working directory."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(7)
    rows = []
    for number in range(300):
        ill = draw.choice(["ja", "nein"])
        size = f"{draw.gauss(1.7 if ill == 'ja' else 1.5, 0.05):.2f}"
        rows.append([f"P{number:05d}", size, draw.choice(["Köln", "Ulm"]), "2024-01-0" + str(number % 9 + 1), ill])
    head = ["id", "größe", "stadt", "tag", "krank"]
    write_csv(Path("plain.csv"), [head, *rows])
    text = "\r\n".join(";".join([row[0], row[1].replace(".", ","), *row[2:]]) for row in [head, *rows])
    Path("european.csv").write_bytes(text.encode("latin-1"))
    with gzip.open("european.csv.gz", "wb") as file:
        file.write(text.encode("latin-1"))
    columns = [Numeric("größe", 1, 2), Categorical("stadt", ["Köln", "Ulm"])]
    Schema(columns, "krank", ["ja", "nein"], records=300, ignore=["id", "tag"]).save("s.json")
    return rows


def edit(keys, *, status=0):
    result = CliRunner().invoke(app, ["schema", "edit", "draft.json"], input=keys)
    assert result.exit_code == status, (result.stdout, result.stderr, result.exception)
    return result


def test_a_draft_says_what_it_took_each_column_for(here):
    found = json.loads(run("schema", "draft", "plain.csv", "--target", "krank", "--json").stdout)
    kinds = {each["column"]: (each["taken_for"], each["proposal"]) for each in found["findings"]}
    assert kinds["id"] == ("identifier", "ignore")
    assert kinds["tag"] == ("date", "ignore")
    assert kinds["stadt"] == ("category", "list: 2 categories")
    assert kinds["größe"][0] == "numbers"
    drafted = Schema.from_dict(found["schema"])
    assert drafted.ignore == ("id", "tag")
    assert {"id.ignore", "tag.ignore", "größe.lower", "stadt.categories", "classes", "records"} <= {*drafted.from_data}
    sizes = sorted(float(row[1]) for row in here)
    assert drafted["größe"].lower < sizes[0] < sizes[-1] < drafted["größe"].upper
    shown = run("schema", "draft", "plain.csv", "--target", "krank", "--out", "d.json")
    assert "taken for" in shown.stderr
    assert shown.stdout == ""
    assert Schema.load("d.json") == drafted


def test_a_european_file_is_drafted_and_its_dialect_kept(here):
    found = json.loads(
        run("schema", "draft", "european.csv", "--target", "krank", "--encoding", "latin-1", "--json").stdout
    )
    declared = ["european.csv.gz", "--target", "krank", *EUROPEAN, "--json"]
    assert json.loads(run("schema", "draft", *declared).stdout)["schema"]["dialect"] == found["schema"]["dialect"]
    assert found["schema"]["dialect"] == {"decimal": ",", "encoding": "latin-1"}
    assert "dialect.decimal" in found["schema"]["from_data"]
    refused(
        lambda *a, status: run("schema", "draft", *a, status=status),
        "european.csv",
        "--target",
        "krank",
        words=["--encoding"],
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [("a,b\n", ["no record"]), ("a,b\n1,\n2,\n", ["'b'", "--target"]), ("a,b\n,x\n,y\n", ["no column is left"])],
)
def test_files_that_cannot_be_drafted(here, content, words):
    Path("t.csv").write_text(content)
    refused(lambda *a, status: run("schema", "draft", *a, status=status), "t.csv", "--target", "b", words=words)


def test_a_single_class_is_said(here):
    Path("t.csv").write_text("a,b\n1,x\n2,x\n")
    assert "single class" in run("schema", "draft", "t.csv", "--target", "b").stderr
    Schema([Numeric("a", 0, 2)], "b", ["x"]).save("one.json")
    assert "one class only" in run("schema", "check", "one.json").stdout
    Path("h.csv").write_text("a,b\n")
    assert "there is no record" in run("schema", "check", "one.json", "h.csv", "--values").stdout


def train(data, *extra, out="m.json"):
    return run(
        "train",
        data,
        "--schema",
        "s.json",
        "--epsilon",
        "5",
        "--out",
        out,
        "--model",
        "naive-bayes",
        "--seed",
        "3",
        *extra,
    )


def statistics(path="m.json"):
    return json.loads(Path(path).read_text())["statistics"]["tables"]


@pytest.mark.parametrize("data", ["european.csv", "european.csv.gz"])
def test_every_command_reads_european_files(here, data):
    train("plain.csv", out="plain.json")
    train(data, *EUROPEAN)
    assert statistics() == statistics("plain.json")
    assert load("m.json").schema_.dialect.to_json() == {"decimal": ",", "encoding": "latin-1"}
    expected = run("predict", "plain.json", "plain.csv", "--proba").stdout
    assert run("predict", "m.json", data, "--proba").stdout == expected  # as the model was trained
    assert run("predict", "plain.json", data, "--proba", *EUROPEAN).stdout == expected
    assert run("predict", "m.json", "plain.csv", "--proba", "--decimal", ".", "--encoding", "utf-8").stdout == expected
    kept = run("predict", "m.json", data, "--keep", "größe").stdout.splitlines()
    assert [line.rpartition(",")[2] for line in kept[1:]] == [line.split(",")[0] for line in expected.splitlines()[1:]]
    assert kept[1].startswith(f'"{here[0][1].replace(".", ",")}"')

    def shown(command, *given, name="plain.csv", more=()):
        return json.loads(run(command, *given, name, "--epsilon", "5", "--seed", "3", "--json", *more).stdout)

    assert shown("score", "m.json", name=data)["accuracy"] == shown("score", "plain.json")["accuracy"]
    by = ("--schema", "s.json", "--by", "größe:4")
    assert shown("count", *by, name=data, more=EUROPEAN)["answers"] == shown("count", *by)["answers"]
    tables = []
    for name, more in (("plain.csv", ()), (data, EUROPEAN)):
        price = ("--epsilon", "9", "--adjacency", "replace-one", "--seed", "3", "--out", "p.csv", "--force")
        run("perturb", name, "--schema", "s.json", *price, *more)
        tables.append(Path("p.csv").read_text())
    assert tables[0] == tables[1]
    assert json.loads(run("schema", "check", "s.json", data, *EUROPEAN, "--json").stdout)["fits"] == data
    rules = ("--schema", "s.json", "--model", "bee-rules", "--clear", "--seed", "3", "--force", "--out")
    run("train", "plain.csv", *rules, "r.json")
    run("train", data, *rules, "e.json", *EUROPEAN)
    assert run("explain", "r.json").stdout == run("explain", "e.json").stdout


def test_excel_files(here):
    pytest.importorskip("python_calamine")
    cells = [[row[0], float(row[1]), *row[2:]] for row in here]
    write_sheets("t.xlsx", notes=[["nothing"]], data=[["id", "größe", "stadt", "tag", "krank"], *cells])
    train("plain.csv", out="plain.json")
    train("t.xlsx", "--table", "data")
    assert statistics() == statistics("plain.json")
    sheet = ("t.xlsx", "--table", "data")
    assert run("predict", "m.json", *sheet).stdout == run("predict", "m.json", "plain.csv").stdout
    drafted = [
        json.loads(run("schema", "draft", *data, "--target", "krank", "--json").stdout)
        for data in (["plain.csv"], sheet)
    ]
    assert drafted[0]["schema"] == drafted[1]["schema"]
    assert "Nothing speaks against" in run("schema", "check", "s.json", *sheet, "--values").stdout
    refused(lambda *a, status: train_refused(*a, status=status), "t.xlsx", words=["names no column"])
    refused(lambda *a, status: train_refused(*a, status=status), "t.xlsx", "--table", "x", words=["no sheet 'x'"])


def train_refused(data, *extra, status):
    return run("train", data, "--schema", "s.json", "--epsilon", "1", "--out", "x.json", *extra, status=status)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--decimal", ";"), ["--decimal", "'.' or ','"]),
        (("--encoding", "utf-16"), ["--encoding", "latin-1"]),
        (("--delimiter", "xx"), ["--delimiter"]),
        (("--delimiter", ";"), ["names no column"]),
        (("--table", "t"), ["--table"]),
    ],
)
def test_wrong_dialects_are_refused(here, extra, words):
    refused(lambda *a, status: train_refused(*a, status=status), "plain.csv", *extra, words=words)


def test_a_draft_is_gone_through_by_keys(here):
    run("schema", "draft", "plain.csv", "--target", "krank", "--out", "draft.json")
    marks = Schema.load("draft.json").from_data
    answers = {"größe.lower": "1", "größe.upper": "2.5", "records": "n", "stadt.categories": "+ Bonn"}
    first = edit("wrong\n" + answers.get(marks[0], "y") + "\nq\n")
    assert "is not an answer" in first.stderr
    assert f"{len(marks) - 1} entries are left" in first.stderr
    assert len(Schema.load("draft.json").from_data) == len(marks) - 1
    done = edit("".join(f"{answers.get(mark, 'y')}\n" for mark in marks[1:]))
    assert "is complete" in done.stdout
    schema = Schema.load("draft.json")
    assert schema.from_data == ()
    assert (schema["größe"].lower, schema["größe"].upper, schema.records) == (1, 2.5, None)
    assert schema["stadt"].categories == ("Köln", "Ulm", "Bonn")
    assert "is complete" in edit("").stdout
    run("train", "plain.csv", "--schema", "draft.json", "--epsilon", "1", "--out", "m.json")


def test_the_end_of_input_and_an_interruption_lose_no_answer(here, monkeypatch):
    run("schema", "draft", "plain.csv", "--target", "krank", "--out", "draft.json")
    marks = Schema.load("draft.json").from_data
    assert "left to confirm" in edit("y\ns\n\n").stderr
    assert Schema.load("draft.json").from_data == marks[1:]

    class Interrupted:
        lines = iter(["y\n"])

        def readline(self):
            for line in self.lines:
                return line
            raise KeyboardInterrupt

    monkeypatch.setattr(schema_edit.sys, "stdin", Interrupted())
    with monkeypatch.context() as patch:
        patch.setattr(schema_edit, "sys", type("sys", (), {"stdin": Interrupted()}))
        result = edit("", status=130)
    assert "interrupted; " in result.stderr
    assert "Traceback" not in result.stderr
    assert Schema.load("draft.json").from_data == marks[2:]


def test_what_cannot_be_edited(here):
    refused(lambda *a, status: run("schema", "edit", *a, status=status), "plain.csv", words=["plain.csv"])
    refused(
        lambda *a, status: run("schema", "edit", *a, status=status),
        "absent.json",
        words=["No such file"],
        secrets=["P0"],
    )
    Path("several.json").write_text(json.dumps({"a": {"target": "y", "columns": []}}))
    refused(lambda *a, status: run("schema", "edit", *a, status=status), "several.json", words=["several schemas"])
    refused(lambda *a, status: run("schema", "edit", *a, status=status), "several.json#a", words=["file of its own"])
    assert not Path("several.json#a").exists()


def test_values_are_compared_for_the_owner(here):
    columns = [Numeric("größe", 1, 1.6), Categorical("stadt", ["KOELN", "ULM"])]
    Schema(columns, "krank", ["0", "1"], ignore=["id", "tag"]).save("w.json")
    text = run("schema", "check", "w.json", "plain.csv", "--values").stdout
    assert text.startswith("PRIVATE")
    assert "Never publish" in text
    assert "Training on this table would be nonsense: 100 % of the records have no class" in text
    found = json.loads(run("schema", "check", "w.json", "plain.csv", "--values", "--json").stdout)
    size, town = found["columns"]
    assert size["clipped"] == sum(float(row[1]) > 1.6 for row in here)
    assert town["unlisted_share"] == 1
    assert {each["text"]: each["near"] for each in town["examples"]}["Ulm"] == "ULM"
    assert found["notice"].startswith("PRIVATE")
    fits = json.loads(run("schema", "check", "s.json", "european.csv", "--values", "--json", *EUROPEAN).stdout)
    assert fits["problems"] == []
    assert fits["columns"][0]["missing"] == 0
    unread = json.loads(
        run("schema", "check", "s.json", "european.csv", "--values", "--json", "--encoding", "latin-1").stdout
    )
    assert unread["columns"][0]["missing_share"] == 1
    refused(lambda *a, status: run("schema", "check", *a, status=status), "s.json", "--values", words=["--values"])


def test_a_dry_run_reads_and_spends_nothing(here, monkeypatch):
    before = {path.name for path in Path().iterdir()}
    given = ("plain.csv", "--schema", "s.json", "--epsilon", "1/3", "--out", "m.json", "--dry-run")
    reads = []
    monkeypatch.setattr("discreet.sources.csv.read_lines", lambda *a: reads.append(a))
    text = run("train", *given, "--ledger", "l.jsonl", "--limit", "1").stdout
    for word in ("größe, stadt", "krank", "0.333334", "one record is added or removed", "m.json", "would be made"):
        assert word in text
    assert "P00001" not in text
    found = json.loads(run("train", *given, "--json").stdout)
    assert found["spends"] == {"epsilon": "1/3", "delta": 0, "adjacency": "add-remove"}
    assert {path.name for path in Path().iterdir()} == before
    assert reads == []
    Ledger(1, "l.jsonl")
    kept = Path("l.jsonl").read_bytes()
    assert "There is room" in run("train", *given, "--ledger", "l.jsonl").stdout
    assert Path("l.jsonl").read_bytes() == kept
    over = ("plain.csv", "--schema", "s.json", "--epsilon", "2", "--out", "m.json", "--dry-run", "--ledger", "l.jsonl")
    refused(lambda *a, status: run("train", *a, status=status), *over, words=["left in ledger"])
    refused(lambda *a, status: run("train", *a, status=status), "absent.csv", *given[1:], words=["no such file"])
    small = ("plain.csv", "--schema", "s.json", "--epsilon", "1e-17", "--out", "m.json", "--dry-run")
    for model in ("naive-bayes", "decision-tree", "svm", "one-rule"):  # what a fit refuses, a dry run refuses
        options = (*small, "--model", model)
        refused(lambda *a, status: run("train", *a, status=status), *options, words=["too small", "larger epsilon"])
    rules = ("plain.csv", "--model", "bee-rules", "--out", "m.json", "--dry-run")
    refused(lambda *a, status: run("train", *a, status=status), *rules, words=["--dry-run"])
