"""Tables of Hive, from a metastore in a folder: in its text format and in Parquet."""

import pyarrow as pa
import pytest

from discreet import Categorical, DecisionTree, NaiveBayes, Numeric, Schema
from discreet.models.saving import to_dict
from discreet.sources.memory import MemorySource
from discreet.sources.spark import SparkSource
from support import spark
from support.agreement import assert_agree
from support.sums_only import SumsOnly

SCHEMA = Schema([Numeric("a", 0, 3), Categorical("c", ["x", "z"]), Categorical("year", [2024, 2025])], "y", ["n", "j"])
TABLE = pa.table(
    {
        "a": [0.5, 2.0, None, 2.9, 1e300, 0.0] * 20,
        "c": ["x", None, "z", "Z", "", "x "] * 20,
        "y": ["n", "j", "?", "n", "j", "j"] * 20,
        "year": [2024, 2025, 2026, 2025, 2024, 2024] * 20,
    }
)


@pytest.fixture(scope="module")
def hive(workers_python, tmp_path_factory):
    """A session that knows tables of Hive."""
    folder = tmp_path_factory.mktemp("hive")
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'metastore'};create=true",
    }
    with spark.classic("local[2]", **settings) as session:
        session.sparkContext._jvm.System.setProperty("derby.system.home", str(folder))  # it writes a log there
        session.sql("CREATE DATABASE registry")
        session.createDataFrame(TABLE).createOrReplaceTempView("given")
        yield session


@pytest.mark.parametrize(
    "made",
    ["(a DOUBLE, c STRING, y STRING, year INT) STORED AS TEXTFILE",
     "(a DOUBLE, c STRING, y STRING, year INT) STORED AS PARQUET"],
    ids=["text", "parquet"],
)  # fmt: skip
def test_tables_of_hive_agree(hive, made):
    hive.sql("DROP TABLE IF EXISTS registry.patients")
    hive.sql(f"CREATE TABLE registry.patients {made}")
    hive.sql("INSERT INTO registry.patients SELECT a, c, y, year FROM given")
    provider = hive.sql("DESCRIBE EXTENDED registry.patients").where("col_name = 'Provider'").collect()
    assert provider[0]["data_type"] == "hive"
    assert_agree(
        {"memory": MemorySource(TABLE), "hive": SparkSource(hive, table="registry.patients", stream=True)}, SCHEMA
    )
    for model in (NaiveBayes(SCHEMA, epsilon=5, random_state=2), DecisionTree(SCHEMA, epsilon=5, random_state=2)):
        from_hive = to_dict(model.fit_from(SparkSource(hive, table="registry.patients")))
        assert from_hive == to_dict(model.fit_from(SumsOnly(TABLE)))
