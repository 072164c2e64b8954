"""Fits from PostgreSQL: one snapshot, the models of memory, failures that say nothing, and refusals for free."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

from discreet import (
    Auto,
    Categorical,
    DecisionTree,
    FeatureSelector,
    Ledger,
    LinearSVM,
    NaiveBayes,
    Numeric,
    OneRule,
    Schema,
)
from discreet.errors import DataError, DiscreetError, FileError, ParameterError
from discreet.models.saving import to_dict
from discreet.records.encoding import Cells
from discreet.sources import postgres as postgres_module
from discreet.sources import postgres_stream
from discreet.sources.memory import MemorySource
from discreet.sources.postgres import Opened, PostgresSource
from discreet.sources.postgres_session import LOST
from support.agreement import assert_same, fill_table
from support.postgres_server import server
from support.replay import replay, visible
from support.sums_only import SumsOnly

pytestmark = pytest.mark.engines
psycopg = pytest.importorskip("psycopg")

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"])], "outcome", ["ill", "well"])
TYPES = {"age": "float8", "sex": "text", "outcome": "text"}


def people(rows, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "age": rng.uniform(0, 100, rows).tolist(),
        "sex": rng.choice(["F", "M", "?"], rows).tolist(),
        "outcome": rng.choice(["ill", "well"], rows).tolist(),
    }


@pytest.fixture
def patients(database):
    columns = people(300)
    fill_table(database, "patients", TYPES, columns)
    return columns


def in_table(database, postgres, **options):
    return PostgresSource(postgres, table="clinic.patients", **options)


@pytest.mark.parametrize("kind", [NaiveBayes, OneRule, DecisionTree, LinearSVM, Auto])
def test_models_are_those_of_memory(database, postgres, patients, kind):
    expected = kind(SCHEMA, epsilon=1, random_state=0).fit_from(MemorySource(patients))
    for stream in (False, True):
        source = in_table(database, postgres, stream=stream)
        model = kind(SCHEMA, epsilon=1, random_state=0).fit_from(source)
        if stream or kind not in (LinearSVM, Auto):
            assert to_dict(model) == to_dict(expected)
        else:
            assert to_dict(model) == to_dict(kind(SCHEMA, epsilon=1, random_state=0).fit_from(SumsOnly(patients)))


def test_rows_do_not_leave_unless_they_may(database, postgres, patients):
    with pytest.raises(ParameterError, match="stream"):
        in_table(database, postgres).rows([Cells("age", 3)], SCHEMA)


@pytest.mark.parametrize("kind", [NaiveBayes, OneRule])
@pytest.mark.parametrize("stream", [False, True], ids=["counted there", "streamed"])
def test_record_and_replay_on_neighbours(database, postgres, kind, stream):
    base = people(40)
    for place, extra in enumerate(
        [("ill", 20.0, "F"), ("well", float("nan"), None), (None, 1e308, "x"), ("ill", None, "")]
    ):
        label, age, sex = extra
        more = {"age": [*base["age"], age], "sex": [*base["sex"], sex], "outcome": [*base["outcome"], label]}
        for name, columns in (("patients", base), ("neighbour", more)):
            fill_table(database, name, TYPES, columns)

        def fit(name, seed=place):
            source = PostgresSource(postgres, table=f"clinic.{name}", stream=stream)
            return kind(SCHEMA, epsilon=1, random_state=seed).fit_from(source)

        loss, model, twin = replay(fit, "patients", "neighbour")
        assert loss <= 1
        assert visible(model) == visible(twin)


def sessions(database):
    query = "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    for _ in range(50):
        (number,) = database.execute(query).fetchone()
        if not number:
            break
        time.sleep(0.1)
    return number


def total(source, schema=SCHEMA):
    return int(source.count([Cells("age", 1)], schema).counts[Cells("age", 1)].sum())


@pytest.mark.parametrize("stream", [False, True], ids=["counted there", "streamed"])
def test_all_passes_of_a_fit_read_one_snapshot(database, postgres, patients, stream):
    insert = "INSERT INTO patients VALUES (1, 'F', 'ill')"

    class Growing(PostgresSource):
        def count(self, cells, schema):
            database.execute(insert)
            passes.append(total(super(), schema) if Cells("age", 1) not in cells else 300)
            return super().count(cells, schema)

    passes = []
    source = Growing(postgres, table="clinic.patients", stream=stream)
    NaiveBayes(SCHEMA, epsilon=1, select=1).fit_from(source)
    assert passes == [300] * len(passes)
    assert len(passes) >= 2
    assert sessions(database) == 0, "the fit has ended the snapshot"
    with PostgresSource(postgres, table="clinic.patients", stream=stream) as source:
        NaiveBayes(SCHEMA, epsilon=1).fit_from(source)
        database.execute(insert)
        assert total(source) == 300 + len(passes), "a block of `with` keeps the snapshot for several fits"
    source.check(SCHEMA)
    assert total(source) == 301 + len(passes), "a new snapshot"
    source.finish()
    FeatureSelector(SCHEMA, epsilon=1).fit_from(source)
    assert sessions(database) == 0
    PostgresSource(postgres, table="clinic.patients", stream=stream).check(SCHEMA)
    assert sessions(database) == 0, "a source that is forgotten closes its connection"


def test_a_fit_leaves_nothing_that_was_looked_up_in_memory(database, postgres, patients):
    source = PostgresSource(postgres, table="clinic.patients")
    for _ in range(3):
        DecisionTree(SCHEMA, epsilon=1, max_depth=2).fit_from(source)
    gc.collect()
    assert not [each for each in gc.get_objects() if type(each) is Opened]


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_given_connection_is_left_as_it_was(postgres, database, patients, autocommit):
    with psycopg.connect(postgres, autocommit=autocommit) as connection:
        connection.execute("SET search_path = clinic")
        connection.commit()
        source = PostgresSource(connection=connection, table="patients")
        model = NaiveBayes(SCHEMA, epsilon=1, random_state=0).fit_from(source)
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        connection.execute("INSERT INTO patients VALUES (1, 'F', 'ill')")
        assert connection.execute("SHOW transaction_isolation").fetchone() == ("read committed",)
        assert connection.execute("SHOW extra_float_digits").fetchone() == ("1",)
        if not autocommit:
            with pytest.raises(FileError, match=r"in a transaction; end it"):
                source.check(SCHEMA)
        connection.rollback()
        streamed = PostgresSource(connection, table="clinic.patients", stream=True)
        assert total(streamed) == 300 + autocommit
        streamed.finish()
        del source, streamed
        connection.execute("SELECT 1")
    expected = NaiveBayes(SCHEMA, epsilon=1, random_state=0).fit_from(MemorySource(patients))
    assert to_dict(model) == to_dict(expected)
    with pytest.raises(FileError, match="closed"):
        PostgresSource(connection=connection, table="patients").check(SCHEMA)
    with pytest.raises(ParameterError, match="need a psycopg"):
        PostgresSource(connection=object(), table="patients").check(SCHEMA)
    with pytest.raises(ParameterError, match="either"):
        PostgresSource(table="patients")


def test_views_partitions_and_foreign_tables_agree(database, postgres, patients):
    database.execute("CREATE VIEW seen AS SELECT age, sex, outcome FROM patients")
    database.execute("CREATE MATERIALIZED VIEW kept AS SELECT * FROM seen")
    database.execute("CREATE TABLE parted (age float8, sex text, outcome text) PARTITION BY LIST (sex)")
    for place, sex in enumerate(["F", "M", "?"]):
        database.execute(f"CREATE TABLE part{place} PARTITION OF parted FOR VALUES IN ('{sex}')")
    database.execute("INSERT INTO parted SELECT * FROM patients")
    tables = ["seen", "kept", "parted"]
    if database.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'postgres_fdw'").fetchone():
        host = postgres.partition("host=")[2]
        database.execute(
            f"""CREATE EXTENSION postgres_fdw;
            CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{host}', dbname 'postgres');
            CREATE USER MAPPING FOR owner SERVER far OPTIONS (user 'owner');
            CREATE FOREIGN TABLE far (age float8, sex text, outcome text) SERVER far
            OPTIONS (schema_name 'clinic', table_name 'patients')"""
        )
        tables.append("far")
    for table in tables:
        for stream in (False, True):
            with PostgresSource(postgres, table=f"clinic.{table}", stream=stream) as source:
                assert_same(source, patients, SCHEMA, rows=stream)
    database.execute("DROP EXTENSION IF EXISTS postgres_fdw CASCADE")


def readers(source):
    """How many connections send rows."""
    return len(source._open().stream._readers)


def test_large_tables_are_read_by_two_connections_of_one_snapshot(database, postgres, monkeypatch):
    """While records are added, changed and removed, each is met once; no table stays locked."""
    monkeypatch.setattr(postgres_stream, "LARGE", 1)
    columns = people(5000)
    fill_table(database, "patients", TYPES, columns)
    database.execute("CREATE MATERIALIZED VIEW kept AS SELECT * FROM patients")
    for table in ("kept", "patients"):
        with PostgresSource(postgres, table=f"clinic.{table}", stream=True) as source:
            assert readers(source) == 2
            assert_same(source, columns, SCHEMA, rows=True)
            if table == "patients":
                database.execute("UPDATE patients SET age = 1 WHERE sex = 'F'; DELETE FROM patients WHERE sex = 'M'")
                database.execute("INSERT INTO patients SELECT * FROM patients")
            assert_same(source, columns, SCHEMA, rows=True)
            database.execute("SET lock_timeout = '100ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                database.execute(f"VACUUM FULL {table}")  # would give records other places
        assert sessions(database) == 0
    counted = total(PostgresSource(postgres, table="clinic.patients", stream=True))
    assert counted == database.execute("SELECT count(*) FROM patients").fetchone()[0] != 5000


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_tables_of_any_size_are_cut_in_two(database, postgres, monkeypatch, rows):
    monkeypatch.setattr(postgres_stream, "LARGE", 0)
    columns = people(rows)
    fill_table(database, "patients", TYPES, columns)
    with in_table(database, postgres, stream=True) as source:
        assert readers(source) == 2
        assert_same(source, columns, SCHEMA, rows=True)


def test_what_has_no_pages_of_its_own_is_read_by_one_connection(database, postgres, patients, monkeypatch):
    monkeypatch.setattr(postgres_stream, "LARGE", 0)
    database.execute("CREATE VIEW seen AS SELECT * FROM patients")
    database.execute("CREATE TABLE heirs () INHERITS (patients)")
    database.execute("CREATE TABLE parted (age float8, sex text, outcome text) PARTITION BY LIST (sex)")
    for table in ("seen", "patients", "parted"):
        with PostgresSource(postgres, table=f"clinic.{table}", stream=True) as source:
            assert readers(source) == 1
    with in_table(database, postgres, stream=True) as source:
        assert_same(source, patients, SCHEMA, rows=True)


def test_small_tables_and_old_servers_are_read_by_one_connection(database, postgres, patients, monkeypatch):
    with in_table(database, postgres, stream=True) as source:
        assert readers(source) == 1
    monkeypatch.setattr(postgres_stream, "LARGE", 0)
    monkeypatch.setattr(postgres_stream, "RANGES", 10**9)
    with in_table(database, postgres, stream=True) as source:
        assert readers(source) == 1


@pytest.mark.parametrize("limited", ["no further connection", "some columns"])
def test_who_may_not_read_by_two_connections_reads_by_one(database, postgres, patients, monkeypatch, limited):
    monkeypatch.setattr(postgres_stream, "LARGE", 0)
    few = "CONNECTION LIMIT 2" if limited == "no further connection" else ""
    columns = "" if few else "(age, sex, outcome)"
    database.execute(f"CREATE ROLE modest LOGIN {few}")
    database.execute(f"GRANT USAGE ON SCHEMA clinic TO modest; GRANT SELECT {columns} ON patients TO modest")
    address = postgres.replace("owner@", "modest@")
    try:
        with PostgresSource(address, table="clinic.patients", stream=True) as source:
            assert readers(source) == 1
            assert_same(source, patients, SCHEMA, rows=True)
        assert sessions(database) == 0
    finally:
        database.execute("DROP OWNED BY modest; DROP ROLE modest")


@pytest.mark.parametrize("killed", [0, 1])
def test_one_of_two_connections_that_is_killed_fails_closed(database, postgres, monkeypatch, killed):
    """Whichever it is, and though the other one comes to its end."""
    monkeypatch.setattr(postgres_stream, "LARGE", 0)
    fill_table(database, "patients", TYPES, people(5000))
    with in_table(database, postgres, stream=True) as source:
        source.check(SCHEMA)
        process = source._open().stream._readers[killed]._process
        assert database.execute("SELECT pg_terminate_backend(%s, 5000)", [process]).fetchone() == (True,)
        with pytest.raises(FileError) as caught:
            total(source)
    assert str(caught.value) == LOST
    assert caught.value.__context__ is None
    assert sessions(database) == 0


@pytest.mark.parametrize("stream", [False, True], ids=["counted there", "streamed"])
def test_a_view_that_fails_for_a_value_fails_with_the_same_words(database, postgres, stream):
    fill_table(database, "patients", TYPES, {"age": [1.0, 12345.5], "sex": ["F", "M"], "outcome": ["ill", "well"]})
    database.execute("CREATE VIEW bad AS SELECT 1 / (12345.5 - age) AS age, sex, outcome FROM patients")
    ledger = Ledger(1)
    with pytest.raises(FileError) as caught:
        OneRule(SCHEMA, epsilon=1).fit_from(PostgresSource(postgres, table="clinic.bad", stream=stream), ledger=ledger)
    assert str(caught.value) == LOST
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert ledger.spent > 0, "the failure could depend on a value"
    assert sessions(database) == 0


@pytest.mark.parametrize("stream", [False, True], ids=["counted there", "streamed"])
def test_a_connection_that_is_killed_in_mid_pass_fails_closed(database, postgres, patients, stream):
    """pg_terminate_backend while the pass runs: no model, no wrong count, the budget spent, no word of the cause."""
    database.execute("CREATE VIEW slow AS SELECT age + length(pg_sleep(0.05)::text) AS age, sex, outcome FROM patients")

    def kill():
        query = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
            AND state = 'active' AND query LIKE '%slow%' AND query NOT LIKE '%LIMIT 0%'"""
        with psycopg.connect(postgres, autocommit=True) as killer:
            while not killer.execute(query).fetchone()[0] and not done:
                time.sleep(0.05)

    done = []
    ledger, model = Ledger(1), OneRule(SCHEMA, epsilon=1)
    thread = threading.Thread(target=kill)
    thread.start()
    try:
        with pytest.raises(FileError) as caught:
            model.fit_from(PostgresSource(postgres, table="clinic.slow", stream=stream), ledger=ledger)
    finally:
        done.append(True)
        thread.join()
    assert str(caught.value) == LOST
    assert caught.value.__context__ is None
    assert ledger.spent > 0
    assert not hasattr(model, "noisy_")


@pytest.mark.parametrize("stream", [False, True], ids=["counted there", "streamed"])
def test_an_interrupt_cancels_the_statement_at_once(database, postgres, patients, stream):
    database.execute("CREATE VIEW slow AS SELECT age + length(pg_sleep(0.1)::text) AS age, sex, outcome FROM patients")
    source = PostgresSource(postgres, table="clinic.slow", stream=stream)
    source.check(SCHEMA)
    timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        source.count([Cells("age", 3)], SCHEMA)
    assert time.monotonic() - began < 10, "300 records would take 30 seconds"
    source.finish()
    assert sessions(database) == 0


def test_what_cannot_be_read_is_refused_for_free(database, postgres, patients, monkeypatch):
    database.execute("CREATE ROLE nobody_here LOGIN; CREATE ROLE careful LOGIN PASSWORD 'right secret'")
    ask, ledger = NaiveBayes(SCHEMA, epsilon=1), Ledger(1)
    elsewhere = postgres.replace("/tmp/", "/none/")
    other = postgres.replace("owner@", "nobody_here@")
    careful = postgres.replace("owner@", "careful:wrong%20secret@")
    cases = [
        (elsewhere, "clinic.patients", r"postgresql:///postgres cannot be reached; check host, port"),
        (postgres.replace("/postgres?", "/nothing?"), "clinic.patients", "postgresql:///nothing cannot be reached"),
        (careful, "clinic.patients", "refused the user or the password; give the user"),
        (postgres.replace("owner@", "stranger@"), "clinic.patients", "refused the user or the password"),
        ("postgresql://owner:secret@[/x", "clinic.patients", r"^postgresql://\[/x is not an address"),
        ("host=/nowhere password=secret", "clinic.patients", "^the database cannot be reached"),
        (postgres, "clinic.nothing", "there is no table or view with this name; need"),
        (postgres, "patients", "there is no table or view with this name; need"),
        (other, "clinic.patients", "the role may not read it; GRANT USAGE"),
    ]
    for address, table, words in cases:
        with pytest.raises(FileError, match=words) as caught:
            ask.fit_from(PostgresSource(address, table=table), ledger=ledger)
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None or caught.value.__suppress_context__
    database.execute(
        "GRANT USAGE ON SCHEMA clinic TO nobody_here, careful; GRANT SELECT (age, sex) ON patients TO nobody_here"
    )
    with pytest.raises(FileError, match="the role may not read it"):
        ask.fit_from(PostgresSource(other, table="clinic.patients"), ledger=ledger)
    database.execute("GRANT SELECT ON patients TO nobody_here, careful")
    database.execute("ALTER TABLE patients ADD born date")
    with pytest.raises(DataError, match="column 'born' is not in the schema"):
        ask.fit_from(PostgresSource(other, table="clinic.patients"), ledger=ledger)
    dated = SCHEMA.replace(columns=[*SCHEMA.columns, Numeric("born", 0, 1)])
    with pytest.raises(DataError, match="column 'born' holds dates or times"):
        NaiveBayes(dated, epsilon=1).fit_from(PostgresSource(other, table="clinic.patients"), ledger=ledger)
    assert ledger.spent == 0
    database.execute("ALTER TABLE patients DROP born")
    ask.fit_from(PostgresSource(other, table="clinic.patients"), ledger=ledger)
    assert ledger.spent == 1
    monkeypatch.setenv("PGPASSWORD", "right secret")
    for stream in (False, True):
        ask.fit_from(PostgresSource(postgres.replace("owner@", "careful@"), table="clinic.patients", stream=stream))
    database.execute("DROP OWNED BY nobody_here, careful; DROP ROLE nobody_here, careful")


def test_names_of_tables(database, postgres, patients):
    database.execute(
        'CREATE TABLE "Patients" AS SELECT * FROM patients LIMIT 7; CREATE TABLE "a.b ""c" AS TABLE "Patients"'
    )
    for name, rows in (
        ("clinic.patients", 300),
        ("CLINIC.PATIENTS", None),
        ("clinic.Patients", 7),
        ('clinic.a.b "c', 7),
    ):
        with PostgresSource(postgres, table=name) as source:
            if rows is None:
                with pytest.raises(FileError, match="several tables have this name"):
                    source.check(SCHEMA)
            else:
                assert total(source) == rows
                assert sorted(source.columns()) == ["age", "outcome", "sex"]
    assert repr(PostgresSource("postgresql://a:b@c/d", table="t")) == "PostgresSource(values hidden)"


def test_databases_in_other_encodings():
    """Texts that have no equivalent in UTF-8, or are of no encoding at all, are values like any other."""
    schema = Schema([Categorical("c", ["é", "a"])], "y", ["é", "b"])
    for encoding, texts, expected in (
        ("LATIN1", ["E'\\xe9'", "'a'", "E'\\x81'"], [1, 1, 1]),
        ("WIN1252", ["E'\\xe9'", "'a'", "E'\\x81'"], [1, 1, 1]),
        ("SQL_ASCII", ["E'\\xc3\\xa9'", "'a'", "E'\\xff'"], [1, 1, 1]),
    ):
        with server(encoding) as folder, psycopg.connect(f"host={folder} user=owner dbname=postgres") as connection:
            connection.execute("CREATE TABLE t (c text, y text)")
            connection.execute("SET client_encoding = 'SQL_ASCII'")
            for text in texts:
                connection.execute(f"INSERT INTO t VALUES ({text}, 'b')")
            connection.commit()
            with PostgresSource(f"postgresql://owner@/postgres?host={folder}", table="t") as source:
                source.check(schema)
                assert source.count([Cells("c")], schema).counts[Cells("c")].tolist() == [[0, 0, 0], expected], encoding
            with pytest.raises(DiscreetError, match="UTF8 only"):
                PostgresSource(f"postgresql://owner@/postgres?host={folder}", table="t", stream=True).check(schema)


@pytest.mark.parametrize("stream", [False, True])
def test_a_locked_table_is_told_without_the_words_of_the_server(database, postgres, patients, stream):
    """A stream looks at the size of the table, which waits for its lock."""
    ledger = Ledger(1)
    database.execute("ALTER ROLE owner SET lock_timeout = 300")
    with psycopg.connect(postgres) as other:
        other.execute("LOCK TABLE clinic.patients IN ACCESS EXCLUSIVE MODE")
        try:
            with pytest.raises(FileError, match="PostgreSQL cannot") as caught:
                NaiveBayes(SCHEMA, epsilon=1).fit_from(in_table(database, postgres, stream=stream), ledger=ledger)
        finally:
            database.execute("ALTER ROLE owner RESET lock_timeout")
    assert ledger.spent == 0
    assert "timeout" not in str(caught.value)


def test_a_table_that_is_dropped_while_it_is_opened_is_told(database, postgres, patients, monkeypatch):
    original = postgres_module.named

    def named(session, table):
        found = original(session, table)
        database.execute("DROP TABLE clinic.patients")
        return found

    monkeypatch.setattr(postgres_module, "named", named)
    with pytest.raises(FileError, match="PostgreSQL cannot tell the size"):
        NaiveBayes(SCHEMA, epsilon=1).fit_from(in_table(database, postgres, stream=True))


def test_an_interruption_while_readers_connect_leaves_no_connection(database, postgres, patients, monkeypatch):
    """Also if the exception, and with it the source, is kept, as notebooks do."""
    original = postgres_stream.aside

    def interrupted(work):
        original(work)
        raise KeyboardInterrupt

    monkeypatch.setattr(postgres_stream, "aside", interrupted)
    with pytest.raises(KeyboardInterrupt) as kept:
        NaiveBayes(SCHEMA, epsilon=1).fit_from(in_table(database, postgres, stream=True))
    text = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    for _ in range(50):
        (others,) = database.execute(text).fetchone()
        if not others:
            break
        time.sleep(0.1)
    assert not others
    assert kept.type is KeyboardInterrupt
