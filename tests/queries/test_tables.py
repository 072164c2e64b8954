"""Queries: what one record can change, and that nothing is lost when cells are folded."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.queries.tables import (
    MOST_BINS,
    ClassCounts,
    Counts,
    Moments,
    SoftCounts,
    SplineCounts,
    Total,
    bernstein,
    fine,
    shape,
    splines,
)
from discreet.schema import Adjacency
from discreet.sources.memory import MemorySource

SCHEMAS = [
    Schema([Numeric("x", -1, 3, grid=8), Categorical("c", ["a", "b"])], "y", ["no", "yes", "?"], adjacency=adjacency)
    for adjacency in Adjacency
]
QUERIES = [
    Counts("c"),
    Counts("x", 3),
    Counts("x"),
    SplineCounts("x", 4),
    SplineCounts("x", 2),
    SoftCounts("x"),
    ClassCounts(),
    Total(),
]
values = st.one_of(st.floats(-2, 4), st.none(), st.sampled_from([math.nan, math.inf, -math.inf, "1.5", "?", -1, 3]))
a_record = st.fixed_dictionaries(
    {
        "x": values,
        "c": st.sampled_from(["a", "b", "other", None, 1]),
        "y": st.sampled_from(["no", "yes", "?", "unlisted", None]),
    }
)
records = st.lists(a_record, max_size=6)


def answer(query, table, schema):
    return MemorySource(table).count([query.cells(schema)], schema).answer(query, schema)


def distance(query, one, other, schema):
    return int(np.abs(answer(query, one, schema) - answer(query, other, schema)).sum())


def neighbours(table, record, position, schema):
    """The table with one record more, one less, or one replaced, as the schema's adjacency allows."""
    position = position % (len(table) + 1)
    if schema.adjacency is Adjacency.ADD_REMOVE:
        yield [*table[:position], record, *table[position:]]
        if position < len(table):
            yield table[:position] + table[position + 1 :]
    elif position < len(table):
        yield [*table[:position], record, *table[position + 1 :]]
        flipped = {**table[position], "y": record["y"]}
        yield [*table[:position], flipped, *table[position + 1 :]]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.adjacency.value)
@settings(max_examples=100)
@given(table=records, record=a_record, position=st.integers(0, 6))
def test_sensitivity_bounds_every_neighbour(schema, table, record, position):
    for other in neighbours(table, record, position, schema):
        for query in QUERIES:
            assert distance(query, table, other, schema) <= query.distance(schema), query


@pytest.mark.parametrize("query", QUERIES, ids=repr)
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.adjacency.value)
def test_sensitivity_is_attained(schema, query):
    low, high = {"x": -1, "c": "a", "y": "no"}, {"x": 3, "c": "b", "y": "yes"}
    outside = {**low, "y": "unlisted"}
    if schema.adjacency is Adjacency.ADD_REMOVE:
        pairs = [([], [low]), ([low, high], [low])]
    else:
        pairs = [([low], [high]), ([low, low], [high, low]), ([low], [outside])]
    assert max(distance(query, *pair, schema) for pair in pairs) == query.distance(schema)


@pytest.mark.parametrize("query", [query for query in QUERIES if not isinstance(query, Total)], ids=repr)
def test_a_flipped_label_alone_attains_the_sensitivity_of_replacing(query):
    record = {"x": 0.7, "c": "b"}
    one, other = [{**record, "y": "no"}], [{**record, "y": "yes"}]
    assert distance(query, one, other, SCHEMAS[1]) == query.distance(SCHEMAS[1]) == 2 * query.unit(SCHEMAS[0])


@given(record=a_record)
def test_a_record_adds_its_unit_if_it_has_a_class_and_nothing_if_not(record):
    for query in QUERIES:
        table = answer(query, [record], SCHEMAS[0])
        expected = query.unit(SCHEMAS[0]) if record["y"] in ("no", "yes", "?") else 0
        assert table.min() >= 0
        assert table.sum() == expected
        assert table.dtype == np.int64


@pytest.mark.parametrize("query", [*QUERIES, Moments("x")], ids=repr)
def test_the_shape_is_public(query):
    schema = SCHEMAS[0]
    assert shape(query, schema) == answer(query, [], schema).shape
    assert shape(query, schema) == answer(query, [{"x": 1, "c": "a", "y": "no"}] * 3, schema).shape


@given(st.integers(1, MOST_BINS))
def test_every_fine_cell_is_shared_by_at_most_two_adjacent_bins(bins):
    weights = splines(bins)
    assert fine(bins) >= 1
    assert weights.shape == (bins * fine(bins), bins)
    assert weights.min() >= 0
    assert (weights.sum(axis=1) == 2 * fine(bins)).all()
    for row in weights:
        used = np.flatnonzero(row)
        assert len(used) <= 2
        assert used[-1] - used[0] <= 1
    if bins > 2:  # every inner bin has the same total weight, so a uniform law stays uniform
        assert len(set(weights.sum(axis=0)[1:-1])) == 1
    assert (weights == weights[::-1, ::-1]).all()


@given(st.integers(2, 3000))
def test_soft_counts_of_a_grid_point_sum_to_the_unit(grid):
    weights = bernstein(grid)
    assert weights.shape == (grid + 1, 3)
    assert weights.min() >= 0
    assert (weights.sum(axis=1) == grid**2).all()


def test_the_largest_grid_does_not_overflow():
    weights = bernstein(65_000)
    assert (weights.sum(axis=1) == 65_000**2).all()
    assert weights.min() >= 0


@given(st.lists(st.integers(0, 8), max_size=30))
def test_soft_counts_hold_count_sum_and_sum_of_squares(codes):
    """In units of the grid, with t the code and z = 2t - g: exact integers."""
    grid = 8
    counts = np.bincount(codes, minlength=grid + 1)[None, :]
    low, middle, high = SoftCounts("x").fold(counts, SCHEMAS[0])[0]
    z = 2 * np.array(codes, dtype=int) - grid
    assert low + middle + high == grid**2 * len(codes)
    assert grid * int(z.sum()) == high - low
    assert int((z**2).sum()) == low + high - middle


def test_counts_of_classes_use_the_smallest_column():
    schema = Schema([Numeric("x", 0, 1), Categorical("c", ["a", "b"])], "y", ["no", "yes"])
    assert ClassCounts().cells(schema).size(schema) == 1
    only = Schema([Categorical("c", range(10)), Categorical("d", ["a"], unlisted=False)], "y", ["no"])
    assert ClassCounts().cells(only).column == "d"
    table = [{"c": 1, "d": None, "y": "no"}, {"c": 99, "d": "z", "y": "no"}, {"c": 1, "d": "a", "y": "-"}]
    assert answer(ClassCounts(), table, only).tolist() == [[2]]
    assert answer(Total(), table, only).tolist() == [[2]]


def test_queries_are_values():
    assert Counts("x", 3) == Counts("x", 3) != Counts("x", 4)
    assert len({*QUERIES, *QUERIES}) == len(QUERIES)
