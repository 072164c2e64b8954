"""Parquet files by several writers, and pages by hand, for what is taken straight from pages."""

import io

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.records.parquet_pages import ColumnPages
from discreet.records.parquet_runs import write_runs

try:
    from numba import njit
except ImportError:
    LOOPS = [write_runs]
else:
    LOOPS = [write_runs, njit(nogil=True)(write_runs)]
"""`write_runs` as Python runs it, and compiled where numba is installed."""


def written(folder, table, writer, codec="snappy", dictionary=False, rows=1000):
    """The bytes of a file."""
    file = io.BytesIO()
    if writer == "duckdb":
        codec = codec.replace("none", "uncompressed")
        options = f"FORMAT parquet, COMPRESSION {codec}, ROW_GROUP_SIZE 2048"
        options += "" if dictionary else ", DICTIONARY_SIZE_LIMIT 1"
        with duckdb.connect() as connection:
            connection.register("given", table)
            connection.execute(f"COPY given TO '{folder / 'd.parquet'}' ({options})")
        return (folder / "d.parquet").read_bytes()
    if writer == "polars":
        pl.from_arrow(table).write_parquet(file, compression=codec.replace("none", "uncompressed"), row_group_size=rows)
    else:
        pq.write_table(
            table, file, row_group_size=rows, compression=codec, use_dictionary=dictionary,
            data_page_version="2.0" if writer == "pyarrow v2" else "1.0",
            data_page_size=500 if writer == "pages" else None, write_batch_size=64,
        )  # fmt: skip
    return file.getvalue()


def pages_of(raw, group=0, write_runs=None):
    """As sources use it: the columns of a row group, and what pyarrow reads of them."""
    file = pq.ParquetFile(pa.BufferReader(raw))
    metadata, types = file.metadata, {field.name: field.type for field in file.schema_arrow}
    places = {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}
    return ColumnPages(pa.BufferReader(raw), metadata, group, places, types, set(), write_runs), file


def same(found, expected):
    """Whether two arrays have the same type and the same bytes: NaN and the sign of zero count."""
    return found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


def number(value):
    """An integer as Thrift writes it."""
    value, written = (value << 1) ^ (value >> 63), b""
    while value > 127:
        written, value = written + bytes([value & 127 | 128]), value >> 7
    return written + bytes([value])


def header(*, kind=0, size=0, stored=0, count=0, encoding=0, levels=3):
    """The header of a page."""
    inner = b"".join(b"\x15" + number(each) for each in (count, encoding, levels, 3))
    return b"".join(b"\x15" + number(each) for each in (kind, size, stored)) + b"\x2c" + inner + b"\0\0"


class Stated:
    """What the end of a file says of a column of doubles without a level, and of its row group and schema."""

    max_repetition_level = max_definition_level = data_page_offset = 0
    physical_type, dictionary_page_offset, compression = "DOUBLE", None, "UNCOMPRESSED"

    def __init__(self, rows, length, **others):
        self.num_rows = self.num_values = rows
        self.total_compressed_size, self.schema = length, self
        self.__dict__.update(others)

    def row_group(self, _):
        return self

    column = row_group
