"""score, predict, perturb and federated answers: the same from every kind of data, block by block, bad records too."""

import json
import math

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Ledger, LocalPerturbation, evaluate
from discreet.cli import tables
from discreet.evaluation import evaluate_from
from discreet.federated import Invitation, Party, invite
from discreet.models import MODELS
from discreet.records import files
from discreet.sources import as_records
from discreet.sources.file import open_file
from discreet.sources.memory import MemorySource
from discreet.sources.predictions import MarkedTable, marks
from support.command import run
from support.estimators import PRIVATE
from support.records import draw_records

CANARY = "Wolpertinger"
KINDS = {
    "csv": ("t.csv", None),
    "parquet": ("t.parquet", None),
    "folder": ("parts", None),
    "pattern": ("parts/*.parquet", None),
    "duckdb": ("t.duckdb", "people"),
}


def hostile_records():
    """Records with the worst ones in the middle: nothing that they hold may stop or change the reading of others."""
    records = draw_records(300, seed=11)
    age, dose = records["age"].astype(object), records["dose"].astype(object)
    for place, (number, text, label) in enumerate(
        [
            (math.inf, CANARY, "ill"),
            (-1e308, '"', CANARY),
            (None, "", None),
            (5e-324, "\u00a0F", ""),
            (1e308, "x" * 5000, "well"),
        ],
        140,
    ):
        age[place], dose[place] = number, number
        records["sex"][place] = records["site"][place] = text
        records["outcome"][place] = label
    return {**records, "age": age, "dose": dose, "id": np.arange(300), "visit": np.array(["2024"] * 300, dtype=object)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The records as a CSV file, a Parquet file, a folder of Parquet files and a table of DuckDB."""
    path, records = tmp_path_factory.mktemp("data"), hostile_records()
    table = pa.table({name: pa.array(values.tolist(), from_pandas=True) for name, values in records.items()})
    pq.write_table(table, path / "t.parquet", row_group_size=64)
    (path / "parts").mkdir()
    pq.write_table(table.slice(0, 137), path / "parts" / "1.parquet", row_group_size=50)
    pq.write_table(table.slice(137), path / "parts" / "2.parquet")
    with duckdb.connect(str(path / "t.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    with (path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        tables.write_csv(file, [{name: ["" if v is None else v for v in table[name].to_pylist()] for name in records}],
                         list(records))  # fmt: skip
    return path


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks of each file."""
    original = files.read_blocks
    monkeypatch.setattr(files, "read_blocks", lambda path, **given: original(path, 32, **given))
    monkeypatch.setattr("discreet.sources.parquet.ROWS", 32)
    monkeypatch.setattr("discreet.sources.parquet.FEW", 32)
    monkeypatch.setattr("discreet.sources.duckdb.BATCH", 32)
    monkeypatch.setattr("discreet.doors.rows.CHUNK", 64)


def opened(folder, kind):
    name, table = KINDS[kind]
    return open_file(folder / name, table)


@pytest.fixture
def public(schema):
    return schema.replace(ignore=["id", "visit"])


# score


@pytest.mark.parametrize("name", PRIVATE)
def test_every_model_scores_the_same_from_every_kind_of_data(name, folder, schema):
    model = PRIVATE[name](schema, epsilon=5, random_state=1).fit(draw_records(400, seed=3))
    records = {key: values for key, values in hostile_records().items() if key in schema.all_names}
    expected = evaluate(model, records, epsilon=math.inf)
    assert expected.right + expected.wrong == 296  # four labels are no classes
    for kind in KINDS:
        found = evaluate_from(model, opened(folder, kind), epsilon=math.inf)
        assert (found.right, found.wrong) == (expected.right, expected.wrong), kind
        assert found.confusion == expected.confusion, kind
    noisy = evaluate(model, records, epsilon=1, random_state=4)
    assert repr(evaluate_from(model, opened(folder, "csv"), epsilon=1, random_state=4)) == repr(noisy)


def test_rules_of_bees_score_the_same_from_every_kind_of_data(folder, schema):
    X = draw_records(200, seed=3)
    model = MODELS["bee-rules"](schema, random_state=0).fit(X)
    records = {key: values for key, values in hostile_records().items() if key in schema.all_names}
    expected = evaluate(model, records, epsilon=math.inf)
    for kind in KINDS:
        found = evaluate_from(model, opened(folder, kind), epsilon=math.inf)
        assert (found.right, found.wrong) == (expected.right, expected.wrong), kind
        assert found.confusion == expected.confusion, kind


def test_marks_can_be_counted_only_and_show_nothing(schema):
    model = PRIVATE["naive-bayes"](schema, epsilon=5, random_state=1).fit(draw_records(400, seed=3))
    source = MarkedTable(MemorySource(draw_records(50, 1)), model.predict_positions, model.asked_cells(), schema)
    assert repr(source) == "MarkedTable(values hidden)"
    for method, given in (("rows", ()), ("fold", (None,))):
        with pytest.raises(TypeError, match="only be counted"):
            getattr(source, method)([], marks("add-remove"), *given)


def test_a_missing_column_costs_nothing(folder, schema):
    model = PRIVATE["naive-bayes"](schema.replace(target="diagnosis"), epsilon=5, random_state=1)
    model.fit({name.replace("outcome", "diagnosis"): values for name, values in draw_records(100, 1).items()})
    ledger = Ledger(1)
    for kind in KINDS:
        with pytest.raises(Exception, match="'diagnosis' of the schema is missing"):
            evaluate_from(model, opened(folder, kind), epsilon=1, ledger=ledger)
    assert ledger.spent == 0


# predict


@pytest.fixture
def model(schema, tmp_path, folder):
    made = PRIVATE["naive-bayes"](schema, epsilon=5, random_state=1).fit(draw_records(400, seed=3))
    made.save(tmp_path / "m.json")
    return tmp_path / "m.json"


def arguments(folder, kind):
    name, table = KINDS[kind]
    return [folder / name, *(["--table", table] if table else [])]


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_the_same_from_every_kind_of_data(kind, folder, model, tmp_path):
    expected = run("predict", model, *arguments(folder, "parquet"), "--proba", "--keep", "id").stdout
    assert expected.count("\n") == 301
    assert CANARY not in expected
    run("predict", model, *arguments(folder, kind), "--proba", "--keep", "id", "--out", tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text() == expected
    listed = json.loads(run("predict", model, *arguments(folder, kind), "--json").stdout)
    assert [each["prediction"] for each in listed] == [line.split(",")[1] for line in expected.splitlines()[1:]]


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_written_to_parquet_block_by_block(kind, folder, model, tmp_path):
    out = tmp_path / "p.parquet"
    summary = run("predict", model, *arguments(folder, kind), "--keep", "id", "--keep", "age", "--out", out, "--json")
    assert json.loads(summary.stdout) == {"out": str(out), "rows": 300}
    written = pq.ParquetFile(out)
    assert written.metadata.num_row_groups > 2
    table = written.read()
    number = pa.string() if kind == "csv" else pa.int64()
    assert table.schema.field("id").type == number
    assert table["id"].to_pylist() == [str(n) if kind == "csv" else n for n in range(300)]
    text = run("predict", model, *arguments(folder, kind)).stdout.splitlines()[1:]
    assert table["prediction"].to_pylist() == text


def test_an_interruption_leaves_no_file(folder, model, tmp_path, monkeypatch):
    original = files.read_blocks

    def interrupted(*given, **named):
        yield next(iter(original(*given, **named)))
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "read_blocks", interrupted)
    before = sorted(tmp_path.iterdir())
    for out in ("p.csv", "p.parquet"):
        run("predict", model, folder / "t.csv", "--out", tmp_path / out, status=130)
        assert sorted(tmp_path.iterdir()) == before


def test_labels_of_all_types_are_written(folder, tmp_path):
    """Classes that are numbers stay numbers in Parquet; an integer too large for it is an error without its value."""
    written = tables.write_table(
        tmp_path / "p.parquet",
        [{"a": [1, None], "b": [0.5, None], "c": [True, "x"], "d": [False, True]}],
        {"a": np.empty(0, dtype=int), "b": np.empty(0), "c": np.empty(0, dtype=object), "d": np.empty(0, dtype=bool)},
    )
    table = pq.read_table(tmp_path / "p.parquet")
    assert written == 2
    assert list(map(str, table.schema.types)) == ["int64", "double", "string", "bool"]
    assert table.to_pylist() == [
        {"a": 1, "b": 0.5, "c": "True", "d": False},
        {"a": None, "b": None, "c": "x", "d": True},
    ]
    with pytest.raises(Exception, match="'a' holds a value that Parquet cannot hold") as caught:
        tables.write_table(tmp_path / "q.parquet", [{"a": [2**70]}], {"a": np.empty(0, dtype=int)})
    assert str(2**70) not in str(caught.value)
    assert not (tmp_path / "q.parquet").exists()


def test_a_wrong_table_or_column_is_one_line(folder, model):
    for given, words in (
        (["t.duckdb"], "name its table"),
        (["t.duckdb", "--table", "nobody"], "no table or view"),
        (["t.csv", "--table", "people"], "leave --table out"),
        (["t.csv", "--stream"], "leave --stream out"),
        (["t.parquet", "--keep", "size"], "no such column"),
    ):
        result = run("predict", model, folder / given[0], *given[1:], status=2)
        assert words in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_source_without_values_is_refused():
    with pytest.raises(Exception, match="cannot be read one by one"):
        as_records(MemorySource({}))


# perturb


@pytest.mark.parametrize("kind", KINDS)
def test_perturbed_tables_are_the_same_from_every_kind_of_data(kind, folder, public, tmp_path):
    public.replace(adjacency="replace-one").save(tmp_path / "s.json")
    given = ["--schema", tmp_path / "s.json", "--epsilon", "12", "--seed", "3"]
    run("perturb", *arguments(folder, "parquet"), *given, "--out", tmp_path / "expected.csv")
    run("perturb", *arguments(folder, kind), *given, "--out", tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text() == (tmp_path / "expected.csv").read_text()
    assert (tmp_path / "p.csv.receipt.json").exists()
    assert CANARY not in (tmp_path / "p.csv").read_text()


def test_an_encoded_table_has_every_record(folder, public):
    """With an infinite epsilon, nothing but the order and the encoding differ."""
    given = public.replace(adjacency="replace-one")
    records = {key: values for key, values in hostile_records().items() if key in public.all_names}
    expected = LocalPerturbation(given, epsilon=math.inf).fit_resample(records)

    def rows(blocks):
        return sorted(repr(row) for X, y in blocks for row in zip(*(X[n].tolist() for n in X), y.tolist(), strict=True))

    for kind in KINDS:
        assert rows(LocalPerturbation(given, epsilon=math.inf).resample_from(opened(folder, kind))) == rows([expected])


# federated answer


def test_federated_answers_are_the_same_from_every_kind_of_data(folder, public, tmp_path):
    invitation = invite(public, 1, ["north", "south"])
    records = {key: values for key, values in hostile_records().items() if key in public.all_names}
    sources = {kind: opened(folder, kind) for kind in KINDS} | {"memory": MemorySource(records)}
    answers = {
        kind: Party("north", source, Ledger(1), random_state=2).answer(invitation).tables
        for kind, source in sources.items()
    }
    for kind, tables_ in answers.items():
        for found, expected in zip(tables_, answers["memory"], strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_answers_from_every_kind_of_data(kind, folder, public, tmp_path):
    invitation = invite(public, 1, ["north", "south"])
    invitation.save(tmp_path / "i.json")
    given = ["--party", "north", "--out", tmp_path / "n.msg", "--ledger", tmp_path / "l.jsonl", "--limit", "1"]
    run("federated", "answer", tmp_path / "i.json", *arguments(folder, kind), *given)
    assert Invitation.load(tmp_path / "i.json").hash in (tmp_path / "n.msg").read_text(errors="ignore")
    assert Ledger.open(tmp_path / "l.jsonl").spent == 1
