"""Every source gives the same integers: memory, CSV, Parquet and a DuckDB table, on very untidy data."""

import csv
import decimal
import math
import os
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema
from discreet.errors import DataError, DiscreetError, FileError, MissingExtra
from discreet.queries.tables import ClassCounts, Counts, SoftCounts, Total
from discreet.sources.arrow import ArrowSource
from discreet.sources.duckdb import DuckDBSource
from discreet.sources.file import open_file
from discreet.sources.memory import MemorySource
from support.agreement import (
    NUMBERS,
    QUICK,
    TEXTS,
    VALUES,
    answers,
    assert_agree,
    floats,
    labels_of,
    schema_of,
    texts,
)
from support.records import draw_records


def engines(table, folder):
    """The same typed table in memory, in Parquet files, as Arrow batches, in a DuckDB file and an open connection."""
    folder = Path(folder)
    pq.write_table(table, folder / "t.parquet")
    (folder / "parts").mkdir(exist_ok=True)
    for place, rows in enumerate((table.slice(0, 7), table.slice(7))):
        pq.write_table(rows, folder / "parts" / f"{place}.parquet", row_group_size=5, use_dictionary=place == 0)
    open_connection = duckdb.connect()
    open_connection.register("view", table)
    open_connection.execute('CREATE TABLE "my table" AS SELECT * FROM view')
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("view", table)
        connection.execute('CREATE TABLE "my table" AS SELECT * FROM view')
    return {
        "memory": MemorySource(table),
        "records": MemorySource(table.to_pylist()),
        "parquet": DuckDBSource(folder / "t.parquet"),
        "parquet files": open_file(folder / "parts"),
        "arrow": ArrowSource(table),
        "arrow in small batches": ArrowSource(lambda: table.to_reader(max_chunksize=3)),
        "duckdb file": DuckDBSource(folder / "t.duckdb", table="my table"),
        "duckdb connection": DuckDBSource(connection=open_connection, table="my table"),
        "duckdb view": DuckDBSource(connection=open_connection, table="view"),
    }


def as_csv(columns, path, delimiter=",", quoting=csv.QUOTE_MINIMAL):
    """A CSV file of texts, and the same texts in memory."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n", quoting=quoting)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return {"memory": MemorySource(columns_of_objects(columns)), "csv": DuckDBSource(path)}


def columns_of_objects(columns):
    return {name: np.array(list(values), dtype=object) for name, values in columns.items()}


def cycle(values, rows, step):
    return [values[(row * step) % len(values)] for row in range(rows)]


TYPED = {
    "text": pa.array(TEXTS, pa.string()),
    "large text": pa.array(TEXTS, pa.large_string()),
    "words": pa.array(TEXTS, pa.string()).dictionary_encode(),
    "double": pa.array(NUMBERS, pa.float64()),
    "float": pa.array([None if n is None else np.float32(min(max(n, -3e38), 3e38)) for n in NUMBERS], pa.float32()),
    "bool": pa.array([True, False, None, True]),
    "int8": pa.array([-128, -1, 0, 1, 2, 3, 127, None], pa.int8()),
    "int64": pa.array([-(2**63), -(2**53) - 1, -1, 0, 1, 3, 10**16, 2**53 + 1, 2**63 - 1], pa.int64()),
    "int64 null": pa.array([0, 1, None, 10**6], pa.int64()),
    "uint64": pa.array([0, 1, 2**53 + 1, 2**64 - 1], pa.uint64()),
    "uint16": pa.array([0, 1, 65535, None], pa.uint16()),
    "decimal": pa.array([decimal.Decimal(d) for d in ("1.00", "2.50", "0.30", "-1.00", "0.00", "99.99")] + [None]),
    "bytes": pa.array([b"a", b"1", None], pa.binary()),
    "null": pa.nulls(4),
}  # fmt: skip


def typed_table(rows=None):
    rows = rows if rows is not None else 3 * len(TEXTS)
    return {
        name: values.take(pa.array([row % len(values) for row in range(rows)], pa.int64()))
        for name, values in TYPED.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [True, False], ids=["as numbers", "as categories"])
@pytest.mark.parametrize(
    "target",
    [name if name in ("text", "double") else pytest.param(name, marks=pytest.mark.slow) for name in TYPED],
)
def test_typed_columns_agree(tmp_path, numbers, target):
    every = target in ("text", "double")
    names = list(TYPED) if every else list(TYPED)[:5]  # of the others the labels are new: no cell depends on their type
    columns = {name: values for name, values in typed_table().items() if name in (*names, target)}
    shuffled = np.random.default_rng(0).permutation(3 * len(TEXTS))
    columns["label"] = columns[target].take(pa.array(shuffled))
    columns = {name: columns[name] for name in (*names, "label")}
    schema = schema_of(names, "label", numbers=numbers)
    assert_agree(engines(pa.table(columns), tmp_path), schema, bins=(1, 3, 255, 256) if every else (3,))


@pytest.mark.parametrize("numbers", [True, False], ids=["as numbers", "as categories"])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_csv_agrees(tmp_path, numbers, delimiter):
    rows = 4 * len(TEXTS)
    columns = {"one": cycle(TEXTS, rows, 1), 'two "2"': cycle(TEXTS, rows, 5), "the label": cycle(TEXTS, rows, 7)}
    schema = schema_of(["one", 'two "2"'], "the label", numbers=numbers)
    suffix = "csv" if delimiter == "," else "tsv"
    assert_agree(as_csv(columns, tmp_path / f"t.{suffix}", delimiter), schema)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_agree(tmp_path, rows):
    schema = schema_of(["text", "double", "bool", "null"], "words")
    columns = {name: values for name, values in typed_table(rows).items() if name in (*schema.names, "words")}
    assert_agree(engines(pa.table(columns), tmp_path), schema)
    texts = {"one": ["1.5", "a"][:rows], "two": ["a", ""][:rows], "y": ["a", "?"][:rows]}
    assert_agree(as_csv(texts, tmp_path / "few.csv"), schema_of(["one", "two"], "y"))


@pytest.mark.parametrize(
    "classes", [["True", "true"], ["true", "0"], [True, False], [1, 0], ["no", "yes"], ["1", "False"]]
)
@pytest.mark.parametrize("values", [[True, False, None], [True, True, True]])
def test_booleans_agree_and_are_counted_once(tmp_path, classes, values):
    table = pa.table({"c": values, "x": values, "y": values})
    schema = Schema([Categorical("c", classes), Numeric("x", 0, 1, grid=2)], "y", classes)
    sources = engines(table, tmp_path)
    assert_agree(sources, schema)
    assert answers(sources["parquet"], schema)[Total()].item() <= len(values)


@pytest.mark.parametrize(
    "name",
    ['say "hi"', "it's", "two words", "cell", "block", "SELECT", "a;--", "ünï", "1", "a.b", "rowid", "x'); --", "%s"],
)
def test_any_column_name_agrees(tmp_path, name):
    number, label = f"{name} number", f"{name} label"
    table = pa.table({name: ["a", "b", None], number: [1.0, 2.0, math.nan], label: ["a", "it's", "z"]})
    schema = Schema([Categorical(name, ["a", "b"]), Numeric(number, 0, 3)], label, ["a", "it's"])
    assert_agree(engines(table, tmp_path), schema)
    columns = {name: ["a", "b"], number: ["1", "x"], label: ["a", "z"]}
    assert_agree(as_csv(columns, tmp_path / "names.csv"), schema)


def test_missing_numbers_of_a_parquet_file_with_statistics_are_found(tmp_path):
    """DuckDB takes isnan for false where the file states bounds of the column, which leave NaN out."""
    schema = Schema([Numeric("x", 0, 4), Categorical("c", [1, 2, 3], missing=3)], "y", ["a", "b"])
    for place, others in enumerate(
        ([1.0, 2.0], [1.0], [1.0, 1.0, 1.0], [])
    ):  # if these are all equal, DuckDB takes the column for a constant
        for kind in (pa.float64(), pa.float32()):
            values = pa.array([*others, *[math.nan] * 50], kind)
            table = pa.table({"x": values, "c": values, "y": ["a"] * len(values)})
            folder = tmp_path / f"{place}{kind}"
            folder.mkdir()
            sources = engines(table, folder)
            connection = duckdb.connect()
            connection.execute(f"CREATE VIEW v AS SELECT * FROM read_parquet('{folder / 't.parquet'}')")
            assert_agree({**sources, "view of parquet": DuckDBSource(connection=connection, table="v")}, schema)
            assert connection.execute("SELECT current_setting('disabled_optimizers')").fetchone() == ("",)


def test_types_that_only_duckdb_has_are_read(tmp_path):
    connection = duckdb.connect()
    connection.execute(
        """CREATE TABLE t AS SELECT '550e8400-e29b-41d4-a716-446655440000'::UUID AS id, 1::HUGEINT AS h,
        2::UHUGEINT AS u, 'a' AS v, 'a'::BLOB AS b, [1, 2] AS l, {'a': 1} AS s, '{"a": 1}'::JSON AS j, 'a' AS y,
        NULL AS n, MAP {'a': 1} AS m"""
    )
    uuid = "550e8400-e29b-41d4-a716-446655440000"
    names = ["id", "h", "u", "v", "b", "l", "s", "j", "n", "m"]
    source = DuckDBSource(connection=connection, table="t")
    as_words = Schema([Categorical(name, [uuid, "a", 1, 2]) for name in names], "y", ["a"])
    got = {query.column: answers(source, as_words)[query].tolist() for query in map(Counts, names)}
    assert got["id"] == [[1, 0, 0, 0, 0]]
    assert got["v"] == [[0, 1, 0, 0, 0]]
    assert (got["h"], got["u"]) == ([[0, 0, 1, 0, 0]], [[0, 0, 0, 1, 0]])
    assert all(got[name] == [[0, 0, 0, 0, 1]] for name in ("b", "l", "s", "j", "n", "m"))
    as_numbers = Schema([Numeric(name, 0, 4, fill=4) for name in names], "y", ["a"])
    answered = answers(source, as_numbers)
    assert {name: int(answered[Counts(name, 3)].argmax()) for name in ("h", "u", "id", "b", "l")} == {
        "h": 0, "u": 1, "id": 2, "b": 2, "l": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        b'a,b,y\n"two\nlines",1,no\nx,2,yes\n',
        b'a,b,y\nx"y,1,no\nx,2,yes\n',
        b"a,b,y\r\nx,1,no\r\nx,2,yes\r\n",
        b"\xef\xbb\xbfa,b,y\nx,1,no\nx,2,yes",
        b"a,b,y\n\nx,1,no\n\nx,2,yes\n",
        b"a,b,y\nx,1,no\nx,2,yes,3,4\n",
        b"a,b,y\n" + b"z" * 500_000 + b",1,no\nx,2,yes\n",
    ],
)
def test_awkward_csv_files_are_read_whole(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text)
    schema = Schema([Categorical("a", ["x"]), Numeric("b", 0, 3)], "y", ["no", "yes"])
    source = DuckDBSource(tmp_path / "t.csv")
    assert source.columns() == ["a", "b", "y"]
    assert answers(source, schema)[ClassCounts()].tolist() == [[1], [1]]


def test_records_that_are_no_csv_are_no_error(tmp_path):
    """Bytes that are not UTF-8, too few fields, very long lines: which records have them is private."""
    schema = Schema([Categorical("a", ["x"]), Numeric("b", 0, 3)], "y", ["no", "yes"])
    for record in (b"\xe9,1,no", b"x", b"x,1", b",,", b"\x00,1,no", b"z" * 3_000_000 + b",1,no", b'"x,1,no'):
        (tmp_path / "t.csv").write_bytes(b"a,b,y\nx,1,no\nx,2,yes\n" + record + b"\n")
        got = answers(DuckDBSource(tmp_path / "t.csv"), schema)[ClassCounts()].ravel().tolist()
        assert got in ([1, 1], [2, 1]), record[:10]


@settings(max_examples=10, phases=QUICK)
@given(st.lists(st.tuples(texts | st.none(), floats, texts | st.none()), max_size=25))
@example([])
def test_generated_tables_agree(rows):
    table = pa.table(
        {
            "t": pa.array([row[0] for row in rows], pa.string()),
            "n": pa.array([row[1] for row in rows], pa.float64()),
            "y": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        sources = engines(table, folder)
        for numbers in (True, False):
            assert_agree(sources, schema_of(["t", "n"], "y", numbers=numbers), bins=(3, 255))


@settings(max_examples=10, phases=QUICK)
@given(st.data())
def test_any_values_under_any_schema_agree(data):
    """Types and values at random; categories and classes are some of the values."""
    kinds = data.draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=2, max_size=4))
    rows = data.draw(st.integers(0, 12))
    columns, drawn = {}, {}
    for place, kind in enumerate(kinds):
        stored, strategy = VALUES[kind]
        drawn[f"c{place}"] = data.draw(st.lists(strategy | st.none(), min_size=rows, max_size=rows))
        columns[f"c{place}"] = pa.array(drawn[f"c{place}"], stored)
    *names, target = columns
    numeric = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    described = []
    for name, is_number in zip(names, numeric, strict=True):
        labels = labels_of(drawn[name])
        fill, missing = data.draw(st.sampled_from([None, -2, 7])), data.draw(st.sampled_from([None, *labels]))
        unlisted = data.draw(st.booleans())
        described.append(
            Numeric(name, -2, 7, grid=data.draw(st.sampled_from([2, 9, 2048])), fill=fill)
            if is_number
            else Categorical(name, labels, unlisted=unlisted, missing=missing)
        )
    with tempfile.TemporaryDirectory() as folder:
        assert_agree(engines(pa.table(columns), folder), Schema(described, target, labels_of(drawn[target])))


@pytest.mark.parametrize("word", ["true", "false"])
def test_a_truth_value_is_the_same_word_in_every_engine(word):
    """Each letter of a word replaced by every character that some way of lower-casing turns into that letter."""
    near = [
        word[:place] + character + word[place + 1 :]
        for place in range(len(word))
        for character in map(chr, range(0x20, 0x20000))
        if character.isalpha() and {character.lower(), character.casefold(), character.upper().lower()} & {word[place]}
    ]
    near += [each.upper() for each in near] + [f" {each} " for each in near]
    assert any(not each.isascii() for each in near) or word == "true"
    connection = duckdb.connect()
    connection.register("t", pa.table({"c": near, "y": near}))
    schema = Schema([Categorical("c", [True, False])], "y", [False, True])
    assert_agree({"memory": MemorySource({"c": near, "y": near}),
                  "sql": DuckDBSource(connection=connection, table="t")}, schema)  # fmt: skip


@settings(max_examples=15, phases=QUICK)
@given(st.lists(st.tuples(texts, texts, texts), max_size=12))
@example([("one\rline", "\r", 'a "quoted" word'), ("\r\r", "a", "1")])
def test_generated_csv_files_agree(rows):
    """A line is a record: a field cannot hold a line feed."""
    one_line = [[text and text.replace("\n", "\v") for text in row] for row in rows]
    columns = {name: [row[place] for row in one_line] for place, name in enumerate(("t", "n", "y"))}
    with tempfile.TemporaryDirectory() as folder:
        sources = as_csv(columns, os.path.join(folder, "t.csv"), quoting=csv.QUOTE_ALL)
        for numbers in (True, False):
            assert_agree(sources, schema_of(["t", "n"], "y", numbers=numbers))


@settings(max_examples=30)
@given(
    st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 65_000), st.integers(1, 128),
    st.lists(st.floats(0, 1) | st.integers(0, 64).map(lambda part: part / 64), min_size=1, max_size=30),
)  # fmt: skip
def test_values_on_and_around_the_edges_agree(lower, width, grid, bins, places):
    column = Numeric("x", lower, lower + width, grid=grid)
    on = [lower + place * (column.upper - lower) for place in places]
    values = [value for each in on for value in (each, math.nextafter(each, math.inf), math.nextafter(each, -math.inf))]
    connection = duckdb.connect()
    connection.register("t", pa.table({"x": values, "y": ["a"] * len(values)}))
    schema = Schema([column], "y", ["a"])
    memory, sql = MemorySource({"x": values}, ["a"] * len(values)), DuckDBSource(connection=connection, table="t")
    for query in (Counts("x", bins), SoftCounts("x")):
        cells = [query.cells(schema)]
        np.testing.assert_array_equal(
            memory.count(cells, schema).counts[cells[0]], sql.count(cells, schema).counts[cells[0]]
        )


def test_a_fit_from_a_file_is_the_fit_from_memory(tmp_path, schema):
    columns = draw_records(300, seed=3)
    table = pa.table({name: pa.array(list(values), from_pandas=True) for name, values in columns.items()})
    sources = engines(table, tmp_path)
    expected = None
    for source in sources.values():
        model = NaiveBayes(schema, epsilon=2, random_state=5).fit_from(source)
        expected = expected or model.noisy_.to_dict()
        assert model.noisy_.to_dict() == expected


def test_a_table_that_changes_between_passes_is_counted_anew(schema):
    """No pass relies on what another found; each reads the table as it is at that time."""
    columns = draw_records(60, seed=3)
    table = pa.table({name: pa.array(list(values), from_pandas=True) for name, values in columns.items()})
    connection, shared = duckdb.connect(), {name: list(values) for name, values in columns.items()}
    connection.register("view", table)
    connection.execute("CREATE TABLE changing AS SELECT * FROM view")
    sources = {"memory": MemorySource(shared), "table": DuckDBSource(connection=connection, table="changing")}

    class Growing:
        """One record is added after each pass."""

        def __init__(self, name):
            self.name, self.passes = name, []

        def __getattr__(self, name):
            return getattr(sources[self.name], name)

        def count(self, cells, schema):
            counted = sources[self.name].count(cells, schema)
            self.passes.append({each: table.tolist() for each, table in counted.counts.items()})
            connection.execute("INSERT INTO changing SELECT * FROM view LIMIT 1")
            for name, values in shared.items():
                values.append(columns[name][0])
            return counted

    for name, source in sources.items():
        growing, ledger = Growing(name), Ledger(2)
        before = answers(source, schema)[Total()].item()
        model = NaiveBayes(schema.replace(records=None), epsilon=2, select=2, random_state=0)
        model.fit_from(growing, ledger=ledger)
        assert ledger.spent == 2
        assert len(growing.passes) >= 2
        assert answers(source, schema)[Total()].item() == before + len(growing.passes)
        totals = [sum(map(sum, next(iter(each.values())))) for each in growing.passes]
        assert totals == [before + place for place in range(len(totals))]


def test_extra_missing_and_dated_columns_are_refused_in_the_same_words(tmp_path):
    table = pa.table({"a": [1.0], "id": [1], "y": ["no"], "d": pa.array([0], pa.date32())})
    schema = Schema([Numeric("a", 0, 1)], "y", ["no"], ignore=["d"])
    sources = engines(table, tmp_path)
    for name, source in sources.items():
        if name == "records":
            continue
        with pytest.raises(DataError, match=r"column 'id' is not in the schema; drop it"):
            source.check(schema)
        with pytest.raises(DataError, match="column 'b' of the schema is missing"):
            source.check(Schema([Numeric("b", 0, 1)], "y", ["no"], ignore=["d", "id", "a"]))
        with pytest.raises(DataError, match=r"column 'd' holds dates or times"):
            source.check(Schema([Numeric("d", 0, 1)], "y", ["no"], ignore=["a", "id"]))
        source.check(schema.replace(ignore=["d", "id"]))


def test_files_that_cannot_be_read_are_file_errors(tmp_path):
    schema = Schema([Numeric("a", 0, 1)], "y", ["no"])
    for name in ("t.parquet", "t.duckdb"):
        (tmp_path / name).write_bytes(b"secret value 12345 " * 40)
        with pytest.raises(FileError) as caught:
            DuckDBSource(tmp_path / name, table="t").check(schema)
        assert "12345" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None or caught.value.__suppress_context__
    with pytest.raises(FileError, match=r"none\.csv.*no such file"):
        DuckDBSource(tmp_path / "none.csv").check(schema)
    (tmp_path / "t.xls").write_text("a,y\n")
    with pytest.raises(FileError, match=r"neither \.csv, \.parquet nor \.duckdb; convert"):
        DuckDBSource(tmp_path / "t.xls").check(schema)
    with duckdb.connect(str(tmp_path / "good.duckdb")) as connection:
        connection.execute("CREATE TABLE t (a DOUBLE, y VARCHAR)")
    with pytest.raises(DiscreetError):
        DuckDBSource(tmp_path / "good.duckdb", table="other").check(schema)
    assert DuckDBSource(tmp_path / "good.duckdb", table="t").columns() == ["a", "y"]


def test_a_source_shows_no_values_and_needs_its_extra(tmp_path, monkeypatch):
    assert repr(DuckDBSource(tmp_path / "t.csv")) == "DuckDBSource(values hidden)"
    pq.write_table(pa.table({"a": [1], "y": ["no"]}), tmp_path / "t.parquet")
    schema = Schema([Numeric("a", 0, 1)], "y", ["no"])
    for package, extra, source in (
        ("duckdb", "duckdb", DuckDBSource(connection=object(), table="t")),
        ("pyarrow", "parquet", DuckDBSource(tmp_path / "t.parquet")),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(__import__("sys").modules, package, None)
            with pytest.raises(MissingExtra, match=rf"pip install 'discreet\[{extra}\]'"):
                source.check(schema)
