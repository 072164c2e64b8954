"""Places in a dictionary that are taken straight from pages mean the values that pyarrow reads, whoever wrote the file,
and whatever was damaged in it: then it is left to pyarrow."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.records import parquet_bodies, parquet_pages
from discreet.records.arrow_values import Distinct
from discreet.records.parquet_memory import PageMemory
from discreet.records.parquet_pages import ColumnPages
from support.parquet_pages import LOOPS, Stated, header, number, pages_of, same, written

RUNS = LOOPS[-1]
KINDS = ["float32", "float64", "int32", "int64", "uint32", "uint64"]
WRITERS = ["pyarrow", "pyarrow v2", "pages", "duckdb", "polars"]
HARD = [0.0, -0.0, 1e-40, np.inf, -np.inf, np.nan, 0.1, 1e9]
WORDS = ["", "a", "ä", "\0", "None", "ab" * 40, "falſe"]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(parquet_pages, "LEAST", 1)


def table_of(rows, nulls=0.0, values=9, seed=0):
    """Columns of few values, with as many as there are rows at most, some of them several times one after another."""
    generator, columns = np.random.default_rng(seed), {}
    for kind in KINDS:
        bounds = None if kind.startswith("f") else np.iinfo(kind)
        few = (
            np.resize(np.array(HARD), values).astype(kind)
            if bounds is None
            else generator.integers(bounds.min, bounds.max, values, dtype=kind, endpoint=True)
        )
        taken = np.repeat(generator.integers(0, values, rows), generator.integers(1, 20, rows))[:rows]
        columns[kind] = pa.array(few[taken], mask=generator.random(rows) < nulls)
    words = [f"{WORDS[place % len(WORDS)]}{place // len(WORDS) or ''}" for place in range(values)]
    for kind in (pa.string(), pa.large_string()):
        taken = generator.integers(0, values, rows)
        mask = generator.random(rows) < nulls
        columns[str(kind)] = pa.array([words[place] for place in taken], kind, mask=mask)
    return pa.table({**columns, "null": pa.array([None] * rows, pa.string()), "one": pa.array(["x"] * rows)})


def expected(column):
    return column.to_pylist() if "string" in str(column.type) else column.to_numpy(zero_copy_only=False)


def equal(read, column):
    """Whether what was read means the same values as what pyarrow reads, with the same types."""
    if not isinstance(read, Distinct):
        return same(read, expected(column))
    assert len(read.places) == len(column)
    assert read.places.dtype == np.int32
    found = read.values[read.places]
    return found.tolist() == expected(column) if found.dtype == object else same(found, expected(column))


def read_equal(raw):
    """The columns of all row groups that were taken straight from the file; each is what pyarrow reads."""
    taken = set()
    for group in range(pq.ParquetFile(pa.BufferReader(raw)).num_row_groups):
        pages, file = pages_of(raw, group, RUNS)
        table = file.read_row_group(group)
        for name in table.column_names:
            read = pages.read(name)
            if read is not None:
                assert equal(read, table[name].combine_chunks())
                if isinstance(read, Distinct):
                    taken.add(name)
    return taken


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("codec", ["snappy", "none", "zstd"])
@pytest.mark.parametrize("nulls", [0.0, 0.3, 1.0])
def test_values_of_any_writer_are_those_that_pyarrow_reads(tmp_path, writer, codec, nulls):
    for rows, values in ((0, 1), (1, 1), (7, 2), (1000, 9), (1000, 300), (2500, 2)):
        taken = read_equal(written(tmp_path, table_of(rows, nulls, values), writer, codec, dictionary=True))
        if writer in ("pyarrow", "pages") and codec != "zstd" and rows:
            assert taken >= {*KINDS, "string", "large_string", "null", "one"}
        if writer == "duckdb" and codec != "zstd" and rows == 1000 and values == 9 and nulls < 1:
            assert "string" in taken


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("values", [1, 2, 255, 257, 70_000])
def test_dictionaries_of_any_size_are_read(required, values):
    """70,000 texts are too many, though not too many numbers."""
    numbers = np.random.default_rng(0).permutation(np.arange(values).repeat(2))
    fields = [pa.field("n", pa.int64(), nullable=not required), pa.field("t", pa.string(), nullable=not required)]
    table = pa.table([numbers, numbers.astype(str)], schema=pa.schema(fields))
    file = io.BytesIO()
    pq.write_table(table, file)
    assert read_equal(file.getvalue()) == ({"n"} if values > parquet_bodies.FEW else {"n", "t"})


def test_dictionaries_that_end_within_a_column_chunk_are_left_to_pyarrow():
    file = io.BytesIO()
    numbers = np.random.default_rng(0).normal(size=5000)
    table = pa.table({"x": numbers, "t": numbers.astype(str), "few": ["a", "b"] * 2500})
    pq.write_table(table, file, dictionary_pagesize_limit=2000, write_batch_size=100, data_page_size=1000)
    assert read_equal(file.getvalue()) == {"few"}


def test_other_types_and_columns_inside_structs_are_left_to_pyarrow():
    dates = pa.array([1, 2, 3], pa.int32())
    columns = {
        "date": dates.cast(pa.date32()), "small": dates.cast(pa.int8()), "decimal": dates.cast(pa.decimal128(10)),
        "bytes": [b"a", b"b", b"\xff"], "list": [["a"], ["b", "c"], []], "struct": [{"x": "a"}] * 3,
        "truth": [True, False, True], "struct.x": ["a", "b", "c"],
        "category": pa.array(["a", "b", "a"]).dictionary_encode(),
    }  # fmt: skip
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    pages, _ = pages_of(file.getvalue(), write_runs=RUNS)
    assert not any(pages.may_hold(name) for name in columns)
    assert all(pages.read(name) is None for name in columns)


def test_texts_that_are_not_utf8_are_left_to_pyarrow():
    file = io.BytesIO()
    damaged = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 1, 3], np.int32)), pa.py_buffer(b"a\xed\xa0"))
    pq.write_table(pa.table({"t": damaged}), file)
    assert not read_equal(file.getvalue())


def test_without_a_loop_columns_with_a_dictionary_are_left_to_pyarrow(tmp_path):
    pages, _ = pages_of(written(tmp_path, table_of(10), "pyarrow", dictionary=True))
    assert not any(pages.may_hold(name) for name in KINDS)


def test_columns_that_are_kept_stay_while_others_are_read(tmp_path):
    raw, memory = written(tmp_path, table_of(100), "pyarrow", dictionary=True), PageMemory()
    _, file = pages_of(raw)
    table, types = file.read(), {field.name: field.type for field in file.schema_arrow}
    places = {name: place for place, name in enumerate(types)}
    pages = ColumnPages(pa.BufferReader(raw), file.metadata, 0, places, types, set(), RUNS, memory)
    kept = {name: pages.read(name, kept=True) for name in ("string", "float32")}
    passing = [pages.read(name) for name in ("int32", "int64")]
    assert all(equal(read, table[name].combine_chunks()) for name, read in kept.items())
    assert passing[0].places is not passing[1].places
    assert np.shares_memory(passing[0].places, passing[1].places)


DICTIONARY = b"\2\0\0\0ab\0\0\0\0"
"""Two texts, "ab" and ""."""
VALUES = b"\1\3\x02"
"""The places 0, 1, 0 of one bit, in one group of eight."""


def dictionary(size=10, stored=None, count=2, encoding=0):
    """The header of a page of a dictionary."""
    sizes = b"".join(b"\x15" + number(each) for each in (2, size, size if stored is None else stored))
    return sizes + b"\x4c" + b"\x15" + number(count) + b"\x15" + number(encoding) + b"\0\0"


def chunk(values=VALUES, texts=DICTIONARY, *, given=None, count=3, encoding=8, levels=3):
    first = dictionary(len(texts)) if given is None else given
    size = len(values)
    return first + texts + header(size=size, stored=size, count=count, encoding=encoding, levels=levels) + values


def read(raw, rows=3, **others):
    stated = {"physical_type": "BYTE_ARRAY", "dictionary_page_offset": 0, "data_page_offset": 30, **others}
    given = Stated(rows, len(raw), **stated), 0, {"x": 0}, {"x": pa.string()}, set(), RUNS
    found = ColumnPages(io.BytesIO(raw), *given).read("x")
    return None if found is None else found.values[found.places].tolist()


LEVELS = {"max_definition_level": 1}


def test_pages_by_hand_are_read():
    assert read(chunk()) == ["ab", "", "ab"]
    assert read(chunk(encoding=2)) == ["ab", "", "ab"]
    assert read(chunk(given=dictionary(encoding=2))) == ["ab", "", "ab"]
    assert read(chunk(b"\1\6\1")) == ["", "", ""]
    assert read(chunk(b"\2\0\0\0\6\1" + VALUES), **LEVELS) == ["ab", "", "ab"]
    assert read(chunk(b"\2\0\0\0\6\0"), **LEVELS) == [None] * 3
    assert read(chunk(b"\2\0\0\0\6\0\1"), **LEVELS) == [None] * 3
    assert read(chunk(b"\2\0\0\0\3\5" + VALUES), **LEVELS) == ["ab", None, ""]
    assert read(chunk(b"\4\0\0\0\2\0\4\1" + VALUES), **LEVELS) == [None, "ab", ""]
    assert read(chunk() + chunk()[len(dictionary()) + len(DICTIONARY) :], 6) == ["ab", "", "ab"] * 2


@pytest.mark.parametrize(
    "raw",
    [
        *map(chunk, [b"\1\6\2", b"\2\6\2", b"\2\3\x08\0", b"\1\3", b"\1\3\2\0", b"\1\4\1", b"", b"\1\x08\1"]),
        chunk(b"\x19\6\0\0\0\0"), chunk(b"\xff\6" + bytes(32)), chunk(encoding=0), chunk(encoding=3),
        chunk(texts=DICTIONARY[:-1]), chunk(texts=DICTIONARY + b"\0"), chunk(texts=b"\3" + DICTIONARY[1:]),
        chunk(texts=b""),
        chunk(texts=b"\2\0\0\1ab\0\0\0\0"), chunk(texts=b"\2\0\0\0\xff\xfe\0\0\0\0"), chunk(count=2), chunk(count=4),
        chunk(count=0), chunk(count=-3), chunk(count=2**31 - 1),
        chunk(given=dictionary(count=1)), chunk(given=dictionary(count=3)), chunk(given=dictionary(count=-1)),
        chunk(given=dictionary(count=2**31 - 1)), chunk(given=dictionary(size=9)), chunk(given=dictionary(stored=9)),
        chunk(given=dictionary(encoding=8)), chunk(given=b"")[len(DICTIONARY) :], dictionary() + DICTIONARY + chunk(),
        chunk() + b"\0", chunk()[:-1], chunk() + dictionary() + DICTIONARY, dictionary() + DICTIONARY, b"",
    ],
)  # fmt: skip
def test_pages_that_do_not_fit_are_left_to_pyarrow(raw):
    assert read(raw) is None


@pytest.mark.parametrize(
    "levels",
    [b"\2\0\0\0\6\2", b"\2\0\0\0\4\1", b"\2\0\0\0\x08\1", b"\3\0\0\0\6\1", b"\1\0\0\0\6\1", b"\2\0\0\1\6\1",
     b"\3\0\0\0\3\5\0", b"\2\0\0\0\3\1", b"\2\0\0\0\3\7\1", b"\2\0\0", b""],
)  # fmt: skip
def test_levels_that_do_not_fit_are_left_to_pyarrow(levels):
    """Among them two levels of three values, three places for two of them, and a byte that is too much."""
    assert read(chunk(levels + b"\1\4\0"), **LEVELS) is None


def test_levels_of_another_encoding_are_left_to_pyarrow():
    assert read(chunk(b"\2\0\0\0\3\5" + VALUES, levels=4), **LEVELS) is None


def test_dictionaries_that_are_too_large_are_left_to_pyarrow(monkeypatch):
    monkeypatch.setattr(parquet_bodies, "FEW", 1)
    assert read(chunk()) is None
    monkeypatch.setattr(parquet_pages, "LARGEST", 0)
    monkeypatch.setattr(parquet_pages, "SLACK", 0)
    monkeypatch.setattr(parquet_bodies, "FEW", 2)
    assert read(chunk()) is None


@pytest.mark.parametrize("codec", ["snappy", "none"])
@pytest.mark.parametrize("writer", ["pyarrow", "pages", "duckdb", "polars"])
@pytest.mark.parametrize("nulls", [0.0, 0.2])
def test_damaged_files_give_what_pyarrow_reads_of_them_or_are_left_to_it(tmp_path, writer, codec, nulls):
    whole = written(tmp_path, table_of(200, nulls), writer, codec, dictionary=True, rows=200)
    metadata = pq.ParquetFile(pa.BufferReader(whole)).metadata
    every = map(metadata.row_group(0).column, range(metadata.num_columns))
    chunks = [each for each in every if each.has_dictionary_page]
    generator, taken = np.random.default_rng(7), 0
    for attempt in range(400):
        raw, each = bytearray(whole), chunks[attempt % len(chunks)]
        start, length = each.dictionary_page_offset, each.total_compressed_size
        for _ in range(generator.integers(1, 4)):
            place = start + int(generator.integers(length))
            raw[place] = generator.choice([0, 1, 127, 128, 255, raw[place] ^ (1 << int(generator.integers(8)))])
        name = each.path_in_schema
        pages, file = pages_of(bytes(raw), 0, RUNS)
        found = pages.read(name)
        if found is not None:
            taken += 1
            assert equal(found, file.read_row_group(0, columns=[name])[name].combine_chunks())
    assert taken
