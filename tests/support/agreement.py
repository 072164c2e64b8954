"""Untidy values, schemas for them, and the check that sources give the same integers for all queries and rows."""

import math
import uuid
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import Phase
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.errors import SchemaError
from discreet.queries.crossed import CrossedCounts
from discreet.queries.predicates import LARGEST
from discreet.queries.tables import ClassCounts, Counts, Moments, SoftCounts, SplineCounts, Total
from discreet.schema.columns import NUMBER, is_utf8, text_of
from discreet.sources.crossed_counts import CountedTables
from discreet.sources.fingerprints import Fingerprinted
from discreet.sources.memory import MemorySource

TEXTS = [
    "a", " a ", "A", "b", "é", "", "   ", None, " 01 ", "1", "1.0", "+1", "1.", ".5", "1e0", "1e999", "-1e999",
    "1e-400", "4.9e-324", "inf", "-Infinity", "+iNf", "nan", "NaN", "1_0", "٣", "１", "Ⅷ", "0x10", "true", "True",
    "FALSE", "null", "NULL", "\u00a0a", "\u00a01", "\u20031", "1\u00a0", "\ta", "1\t", "it's", 'say "hi"', "a,b",
    "a;b", "--", "2.5", "2,5", "9007199254740993", "123456789012345678901234567890", "0" * 400 + "1", "1" * 400,
    "-0", "0", "-0.0", "?", "\\", "%", "_", "1 0", "a b", "e5", "1e", ".", "+", "-", "1e+5", "1E5", "100000",
    "0.30000000000000004", "0.3", "1e308", "1.8e308",
]  # fmt: skip
WORDS = [*TEXTS, "falſe", "%s", "\\N", "\n", "{a}", "()", "𝟙", "e\u0301"]
"""Some that files of lines cannot hold, or would read in another way."""
NUMBERS = [
    0.0, -0.0, 1.0, 2.5, -1.0, 0.3, 0.1 + 0.2, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, 2.2e-308,
    math.inf, -math.inf, math.nan, None, 9007199254740993.0, 1e16, 1e15, 0.9999999999999999, 1.0000000000000002, 3.0,
    2.9999999999999996, -1.0000000000000002, 0.5, 100000.0,
]  # fmt: skip
CATEGORIES = ["a", 1, 2.5, "é", "it's", 'say "hi"', "true", "1e+15", 0, -1, "a b", 0.3, "%", "\\"]
CLASSES = ["a", 1, "it's", 0, 2.5]


def schema_of(names, target, classes=CLASSES, **changes):
    """Half of the columns are numbers and half categories, as no column can be both; `numbers` makes all one kind."""
    columns = []
    for position, name in enumerate(names):
        if changes.get("numbers", position % 2 == 0):
            columns.append(Numeric(name, -1, 3, grid=[2048, 7, 65_000][position % 3], fill=[None, -1, 3][position % 3]))
        else:
            unlisted = position % 3 > 0
            columns.append(Categorical(name, CATEGORIES, unlisted=unlisted, missing=None if unlisted else 2.5))
    return Schema(columns, target, classes)


def queries(schema, bins=(1, 3, 10, 255, 256)):
    """Every query that a model asks, of every column."""
    asked = [ClassCounts(), Total()]
    for column in schema.columns:
        if isinstance(column, Categorical):
            asked.append(Counts(column.name))
        else:
            asked += [Counts(column.name, each) for each in bins]
            asked += [SplineCounts(column.name, 5), SoftCounts(column.name), Moments(column.name)]
    return asked


def answers(source, schema, *, rows=True, **options):
    """What the source answers to every query; with `rows`, its coded records too, and counts again by a task."""
    source.check(schema)
    asked = queries(schema, **options)
    cells = sorted({query.cells(schema) for query in asked}, key=repr)
    exact = source.count(cells, schema)
    found = {query: exact.answer(query, schema) for query in asked} | {each: exact.counts[each] for each in cells}
    if rows:
        found["rows"] = coded_rows(source, schema, cells, exact)
        found["fold"] = source.fold(cells, schema, Fingerprinted(Recounted(tuple(cells), schema)))
        recounted = np.concatenate([exact.counts[each].ravel() for each in cells])
        np.testing.assert_array_equal(found["fold"][: len(recounted)], recounted)
        crossed = CountedTables.of(crossed_queries(schema), schema)
        found["crossed"] = source.fold(crossed.cells, schema, crossed)
    return found


def crossed_queries(schema):
    """Counts by predicates on some columns, crossed with the classes and other columns."""
    found = [CrossedCounts.of(by=[schema.target])]
    for place, column in enumerate(schema.columns[:4]):
        if isinstance(column, Categorical):
            some = {"column": column.name, "in": list(column.categories[::2])}
            axis = {"column": column.name}
        else:
            middle = column.missing_value
            some = {"column": column.name, "between": [None, middle if abs(middle) <= LARGEST else None]}
            axis = {"column": column.name, "bins": 3, "overlapping": place % 2 == 0}
        found += [CrossedCounts.of([some], [schema.target]), CrossedCounts.of(by=[axis, schema.target])]
        if place:
            found.append(CrossedCounts.of([some], [axis, found[-3].by[0].to_plain()]))
    label = {"column": schema.target, "equals": schema.classes[0]}
    return list(dict.fromkeys([*found, CrossedCounts.of([label])]))


@dataclass(frozen=True)
class Recounted:
    """All counts again, as a task."""

    cells: tuple
    schema: Schema

    @property
    def size(self):
        return sum(len(self.schema.classes) * each.size(self.schema) for each in self.cells)

    def __call__(self, block):
        parts = []
        for each in self.cells:
            counted = np.zeros((len(self.schema.classes) + 1, each.size(self.schema)), dtype=np.int64)
            np.add.at(counted, (block.labels, block.codes[each]), 1)
            parts.append(counted[:-1].ravel())
        return np.concatenate(parts)


def coded_rows(source, schema, cells, exact):
    """All codes of all records, in any order; counting them gives the counts."""
    blocks = list(source.rows(cells, schema))
    labels = np.concatenate([block.labels for block in blocks] or [np.empty(0, dtype=np.uint16)])
    columns = [np.concatenate([block.codes[each] for block in blocks] or [labels]) for each in cells]
    for each, codes in zip(cells, columns, strict=True):
        counted = np.zeros((len(schema.classes) + 1, each.size(schema)), dtype=np.int64)
        np.add.at(counted, (labels, codes), 1)
        np.testing.assert_array_equal(counted[:-1], exact.counts[each], err_msg=str(each))
    table = np.stack([labels, *columns], axis=1)
    return table[np.lexsort(table.T)]


def assert_agree(sources, schema, **options):
    """All sources give the same answers."""
    expected = None
    for name, source in sources.items():
        got = answers(source, schema, **options)
        expected = expected or got
        for query, table in expected.items():
            np.testing.assert_array_equal(got[query], table, err_msg=f"{name} {query}")


def assert_same(source, columns, schema, *, rows=False):
    """The source answers every query as memory does; with `rows`, its coded records are the same too, in any order."""
    memory = MemorySource({name: objects(columns[name]) for name in schema.all_names})
    assert_agree({"memory": memory, "source": source}, schema, rows=rows)


def objects(values):
    """An array of the values as they are."""
    return np.fromiter(values, dtype=object)


texts = st.one_of(
    st.sampled_from([text for text in TEXTS if text is not None]),
    st.from_regex(NUMBER, fullmatch=True).filter(lambda text: text.isascii() and len(text) < 60),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6),
)
QUICK = (Phase.explicit, Phase.reuse, Phase.generate)  # shrinking opens hundreds of databases
floats = st.one_of(st.sampled_from(NUMBERS), st.floats(), st.floats(-1, 3), st.none())


words = st.one_of(
    texts,
    st.text("fFalsSeEtTrRuUAL\u017f\u212a\u0130 ", max_size=6),
    st.text("0123456789.+-eE_ ", max_size=8),
    st.text("a\x00\u0301\u00e9e A\ufffd?", max_size=3),
    st.sampled_from(["0" * 999 + "1", "0" * 1000 + "1", "1" * 1001, "1e" + "0" * 997 + "1", "." + "5" * 999]),
)
VALUES = {
    "text": (pa.string(), words),
    "words": (pa.dictionary(pa.int32(), pa.string()), words),
    "number": (pa.float64(), floats),
    "float": (pa.float32(), st.floats(width=32) | st.integers(-9, 9).map(float)),
    "integer": (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)),
    "natural": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "byte": (pa.int8(), st.integers(-128, 127)),
    "truth": (pa.bool_(), st.booleans()),
    "decimal": (pa.decimal128(38, 10), st.decimals(-(10**27), 10**27, places=10, allow_nan=False)),
    "money": (pa.decimal128(18, 2), st.decimals(-(10**15), 10**15, places=2, allow_nan=False)),
    "bytes": (pa.binary(), st.binary(max_size=3)),
    "list": (pa.list_(pa.string()), st.lists(st.text(max_size=3).filter(is_utf8), max_size=2)),
    "struct": (pa.struct([("a", pa.int8())]), st.fixed_dictionaries({"a": st.integers(0, 3)})),
    "uuid": (pa.uuid(), st.integers(0, 3).map(lambda number: uuid.UUID(int=number).bytes)),
    "nothing": (pa.null(), st.none()),
}


def labels_of(values):
    """The values that a schema may list, each once, and a few others."""
    plain = [value for value in values if isinstance(value, str | int | float | bool)]
    found = {}
    for label in [*plain[:4], "a", True, "0", 2.5, str(uuid.UUID(int=1))]:
        try:
            Categorical("c", [label])
            found.setdefault(text_of(label), label)
        except SchemaError:
            pass
    return list(found.values())


def fill_table(connection, name, types, columns):
    """Create a table of PostgreSQL and fill it."""
    from psycopg import sql

    heads = sql.SQL(", ").join(sql.SQL("{} {}").format(sql.Identifier(each), sql.SQL(types[each])) for each in types)
    connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(name)))
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(name), heads))
    places = sql.SQL(", ").join(sql.SQL("%s::" + types[each]) for each in types)
    insert = sql.SQL("INSERT INTO {} VALUES ({})").format(sql.Identifier(name), places)
    with connection.cursor() as cursor, connection.transaction():
        cursor.executemany(insert, list(zip(*(columns[each] for each in types), strict=True)))
