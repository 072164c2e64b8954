"""Anything that gives Arrow batches is counted as memory counts it, whatever its types and its texts."""

import decimal
import math

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, DecisionTree, Ledger, NaiveBayes, Numeric, Schema
from discreet.errors import DataError, FileError, UntestedVersion
from discreet.records import arrow_values
from discreet.records.arrow_values import Coder, ColumnReader, Distinct, arrow_kind
from discreet.records.encoding import UNREADABLE, Cells, as_floats, category_codes
from discreet.records.values import objects
from discreet.sources import arrow_blocks, joint
from discreet.sources.arrow import ArrowSource
from discreet.sources.memory import MemorySource
from support.hostile import BYTES, undecodable

SCHEMA = Schema([Categorical("c", ["a", "b", 1], missing="b"), Numeric("n", 0, 4, fill=3)], "y", ["no", "yes"])
CELLS = [Cells("c"), Cells("n", 7), Cells("n")]
COLUMNS = {
    "c": ["a", "zzz", None, "a", "b", "1", " 01"],
    "n": ["1", "2.5", None, "x", "4", "0", "3"],
    "y": ["no", "yes", "yes", "no", "zzz", "a", "no"],
}


def counts(source, schema=SCHEMA, cells=CELLS):
    source.check(schema)
    counted = source.count(cells, schema).counts
    return [counted[each].tolist() for each in cells]


def codes(source, schema=SCHEMA, cells=CELLS):
    blocks = list(source.rows(cells, schema))
    rows = [np.stack([*(block.codes[each] for each in cells), block.labels], axis=1) for block in blocks]
    return np.concatenate(rows).tolist() if rows else []


class Handle:
    """An object that has nothing but a stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


HOLDERS = {
    "table": lambda table: table,
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "stream": lambda table: table.to_reader(max_chunksize=2),
    "function": lambda table: lambda: table.to_reader(max_chunksize=3),
    "handle": Handle,
    "polars": pl.from_arrow,
}
if hasattr(pl.LazyFrame, "collect_batches"):  # older ones are refused
    HOLDERS["lazy polars"] = lambda table: pl.from_arrow(table).lazy()


@pytest.mark.parametrize("holder", HOLDERS)
def test_any_holder_of_batches_is_counted_as_memory_counts_it(holder):
    table = pa.table(COLUMNS)
    made = HOLDERS[holder]
    assert counts(ArrowSource(made(table))) == counts(MemorySource(COLUMNS))
    assert codes(ArrowSource(made(table))) == codes(MemorySource(COLUMNS))
    assert ArrowSource(made(table)).columns() == ["c", "n", "y"]
    assert repr(ArrowSource(made(table))) == "ArrowSource(values hidden)"


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_records_keep_their_labels_where_numpy_counts_some_at_a_time(monkeypatch, chunk):
    monkeypatch.setattr(joint, "CHUNK", chunk)
    monkeypatch.setattr(arrow_blocks.kernels, "kernels", lambda _: None)
    assert counts(ArrowSource(pa.table(COLUMNS))) == counts(MemorySource(COLUMNS))


def test_a_stream_is_read_once_and_says_so():
    """A second pass would find no record, and a model of it would be nonsense that was paid for."""
    source = ArrowSource(pa.table(COLUMNS).to_reader())
    assert counts(source) == counts(MemorySource(COLUMNS))
    with pytest.raises(DataError, match="can be read once, and was; pass a function"):
        source.count(CELLS, SCHEMA)
    assert counts(ArrowSource(pa.table(COLUMNS).to_reader)) == counts(MemorySource(COLUMNS))


class OnlyOnce(Handle):
    """An object that gives its stream once, as the result of a driver does."""

    def __arrow_c_stream__(self, requested_schema=None):
        table, self._table = self._table, None
        return table.__arrow_c_stream__(requested_schema)


def test_learning_the_columns_does_not_use_up_a_table_that_gives_one_stream():
    source = ArrowSource(OnlyOnce(pa.table(COLUMNS)))
    source.check(SCHEMA)
    assert counts(source) == counts(MemorySource(COLUMNS))
    ledger = Ledger(1)
    for spent in (OnlyOnce(pa.table(COLUMNS)), pa.table(COLUMNS).to_reader()):
        source = ArrowSource(spent)
        source.count(CELLS, SCHEMA)
        with pytest.raises(DataError, match=r"once|still open"):
            DecisionTree(SCHEMA, epsilon=1).fit_from(source, ledger=ledger)
    assert ledger.spent == 0


def test_two_passes_at_once_read_a_stream_each():
    source = ArrowSource(pa.table(COLUMNS))
    source.check(SCHEMA)
    first, second = source.rows(CELLS, SCHEMA), source.rows(CELLS, SCHEMA)
    assert [len(next(each).labels) for each in (first, second)] == [7, 7]


@pytest.mark.parametrize("made", [nw.from_native, type("Frame", (pd.DataFrame,), {"__module__": "elsewhere"})])
def test_tables_made_of_a_guessing_library_are_refused_as_its_own_are(made):
    table = made(pd.DataFrame(COLUMNS))
    for given_ in (table, lambda: table):
        with pytest.raises(DataError, match="would be guessed from its values"):
            ArrowSource(given_).check(SCHEMA)


def test_the_stream_that_is_read_is_the_one_that_is_checked():
    good, dates = pa.table(COLUMNS), pa.table({**COLUMNS, "n": pa.nulls(7, pa.date32())})
    for bad, words in ((good.drop(["n"]), "missing"), (dates, "dates")):
        for place in (1, 2):
            tables = iter([*[good] * place, *[bad] * 9])
            source = ArrowSource(lambda tables=tables: next(tables))
            source.check(SCHEMA)
            with pytest.raises(DataError, match=words):
                list(map(source.count, [CELLS] * place, [SCHEMA] * place))


def test_a_batch_without_a_column_is_an_error_of_ours():
    good = pa.table(COLUMNS)
    batches = [*good.to_batches(), *good.drop(["n"]).to_batches()]
    with pytest.raises(DataError, match="cannot be read as Arrow batches"):
        ArrowSource(lambda: pa.RecordBatchReader.from_batches(good.schema, iter(batches))).count(CELLS, SCHEMA)


def test_what_is_no_table_is_refused_before_a_charge():
    import duckdb

    with pytest.raises(DataError, match="table is a list; need something with __arrow_c_stream__"):
        ArrowSource([1])
    ledger = Ledger(1)
    dated = {**COLUMNS, "n": pa.array([0] * 7, pa.timestamp("s"))}
    for table, words in (
        (pa.table({"c": ["a"], "y": ["no"]}), "column 'n' of the schema is missing"),
        (pa.table({**COLUMNS, "id": [1] * 7}), "column 'id' is not in the schema"),
        (pa.table(dated), "column 'n' holds dates or times"),
        (pa.Table.from_arrays([pa.array(["a"])] * 2, ["c", "c"]), "two columns with the same name"),
        (lambda: 1 / 0, "cannot be read as Arrow batches"),
        (duckdb.sql("SELECT 1 AS c"), r"of which a value can change others; .*DuckDBSource\(connection=, table=\)"),
        (pd.DataFrame(COLUMNS), "types would be guessed from its values; pass it to fit"),
        (lambda: pd.DataFrame(COLUMNS), "types would be guessed from its values; pass it to fit"),
    ):
        with pytest.raises(DataError, match=words) as caught:
            NaiveBayes(SCHEMA).fit_from(ArrowSource(table), ledger=ledger)
        assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert ledger.spent == 0


def test_an_error_in_a_pass_quotes_nothing_and_stays_charged():
    def failing():
        yield pa.table(COLUMNS).to_batches()[0]
        raise RuntimeError("the secret value 12345")

    table = pa.table(COLUMNS)
    ledger = Ledger(1)
    source = ArrowSource(lambda: pa.RecordBatchReader.from_batches(table.schema, failing()))
    with pytest.raises(DataError) as caught:
        NaiveBayes(SCHEMA, epsilon=1).fit_from(source, ledger=ledger)
    assert "12345" not in str(caught.value)
    assert caught.value.__context__ is None
    assert ledger.spent > 0


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("column", ["c", "n", "y", "cny"])
def test_text_that_is_not_utf8_concerns_its_own_record_alone(kind, column):
    for raw in BYTES:
        mixed = {name: [*values, raw if name in column else "a"] for name, values in COLUMNS.items()}
        table = pa.table({name: undecodable(values) for name, values in mixed.items()})
        held = {
            name: pa.array(table[name].combine_chunks().view(pa.binary()).to_pylist(), pa.binary())
            for name in table.column_names
        }
        wide = pa.table({name: values.cast(_as_bytes(kind)).view(kind) for name, values in held.items()})
        for given_table in (wide, pa.table({name: wide[name].dictionary_encode() for name in wide.column_names})):
            assert counts(ArrowSource(given_table)) == counts(MemorySource(table))
            assert codes(ArrowSource(given_table)) == codes(MemorySource(table))


def _as_bytes(kind):
    return {"string": pa.binary(), "large_string": pa.large_binary(), "string_view": pa.binary_view()}[str(kind)]


VALUES = [decimal.Decimal(text) for text in (
    "1", "2.5", "0.1", "-0.3", "9007199254740993", "9007199254740992", "-9007199254740993", "123456789012345.6789",
    "99999999999999999999999999.9999", "0.0001", "-99999999999999999999999999.9999",
)]  # fmt: skip


@pytest.mark.parametrize(
    "kind", [pa.decimal128(38, 4), pa.decimal256(38, 4), pa.decimal256(76, 30), pa.decimal128(38, 12)]
)
def test_decimals_are_rounded_once_to_the_nearest_float(kind):
    column = pa.array([*VALUES, None], kind)
    expected = [*(float(value) for value in VALUES), math.nan]
    np.testing.assert_array_equal(ColumnReader().read(column), expected)
    np.testing.assert_array_equal(ColumnReader().read(column.slice(3, 4)), expected[3:7])


@settings(max_examples=200)
@given(st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=1), st.integers(0, 18))
def test_any_decimal_is_rounded_once(numbers, scale):
    exact = [decimal.Decimal(number).scaleb(-scale) for number in numbers]
    column = pa.array(exact, pa.decimal128(18, scale))
    np.testing.assert_array_equal(ColumnReader().read(column), [float(value) for value in exact])


def test_decimals_beyond_the_exact_integers_are_not_rounded_twice():
    numbers = [decimal.Decimal(each).scaleb(-3) for each in (5258986265376043509, -6000012885340954297)]
    assert [float(int(each.scaleb(3))) / 1000 for each in numbers] != [float(each) for each in numbers]
    read = ColumnReader().read(pa.array(numbers, pa.decimal128(25, 3)))
    assert read.tolist() == [float(each) for each in numbers]


def test_dictionaries_that_change_are_read_anew():
    reader = ColumnReader()
    for words in (["a", "b"], ["b", "a"], ["b", "a"], ["a", None, "c"], []):
        column = pa.array(words, pa.string()).dictionary_encode()
        read = reader.read(column)
        assert [read.values[place] for place in read.places] == words
    kept = reader.read(pa.array(["x", "y"]).dictionary_encode()).values
    assert reader.read(pa.array(["x", "y"]).dictionary_encode()).values is kept
    wide = pa.DictionaryArray.from_arrays(
        pa.array([3, None, 0, 200], pa.uint8()), [str(k) for k in range(255)] + [None]
    )
    read = reader.read(wide)
    assert [read.values[place] for place in read.places] == ["3", None, "0", "200"]
    full = pa.DictionaryArray.from_arrays(
        pa.array([*range(-128, 0), None] * 9, pa.int8()).cast(pa.uint8(), safe=False), [str(k) for k in range(256)]
    )
    read = reader.read(full)
    assert [read.values[place] for place in read.places] == ([str(k) for k in range(128, 256)] + [None]) * 9


def test_kinds_of_types():
    kinds = {
        "number": [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(5, 2), pa.decimal256(50, 2)],
        "text": [pa.string(), pa.large_string(), pa.string_view()],
        "truth": [pa.bool_()],
        "opaque": [pa.binary(), pa.list_(pa.int8()), pa.struct([("a", pa.int8())]), pa.map_(pa.string(), pa.int8())],
        "nothing": [pa.null()],
        "dictionary": [pa.dictionary(pa.int8(), pa.string())],
        "date": [pa.date32(), pa.timestamp("s"), pa.time64("us"), pa.duration("s"), pa.month_day_nano_interval(),
                 pa.list_(pa.date32()), pa.dictionary(pa.int8(), pa.date32()), pa.json_(pa.string())],
        "other": [pa.uuid(), pa.run_end_encoded(pa.int32(), pa.string()), pa.dense_union([pa.field("a", pa.int8())])],
    }  # fmt: skip
    assert {kind: [arrow_kind(stored) for stored in types] for kind, types in kinds.items()} == {
        kind: [kind] * len(types) for kind, types in kinds.items()
    }


def test_rare_types_are_read_value_by_value():
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", None]))
    union = pa.UnionArray.from_dense(
        pa.array([0, 0, 1], pa.int8()), pa.array([0, 1, 0], pa.int32()), [pa.array([1, None]), pa.array(["b"])]
    )
    for column, expected in ((runs, ["a", "a", None]), (union, [1, None, "b"])):
        read = ColumnReader().read(column)
        assert [read.values[place] for place in read.places] == expected
    assert list(ColumnReader().read(pa.array([b"a", None])).values) == [UNREADABLE, None]
    halves = pa.array([1.5, None, math.inf], pa.float16())
    np.testing.assert_array_equal(as_floats(ColumnReader().read(halves)), [1.5, math.nan, math.inf])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64"])
def test_small_natural_numbers_as_labels_are_those_of_memory(kind):
    limits = np.iinfo(kind)
    for values in ([0, 1, 2, 0], [limits.min, limits.max, 0, 1], [5, 100, 7, 1], [1] * 4):
        table = pa.table({"c": pa.array(values, kind), "y": pa.array(values, kind)})
        schema = Schema([Categorical("c", [0, 1, "x", 7])], "y", [1, 0, 100])
        assert counts(ArrowSource(table), schema, [Cells("c")]) == counts(MemorySource(table), schema, [Cells("c")])


@pytest.mark.parametrize("kind", ["int8", "uint32", "uint64"])
def test_places_in_a_dictionary_may_be_of_any_type(kind):
    """With and without a missing value; numpy 2.0 takes no places of uint64."""
    for places in ([0, 1, 1], [0, None, 1]):
        column = pa.DictionaryArray.from_arrays(pa.array(places, kind), ["no", "yes"])
        table = pa.table({"c": column, "y": column})
        schema = Schema([Categorical("c", ["no", "yes"])], "y", ["no", "yes"])
        assert counts(ArrowSource(table), schema, [Cells("c")]) == counts(MemorySource(table), schema, [Cells("c")])


def test_a_version_of_pyarrow_that_was_not_tested_is_refused_before_the_charge(monkeypatch):
    schema, ledger = Schema([Categorical("c", ["a", "b"])], "y", ["a", "b"]), Ledger(1)
    source = ArrowSource(pa.table({"c": ["a", "b"], "y": ["b", "a"]}))
    monkeypatch.setattr(pa, "__version__", "24.0.0")
    with pytest.raises(UntestedVersion, match=r"pyarrow 24\.0\.0 was not tested"):
        ArrowSource(pa.table({"c": ["a", "b"], "y": ["b", "a"]}))
    with pytest.raises(UntestedVersion, match="pip install 'pyarrow>=25,<27'"):
        NaiveBayes(schema, epsilon=1).fit_from(source, ledger=ledger)
    assert ledger.spent == 0


def test_a_column_of_numbers_that_is_no_more_than_a_target_or_both(tmp_path):
    table = pa.table({"n": [0, 1, 2, 3], "y": [0, 1, 0, 1]})
    schema = Schema([Numeric("n", 0, 4)], "y", [0, 1])
    assert counts(ArrowSource(table), schema, [Cells("n", 3)]) == counts(MemorySource(table), schema, [Cells("n", 3)])


def test_large_batches_are_cut_and_a_million_distinct_texts_need_no_memory(monkeypatch):
    """No text is remembered from one batch to the next."""
    rows = 300_000
    texts = pa.array([f"text {row}" for row in range(rows)])
    table = pa.table({"c": texts, "n": texts, "y": pa.array(["no", "yes"] * (rows // 2))})
    source = ArrowSource(table)
    blocks = [len(block.labels) for block in source.rows(CELLS, SCHEMA)]
    assert blocks == [131_072, 131_072, 37_856]
    assert counts(source)[0] == [[0, 0, 0, rows // 2]] * 2
    counter = arrow_blocks.BatchCounter(CELLS, SCHEMA)
    for batch in table.to_batches(10_000):
        counter.add(batch)
        assert all(len(reader._values) <= 10_001 for reader in counter._readers.values())


def test_texts_that_a_dictionary_cannot_hold_are_read_one_by_one(monkeypatch):
    class Failing:
        """A column that Arrow cannot turn into a dictionary, as with more than two gigabytes of texts."""

        def __init__(self, column):
            self._column = column

        def __getattr__(self, name):
            if name == "dictionary_encode":
                raise pa.ArrowCapacityError("too long")
            return getattr(self._column, name)

    read = ColumnReader().read(Failing(pa.array(["a", None, "b"])))
    assert isinstance(read, Distinct)
    assert [read.values[place] for place in read.places] == ["a", None, "b"]


def test_models_are_those_of_memory():
    rows = 5000
    generator = np.random.default_rng(0)
    table = pa.table({"c": pa.array(generator.choice(["a", "b", "?"], rows)), "n": generator.random(rows) * 5,
                      "y": pa.array(generator.choice(["no", "yes"], rows))})  # fmt: skip
    for model in (NaiveBayes(SCHEMA, random_state=1), DecisionTree(SCHEMA, random_state=1)):
        expected = model.fit_from(MemorySource(table)).noisy_.to_dict()
        assert model.fit_from(ArrowSource(table)).noisy_.to_dict() == expected


def test_fold_adds_up_blocks():
    class Labels:
        size = 3

        def __call__(self, block):
            return np.bincount(block.labels, minlength=3).astype(np.int64)

    assert ArrowSource(pa.table(COLUMNS)).fold(CELLS, SCHEMA, Labels()).tolist() == [3, 2, 2]


@pytest.mark.parametrize("most", [2, 100_000])
def test_few_texts_are_encoded_once_in_whatever_order_they_come(monkeypatch, most):
    class Text(str):
        __slots__ = ()

    monkeypatch.setattr(arrow_values, "REMEMBERED", most)
    encoded, column = [], Categorical("c", ["a", "b", "c"], missing="b")
    coder = Coder(lambda values: (encoded.append(list(values)), category_codes(values, column))[1])
    for texts in (["b", "a", None], ["a", "b", None], ["zzz", "a", None], ["c", Text("a"), None], ["a", b"a", 1]):
        values = objects(texts)
        assert coder.table(Distinct(values, np.arange(3))).tolist() == category_codes(values, column).tolist()
    if most > 2:
        assert encoded == [["b", "a", None], ["zzz"], ["c", "a", None], ["a", b"a", 1]]


@pytest.mark.parametrize("indices", [[0, 1, 2], [0, -1], [None, 2], [0, 2**31 - 1]])
def test_places_outside_a_dictionary_are_refused(indices):
    column = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(["a", "b"]), safe=False)
    with pytest.raises(FileError, match="outside its dictionary"):
        ColumnReader().read(column)


def test_what_lies_at_nulls_is_no_place():
    validity, indices = pa.py_buffer(b"\5"), pa.py_buffer(np.array([1, 99, 0], np.int32))
    for size in (3, 1):
        places = pa.Array.from_buffers(pa.int32(), size, [validity, indices], offset=3 - size)
        read = ColumnReader().read(pa.DictionaryArray.from_arrays(places, pa.array(["a", "b"]), safe=False))
        assert read.values[read.places].tolist() == ["b", None, "a"][3 - size :]
