"""Rows of a PostgreSQL table on their way to this process, as Arrow batches: numbers are packed codes already.

Guarantee  a pass meets each record of a session's snapshot once, so that rows and counts are of one state.
Proof      the connections that read import the snapshot, read-only. A large table is read by two of them, one the rows
           whose place (ctid) is before the middle page, one all others: a row of a table that the snapshot shows has
           one place, which never is null. Places change where a table is written anew (VACUUM FULL, CLUSTER); no such
           command begins after one of the two has begun to read, as their transactions keep the table locked, and of
           one that ended before, both see what it wrote. An early end is told from the end of the rows (`Reader`), and
           the pass ends when all readers have ended.
Test       tests/engines/test_postgres_source.py
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError, MissingExtra
from discreet.records.encoding import UNREADABLE, Cells, Codes, class_codes
from discreet.records.sql_types import identifier
from discreet.records.values import Columns, objects
from discreet.schema import Schema
from discreet.sources import postgres_sql
from discreet.sources.coding import CodedBlock
from discreet.sources.postgres_reader import FAILED, Reader, aside, next_of
from discreet.sources.postgres_session import LOST, Session, driver, quietly

BLOCK = 1 << 16
"""Rows that are encoded at a time: few enough for the processor's cache."""
ROWS = 50_000
"""Records per block of values: bounds memory."""
WAITING = 4
"""Batches that may have arrived and wait to be counted: bounds memory."""
LARGE = 1 << 23
"""Bytes of a table that two connections read: PostgreSQL itself reads such a table by several processes, so that its
rows come in any order."""
RANGES = 140_000
"""The version of the server from which on only those pages are read in which a row's place may be."""
SIZE = """SELECT pg_catalog.pg_relation_size(c.oid) AS size, pg_catalog.current_setting('block_size')::int8 AS page
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_am a ON a.oid = c.relam
WHERE c.oid = {oid} AND c.relkind IN ('r', 'm') AND NOT c.relhassubclass AND a.amname = 'heap'"""
"""Of a table or materialised view whose rows have places in pages. Tables that inherit from it may be elsewhere, where
two connections have two snapshots."""
TRIAL = "SELECT 1 FROM {relation} WHERE ctid < '(0,0)' LIMIT 0"
"""Whether places may be read, which takes the right to read all columns; reads no row."""
SEVERAL = "SET LOCAL parallel_tuple_cost = 0.01"
"""Rows are made in parallel, though all of them are sent."""
ALONE = "SET LOCAL max_parallel_workers_per_gather = 0"
"""Each of two connections makes its rows itself."""
PACKED = 62
"""Bits of codes that travel as one integer."""
SENT = {
    postgres_sql.FLOAT: "{}::float8",
    postgres_sql.INTEGER: "{}::int8",
    postgres_sql.DECIMAL: "{}::numeric::text",
    postgres_sql.BOOLEAN: "{}::bool",
    postgres_sql.OPAQUE: "({} IS NULL)",
}
"""How a column that is encoded here travels; other kinds travel as texts."""
READ: dict[str, Callable[[Any], Any]] = {
    postgres_sql.DECIMAL: Decimal,
    postgres_sql.OPAQUE: lambda missing: None if missing else UNREADABLE,
}
"""From what has travelled to a value of the encoding, where these differ."""


class Stream:
    """One or two more connections, which read the snapshot of a session and send rows.

    Parameters
    ----------
    relation : the table's name as SQL.
    number : its number in the catalog.
    """

    def __init__(self, session: Session, relation: str, number: int) -> None:
        try:
            import pyarrow  # noqa: F401
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise MissingExtra("postgres") from None
        if not session.is_utf8:
            raise FileError("rows can travel from databases with the encoding UTF8 only; leave --stream out")
        self._session, self._readers = session, list[Reader]()
        self._lock, self._is_closed = threading.Lock(), False
        info = session.connection.info
        address = driver().conninfo.make_conninfo(info.dsn, password=info.password or None)
        middle = _middle(session, number)
        try:
            aside(lambda: self._connect(dbapi, address))
            if middle is not None and self._readers:  # a role that may not have another connection gets along with one
                aside(lambda: self._connect(dbapi, address, TRIAL.format(relation=relation)))
        except BaseException:  # Ctrl-C, while a thread of its own goes on to connect
            self.close()
            raise
        self._parts = [""] if len(self._readers) < 2 else [f" WHERE ctid {sign} '({middle},0)'" for sign in ("<", ">=")]
        setting = SEVERAL if len(self._readers) < 2 else ALONE
        if self._readers and self.allows(setting):
            return
        self.close()
        raise FileError(
            "a second connection for the rows is refused; check how many the role may have, and its password"
        )

    def _connect(self, dbapi: Any, address: str, *trial: str) -> None:
        reader = Reader(dbapi, address, self._session.export(), *trial)
        with self._lock:
            if not self._is_closed:
                self._readers.append(reader)
                return
        reader.close()

    def allows(self, text: str) -> bool:
        """Whether a statement that reads no value can be run."""
        return all(aside(partial(reader.run, text)) for reader in self._readers)

    def batches(self, listed: str, relation: str) -> Iterator[Any]:
        """The Arrow batches of what is listed of each row; FileError, always the same, if anything fails."""
        return quietly(self._batches(f"SELECT {listed} FROM {relation}"))

    def _batches(self, text: str) -> Iterator[Any]:
        """Read in threads of their own: batches arrive while others are counted, and Ctrl-C is not the driver's."""
        arrived: queue.Queue[Any] = queue.Queue(WAITING)
        try:
            for reader, part in zip(self._readers, self._parts, strict=True):
                reader.start(text + part, arrived)
            for _ in self._parts:
                while (batch := next_of(arrived)) is not None:
                    if batch is FAILED:
                        raise FileError(LOST)
                    yield batch
        finally:
            self._stop()

    def _stop(self) -> None:
        for reader in self._readers:
            reader.stop(lambda process: self._session.run(f"SELECT pg_cancel_backend({process})"))

    def close(self) -> None:
        """End what is being read, and close the connections. Never fails."""
        with self._lock:
            self._is_closed = True
        self._stop()
        for reader in self._readers:
            reader.close()


def _middle(session: Session, number: int) -> int | None:
    """The page in the middle of a large table; None if it is small, or not a table whose rows have places. FileError if
    its size cannot be told, as where it is locked or was dropped."""
    if session.connection.info.server_version < RANGES:
        return None
    try:
        for size, page in session.run(SIZE.format(oid=number)):
            return int(size) // int(page) // 2 if int(size) >= LARGE else None
        return None
    except Exception:
        pass  # PostgreSQL's own words are not passed on
    raise FileError("PostgreSQL cannot tell the size of the table; check that nobody has locked or dropped it")


def coded_blocks(
    stream: Stream, relation: str, cells: Sequence[Cells], schema: Schema, kinds: Mapping[str, str]
) -> Iterator[CodedBlock]:
    """The records in blocks, each with a function that encodes it."""
    blocks = postgres_sql.in_blocks(cells, schema, kinds, PACKED)
    sent = [
        f"({postgres_sql.key(block.cells, schema, kinds)})::int8"
        if block.packed
        else _sent(block.cells[0].column, kinds)
        for block in blocks
    ]
    listed = [f"{text} AS c{place}" for place, text in enumerate([*sent, _sent(schema.target, kinds)])]
    places = {
        each: (place, *bits)
        for place, block in enumerate(blocks)
        if block.packed
        for each, bits in postgres_sql.bits_in(block.cells, schema).items()
    }
    for batch in stream.batches(", ".join(listed), relation):
        for start in range(0, batch.num_rows, BLOCK):
            yield _coded(batch.slice(start, BLOCK), blocks, places, schema, kinds)


def _coded(
    batch: Any,
    blocks: Sequence[postgres_sql.Block],
    places: Mapping[Cells, tuple[int, int, int]],
    schema: Schema,
    kinds: Mapping[str, str],
) -> CodedBlock:
    """`places`: the column in which the codes of some cells are packed, and where they are in it."""
    packed, codes = {}, {}
    for place, (column, block) in enumerate(zip(batch.columns, blocks, strict=False)):
        if block.packed:
            packed[place] = column.to_numpy(zero_copy_only=False)
        else:
            for each in block.cells:
                codes[each] = _encoded(column, kinds[each.column], partial(each.codes, schema=schema))
    label = _encoded(batch.columns[-1], kinds[schema.target], partial(class_codes, schema=schema))

    def encode(each: Cells) -> Codes:
        if each in codes:
            return np.array(codes[each], dtype=np.intp)
        place, *bits = places[each]
        return postgres_sql.unpacked(packed[place], *bits)

    return encode, label


EMPTY = {postgres_sql.FLOAT: "f8", postgres_sql.INTEGER: "i8", postgres_sql.DATE: "M8[us]"}
"""The types of columns as arrays, where they are not objects."""


def structure_of(kinds: Mapping[str, str]) -> Columns:
    """The columns without a row."""
    return {name: np.empty(0, dtype=EMPTY.get(kind, object)) for name, kind in kinds.items()}


def value_blocks(stream: Stream, relation: str, names: Sequence[str], kinds: Mapping[str, str]) -> Iterator[Columns]:
    """The records in blocks of columns, with their values as the encoding reads them; at least one block."""
    yield structure_of({name: kinds[name] for name in names})
    listed = [f"{_sent(name, kinds)} AS c{place}" for place, name in enumerate(names)]
    for batch in stream.batches(", ".join(listed), relation):
        for start in range(0, batch.num_rows, ROWS):
            part = batch.slice(start, ROWS)
            yield {name: _values(part.column(place), kinds[name]) for place, name in enumerate(names)}


def _values(column: Any, kind: str) -> NDArray[Any]:
    if kind == postgres_sql.FLOAT or (kind == postgres_sql.INTEGER and not column.null_count):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if kind == postgres_sql.DATE:
        return np.full(len(column), "NaT", dtype=EMPTY[kind])
    read = READ.get(kind, lambda value: value)
    return objects(None if value is None else read(value) for value in column.to_pylist())


def _sent(name: str, kinds: Mapping[str, str]) -> str:
    return SENT.get(kinds[name], "{}::text").format(identifier(name))


def _encoded(column: Any, kind: str, encode: Callable[[NDArray[Any]], Codes]) -> Codes:
    """The code of each value of an Arrow column; each distinct value is encoded once."""
    if kind == postgres_sql.FLOAT:
        return encode(column.to_numpy(zero_copy_only=False))
    held = column.dictionary_encode()
    read = READ.get(kind, lambda value: value)
    distinct = encode(objects([*map(read, held.dictionary.to_pylist()), None]))
    return np.asarray(distinct[held.indices.fill_null(len(distinct) - 1).to_numpy(zero_copy_only=False)])
