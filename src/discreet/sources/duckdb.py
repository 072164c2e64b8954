"""A Parquet file or a DuckDB table, counted inside DuckDB: it may be larger than memory, and only counts come back.

CSV files are read by `CsvSource`: in DuckDB's own reader, one record can change how others are read.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError, MissingExtra
from discreet.records import sql_types
from discreet.records.duckdb_engine import connect_duckdb, duckdb_module
from discreet.records.encoding import Cells
from discreet.records.files import PARQUET_FILES, TEXT_FILES, read_blocks
from discreet.records.parquet import parquet_relation
from discreet.records.tables import check_names
from discreet.schema import Schema
from discreet.sources import Source, Task, sql
from discreet.sources.blocks import BlockSource
from discreet.sources.coding import fold_rows
from discreet.sources.csv import CsvSource
from discreet.sources.exact import ExactRows, ExactStatistics

DATABASES = (".duckdb", ".db")
STRANGE = (KeyError, TypeError, AttributeError, ValueError, RecursionError)
"""Errors that a query plan of an unknown shape can raise."""
BATCH = 1 << 17
"""Records that come at a time when codes are added up: 2 MB for ten columns."""
LEFT = np.iinfo(np.int64).min
"""Marks a record that the first SELECT left to the second."""


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
        is_text = connection is None and Path(str(path)).suffix.lower() in TEXT_FILES
        self._csv = CsvSource(str(path)) if is_text else None
        self._opened: tuple[Any, str, dict[str, str]] | None = None
        self._unchecked: Source | None = None
        self._stored = False
        self._guard: Callable[[Any], contextlib.AbstractContextManager[None]] = contextlib.nullcontext

    def __repr__(self) -> str:
        return "DuckDBSource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Check names and types of the columns; no value is looked at."""
        if self._csv is not None:
            self._csv.check(schema)
            return
        *_, types = self._open()
        check_names(list(types), [*schema.names, schema.target], schema)
        sql.refuse_dates(schema, types, stored=self._stored)

    def columns(self) -> list[str]:
        """Names of the columns."""
        if self._csv is not None:
            return self._csv.columns()
        *_, types = self._open()
        return list(types)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Run the SELECTs; only counts come back."""
        if self._csv is not None:
            return self._csv.count(cells, schema)
        try:
            return self._count(cells, schema)
        except FileError:
            if self._unchecked is None:
                raise
            return self._unchecked.count(cells, schema)

    def _count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        connection, relation, types = self._open()
        with self._guard(connection):
            rows = _run(connection, sql.count_cells(relation, cells, schema, types), schema)
        counts, rest = {}, []
        for place, block in enumerate(sql.in_blocks(cells, schema)):
            own = rows[rows[:, 0] == place]
            for position, each in enumerate(block, start=1):
                known = own[:, position] != LEFT
                counts[each] = _tabulate(own[known], position, each.size(schema))
                if not known.all():
                    rest.append(each)
        if rest:
            with self._guard(connection):
                rows = _run(connection, sql.count_rest(relation, rest, schema, types), schema)
            for place, each in enumerate(rest):
                counts[each] += _tabulate(rows[rows[:, 0] == place], 1, each.size(schema))
        return ExactStatistics(counts)

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """Run one SELECT; two bytes per value come back, and nothing else about a record."""
        if self._csv is not None:
            yield from self._csv.rows(cells, schema)
            return
        connection, relation, types = self._open()
        try:
            with self._guard(connection):
                columns = _quietly(connection, sql.row_codes(relation, cells, schema, types), _columns)
        except FileError:
            if self._unchecked is None:
                raise
            yield from self._unchecked.rows(cells, schema)
            return
        yield _block(columns, cells)

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Run one SELECT and add up its codes as they come, a batch at a time."""
        if self._csv is not None:
            return self._csv.fold(cells, schema, task)
        connection, relation, types = self._open()

        def added(result: Any) -> NDArray[np.int64]:
            return fold_rows((_block(columns, cells) for columns in _batches(result)), task)

        try:
            with self._guard(connection):
                folded: NDArray[np.int64] = _quietly(connection, sql.row_codes(relation, cells, schema, types), added)
                return folded
        except FileError:
            if self._unchecked is None:
                raise
            return self._unchecked.fold(cells, schema, task)

    def _open(self) -> tuple[Any, str, dict[str, str]]:
        """A connection, the SQL text that names the table, and the types of its columns; opened once."""
        if self._opened is None:
            with one_at_a_time(self._connection):
                connection, relation, checked = self._relation()
                described = _quietly(connection, f"DESCRIBE SELECT * FROM {relation}")
            types = {str(row[0]): str(row[1]) for row in described}
            self._stored = checked and self._unchecked is None  # in a table of DuckDB, not in a file or behind a view
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
        if self._connection is not None:
            return self._connection, *_named(self._connection, str(self._table))
        path = Path(str(self._path))
        if path.is_dir():
            raise FileError(f"{path} is a folder; need a .csv, .parquet or .duckdb file")
        if not path.is_file():
            raise FileError(f"cannot read {path}: no such file; check the path")
        kind = path.suffix.lower()
        if kind in DATABASES:
            connection = _connect()
            _attach(connection, path)
            return connection, *_named(connection, str(self._table))
        if kind in PARQUET_FILES:
            # DuckDB refuses a file with bad text; then the blocks are counted instead, with the same result
            self._unchecked = BlockSource(lambda schema: read_blocks(path, names=schema.all_names))
            return _connect(), parquet_relation(path), True
        raise FileError(f"{path} is neither .csv, .parquet nor .duckdb; convert it to one of these")


def _connect() -> Any:
    connection = connect_duckdb()
    connection.execute("SET preserve_insertion_order = false")
    connection.execute("SET perfect_ht_threshold = 20")  # count up to 2**20 groups in a plain array
    return connection


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


def _run(connection: Any, text: str, schema: Schema) -> NDArray[np.int64]:
    """The rows of a count as integers, with LEFT in place of NULL."""
    rows = [[LEFT if value is None else value for value in row] for row in _quietly(connection, text)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3 + len(schema.classes))


def _tabulate(rows: NDArray[np.int64], position: int, size: int) -> NDArray[np.int64]:
    """Counts by class and cell from the rows of one block; codes out of range are clipped to the outermost cells."""
    table = np.zeros((size, rows.shape[1] - 3), dtype=np.int64)
    np.add.at(table, np.clip(rows[:, position], 0, size - 1), rows[:, 3:])
    return table.T


def _columns(result: Any) -> dict[str, NDArray[np.uint16]]:
    return {name: np.asarray(column, dtype=np.uint16) for name, column in result.fetchnumpy().items()}


def _block(columns: dict[str, NDArray[np.uint16]], cells: Sequence[Cells]) -> ExactRows:
    return ExactRows({each: columns[f"c{place}"] for place, each in enumerate(cells)}, columns["label"])


def _batches(result: Any) -> Iterator[dict[str, NDArray[np.uint16]]]:
    """The codes in batches, by Arrow; all at once if it is not installed."""
    if find_spec("pyarrow") is None:
        yield _columns(result)
        return
    for batch in result.to_arrow_reader(BATCH):
        names = batch.schema.names
        yield {name: batch.column(place).to_numpy() for place, name in enumerate(names)}


_LOCK = threading.RLock()


@contextlib.contextmanager
def one_at_a_time(connection: Any) -> Iterator[None]:
    """Only one source at a time runs a statement on a given connection: a second one would end the first."""
    with _LOCK:
        yield


@contextlib.contextmanager
def each_value_by_itself(connection: Any) -> Iterator[None]:
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
            yield
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
    raise FileError("the file or table cannot be read by DuckDB; check its format, its name and free memory")
