"""Untidy values, and whether an engine gives the same integers for them as memory."""

import math

import numpy as np

from discreet.queries.tables import ClassCounts, Counts, Moments, SoftCounts, SplineCounts, Total
from discreet.schema import Categorical
from discreet.sources.memory import MemorySource

TEXTS = [
    "a", " a ", "A", "b", "é", "", "   ", None, " 01 ", "1", "1.0", "+1", "1.", ".5", "1e0", "1e999", "-1e999",
    "1e-400", "4.9e-324", "inf", "-Infinity", "+iNf", "nan", "NaN", "1_0", "٣", "１", "Ⅷ", "0x10", "true", "True",
    "FALSE", "falſe", "null", "NULL", "\u00a0a", "\u00a01", "\u20031", "1\u00a0", "\ta", "1\t", "it's", 'say "hi"',
    "a,b", "a;b", "--", "2.5", "2,5", "9007199254740993", "123456789012345678901234567890", "0" * 400 + "1", "1" * 400,
    "-0", "0", "-0.0", "?", "\\", "%", "%s", "_", "1 0", "a b", "e5", "1e", ".", "+", "-", "1e+5", "1E5", "100000",
    "0.30000000000000004", "0.3", "1e308", "1.8e308", "\\N", "\n", "{a}", "()", "𝟙", "e\u0301",
]  # fmt: skip
NUMBERS = [
    0.0, -0.0, 1.0, 2.5, -1.0, 0.3, 0.1 + 0.2, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, 2.2e-308,
    math.inf, -math.inf, math.nan, None, 9007199254740993.0, 1e16, 1e15, 0.9999999999999999, 1.0000000000000002, 3.0,
    2.9999999999999996, -1.0000000000000002, 0.5, 100000.0,
]  # fmt: skip
CATEGORIES = ["a", 1, 2.5, "é", "it's", 'say "hi"', "true", "1e+15", 0, -1, "a b", 0.3, "%", "\\"]
CLASSES = ["a", 1, "it's", 0, 2.5]


def queries(schema):
    """Every query that a model asks, of every column."""
    asked = [ClassCounts(), Total()]
    for column in schema.columns:
        if isinstance(column, Categorical):
            asked.append(Counts(column.name))
        else:
            asked += [Counts(column.name, each) for each in (1, 3, 10, 255)]
            asked += [SplineCounts(column.name, 5), SoftCounts(column.name), Moments(column.name)]
    return asked


def assert_same(source, columns, schema, *, rows=False):
    """The source answers every query as memory does; with `rows`, its coded records are the same too, in any order."""
    memory = MemorySource({name: objects(columns[name]) for name in schema.all_names})
    source.check(schema)
    asked = queries(schema)
    cells = sorted({query.cells(schema) for query in asked}, key=repr)
    got, expected = source.count(cells, schema), memory.count(cells, schema)
    for each in cells:
        np.testing.assert_array_equal(got.counts[each], expected.counts[each], err_msg=str(each))
    for query in asked:
        np.testing.assert_array_equal(got.answer(query, schema), expected.answer(query, schema), err_msg=str(query))
    if rows:
        np.testing.assert_array_equal(coded(source, cells, schema), coded(memory, cells, schema))


def objects(values):
    """An array of the values as they are."""
    return np.fromiter(values, dtype=object)


def coded(source, cells, schema):
    """All codes of all records, sorted."""
    blocks = list(source.rows(cells, schema))
    table = np.concatenate(
        [np.zeros((0, len(cells) + 1), dtype=np.uint16)]
        + [np.stack([block.labels, *(block.codes[each] for each in cells)], axis=1) for block in blocks]
    )
    return table[np.lexsort(table.T)]


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
