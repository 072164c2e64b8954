"""`discreet perturb`: a table to publish, whole or not at all; each mistake is one line, status 2, and free."""

import csv
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema
from discreet.cli import perturb
from discreet.cli.application import CarefulGroup
from discreet.errors import SchemaError
from discreet.perturbation.decoding import UNLISTED
from discreet.perturbation.perturbed_table import read_perturbed
from discreet.records.files import read_columns
from discreet.sources.csv import CsvSource
from support import command

CANARY = "CANARY-7731"
CANARY_NUMBER = "77.311977"

app = typer.Typer(cls=CarefulGroup)
app.callback()(lambda: None)
app.command("perturb")(perturb.perturb)


def schema(**changes):
    columns = [Numeric("age", 0, 100, grid=10), Categorical("smoker", ["no", True])]
    entries = {"target": "ill", "classes": ["no", "yes"], "adjacency": "replace-one", "ignore": ["note"], **changes}
    return Schema(columns, **entries)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with data, sorted by the label (one record is a canary), and a schema; the working directory."""
    monkeypatch.chdir(tmp_path)
    rows = [["ill", "note", "age", "smoker"], ["yes", CANARY, CANARY_NUMBER, CANARY]]
    rows += [["yes", "-", "70", "true"]] * 150 + [["no", "-", "20", "no"]] * 149
    with Path("data.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    schema().save("s.json")
    return tmp_path


def run(*extra, status=0, data="data.csv", public="s.json", epsilon="2", out="p.csv"):
    arguments = ["perturb", data, "--schema", public, "--epsilon", epsilon, "--out", out, "--force", *extra]
    return command.run(*arguments, status=status)


def refused(*extra, **given):
    command.refused(run, *extra, secrets=(CANARY, CANARY_NUMBER), **given)


def table(path="p.csv"):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_table_to_publish(here):
    shown = run()
    assert "2-locally differentially private" in shown.stdout
    assert "one record is replaced by any other" in shown.stdout
    assert "300 records written to p.csv" in shown.stdout
    assert "--seed" not in shown.stderr
    header, *rows = table()
    assert header == ["age", "smoker", "ill"]
    assert len(rows) == 300
    assert {row[0] for row in rows} <= {str(10 * i) for i in range(11)}
    assert {row[1] for row in rows} == {"no", "true", UNLISTED}
    assert {row[2] for row in rows} == {"no", "yes"}
    assert CANARY not in Path("p.csv").read_text() + shown.stdout + shown.stderr
    assert sorted(path.name for path in here.iterdir()) == ["data.csv", "p.csv", "p.csv.receipt.json", "s.json"]


def test_without_noise_the_records_are_the_same_in_another_order(here):
    shown = run(epsilon="inf")
    assert "No privacy is guaranteed" in shown.stdout
    _, *rows = table()
    counts = {tuple(row): rows.count(row) for row in rows}
    assert counts == {("70", "true", "yes"): 150, ("20", "no", "no"): 149, ("80", UNLISTED, "yes"): 1}
    first_half = [row[2] for row in rows[:150]]
    assert 45 < first_half.count("yes") < 105


def test_what_is_written_can_be_learned_from(here):
    run(epsilon="20", public="s.json")
    columns = read_columns("p.csv")
    model = NaiveBayes(schema(), epsilon=math.inf).fit(columns)
    assert model.predict([{"age": 70, "smoker": "true"}, {"age": 20, "smoker": "no"}]).tolist() == ["yes", "no"]


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\r\nb"])
@pytest.mark.parametrize("place", ["category", "class"])
def test_public_values_with_line_breaks_are_refused(here, text, place):
    """A line is a record: what is written could not be read back. Neither a table nor a ledger is made."""
    classes = ["no", text] if place == "class" else ["no", "yes"]
    categories = ["no", text] if place == "category" else ["no", "yes"]
    columns = [Numeric("age", 0, 100), Categorical("smoker", categories)]
    Schema(columns, "ill", classes, adjacency="replace-one", ignore=["note"]).save("b.json")
    name = "'ill'" if place == "class" else "'smoker'"
    refused(
        "--ledger", "l.jsonl", "--limit", "2", public="b.json", words=[name, "line break", "change it in the schema"]
    )


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a\nb"], ["'a\\nb'", "rename it"]),
        (["a\rb"], ["'a\\rb'", "rename it"]),
        ([" age"], ["' age'", "rename it"]),
        (["a\0"], ["rename it"]),
        (["age", "Age"], ["differ in case only", "rename one"]),
    ],
)
def test_column_names_that_are_not_read_back_are_refused(here, names, words):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({**{name: [1.0] for name in names}, "ill": ["no"]}), "t.parquet")
    Schema([Numeric(name, 0, 2) for name in names], "ill", ["no", "yes"], adjacency="replace-one").save("n.json")
    if "Age" not in names:  # DuckDB has one name for both
        refused("--ledger", "l.jsonl", "--limit", "2", data="t.parquet", public="n.json", words=words)
    with pytest.raises(SchemaError, match=words[-1]):
        perturb._check_texts(Path("p.csv"), Schema.load("n.json"))


def test_a_table_with_tabs_is_read_back(here):
    run(epsilon="inf", out="p.tsv")
    columns = read_perturbed("p.tsv")
    assert sorted(columns.X) == ["age", "smoker"]
    assert sorted(columns.y.tolist()) == ["no"] * 149 + ["yes"] * 151


@pytest.mark.parametrize("name", ["p.parquet", "p.xlsx", "p"])
def test_a_name_that_promises_another_format_is_refused(here, name):
    refused("--ledger", "l.jsonl", "--limit", "2", out=name, words=[name, "written as CSV", ".csv, .txt, .tsv"])


def test_some_components_of_each_record(here):
    run("--components", "2")
    _, *rows = table()
    assert all((row[0] == "") != (row[1] == "") for row in rows)
    assert all(row[2] for row in rows)
    refused("--components", "1", words=["components=1", "from 2 to 3"], out="q.csv")


def test_a_seed_repeats_and_must_not_be_published(here):
    for out in ("p.csv", "q.csv"):
        shown = run("--seed", "5", out=out)
        assert "No privacy is guaranteed" in shown.stdout
        assert "Do not publish" in shown.stderr
    assert Path("p.csv").read_text() == Path("q.csv").read_text()
    run(out="r.csv")
    assert Path("r.csv").read_text() != Path("p.csv").read_text()


def test_json_is_pure(here):
    said = json.loads(run("--json", "--ledger", "l.jsonl", "--limit", "3").stdout)
    assert (said["out"], said["rows"]) == ("p.csv", 300)
    assert said["guarantee"]["holds"] is True
    assert said["guarantee"]["adjacency"] == "replace-one"
    assert sum(Fraction(charge["epsilon"]) for charge in said["charges"]) == 2
    assert said["schema_hash"] == schema().hash
    assert said["ledger"] == {"limit": "3", "spent": "2", "remaining": "1"}
    seeded = run("--json", "--seed", "1")
    assert json.loads(seeded.stdout)["guarantee"]["holds"] is False
    assert "Do not publish" in seeded.stderr


def test_the_ledger_is_charged_once_before_the_file_is_read_and_refuses(here, monkeypatch):
    rows = CsvSource.rows
    spent = []

    def watched(*given):
        for block in rows(*given):
            spent.append(Ledger(3, "l.jsonl").spent)
            yield block

    monkeypatch.setattr(CsvSource, "rows", watched)
    shown = run("--ledger", "l.jsonl", "--limit", "3")
    assert "2 of 3 spent, 1 left" in shown.stdout
    assert spent == [2]
    assert len(table()) == 301
    spent.clear()
    refused("--ledger", "l.jsonl", words=["--epsilon=2 is more than the 1 of 3 left"], out="q.csv")
    assert spent == []
    assert Ledger(3, "l.jsonl").spent == 2
    refused("--ledger", "m.jsonl", "--limit", "1", words=["1 of 1 left"], out="q.csv")
    refused("--limit", "1", words=["--ledger"], out="q.csv")


def test_a_failure_while_reading_leaves_no_table_and_has_been_paid(here, monkeypatch):
    def broken(*_):
        yield from ()
        raise ValueError(CANARY)

    monkeypatch.setattr(CsvSource, "rows", broken)
    result = run("--ledger", "l.jsonl", "--limit", "3", status=1)
    assert CANARY not in result.stderr
    assert sorted(path.name for path in here.iterdir()) == ["data.csv", "l.jsonl", "s.json"]
    assert Ledger(3, "l.jsonl").spent == 2


def test_parquet(here):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("COPY (FROM read_csv('data.csv', all_varchar = true)) TO 'data.parquet' (FORMAT parquet)")
    run("--seed", "3")
    run("--seed", "3", data="data.parquet", out="q.csv")
    assert Path("p.csv").read_text() == Path("q.csv").read_text()


def test_no_record_and_one(here):
    for rows in (0, 1):
        Path("few.csv").write_text("age,smoker,ill\n" + "44,no,yes\n" * rows)
        run(data="few.csv", epsilon="0.5")
        assert len(table()) == rows + 1


def test_add_remove_is_refused_with_the_remedy(here):
    schema(adjacency="add-remove").save("a.json")
    refused(words=["number of rows", "--adjacency replace-one"], public="a.json")
    run("--adjacency", "replace-one", public="a.json")


def test_a_draft_is_refused_unless_the_data_are_public(here):
    schema(from_data=["age.lower"]).save("d.json")
    refused(words=["draft", "--draft-ok"], public="d.json")
    assert "No privacy is guaranteed" in run("--draft-ok", public="d.json").stdout


def test_mistakes(here):
    Path("short.csv").write_text(f"age,ill\n{CANARY_NUMBER},no\n")
    Path("bare.csv").write_text(f"{CANARY_NUMBER},{CANARY},no\n")
    Path("more.csv").write_text(f"age,smoker,ill,extra\n1,no,no,{CANARY}\n")
    ledger = ("--ledger", "l.jsonl", "--limit", "9")
    for given, words in (
        ({"data": "absent.csv"}, ["absent.csv", "no such file"]),
        ({"data": "short.csv"}, ["smoker", "missing"]),
        ({"data": "bare.csv"}, ["header"]),
        ({"data": "more.csv"}, ["extra", "ignore"]),
        ({"data": "s.json"}, ["nor .parquet"]),
        ({"epsilon": "-1"}, ["epsilon", "need a number > 0"]),
        ({"epsilon": "1e-30"}, ["too small"]),
        ({"out": "data.csv"}, ["overwrite"]),
        ({"out": "s.json"}, ["overwrite"]),
        ({"out": "l.jsonl"}, ["overwrite"]),
        ({"out": "absent/p.csv"}, ["does not exist"]),
        ({"out": "."}, ["is a folder"]),
        ({"public": "absent.json"}, ["absent.json"]),
    ):
        refused(*ledger, words=words, **given)
    refused(*ledger, "--seed", "-1", words=["random_state=-1"])


def test_strange_records_are_published_like_any_other(here):
    strange = ["", '"', "a\x00b", "1e999", "nan", "=1+1", "ü" * 1000]
    lines = [f"{value},{value},{value}" for value in strange[:1] + strange[2:]]
    Path("odd.csv").write_text("age,smoker,ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    with Path("odd.csv").open("ab") as file:
        file.write(b"\xff\xfe,\xff,no\n1\n1,2,3,4,5\n\n")
    run(data="odd.csv", epsilon="1")
    _, *rows = table()
    assert len(rows) == len(lines) + 3
    assert {len(row) for row in rows} == {3}
    assert np.isin([row[2] for row in rows], ["no", "yes"]).all()


def test_a_table_is_not_overwritten_unasked(here):
    run()
    kept = Path("p.csv").read_bytes()
    given = ["perturb", "data.csv", "--schema", "s.json", "--epsilon", "2", "--out", "p.csv"]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 2
    assert "p.csv exists" in result.stderr
    assert Path("p.csv").read_bytes() == kept
