"""Trees are grown inside PostgreSQL: level by level only counts come back, and the model is that of memory."""

import math
import threading
import time
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from discreet import Categorical, DecisionTree, Ledger, Numeric, Schema
from discreet.doors import tree_folds
from discreet.doors.passage import CHANGED
from discreet.doors.splits import grow_splits
from discreet.doors.tree_plans import Greedy
from discreet.errors import DataError, FileError, ParameterError
from discreet.models.saving import to_dict
from discreet.privacy.epsilon import as_epsilon
from discreet.privacy.randomness import as_rng
from discreet.queries.trees import Split, candidates, complete_tree
from discreet.records.encoding import Cells
from discreet.sources import postgres_levels
from discreet.sources.postgres import PostgresSource
from discreet.sources.postgres_session import LOST
from discreet.sources.tree_counts import CountsAt, Grouped
from support.agreement import CATEGORIES, CLASSES, NUMBERS, WORDS, fill_table
from support.estimators import PRIVATE
from support.postgres_server import server
from support.replay import replay, visible
from support.sums_only import SumsOnly
from support.untidy import TYPED, in_arrays, in_memory, mixed_schema, types, untidy

pytestmark = pytest.mark.engines
psycopg = pytest.importorskip("psycopg")

TREES = {name: kind for name, kind in PRIVATE.items() if name.startswith("decision-tree")}
FORESTS = {name: kind for name, kind in PRIVATE.items() if name.startswith("random-forest")}


def drawn(schema, depth, seed):
    """A tree of splits on every kind of column, and the cells of all columns in groups."""
    rng = np.random.default_rng(seed)
    splits = candidates(schema, None if seed % 2 else 5)
    levels = [[splits[k] for k in rng.integers(len(splits), size=2**level)] for level in range(depth)]
    if depth > 1:
        levels[1][0] = None  # a leaf further up
    tree = complete_tree(levels)
    columns = []
    for cells in dict.fromkeys(split.cells for split in splits):
        codes = np.array([split.code for split in splits if split.cells == cells])
        columns.append(Grouped.of(cells, codes, schema))
    return tree, tuple(columns)


def assert_levels(source, columns, schema, seeds=range(6)):
    """The task has the same answer as in memory, at all places, at some of them, and without columns."""
    memory = in_memory(columns, schema)
    for seed in seeds:
        tree, groups = drawn(schema, seed % 5, seed)
        numbers = tuple(np.random.default_rng(seed).permutation(tree.leaves).tolist())
        cells = [*tree.cells, *(each.cells for each in groups)] or [Cells("text")]
        for first, places in {(0, tree.leaves), (tree.leaves // 2, 1)}:
            for asked in (groups, groups[::-2], ()):
                task = CountsAt(tree, numbers, first, places, len(schema.classes), asked)
                got, expected = source.fold(cells, schema, task), memory.fold(cells, schema, task)
                np.testing.assert_array_equal(got, expected, err_msg=str((seed, first, len(asked))))


@pytest.mark.parametrize("bounds", [{}, {"PACKED": 1, "TOGETHER": 2}, {"PACKED": 1 << 20, "FEW": 1 << 30}])
def test_levels_agree(database, postgres, monkeypatch, bounds):
    for name, value in bounds.items():
        monkeypatch.setattr(postgres_levels, name, value)
    columns = untidy(500)
    fill_table(database, "t", types(), columns)
    with PostgresSource(postgres, table="clinic.t") as source:
        source.check(mixed_schema())
        assert_levels(source, columns, mixed_schema())


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_levels_of_few_rows_agree(database, postgres, rows):
    columns = untidy(rows)
    fill_table(database, "t", types(), columns)
    with PostgresSource(postgres, table="clinic.t") as source:
        assert_levels(source, columns, mixed_schema(), seeds=range(3))


texts = st.one_of(st.sampled_from(WORDS), st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6))
floats = st.one_of(st.sampled_from(NUMBERS), st.floats(), st.floats(-1, 3), st.none())


@settings(
    max_examples=15,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(st.lists(st.tuples(texts, floats, st.none() | st.integers(-(2**63), 2**63 - 1), texts), max_size=25))
@example([])
def test_levels_of_generated_tables_agree(database, postgres, rows):
    names = ["t", "n", "i", "y"]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    fill_table(database, "t", dict(zip(names, ["text", "float8", "int8", "text"], strict=True)), columns)
    ranged = Schema([Numeric(name, -1, 3, grid=7) for name in names[:-1]], "y", CLASSES)
    listed = Schema([Categorical(name, CATEGORIES) for name in names[:-1]], "y", CLASSES)
    with PostgresSource(postgres, table="clinic.t") as source:
        for schema in (ranged, listed):
            assert_levels(source, columns, schema, seeds=(2, 3))


@pytest.mark.parametrize("name", ['say "hi"', "it's", "%s", "%", "v", "c", "c0", "s0", "y", "p", "k0", "l0", "rows"])
def test_any_column_name_agrees(database, postgres, name):
    number, label = f"{name}1", f"{name}2"
    columns = {name: ["a", "b", None], number: [1.0, 2.0, math.nan], label: ["a", "%s", "z"]}
    fill_table(database, "t", {name: "text", number: "float8", label: "text"}, columns)
    schema = Schema([Categorical(name, ["a", "b"]), Numeric(number, 0, 3)], label, ["a", "%s"])
    with PostgresSource(postgres, table="clinic.t") as source:
        assert_levels(source, columns, schema, seeds=(2, 3))


def test_texts_compare_byte_by_byte(database, postgres):
    database.execute("CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    columns = {"c": WORDS, "x": WORDS, "y": WORDS[::-1]}
    fill_table(database, "t", dict.fromkeys(columns, "text"), columns)
    for name in columns:
        database.execute(f"ALTER TABLE t ALTER {name} TYPE text COLLATE blind")
    schema = Schema([Categorical("c", CATEGORIES), Numeric("x", -1, 3)], "y", CLASSES)
    with PostgresSource(postgres, table="clinic.t") as source:
        assert_levels(source, columns, schema)


def test_words_of_other_types_agree(database, postgres):
    database.execute("CREATE TYPE mood AS ENUM ('a', 'sad', 'true'); CREATE DOMAIN short AS varchar(4)")
    uuid = "550e8400-e29b-41d4-a716-446655440000"
    words = ["a", "true", None]
    given = {"mood": [*words, "sad"], "short": [*words, "zzz"], "char(5)": [*words, "b"], "name": [*words, ""],
             "uuid": [uuid, None] * 2, "money": ["1", "2", None, "1"], "json": ["1", None, "2", "1"]}  # fmt: skip
    columns = {f"c{place}": values for place, values in enumerate(given.values())} | {"y": ["a", "true", "a", None]}
    fill_table(database, "t", dict(zip(columns, [*given, "mood"], strict=True)), columns)
    columns[f"c{list(given).index('json')}"] = [b"", None, b"", b""]
    schema = Schema(
        [Categorical(name, ["a", "true", 1, uuid], missing=1) for name in list(columns)[:-1]], "y", ["a", "true"]
    )
    with PostgresSource(postgres, table="clinic.t") as source:
        source.check(schema)
        assert_levels(source, columns, schema)


def test_other_encodings_and_unreadable_texts():
    schema = Schema([Categorical("c", ["é", "a"])], "y", ["é", "b"])
    for encoding, texts_ in (("LATIN1", ["E'\\xe9'", "'a'"]), ("SQL_ASCII", ["E'\\xc3\\xa9'", "'a'", "E'\\xff'"])):
        with server(encoding) as folder, psycopg.connect(f"host={folder} user=owner dbname=postgres") as connection:
            connection.execute("CREATE TABLE t (c text, y text)")
            connection.execute("SET client_encoding = 'SQL_ASCII'")
            label = texts_[0]
            connection.execute("INSERT INTO t VALUES " + ", ".join(f"({text}, {label})" for text in texts_))
            connection.commit()
            task = CountsAt(complete_tree([[Split("c", None, 0)]]), (0, 1), 0, 2, 2, ())
            with PostgresSource(f"host={folder} user=owner dbname=postgres", table="t") as source:
                counts = source.fold([Cells("c")], schema, task)
            assert counts.tolist() == [1, 0, len(texts_) - 1, 0]


@pytest.mark.parametrize("at_once", [tree_folds.AT_ONCE, 3000])
@pytest.mark.parametrize("name", TREES)
def test_trees_are_those_of_memory(database, postgres, monkeypatch, name, at_once):
    columns, schema = untidy(800, 1), mixed_schema()
    fill_table(database, "t", types(), columns)
    expected = TREES[name](schema, epsilon=5, random_state=3).fit_from(in_memory(columns, schema))
    monkeypatch.setattr(tree_folds, "AT_ONCE", at_once)
    model = TREES[name](schema, epsilon=5, random_state=3).fit_from(PostgresSource(postgres, table="clinic.t"))
    assert to_dict(model) == to_dict(expected)


@pytest.mark.parametrize("records", [200, 10**6])
@pytest.mark.parametrize("name", FORESTS)
def test_forests_are_those_of_sums_in_memory(database, postgres, name, records):
    columns, schema = untidy(300, 1), mixed_schema(records=records)
    fill_table(database, "t", types(), columns)
    model, expected = (
        FORESTS[name](schema, epsilon=5, random_state=3).fit_from(each)
        for each in (PostgresSource(postgres, table="clinic.t"), SumsOnly(in_arrays(columns, schema)))
    )
    assert to_dict(model) == to_dict(expected)


def test_splits_are_those_of_memory(database, postgres):
    columns, schema = untidy(400, 2), mixed_schema()
    fill_table(database, "t", types(), columns)
    plan = Greedy(candidates(schema, None), "gini", (as_epsilon(3),) * 3, None)
    with PostgresSource(postgres, table="clinic.t") as source:
        got = grow_splits(source, schema, plan, Ledger(9), as_rng(4))
    assert got == grow_splits(in_memory(columns, schema), schema, plan, Ledger(9), as_rng(4))


@pytest.mark.parametrize(
    "name", ["decision-tree greedy", "decision-tree labelled", "decision-tree stump", "decision-tree random"]
)
def test_record_and_replay_on_neighbours(database, postgres, name):
    base, schema = untidy(40, 5), mixed_schema()
    for seed in range(3):
        extra = untidy(1, 100 + seed)
        more = {column: [*base[column], *extra[column]] for column in base}
        for table, columns in (("t", base), ("neighbour", more)):
            fill_table(database, table, types(), columns)

        def fit(table, seed=seed):
            source = PostgresSource(postgres, table=f"clinic.{table}")
            return TREES[name](schema, epsilon=1, random_state=seed).fit_from(source)

        loss, model, twin = replay(fit, "t", "neighbour")
        assert loss <= 1 + 1e-9
        assert visible(model) == visible(twin)


GREEDY = partial(DecisionTree, structure="greedy", max_depth=3, criterion="gini", random_state=0)


def test_all_levels_read_one_snapshot(database, postgres):
    """Records that are added between two levels are not seen; a new snapshot between two levels ends the fit."""
    columns, schema = untidy(200, 6), mixed_schema()
    fill_table(database, "t", types(), columns)

    class Growing(PostgresSource):
        def fold(self, cells, schema, task):
            database.execute("INSERT INTO t (text, label) VALUES ('a', 'a')")
            return super().fold(cells, schema, task)

    class Hasty(PostgresSource):
        def fold(self, cells, schema, task):
            folded = super().fold(cells, schema, task)
            self.finish()
            return folded

    expected = GREEDY(schema, epsilon=4).fit_from(in_memory(columns, schema))
    assert to_dict(GREEDY(schema, epsilon=4).fit_from(Growing(postgres, table="clinic.t"))) == to_dict(expected)
    ledger = Ledger(4)
    with pytest.raises(DataError) as caught:
        GREEDY(schema, epsilon=4).fit_from(Hasty(postgres, table="clinic.t"), ledger=ledger)
    assert str(caught.value) == CHANGED
    assert ledger.spent == 4


UNSTEADY = [
    "SELECT a, CASE WHEN random() < 0.5 THEN b ELSE 'n' END AS b FROM t",
    "SELECT a + floor(random() * 0)::int AS a, b FROM t",
    "SELECT a, b FROM t LIMIT 3",
    "SELECT a, b FROM t OFFSET 1",
    "SELECT a, b FROM t TABLESAMPLE bernoulli (50)",
    "SELECT * FROM (SELECT a, b FROM t WHERE a > clock_timestamp()::text::date - now()::date) AS inner_",
    "SELECT a, b FROM other",
    "SELECT a, b FROM t WHERE a IN (SELECT a FROM other)",
]
STEADY = [
    "SELECT a + extract(year FROM age(now()))::int * 0 AS a, upper(lower(b)) AS b FROM t",
    "SELECT a, max(b) AS b FROM t GROUP BY a",
    "SELECT a, b FROM kept",
]


def test_what_is_not_steady_is_refused_before_the_charge(database, postgres):
    database.execute("CREATE TABLE t (a int, b text)")
    database.execute("CREATE VIEW other AS SELECT a, b || left(random()::text, 0) AS b FROM t")
    database.execute("CREATE MATERIALIZED VIEW kept AS SELECT * FROM other LIMIT 5")
    schema, ledger = Schema([Numeric("a", 0, 9)], "b", ["y", "n"], records=10), Ledger(9)
    for text in [*UNSTEADY, *STEADY]:
        database.execute(f"CREATE VIEW seen AS {text}")
        source = PostgresSource(postgres, table="clinic.seen")
        if text in STEADY:
            DecisionTree(schema, epsilon=1).fit_from(source)
        else:
            with pytest.raises(ParameterError, match="may give other records each time; read a table"):
                DecisionTree(schema, epsilon=1).fit_from(source, ledger=ledger)
        database.execute("DROP VIEW seen")
    database.execute("CREATE TABLE guarded (a int, b text)")
    database.execute("CREATE POLICY seldom ON guarded USING (random() < 0.5)")
    tables = ["guarded"]
    if database.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'file_fdw'").fetchone():
        database.execute(
            """CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
            CREATE TABLE parted (a int, b text) PARTITION BY LIST (a);
            CREATE FOREIGN TABLE part PARTITION OF parted FOR VALUES IN (1) SERVER files OPTIONS (filename '/none')"""
        )
        tables += ["parted", "part"]
    for table in tables:
        with pytest.raises(ParameterError, match="may give other records each time"):
            DecisionTree(schema, epsilon=1).fit_from(PostgresSource(postgres, table=f"clinic.{table}"), ledger=ledger)
    database.execute("DROP EXTENSION IF EXISTS file_fdw CASCADE")
    assert ledger.spent == 0


@pytest.mark.parametrize(
    "slept", ["SELECT GROUPING%", "%slow% GROUP BY 1"], ids=["at a level", "while texts are looked up"]
)
def test_a_connection_that_is_killed_at_a_level_fails_closed(database, postgres, slept):
    fill_table(database, "t", types(), untidy(100))
    others = ", ".join(name for name in TYPED if name not in ("large", "word"))
    database.execute(
        """CREATE FUNCTION nap(x int8) RETURNS int8 STABLE LANGUAGE plpgsql AS
        $$BEGIN PERFORM pg_sleep(0.05); RETURN coalesce(x, 0); END$$"""
    )
    database.execute(f"CREATE VIEW slow AS SELECT {others}, word || left(nap(large)::text, 0) AS word, large FROM t")

    def kill():
        query = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
            AND state = 'active' AND query LIKE %s"""
        with psycopg.connect(postgres, autocommit=True) as killer:
            while not killer.execute(query, [slept]).fetchone()[0] and not done:
                time.sleep(0.02)

    done, ledger = [], Ledger(4)
    thread = threading.Thread(target=kill)
    thread.start()
    try:
        with pytest.raises(FileError) as caught:
            GREEDY(mixed_schema(), epsilon=4).fit_from(PostgresSource(postgres, table="clinic.slow"), ledger=ledger)
    finally:
        done.append(True)
        thread.join()
    assert str(caught.value) == LOST
    assert caught.value.__context__ is None
    assert ledger.spent == 4


def test_a_view_that_fails_at_a_level_fails_with_the_same_words(database, postgres):
    columns = untidy(50)
    fill_table(database, "t", types(), columns)
    others = ", ".join(name for name in TYPED if name != "large")
    database.execute(f"CREATE VIEW bad AS SELECT {others}, 1 / (large - 3) AS large FROM t")
    ledger = Ledger(4)
    with pytest.raises(FileError) as caught:
        GREEDY(mixed_schema(), epsilon=4).fit_from(PostgresSource(postgres, table="clinic.bad"), ledger=ledger)
    assert str(caught.value) == LOST
    assert caught.value.__context__ is None
    assert ledger.spent > 0
