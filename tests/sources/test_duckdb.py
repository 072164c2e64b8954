"""DuckDB reads the file or table that was named, whatever its values, and leaves a given connection as it was."""

import decimal
import math
import os
import threading
import uuid

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from discreet import (
    Categorical,
    DecisionTree,
    FeatureSelector,
    Ledger,
    LocalPerturbation,
    NaiveBayes,
    Numeric,
    Schema,
    evaluation,
    load,
)
from discreet.cli import app
from discreet.errors import DataError, FileError, MissingExtra
from discreet.records import files
from discreet.records.duckdb_engine import connect_duckdb
from discreet.records.encoding import Cells
from discreet.schema import Dialect
from discreet.sources import as_declared
from discreet.sources.duckdb import DuckDBSource
from discreet.sources.file import open_file
from discreet.sources.memory import MemorySource
from support.block_files import FileSource
from support.hostile import BYTES, undecodable

SCHEMA = Schema([Categorical("c", ["a", "b", "?"], missing="b"), Numeric("n", 0, 4, fill=3)], "y", ["no", "yes"])
CELLS = [Cells("c"), Cells("n", 7)]
COLUMNS = {
    "c": ["a", "zzz", None, "a", "b", "?"],
    "n": ["1", "2.5", None, "x", "4", "0"],
    "y": ["no", "yes", "yes", "no", "zzz", "no"],
}


def counts(source):
    source.check(SCHEMA)
    counted = source.count(CELLS, SCHEMA).counts
    return [counted[each].tolist() for each in CELLS]


def codes(source):
    blocks = list(source.rows(CELLS, SCHEMA))
    rows = [np.stack([block.codes[each] for each in CELLS] + [block.labels], axis=1) for block in blocks]
    return sorted(np.concatenate(rows).tolist())


EXPECTED = counts(MemorySource(COLUMNS))

NAMES = [
    "d[1].parquet", "e*.parquet", "q?.parquet", "**.parquet", "[!a].parquet", "[a-z].parquet", "h#1.parquet",
    "it's.parquet", 'say "x".parquet', "~.parquet", "a b.parquet", "s3:x.parquet", "http:x.parquet", "b\\c.parquet",
    "{a,b}.parquet", "é.parquet", "%41.parquet", "$HOME.parquet", "-.parquet", "y=n/p.parquet", "[x]*/y=n/p[1].parquet",
    "c=a/y=no/t.PARQUET", "x.parquet/x.pq",
]  # fmt: skip
NEIGHBOURS = ["d1.parquet", "exx.parquet", "qa.parquet", "z.parquet", "b.parquet", "x/y=n/p1.parquet"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one file per name; all but the file that is read hold other records."""
    monkeypatch.chdir(tmp_path)
    other = pa.table({name: pa.array(["other"] * 9, pa.string()) for name in COLUMNS})
    for name in [*NAMES, *NEIGHBOURS]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(other, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_a_file_name_is_the_name_of_that_file(folder, name):
    pq.write_table(pa.table(COLUMNS), folder / name)
    for path in (folder / name, name, os.path.join(".", name)):
        for source in (DuckDBSource(path), open_file(path)):
            assert counts(source) == EXPECTED
            assert source.columns() == ["c", "n", "y"]
        assert files.read_columns(path)["y"].tolist() == COLUMNS["y"]
        assert list(files.structure(path)) == ["c", "n", "y"]


def test_any_name_of_a_file_will_do(tmp_path):
    """Also one with a backslash before a mark of patterns, and one that is not UTF-8."""
    for name in ("b\\[c].parquet", os.fsdecode(b"\xff.parquet")):
        pq.write_table(pa.table(COLUMNS), tmp_path / "t.parquet")
        os.rename(tmp_path / "t.parquet", os.path.join(tmp_path, name))
        assert counts(DuckDBSource(os.path.join(tmp_path, name))) == EXPECTED
        assert files.read_columns(os.path.join(tmp_path, name))["y"].tolist() == COLUMNS["y"]
    (tmp_path / "f.parquet").mkdir()
    with pytest.raises(FileError, match=r"is a folder; need a \.csv, \.parquet or \.duckdb file"):
        DuckDBSource(tmp_path / "f.parquet").check(SCHEMA)


@pytest.mark.parametrize("name", ["t.duckdb", "it's [1]*?.duckdb", "y=n#.duckdb", "md:x.db", "a;b ' \" c.db"])
@pytest.mark.parametrize("table", ["t", "my table", 'say "hi"', "it's", "a.b", "select", "*.parquet", "ünï", "data"])
def test_tables_of_a_database_are_found_by_their_name(tmp_path, monkeypatch, name, table):
    monkeypatch.chdir(tmp_path)
    quoted = '"' + table.replace('"', '""') + '"'
    rows = pa.table(COLUMNS)
    with duckdb.connect(str(tmp_path / name)) as connection:
        connection.register("given", rows)
        connection.execute(f"CREATE TABLE {quoted} AS SELECT * FROM given")
        connection.execute(f'CREATE SCHEMA clinic; CREATE VIEW clinic."the view" AS SELECT * FROM main.{quoted}')
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.twice AS SELECT * FROM given LIMIT 0")
        connection.execute("CREATE TABLE clinic.twice AS SELECT * FROM given")
    for wanted in (table, f"main.{table}", table.upper(), "the view", "clinic.the view", "clinic.twice"):
        assert counts(DuckDBSource(name, table=wanted)) == EXPECTED
    ledger = Ledger(1)
    for wanted, problem in (("none", "no table or view with this name"), ("twice", "several tables have this name")):
        with pytest.raises(FileError, match=f"table '{wanted}': .*{problem}; need a name that SHOW ALL TABLES lists"):
            NaiveBayes(SCHEMA).fit_from(DuckDBSource(name, table=wanted), ledger=ledger)
    assert ledger.spent == 0


def test_a_table_that_is_not_there_is_neither_a_file_nor_a_variable(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(COLUMNS), "t.parquet")
    people = pa.table(COLUMNS)
    assert duckdb.connect().execute("SELECT count(*) FROM people, 't.parquet'").fetchone() == (36,), people
    for name in ("t.parquet", "*.parquet", "people", "duckdb_tables()", "t.parquet') --"):
        with pytest.raises(FileError, match="no table or view with this name"):
            DuckDBSource(connection=duckdb.connect(), table=name).check(SCHEMA)


def test_temporary_tables_registered_tables_and_changes_that_are_not_committed_are_seen():
    connection = duckdb.connect()
    connection.register("seen", pa.table(COLUMNS))
    connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM seen")
    connection.execute("BEGIN")
    connection.execute("CREATE TABLE begun AS SELECT * FROM seen")
    for name in ("seen", "kept", "begun"):
        assert counts(DuckDBSource(connection=connection, table=name)) == EXPECTED


def test_a_pandas_frame_in_duckdb_is_refused():
    """DuckDB guesses the types of its columns from some values, and fails at a value that does not fit."""
    connection = duckdb.connect()
    connection.register("frame", pa.table(COLUMNS).to_pandas())
    with pytest.raises(FileError, match=r"'frame' is a view of .* guesses its .* pass the file or data frame itself"):
        DuckDBSource(connection=connection, table="frame").check(SCHEMA)


def test_an_old_duckdb_is_refused(tmp_path, monkeypatch):
    (tmp_path / "t.duckdb").write_bytes(b"")
    monkeypatch.setattr(duckdb, "__version__", "1.4.0")
    for given in ({"path": tmp_path / "t.duckdb"}, {"connection": duckdb.connect()}):
        with pytest.raises(MissingExtra, match=r"discreet\[duckdb\]"):
            DuckDBSource(**given, table="t").check(SCHEMA)


@pytest.mark.parametrize("column", ["c", "n", "y", "cny"])
def test_a_parquet_file_with_text_that_is_not_utf8_is_read(tmp_path, column):
    for place in (0, 3, 6):
        for raw in BYTES:
            record = {"c": "a", "n": "1", "y": "no", **dict.fromkeys(column, raw)}
            mixed = {k: [*values[:place], record[k], *values[place:]] for k, values in COLUMNS.items()}
            table = pa.table({name: undecodable(values) for name, values in mixed.items()})
            pq.write_table(table, tmp_path / "t.parquet", use_dictionary=place == 3)
            expected, rows = counts(MemorySource(table)), codes(MemorySource(table))
            source = DuckDBSource(tmp_path / "t.parquet")
            assert (counts(source), codes(source)) == (expected, rows)
            if raw == BYTES[0]:
                assert counts(MemorySource(files.read_columns(tmp_path / "t.parquet"))) == expected


def test_text_that_is_not_utf8_behind_a_view_neither_fails_nor_breaks_the_database():
    connection = duckdb.connect()
    for raw in BYTES:
        table = pa.table({name: undecodable([*values, raw]) for name, values in COLUMNS.items()})
        connection.register("seen", table)
        source = DuckDBSource(connection=connection, table="seen")
        assert counts(source) == counts(MemorySource(table))
        assert codes(source) == codes(MemorySource(table))
    assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
@pytest.mark.parametrize("column", ["c", "y"])
def test_one_text_of_150_megabytes_is_read(tmp_path, kind, column):
    mixed = {name: [*values, "x" * 150_000_000 if name == column else "a"] for name, values in COLUMNS.items()}
    table = pa.table(mixed)
    if kind == "parquet":
        pq.write_table(table, tmp_path / "t.parquet")
    else:
        with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
            connection.register("given", table)
            connection.execute("CREATE TABLE t AS SELECT * FROM given")
    source = DuckDBSource(tmp_path / f"t.{kind}", table="t")
    expected = MemorySource(mixed)
    assert counts(source) == counts(expected)
    assert codes(source) == codes(expected)


def test_what_an_engine_cannot_do_is_one_line_whatever_the_value():
    connection = duckdb.connect()
    connection.register("given", pa.table({**COLUMNS, "n": ["1", "2", "3", "secret", "4", "5"]}))
    connection.execute("CREATE VIEW failing AS SELECT c, CAST(n AS INTEGER) AS n, y FROM given")
    ledger = Ledger(1)
    with pytest.raises(FileError) as caught:
        NaiveBayes(SCHEMA).fit_from(DuckDBSource(connection=connection, table="failing"), ledger=ledger)
    assert str(caught.value) == "the file or table cannot be read by DuckDB; check its format, its name and free memory"
    assert caught.value.__context__ is None
    assert ledger.spent > 0


def test_a_result_that_was_not_fetched_is_the_owners():
    connection = duckdb.connect()
    connection.register("seen", pa.table(COLUMNS))
    connection.execute("CREATE TABLE kept AS SELECT * FROM seen")
    connection.execute("SELECT 1 UNION ALL SELECT 2").fetchone()
    with pytest.raises(FileError, match=r"has a result that was not fetched to its end; fetch it, or pass its cursor"):
        DuckDBSource(connection=connection, table="kept").check(SCHEMA)
    assert len(connection.fetchall()) == 1
    assert counts(DuckDBSource(connection=connection, table="kept")) == EXPECTED


@pytest.mark.parametrize("setting", ["", "join_order", "join_order,statistics_propagation"])
def test_threads_may_share_a_connection_and_settings_survive(tmp_path, setting):
    """No statement gets the counts of another, for views and for tables."""
    numbers = pa.array([1.0] * 3 + [math.nan] * 50, pa.float64())
    table = pa.table({"c": ["a"] * 53, "n": numbers, "y": ["no"] * 53})
    pq.write_table(table, tmp_path / "t.parquet")
    connection = duckdb.connect()
    connection.execute(f"SET disabled_optimizers = '{setting}'")
    connection.execute(f"CREATE VIEW first AS SELECT * FROM read_parquet('{tmp_path / 't.parquet'}')")
    connection.execute("CREATE TABLE second AS SELECT c, 1 - n AS n, y FROM first LIMIT 20")
    kept = connection.execute("SELECT current_setting('disabled_optimizers')").fetchall()
    expected = {"first": counts(MemorySource(table)), "second": None}
    expected["second"] = counts(MemorySource(connection.sql("SELECT * FROM second").to_arrow_table()))
    assert expected["first"] != expected["second"]
    failures = []

    def work(name, shared):
        source = DuckDBSource(connection=shared, table=name)
        for _ in range(10):
            try:
                if counts(source) != expected[name]:
                    failures.append(name)
            except BaseException as error:
                failures.append(repr(error))

    threads = [
        threading.Thread(target=work, args=(name, shared))
        for shared in (connection, connection, connection.cursor())
        for name in expected
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert connection.execute("SELECT current_setting('disabled_optimizers')").fetchall() == kept


def test_threads_may_share_a_source(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.register("given", pa.table({name: values * 20_000 for name, values in COLUMNS.items()}))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    source, found = DuckDBSource(tmp_path / "t.duckdb", table="t"), []
    expected = counts(source)
    threads = [threading.Thread(target=lambda: found.append(counts(source))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    half = source.rows(CELLS, SCHEMA)
    next(half)
    assert counts(source) == expected  # a pass that was left half-way disturbs no other
    assert sum(len(block.labels) for block in half) < 120_000
    half.close()


def test_a_database_that_is_open_elsewhere_keeps_its_settings(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.register("given", pa.table(COLUMNS))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    with duckdb.connect(str(tmp_path / "t.duckdb"), read_only=True) as connection:
        ask = "SELECT name, value FROM duckdb_settings() ORDER BY name"
        before = connection.execute(ask).fetchall()
        assert counts(DuckDBSource(tmp_path / "t.duckdb", table="t")) == EXPECTED
        assert connection.execute(ask).fetchall() == before


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NFC", "NOCASE.NOACCENT"])
def test_texts_are_compared_letter_for_letter_whatever_the_collation(collation):
    values = ["a", "A", "á", "e\u0301", "\u00e9", "TRUE", "trúe", "true ", None]
    schema = Schema([Categorical("c", ["a", "\u00e9", True])], "y", ["a", "\u00e9"])
    rows = {"c": values, "y": values}
    expected = MemorySource(rows).count([Cells("c")], schema).counts[Cells("c")].tolist()
    for default in ("", collation):
        connection = duckdb.connect()
        connection.execute(f"SET default_collation = '{default}'")
        connection.register("given", pa.table(rows))
        for name, kind in (("plain", "VARCHAR"), ("collated", f"VARCHAR COLLATE {collation}")):
            connection.execute(f"CREATE TABLE {name} (c {kind}, y {kind})")
            connection.execute(f"INSERT INTO {name} SELECT * FROM given")
            got = DuckDBSource(connection=connection, table=name).count([Cells("c")], schema).counts[Cells("c")]
            assert got.tolist() == expected


def test_types_of_other_engines_are_read_as_those_of_python(tmp_path):
    """Decimals, huge integers and identifiers, from a file and from memory; values of other types are unlisted."""
    some = uuid.UUID(int=5)
    tenths = [decimal.Decimal(number).scaleb(-10) for number in (10**10, 25 * 10**9, 3, -(10**37), 10**37 + 7)]
    table = pa.table({"c": pa.array([some.bytes] * 5, pa.uuid()), "n": pa.array(tenths, pa.decimal128(38, 10)),
                      "l": pa.array([[1], [], None, [2, 3], [4]]), "b": pa.array([b"1", b"\xff", None, b"", b"a"]),
                      "y": ["no"] * 5})  # fmt: skip
    pq.write_table(table, tmp_path / "t.parquet")
    columns = [Categorical("c", [str(some)]), Numeric("n", 0, 3), Categorical("l", ["a", "z"], missing="z")]
    schema = Schema([*columns, Categorical("b", ["a", "1", "z"], missing="z")], "y", ["no"])
    cells = [Cells(name) for name in schema.names]
    expected = MemorySource(table).count(cells, schema).counts
    got = DuckDBSource(tmp_path / "t.parquet").count(cells, schema).counts
    for each in cells:
        np.testing.assert_array_equal(got[each], expected[each], err_msg=each.column)
    assert expected[Cells("c")].tolist() == [[5, 0]]
    assert expected[Cells("l")].tolist() == [[0, 1, 4]]


def test_huge_integers_are_rounded_once():
    """DuckDB's direct cast rounds twice, which gives another cell here."""
    value = 30917117824302347858
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS SELECT {value}::HUGEINT AS n, {value}::UHUGEINT AS u, 'no' AS y")
    assert connection.execute("SELECT CAST(n AS DOUBLE) FROM t").fetchall() != [(float(value),)]
    edge = math.nextafter(float(value), math.inf)
    bounds = float(value) - 4 * (edge - float(value)), float(value) + 4 * (edge - float(value))
    schema = Schema([Numeric("n", *bounds, grid=8), Numeric("u", *bounds, grid=8)], "y", ["no"])
    cells = [Cells(name, bins) for name in "nu" for bins in (None, 8)]
    expected = MemorySource({"n": [value], "u": [value], "y": ["no"]}).count(cells, schema).counts
    got = DuckDBSource(connection=connection, table="t").count(cells, schema).counts
    for each in cells:
        np.testing.assert_array_equal(got[each], expected[each])


def test_labels_that_no_text_of_an_engine_can_equal_are_no_error(tmp_path):
    pq.write_table(pa.table(COLUMNS), tmp_path / "t.parquet")
    schema = Schema(
        [Categorical("c", ["\ufffd", "a\x00b", "a"]), Numeric("n", 0, 1)], "y", ["\U0001f600", "no", "a\x00"]
    )
    cells = [Cells("c"), Cells("n")]
    expected = MemorySource(COLUMNS).count(cells, schema).counts
    got = DuckDBSource(tmp_path / "t.parquet").count(cells, schema).counts
    for each in cells:
        np.testing.assert_array_equal(got[each], expected[each])


def test_fits_and_scores_of_a_file_with_bad_text_charge_what_others_charge(tmp_path):
    spent = []
    for raw in (b"a", b"\xff"):
        table = pa.table({name: undecodable([*values, raw]) for name, values in COLUMNS.items()})
        pq.write_table(table, tmp_path / "t.parquet")
        ledger = Ledger(10)
        model = NaiveBayes(SCHEMA, epsilon=1, random_state=0).fit_from(open_file(tmp_path / "t.parquet"), ledger=ledger)
        FeatureSelector(SCHEMA, epsilon=1, random_state=0).fit_from(open_file(tmp_path / "t.parquet"), ledger=ledger)
        evaluation.evaluate_file(model, tmp_path / "t.parquet", epsilon=1, ledger=ledger)
        spent.append(ledger.entries)
    assert spent[0] == spent[1]
    assert len(spent[0]) >= 3


def test_kept_columns_of_a_prediction_leave_out_what_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    NaiveBayes(SCHEMA, epsilon=1).fit(COLUMNS).save("m.json")
    table = pa.table({name: undecodable([*values, b"\xff"]) for name, values in COLUMNS.items()})
    pq.write_table(table, "t.parquet")
    for options in ([], ["--json"]):
        result = CliRunner().invoke(app, ["predict", "m.json", "t.parquet", "--keep", "c", *options])
        assert result.exit_code == 0, result.output
        assert "zzz" in result.stdout
        assert "b''" not in result.stdout


def test_a_missing_column_is_named_before_anything_is_charged(tmp_path):
    pq.write_table(pa.table({"c": ["a"], "n": ["1"]}), tmp_path / "t.parquet")
    ledger = Ledger(1)
    with pytest.raises(DataError, match="column 'y' of the schema is missing"):
        NaiveBayes(SCHEMA).fit_from(DuckDBSource(tmp_path / "t.parquet"), ledger=ledger)
    assert ledger.spent == 0


def test_nothing_is_written_beside_the_data():
    """DuckDB would spill into a folder of the working directory."""
    assert connect_duckdb().execute("SELECT current_setting('temp_directory')").fetchone() == ("",)


# Types that an engine may fail to read are refused if the schema has the column, and not read if it does not.


def _hostile_columns():
    """By type: a good value, and one that DuckDB fails to read, as Arrow arrays of one value each."""
    far = 2**62
    return {
        "json": [pa.array([text], pa.json_(pa.string())) for text in ('{"a": 1}', '{"a"')],
        "seconds": [pa.array([value], pa.timestamp("s")) for value in (0, 2**53)],
        "milliseconds": [pa.array([value], pa.timestamp("ms")) for value in (0, far)],
        "zoned": [pa.array([value], pa.timestamp("ms", "UTC")) for value in (0, far)],
        "time": [pa.array([value], pa.int32()).view(pa.time32("ms")) for value in (0, 90_000_000)],
        "microseconds": [pa.array([value], pa.int64()).view(pa.time64("us")) for value in (0, far)],
        "nested": [pa.array([[value]], pa.list_(pa.timestamp("s"))) for value in (0, 2**53)],
    }


SMALL = Schema([Categorical("c", ["a", "b"])], "y", ["n", "p"], ignore=["other"], adjacency="replace-one", records=40)


def _written(tmp_path, kind, bad, *, name="other", undecodable_text=False):
    """Forty records, the middle one with the good or the bad value."""
    good, worse = _hostile_columns()[kind]
    column = pa.chunked_array([good] * 20 + [worse if bad else good] + [good] * 19)
    labels = pa.array([b"n"] * 39 + [b"\xff" if undecodable_text else b"p"], pa.binary()).view(pa.string())
    columns = {"c": pa.array(["a", "b"] * 20), "y": labels, "other": column}
    if name == "c":
        columns = {"c": column, "y": labels}
    path = tmp_path / f"{kind}-{bad}-{name}-{undecodable_text}.parquet"
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("text", [False, True], ids=["text", "undecodable"])
@pytest.mark.parametrize("kind", _hostile_columns())
def test_a_column_that_is_not_asked_for_is_not_read(kind, text, tmp_path):
    """One record whose ignored value cannot be read makes nothing fail: training, scoring, perturbing."""
    model = NaiveBayes(SMALL, random_state=0).fit({"c": ["a", "b"] * 20}, ["n", "p"] * 20)
    model.save(tmp_path / "m.json")
    model = load(tmp_path / "m.json")
    results = []
    for bad in (False, True):
        path = _written(tmp_path, kind, bad, undecodable_text=text)
        fitted = NaiveBayes(SMALL, random_state=0).fit_from(open_file(path))
        tree = DecisionTree(SMALL, random_state=0).fit_from(open_file(path))
        score = evaluation.evaluate_file(model, path, random_state=0)
        perturbation = LocalPerturbation(SMALL, random_state=0)
        blocks = list(perturbation.resample_blocks(files.read_blocks(path, names=SMALL.all_names)))
        results.append((fitted.noisy_.to_dict(), tree.noisy_.to_dict(), score.right, repr(blocks)))
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", _hostile_columns())
def test_a_column_that_may_fail_is_refused_by_its_type(kind, tmp_path):
    narrow = SMALL.replace(ignore=())
    messages = set()
    for bad in (False, True):
        ledger = Ledger(1)
        with pytest.raises(DataError, match="dates or times") as caught:
            NaiveBayes(narrow).fit_from(open_file(_written(tmp_path, kind, bad, name="c")), ledger=ledger)
        messages.add(str(caught.value))
        assert ledger.entries == []
    assert len(messages) == 1


def test_views_of_guessed_types_are_refused(tmp_path):
    """One added record would change how all others are read."""
    texts = {"two": "a,yes\nb,no\n" * 100, "three": "a,yes\nb,no\n" * 100 + "a,maybe\n"}
    schema = Schema([Categorical("c", ["a", "b"])], "y", ["yes", "no"])
    messages = set()
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text("c,y\n" + text, encoding="utf-8")
        path = tmp_path / f"{name}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE VIEW inner_view AS SELECT * FROM read_csv('{tmp_path / name}.csv')")
            connection.execute("CREATE VIEW t AS SELECT * FROM inner_view WHERE c IS NOT NULL")
            connection.execute("CREATE TABLE real AS SELECT 'a' AS c, 'yes' AS y")
            connection.execute("CREATE VIEW fine AS SELECT * FROM real")
        ledger = Ledger(1)
        with pytest.raises(FileError, match="guesses its types") as caught:
            NaiveBayes(schema).fit_from(open_file(path, "t"), ledger=ledger)
        messages.add(str(caught.value))
        assert ledger.entries == []
        assert NaiveBayes(schema).fit_from(open_file(path, "fine")).guarantee_.holds
    assert len(messages) == 1


def test_a_view_of_a_pandas_frame_is_refused_too():
    connection = duckdb.connect()
    frame = pd.DataFrame({"c": pd.Series(["a", 1], dtype=object), "y": ["n", "p"]})
    connection.register("frame", frame)
    connection.execute("CREATE TEMP VIEW outer_view AS SELECT * FROM frame")
    for name in ("frame", "outer_view"):
        with pytest.raises(FileError, match="guesses its types"):
            DuckDBSource(connection=connection, table=name).check(SMALL)


def test_a_name_with_a_dot_that_two_tables_have_is_refused(tmp_path):
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA a")
        for name in ("a.b", 'main."a.b"'):
            connection.execute(f"CREATE TABLE {name} AS SELECT 'a' AS c, 'n' AS y")
    with pytest.raises(FileError, match="several tables"):
        DuckDBSource(path, table="a.b").check(SMALL)


def test_two_columns_of_one_name_are_refused(tmp_path):
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array(["n"])], ["c", "c", "y"])
    pq.write_table(twice, tmp_path / "t.parquet")
    for source in (FileSource(tmp_path / "t.parquet"), open_file(tmp_path / "t.parquet")):
        with pytest.raises(FileError, match="two columns with the same name"):
            source.check(SMALL)


def test_a_value_that_looks_like_an_interruption_is_none():
    connection = duckdb.connect()
    value = "'INTERRUPT Error: Interrupted!'"
    connection.execute(f"CREATE TABLE t AS SELECT {value} AS c, 1.0 AS n, 'no' AS y FROM range(9)")
    connection.execute("CREATE VIEW v AS SELECT CASE WHEN n < 2 THEN error(c) ELSE c END AS c, n, y FROM t")
    source = DuckDBSource(connection, table="v")
    with pytest.raises(FileError) as caught:
        source.count(CELLS, SCHEMA)
    assert "Interrupted" not in str(caught.value)


def test_a_csv_file_is_read_in_the_dialect_of_the_schema(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe;y\n1,5;no\n2,5;yes\n".encode("latin-1"))
    schema = Schema([Numeric("größe", 0, 3)], "y", ["no", "yes"], dialect=Dialect(decimal=",", encoding="latin-1"))
    declared = as_declared(DuckDBSource(path), schema)
    assert declared.columns() == ["größe", "y"]
    (block,) = declared.values(["größe"], ["größe"])
    assert block["größe"].tolist() == [1.5, 2.5]
    assert DuckDBSource(path).count([Cells("größe", 3)], schema).counts[Cells("größe", 3)].tolist() == [
        [0, 1, 0],
        [0, 0, 1],
    ]
