"""A PostgreSQL table: only counts and sums leave the database, unless its owner lets rows travel."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError, ParameterError
from discreet.records.encoding import Cells, Codes, class_codes
from discreet.records.tables import check_names
from discreet.records.values import Columns
from discreet.schema import Schema
from discreet.sources import Task, postgres_crossed, postgres_levels, postgres_linear, postgres_marks, postgres_sql
from discreet.sources.coding import CodedBlock, count_blocks, fold_rows, rows_of_blocks
from discreet.sources.crossed_counts import CountedTables
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.feature_sums import OverFeatures
from discreet.sources.postgres_coded import CodedTable
from discreet.sources.postgres_session import Rows, Session, begun, check_idle, connected, driver, named
from discreet.sources.postgres_steady import STEADY
from discreet.sources.postgres_stream import Stream, coded_blocks, structure_of, value_blocks
from discreet.sources.postgres_values import values_of
from discreet.sources.predictions import Marking
from discreet.sources.tree_counts import CountsAt

Tables = dict[Cells, NDArray[np.int64]]

STRICT = (
    "this needs more than counts and sums, and no row leaves the database unless its owner allows it; allow it by "
    "--stream (stream=True), or train a model that needs no rows: naive-bayes, a tree or a linear model"
)
UNSTEADY = (
    "this reads the table several times, and its view or foreign table may give other records each time; read a table "
    "or a materialised view, allow rows to travel by --stream (stream=True), or train naive-bayes or one-rule"
)
WIDE = (
    "PostgreSQL scores records in up to {most} columns and classes, and this table has more; choose columns, let rows "
    "travel by --stream (stream=True), or train a tree"
)


@dataclass(frozen=True, eq=False, repr=False)
class Opened:
    """A snapshot, more connections to it if rows may travel, and the table: its name as SQL, its columns' kinds, and
    its number in the catalog."""

    session: Session
    stream: Stream | None
    relation: str
    kinds: dict[str, str]
    number: int

    @cached_property
    def steady(self) -> bool:
        """Whether the table is the same whenever the snapshot is read; no value is looked at."""
        return [row[0] for rows in self.session.fetch(STEADY.format(oid=self.number)) for row in rows] == [True]

    @cached_property
    def coded(self) -> CodedTable:
        """The codes of the records, for what is added up in the database."""
        return CodedTable(self.session, self.relation, self.kinds)

    def close(self) -> None:
        """End the snapshot."""
        if self.stream is not None:
            self.stream.close()
        self.session.close()


class PostgresSource:
    """A table, view, partitioned or foreign table of PostgreSQL.

    By default only counts and sums leave the database: numbers are coded there, values of other columns are grouped and
    encoded here, each distinct value once; trees are grown by counts at their nodes, linear models are found by sums.
    With `stream`, rows travel to this process and are counted here, which is faster for models that need many passes. A
    role that may SELECT is all that is needed. Passwords come from the address, PGPASSWORD, ~/.pgpass or a service
    file, and are shown nowhere.

    All passes of one fit read one snapshot. It begins with the first `check` and ends with the fit; in a `with` block
    it ends with the block, so that several fits meet the same records. (The guarantee does not need this: see Source.)
    The owner is responsible for what a view computes: if it fails for the values of some record, the fit fails too,
    after the charge, always with the same message.

    Parameters
    ----------
    url : an address such as "postgresql://host/database", or an open psycopg connection.
    table : the name of a table or view, with its schema ("clinic.patients") unless it is on the search path.
    connection : an open psycopg connection that is in no transaction; it is left as it was.
    stream : whether rows may travel to this process.

    Examples
    --------
    >>> from discreet import NaiveBayes, PostgresSource  # doctest: +SKIP
    >>> NaiveBayes(schema, epsilon=1).fit_from(PostgresSource("postgresql://host/db", table="p"))  # doctest: +SKIP
    """

    def __init__(self, url: Any = None, *, table: str, connection: Any = None, stream: bool = False) -> None:
        given = connection if url is None else url
        if given is None or (url is not None and connection is not None):
            raise ParameterError("need either the address of a database or an open connection")
        self._given, self._table, self._stream = given, table, stream
        self._opened: Opened | None = None
        self._close: Callable[[], object] = lambda: None
        self._held = False

    def __repr__(self) -> str:
        return "PostgresSource(values hidden)"

    def __enter__(self) -> Self:
        self._held = True
        return self

    def __exit__(self, *_: object) -> None:
        self._held = False
        self.finish()

    def finish(self) -> None:
        """End the snapshot; a fit calls this at its end. The next reading begins a new one. Not inside `with`."""
        if self._opened is not None and not self._held:
            self._end()

    def _end(self) -> None:
        """End the snapshot, and forget what was known under it: among that are values of the table."""
        self._opened = None
        self._close()

    def check(self, schema: Schema) -> None:
        """Check names and types of the columns, and the right to read them; no value is looked at."""
        kinds = self._open().kinds
        check_names(list(kinds), schema.all_names, schema)
        postgres_sql.refuse_dates(schema, kinds)
        self._try(schema)

    @property
    def sums_only(self) -> bool:
        """Whether records stay in the database."""
        return not self._stream

    @property
    def state(self) -> object | None:
        """The snapshot, if rows do not travel and the table is the same whenever it is read (postgres_steady.py)."""
        return None if self._stream or not self._open().steady else self._open()

    def check_sums(self, scores: int = 0) -> None:
        """Raise ParameterError if records stay in the database and cannot be read twice, or if there are too many
        columns and classes to be scored there; asked before the charge."""
        if not self._stream and scores > postgres_linear.SCORES:
            self.finish()
            raise ParameterError(WIDE.format(most=postgres_linear.SCORES))
        if not self._stream and not self._open().steady:
            self.finish()
            raise ParameterError(UNSTEADY)

    def check_rows(self) -> None:
        """Raise ParameterError unless rows may travel: asked before the charge by models that need more than counts."""
        if not self._stream:
            raise ParameterError(STRICT)

    def try_task(self, task: Task) -> None:
        """Raise ParameterError if a model cannot be evaluated in the database; asked before the charge."""
        if not self._stream and isinstance(task, Marking):
            postgres_marks.check(task)

    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._open().kinds)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Run the SELECTs; only counts come back. With `stream`, rows come and are counted here."""
        if self._stream:
            return count_blocks(self._blocks(cells, schema), cells, schema)
        opened = self._open()
        kinds, blocks = opened.kinds, postgres_sql.in_blocks(cells, schema, opened.kinds)
        tables = {each: np.zeros((len(schema.classes) + 1, each.size(schema)), dtype=np.int64) for each in cells}
        for text in postgres_sql.counts(opened.relation, blocks, schema, kinds):
            for rows in opened.session.fetch(text):
                _tabulate(rows, blocks, tables, schema, kinds)
        return ExactStatistics({each: table[:-1] for each, table in tables.items()})

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """The codes of each record, in blocks, if rows may travel."""
        self.check_rows()
        return rows_of_blocks(self._blocks(cells, schema), cells)

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Add up block by block, if rows may travel; else in the database, what is known there."""
        if not self._stream and isinstance(task, CountsAt):
            self.check_sums()
            return postgres_levels.counted(self._open().coded, task, schema)
        if not self._stream and isinstance(task, CountedTables):
            self.check_sums()
            opened = self._open()
            return postgres_crossed.counted(opened.session, opened.relation, opened.kinds, task, schema)
        if not self._stream and isinstance(task, OverFeatures) and isinstance(task.sums, postgres_linear.KNOWN):
            self.check_sums()
            return postgres_linear.added(self._open().coded, task, schema)
        if not self._stream and isinstance(task, Marking):
            self.check_sums()
            return postgres_marks.marked(self._open().coded, task, schema)
        self.check_rows()
        return fold_rows(rows_of_blocks(self._blocks(cells, schema), cells), task)

    def structure(self) -> Columns:
        """The columns without a record."""
        return structure_of(self._open().kinds)

    def values(self, names: Sequence[str], numbers: Collection[str] = ()) -> Iterator[Columns]:
        """The values of some columns, block by block, if rows may travel."""
        self.check_rows()
        opened = self._open()
        assert opened.stream is not None, "opened with the session"
        return value_blocks(opened.stream, opened.relation, names, opened.kinds)

    def _blocks(self, cells: Sequence[Cells], schema: Schema) -> Iterator[CodedBlock]:
        opened = self._open()
        assert opened.stream is not None, "opened with the session"
        return coded_blocks(opened.stream, opened.relation, cells, schema, opened.kinds)

    def _open(self) -> Opened:
        """The snapshot and what is known of the table; opened once."""
        if self._opened is None:
            owned = isinstance(self._given, str)
            if not owned:
                check_idle(self._given)
            session = begun(connected(self._given) if owned else self._given, owned=owned)
            try:
                found = named(session, self._table)
                stream = Stream(session, found[0], found[2]) if self._stream else None
                self._opened = Opened(session, stream, *found)
            finally:
                if self._opened is None:
                    session.close()
            self._close = weakref.finalize(self, self._opened.close)  # called by finish, or when the source dies
        return self._opened

    def _try(self, schema: Schema) -> None:
        """Run a statement that reads no value; a failure costs nothing, and says what to do."""
        opened = self._open()
        text = postgres_sql.trial(opened.relation, schema, opened.kinds)
        try:
            opened.session.run(text)
            if opened.stream is None or opened.stream.allows(text):
                return
            problem = "rows are refused to a connection of the same user; check roles that the connection has set"
        except driver().errors.InsufficientPrivilege:
            problem = "the role may not read it; GRANT USAGE ON its SCHEMA and SELECT ON the TABLE to the role"
        except Exception:
            problem = "PostgreSQL cannot read it; check the table or view, and the connection"
        self._end()
        raise FileError(f"table {self._table!r}: {problem}")


def _tabulate(
    rows: Rows, blocks: Sequence[postgres_sql.Block], tables: Tables, schema: Schema, kinds: dict[str, str]
) -> None:
    """Add the counts of some rows of a result to the tables."""
    places = np.array([row[0] for row in rows], dtype=np.intp)
    labels = class_codes(values_of((row[3] for row in rows), kinds[schema.target]), schema)
    numbers = np.array([row[4] for row in rows], dtype=np.int64)
    for place in np.unique(places).tolist():
        own, block = np.flatnonzero(places == place), blocks[place]
        for each, codes in _codes([rows[row] for row in own.tolist()], block, schema, kinds):
            np.add.at(tables[each], (labels[own], codes), numbers[own])


def _codes(
    rows: Rows, block: postgres_sql.Block, schema: Schema, kinds: dict[str, str]
) -> Iterator[tuple[Cells, Codes]]:
    if block.packed:
        packed = np.array([row[1] for row in rows], dtype=np.intp)
        for each, bits in postgres_sql.bits_in(block.cells, schema).items():
            yield each, postgres_sql.unpacked(packed, *bits)
        return
    values = values_of((row[2] for row in rows), kinds[block.cells[0].column])
    for each in block.cells:
        yield each, each.codes(values, schema)
