"""Crossed counts: what is counted, what one record can change, and what is refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.errors import ParameterError
from discreet.queries.crossed import MOST_CELLS, MOST_COLUMNS, By, CrossedCounts
from discreet.queries.tables import Counts, SplineCounts, Total
from discreet.sources.crossed_counts import CountedTables
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, BASE, EDGES, ODD, TABLES, neighbours, schema

QUERIES = [
    CrossedCounts(),
    CrossedCounts.of(by=["label"]),
    CrossedCounts.of(by=["open", "closed", "label"]),
    CrossedCounts.of(by=["label", {"column": "near", "bins": 5, "overlapping": True}]),
    CrossedCounts.of([{"column": "near", "between": [-0.5, 2]}], [{"column": "near", "bins": 3}, "open"]),
    CrossedCounts.of([{"column": "open", "in": ["a", "b"]}, {"column": "label", "equals": "x"}]),
    CrossedCounts.of([{"column": "open", "missing": True}], ["closed"]),
    CrossedCounts.of([{"column": "open", "equals": "a"}], ["open", {"column": "far", "bins": 2, "overlapping": True}]),
]


def exact(queries, records, given_):
    task = CountedTables.of(queries, given_)
    source = MemorySource(records if len(records) else {name: [] for name in given_.all_names})
    cells = task.cells or [Counts("open").cells(given_)]
    counts = task.split(source.fold(cells, given_, task))
    return [query.fold(each, given_) for query, each in zip(queries, counts, strict=True)]


def reference(query, records, given_):
    """The same table, record by record."""
    table = np.zeros(query.shape(given_), dtype=np.int64)
    passing = query.where.spans(given_)
    for record in records:
        codes = {
            name: int(Counts(name).cells(given_).codes(np.array([record[name]], dtype=object), given_)[0])
            for name in given_.names
        }
        if record["label"] not in given_.classes:
            continue
        codes["label"] = given_.classes.index(record["label"])
        if not all(any(start <= codes[name] < stop for start, stop in spans) for name, spans in passing.items()):
            continue
        weights = np.ones(())
        for by in query.by:
            cells = by.cells(given_)
            code = (
                codes["label"]
                if cells is None
                else int(cells.codes(np.array([record[by.column]], dtype=object), given_)[0])
            )
            row = np.zeros(by.counted(given_), dtype=np.int64)
            row[code] = 1
            query_ = CrossedCounts(by=(by,))
            weights = np.multiply.outer(weights, query_.fold(row, given_))
        table += weights.astype(np.int64).reshape(table.shape)
    return table


@given(TABLES)
def test_tables_are_those_of_a_count_by_hand(records):
    for query, table in zip(QUERIES, exact(QUERIES, records, schema()), strict=True):
        np.testing.assert_array_equal(table, reference(query, records, schema()))


@pytest.mark.parametrize("records", EDGES.values(), ids=EDGES)
def test_no_records_one_record_and_strange_ones_are_counted(records):
    for query, table in zip(QUERIES, exact(QUERIES, records, schema()), strict=True):
        assert table.shape == query.shape(schema())
        np.testing.assert_array_equal(table, reference(query, records, schema()))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@given(st.data())
def test_sensitivity_bounds_every_neighbour(adjacency, data):
    given_ = schema(adjacency)
    first, second = data.draw(neighbours(adjacency))
    for query, ours, theirs in zip(QUERIES, exact(QUERIES, first, given_), exact(QUERIES, second, given_), strict=True):
        assert np.abs(ours - theirs).sum() <= query.distance(given_), query


@pytest.mark.parametrize("query", QUERIES[:6], ids=repr)
def test_sensitivity_is_attained(query):
    """One record is added, or one replaced, and the table moves by exactly what is stated."""
    counted = [{**BASE, "label": "x", "near": 0.4}, {**ODD, "closed": "?"}, {**ODD, "near": 0.9, "label": "z"}]
    nobody = {**BASE, "label": None}
    added = max(np.abs(exact([query], [each], schema())[0]).sum() for each in counted)
    assert added == query.distance(schema()) == query.unit(schema())
    given_ = schema("replace-one")
    replaced = max(
        np.abs(exact([query], [a], given_)[0] - exact([query], [b], given_)[0]).sum()
        for a, b in itertools.combinations([*counted, BASE, nobody], 2)
    )
    assert replaced == query.distance(given_)


def test_tables_of_one_column_are_those_that_models_ask():
    records = [*EDGES["one record"], *EDGES["far out"], BASE, ODD]
    given_ = schema()
    source = MemorySource(records)
    for own, theirs in (
        (CrossedCounts.of(by=["label", "open"]), Counts("open")),
        (CrossedCounts.of(by=["label", {"column": "near", "bins": 7}]), Counts("near", 7)),
        (
            CrossedCounts.of(by=["label", {"column": "near", "bins": 7, "overlapping": True}]),
            SplineCounts("near", 7),
        ),
        (CrossedCounts(), Total()),
    ):
        counted = source.count([theirs.cells(given_)], given_).answer(theirs, given_)
        np.testing.assert_array_equal(exact([own], records, given_)[0].ravel(), counted.ravel())
        for adjacency in ADJACENCIES:
            assert own.distance(schema(adjacency)) == theirs.distance(schema(adjacency))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"by": ["elsewhere"]}, "'elsewhere' is not in the schema"),
        ({"by": ["near"]}, "say how many bins"),
        ({"by": [{"column": "open", "bins": 3}]}, "leave out bins"),
        ({"by": [{"column": "label", "bins": 3}]}, "leave out bins"),
        ({"by": [{"column": "near", "bins": 1}]}, "need an integer"),
        ({"by": [{"column": "near", "bins": True}]}, "need an integer"),
        ({"by": [{"column": "near", "bins": 2.5}]}, "need an integer"),
        ({"by": [{"column": "near", "bins": 200, "overlapping": True}]}, "overlapping bins"),
        ({"by": [{"column": "near", "bins": 20, "overlapping": 1}]}, "need true or false"),
        ({"by": [{"column": "near", "parts": 2}]}, "'parts' is not known"),
        ({"by": [{"column": 3}]}, "name of a column"),
        ({"by": [3]}, "divided by a column"),
        ({"by": ["open", "open"]}, "'open' twice"),
        ({"by": ["open"] * (MOST_COLUMNS + 1)}, f"at most {MOST_COLUMNS}"),
        ({"by": "open"}, "need a list"),
        ({"by": [{"column": "near", "bins": 300}, {"column": "far", "bins": 300}]}, f"at most {MOST_CELLS}"),
        (
            {"by": [{"column": name, "bins": 5, "overlapping": True} for name in ("near", "far")]},
            "need at most one",
        ),
        ({"where": "all"}, "list of predicates"),
        ({"having": []}, "other than"),
        ([], "other than"),
    ],
)
def test_what_is_no_count_is_refused_with_a_remedy(content, words):
    with pytest.raises(ParameterError, match=words):
        CrossedCounts.from_plain(content).check(schema())


@pytest.mark.parametrize("query", QUERIES, ids=repr)
def test_a_query_is_plain_data(query):
    assert CrossedCounts.from_plain(query.to_plain()) == query
    assert hash(CrossedCounts.from_plain(query.to_plain())) == hash(query)


def test_cells_have_names():
    given_ = Schema([Numeric("x", 0, 10), Categorical("c", [1, "b"])], "y", ["n", "o"])
    assert By("x", 2).names(given_) == ["0 to 5", "5 to 10"]
    assert By("c").names(given_) == ["1", "b", "(any other)"]
    assert By("y").names(given_) == ["n", "o"]
