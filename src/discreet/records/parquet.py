"""Parquet files as blocks of columns: read by DuckDB, or by pyarrow where duckdb is not installed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, FileError, MissingExtra
from discreet.records.duckdb_engine import connect_duckdb
from discreet.records.encoding import UNREADABLE
from discreet.records.sql_types import (
    FLOAT_TYPES,
    INTEGER_TYPES,
    TEXT_TYPES,
    base_type,
    identifier,
    literal,
    may_fail,
)
from discreet.records.values import Columns, objects
from discreet.schema.columns import is_utf8


def parquet_structure(path: Path) -> Columns:
    """The columns without a row: names and types; no value is read."""
    return {name: _array([], kind) for name, kind in _kinds(path).items()}


def parquet_blocks(path: Path, rows: int, wanted: Sequence[str] | None) -> Iterator[Columns]:
    """The columns, or the wanted ones among them, at most `rows` records at a time; at least one block."""
    kinds = {name: kind for name, kind in _kinds(path).items() if wanted is None or name in wanted}
    if not kinds:
        yield {}
        return
    for number, lists in enumerate(_lists(path, kinds, rows)):
        if lists[0] or number == 0:
            yield {name: _array(values, kind) for (name, kind), values in zip(kinds.items(), lists, strict=True)}


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
    return objects((None if value is None else UNREADABLE for value in values) if kind == "other" else values)


def _kinds(path: Path) -> dict[str, str]:
    """The kind of each column: integer, number, bool, text, date or other."""
    connection = connect_duckdb()
    try:
        if connection is None:
            fields = list(_arrow_file(path).schema_arrow)
            if len({field.name for field in fields}) != len(fields):
                raise FileError(f"{path} has two columns with the same name; rename one of them")
            return {field.name: _arrow_kind(field.type) for field in fields}
        described = connection.execute(f"DESCRIBE SELECT * FROM {parquet_relation(path)}").fetchall()
        return {str(row[0]): _sql_kind(str(row[1])) for row in described}
    except DiscreetError:
        raise
    except Exception:
        pass  # an engine's message may quote a value
    raise FileError(f"{path} cannot be read as Parquet; check that the file is whole")


def _lists(path: Path, kinds: dict[str, str], rows: int) -> Iterator[list[list[Any]]]:
    """Blocks of columns as lists of plain values; a text that is not UTF-8 is UNREADABLE."""
    connection = connect_duckdb()
    try:
        if connection is None:
            for batch in _arrow_file(path).iter_batches(batch_size=rows, columns=list(kinds)):
                yield [_arrow_list(batch.column(name)) for name in kinds]
        else:
            cursor = connection.execute(_select_rows(path, kinds))
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


def _select_rows(path: Path, kinds: dict[str, str]) -> str:
    """The SELECT of all values, with a flag for each value: whether it is a text that is not UTF-8.

    DuckDB can replace bad bytes or leave them out. A text is bad if and only if these two readings of it differ; both
    give the rows in the order of the file.
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
    """The Parquet file as DuckDB has to read it: no part of its path becomes a column or a pattern of other files."""
    return (
        f"read_parquet({literal(file_name(path))}, hive_partitioning = false, filename = false, union_by_name = false, "
        f"utf8_validation = '{bad_text}')"
    )


def file_name(path: Path) -> str:
    """The path for DuckDB: absolute, since some relative names look like a URL, and with pattern marks escaped."""
    name = str(path.absolute())
    if any(mark in name for mark in "*?["):
        if "\\" in name:
            raise FileError(f"{path}: DuckDB cannot read a name with a backslash and one of * ? [; rename the file")
        name = "".join(f"[{mark}]" if mark in "*?[" else mark for mark in name)
    if not is_utf8(name):
        raise FileError("the name of the file is not UTF-8, which DuckDB cannot read; rename the file or its folder")
    return name


def _plain(name: str, kind: str) -> str:
    """A column in types that Python can hold: decimals become doubles; of other types only NULL or not is kept."""
    if kind == "number":
        return f"CAST({name} AS DOUBLE)"
    if kind == "text":
        return f"CAST({name} AS VARCHAR)"
    return f"CASE WHEN {name} IS NULL THEN NULL ELSE 1 END" if kind in ("other", "date") else name


def _sql_kind(name: str) -> str:
    base = base_type(name)
    kinds = {"integer": INTEGER_TYPES, "number": FLOAT_TYPES, "text": TEXT_TYPES, "bool": {"BOOLEAN"}}
    if may_fail(name):
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
        "date": (types.is_temporal, _may_fail),
    }
    return next((name for name, each in tests.items() if any(test(kind) for test in each)), "other")


def _may_fail(kind: Any) -> bool:
    """As `sql_types.may_fail`, by the words in the name of Arrow's type."""
    return any(word in str(kind) for word in ("date", "time", "duration", "interval", "json", "geo", "variant"))


def _arrow_file(path: Path) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("duckdb") from None
    return parquet.ParquetFile(path)
