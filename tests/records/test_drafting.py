"""Schemas read off the data: complete, and marked, so nothing is guaranteed."""

import contextlib
import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DataError, SchemaError
from discreet.records.drafting import FEW, MANY, column_names, draft, labels_in, schema_from_data
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric


def test_every_entry_that_was_read_is_marked():
    frame = pd.DataFrame({"age": [3.0, 1.0, np.nan], "sex": ["F", None, "M"]})
    schema = schema_from_data(frame, pd.Series(["b", "a", "b"], name="ill"))
    assert schema["age"] == Numeric("age", 1.0, 3.0)
    assert schema["sex"] == Categorical("sex", ["F", "M"])
    assert (schema.target, schema.classes, schema.records) == ("ill", ("a", "b"), 3)
    assert set(schema.from_data) == {"age.lower", "age.upper", "sex.categories", "records", "classes"}
    assert not schema.is_public


def test_all_kinds_of_tables_give_the_same_draft():
    columns = {"x": [1.0, 2.0, 4.0], "c": ["a", "b", "a"]}
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    tables = columns, records, pd.DataFrame(columns), pl.DataFrame(columns)
    drafts = [schema_from_data(table, [0, 1, 0]) for table in tables]
    assert all(each == drafts[0] for each in drafts)
    assert drafts[0].names == ["x", "c"]


def test_arrays_have_names_by_position():
    assert schema_from_data(np.zeros((3, 2)), [0, 1, 0]).names == ["x0", "x1"]
    frame = pd.DataFrame(np.array([[0.0, 1.0], [2.0, 3.0]]))
    assert schema_from_data(frame, [0, 1]).names == ["0", "1"]
    assert column_names({"a": [1]}) == ["a"]
    for bad in (np.zeros(3), np.zeros((3, 0)), 3):
        with pytest.raises(DataError, match=r"2-D|Reshape"):
            column_names(bad)


def test_the_target_never_takes_the_name_of_a_column():
    schema = schema_from_data({"target": [1.0, 2.0], "target_": [1.0, 2.0]}, [0, 1])
    assert schema.target == "target__"


@given(st.lists(st.floats(width=64), min_size=1, max_size=20))
def test_any_numbers_have_a_draft(values):
    schema = schema_from_data(np.array(values)[:, None], ["a"] * len(values))
    column = schema["x0"]
    finite = [value for value in values if math.isfinite(value)]
    assert column.lower < column.upper
    assert all(column.lower <= value <= column.upper for value in finite)


def test_text_that_is_numbers_is_numeric_if_it_takes_many_values():
    many = [str(value) for value in range(FEW + 1)] + ["?", ""]
    few = [str(value) for value in range(FEW)]
    assert isinstance(schema_from_data({"x": many}, [0] * len(many))["x"], Numeric)
    assert isinstance(schema_from_data({"x": few}, [0] * len(few))["x"], Categorical)
    assert isinstance(schema_from_data({"x": [*many, "n/a"]}, [0] * (len(many) + 1))["x"], Categorical)


def test_identifiers_are_refused_by_name():
    values = [f"person {i}" for i in range(MANY + 1)]
    with pytest.raises(DataError, match=r"'who' holds more than 1000 different texts.*leave it out") as caught:
        schema_from_data({"who": values}, [0] * len(values))
    assert "person" not in str(caught.value)


def test_labels_are_sorted_and_missing_ones_left_out():
    assert labels_in(np.array(["b", "a", "b"])) == ["a", "b"]
    assert labels_in(np.array([2, 1, 10])) == [1, 2, 10]
    assert labels_in(np.array([None, "a", math.nan, ""], dtype=object)) == ["a"]
    assert labels_in(np.array([], dtype=object)) == ["-"]
    assert labels_in(np.array(["b", 1, "a"], dtype=object)) == [1, "a", "b"]


@given(
    st.lists(
        st.one_of(st.none(), st.text(max_size=3), st.integers(), st.floats(), st.booleans(), st.dates(), st.binary()),
        min_size=1, max_size=10,
    )
)  # fmt: skip
def test_any_column_of_objects_has_a_draft_or_a_named_error(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    labels = np.array(["a"] * len(values))
    if any(isinstance(value, bytes | datetime.date) for value in values):
        with contextlib.suppress(SchemaError):  # these cannot be categories; the data are public
            draft({"c": array}, labels, "y", len(values))
        return
    schema = draft({"c": array}, labels, "y", len(values))
    assert Schema.from_dict(schema.to_dict()) == schema
