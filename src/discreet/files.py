"""CSV and Parquet files as blocks of columns in memory, and CSV files as DuckDB has to be told to read them.

How a file is read must not depend on a record: column names come from the first line, nothing is guessed from the
rows, and no row can make reading fail. Both readers of CSV files agree: a short row is padded, fields beyond the last
column are dropped, an empty line is no row (unless there is one column only), an empty field is missing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.encoding import UNREADABLE
from discreet.errors import DiscreetError, FileError, MissingExtra
from discreet.sources.sql import (
    DATE_TYPES,
    FLOAT_TYPES,
    INTEGER_TYPES,
    TEXT_TYPES,
    base_type,
    identifier,
    is_utf8,
    literal,
)

Block = dict[str, NDArray[Any]]

TEXT_FILES = (".csv", ".txt", ".tsv")
PARQUET_FILES = (".parquet", ".pq")
ROWS = 50_000
LONGEST_FIELD = 2**31 - 1
OLDEST_DUCKDB = 2
"""Older versions have no way to read a Parquet file in which one text is not UTF-8."""


def read_blocks(path: str | Path, rows: int = ROWS, *, keep_undecodable: bool = True) -> Iterator[Block]:
    """The file's columns, `rows` records at a time; at least one block, so that an empty file has its columns too.

    A record of a CSV file that is not UTF-8 has its bad bytes replaced, or is left out as DuckDB does it
    (`keep_undecodable=False`).
    """
    path = checked(path)
    if is_text(path):
        return _csv_blocks(path, rows, keep_undecodable)
    return _parquet_blocks(path, rows)


def read_columns(path: str | Path, *, keep_undecodable: bool = True) -> Block:
    """The whole file as columns in memory; equal texts of a column are one object: smaller, and faster to look up."""
    blocks = list(read_blocks(path, keep_undecodable=keep_undecodable))
    return {name: _pooled(np.concatenate([block[name] for block in blocks])) for name in blocks[0]}


def _pooled(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype == object:
        pool: dict[Any, Any] = {}
        for place, value in enumerate(column.tolist()):
            if isinstance(value, str):
                column[place] = pool.setdefault(value, value)
    return column


def structure(path: str | Path) -> Block:
    """The columns without a row: names and types, no value is read."""
    path = checked(path)
    if is_text(path):
        return {name: np.empty(0, dtype=object) for name in header(path)}
    return {name: _array([], kind) for name, kind in _parquet_kinds(path).items()}


def checked(path: str | Path) -> Path:
    """The path of a file that exists and is of a kind that is known."""
    path = Path(path)
    if path.is_dir():
        raise FileError(f"{path} is a folder; need a .csv or .parquet file")
    if not path.is_file():
        raise FileError(f"cannot read {path}: no such file; check the path")
    if path.suffix.lower() not in (*TEXT_FILES, *PARQUET_FILES):
        raise FileError(f"{path} is neither .csv nor .parquet; convert it to one of these")
    return path


def is_text(path: Path) -> bool:
    """Whether the file is a CSV file, by its name."""
    return path.suffix.lower() in TEXT_FILES


def header(path: Path) -> list[str]:
    """The column names in the first line of a CSV file. Messages do not quote it: it may be a record by mistake."""
    with _open_text(path, "replace") as file:
        first = next(_reader(file, path), None)
    if not first:
        raise FileError(f"{path} has no header: its first line is empty; need a first line with the column names")
    if any(mark in name for name in first for mark in ("\0", "\ufffd")):
        raise FileError(f"{path} is not UTF-8 text; save it as UTF-8")
    names = [name.strip() or f"column{position}" for position, name in enumerate(first)]
    places: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if places.setdefault(name.casefold(), position) != position:
            raise FileError(
                f"{path}: two columns of the first line have one name (case does not count); need a header row with "
                "different names"
            )
    return names


def csv_relation(path: Path) -> str:
    """The file as DuckDB has to read it, as the text of a subquery.

    Nothing is sniffed, so that neither columns nor errors depend on a record. The condition is always true; it makes
    DuckDB decode all columns of a record, so that one with bad bytes is left out of every count and not of some.
    """
    if any(mark in str(path) for mark in "*?["):
        raise FileError(f"{path}: DuckDB takes *, ? and [ in a name for a pattern; rename the file or its folder")
    names = header(path)
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    delimiter = "\\t" if path.suffix.lower() == ".tsv" else ","
    return (
        f"(SELECT * FROM read_csv({literal(str(path))}, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = E'{delimiter}', quote = '\"', escape = '\"', null_padding = true, ignore_errors = true, "
        f"strict_mode = false, parallel = false) WHERE concat({', '.join(map(identifier, names))}) IS NOT NULL)"
    )


def _open_text(path: Path, errors: str) -> Any:
    try:
        return path.open(encoding="utf-8-sig", errors=errors, newline="")
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; check the path") from None


def _reader(file: Any, path: Path) -> Iterator[list[str]]:
    """The rows of an open CSV file; blanks before a field do not count, nor do they in the values."""
    csv.field_size_limit(LONGEST_FIELD)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    return csv.reader(file, delimiter=delimiter, skipinitialspace=True)


def _csv_blocks(path: Path, rows: int, keep_undecodable: bool) -> Iterator[Block]:
    names = header(path)
    with _open_text(path, "replace" if keep_undecodable else "surrogateescape") as file:
        records = _records(_reader(file, path), len(names), keep_undecodable)
        next(records)
        block = list(islice(records, rows))
        while True:
            columns = zip(*block, strict=True) if block else [()] * len(names)
            yield {name: _array(column, "text") for name, column in zip(names, columns, strict=True)}
            if len(block) < rows:
                return
            block = list(islice(records, rows))


def _records(reader: Iterator[list[str]], width: int, keep_undecodable: bool) -> Iterator[list[str | None]]:
    """Rows of one width, as DuckDB makes them."""
    for row in reader:
        record: list[str | None] = [*row[:width], *[None] * (width - len(row))]
        if (row or width == 1) and (keep_undecodable or _is_decodable(row[:width])):
            yield record


def _is_decodable(row: Sequence[str]) -> bool:
    try:
        "".join(row).encode()
    except UnicodeEncodeError:
        return False
    return True


def _array(values: Sequence[Any], kind: str) -> NDArray[Any]:
    """One column; dates keep their type but not their values, which no model can use."""
    if kind == "date":
        return np.full(len(values), "NaT", dtype="datetime64[us]")
    if kind == "number":
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if kind == "integer" and None not in values:
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    array = np.empty(len(values), dtype=object)
    array[:] = [None if value is None else b"" for value in values] if kind == "other" else values
    return array


def _parquet_blocks(path: Path, rows: int) -> Iterator[Block]:
    kinds = _parquet_kinds(path)
    for number, lists in enumerate(_parquet_lists(path, kinds, rows)):
        if lists[0] or number == 0:
            yield {name: _array(values, kind) for (name, kind), values in zip(kinds.items(), lists, strict=True)}


def _parquet_kinds(path: Path) -> dict[str, str]:
    """The kind of each column: integer, number, bool, text, date or other."""
    connection = connect_duckdb()
    try:
        if connection is None:
            return {field.name: _arrow_kind(field.type) for field in _arrow_file(path).schema_arrow}
        described = connection.execute(f"DESCRIBE SELECT * FROM {parquet_relation(path)}").fetchall()
        return {str(row[0]): _sql_kind(str(row[1])) for row in described}
    except DiscreetError:
        raise
    except Exception:
        pass  # an engine's message may quote a value
    raise FileError(f"{path} cannot be read as Parquet; check that the file is whole")


def _parquet_lists(path: Path, kinds: dict[str, str], rows: int) -> Iterator[list[list[Any]]]:
    """Blocks of columns as lists of plain values; a text that is not UTF-8 is UNREADABLE."""
    connection = connect_duckdb()
    try:
        if connection is None:
            for batch in _arrow_file(path).iter_batches(batch_size=rows):
                yield [_arrow_list(column) for column in batch.columns]
        else:
            cursor = connection.execute(_parquet_rows(path, kinds))
            while block := cursor.fetchmany(rows):
                columns = [list(column) for column in zip(*block, strict=True)]
                values, bad = columns[: len(kinds)], columns[len(kinds) :]
                yield [_readable(*each) for each in zip(values, bad, strict=True)]
        yield [[] for _ in kinds]
        return
    except GeneratorExit:
        raise
    except Exception:
        pass
    raise FileError(f"{path} cannot be read as Parquet; check that the file is whole and free memory")


def _parquet_rows(path: Path, kinds: dict[str, str]) -> str:
    """The SELECT of all values, and for each of them whether it is a text that is not UTF-8.

    DuckDB refuses a file with such a text, or has its bad bytes replaced or left out. A text is bad if and only if
    these two differ; the rows of both readings are in the order of the file.
    """
    texts = [name for name, kind in kinds.items() if kind == "text"]
    chosen = [_plain(f"a.{identifier(name)}", kind) for name, kind in kinds.items()]
    if not texts:
        return f"SELECT {', '.join([*chosen, *['FALSE'] * len(kinds)])} FROM {parquet_relation(path)} AS a"
    bad = [
        f"a.{identifier(name)} IS DISTINCT FROM b.{identifier(name)}" if name in texts else "FALSE" for name in kinds
    ]
    left_out = f"(SELECT {', '.join(map(identifier, texts))} FROM {parquet_relation(path, 'ignore')})"
    return (
        f"SELECT {', '.join([*chosen, *bad])} FROM {parquet_relation(path, 'replace')} AS a "
        f"POSITIONAL JOIN {left_out} AS b"
    )


def _readable(values: list[Any], bad: list[bool]) -> list[Any]:
    return [UNREADABLE if is_bad else value for value, is_bad in zip(values, bad, strict=True)] if any(bad) else values


def _arrow_list(column: Any) -> list[Any]:
    try:
        return list(column.to_pylist())
    except Exception:
        return [_arrow_value(scalar) for scalar in column]


def _arrow_value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except Exception:
        return UNREADABLE


def parquet_relation(path: Path, bad_text: str = "strict") -> str:
    """This very Parquet file as DuckDB has to read it: nothing of its name or of its folders' names becomes data."""
    return (
        f"read_parquet({literal(file_name(path))}, hive_partitioning = false, filename = false, union_by_name = false, "
        f"utf8_validation = '{bad_text}')"
    )


def file_name(path: Path) -> str:
    """The name of a file for DuckDB, which takes some names for patterns, and some that are not absolute for a URL."""
    name = str(path.absolute())
    if any(mark in name for mark in "*?["):
        if "\\" in name:
            raise FileError(f"{path}: DuckDB cannot read a name with a backslash and one of * ? [; rename the file")
        name = "".join(f"[{mark}]" if mark in "*?[" else mark for mark in name)
    if not is_utf8(name):
        raise FileError("the name of the file is not UTF-8, which DuckDB cannot read; rename the file or its folder")
    return name


def _plain(name: str, kind: str) -> str:
    """A column as Python can hold it: decimals as doubles, what is neither number nor text only as there or not."""
    if kind == "number":
        return f"CAST({name} AS DOUBLE)"
    if kind == "text":
        return f"CAST({name} AS VARCHAR)"
    return f"CASE WHEN {name} IS NULL THEN NULL ELSE 1 END" if kind in ("other", "date") else name


def _sql_kind(name: str) -> str:
    base = base_type(name)
    kinds = {"integer": INTEGER_TYPES, "number": FLOAT_TYPES, "text": TEXT_TYPES, "bool": {"BOOLEAN"}}
    if base.startswith(DATE_TYPES) and not base.endswith("]"):
        return "date"
    return next((kind for kind, names in kinds.items() if base in names), "other")


def _arrow_kind(kind: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(kind):
        return _arrow_kind(kind.value_type)
    tests = {
        "integer": (types.is_integer,),
        "number": (types.is_floating, types.is_decimal),
        "bool": (types.is_boolean,),
        "text": (types.is_string, types.is_large_string, types.is_string_view),
        "date": (types.is_temporal,),
    }
    return next((name for name, each in tests.items() if any(test(kind) for test in each)), "other")


def duckdb_module() -> Any:
    """The package duckdb, or None where it is not installed; MissingExtra if it is too old."""
    try:
        import duckdb
    except ImportError:
        return None
    if int(duckdb.__version__.partition(".")[0]) < OLDEST_DUCKDB:
        raise MissingExtra("duckdb")
    return duckdb


def connect_duckdb() -> Any:
    """A DuckDB of our own, in which nobody else's settings are changed, or None where it is not installed.

    A table is what the catalog calls so, never a variable of Python; and no statistics of a file stand for its values,
    since they leave NaN out. Memory is limited by DuckDB's default, a share of the machine's: with less, one long text
    could make a statement fail.
    """
    duckdb = duckdb_module()
    if duckdb is None:
        return None
    connection = duckdb.connect()
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    return connection


def _arrow_file(path: Path) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("duckdb") from None
    return parquet.ParquetFile(path)
