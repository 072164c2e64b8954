"""A connection to PostgreSQL whose rows arrive as Arrow batches, in a thread of its own."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any

from discreet.sources.postgres_session import BEGIN, SECONDS

BYTES = 1 << 22
"""The size of a batch: small enough that the next is on its way while one is counted."""
SOON = 0.1
"""Seconds until a thread that waits looks up: for Ctrl-C, or whether it is still needed."""
FAILED = object()
"""Stands for a batch that will not come."""


class Reader:
    """Reads the snapshot of another session: the rows of one statement after another. No connection stays open if it is
    refused, or fails at the statement `trial`."""

    def __init__(self, dbapi: Any, address: str, snapshot: str, trial: str = "SELECT 1") -> None:
        self._thread, self._left = threading.Thread(), threading.Event()
        self._connection = dbapi.connect(address, autocommit=True)
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                (self._process,) = cursor.fetchone()
            for text in (BEGIN.decode(), f"SET TRANSACTION SNAPSHOT '{snapshot}'", trial):
                self.run(text)
        except BaseException:
            self.close()
            raise

    def run(self, text: str) -> None:
        """Run a statement; its result is not looked at."""
        with self._connection.cursor() as cursor:
            cursor.execute(text)

    def start(self, text: str, arrived: queue.Queue[Any]) -> None:
        """Begin to put the batches of a SELECT into the queue, then None; or FAILED if anything fails."""
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(text, arrived, self._left), daemon=True)
        self._thread.start()

    def _read(self, text: str, arrived: queue.Queue[Any], left: threading.Event) -> None:
        try:
            with self._connection.cursor() as cursor:
                cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(BYTES)})
                cursor.execute(text)
                with contextlib.closing(cursor.fetch_record_batch()) as batches:
                    for batch in batches:
                        if not _put(arrived, batch, left):
                            return
            self.run("SELECT 1")  # fails on a lost connection, lest an early end be taken for the end of the table
            _put(arrived, None, left)
        except BaseException:
            _put(arrived, FAILED, left)

    def stop(self, cancel: Callable[[int], object]) -> None:
        """End what is being read, if anything is; a thread that is done ends by itself. `cancel` is given the process
        of the server."""
        self._left.set()
        if self._thread.is_alive():
            self._thread.join(SOON)
        if self._thread.is_alive():
            with contextlib.suppress(Exception):
                cancel(int(self._process))
            self._thread.join(SECONDS)

    def close(self) -> None:
        """Close the connection. Never fails."""
        with contextlib.suppress(Exception):
            self._connection.close()


def aside(work: Callable[[], object]) -> bool:
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


def next_of(arrived: queue.Queue[Any]) -> Any:
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
