"""Predicates: what passes, which interval is counted, what is refused, and which exclude each other."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.errors import ParameterError
from discreet.queries.predicates import (
    LONGEST_TEXT,
    MOST_PREDICATES,
    MOST_VALUES,
    Predicate,
    Where,
    are_disjoint,
    common,
    have_common,
    intervals,
    spans_of,
)
from discreet.records.encoding import Cells
from discreet.schema import columns

SCHEMA = Schema(
    [
        Numeric("age", 0, 10, grid=5, fill=4),
        Categorical("sex", ["F", "M"]),
        Categorical("smoker", ["no", "yes", "unknown"], unlisted=False, missing="unknown"),
        Categorical("ward", [1, 2], unlisted=False),
    ],
    target="ill",
    classes=["no", "yes"],
)


def spans(**content):
    return Predicate.from_plain(content).spans(SCHEMA)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"column": "sex", "equals": "F"}, ((0, 1),)),
        ({"column": "sex", "in": ["M", "F"]}, ((0, 2),)),
        ({"column": "sex", "missing": True}, ((2, 3),)),
        ({"column": "sex", "unlisted": True}, ((2, 3),)),
        ({"column": "smoker", "in": ["no", "unknown"]}, ((0, 1), (2, 3))),
        ({"column": "smoker", "missing": True}, ((2, 3),)),
        ({"column": "ward", "equals": "01"}, ((0, 1),)),
        ({"column": "ward", "equals": 2.0}, ((1, 2),)),
        ({"column": "ill", "equals": "yes"}, ((1, 2),)),
        ({"column": "age", "between": [4, 6]}, ((2, 4),)),
        ({"column": "age", "between": [3.1, 4.9]}, ((2, 3),)),
        ({"column": "age", "between": [None, 2]}, ((0, 2),)),
        ({"column": "age", "between": [8, None]}, ((4, 6),)),
        ({"column": "age", "between": [-50, 50]}, ((0, 6),)),
        ({"column": "age", "equals": 10}, ((5, 6),)),
        ({"column": "age", "in": [0, 10, 9.9]}, ((0, 1), (5, 6))),
    ],
)
def test_a_predicate_names_cells(content, expected):
    assert spans(**content) == expected
    assert Predicate.from_plain(Predicate.from_plain(content).to_plain()) == Predicate.from_plain(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"column": "height", "equals": 1}, "'height' is not in the schema.*'age'"),
        ({"column": "sex", "between": [1, 2]}, "'sex' holds categories"),
        ({"column": "ill", "between": [1, 2]}, "'ill' holds categories"),
        ({"column": "sex", "equals": "X"}, "'X' is not listed.*'F', 'M'"),
        ({"column": "ill", "missing": True}, "never counted"),
        ({"column": "ward", "missing": True}, "count as 1; ask for that category"),
        ({"column": "smoker", "unlisted": True}, "no cell for values outside"),
        ({"column": "age", "missing": True}, "missing number counts as 4"),
        ({"column": "age", "equals": "4"}, "holds numbers"),
        ({"column": "age", "equals": True}, "holds numbers"),
        ({"column": "age", "between": [6, 4]}, "the smaller number first"),
        ({"column": "age", "between": [11, 20]}, "public bounds, 0 to 10"),
        ({"column": "age", "between": [-(10**200), -1]}, "public bounds"),
        ({"column": "age", "equals": 12}, "public bounds"),
        ({"column": "age", "between": [1]}, "two numbers"),
        ({"column": "age", "between": 1}, "need a list"),
        ({"column": "age", "between": [math.nan, 1]}, "finite number"),
        ({"column": "age", "between": [math.inf, 1]}, "finite number"),
        ({"column": "age", "equals": None}, "finite number"),
        ({"column": "age", "equals": 10**5000}, "finite number"),
        ({"column": "age", "equals": {"a": 1}}, "finite number"),
        ({"column": "sex", "in": []}, f"from 1 to {MOST_VALUES}"),
        ({"column": "sex", "in": ["F"] * (MOST_VALUES + 1)}, f"from 1 to {MOST_VALUES}"),
        ({"column": "sex", "equals": "F" * (LONGEST_TEXT + 1)}, "longer than"),
        ({"column": "sex", "missing": False}, "need true"),
        ({"column": "sex", "equals": "F", "in": ["M"]}, "exactly one test"),
        ({"column": "sex", "like": "F%"}, "exactly one test"),
        ({"column": "sex"}, "exactly one test"),
        ({"column": 3, "equals": 1}, "no column"),
        ({"equals": 1}, "no column"),
        ("age > 3", "no column"),
        (None, "no column"),
    ],
)
def test_what_is_no_predicate_is_refused_with_a_remedy(content, words):
    with pytest.raises(ParameterError, match=words) as caught:
        Predicate.from_plain(content).spans(SCHEMA)
    assert len(str(caught.value)) < 400


def test_a_conjunction_is_bounded_and_can_be_passed():
    one = {"column": "sex", "equals": "F"}
    with pytest.raises(ParameterError, match=f"at most {MOST_PREDICATES}"):
        Where.from_plain([one] * (MOST_PREDICATES + 1))
    with pytest.raises(ParameterError, match="need a list of predicates"):
        Where.from_plain(one)
    with pytest.raises(ParameterError, match="'sex': no record can pass"):
        Where.from_plain([one, {"column": "sex", "equals": "M"}]).spans(SCHEMA)
    both = Where.from_plain([{"column": "age", "between": [0, 4]}, {"column": "age", "between": [4, 8]}])
    assert both.spans(SCHEMA) == {"age": ((2, 3),)}


class Everything(Predicate):
    """A predicate that claims other cells than it tests."""

    def spans(self, schema):
        return ((0, 0),)


def test_a_predicate_of_another_type_is_refused():
    with pytest.raises(ParameterError, match="not a predicate"):
        Where((Everything("sex", "equals", ("F",)),))


def test_words_say_what_is_counted():
    where = Where.from_plain(
        [
            {"column": "age", "between": [3.5, 6]},
            {"column": "sex", "missing": True},
            {"column": "smoker", "in": ["no", "yes"]},
            {"column": "ill", "equals": "no"},
        ]
    )
    assert where.counted(SCHEMA) == [
        "age from 3 to 7 or missing",
        "sex = (any other)",
        "smoker in no, yes",
        "ill = no",
    ]
    assert Predicate("age", "between", (None, 1)).counted(SCHEMA) == "age from 0 to 3"


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 65_000), st.lists(st.floats(-0.2, 1.2), min_size=3))
def test_an_interval_holds_all_numbers_between_its_bounds(lower, width, grid, places):
    """Bounds snap outwards: no number between them is left out, and none beyond the stated interval is let in."""
    column = Numeric("x", lower, lower + width, grid=grid)
    schema = Schema([column], "y", ["a"])
    low, *inside, high = sorted(lower + place * width for place in places)
    if high < column.lower or low > column.upper:
        return
    predicate = Predicate("x", "between", (low, high))
    ((start, stop),) = predicate.spans(schema)
    around = [math.nextafter(value, towards) for value in (low, high) for towards in (low, high)]
    codes = Cells("x").number_codes(np.array([low, high, *inside, *around]), column)
    assert ((codes >= start) & (codes < stop)).all()
    ((counted_from, counted_to),) = intervals(((start, stop),), column)
    slack = 1e-9 * (abs(lower) + width)
    assert counted_from <= max(low, column.lower) + slack
    assert counted_to >= min(high, column.upper) - slack


@given(st.frozensets(st.integers(0, 30)), st.frozensets(st.integers(0, 30)))
def test_spans_are_sets(first, second):
    ours, theirs = spans_of(first), spans_of(second)
    assert {code for span in ours for code in range(*span)} == first
    assert common(ours, theirs) == spans_of(first & second)


SMALL = Schema([Numeric("n", 0, 2, grid=2), Categorical("c", ["a", "b"])], "y", ["s", "t"])
PARTS = {
    "n": [None, *({"column": "n", "between": list(ends)} for ends in ((0, 0), (0, 1), (1, 2), (2, 2)))],
    "c": [None, {"column": "c", "equals": "a"}, {"column": "c", "in": ["a", "b"]}, {"column": "c", "missing": True}],
    "y": [None, {"column": "y", "equals": "s"}, {"column": "y", "equals": "t"}],
}


def test_disjointness_is_what_all_records_say():
    """Exhaustive: all conjunctions of a small schema, against all records that there can be."""
    wheres = [
        Where.from_plain([each for each in parts if each is not None]) for parts in itertools.product(*PARTS.values())
    ]
    records = list(itertools.product(range(3), range(3), range(2)))
    passing = []
    for where in wheres:
        found = {name: {code for span in each for code in range(*span)} for name, each in where.spans(SMALL).items()}
        passing.append(
            {
                record
                for record in records
                if all(code in found.get(name, {code}) for name, code in zip(("n", "c", "y"), record, strict=True))
            }
        )
    for (first, ours), (second, theirs) in itertools.combinations_with_replacement(
        zip(wheres, passing, strict=True), 2
    ):
        assert are_disjoint(first, second, SMALL) == (not ours & theirs)
        assert are_disjoint(second, first, SMALL) == (not ours & theirs)


class Changing(float):
    """A number that is another one every second time."""

    def __new__(cls, number, other):
        made = super().__new__(cls, number)
        made.turns = itertools.cycle([number, other])
        return made

    def __float__(self):
        return next(self.turns)


def test_values_have_no_methods_of_their_own():
    """Else they could name other cells when records are counted than when predicates were compared."""
    hostile = Predicate("age", "equals", (Changing(2.0, 8.0),))
    assert {hostile.spans(SCHEMA) for _ in range(4)} == {spans(column="age", equals=2)}
    given = (Changing(1.0, 2.0), np.int64(3), np.float32(0.5), np.str_("a"), np.bool_(1), type("Word", (str,), {})("b"))
    assert [type(each) for each in Predicate("age", "in", given).values] == [float, int, float, str, str, str]
    assert Predicate("age", "between", (np.int64(2), None)).spans(SCHEMA) == spans(column="age", between=[2, None])


def test_true_and_one_are_different_categories():
    schema = Schema([Categorical("x", [1, True])], target="ill", classes=["no", "yes"])
    one, true = (Predicate("x", "equals", (value,)) for value in (1, True))
    assert one != true
    assert (one.spans(schema), true.spans(schema)) == (((0, 1),), ((1, 2),))
    assert Predicate.from_plain(true.to_plain()) == true == Predicate("x", "equals", ("true",))
    assert are_disjoint(Where((one,)), Where((true,)), schema)


def test_predicates_are_looked_up_once_for_a_schema(monkeypatch):
    """A request is checked, grouped, priced and counted by the same spans: lists of categories may be long."""
    looked, spans_of_one = [], Predicate.spans
    monkeypatch.setattr(Predicate, "spans", lambda self, schema: looked.append(self) or spans_of_one(self, schema))
    where = Where.from_plain([{"column": "sex", "equals": "F"}, {"column": "age", "between": [4, 6]}])
    first = where.spans(SCHEMA)
    first.clear()
    assert where.spans(SCHEMA) == {"sex": ((0, 1),), "age": ((2, 4),)}
    assert len(looked) == 2
    other = SCHEMA.replace(columns=[Categorical("sex", ["M", "F"]), *(each for each in SCHEMA.columns[:1])])
    assert where.spans(other)["sex"] == ((1, 2),)
    assert where == Where(where.predicates)
    assert pickle.loads(pickle.dumps(where)).__dict__ == {"predicates": where.predicates}


def test_the_spelling_of_a_category_is_made_once_for_all_predicates(monkeypatch):
    schema = Schema([Categorical("code", [f"c{number}" for number in range(5000)])], "ill", ["no", "yes"])
    made = []
    monkeypatch.setattr(columns, "text_of", lambda label: made.append(label) or str(label))
    for number in range(50):
        assert Predicate("code", "equals", (f"c{number}",)).spans(schema) == ((number, number + 1),)
    assert len(made) == 5000


SOME_CODES = st.sets(st.integers(0, 12))


@given(SOME_CODES, SOME_CODES)
def test_what_is_common_is_found_at_the_first_code(first, second):
    assert have_common(spans_of(first), spans_of(second)) == bool(first & second)
