"""Runs that are to be made on some tables, what comes back of them, and which tables gave no answer."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from discreet.audit import workers
from discreet.audit.runs import Collector
from discreet.audit.tables import Table

MOST_BYTES = 64 << 20
"""Runs on one table are kept up to this size."""
MOST_LOST = 3
"""After this many runs without an answer, no more are tried on these tables."""
SILENT = 2
"""After so many runs without an answer, and none with one, a table is not asked again: it would take all the time."""
FULL = "raises MemoryError"
"""What a run shows if there was no memory for it: earlier runs may have left none, so it is made again in a new
process, unless it was the first of its own."""
MOST_SHOWN = 3
"""Tables without an answer that a report shows."""


class Silence:
    """The tables that gave no answer, which are not asked again, and how runs without an answer ended.

    A table that answers now and then goes on being asked: what ends at random says nothing of it.
    """

    def __init__(self) -> None:
        self.ways: Counter[str] = Counter()
        self._heard: set[Table] = set()
        self._lost: Counter[Table] = Counter()
        self._together: set[tuple[Table, ...]] = set()
        self._lock = threading.Lock()

    def holds(self, tables: Sequence[Table]) -> bool:
        """Whether one of these tables, or a request about all of them, gave no answer."""
        return tuple(tables) in self._together or any(self._is_silent(each, 0) for each in tables)

    def gives_up(self, table: Table, collector: Collector) -> bool:
        """Whether no more runs on a table are worth their time, with those that a job lost."""
        return not collector.kinds and self._is_silent(table, collector.lost)

    def knows(self, *tables: Table) -> bool:
        """Whether there was an answer for each of these tables."""
        return self._heard.issuperset(tables)

    def note(self, tables: Sequence[Table], collectors: Sequence[Collector]) -> None:
        """Remember what a job showed."""
        for table, collector in zip(tables, collectors, strict=True):
            if collector.kinds:
                self._heard.add(table)
            self._lost[table] += collector.lost

    def heard(self, tables: Sequence[Table]) -> None:
        """Remember that a request about these tables was answered."""
        self._heard.update(tables)

    def count(self, ended: workers.Ended) -> None:
        """Remember how a run without an answer ended."""
        with self._lock:
            self.ways[ended.kind] += 1

    def ended(self, ended: workers.Ended, tables: Sequence[Table]) -> None:
        """Remember that a request about these tables, which is none of runs, gave no answer."""
        if tables:
            self.count(ended)
            self._together.add(tuple(tables))

    def words(self) -> list[str]:
        """What a reader is told: how many runs ended how, and which tables were not asked again."""
        told = [f"{times} without an answer: the process {kind}" for kind, times in sorted(self.ways.items())]
        silent = [table for table in self._lost if self._is_silent(table, 0)]
        if silent:
            shown = " | ".join(each.text().replace("\n", "; ") for each in silent[:MOST_SHOWN])
            more = f" and {len(silent) - MOST_SHOWN} more" if len(silent) > MOST_SHOWN else ""
            told.append(f"{len(silent)} tables gave no answer and were not asked again: {shown}{more}")
        return told

    def _is_silent(self, table: Table, lost: int) -> bool:
        return table not in self._heard and self._lost[table] + lost >= SILENT


class Job:
    """Runs that are to be made on some tables, shared by the threads that talk to workers."""

    def __init__(
        self,
        request: dict[str, Any],
        order: deque[int],
        collectors: list[Collector],
        tables: Sequence[Table],
        silence: Silence,
    ) -> None:
        self.request, self.order, self.collectors = request, order, collectors
        self.tables, self.silence = tables, silence
        self.lock = threading.Lock()

    def next(self, turn: int) -> dict[str, Any] | None:
        """The request for the next runs; None if there are none."""
        with self.lock:
            if sum(each.lost for each in self.collectors) >= MOST_LOST:
                return None
            if any(map(self.silence.gives_up, self.tables, self.collectors)):
                return None
            if sum(each.size for each in self.collectors) > MOST_BYTES * len(self.collectors):
                return None
            order = [self.order.popleft() for _ in range(min(turn, len(self.order)))]
        return {**self.request, "order": order} if order else None

    def ended(self, request: dict[str, Any], runs: int, ended: workers.Ended) -> None:
        """The process ended during a run: that is what this run showed, if it was not for lack of time or memory."""
        with self.lock:
            if runs >= len(request["order"]):
                return
            collector = self.collectors[request["order"][runs]]
            if ended.certain:
                collector.add((), [f"the process {ended.words}"], b"")
            else:
                collector.lost += 1
                self.silence.count(ended)
            self.order.extend(request["order"][runs + 1 :])


class Seen:
    """Takes the frames of one request.

    Attributes
    ----------
    runs : how many there were.
    slowest : the seconds of the slowest.
    is_full : whether the process has no memory left for another.
    """

    def __init__(self, job: Job, sure: float = math.inf) -> None:
        """The first `sure` runs count as they are, also if they had no memory: all where no new process can be made."""
        self.runs, self.is_full, self._job, self._sure = 0, False, job, sure
        self.slowest, self._last = 0.0, time.monotonic()
        self._names: list[str] = []
        self._features: list[str] = []

    def __call__(self, header: dict[str, Any], numbers: bytes) -> None:
        self._names = header.get("names", self._names)
        self._features = header.get("features", self._features)
        full = FULL in self._features
        with self._job.lock:
            if full and self.runs >= self._sure:
                self._job.order.append(header["table"])
            else:
                self._job.collectors[header["table"]].add(self._names, self._features, numbers)
        self.is_full = self.is_full or full
        self.runs += 1
        now = time.monotonic()
        self.slowest, self._last = max(self.slowest, now - self._last), now
