"""Small parts of sources by themselves: fingerprints, groups of cells, types that may fail."""

import numpy as np
import pytest

from discreet import Numeric, Schema
from discreet.errors import DataError
from discreet.records.encoding import Cells
from discreet.sources.exact import ExactRows
from discreet.sources.fingerprints import fingerprint
from discreet.sources.sql import refuse_dates
from discreet.sources.tree_counts import Grouped

SCHEMA = Schema([Numeric("a", 0, 1)], "y", [0, 1])


def test_a_fingerprint_is_the_same_in_any_order_of_columns_and_records():
    rng = np.random.default_rng(0)
    codes = {Cells(name): rng.integers(9, size=50).astype(np.uint16) for name in "abc"}
    labels = rng.integers(2, size=50).astype(np.uint16)
    first = fingerprint(ExactRows(codes, labels))
    turned = {each: codes[each][::-1] for each in reversed(codes)}
    assert (fingerprint(ExactRows(turned, labels[::-1])) == first).all()
    swapped = dict(zip(codes, reversed(codes.values()), strict=True))
    assert (fingerprint(ExactRows(swapped, labels)) != first).any()


def test_thresholds_that_do_not_rise_have_a_group_for_each_cell():
    cells, counts = Cells("a", 5), np.arange(10).reshape(1, 2, 5)
    for codes in ([3, 1], [2, 2], [1, 3]):
        asked = np.array(codes)
        grouped = Grouped.of(cells, asked, SCHEMA)
        assert (grouped.codes is None) == (codes != [1, 3])
        size = grouped.groups
        by_group = np.zeros((1, 2, size), dtype=np.int64)
        np.add.at(by_group, (slice(None), slice(None), grouped.of_codes(np.arange(5, dtype=np.uint16))), counts)
        assert np.array_equal(grouped.left(by_group, asked), np.cumsum(counts, axis=2)[:, :, asked])


@pytest.mark.parametrize("kind", ["JSON", "STRUCT(d DATE)"])
def test_types_that_may_fail_are_refused_unless_they_are_stored(kind):
    types = {"a": kind, "y": "INTEGER"}
    refuse_dates(SCHEMA, types, stored=True)
    with pytest.raises(DataError, match="column 'a'"):
        refuse_dates(SCHEMA, types, stored=False)
