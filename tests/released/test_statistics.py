"""Answers on both sides of the door: exact ones can be added but not shown, noisy ones keep their receipt."""

import copy
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.privacy.receipt import Charge, Receipt
from discreet.queries.tables import ClassCounts, Counts, Moments, SoftCounts, SplineCounts, Total
from discreet.records.encoding import Cells
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Adjacency
from discreet.sources.exact import ExactStatistics
from discreet.sources.memory import MemorySource
from support.records import draw_records, split_target

CELLS = [Cells("age"), Cells("age", 5), Cells("dose"), Cells("sex"), Cells("site")]


def part(columns, rows):
    X, y = split_target(columns)
    return MemorySource({name: values[rows] for name, values in X.items()}, y[rows])


@given(cut=st.integers(0, 60), seed=st.integers(0, 20))
def test_halves_added_equal_the_whole(cut, seed):
    from discreet import Categorical, Numeric, Schema

    schema = Schema(
        [Numeric("age", 0, 100), Numeric("dose", -1, 2, grid=9), Categorical("sex", ["F"]), Categorical("site", [3])],
        "outcome",
        ["well", "ill"],
    )
    columns = draw_records(60, seed)
    whole = part(columns, slice(None)).count(CELLS, schema)
    added = part(columns, slice(cut)).count(CELLS, schema) + part(columns, slice(cut, None)).count(CELLS, schema)
    for cells in CELLS:
        np.testing.assert_array_equal(added.counts[cells], whole.counts[cells])
    for query in (Counts("sex"), SoftCounts("dose"), Total(), ClassCounts()):
        if query.cells(schema) in whole.counts:
            np.testing.assert_array_equal(added.answer(query, schema), whole.answer(query, schema))


def test_statistics_of_different_cells_do_not_add():
    one = ExactStatistics({Cells("age"): np.zeros((2, 3), dtype=np.int64)})
    other = ExactStatistics({Cells("dose"): np.zeros((2, 3), dtype=np.int64)})
    with pytest.raises(ValueError, match="different cells"):
        one + other


def test_exact_statistics_show_no_values_and_are_not_pickled():
    exact = ExactStatistics({Cells("age"): np.array([[123456789]])})
    for text in (repr(exact), str(exact), f"{exact}", repr([exact])):
        assert "123456789" not in text
        assert "hidden" in text
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private"):
            attempt(exact)


CHARGES = (Charge("a", "m", Fraction(1, 3), 1, 3.0), Charge("b", "m", Fraction(1, 6), 2, 12.0))


def receipt(adjacency=Adjacency.ADD_REMOVE, charges=CHARGES, seeded=False, schema_hash="h"):
    return Receipt(adjacency, charges, seeded, schema_hash)


def test_a_receipt_sums_its_charges():
    assert receipt().epsilon == Fraction(1, 2)
    assert (receipt() + receipt()).epsilon == 1
    assert (receipt() + receipt()).charges == CHARGES * 2
    assert receipt(charges=()).epsilon == 0


def test_a_receipt_is_seeded_if_a_part_is():
    assert (receipt() + receipt(seeded=True)).seeded
    assert not (receipt() + receipt()).seeded


@pytest.mark.parametrize("changes", [{"adjacency": Adjacency.REPLACE_ONE}, {"schema_hash": "other"}])
def test_receipts_of_different_schemas_do_not_add(changes):
    with pytest.raises(ValueError, match="receipts differ in adjacency, schema or trust"):
        receipt() + receipt(**changes)


def noisy(*queries):
    tables = [(query, NoisyTable(np.array([[i, -(2**62)], [3, 4]]), 0.1 * i)) for i, query in enumerate(queries, 1)]
    return NoisyStatistics(tables, receipt())


QUERIES = [Counts("c"), Counts("x", 3), SplineCounts("x", 4), SoftCounts("x"), ClassCounts(), Total()]


def test_tables_are_found_by_query():
    statistics = noisy(*QUERIES)
    for position, query in enumerate(QUERIES, 1):
        assert statistics[query].values[0, 0] == position
    with pytest.raises(KeyError, match="has no answer here"):
        statistics[Counts("other")]


def test_two_releases_become_one():
    both = noisy(Total()) + noisy(Counts("c"))
    assert both.receipt.epsilon == 1
    assert both[Total()].values[0, 0] == both[Counts("c")].values[0, 0] == 1


def test_noisy_statistics_survive_json_exactly():
    moments = NoisyTable(np.array([[0.1 + 0.2, 1e-300]]), math.inf)
    statistics = noisy(*QUERIES) + NoisyStatistics([(Moments("x"), moments)], receipt())
    again = NoisyStatistics.from_dict(json.loads(json.dumps(statistics.to_dict(), allow_nan=False)))
    assert again.receipt == statistics.receipt
    for (query, table), (query_again, table_again) in zip(statistics.tables, again.tables, strict=True):
        assert query == query_again
        assert table.variance == table_again.variance
        assert table.values.dtype == table_again.values.dtype
        np.testing.assert_array_equal(table.values, table_again.values)


def test_an_unknown_query_is_refused():
    content = noisy(Total()).to_dict()
    content["tables"][0]["query"]["kind"] = "__import__"
    with pytest.raises(ValueError, match="is not known"):
        NoisyStatistics.from_dict(content)
