"""Rows of a PostgreSQL table on their way to this process, as Arrow batches: numbers are packed codes already.

The snapshot is that of another session, so that rows and counts are of one state.
"""

from __future__ import annotations

import contextlib
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
from discreet.sources.postgres_session import BEGIN, LOST, SECONDS, Session, driver, quietly

BYTES = 1 << 22
"""The size of a batch: small enough that the next is on its way while one is counted."""
BLOCK = 1 << 16
"""Rows that are encoded at a time: few enough for the processor's cache."""
ROWS = 50_000
"""Records per block of values: bounds memory."""
WAITING = 4
"""Batches that may have arrived and wait to be counted: bounds memory."""
SOON = 0.1
"""Seconds until a thread that waits looks up: for Ctrl-C, or whether it is still needed."""
FAILED = object()
"""Stands for a batch that will not come."""
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
    """A second connection, which reads the snapshot of a session and sends rows."""

    def __init__(self, session: Session) -> None:
        try:
            import pyarrow  # noqa: F401
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise MissingExtra("postgres") from None
        if not session.is_utf8:
            raise FileError("rows can travel from databases with the encoding UTF8 only; leave --stream out")
        self._session, self._thread, self._left = session, threading.Thread(), threading.Event()
        info = session.connection.info
        address = driver().conninfo.make_conninfo(info.dsn, password=info.password or None)
        if _aside(lambda: self._connect(dbapi, address)):
            return
        self.close()
        raise FileError(
            "a second connection for the rows is refused; check how many the role may have, and its password"
        )

    def _connect(self, dbapi: Any, address: str) -> None:
        self._connection = dbapi.connect(address, autocommit=True)
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            (self._process,) = cursor.fetchone()
        self._run(BEGIN.decode())
        self._run(f"SET TRANSACTION SNAPSHOT '{self._session.export()}'")
        self._run("SET LOCAL parallel_tuple_cost = 0.01")  # rows are made in parallel, though all of them are sent

    def _run(self, text: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(text)

    def allows(self, text: str) -> bool:
        """Whether a statement that reads no value can be run."""
        return _aside(lambda: self._run(text))

    def batches(self, text: str) -> Iterator[Any]:
        """The Arrow batches of a SELECT; FileError, always the same, if anything fails."""
        return quietly(self._batches(text))

    def _batches(self, text: str) -> Iterator[Any]:
        """Read in a thread of its own: batches arrive while others are counted, and Ctrl-C is not the driver's."""
        arrived: queue.Queue[Any] = queue.Queue(WAITING)
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(text, arrived, self._left), daemon=True)
        self._thread.start()
        try:
            while (batch := _next(arrived)) is not None:
                if batch is FAILED:
                    raise FileError(LOST)
                yield batch
        finally:
            self._stop()

    def _read(self, text: str, arrived: queue.Queue[Any], left: threading.Event) -> None:
        """Put the batches into the queue, then None; or FAILED if anything fails, also if the connection was lost."""
        try:
            with self._connection.cursor() as cursor:
                cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(BYTES)})
                cursor.execute(text)
                with contextlib.closing(cursor.fetch_record_batch()) as batches:
                    for batch in batches:
                        if not _put(arrived, batch, left):
                            return
            self._run("SELECT 1")  # fails on a lost connection, lest an early end be taken for the end of the table
            _put(arrived, None, left)
        except BaseException:
            _put(arrived, FAILED, left)

    def _stop(self) -> None:
        """End what is being read, if anything is; a thread that is done ends by itself."""
        self._left.set()
        if self._thread.is_alive():
            self._thread.join(SOON)
        if self._thread.is_alive():
            with contextlib.suppress(Exception):
                self._session.run(f"SELECT pg_cancel_backend({int(self._process)})")
            self._thread.join(SECONDS)

    def close(self) -> None:
        """End what is being read, and close the connection. Never fails."""
        self._stop()
        with contextlib.suppress(Exception):
            self._connection.close()


def _aside(work: Callable[[], None]) -> bool:
    """Do something in a thread of its own, where the driver leaves signals alone; returns whether it worked out."""
    failed: list[bool] = []

    def quiet() -> None:
        try:
            work()
        except BaseException:  # a driver's message may quote the address
            failed.append(True)

    thread = threading.Thread(target=quiet, daemon=True)
    thread.start()
    thread.join()
    return not failed


def _next(arrived: queue.Queue[Any]) -> Any:
    """The next item of the queue. A thread that waits without end would not see Ctrl-C while another one reads."""
    while True:
        with contextlib.suppress(queue.Empty):
            return arrived.get(timeout=SOON)


def _put(arrived: queue.Queue[Any], item: Any, left: threading.Event) -> bool:
    """Put an item into the queue, unless its reader has left."""
    while not left.is_set():
        with contextlib.suppress(queue.Full):
            arrived.put(item, timeout=SOON)
            return True
    return False


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
    for batch in stream.batches(f"SELECT {', '.join(listed)} FROM {relation}"):
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
    for batch in stream.batches(f"SELECT {', '.join(listed)} FROM {relation}"):
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
