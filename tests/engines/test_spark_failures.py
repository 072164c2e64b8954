"""What cannot be read is refused in one line that quotes nothing; what is kept in the cluster is dropped."""

import numpy as np
import pytest

from discreet.errors import DataError, FileError, MissingExtra, ParameterError
from discreet.sources.memory import MemorySource
from discreet.sources.spark import SparkSource
from support import spark
from support.agreement import Recounted
from support.spark_clinic import CANARY, CELLS, SCHEMA, refused, table


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
        classic.check(SCHEMA)
        named = SparkSource(session, table="patients")
    refused(classic, FileError, "session was stopped")
    refused(named, FileError, "session was stopped")
