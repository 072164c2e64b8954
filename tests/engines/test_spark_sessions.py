"""On every kind of session, Spark gives the integers of memory, and refuses what it cannot read before the charge."""

import numpy as np
import pyarrow as pa
import pytest

from discreet import Categorical, NaiveBayes, Numeric, OneRule, Schema
from discreet.errors import DataError, FileError, ParameterError
from discreet.records.encoding import Cells
from discreet.sources.memory import MemorySource
from discreet.sources.spark import SparkSource
from support.agreement import assert_agree, schema_of
from support.records import draw_records
from support.spark_clinic import refused, table
from support.spark_tables import both, typed, typed_table


@pytest.mark.parametrize("numbers", [True, False], ids=["as numbers", "as categories"])
def test_typed_columns_agree(session, numbers):
    assert_agree(*typed(session, "text", numbers), bins=(1, 3, 255, 256))


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_agree(session, rows):
    schema = schema_of(["text", "double", "bool", "int8"], "decimal")
    columns = {name: values for name, values in typed_table(rows).items() if name in (*schema.names, "decimal")}
    assert_agree(both(session, pa.table(columns)), schema)


def test_a_fit_is_the_fit_from_memory(session, schema):
    columns = draw_records(300, seed=3)
    table = pa.table({name: pa.array(list(values), from_pandas=True) for name, values in columns.items()})
    for model in (NaiveBayes(schema, epsilon=2, random_state=5), OneRule(schema, epsilon=2, random_state=5)):
        noisy = [model.fit_from(source).noisy_.to_dict() for source in both(session, table).values()]
        assert noisy[0] == noisy[1]


def test_long_answers_are_added_up_by_workers(session):
    """65,000 cells and five classes: more bytes than the driver would take from each partition."""
    values = np.random.default_rng(0).normal(1, 1, 5000)
    table = pa.table({"x": values, "y": pa.array(np.arange(5000) % 6)})
    schema = Schema([Numeric("x", -1, 3, grid=65_000)], "y", [0, 1, 2, 3, 4])
    cells = [Cells("x")]
    sources = both(session, table)
    counted = [source.count(cells, schema).counts[cells[0]] for source in sources.values()]
    np.testing.assert_array_equal(*counted)
    assert counted[0].sum() < 5000


def test_a_table_that_the_session_knows(session, tmp_path):
    table = pa.table({"a": [0.5, 2.0, None], "c": ["x", None, "z"], "y": ["no", "yes", "?"]})
    session.createDataFrame(table).createOrReplaceTempView("patients")
    folder = str(tmp_path / "parquet")
    session.createDataFrame(table).write.parquet(folder)
    schema = Schema([Numeric("a", 0, 3), Categorical("c", ["x", "z"])], "y", ["no", "yes"])
    sources = {"memory": MemorySource(table)}
    for name in ("patients", f"parquet.`{folder}`"):
        sources[name] = SparkSource(session, table=name, stream=True)
    assert_agree(sources, schema)
    assert sources["patients"].columns() == ["a", "c", "y"]


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
