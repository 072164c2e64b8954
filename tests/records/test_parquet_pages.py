"""Numbers that are taken straight from pages are those that pyarrow reads, whoever wrote the file, and whatever was
damaged in it: then it is left to pyarrow."""

import io
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.records import parquet_memory, parquet_pages
from discreet.records.parquet_headers import Unusual, read_struct, varint
from discreet.records.parquet_pages import ColumnPages
from support.parquet_pages import Stated, header, pages_of, same, written

HARD = [0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1e308, math.inf, -math.inf, math.nan, 0.1]
KINDS = ["float32", "float64", "int32", "int64", "uint32", "uint64"]
WRITERS = ["pyarrow", "pyarrow v2", "pages", "duckdb", "polars"]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(parquet_pages, "LEAST", 1)


def table_of(rows, nulls=0.0, seed=0):
    generator, columns = np.random.default_rng(seed), {}
    for kind in KINDS:
        if kind.startswith("f"):
            with np.errstate(all="ignore"):
                values = np.where(
                    generator.random(rows) < 0.2, generator.choice(HARD, rows), generator.normal(size=rows)
                ).astype(kind)
        else:
            bounds = np.iinfo(kind)
            values = generator.integers(bounds.min, bounds.max, rows, dtype=kind, endpoint=True)
        columns[kind] = pa.array(values, mask=generator.random(rows) < nulls)
    return pa.table({**columns, "text": pa.array(generator.choice(["a", "b"], rows))})


def read_equal(raw):
    """The columns of all row groups that were taken straight from the file; each is what pyarrow reads."""
    taken = set()
    for group in range(pq.ParquetFile(pa.BufferReader(raw)).num_row_groups):
        pages, file = pages_of(raw, group)
        table = file.read_row_group(group)
        for name in table.column_names:
            numbers = pages.read(name)
            if numbers is not None:
                assert table[name].null_count == 0
                assert same(numbers, table[name].to_numpy())
                assert numbers.flags.aligned
                assert pages.may_hold(name)
                taken.add(name)
    return taken


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("codec", ["snappy", "none", "zstd", "gzip"])
@pytest.mark.parametrize("nulls", [0.0, 0.3])
def test_numbers_of_any_writer_are_those_that_pyarrow_reads(tmp_path, writer, codec, nulls):
    for rows in (0, 1, 7, 1000, 5003):
        for dictionary in (False, True):
            raw = written(tmp_path, table_of(rows, nulls), writer, codec, dictionary)
            taken = read_equal(raw)
            if writer in ("pyarrow", "pages") and codec in ("snappy", "none") and not nulls and rows and not dictionary:
                assert taken == set(KINDS)
            if nulls and rows == 1000:
                assert not taken


def test_floats_as_duckdb_writes_them_are_taken(tmp_path):
    table = pa.table({"float64": np.random.default_rng(1).normal(size=5000)})
    assert read_equal(written(tmp_path, table, "duckdb")) == {"float64"}


def test_columns_that_may_not_be_null_are_taken():
    file = io.BytesIO()
    table = pa.table({"x": [1.5, 2.5, math.nan]}, schema=pa.schema([pa.field("x", pa.float64(), nullable=False)]))
    pq.write_table(table, file, use_dictionary=False)
    assert read_equal(file.getvalue()) == {"x"}


def test_other_types_and_columns_inside_structs_are_left_to_pyarrow():
    dates = pa.array([1, 2, 3], pa.int32())
    columns = {
        "date": dates.cast(pa.date32()), "time": dates.cast(pa.time32("s")), "small": dates.cast(pa.int8()),
        "decimal": dates.cast(pa.decimal128(10)), "half": pa.array(np.ones(3, np.float16)), "list": [[1], [2, 3], [4]],
        "truth": [True, False, True], "struct": [{"x": 1.0}] * 3, "struct.x": [2.0, 3.0, 4.0],
    }  # fmt: skip
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, use_dictionary=False)
    pages, _ = pages_of(file.getvalue())
    assert not any(pages.may_hold(name) for name in columns)
    assert all(pages.read(name) is None for name in columns)


def test_a_dictionary_that_ends_within_a_column_chunk_is_left_to_pyarrow(tmp_path):
    file = io.BytesIO()
    table = pa.table({"x": np.random.default_rng(0).normal(size=5000)})
    pq.write_table(table, file, dictionary_pagesize_limit=2000, write_batch_size=100, data_page_size=1000)
    assert set(pq.ParquetFile(file).metadata.row_group(0).column(0).encodings) >= {"PLAIN", "RLE_DICTIONARY"}
    assert not read_equal(file.getvalue())


def read(raw, rows, **others):
    return ColumnPages(io.BytesIO(raw), Stated(rows, len(raw), **others), 0, {"x": 0}, {"x": pa.float64()}, set()).read(
        "x"
    )


VALUES = np.array([1.5, -0.0, math.nan]).tobytes()


def test_a_page_by_hand_is_read():
    assert read(header(size=24, stored=24, count=3) + VALUES, 3).tobytes() == VALUES
    level = b"\2\0\0\0\6\1"
    assert read(header(size=30, stored=30, count=3) + level + VALUES, 3, max_definition_level=1).tobytes() == VALUES
    pages = header(size=16, stored=16, count=2) + VALUES[:16] + header(size=8, stored=8, count=1) + VALUES[16:]
    assert read(pages, 3).tobytes() == VALUES


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": 1}, {"kind": 2}, {"kind": 3}, {"size": 23}, {"size": 25}, {"size": -24}, {"size": 2**31 - 1},
        {"size": 2**40}, {"stored": 23}, {"stored": 25}, {"stored": -1}, {"stored": -(2**31)}, {"stored": 2**31 - 1},
        {"count": 2}, {"count": 4}, {"count": 0}, {"count": -3}, {"count": 2**31 - 1}, {"encoding": 2}, {"encoding": 8},
    ],
)  # fmt: skip
def test_a_header_that_does_not_fit_is_left_to_pyarrow(wrong):
    right = {"size": 24, "stored": 24, "count": 3}
    assert read(header(**{**right, **wrong}) + VALUES, 3) is None


@pytest.mark.parametrize(
    "level",
    [b"\2\0\0\0\6\0", b"\2\0\0\0\4\1", b"\2\0\0\0\7\1", b"\3\0\0\0\6\1", b"\1\0\0\0\6\1",
     b"\2\0\0\1\6\1", b"\2\0\0\0\6\2", b"\4\0\0\0\4\1\2\0", b"\2\0\0\0\x86\1"],
)  # fmt: skip
def test_levels_that_are_not_one_run_of_ones_are_left_to_pyarrow(level):
    length = len(level) + 24
    raw = header(size=length, stored=length, count=3) + level + VALUES
    assert read(raw, 3, max_definition_level=1) is None


@pytest.mark.parametrize(
    "others",
    [
        {"total_compressed_size": -1}, {"total_compressed_size": 10**12}, {"total_compressed_size": 40},
        {"total_compressed_size": 42},
        {"data_page_offset": -1}, {"data_page_offset": 1}, {"data_page_offset": 10**12}, {"num_values": 2},
        {"num_rows": 2}, {"num_rows": 10**12}, {"physical_type": "FLOAT"}, {"max_definition_level": 2},
        {"max_repetition_level": 1}, {"dictionary_page_offset": 4}, {"compression": "SNAPPY"}, {"compression": "ZSTD"},
    ],
)  # fmt: skip
def test_an_end_of_a_file_that_does_not_fit_is_left_to_pyarrow(others):
    raw = header(size=24, stored=24, count=3) + VALUES
    assert read(raw, 3) is not None
    assert read(raw, 3, **others) is None


def test_compressed_pages_have_the_length_that_they_state():
    packed = pa.Codec("snappy").compress(VALUES, asbytes=True)
    for size, is_read in ((24, True), (23, False), (25, False), (2**31 - 1, False)):
        raw = header(size=size, stored=len(packed), count=3) + packed
        assert (read(raw, 3, compression="SNAPPY") is not None) == is_read

    packed = pa.Codec("snappy").compress(VALUES[:16], asbytes=True)
    assert read(header(size=24, stored=len(packed), count=3) + packed, 3, compression="SNAPPY") is None


def test_values_that_are_missing_or_too_many_are_left_to_pyarrow():
    page = header(size=16, stored=16, count=2) + VALUES[:16]
    assert read(page, 2) is not None
    assert read(page, 3) is None
    assert read(page + page, 3) is None
    assert read(page, 2, total_compressed_size=len(page) + 1) is None
    stated = Stated(2, len(page))
    assert ColumnPages(io.BytesIO(page[:-4]), stated, 0, {"x": 0}, {"x": pa.float64()}, set()).read("x") is None


def test_columns_of_small_pages_are_left_to_pyarrow_from_then_on(monkeypatch):
    page, left = header(size=16, stored=16, count=2) + VALUES[:16], set()
    given = Stated(4, 2 * len(page)), 0, {"x": 0}, {"x": pa.float64()}, left
    for least, is_read in ((2, True), (3, False), (2, False)):
        monkeypatch.setattr(parquet_pages, "LEAST", least)
        pages = ColumnPages(io.BytesIO(page + page), *given)
        assert pages.may_hold("x") == (not left)
        assert (pages.read("x") is not None) == is_read
    assert left == {"x"}


def test_pages_of_more_values_than_are_left_are_not_decompressed(monkeypatch):
    sizes, original = [], ColumnPages._body
    monkeypatch.setattr(ColumnPages, "_body", lambda *given: (sizes.append(given[2]), original(*given))[1])
    page = header(size=24, stored=24, count=3) + VALUES
    assert read(page * 50, 3) is None
    assert sizes == [24]


def test_no_memory_is_taken_for_lengths_that_are_only_stated(monkeypatch):
    taken = []
    monkeypatch.setattr(
        parquet_memory, "bytearray", lambda length=0: (taken.append(length), bytearray(length))[1], raising=False
    )
    raw = header(size=2**31 - 1, stored=2**31 - 1, count=2**31 - 1) + VALUES
    assert read(raw, 3, total_compressed_size=2**31 - 1) is None
    assert read(raw, 3) is None
    assert max(taken) <= 3 * 8 + 2 * parquet_pages.SLACK


@settings(max_examples=300)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_header_or_not(raw):
    """They end, and nothing but the length of what there is can be exceeded."""
    try:
        fields, place = read_struct(raw, 0)
    except (Unusual, IndexError):
        return
    assert place >= 1
    assert all(isinstance(each, int | dict) for each in fields.values())


def test_headers_do_not_nest_without_end_and_integers_are_short():
    with pytest.raises(Unusual):
        read_struct(b"\x1c" * 10_000, 0)
    with pytest.raises(Unusual):
        varint(b"\xff" * 100, 0)


@pytest.mark.parametrize("codec", ["snappy", "none"])
@pytest.mark.parametrize("writer", ["pyarrow", "pages", "duckdb"])
def test_damaged_files_give_what_pyarrow_reads_of_them_or_are_left_to_it(tmp_path, writer, codec):
    whole = written(tmp_path, table_of(200), writer, codec, rows=200)
    metadata = pq.ParquetFile(pa.BufferReader(whole)).metadata
    chunks = [metadata.row_group(0).column(place) for place in range(len(KINDS))]
    generator, taken = np.random.default_rng(7), 0
    for attempt in range(600):
        raw, chunk = bytearray(whole), chunks[attempt % len(chunks)]
        start, length = chunk.data_page_offset, chunk.total_compressed_size
        for _ in range(generator.integers(1, 4)):
            reach = min(length, 60) if attempt % 3 else length
            place = start + int(generator.integers(reach))
            raw[place] = generator.choice([0, 1, 127, 128, 255, raw[place] ^ (1 << int(generator.integers(8)))])
        name = chunk.path_in_schema
        pages, file = pages_of(bytes(raw))
        numbers = pages.read(name)
        if numbers is not None:
            taken += 1
            assert same(numbers, file.read_row_group(0, columns=[name])[name].to_numpy())
    assert taken


def test_where_arrow_has_no_jemalloc_its_own_pool_decompresses(monkeypatch):
    def missing():
        raise NotImplementedError("this Arrow was built without it")

    monkeypatch.setattr(pa, "jemalloc_memory_pool", missing)
    assert parquet_memory.decompressing_pool().backend_name == pa.default_memory_pool().backend_name
    packed = pa.Codec("snappy").compress(VALUES, asbytes=True)
    assert read(header(size=24, stored=len(packed), count=3) + packed, 3, compression="SNAPPY").tobytes() == VALUES
