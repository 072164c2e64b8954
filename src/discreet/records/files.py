"""CSV and Parquet files as blocks of columns in memory.

How a file is read must not depend on a record: column names come from the first line, nothing is guessed from the
rows, and no row can make reading fail. What a record of a CSV file is, `csv_lines` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, FileError, MissingExtra
from discreet.records.csv_columns import delimiter_of, read_header, read_lines, split_columns
from discreet.records.csv_lines import LONGEST_LINE, fields_of, has_open_quote, text_of
from discreet.records.encoding import UNREADABLE
from discreet.records.sql_types import (
    FLOAT_TYPES,
    INTEGER_TYPES,
    TEXT_TYPES,
    base_type,
    identifier,
    is_utf8,
    literal,
    may_fail,
)

Block = dict[str, NDArray[Any]]

TEXT_FILES = (".csv", ".txt", ".tsv")
PARQUET_FILES = (".parquet", ".pq")
ROWS = 50_000
OLDEST_DUCKDB = 2
"""Older versions have no way to read a Parquet file in which one text is not UTF-8."""


def read_blocks(path: str | Path, rows: int = ROWS, names: Sequence[str] | None = None) -> Iterator[Block]:
    """The file's columns, at most `rows` records at a time; at least one block, so that an empty file has columns too.

    With `names`, these columns alone, as far as the file has them: a value of another column, which an engine might
    fail to read, is not looked at.

    Records come in the order of the file. The columns of a CSV file hold texts, None where a line ends before, and b""
    where it is too long to be read.
    """
    path = checked(path)
    return _csv_blocks(path, rows, names) if is_text(path) else _parquet_blocks(path, rows, names)


def read_columns(path: str | Path) -> Block:
    """The whole file as columns in memory; equal texts of a column are one object: smaller, and faster to look up."""
    blocks = list(read_blocks(path))
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
    return names_in(read_header(path), path)


def names_in(line: bytes, path: Path) -> list[str]:
    """The column names in the first line of a file by this name."""
    delimiter = delimiter_of(path)
    _check_header(path, line, delimiter)
    fields = fields_of(line, delimiter, line.count(delimiter) + 1)
    first = [str(text_of(field)) for field in fields if field is not None]
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


def _check_header(path: Path, line: bytes, delimiter: bytes) -> None:
    if not line:
        raise FileError(f"{path} has no header: its first line is empty; need a first line with the column names")
    if len(line) > LONGEST_LINE:
        raise FileError(f"the first line of {path} is longer than {LONGEST_LINE} bytes; need a line with column names")
    if b"\r" in line:
        raise FileError(
            f"{path}: the first line holds a carriage return; lines have to end with LF or CR LF, not with CR alone: "
            "save it so, or convert it to Parquet"
        )
    if has_open_quote(line, delimiter):
        raise FileError(
            f"{path}: a quote in the first line is not closed; a column name has to stand on one line: rename the "
            "column, or convert the file to Parquet"
        )


def open_quotes(path: Path) -> int:
    """In how many lines of a CSV file a quote is not closed. For the owner of the data only: it is not private."""
    delimiter, width = delimiter_of(path), len(header(path))
    return sum(
        len(line) <= LONGEST_LINE and has_open_quote(line, delimiter)
        for lines in read_lines(path, width)
        for line in lines.irregular()
    )


def _csv_blocks(path: Path, rows: int, wanted: Sequence[str] | None) -> Iterator[Block]:
    present, delimiter = header(path), delimiter_of(path)
    names = {name: place for place, name in enumerate(present) if wanted is None or name in wanted}
    yielded = False
    for lines in read_lines(path, len(present)):
        columns = split_columns(lines, names.values(), len(present), delimiter)
        values = {name: columns[place].values() for name, place in names.items()}
        for start in range(0, len(lines), rows):
            yielded = True
            yield {name: column[start : start + rows] for name, column in values.items()}
    if not yielded:
        yield {name: np.empty(0, dtype=object) for name in names}


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


def _parquet_blocks(path: Path, rows: int, wanted: Sequence[str] | None) -> Iterator[Block]:
    kinds = {name: kind for name, kind in _parquet_kinds(path).items() if wanted is None or name in wanted}
    for number, lists in enumerate(_parquet_lists(path, kinds, rows)):
        if lists[0] or number == 0:
            yield {name: _array(values, kind) for (name, kind), values in zip(kinds.items(), lists, strict=True)}


def _parquet_kinds(path: Path) -> dict[str, str]:
    """The kind of each column: integer, number, bool, text, date or other."""
    connection = connect_duckdb()
    try:
        if connection is None:
            fields = list(_arrow_file(path).schema_arrow)
            if len({field.name for field in fields}) != len(fields):
                raise FileError(f"{path} has two columns of one name; rename one of them")
            return {field.name: _arrow_kind(field.type) for field in fields}
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
            for batch in _arrow_file(path).iter_batches(batch_size=rows, columns=list(kinds)):
                yield [_arrow_list(batch.column(name)) for name in kinds]
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
    """As `sql.may_fail`, by the words in Arrow's type."""
    return any(word in str(kind) for word in ("date", "time", "duration", "interval", "json", "geo", "variant"))


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
    could make a statement fail. Nothing is written to disk.
    """
    duckdb = duckdb_module()
    if duckdb is None:
        return None
    connection = duckdb.connect()
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    connection.execute("SET temp_directory = ''")  # no value is written beside the owner's files
    return connection


def _arrow_file(path: Path) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("duckdb") from None
    return parquet.ParquetFile(path)
