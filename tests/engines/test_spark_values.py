"""Spark gives the integers of memory for any values, types and names."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.records.encoding import Cells
from discreet.sources.memory import MemorySource
from discreet.sources.spark import SparkSource
from support.agreement import QUICK, VALUES, assert_agree, floats, labels_of, schema_of, texts
from support.spark_tables import both, typed


@pytest.mark.parametrize("target", ["double", "float", "bool", "int8", "int64", "decimal", "bytes", "list"])
def test_labels_of_any_type_agree(local, target):
    assert_agree(*typed(local, target, numbers=False), bins=(3,))


@pytest.mark.parametrize(
    "names", [("a.b", "A.B", "y`"), ("it's", 'say "hi"', "c0"), ("c1", "c0", "c2"), ("x", "X", "Y")]
)
def test_any_column_name_agrees(local, names):
    """Spark takes a dot for a field of a struct, and does not tell upper from lower case."""
    first, second, label = names
    data = local.createDataFrame([("a", 1.0, "u"), (None, math.nan, "v")], "p string, q double, r string")
    schema = Schema([Categorical(first, ["a", "b"]), Numeric(second, 0, 3)], label, ["u", "v"])
    memory = MemorySource({first: ["a", None], second: [1.0, math.nan], label: ["u", "v"]})
    assert_agree({"memory": memory, "spark": SparkSource(data.toDF(*names), stream=True)}, schema)


@settings(max_examples=6, phases=QUICK)
@given(st.lists(st.tuples(texts | st.none(), floats, texts | st.none()), max_size=25))
@example([])
def test_generated_tables_agree(local, rows):
    table = pa.table(
        {
            "t": pa.array([row[0] for row in rows], pa.string()),
            "n": pa.array([row[1] for row in rows], pa.float64()),
            "y": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    for numbers in (True, False):
        assert_agree(both(local, table), schema_of(["t", "n"], "y", numbers=numbers), bins=(3, 255))


KNOWN = sorted({*VALUES} - {"words", "natural", "uuid", "nothing"})


@settings(max_examples=12, phases=QUICK)
@given(st.data())
def test_any_values_under_any_schema_agree(local, data):
    """Types and values at random; categories and classes are some of the values."""
    kinds = data.draw(st.lists(st.sampled_from(KNOWN), min_size=3, max_size=6))
    rows = data.draw(st.integers(0, 30))
    columns, drawn = {}, {}
    for place, kind in enumerate(kinds):
        stored, strategy = VALUES[kind]
        drawn[f"c{place}"] = data.draw(st.lists(strategy | st.none(), min_size=rows, max_size=rows))
        columns[f"c{place}"] = pa.array(drawn[f"c{place}"], stored)
    *names, target = columns
    described = []
    for name in names:
        labels = labels_of(drawn[name])
        fill, missing = data.draw(st.sampled_from([None, -2, 7])), data.draw(st.sampled_from([None, *labels]))
        described.append(
            Numeric(name, -2, 7, grid=data.draw(st.sampled_from([2, 9, 2048])), fill=fill)
            if data.draw(st.booleans())
            else Categorical(name, labels, unlisted=data.draw(st.booleans()), missing=missing)
        )
    assert_agree(both(local, pa.table(columns)), Schema(described, target, labels_of(drawn[target])), bins=(3,))


@settings(max_examples=6, phases=QUICK)
@given(
    st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 65_000), st.integers(1, 128),
    st.lists(st.floats(0, 1) | st.integers(0, 64).map(lambda part: part / 64), min_size=1, max_size=300),
)  # fmt: skip
def test_values_on_and_around_the_edges_agree(local, lower, width, grid, bins, places):
    column = Numeric("x", lower, lower + width, grid=grid)
    on = [lower + place * (column.upper - lower) for place in places]
    on += [lower + part / bins * (column.upper - lower) for part in range(bins + 1)]
    values = [value for each in on for value in (each, math.nextafter(each, math.inf), math.nextafter(each, -math.inf))]
    table, schema = pa.table({"x": values, "y": ["a"] * len(values)}), Schema([column], "y", ["a"])
    cells = [Cells("x"), Cells("x", bins)]
    memory, counted = (source.count(cells, schema).counts for source in both(local, table).values())
    for each in cells:
        np.testing.assert_array_equal(memory[each], counted[each])


def test_texts_that_spark_itself_would_read_differently(local):
    """Collations, casts that are too kind, and bytes that are not UTF-8."""
    words = ["a", "A", " a", "1d", "0x1p3", " 1\t", "1 ", "falſe", "FALSE", "\u0130", "e\u0301", "é", "", None]
    data = local.createDataFrame([(word, word, word) for word in words], "t string, n string, y string")
    data = data.selectExpr("t COLLATE UTF8_LCASE AS t", "n COLLATE UNICODE_CI AS n", "y COLLATE UNICODE AS y")
    table = {name: np.array(words, dtype=object) for name in ("t", "n", "y")}
    schema = Schema([Categorical("t", ["a", "é", False]), Numeric("n", 0, 9)], "y", ["A", "1d", 1, "false"])
    assert_agree({"memory": MemorySource(table), "spark": SparkSource(data, stream=True)}, schema)
    broken = local.createDataFrame([(b"\xff",), (b"a",)], "b binary").selectExpr("CAST(b AS STRING) AS t", "'x' AS y")
    counted = SparkSource(broken).count([Cells("t")], Schema([Categorical("t", ["a"])], "y", ["x"]))
    assert counted.counts[Cells("t")].tolist() == [[1, 1]]


def test_very_long_texts_agree(local):
    """Texts that are longer than any label, with spaces around short ones, and a label that is very long itself."""
    space, label = " " * 300_000, "é" * 40_000
    words = ["x" * 300_000, space + "1", "1" + space, space + "a" + space, space, label, label + "é", "a", None]
    data = local.createDataFrame([(word, word, word) for word in words], "t string, n string, y string")
    table = {name: np.array(words, dtype=object) for name in ("t", "n", "y")}
    schema = Schema([Categorical("t", ["a", label]), Numeric("n", 0, 9)], "y", ["a", 1, label])
    assert_agree({"memory": MemorySource(table), "spark": SparkSource(data, stream=True)}, schema, bins=(3,))


def test_types_that_only_spark_has(local):
    data = local.sql(
        """SELECT CAST('a' AS CHAR(5)) AS c, CAST('a' AS VARCHAR(5)) AS v, NULL AS n, parse_json('{"a": 1}') AS j,
        CAST(1 AS SMALLINT) AS s, CAST(1.5 AS DECIMAL(38, 18)) AS d, map('a', 1) AS m, 'a' AS y"""
    )
    schema = Schema([Categorical(name, ["a", 1, 1.5]) for name in "cvnjsdm"], "y", ["a"])
    source = SparkSource(data)
    source.check(schema)
    cells = [Cells(name) for name in "cvnjsdm"]
    counts = source.count(cells, schema).counts
    assert [int(counts[each].argmax()) for each in cells] == [0, 0, 3, 3, 1, 2, 3]


def test_many_labels_and_many_texts_agree(local):
    """More numbers than are compared one after another; more codes than fit into one integer; 100,000 texts."""
    rows = 100_000
    numbers = np.arange(rows) % 700
    columns = {f"x{place}": pa.array((numbers * (place + 1) % 997).astype(np.float64)) for place in range(9)}
    table = pa.table({**columns, "i": numbers, "t": [f"text {row}" for row in range(rows)], "y": numbers % 100})
    described = [Numeric(name, 0, 997) for name in columns]
    described += [Categorical("i", list(range(500))), Categorical("t", [f"text {row}" for row in range(0, 500, 7)])]
    schema = Schema(described, "y", list(range(90)))
    cells = [*map(Cells, columns), Cells("i"), Cells("t"), Cells("x0", 12)]
    memory, counted = (source.count(cells, schema).counts for source in both(local, table).values())
    for each in cells:
        np.testing.assert_array_equal(memory[each], counted[each], err_msg=str(each))
