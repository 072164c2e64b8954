"""Columns that are counted together have the counts that each has by itself."""

import numpy as np
import pytest

from discreet import Numeric
from discreet.records.encoding import Cells
from discreet.sources import joint
from discreet.sources.joint import JointCounter

CLASSES = 3


def alone(codes, labels, size):
    return np.bincount(labels * size + codes, minlength=CLASSES * size).reshape(CLASSES, size)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("most", [1, 40, 1000, 1 << 14])
@pytest.mark.parametrize("few", [1, 60, 1 << 12])
def test_columns_together_are_counted_as_each_alone(monkeypatch, wide, most, few):
    monkeypatch.setattr(joint, "JOINT", most)
    monkeypatch.setattr(joint, "FEW", few)
    monkeypatch.setattr(joint, "CHUNK", 7)
    rng = np.random.default_rng(1)
    sizes, counter = [2, 3, 1, 64, 5, 700, 20_000, 64, 2], JointCounter(CLASSES, wide=wide)
    found = [np.zeros((CLASSES, size), dtype=np.int64) for size in sizes]
    expected = [table.copy() for table in found]
    for rows in (50, 200, 0, 20):  # also fewer records than before
        labels = rng.integers(0, CLASSES, rows)
        counter.begin(labels)
        for place, size in enumerate(sizes):
            codes = rng.integers(0, size, rows)
            if size == 64:
                numbers = np.where(codes == 0, np.nan, codes + 0.5)
                counter.add_numbers(found[place], numbers, Cells("x", 64), Numeric("x", 0, 64, fill=0))
            elif size == 5:  # places are not codes: two of them share a cell
                table = np.array([4, 0, 1, 2, 3, 0])
                places = rng.integers(0, 6, rows)
                codes = table[places]
                counter.add_places(found[place], 6, places, table)
            else:
                counter.add_places(found[place], size, codes.astype(np.uint8 if size < 9 else np.int64), None)
            expected[place] += alone(codes, labels, size)
        counter.end()
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("place", [5, 5 + (1 << 14), -1, 1 << 15])
@pytest.mark.parametrize("few", [1, 1000])
def test_a_place_outside_the_table_is_an_error(monkeypatch, place, few):
    """An array of Arrow can be invalid: nothing may be written outside the memory of the table."""
    monkeypatch.setattr(joint, "FEW", few)
    counter, counts = JointCounter(1), np.zeros((1, 5), dtype=np.int64)
    counter.begin(np.zeros(100, dtype=np.int64))
    counter.add_places(counts, 5, np.full(100, place, dtype=np.int32), None)
    with pytest.raises(ValueError, match="outside the table" if few == 1 else "reshape|negative"):
        counter.end()
    assert not counts.any()
