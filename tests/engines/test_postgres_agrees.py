"""PostgreSQL gives the same integers as memory, on very untidy tables."""

import decimal
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.errors import DataError
from discreet.records.encoding import Cells
from discreet.sources.postgres import PostgresSource
from support.agreement import CATEGORIES, CLASSES, NUMBERS, WORDS, assert_same, fill_table

pytestmark = pytest.mark.engines
psycopg = pytest.importorskip("psycopg")

INTEGERS = [-(2**63), -(2**53) - 1, -1, 0, 1, 3, 10**16, 2**53 + 1, 2**63 - 1, None]
DECIMALS = [
    "1.00", "2.50", "0.30", "-1.00", "0.00", "99.99", "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400",
    "-1e-400", "2.4703282292062327e-324", "2.4703282292062328e-324", "0.30000000000000004", "2.99999999999999999999",
    "3.00000000000000000001", "0.1" + "0" * 300 + "1", "9007199254740993",
]  # fmt: skip
FLOATS32 = [None if n is None else float(np.float32(min(max(n, -3e38), 3e38))) for n in NUMBERS]
TYPED = {
    "text": ("text", WORDS),
    "varchar": ("varchar(400)", [None if text is None else text[:400] for text in WORDS]),
    "double": ("float8", NUMBERS),
    "float": ("float4", FLOATS32),
    "flag": ("bool", [True, False, None, True]),
    "small": ("int2", [-(2**15), -1, 0, 1, 2, 3, None]),
    "large": ("int8", INTEGERS),
    "number": ("numeric", [None, *map(decimal.Decimal, DECIMALS)]),
    "nothing": ("text", [None]),
}


def schema_of(names, target, *, numbers):
    columns = []
    for place, name in enumerate(names):
        if numbers:
            columns.append(Numeric(name, -1, 3, grid=[2048, 7, 65_000][place % 3], fill=[None, -1, 3][place % 3]))
        else:
            unlisted = place % 3 > 0
            columns.append(Categorical(name, CATEGORIES, unlisted=unlisted, missing=None if unlisted else 2.5))
    return Schema(columns, target, CLASSES)


@pytest.mark.parametrize("stream", [False, True], ids=["counted there", "streamed"])
@pytest.mark.parametrize("numbers", [True, False], ids=["as numbers", "as categories"])
@pytest.mark.parametrize("target", TYPED)
def test_typed_columns_agree(database, postgres, numbers, target, stream):
    rows = 3 * len(WORDS)
    columns = {name: [values[row % len(values)] for row in range(rows)] for name, (_, values) in TYPED.items()}
    columns["label"] = [columns[target][row] for row in np.random.default_rng(0).permutation(rows)]
    types = {name: kind for name, (kind, _) in TYPED.items()} | {"label": TYPED[target][0]}
    fill_table(database, "t", types, columns)
    source = PostgresSource(postgres, table="clinic.t", stream=stream)
    assert_same(source, columns, schema_of(list(TYPED), "label", numbers=numbers), rows=stream)
    source.finish()


def both(database, postgres, types, columns, schema):
    """Fill a table; counted in the database and streamed, it is as in memory."""
    fill_table(database, "t", types, columns)
    for stream in (False, True):
        with PostgresSource(postgres, table="clinic.t", stream=stream) as source:
            assert_same(source, columns, schema, rows=stream)
    database.execute("DROP TABLE t")


BOUNDS = [(0, 1), (-1, 3), (0.1, 0.3), (-1e308, 7e307), (0, 1e-303), (-1e-303, 1e-303), (1e300, 1.0000000000000002e300),
          (1e15, 1e15 + 3), (-5e-300, 0), (-(2**53), 2**53), (17, 90)]  # fmt: skip


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_edges_of_cells_agree(database, postgres, lower, upper):
    """Numbers where a code changes, with their neighbours; and numbers that overflow or underflow on the way."""
    width, numbers = float(upper) - float(lower), set(NUMBERS) - {None}
    for bins in (2, 3, 7, 255, 2048, 65_000):
        for k in {0, 1, 2, 3, bins // 2, bins // 3, bins - 2, bins - 1, bins}:
            for edge in (lower + k * (width / bins), lower + (k - 0.5) * (width / bins)):
                numbers |= {edge, *(math.nextafter(edge, to) for to in (-math.inf, math.inf))}
    for end in (lower, upper):
        for step in (5e-324, 1e-310, width * 2.0**-29, width * 2.0**-31, width * 2.0**-52, width, 1e308):
            numbers |= {end + step, end - step}
    columns = [Numeric(f"{kind}{grid}", lower, upper, grid=grid) for kind in "df" for grid in (2, 7, 2048, 65_000)]
    values = [*numbers, None]
    written = [None if x is None else decimal.Decimal(x) for x in values]
    table = {each.name: written if each.name[0] == "d" else values for each in columns} | {"y": ["a"] * len(values)}
    types = {name: "numeric" if name[0] == "d" else "float8" for name in table} | {"y": "text"}
    both(database, postgres, types, table, Schema(columns, "y", ["a", "b"]))


def test_every_type_is_read_or_refused(database, postgres):
    """Enums, domains and UUIDs are words; bytes, JSON, arrays, ranges and so on are no values."""
    database.execute("CREATE TYPE mood AS ENUM ('a', 'sad')")
    database.execute("CREATE DOMAIN short AS varchar(3)")
    database.execute("CREATE DOMAIN shorter AS short")
    database.execute("CREATE DOMAIN age AS int4")
    uuid = "550e8400-e29b-41d4-a716-446655440000"
    words = {"mood": "a", "shorter": "a", "char(5)": "a", '"char"': "a", "name": "a", "uuid": uuid}
    numbers = {"age": 1, "money": "1", "oid": 1, "bool": True}
    opaque = {"bytea": "a", "json": "1", "jsonb": '"a"', "int4[]": "{1}", "int4range": "[1,2)", "xml": "1",
              "bit(1)": "1", "point": "(1,1)", "inet": "1.1.1.1", "date[]": "{2020-01-01}", "tsvector": "a",
              "mood[]": "{a}",              "daterange": "empty"}  # fmt: skip
    given = words | numbers | opaque
    types = {f"c{place}": kind for place, kind in enumerate(given)} | {"y": "text"}
    rows = {f"c{place}": [given[kind], None] for place, kind in enumerate(given)} | {"y": ["a", "a"]}
    fill_table(database, "t", types, rows)
    names = dict(zip(given, types, strict=False))
    values = {names[kind]: [given[kind], None] for kind in words} | {names[kind]: [1, None] for kind in numbers}
    values |= {names[kind]: [b"", None] for kind in opaque} | {"y": ["a", "a"]}
    values[names["bool"]] = [True, None]
    listed = Schema([Categorical(name, ["a", 1, uuid], missing=1) for name in names.values()], "y", ["a"])
    ranged = Schema([Numeric(name, 0, 4, fill=4) for name in names.values()], "y", ["a"])
    for stream in (False, True):
        with PostgresSource(postgres, table="clinic.t", stream=stream) as source:
            for schema in (listed, ranged):
                assert_same(source, values, schema, rows=stream)
    for kind in ("date", "time", "timetz", "timestamp", "timestamptz", "interval"):
        database.execute(f"CREATE DOMAIN of_{kind} AS {kind}")
        for each in (kind, f"of_{kind}"):
            database.execute(f"DROP TABLE IF EXISTS d; CREATE TABLE d (x {each}, y text)")
            with PostgresSource(postgres, table="clinic.d") as source, pytest.raises(DataError, match="dates or times"):
                source.check(Schema([Numeric("x", 0, 1)], "y", ["a"]))


def test_collations_do_not_merge_texts(database, postgres):
    database.execute("CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false)")
    texts = [text for text in WORDS for _ in range(3)]
    columns = {"c": texts, "x": texts, "y": [texts[(7 * place) % len(texts)] for place in range(len(texts))]}
    types = dict.fromkeys(columns, "text COLLATE blind")
    fill_table(database, "t", dict.fromkeys(types, "text"), columns)
    for name in types:
        database.execute(f"ALTER TABLE t ALTER {name} TYPE text COLLATE blind")
    schema = Schema([Categorical("c", CATEGORIES), Numeric("x", -1, 3)], "y", CLASSES)
    for stream in (False, True):
        with PostgresSource(postgres, table="clinic.t", stream=stream) as source:
            assert_same(source, columns, schema, rows=stream)


def test_citext_compares_byte_by_byte(database, postgres):
    """Its own comparison takes 'a' and 'A' for one."""
    database.execute("CREATE EXTENSION citext SCHEMA clinic")
    texts = ["a", "A", "a", "ß", "SS", "é", "É", "1", None, ""]
    columns = {"c": texts, "x": texts[::-1], "y": [texts[(3 * place) % len(texts)] for place in range(len(texts))]}
    schema = Schema([Categorical("c", ["a", "ß", "É"]), Numeric("x", -1, 3)], "y", ["A", "é"])
    both(database, postgres, dict.fromkeys(columns, "citext"), columns, schema)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_agree(database, postgres, rows):
    columns = {"t": ["a", None][:rows], "n": [math.nan, 1.0][:rows], "y": ["a", "?"][:rows]}
    schema = Schema([Categorical("t", ["a"]), Numeric("n", 0, 3)], "y", ["a", "b"])
    both(database, postgres, {"t": "text", "n": "float8", "y": "text"}, columns, schema)


@pytest.mark.parametrize(
    "name", ['say "hi"', "it's", "two words", "k", "v", "y", "n", "grouped", "SELECT", "a;--", "%s", "ünï"]
)
def test_any_column_name_agrees(database, postgres, name):
    number, label = f"{name} number", f"{name} label"
    columns = {name: ["a", "b", None], number: [1.0, 2.0, math.nan], label: ["a", "it's", "z"]}
    schema = Schema([Categorical(name, ["a", "b"]), Numeric(number, 0, 3)], label, ["a", "it's"])
    both(database, postgres, {name: "text", number: "float8", label: "text"}, columns, schema)


texts = st.one_of(st.sampled_from(WORDS), st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6))
floats = st.one_of(st.sampled_from(NUMBERS), st.floats(), st.floats(-1, 3), st.none())
decimals = st.none() | st.decimals().filter(lambda d: not d.is_nan()) | st.decimals(-2, 4, places=20)


ONE_DATABASE = [HealthCheck.function_scoped_fixture]


@settings(max_examples=25, phases=(Phase.explicit, Phase.generate), suppress_health_check=ONE_DATABASE)
@given(st.lists(st.tuples(texts, floats, decimals, st.none() | st.integers(-(2**63), 2**63 - 1), texts), max_size=25))
@example([])
def test_generated_tables_agree(database, postgres, rows):
    names = ["t", "n", "d", "i", "y"]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    types = dict(zip(names, ["text", "float8", "numeric", "int8", "text"], strict=True))
    columns["d"] = [d if d is None or not d.is_finite() or -1000 < d.adjusted() < 1000 else None for d in columns["d"]]
    ranged = Schema([Numeric(name, -1, 3, grid=7) for name in names[:-1]], "y", CLASSES)
    listed = Schema([Categorical(name, CATEGORIES) for name in names[:-1]], "y", CLASSES)
    fill_table(database, "t", types, columns)
    for stream in (False, True):
        with PostgresSource(postgres, table="clinic.t", stream=stream) as source:
            assert_same(source, columns, ranged, rows=stream)
            assert_same(source, columns, listed, rows=stream)
    database.execute("DROP TABLE t")


def test_a_million_distinct_texts(database, postgres):
    database.execute("CREATE TABLE t AS SELECT 'w' || i AS c, 'a' AS y FROM generate_series(1, 1000000) i")
    schema = Schema([Categorical("c", ["w1", "w2", "w1000000"])], "y", ["a", "b"])
    with PostgresSource(postgres, table="clinic.t") as source:
        source.check(schema)
        (counts,) = source.count([Cells("c")], schema).counts.values()
    assert counts.tolist() == [[1, 1, 1, 999_997], [0, 0, 0, 0]]
