"""Whatever a value is, reading it is total, concerns its own record alone, and comes after the charge.

One record with a hostile value is put into a table of every kind, at every place. No exception, no warning, nothing on
the screen; the same sequence of charges; and all other records have the codes that they have without it.
"""

import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet import Categorical, FeatureSelector, Ledger, LocalPerturbation, NaiveBayes, Numeric, Schema
from discreet.errors import DataError
from discreet.evaluation import evaluate
from discreet.records.encoding import Cells, as_floats, category_codes, class_codes
from discreet.records.tables import Table
from discreet.sources.memory import MemorySource
from support.estimators import PRIVATE
from support.hostile import BYTES, RECORDS, VALUES, undecodable

SCHEMA = Schema([Categorical("c", ["a", "b", "true", 1], missing="b"), Numeric("n", 0, 4, fill=3)], "y", ["no", "yes"])
CELLS = [Cells("c"), Cells("n", 7), Cells("n")]
COLUMNS = {
    "c": ["a", "zzz", None, "a", "b", "1", "True"],
    "n": ["1", "2.5", None, "x", "4", "0", "3"],
    "y": ["no", "yes", "yes", "no", "zzz", "a", "no"],
}
ROWS = 7


def objects(values):
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def frame_of(make):
    return lambda columns: (make(columns), None)


def rows_of(columns):
    return [list(row) for row in zip(columns["c"], columns["n"], strict=True)], columns["y"]


def matrix_of(columns):
    return np.stack([objects(columns["c"]), objects(columns["n"])], axis=1), objects(columns["y"])


def pandas_objects(columns):
    return pd.DataFrame({name: pd.Series(objects(values), dtype=object) for name, values in columns.items()})


def split(make_column):
    """Attributes as a mapping of such columns, labels as such a column."""

    def make(columns):
        made = {name: make_column(values) for name, values in columns.items()}
        return {name: made[name] for name in ("c", "n")}, made["y"]

    return make


OBJECTS = {
    "columns of arrays": frame_of(lambda columns: {name: objects(values) for name, values in columns.items()}),
    "columns of lists": split(list),
    "columns of tuples": split(tuple),
    "dicts": frame_of(lambda columns: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values())]),  # noqa: B905
    "rows": rows_of,
    "matrix": matrix_of,
    "pandas": frame_of(pandas_objects),
    "pandas series": split(lambda values: pd.Series(objects(values), dtype=object)),
    "pandas index": split(lambda values: pd.Index(objects(values), dtype=object)),
    "masked": split(lambda values: np.ma.array(objects(values), mask=[False] * len(values))),
    "pandas categories": frame_of(lambda columns: pandas_objects(columns).astype("category")),
    "polars": frame_of(lambda columns: pl.DataFrame({k: pl.Series(k, v, dtype=pl.Object) for k, v in columns.items()})),
}  # fmt: skip


def pandas_arrow(kind):
    return lambda values: pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([undecodable(values, kind)])))


def pandas_text(na_value):
    kind = pd.StringDtype("pyarrow", na_value=na_value)
    return lambda values: pa.chunked_array([undecodable(values, pa.large_string())]).to_pandas(
        types_mapper=lambda _: kind
    )


def in_chunks(values):
    return pa.chunked_array([undecodable(values[:3]), undecodable(values[3:4]), undecodable(values[4:])])


def encoded(values):
    """Each text as an entry of a dictionary."""
    there = list(dict.fromkeys(value for value in values if value is not None))
    places = pa.array([None if value is None else there.index(value) for value in values], pa.int32())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(places, undecodable(there))])


def table_of(make, library=pa.table):
    return frame_of(lambda columns: library({name: make(values) for name, values in columns.items()}))


def polars_text(values):
    return pl.from_arrow(undecodable(values, pa.large_string()))


def wide_characters(values):
    """numpy's text; what is not UTF-8 becomes a number that is not a character."""
    width = max(len(value or "") for value in values)
    array = np.array(["" if value is None else "?" * len(value) if isinstance(value, bytes) else value
                      for value in values], dtype=f"U{width}")  # fmt: skip
    numbers = array.view(np.uint32).reshape(len(values), width)
    for place, value in enumerate(values):
        if isinstance(value, bytes):
            numbers[place] = 0x110000
    return array


TEXTS = {
    "arrow": table_of(lambda values: pa.chunked_array([undecodable(values)])),
    "arrow array": split(undecodable),
    "arrow large": table_of(lambda values: undecodable(values, pa.large_string())),
    "arrow chunks": table_of(in_chunks),
    "arrow chunks as columns": split(in_chunks),
    "arrow dictionary": table_of(encoded),
    "arrow dictionary as columns": split(encoded),
    "pandas arrow dictionary": table_of(lambda v: pd.Series(pd.arrays.ArrowExtensionArray(encoded(v))), pd.DataFrame),
    "pandas str": table_of(pandas_text(np.nan), pd.DataFrame),
    "pandas string": table_of(pandas_text(pd.NA), pd.DataFrame),
    "pandas string series": split(pandas_text(np.nan)),
    "pandas arrow": table_of(pandas_arrow(pa.string()), pd.DataFrame),
    "pandas arrow array": split(lambda values: pandas_arrow(pa.large_string())(values).array),
    "polars": table_of(polars_text, pl.DataFrame),
    "polars series": split(polars_text),
    "polars categories": table_of(lambda values: polars_text(values).cast(pl.Categorical), pl.DataFrame),
    "numpy": split(wide_characters),
}


def with_record(place, **cells):
    """The columns with one more record, of which these cells are given."""
    record = {"c": "a", "n": "1", "y": "no", **cells}
    return {name: [*values[:place], record[name], *values[place:]] for name, values in COLUMNS.items()}


def coded(X, y):
    """The codes of each record; the structure is checked first, as a fit does."""
    source = MemorySource(X, y)
    source.check(SCHEMA)
    (block,) = source.rows(CELLS, SCHEMA)
    counted = source.count(CELLS, SCHEMA)
    codes = np.stack([*(block.codes[each] for each in CELLS), block.labels], axis=1)
    for place, each in enumerate(CELLS):
        expected = np.zeros((len(SCHEMA.classes) + 1, each.size(SCHEMA)), dtype=int)
        np.add.at(expected, (codes[:, -1], codes[:, place]), 1)
        np.testing.assert_array_equal(counted.counts[each], expected[:-1])
    return codes


STRAY = SCHEMA["c"].stray_code
FILLED = [Cells("n", 7).missing_code(SCHEMA["n"]), Cells("n").missing_code(SCHEMA["n"])]


def holds_the_others(made, column, place):
    """Whether a column of categories still has the other records' texts: pandas looks values up by hash and equality,
    about which a value can lie."""
    X, y = made
    values = list(y if column == "y" and y is not None else X[column])
    others = zip(values[:place] + values[place + 1 :], COLUMNS[column], strict=True)
    return all(type(has) is str and has == had for has, had in others if type(had) is str)


@pytest.mark.slow
@pytest.mark.parametrize("column", ["c", "n", "y"])
@pytest.mark.parametrize("kind", OBJECTS)
def test_a_hostile_value_concerns_its_own_record_alone(kind, column, capfd):
    make = OBJECTS[kind]
    expected = coded(*make(COLUMNS))
    tried = 0
    for name, value in VALUES.items():
        for place in (0, 3, ROWS):
            try:
                made = make(with_record(place, **{column: value()}))
            except Exception:
                continue  # the library itself cannot hold it
            if kind == "pandas categories" and not holds_the_others(made, column, place):
                continue  # pandas took the value for that of another record before it was ours
            got = coded(*made)
            np.testing.assert_array_equal(np.delete(got, place, axis=0), expected, err_msg=name)
            assert got[place, 0] < SCHEMA["c"].size
            tried += 1
    assert tried > 3 * len(VALUES) * (0.4 if kind == "pandas categories" else 0.9)
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


@pytest.mark.parametrize("column", ["c", "n", "y", "cny"])
@pytest.mark.parametrize("kind", TEXTS)
def test_text_that_is_not_utf8_is_no_text_and_no_number(kind, column, capfd):
    make = TEXTS[kind]
    expected = coded(*make(COLUMNS))
    np.testing.assert_array_equal(expected, coded(*OBJECTS["dicts"](COLUMNS)))
    for raw in BYTES:
        for place in (0, 3, ROWS):
            got = coded(*make(with_record(place, **dict.fromkeys(column, raw))))
            np.testing.assert_array_equal(np.delete(got, place, axis=0), expected)
            code, *numbers, label = got[place].tolist()
            assert code == STRAY or "c" not in column
            assert numbers == FILLED or "n" not in column
            assert label == len(SCHEMA.classes) or "y" not in column
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


@pytest.mark.parametrize("name", RECORDS)
def test_a_hostile_record_concerns_itself_alone(name):
    plain = OBJECTS["dicts"](COLUMNS)[0]
    expected = coded(plain, None)
    for place in (0, 3, ROWS):
        got = coded([*plain[:place], RECORDS[name](), *plain[place:]], None)
        np.testing.assert_array_equal(np.delete(got, place, axis=0), expected)


@pytest.mark.parametrize(
    "stored",
    [
        np.zeros(3, dtype=[("a", "i4"), ("b", object)]),
        np.array([b"abc", b"def", b"ghi"], dtype="V3"),
        np.ma.array(np.zeros(3, dtype=[("a", "i4")]), mask=[(True,), (False,), (False,)]),
        np.ma.array(["a", "b", "c"], mask=[True, False, False]),
        np.array(["a", "b", "no"], dtype=np.dtypes.StringDType()),
        np.array([b"a", b"\xff", b"no"]),
        np.array([np.array(1.0), np.array([1, 2]), None], dtype=object),
        np.array([1j, 1, 2], dtype=np.clongdouble),
        np.array([1, 2, 3], dtype=np.float16),
        range(3),
        pa.nulls(3),
        pa.array([[1], None, []]),
        pa.array([{"a": 1}, None, {"a": None}]),
        pl.Series([[1], None, []]),
        pl.Series([{"a": "x"}, None, {"a": "y"}]),
        pl.Series([2**100, None, 1], dtype=pl.Int128),
        pd.array([1, None, 3], dtype="Int64"),
        pd.arrays.SparseArray([1.0, 0.0, 2.0]),
        pd.interval_range(0, 3),
        pd.period_range("2020-01", periods=3, freq="M"),
    ],
    ids=lambda stored: f"{type(stored).__name__} {getattr(stored, 'dtype', '')}",
)
def test_columns_of_every_type_are_read(stored):
    X = {"c": stored, "n": stored}
    got = coded(X, stored)
    assert got.shape == (3, 4)


@pytest.mark.parametrize("masked", [False, True])
def test_dates_are_refused_in_arrays_too(masked):
    dates = np.array(["2020-01-01"] * 3, dtype="datetime64[ns]")
    dates = np.ma.array(dates, mask=[True, False, False]) if masked else dates
    with pytest.raises(DataError, match="column 'n' holds dates or times"):
        MemorySource({"c": ["a"] * 3, "n": dates}, ["no"] * 3).check(SCHEMA)


@pytest.mark.parametrize("column", ["text", b"text", 3, None, (each for each in "abc"), pd.DataFrame({"a": [1, 2]})])
def test_what_is_not_a_column_is_refused_by_its_type(column):
    for X, y in (({"c": column, "n": [1, 2]}, ["no"] * 2), ({"c": ["a", "b"], "n": [1, 2]}, column)):
        if y is None or (isinstance(column, pd.DataFrame) and X["c"] is not column):
            continue  # labels may be a frame of one column, or in the table
        with pytest.raises(DataError, match=r"need (a list or an array|one label per record)|pass one of its columns"):
            MemorySource(X, y).check(SCHEMA)


def test_what_a_value_raises_does_not_matter_to_the_code_of_another_array():
    """One value after another, all in one array: each has the code that it has alone."""
    values = [make() for make in VALUES.values()]
    for encode in (as_floats, lambda array: category_codes(array, SCHEMA["c"]), lambda a: class_codes(a, SCHEMA)):
        together = encode(objects(values))
        alone = np.concatenate([encode(objects([value])) for value in values])
        np.testing.assert_array_equal(together, alone)


def test_a_text_is_not_remembered_by_a_hash_of_its_own():
    """A text that equals others must neither take their code nor give them its own."""
    column = Categorical("c", ["a", "b"])
    liar = VALUES["text like b"]()
    for values, codes in (([liar, "b", "x"], [2, 1, 2]), (["b", liar, "x"], [1, 2, 2]), ([None, "x", liar], [2, 2, 2])):
        assert category_codes(objects(values), column).tolist() == codes
    told = VALUES["text like zzz"]()
    assert category_codes(objects(["zzz", told, "zzz"]), column).tolist() == [2, 0, 2]
    assert category_codes(objects([told, "zzz", told]), column).tolist() == [0, 2, 0]


def test_an_interruption_is_not_a_value():
    class Interrupting:
        def __ne__(self, other):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        category_codes(objects([Interrupting()]), SCHEMA["c"])


def test_nothing_is_read_when_a_table_is_opened():
    """A table whose every value would say that it was looked at."""
    touched = []

    class Watching(str):
        def __hash__(self):
            touched.append(self)
            return 0

        def __getattribute__(self, name):
            touched.append(name)
            return super().__getattribute__(name)

    for make in OBJECTS.values():
        X, y = make({name: [Watching("a")] * 3 for name in COLUMNS})
        touched.clear()
        MemorySource(X, y).check(SCHEMA)
        assert not touched


MODEL = NaiveBayes(SCHEMA, epsilon=1, random_state=0).fit(*OBJECTS["dicts"](COLUMNS))
REPLACE_ONE = SCHEMA.replace(adjacency="replace-one")
RUNS = {
    **{
        name: lambda X, y, ledger, kind=kind: kind(SCHEMA, epsilon=1, random_state=0).fit(X, y, ledger=ledger)
        for name, kind in PRIVATE.items()
    },
    "selector": lambda X, y, ledger: FeatureSelector(SCHEMA, epsilon=1, random_state=0).fit(X, y, ledger=ledger),
    "perturbation": lambda X, y, ledger: LocalPerturbation(REPLACE_ONE, epsilon=1, random_state=0).fit_resample(
        X, y, ledger=ledger
    ),
    "evaluation": lambda X, y, ledger: evaluate(MODEL, X, y, epsilon=1, ledger=ledger, random_state=0),
}


def charges(entry, X, y):
    """What an entry point charges: names, mechanisms and losses in their order. Noise may choose what is asked."""
    ledger, seen = Ledger(100), []
    charge = ledger.charge

    def noted(name, parts, adjacency, **options):
        seen.append((name, adjacency, [(part.mechanism, part.epsilon) for part in parts]))
        charge(name, parts, adjacency, **options)

    ledger.charge = noted
    RUNS[entry](X, y, ledger)
    return seen


SOME = ("writable memoryview", "all methods, RuntimeError", "class", "text like a", "huge int", "series", "long digits")


@pytest.mark.slow
@pytest.mark.parametrize("entry", RUNS)
def test_the_charges_are_those_of_a_table_without_the_record(entry, capfd):
    expected = charges(entry, *OBJECTS["dicts"](with_record(3)))
    assert expected
    refused = set()
    for column in ("c", "n", "y"):
        for kind, name in zip([*OBJECTS, *OBJECTS], [*SOME, *SOME, *SOME], strict=False):
            try:
                made = OBJECTS[kind](with_record(3, **{column: VALUES[name]()}))
            except Exception:
                refused.add((kind, name))  # the library itself cannot hold it
                continue
            assert charges(entry, *made) == expected, (kind, name)
        for kind, make in TEXTS.items():
            assert charges(entry, *make(with_record(3, **{column: BYTES[1]}))) == expected, kind
    plain = OBJECTS["dicts"](COLUMNS)[0]
    for name, record in RECORDS.items():
        assert charges(entry, [*plain[:3], record(), *plain[3:]], None) == expected, name
    assert refused <= {("pandas categories", "text like a")}  # pandas 2: not unique, since it equals every other
    captured = capfd.readouterr()
    assert "12345" not in captured.out + captured.err


@pytest.mark.parametrize("size", [1_000_000, pytest.param(150_000_000, marks=pytest.mark.slow)])
def test_huge_values_take_linear_time(size):
    for value in ("9" * size + "x", " " * size, "9" * (size // 2) + "." + "9" * (size // 2) + "x", "a" * size):
        start = time.perf_counter()
        Table([{"c": value, "n": value}], SCHEMA).check(SCHEMA)
        category_codes(objects([value, "a"]), SCHEMA["c"])
        as_floats(objects([value, "1"]))
        assert time.perf_counter() - start < 10


def test_warnings_are_not_made_of_values():
    """With warnings shown, not raised: nothing is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for make in OBJECTS.values():
            for value in VALUES.values():
                try:
                    made = make(with_record(3, c=value(), n=value(), y=value()))
                except Exception:
                    continue
                caught.clear()
                coded(*made)
                assert not caught


def test_the_type_of_categories_is_not_asked_of_narwhals(monkeypatch):
    """The type of a column of pandas holds its categories, which are values; some versions of narwhals hash them."""
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({name: pandas.Categorical(["a", "b", "a"]) for name in COLUMNS})
    asked = []
    monkeypatch.setattr("narwhals.Series.dtype", property(lambda self: asked.append(self.name)))
    MemorySource(X, None).check(SCHEMA)
    assert not asked
