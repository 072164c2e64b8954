"""A Parquet file or a DuckDB table, counted inside DuckDB: larger than memory, no row leaves it.

A CSV file is not read by DuckDB, whose reader lets one record change how others are read, but by `CsvSource`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.encoding import Cells
from discreet.errors import FileError, MissingExtra
from discreet.files import TEXT_FILES
from discreet.schema import Schema
from discreet.sources import sql
from discreet.sources.csv import CsvSource
from discreet.statistics import ExactRows, ExactStatistics
from discreet.tables import check_names

MEMORY_LIMIT = "256MB"
LEFT = np.iinfo(np.int64).min
"""Stands for a cell that the first SELECT left to the second."""


class DuckDBSource:
    """A file or a table that DuckDB can read.

    Parameters
    ----------
    path : a .csv, .parquet or .duckdb file.
    table : the name of a table or view, for a .duckdb file or a given connection.
    connection : an open DuckDB connection that has `table`.
    """

    def __init__(self, path: str | Path | None = None, *, table: str | None = None, connection: Any = None) -> None:
        self._path, self._table, self._connection = path, table, connection
        is_text = connection is None and Path(str(path)).suffix.lower() in TEXT_FILES
        self._csv = CsvSource(str(path)) if is_text else None
        self._opened: tuple[Any, str, dict[str, str]] | None = None

    def __repr__(self) -> str:
        return "DuckDBSource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Names and types of the columns; no value is looked at."""
        if self._csv is not None:
            self._csv.check(schema)
            return
        *_, types = self._open()
        check_names(list(types), [*schema.names, schema.target], schema)
        sql.refuse_dates(schema, types)

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
        connection, relation, types = self._open()
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
            rows = _run(connection, sql.count_rest(relation, rest, schema, types), schema)
            for place, each in enumerate(rest):
                counts[each] += _tabulate(rows[rows[:, 0] == place], 1, each.size(schema))
        return ExactStatistics(counts)

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """One SELECT: two bytes a value come back, nothing else of a record."""
        if self._csv is not None:
            yield from self._csv.rows(cells, schema)
            return
        connection, relation, types = self._open()
        columns = _quietly(connection, sql.row_codes(relation, cells, schema, types), _columns)
        codes = {each: columns[f"c{place}"] for place, each in enumerate(cells)}
        yield ExactRows(codes, columns["label"])

    def _open(self) -> tuple[Any, str, dict[str, str]]:
        """A connection, the text that names the rows in it, and the types of its columns; opened once."""
        if self._opened is None:
            connection, relation = self._relation()
            described = _quietly(connection, f"DESCRIBE SELECT * FROM {relation}")
            self._opened = connection, relation, {str(row[0]): str(row[1]) for row in described}
        return self._opened

    def _relation(self) -> tuple[Any, str]:
        try:
            import duckdb
        except ImportError:
            raise MissingExtra("duckdb") from None
        if self._connection is not None:
            return self._connection, sql.identifier(str(self._table))
        path = Path(str(self._path))
        if not path.is_file():
            raise FileError(f"cannot read {path}: no such file; check the path")
        kind = path.suffix.lower()
        if kind in (".duckdb", ".db"):
            return self._connect(duckdb, str(path)), sql.identifier(str(self._table))
        name = sql.literal(str(path))
        if kind in (".parquet", ".pq"):
            return self._connect(duckdb), f"read_parquet({name})"
        raise FileError(f"{path} is neither .csv, .parquet nor .duckdb; convert it to one of these")

    def _connect(self, duckdb: Any, path: str = ":memory:") -> Any:
        try:
            connection = duckdb.connect(path, read_only=path != ":memory:")
        except duckdb.Error:
            raise FileError(f"{path} cannot be opened by DuckDB; is it a database, and not in use?") from None
        connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET perfect_ht_threshold = 20")
        return connection


def _run(connection: Any, text: str, schema: Schema) -> NDArray[np.int64]:
    """The rows of a count, as integers; LEFT where a cell is NULL."""
    rows = [[LEFT if value is None else value for value in row] for row in _quietly(connection, text)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3 + len(schema.classes))


def _tabulate(rows: NDArray[np.int64], position: int, size: int) -> NDArray[np.int64]:
    """Counts by class and cell from the rows of one block; codes beyond the cells are clipped to them."""
    table = np.zeros((size, rows.shape[1] - 3), dtype=np.int64)
    np.add.at(table, np.clip(rows[:, position], 0, size - 1), rows[:, 3:])
    return table.T


def _columns(result: Any) -> dict[str, NDArray[np.uint16]]:
    return {name: np.asarray(column, dtype=np.uint16) for name, column in result.fetchnumpy().items()}


@contextlib.contextmanager
def _each_value_by_itself(connection: Any) -> Iterator[None]:
    """Without the statistics of a file, which know no NaN: if all other values of a column are one, DuckDB takes it for
    a constant, and whether it does depends on a single record. A given connection gets its setting back."""
    (kept,) = connection.execute("SELECT current_setting('disabled_optimizers')").fetchone()
    wanted = ",".join(filter(None, [kept, "statistics_propagation"]))
    connection.execute(f"SET disabled_optimizers = {sql.literal(wanted)}")
    try:
        yield
    finally:
        with contextlib.suppress(Exception):
            connection.execute(f"SET disabled_optimizers = {sql.literal(kept)}")


def _quietly(connection: Any, text: str, fetch: Callable[[Any], Any] = lambda result: list(result.fetchall())) -> Any:
    """Run a statement; an engine's message may quote a row, so it is not passed on."""
    try:
        with _each_value_by_itself(connection):
            return fetch(connection.execute(text))
    except Exception as error:
        interrupted = type(error).__name__ == "InterruptException"
    if interrupted:
        raise KeyboardInterrupt
    raise FileError("the file or table cannot be read by DuckDB; check its format, its name and free memory")
