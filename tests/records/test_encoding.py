"""Encoding is total: no value makes it fail, and every record falls in one cell; equal spellings have equal cells."""

import datetime
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.records.encoding import Cells, as_floats, category_codes, class_codes, label_codes, number_of
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric, text_of

SCHEMA = Schema(
    [
        Numeric("x", -2.5, 7, fill=0.5, grid=10),
        Categorical("c", ["a", 1, 2.5, True, "-"]),
        Categorical("full", ["a", "b"], unlisted=False, missing="b"),
    ],
    "y",
    ["no", 1, 0.5],
)


class Awkward:
    """An object whose methods all raise."""

    def __eq__(self, other):
        raise RuntimeError("no")

    def __ne__(self, other):
        raise RuntimeError("no")

    def __float__(self):
        raise RuntimeError("no")

    def __hash__(self):
        raise TypeError("no")


ODD = [
    None, math.nan, math.inf, -math.inf, 10**400, -(10**400), 10**5000, -(10**5000), 2**63, -(2**64),
    Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("1e999999"), Decimal("2.5"), Fraction(1, 3),
    Fraction(10**400), b"1", bytearray(b"a"), 1j, np.complex64(1), [], [1, 2], (), (1, [2]), {}, {"a": 1}, {1},
    pd.NA, pd.NaT, pd.Timestamp("2020-01-01"), pd.Timedelta(1, "s"), datetime.date(2020, 1, 1), range(3),
    np.datetime64("NaT", "s"), np.timedelta64(3, "s"), np.timedelta64("NaT", "s"), np.float32(0.1), np.float16(2.5),
    np.longdouble(1), np.int8(1), np.uint64(2**64 - 1), np.bool_(True), True, False, np.str_("a"), "", "   ", "a",
    " a ", "A", "1", "1.0", "٣", "Ⅷ", "½", "1_0", "0x10", "nan", "inf", "-Infinity", "1e999", "\ud800", "\x00",
    "a" * 10_000, "9" * 10_000, "\u00a01", np.array([1.0]), np.array([1, 2]), np.array([]), object(), Awkward(),
    Awkward, lambda: 1, ...,
]  # fmt: skip

anything = st.one_of(
    st.sampled_from(ODD),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.booleans(),
    st.decimals(),
    st.complex_numbers(),
    st.fractions(),
    st.dates(),
    st.datetimes(),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.from_regex(r"[+-]?[0-9]*[.]?[0-9]*([eE][+-]?[0-9]{1,4})?", fullmatch=True),
)


def objects(values):
    array = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        array[position] = value
    return array


def is_missing_text(value):
    return isinstance(value, str) and not value.strip(" ")


@given(st.lists(anything, max_size=8), st.integers(1, 40))
@example(ODD, 4)
def test_no_value_makes_a_number_fail(values, bins):
    for cells in (Cells("x"), Cells("x", bins)):
        codes = cells.codes(objects(values), SCHEMA)
        assert codes.shape == (len(values),)
        assert ((codes >= 0) & (codes < cells.size(SCHEMA))).all()


@given(st.lists(anything, max_size=8))
@example(ODD)
def test_no_value_makes_a_category_or_label_fail(values):
    for name in ("c", "full"):
        codes = Cells(name).codes(objects(values), SCHEMA)
        assert codes.shape == (len(values),)
        assert ((codes >= 0) & (codes < SCHEMA[name].size)).all()
    labels = class_codes(objects(values), SCHEMA)
    assert ((labels >= 0) & (labels <= len(SCHEMA.classes))).all()


@given(st.lists(anything, min_size=1, max_size=6))
@example(ODD)
def test_the_code_of_a_value_does_not_depend_on_the_other_records(values):
    """A record's cell depends on that record alone: sensitivity rests on this."""
    for encode in (lambda v: Cells("x").codes(v, SCHEMA), lambda v: Cells("c").codes(v, SCHEMA), number_class_codes):
        together = encode(objects(values))
        alone = [encode(objects([value]))[0] for value in values]
        assert together.tolist() == alone


def number_class_codes(values):
    return class_codes(values, SCHEMA)


@pytest.mark.parametrize("value", [v for v in ODD if v is None or is_missing_text(v)] + [math.nan, pd.NA, pd.NaT])
def test_missing_values_take_the_public_code(value):
    values = objects([value])
    assert Cells("x").codes(values, SCHEMA)[0] == Cells("x").missing_code(SCHEMA["x"])
    assert Cells("c").codes(values, SCHEMA)[0] == SCHEMA["c"].stray_code == 5
    assert Cells("full").codes(values, SCHEMA)[0] == 1
    assert class_codes(values, SCHEMA)[0] == len(SCHEMA.classes)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("01", 1.0), (" 2.5 ", 2.5), ("1.", 1.0), (".5", 0.5), ("+3", 3.0), ("1e3", 1000.0), ("1E-400", 0.0),
        ("1e999", math.inf), ("-1e999", -math.inf), ("inf", math.inf), ("-INFINITY", -math.inf), (True, 1.0),
        (np.False_, 0.0), (Decimal("2.5"), 2.5), (Fraction(1, 4), 0.25), (10**400, math.inf), (-(10**400), -math.inf),
        (Fraction(-(10**400)), -math.inf), (np.float32(0.1), float(np.float32(0.1))), (np.int8(-3), -3.0),
    ],
)  # fmt: skip
def test_numbers_that_are_read(value, number):
    assert number_of(value) == number


@pytest.mark.parametrize(
    "value",
    ["?", "", " ", "1_0", "0x10", "٣", "１", "nan", "1e", "e1", ".", "+", "1,5", "1 0", "\u00a01", "1\n", "--1", b"1"],
)
def test_texts_that_are_no_numbers(value):
    assert math.isnan(number_of(value))


def test_text_arrays_of_every_kind_are_read_as_numbers():
    texts = ["1", " 2.5", "?", "-inf"]
    expected = [1.0, 2.5, math.nan, -math.inf]
    for array in (np.array(texts), objects(texts), np.array(texts, dtype=np.dtypes.StringDType())):
        np.testing.assert_array_equal(as_floats(array), expected)
    assert np.isnan(as_floats(np.array([b"1"]))).all()
    assert np.isnan(as_floats(np.array([1 + 1j]))).all()


@pytest.mark.parametrize(
    ("label", "values"),
    [
        (1, [1, 1.0, "1", " 1 ", np.int8(1), np.float32(1), True, np.True_, Decimal(1), Decimal("1.00")]),
        ("1", [1, 1.0, "1", True]),
        (1.0, [1, "1"]),
        (2.5, [2.5, "2.5", np.float64(2.5), Decimal("2.5")]),
        ("a", ["a", " a", np.str_("a ")]),
        (True, [True, np.True_, "true"]),
        ("TRUE", [True, "TRUE"]),
        (0, [0, 0.0, -0.0, "0", False]),
        ("1e+15", [1e15, "1e+15", "1000000000000000"]),
        (-3, [-3, "-3", -3.0]),
    ],
)
def test_values_that_are_the_label(label, values):
    column = Categorical("c", ["zzz", label])
    for value in values:
        assert category_codes(objects([value]), column)[0] == 1, value
        if isinstance(value, int | float | str | np.generic):
            assert category_codes(np.array([value]), column)[0] == 1, value


@pytest.mark.parametrize(
    ("label", "values"),
    [
        (1, ["1.0.", "O1", "1_0", "1 0", b"1", 1 + 1j, 1.5, [1], 10**400]),
        ("a", ["A", "b", "\u00a0a", "a\t"]),
        (True, [1, 1.0, "1", False, "false"]),
        (0.1, [np.float32(0.1)]),
        ("nan", [None]),
    ],
)
def test_values_that_are_not_the_label(label, values):
    column = Categorical("c", [label])
    for value in values:
        assert category_codes(objects([value]), column)[0] == 1, value


def test_a_boolean_is_a_word_first_and_a_digit_second():
    values = np.array([True, False])
    assert category_codes(values, Categorical("c", ["0", "1"])).tolist() == [1, 0]
    assert category_codes(values, Categorical("c", ["False", "True", "0", "1"])).tolist() == [1, 0]
    assert category_codes(values, Categorical("c", ["no", "yes"])).tolist() == [2, 2]


labels_of_numbers = st.lists(
    st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False).map(repr),
    min_size=1, max_size=5, unique_by=text_of,
)  # fmt: skip


@given(labels_of_numbers, st.lists(st.floats() | st.integers(-5, 5).map(float), max_size=10))
def test_arrays_of_numbers_and_of_objects_give_the_same_codes(labels, values):
    values += [float(label) for label in labels]
    by_number = label_codes(np.array(values), labels, 98, 99)
    by_text = label_codes(objects(values), labels, 98, 99)
    assert by_number.tolist() == by_text.tolist()


@pytest.mark.parametrize("label", [2**53 - 1, -(2**53) + 1, 123_456_789])
def test_large_integers_match_whatever_the_array(label):
    column = Categorical("c", ["a", label])
    arrays = objects([label, label - 1]), np.array([label, label - 1]), np.array([str(label), str(label - 1)])
    assert [category_codes(array, column).tolist() for array in arrays] == [[1, 2]] * 3


def exact_code(value, column, bins):
    """The cell in exact arithmetic, with its distance from the nearest edge."""
    width = Fraction(column.upper) - Fraction(column.lower)
    cells = column.grid if bins is None else bins
    position = (Fraction(value) - Fraction(column.lower)) / width * cells + (Fraction(1, 2) if bins is None else 0)
    top = column.grid if bins is None else bins - 1
    return min(max(math.floor(position), 0), top), abs(position - round(position))


@given(
    st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(-2e6, 2e6), st.none() | st.integers(1, 200),
    st.integers(2, 5000),
)  # fmt: skip
def test_the_code_is_that_of_exact_arithmetic_away_from_edges(lower, width, value, bins, grid):
    column = Numeric("x", lower, lower + width, grid=grid)
    schema = Schema([column], "y", ["a"])
    expected, margin = exact_code(value, column, bins)
    if margin > 1e-6:
        assert Cells("x", bins).codes(np.array([value]), schema)[0] == expected


@given(st.floats(-10, 10, width=32), st.none() | st.integers(1, 50))
def test_a_float32_is_the_float64_of_the_same_value(value, bins):
    cells = Cells("x", bins)
    codes = [cells.codes(np.array([value], dtype=kind), SCHEMA)[0] for kind in (np.float32, np.float64, object)]
    assert len(set(codes)) == 1


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=20), st.none() | st.integers(1, 50))
def test_codes_grow_with_the_value(values, bins):
    codes = Cells("x", bins).codes(np.sort(values), SCHEMA)
    assert (np.diff(codes) >= 0).all()


def test_bounds_are_clipped_and_the_ends_are_inside():
    values = np.array([-math.inf, -1e308, -2.5, 7.0, 1e308, math.inf, 5e-324])
    assert Cells("x").codes(values, SCHEMA).tolist() == [0, 0, 0, 10, 10, 10, 3]
    assert Cells("x", 4).codes(values, SCHEMA).tolist() == [0, 0, 0, 3, 3, 3, 1]


@pytest.mark.parametrize(
    ("lower", "upper"), [(0, 1e-300), (-8e307, 8e307), (1e15, 1e15 + 1), (0, 1), (-1, 1e-9), (2**53, 2**53 + 2)]
)
@pytest.mark.parametrize("fill", [None, "lower", "upper"])
def test_extreme_bounds_have_codes_for_everything(lower, upper, fill):
    column = Numeric("x", lower, upper, fill={"lower": lower, "upper": upper, None: None}[fill], grid=65_000)
    schema = Schema([column], "y", ["a"])
    values = np.array([lower, upper, math.nan, 0.0, 1e308, -1e308, math.inf, -math.inf])
    for cells in (Cells("x"), Cells("x", 128)):
        codes = cells.codes(values, schema)
        top = cells.size(schema) - 1
        assert codes[0] == 0
        assert codes[1] == top
        assert codes[2] == {"lower": 0, "upper": top, None: codes[2]}[fill]
        assert ((codes >= 0) & (codes <= top)).all()
