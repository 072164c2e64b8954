"""Bit sets cover exactly the records for which the condition holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.models.bees import coverage
from discreet.models.bees.colony import stream
from discreet.models.bees.coverage import CategoryAxis, IntervalAxis, axes_of, bits_of
from discreet.models.bees.rules import Between, Equals

numbers = st.floats(-10, 10) | st.integers(-3, 3).map(float)
samples = st.lists(numbers, max_size=150).map(np.array)


def unpacked(bits, rows):
    assert bits >> rows == 0
    return [bool(bits >> row & 1) for row in range(rows)]


@given(st.lists(st.booleans(), max_size=200))
def test_bits(mask):
    assert unpacked(bits_of(np.array(mask, dtype=bool)), len(mask)) == mask


@pytest.mark.parametrize("most", [coverage.MOST_BITS, -1], ids=["prefixes", "comparison"])
@given(values=samples, ends=st.tuples(numbers, numbers))
def test_intervals_cover_what_they_hold(most, values, ends):
    lower, upper = sorted(ends)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coverage, "MOST_BITS", most)
        axis = IntervalAxis("x", values, -10.0, 10.0)
    assert bool(axis._prefixes) is (most > 0)
    expected = [lower <= value <= upper for value in values]
    assert unpacked(axis.bits((lower, upper)), len(values)) == expected
    assert axis.condition((lower, upper)) == Between("x", lower, upper)
    assert axis.condition((lower, upper)).holds(values).tolist() == expected


@given(
    values=st.lists(st.sampled_from([-1.0, 0.0, 2.5]), min_size=1, max_size=30), first=st.sampled_from([-1.0, 0, 2.5])
)
def test_ends_that_are_values_belong_to_the_interval(values, first):
    axis = IntervalAxis("x", np.array(values), -1.0, 2.5)
    assert unpacked(axis.bits((first, 2.5)), len(values)) == [value >= first for value in values]


@given(codes=st.lists(st.integers(0, 3), max_size=100), gene=st.floats(1, 4))
def test_categories_cover_what_they_equal(codes, gene):
    codes = np.array(codes, dtype=np.intp)
    axis = CategoryAxis("x", codes, 4)
    nearest = int(np.argmin(np.abs(np.arange(1, 5) - gene)))  # the first of equals: halves go down
    assert axis.code((gene, gene)) == nearest
    assert unpacked(axis.bits((gene, gene)), len(codes)) == (codes == nearest).tolist()
    assert axis.condition((gene, gene)) == Equals("x", nearest)


def test_halves_go_down_and_codes_stay_in_range():
    axis = CategoryAxis("x", np.array([0, 1, 2]), 3)
    assert [axis.code((gene, gene)) for gene in (1, 1.5, 1.51, 2.5, 2.51, 3)] == [0, 0, 1, 1, 2, 2]
    assert [axis.code((gene, gene)) for gene in (0.2, 3.9)] == [0, 2]


@pytest.mark.parametrize(
    "axis", [IntervalAxis("x", np.array([1.0, 5.0]), 1.0, 5.0), CategoryAxis("x", np.array([0, 4]), 5)]
)
def test_genes_stay_ordered_and_in_range(axis):
    uniform = stream(0)
    genes = [axis.draw(uniform) for _ in range(20)]
    for step in range(2000):
        gene, other = genes[step % 20], genes[int(uniform() * 20)]
        genes[step % 20] = axis.move(gene, other, uniform)
        assert 1 <= genes[step % 20][0] <= genes[step % 20][1] <= 5


def test_moves_by_hand():
    """phi is twice the draw less one: 0.75 moves by half of the difference, 0.25 back by as much."""
    draws = iter([0.75, 0.25])
    axis = IntervalAxis("x", np.array([0.0, 10.0]), 0.0, 10.0)
    assert axis.move((4.0, 6.0), (2.0, 8.0), draws.__next__) == (5.0, 7.0)
    assert axis.move((4.0, 5.0), (0.0, 9.0), lambda: 1 - 1e-12) == (pytest.approx(1.0), pytest.approx(8.0)), "swapped"
    assert CategoryAxis("x", np.array([0]), 4).move((3.0, 3.0), (1.0, 1.0), lambda: 0.75) == (4.0, 4.0)


def test_bounds_are_those_of_the_values_or_the_public_ones():
    schema = Schema([Numeric("x", 0, 10), Categorical("c", ["a", "b"])], "y", [0, 1])
    encoded = {"x": np.array([2.0, 3.0]), "c": np.array([0, 1])}
    for public, least, most in ((False, 2, 3), (True, 0, 10)):
        axis = axes_of(encoded, schema, public)[0]
        assert axis.draw(lambda: 0.0) == (least, least)
        assert axis.draw(lambda: 1.0) == (most, most)
    assert axes_of({"x": np.empty(0), "c": np.empty(0)}, schema, False)[0].draw(lambda: 0.5) == (5, 5)


def test_an_unlisted_category_is_in_reach_only_if_there_is_one():
    schema = Schema([Categorical("c", ["a", "b"])], "y", [0, 1])
    for codes, top in (([0, 1], 1), ([0, 2], 2)):
        axis = axes_of({"c": np.array(codes)}, schema, False)[0]
        assert axis.condition(axis.draw(lambda: 1.0)) == Equals("c", top)
