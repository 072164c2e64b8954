"""All kinds of tables in memory are read alike; a table is refused for its structure alone."""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from discreet import Categorical, NaiveBayes, Numeric, Schema
from discreet.errors import DataError
from discreet.records.encoding import Cells, class_codes
from discreet.records.tables import Table, as_matrix, as_vector
from discreet.sources.memory import MemorySource
from support.records import split_target

NUMBERS = Schema([Numeric("a", 0, 10), Numeric("b", -1, 1), Categorical("c", [0, 1, 2])], "y", ["no", "yes"])


def as_records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def frames(columns):
    plain = {name: list(values) for name, values in columns.items()}
    polars = pl.DataFrame({name: pl.Series(values, strict=False) for name, values in plain.items()})
    return {
        "pandas": pd.DataFrame(columns),
        "pandas objects": pd.DataFrame(columns).astype(object),
        "pandas nullable": pd.DataFrame(plain).convert_dtypes(),
        "pandas categories": pd.DataFrame(columns).astype({"sex": "category", "site": "category"}),
        "polars": polars,
        "polars categories": polars.with_columns(pl.col("sex", "site").cast(pl.Categorical)),
        "pyarrow": pa.table({name: pa.array(values, from_pandas=True) for name, values in plain.items()}),
        "records": as_records(plain),
        "dict of arrays": columns,
        "dict of lists": plain,
        "2-D objects": np.stack([np.array(values, dtype=object) for values in plain.values()], axis=1),
        "list of lists": [list(row) for row in zip(*plain.values(), strict=True)],
    }


def counts(source, schema):
    cells = [Cells(column.name, bins) for column in schema.columns for bins in (None, 7)]
    return {each: table.tolist() for each, table in source.count(cells, schema).counts.items()}


def test_all_kinds_of_tables_give_the_same_statistics(schema, records):
    X, y = split_target(records)
    expected = None
    for kind, table in frames(X).items():
        source = MemorySource(table, y)
        source.check(schema)
        got = counts(source, schema)
        expected = expected or got
        assert got == expected, kind


def test_labels_may_be_a_column_of_the_table(schema, records):
    X, y = split_target(records)
    expected = counts(MemorySource(X, y), schema)
    for kind, table in frames(records).items():
        if kind not in ("2-D objects", "list of lists"):
            assert counts(MemorySource(table), schema) == expected, kind


@pytest.mark.parametrize(
    "make",
    [
        list,
        np.array,
        pd.Series,
        pl.Series,
        pa.chunked_array,
        lambda y: np.array(y)[:, None],
        lambda y: pd.Series(y, dtype="category"),
    ],
)
def test_labels_of_every_kind(schema, records, make):
    X, y = split_target(records)
    y = [str(label) for label in y]
    made = make([pa.array(y)]) if make is pa.chunked_array else make(y)
    assert counts(MemorySource(X, made), schema) == counts(MemorySource(X, y), schema)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int8, object, "U5"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_kind_and_order(kind, order):
    whole = np.array([[0, 1, 2], [3, -1, 0], [10, 0, 1], [12, 5, 7]])
    y = ["no", "yes", "yes", "no"]
    assert counts(MemorySource(whole.astype(kind, order=order), y), NUMBERS) == counts(MemorySource(whole, y), NUMBERS)


def test_views_and_readonly_arrays_are_read_and_left_alone():
    rng = np.random.default_rng(0)
    big = rng.random((20, 9))
    big.flags.writeable = False
    before = big.copy()
    y = ["no", "yes"] * 5
    assert counts(MemorySource(big[::2, 1:7:2], y), NUMBERS) == counts(MemorySource(big[::2, 1:7:2].copy(), y), NUMBERS)
    np.testing.assert_array_equal(big, before)


def test_mixed_types_in_a_column_do_not_change_how_a_value_is_read():
    schema = Schema([Categorical("c", [1, "a", True])], "y", ["no"])
    values = [1.0, "a", True, 1, None]
    tables = [{"c": value} for value in values], {"c": values}, [[value] for value in values]
    got = [MemorySource(table, ["no"] * 5).count([Cells("c")], schema).counts[Cells("c")].tolist() for table in tables]
    assert got == [[[2, 1, 1, 1]]] * 3


def test_records_may_lack_keys_and_hold_anything():
    schema = Schema([Categorical("c", ["a"]), Numeric("x", 0, 1)], "y", ["no"])
    tables = [
        [{}, {"c": "a"}, {"x": 1}],
        [{"c": [1, 2], "x": [3]}, {"c": [3, 4], "x": [4]}],
        [{"c": [1, 2], "x": [3]}, {"c": [3]}],
        [{"c": np.zeros(2)}, {"c": np.zeros(2)}],
        [{"c": {"a": 1}}],
        [],
    ]
    for table in tables:
        got = MemorySource(table, ["no"] * len(table)).count([Cells("c"), Cells("x")], schema)
        assert all(counts.sum() == len(table) for counts in got.counts.values())


def test_extra_keys_of_a_record_are_not_an_error():
    """Which keys a record has is private; a data frame's columns are structure."""
    schema = Schema([Categorical("c", ["a"])], "y", ["no"])
    MemorySource([{"c": "a", "note": "x"}], ["no"]).check(schema)


ROWS = 4
COLUMNS = {"a": [1.0] * ROWS, "b": [0.5] * ROWS, "c": [1] * ROWS}


def without(name):
    return {key: values for key, values in COLUMNS.items() if key != name}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_and_extra_columns_are_named_with_a_remedy(make):
    with pytest.raises(DataError, match=r"column 'b' of the schema is missing in the table; add or rename columns"):
        MemorySource(make(without("b")), ["no"] * ROWS).check(NUMBERS)
    with pytest.raises(DataError, match=r"column 'id' is not in the schema; drop it.*'ignore'"):
        MemorySource(make({**COLUMNS, "id": [1] * ROWS}), ["no"] * ROWS).check(NUMBERS)
    MemorySource(make({**COLUMNS, "id": [1] * ROWS}), ["no"] * ROWS).check(NUMBERS.replace(ignore=["id"]))
    with pytest.raises(DataError, match="column 'y' of the schema is missing"):
        MemorySource(make(COLUMNS)).check(NUMBERS)
    MemorySource(make({**COLUMNS, "y": ["no"] * ROWS})).check(NUMBERS)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros(3), "1 dimensions; need 2. Reshape your data"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.float64(3), "0 dimensions"),
        (np.zeros((4, 2)), "X has 2 features, but the schema has 3 columns"),
        (sparse.csr_matrix(np.zeros((4, 3))), "sparse input is not supported; pass X.toarray"),
        (sparse.coo_array(np.zeros((4, 3))), "sparse input is not supported"),
        ({"a": [1], "b": [1, 2], "c": [1]}, "different lengths"),
        (pd.Series([1.0] * 4), "1 dimensions"),
    ],
)
def test_wrong_shapes_are_data_errors(data, message):
    with pytest.raises(DataError, match=message):
        Table(data, NUMBERS)


def test_a_row_of_another_length_is_padded_or_cut():
    """One cell more or less in one record must not decide whether a fit fails."""
    counts = MemorySource([[1, 0, 2], [1], [1, 0, 2, 9], None], ["no"] * 4).count([Cells("c")], NUMBERS).counts
    assert counts[Cells("c")].tolist() == [[0, 0, 2, 2], [0, 0, 0, 0]]


def test_masked_values_are_missing_and_strange_records_are_empty():
    masked = {name: np.ma.array([1.0, 2.0], mask=[False, True]) for name in "abc"}
    for data in (masked, [{"a": 1, "b": 1, "c": 1}, None]):
        counts = MemorySource(data, ["no"] * 2).count([Cells("c")], NUMBERS).counts
        assert counts[Cells("c")].tolist() == [[0, 1, 0, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize("cells", [[[1], [1, 2]], [[1, 2], [3, 4]], [[], []], [{}, {}], [(1, 2), None]])
def test_cells_that_are_lists_are_values(cells):
    """The length of a list in a cell is private: no error may depend on it."""
    source = MemorySource({"a": cells, "b": [0, 1], "c": cells}, ["no", "yes"])
    source.check(NUMBERS)
    assert all(table.sum() == 2 for table in source.count([Cells("a"), Cells("c")], NUMBERS).counts.values())


def test_columns_named_twice_are_a_data_error():
    frame = pd.DataFrame(np.zeros((2, 4)), columns=["a", "a", "b", "c"])
    with pytest.raises(DataError, match="two columns named 'a'; rename or drop one"):
        MemorySource(frame, ["no"] * 2).check(NUMBERS)


def test_columns_may_be_named_by_integers():
    schema = Schema([Numeric("0", 0, 1), Numeric("1", 0, 1)], "y", ["no"])
    MemorySource(pd.DataFrame(np.zeros((2, 2))), ["no"] * 2).check(schema)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({**COLUMNS, "b": pd.date_range("2020-01-01", periods=ROWS)}),
        pd.DataFrame({**COLUMNS, "b": pd.to_timedelta([1] * ROWS, unit="s")}),
        pl.DataFrame({**COLUMNS, "b": [datetime.date(2020, 1, 1)] * ROWS}),
        pl.DataFrame({**COLUMNS, "b": [datetime.time(1)] * ROWS}),
        pa.table({**COLUMNS, "b": pa.array([0] * ROWS, pa.timestamp("s"))}),
        {**COLUMNS, "b": np.zeros(ROWS, dtype="datetime64[s]")},
    ],
    ids=["pandas date", "pandas delta", "polars date", "polars time", "pyarrow", "numpy"],
)
def test_dates_are_refused_by_name(frame):
    with pytest.raises(DataError, match=r"column 'b' holds dates or times; turn it into"):
        MemorySource(frame, ["no"] * ROWS).check(NUMBERS)


@pytest.mark.parametrize("y", [["no"] * (ROWS - 1), [], ["no"] * (ROWS + 1)])
def test_labels_of_another_length_are_refused(y):
    with pytest.raises(DataError, match="different lengths; need one label per record"):
        MemorySource(COLUMNS, y).check(NUMBERS)


@pytest.mark.parametrize("y", ["no", np.zeros((4, 2)), np.zeros((2, 2, 1)), 3])
def test_labels_of_another_shape_are_refused(y):
    with pytest.raises(DataError, match="need one label per record"):
        as_vector(y)


@pytest.mark.parametrize("kind", [object, float, "U1", bool])
def test_columns_of_an_array_are_views(kind):
    array = np.zeros((5, 3), dtype=kind)
    assert as_matrix(array, 3) is array
    assert np.shares_memory(Table(array, NUMBERS).column("b"), array)


def test_a_source_shows_no_values(records):
    X, y = split_target(records)
    assert repr(MemorySource(X, y)) == "MemorySource(values hidden)"


@pytest.mark.parametrize("block", [1, 3, 1 << 15])
def test_blocks_of_rows_add_up(monkeypatch, schema, records, block):
    X, y = split_target(records)
    expected = counts(MemorySource(X, y), schema)
    monkeypatch.setattr("discreet.sources.memory.BLOCK", block)
    assert counts(MemorySource(X, y), schema) == expected


CELLS = st.one_of(
    st.sampled_from([True, False, 1, 0, 1.0, 0.1, "1", "1.0", "true", "True", " a", "a", None, math.nan, "", 2**60]),
    st.floats(width=32),
    st.complex_numbers(max_magnitude=2),
    st.sampled_from([math.inf, -math.inf, b"a", [1], (), {}]),
    st.integers(),
    st.text(max_size=3),
)


@pytest.mark.parametrize(
    "contain",
    [
        lambda values: {"c": values, "n": values},
        lambda values: [[value, value] for value in values],
        lambda values: [{"c": value, "n": value} for value in values],
        lambda values: pd.DataFrame({"c": values, "n": values}),
        lambda values: pd.DataFrame({"c": pd.Series(values, dtype=object), "n": pd.Series(values, dtype=object)}),
    ],
    ids=["columns", "rows", "dicts", "pandas", "pandas objects"],
)
@given(values=st.lists(CELLS, min_size=1, max_size=6), other=CELLS)
def test_one_record_never_changes_how_another_is_read(contain, values, other):
    """Otherwise one record could change the cells of many: the sensitivity of every table rests on this."""
    columns = [Categorical("c", ["true", "a", 1, 0.1]), Numeric("n", 0, 2, fill=1.5)]
    schema = Schema(columns, "t", ["true", "a", 1, 0.1])
    read = []
    for last in (values[0], other):
        table = Table(contain([*values, last]), schema)
        labels = class_codes(as_vector([*values, last]), schema)
        read.append([Cells(name, 9).codes(table.column(name), schema)[:-1].tolist() for name in ("c", "n")])
        read[-1].append(labels[:-1].tolist())
    assert read[0] == read[1]


@pytest.mark.parametrize("wrong", [[[1, 2]], [[1, 2, 3], [1, 2, 3, 4]], [{"a": 1, "b": 1}], [{"a": 1, "b": 1, "C": 1}]])
def test_mistakes_in_new_records_are_named(wrong):
    """Records to classify need no protection: a wrong width or a misspelled name is an error, not a missing value."""
    model = NaiveBayes(NUMBERS, epsilon=1).fit([[1, 0, 2]] * 4, ["no"] * 4)
    with pytest.raises(DataError, match="schema"):
        model.predict(wrong)
    assert len(model.predict([{"a": 1, "b": 1, "c": 1}, {"a": 2}])) == 2


def test_several_columns_that_no_schema_knows_are_named_at_once():
    table = {"a": [1], "b": [0], "c": [1], "x": [0], "z": [0]}
    with pytest.raises(DataError, match="columns 'x', 'z' are not in the schema; drop them"):
        MemorySource(table, ["no"]).check(NUMBERS)
