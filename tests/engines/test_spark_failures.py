"""Lost executors change no count; what cannot be read is refused in one line that quotes nothing, before the charge."""

import os
import signal
import time
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema
from discreet.errors import DataError, FileError, MissingExtra, ParameterError
from discreet.records.encoding import Cells
from discreet.sources.fingerprints import Fingerprinted
from discreet.sources.memory import MemorySource
from discreet.sources.spark import SparkSource
from support import spark
from support.agreeing_sources import Recounted

CANARY = "CANARY-7731"
SCHEMA = Schema([Numeric("x", 0, 100), Categorical("c", ["a", "b"])], "y", ["no", "yes"])
CELLS = [Cells("x", 16), Cells("c")]
ROWS = 40_000


def table():
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "x": rng.normal(50, 30, ROWS),
            "c": rng.choice(["a", "b", CANARY], ROWS),
            "y": rng.choice(["no", "yes", "?"], ROWS),
        }
    )


@pytest.fixture(scope="module")
def cluster(workers_python):
    """Two executors in processes of their own, which can be killed one by one."""
    with spark.classic("local-cluster[2,1,1024]") as started:
        yield started


def killing(marks, times):
    """A function for mapInArrow that passes batches on, and kills its executor in the midst of some partitions."""

    def passed_on(batches):
        import os
        import signal
        import time
        from pathlib import Path

        for place, batch in enumerate(batches):
            yield batch
            taken = len(list(Path(marks).iterdir()))
            if place == 1 and taken < times:
                (Path(marks) / str(os.getpid())).touch()
                daemon = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8")
                executor = int(daemon.rpartition(")")[2].split()[1])
                os.kill(executor, signal.SIGKILL)
                time.sleep(30)

    return passed_on


def failing_frame(session, marks, times):
    """The table, whose computation kills executors this many times."""
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    data = session.createDataFrame(table()).repartition(3)
    return data.mapInArrow(killing(str(marks), times), data.schema)


def test_a_killed_executor_changes_no_count(cluster, tmp_path):
    source = SparkSource(failing_frame(cluster, tmp_path, times=1))
    source.check(SCHEMA)
    counted = source.count(CELLS, SCHEMA).counts
    assert len(list(tmp_path.iterdir())) == 1
    expected = MemorySource(table()).count(CELLS, SCHEMA).counts
    for each in CELLS:
        np.testing.assert_array_equal(counted[each], expected[each])


def test_a_killed_executor_changes_no_sum_nor_what_is_kept(cluster, tmp_path):
    """One executor dies while codes are made and kept, another between two passes over them."""
    task = Fingerprinted(Recounted(tuple(CELLS), SCHEMA))
    expected = MemorySource(table()).fold(CELLS, SCHEMA, task)
    source = SparkSource(failing_frame(cluster, tmp_path, times=1))
    source.check(SCHEMA)
    np.testing.assert_array_equal(source.fold(CELLS, SCHEMA, task), expected)
    assert len(list(tmp_path.iterdir())) == 1
    kill_an_executor(cluster)
    np.testing.assert_array_equal(source.fold(CELLS, SCHEMA, task), expected)
    counted = source.count(CELLS, SCHEMA).counts
    assert [int(counted[each].sum()) for each in CELLS] == [int((expected_labels() < 2).sum())] * 2
    source.close()
    np.testing.assert_array_equal(source.fold(CELLS, SCHEMA, task), expected)


def expected_labels():
    return np.array([{"no": 0, "yes": 1}.get(label, 2) for label in table()["y"].to_pylist()])


def kill_an_executor(session):
    def parent(batches):
        import os
        from pathlib import Path

        for _ in batches:
            pass
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8")
        yield pa.RecordBatch.from_pydict({"pid": [int(daemon.rpartition(")")[2].split()[1])]})

    (row,) = session.range(0, 1, 1, 1).mapInArrow(parent, "pid long").collect()
    os.kill(row.pid, signal.SIGKILL)
    time.sleep(1)


def test_executors_that_always_die_end_the_fit(cluster, tmp_path):
    """It fails closed: charged, and without a word about the cause."""
    ledger = Ledger(2)
    source = SparkSource(failing_frame(cluster, tmp_path, times=100))
    with pytest.raises(FileError, match="could not be read by Spark to its end") as caught:
        NaiveBayes(SCHEMA, epsilon=1, random_state=0).fit_from(source, ledger=ledger)
    assert ledger.spent == Fraction(1)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_failure_quotes_no_value(local):
    local.createDataFrame(table()).createOrReplaceTempView("patients")
    failing = local.sql(f"SELECT CAST(raise_error('{CANARY}') AS DOUBLE) AS x, c, y FROM patients")
    source = SparkSource(failing)
    source.check(SCHEMA)
    for run in (lambda: source.count(CELLS, SCHEMA), lambda: source.fold(CELLS, SCHEMA, Recounted((), SCHEMA))):
        with pytest.raises(FileError) as caught:
            run()
        assert CANARY not in str(caught.value)
        assert caught.value.__context__ is None
    assert CANARY not in repr(source)


def refused(source, error, *words, schema=SCHEMA):
    ledger = Ledger(2)
    with pytest.raises(error) as caught:
        NaiveBayes(schema, epsilon=1).fit_from(source, ledger=ledger)
    assert ledger.spent == 0
    message = str(caught.value)
    assert "\n" not in message
    assert CANARY not in message
    for word in words:
        assert word in message


def test_wrong_tables_are_refused_before_the_charge(session):
    data = session.createDataFrame(table())
    data.createOrReplaceTempView("patients")
    refused(SparkSource(session, table="nowhere"), FileError, "'nowhere'", "SHOW TABLES")
    refused(SparkSource(session, table="no where; DROP"), FileError, "SHOW TABLES")
    refused(SparkSource(session, table="parquet.`/no/such/folder`"), FileError, "not a table")
    refused(SparkSource(session), ParameterError, "table=NAME")
    refused(SparkSource(data, table="patients"), ParameterError, "without `table`")
    refused(SparkSource(data.drop("x")), DataError, "column 'x' of the schema is missing")
    refused(SparkSource(data.withColumnRenamed("x", "X")), DataError, "column 'x' of the schema is missing")
    refused(SparkSource(data.selectExpr("*", "1 AS id")), DataError, "column 'id' is not in the schema")
    refused(SparkSource(data.selectExpr("*", "c AS x")), DataError, "two columns named 'x'")
    for kind in ("DATE'2020-01-01'", "TIMESTAMP'2020-01-01'", "TIMESTAMP_NTZ'2020-01-01'", "INTERVAL '1' DAY",
                 "INTERVAL '1' MONTH"):  # fmt: skip
        refused(SparkSource(data.selectExpr(f"{kind} AS x", "c", "y")), DataError, "'x' holds dates or times")
        refused(SparkSource(data.selectExpr("x", "c", f"{kind} AS y")), DataError, "'y' holds dates or times")


def test_records_by_chance_are_refused(local):
    data = local.createDataFrame(table())
    refused(SparkSource(data.selectExpr("x * rand() AS x", "c", "y")), DataError, "by chance")
    refused(SparkSource(data.where("rand() < 0.5")), DataError, "by chance")


def test_rows_stay_in_spark(local):
    with pytest.raises(ParameterError, match="stay in Spark"):
        list(SparkSource(local.createDataFrame(table())).rows(CELLS, SCHEMA))


def test_what_is_kept_is_dropped(local):
    storage = local.sparkContext._jsc.sc().getPersistentRDDs
    before = storage().size()
    with SparkSource(local.createDataFrame(table())) as source:
        task = Recounted(tuple(CELLS), SCHEMA)
        source.fold(CELLS, SCHEMA, task)
        source.fold(CELLS[:1], SCHEMA, Recounted(tuple(CELLS[:1]), SCHEMA))
        assert storage().size() == before + 1
    assert storage().size() == before
    source = SparkSource(local.createDataFrame(table()))
    source.fold(CELLS, SCHEMA, task)
    assert storage().size() == before + 1
    del source
    assert storage().size() == before
    source = SparkSource(local.createDataFrame(table()), cache=False)
    np.testing.assert_array_equal(source.fold(CELLS, SCHEMA, task), MemorySource(table()).fold(CELLS, SCHEMA, task))
    assert storage().size() == before


def test_spark_that_is_not_installed(monkeypatch, local):
    data = local.createDataFrame(table())
    monkeypatch.setitem(__import__("sys").modules, "pyspark.errors", None)
    with pytest.raises(MissingExtra, match=r"discreet\[spark\]"):
        SparkSource(data).check(SCHEMA)


@pytest.mark.usefixtures("workers_python")
def test_a_stopped_session_is_refused(tmp_path):
    with spark.connect_server(tmp_path) as address:
        with spark.remote(address) as session:
            remote = SparkSource(session.createDataFrame(table()))
        refused(remote, FileError, "session was stopped")
    with spark.classic("local[1]") as session:
        classic = SparkSource(session.createDataFrame(table()))
        named = SparkSource(session, table="patients")
    refused(classic, FileError, "session was stopped")
    refused(named, FileError, "session was stopped")
