"""A table or view of DuckDB, counted as its records stream by: it may be larger than memory, and no value is kept.

CSV files are read by `CsvSource`: in DuckDB's own reader, one record can change how others are read. Parquet files are
read by `ParquetSource`.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError, MissingExtra
from discreet.records import sql_types
from discreet.records.arrow_columns import BatchReader
from discreet.records.arrow_values import arrow_module
from discreet.records.csv_opening import TEXT_FILES, kind_of
from discreet.records.duckdb_engine import connect_duckdb, duckdb_module
from discreet.records.encoding import Cells
from discreet.records.files import PARQUET_FILES
from discreet.records.tables import check_names
from discreet.records.values import Columns
from discreet.schema import Dialect, Schema
from discreet.sources import Source, Task, sql
from discreet.sources.arrow_blocks import BATCH, BatchCounter
from discreet.sources.coding import fold_rows
from discreet.sources.csv import CsvSource
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.parquet import ParquetSource

DATABASES = (".duckdb", ".db")
STRANGE = (KeyError, TypeError, AttributeError, ValueError, RecursionError)
"""Errors that a query plan of an unknown shape can raise."""
UNREAD = "the file or table cannot be read by DuckDB; check its format, its name and free memory"


class DuckDBSource:
    """A file or a table that DuckDB can read.

    A given connection keeps its settings, and several threads may use it: each result belongs to its statement. The
    owner is responsible for what a view computes: if it fails for the values of some record, the fit fails too, after
    the charge, always with the same message.

    Parameters
    ----------
    path : a .csv, .parquet or .duckdb file.
    table : the name of a table or view, for a .duckdb file or a given connection; with its schema if several tables
        have that name ("clinic.patients").
    connection : an open DuckDB connection that has `table`.
    """

    def __init__(self, path: str | Path | None = None, *, table: str | None = None, connection: Any = None) -> None:
        self._path, self._table, self._connection = path, table, connection
        kind = kind_of(Path(str(path))) if connection is None else ""
        self._file: CsvSource | ParquetSource | None = None
        if kind in TEXT_FILES:
            self._file = CsvSource(str(path))
        elif kind in PARQUET_FILES:
            self._file = ParquetSource(str(path))
        self._opened: tuple[Any, str, dict[str, str]] | None = None
        self._stored = False
        self._guard: Callable[[Any], contextlib.AbstractContextManager[Any]] = _own_cursor

    def __repr__(self) -> str:
        return "DuckDBSource(values hidden)"

    def declared(self, dialect: Dialect) -> Source:
        """A CSV file in the given dialect; any other table as it is."""
        return self._file.declared(dialect) if isinstance(self._file, CsvSource) else self

    def check(self, schema: Schema) -> None:
        """Check names and types of the columns; no value is looked at."""
        if self._file is not None:
            _existing(self._path)
            self._file.check(schema)
            return
        *_, types = self._open()
        check_names(list(types), [*schema.names, schema.target], schema)
        sql.refuse_dates(schema, types, stored=self._stored)

    def columns(self) -> list[str]:
        """Names of the columns."""
        if self._file is not None:
            return self._file.columns()
        *_, types = self._open()
        return list(types)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count batch by batch."""
        if self._file is not None:
            return self._file.count(cells, schema)
        counter, batches = self._stream(cells, schema)
        with contextlib.closing(batches):
            for batch in batches:
                counter.add(batch)
        return counter.counted()

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """Encode batch by batch."""
        if self._file is not None:
            yield from self._file.rows(cells, schema)
            return
        counter, batches = self._stream(cells, schema)
        with contextlib.closing(batches):
            for batch in batches:
                yield counter.rows(batch)

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Add up batch by batch."""
        if self._file is not None:
            return self._file.fold(cells, schema, task)
        return fold_rows(self.rows(cells, schema), task)

    def structure(self) -> Columns:
        """The columns without a record."""
        if self._file is not None:
            return self._file.structure()
        *_, types = self._open()
        with contextlib.closing(self._values(list(types), "LIMIT 0")) as blocks:
            return next(blocks)

    def values(self, names: Sequence[str], numbers: Collection[str] = ()) -> Iterator[Columns]:
        """The values of some columns, batch by batch."""
        if self._file is not None:
            return self._file.values(names, numbers)
        return self._values(list(dict.fromkeys(names)))

    def _values(self, names: list[str], clause: str = "") -> Generator[Columns]:
        """Batches as blocks of columns, after one without a record."""
        connection, relation, types = self._open()
        text = f"{sql.select_values(relation, names, types)} {clause}"
        with self._guard(connection) as held, contextlib.closing(_opened_reader(held, text)) as reader:
            read = BatchReader({f.name: f.type for f in reader.schema}, sql.texts_as_bytes(names, types))
            yield read.structure()
            while (batch := _next(reader)) is not None:
                yield read.block(batch)

    def _stream(self, cells: Sequence[Cells], schema: Schema) -> tuple[BatchCounter, Generator[Any]]:
        """The batches of one SELECT of the columns as they are, and what encodes them."""
        connection, relation, types = self._open()
        names = list(dict.fromkeys([*(each.column for each in cells), schema.target]))
        text = sql.select_columns(relation, names, schema, types)
        counter = BatchCounter(cells, schema, sql.texts_as_bytes(names, types))
        return counter, _batches(self._guard(connection), text)

    def _open(self) -> tuple[Any, str, dict[str, str]]:
        """A connection, the SQL text that names the table, and the types of its columns; opened once."""
        if self._opened is None:
            with _LOCK:
                connection, relation, checked = self._relation()
                described = _quietly(connection, f"DESCRIBE SELECT * FROM {relation}")
            types = {str(row[0]): str(row[1]) for row in described}
            self._stored = checked  # in a table of DuckDB, not behind a view
            if self._connection is not None:
                self._guard = one_at_a_time if checked else each_value_by_itself
            if not checked:
                types = {name: sql_types.UNCHECKED if kind == "VARCHAR" else kind for name, kind in types.items()}
            self._opened = connection, relation, types
        return self._opened

    def _relation(self) -> tuple[Any, str, bool]:
        """A connection, the SQL text that names the table, and whether DuckDB has checked that its texts are UTF-8."""
        if duckdb_module() is None:
            raise MissingExtra("duckdb")
        arrow_module()
        if self._connection is not None:
            return self._connection, *_named(self._connection, str(self._table))
        path = _existing(self._path)
        if path.suffix.lower() not in DATABASES:
            raise FileError(f"{path} is neither .csv, .parquet nor .duckdb; convert it to one of these")
        connection = connect_duckdb()
        _attach(connection, path)
        return connection, *_named(connection, str(self._table))


def _existing(given: str | Path | None) -> Path:
    path = Path(str(given))
    if path.is_dir():
        raise FileError(f"{path} is a folder; need a .csv, .parquet or .duckdb file")
    if not path.is_file():
        raise FileError(f"cannot read {path}: no such file; check the path")
    return path


def _attach(connection: Any, path: Path) -> None:
    """Open a database file from a DuckDB of our own, since connections to the same path have common settings."""
    try:
        connection.execute(f"ATTACH {sql_types.literal(str(path.absolute()))} AS data (READ_ONLY, TYPE duckdb)")
        connection.execute("USE data")
        return
    except Exception:
        pass  # an engine's message may quote what it read
    raise FileError(f"{path} cannot be opened by DuckDB; is it a database, and not in use?")


CATALOG = """SELECT database_name, schema_name, table_name, '' FROM duckdb_tables()
UNION ALL SELECT database_name, schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal"""


def _named(connection: Any, table: str) -> tuple[str, bool]:
    """The full name of the table or view, and whether it is a table; FileError unless exactly one has this name.

    Only the catalog is asked: DuckDB would take a name that is not in the catalog for a file, a pattern of files or a
    Python variable. As in DuckDB, upper and lower case are the same, and temporary tables come first.
    """
    found = []
    for database, schema, name, view in _quietly(connection, CATALOG):
        spelled = (name, f"{schema}.{name}", f"{database}.{schema}.{name}", f"{database}.{name}")
        if table.lower() in [each.lower() for each in spelled]:
            found.append((database, schema, name, view))
    (current,) = _quietly(connection, "SELECT current_database(), current_schema()")
    first = [each for each in found if each[0] == "temp"] or [each for each in found if each[:2] == current]
    chosen = found if "." in table else first or found
    if len(chosen) != 1:
        problem = "there is no table or view with this name" if not chosen else "several tables have this name"
        raise FileError(
            f"table {table!r}: {problem}; need a name that SHOW ALL TABLES lists, as schema.name if several have it"
        )
    *names, view = chosen[0]
    relation = ".".join(map(sql_types.identifier, names))
    if view and not _scanned(connection, relation) <= SCANS:
        raise FileError(
            f"table {table!r} is a view of something other than tables and Parquet files, and DuckDB guesses its types "
            "from the values; make it a table (CREATE TABLE ... AS), or pass the file or data frame itself"
        )
    return relation, not view


SCANS = {"SEQ_SCAN", "TABLE_SCAN", "INDEX_SCAN", "READ_PARQUET", "PARQUET_SCAN", "PYTHON_ARROW_SCAN", "ARROW_SCAN"}
SCANS |= {"COLUMN_DATA_SCAN", "DUMMY_SCAN", "EMPTY_RESULT", "DELIM_SCAN", "CTE_SCAN", "REC_CTE_SCAN", "RANGE"}
"""The scans that a view may consist of: those whose column types do not depend on the values."""


def _scanned(connection: Any, relation: str) -> set[str]:
    """The scans by which DuckDB reads a view and the views inside it; "unknown" if its plan cannot be read."""
    try:
        plans = _quietly(connection, f"EXPLAIN (FORMAT json) SELECT * FROM {relation}")
        return {name for _, plan in plans for node in json.loads(plan) for name in _leaves(node)}
    except (FileError, *STRANGE):
        return {"unknown"}


def _leaves(node: dict[str, Any]) -> Iterator[str]:
    below = node.get("children") or []
    if not below:
        yield str(node["name"]).strip()
    for each in below:
        yield from _leaves(each)


def _batches(guard: contextlib.AbstractContextManager[Any], text: str) -> Generator[Any]:
    """The batches of a SELECT, as they come. Messages of DuckDB are not passed on: they may quote a row."""
    with guard as connection:
        reader = _opened_reader(connection, text)
        try:
            while (batch := _next(reader)) is not None:
                yield batch
        finally:
            with contextlib.suppress(Exception):
                reader.close()


def _opened_reader(connection: Any, text: str) -> Any:
    return _quietly(connection, text, lambda result: result.to_arrow_reader(BATCH))


def _next(reader: Any) -> Any:
    try:
        return next(reader, None)
    except Exception as error:  # Arrow has one error for all; what a value can write comes after DuckDB's own words
        interrupted = str(error).startswith("INTERRUPT Error: Interrupted")
    if interrupted:
        raise KeyboardInterrupt
    raise FileError(UNREAD)


@contextlib.contextmanager
def _own_cursor(connection: Any) -> Iterator[Any]:
    """A connection of its own for each pass over a database that was opened here: threads may share a source."""
    cursor = connection.cursor()
    try:
        yield cursor
    finally:
        cursor.close()


_LOCK = threading.RLock()


@contextlib.contextmanager
def one_at_a_time(connection: Any) -> Iterator[Any]:
    """Only one source at a time runs a statement on a given connection: a second one would end the first."""
    with _LOCK:
        yield connection


@contextlib.contextmanager
def each_value_by_itself(connection: Any) -> Iterator[Any]:
    """As `one_at_a_time`, and without the statistics of files, which leave NaN out: if all other values of a column are
    equal, DuckDB takes the column for a constant, and a single record decides whether it does.

    Only for views of a given connection: tables have statistics that count NaN, and files are read by a DuckDB of our
    own. The setting belongs to the database, which other connections in this process may use too. Under the lock no two
    sources change it at the same time, so the value kept here is the owner's. It is restored unless the owner has
    changed it meanwhile. Statements of others stay correct without the statistics.
    """
    with _LOCK:
        setting = connection.cursor()  # the connection itself may hold a result that its owner has not fetched yet
        kept = _disabled(setting)
        wanted = ",".join(filter(None, [kept, "statistics_propagation"]))
        setting.execute(f"SET disabled_optimizers = {sql_types.literal(wanted)}")
        own = _disabled(setting)
        try:
            yield connection
        finally:
            with contextlib.suppress(Exception):
                if _disabled(setting) == own:
                    setting.execute(f"SET disabled_optimizers = {sql_types.literal(kept)}")


def _disabled(cursor: Any) -> str:
    ((names,),) = cursor.execute("SELECT current_setting('disabled_optimizers')").fetchall()
    return str(names)


def _quietly(connection: Any, text: str, fetch: Callable[[Any], Any] = lambda result: list(result.fetchall())) -> Any:
    """Run a SELECT. Messages of DuckDB are not passed on: they may quote a row.

    The result is fetched from a relation of its own: another thread could replace the result of the connection.
    """
    try:
        return fetch(connection.sql(text))
    except Exception as error:
        kind = type(error).__name__
    if kind == "InterruptException":
        raise KeyboardInterrupt
    if kind == "ResourceInUseException":
        raise FileError("the connection has a result that was not fetched to its end; fetch it, or pass its cursor()")
    raise FileError(UNREAD)
