"""One audit on its way: the claim, the target's processes, the time that is left, and all runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.audit import workers
from discreet.audit.findings import Finding
from discreet.audit.job import Job, Seen, Silence
from discreet.audit.neighbours import Pair, pairs
from discreet.audit.runs import REFUSALS, Collector, Runs, shuffled, together
from discreet.audit.tables import DEFAULT, Table, bases, probes
from discreet.audit.target import Target
from discreet.errors import ParameterError
from discreet.privacy.randomness import search_generator
from discreet.schema import Adjacency, Schema

EVERYTHING = ("predictions", "size")
"""What runs show besides what the fitted object holds: predictions at public points, the size of its pickle."""
TURN = 0.3
"""Seconds of work that a worker is asked for at once."""
MOST_KEPT = 128 << 20
"""Bytes of runs that are kept to choose by; the oldest are forgotten."""
GENEROUS, FLOOR, UNKNOWN = 20.0, 3.0, 0.2
"""A run is waited for this many times as long as the slowest that was answered, and so many seconds at least; before
any was answered, for this share of the time of the audit. That a run is given up is no evidence."""
IMPORT = 5.0
"""Seconds that the import of a target may take, however short the audit."""
AS_FRAME = ("ndarray", "only integers, slices", "DataFrame", "indices must be integers")
"""What errors say of targets that take a frame and got an array."""
SHORTEST = 2.0
"""Seconds that a run is waited for even if the time of the audit is over."""


@dataclass(frozen=True)
class Claim:
    """What is claimed: (epsilon, delta)-DP."""

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon < float("inf"):
            raise ParameterError(f"claim={self.epsilon!r}; need a number that is not negative, for instance 1")
        if not 0 <= self.delta < 1:
            raise ParameterError(f"delta={self.delta!r}; need a number from 0 up to, but not including, 1")

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}" + (f", δ = {self.delta:g}" if self.delta else "")


class Session:
    """Runs a target on tables, as stages ask, until the time is over.

    Attributes
    ----------
    target, claim, adjacency, schema, confidence : what is audited.
    given : the pairs of neighbours, if the target has its own; else tables are made from the schema.
    first : whether the first finding is enough.
    strict : whether refusing one of two neighbours refutes a claim; if not, it is a remark.
    rng : a generator for searches.
    risk : the probability of a false alarm that each stage may use: all stages together keep the confidence.
    findings : what earlier stages found.
    silence : tables and pairs that gave no answer, and how runs without an answer ended.
    """

    def __init__(
        self,
        target: Target,
        claim: Claim,
        adjacency: Adjacency = Adjacency.ADD_REMOVE,
        schema: Schema | None = None,
        *,
        seconds: float = 300.0,
        confidence: float = 0.999,
        within: bool = False,
        most_runs: int | None = None,
        processes: int = 2,
        patience: float = 60.0,
        stages: int = 1,
        strict: bool = False,
        first: bool = False,
        given: Sequence[Pair] = (),
        seed: int | None = None,
        told: Callable[[str, int, int], None] | None = None,
    ) -> None:
        if not 0 < confidence < 1:
            raise ParameterError(f"confidence={confidence!r}; need a number between 0 and 1, for instance 0.999")
        self.target, self.claim, self.adjacency, self.confidence = target, claim, adjacency, confidence
        self.schema = (DEFAULT if schema is None else schema).replace(adjacency=adjacency.value)
        self.within, self.patience, self.strict, self.first = within, patience, strict, first
        self.given = list(given)
        self.risk = (1 - confidence) / stages
        self.rng = search_generator(seed)
        self.findings: list[Finding] = []
        self.done, self.most_runs, self._chose = 0, most_runs, False
        self._given = self.schema.to_dict()
        self._workers: list[workers.Worker | None] = [None] * (1 if target.call is not None else processes)
        self._speed = 0.0
        self._probes = probes(self.schema)
        self.screened: dict[Pair, tuple[Runs, Runs]] = {}
        self._told = told
        self._start = time.monotonic()
        self._seconds, self._end = seconds, self._start + seconds
        self._start_within = max(IMPORT, min(workers.START, seconds))
        self._slowest, self.silence = 0.0, Silence()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            if worker is not None:
                worker.close()
        self._workers = [None] * len(self._workers)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def left(self) -> float:
        """Seconds that are left; if runs are limited too, no larger part of them than of the runs."""
        seconds = self._end - time.monotonic()
        if self.most_runs is not None:
            seconds = min(seconds, (self._end - self._start) * (1 - self.done / self.most_runs))
        return max(0.0, seconds)

    def progress(self, stage: str, done: int, of: int) -> None:
        """Tell whoever watches how far a stage has come."""
        if self._told is not None:
            self._told(stage, done, of)

    @property
    def seconds_per_run(self) -> float:
        """Average time of a run so far; 0 before the first. Several workers run at once."""
        return self._speed / max(1, self.done) / len(self._workers)

    def affordable(self, share: float, tables: int = 2) -> int:
        """Number of runs per table that fit into a share of the time and runs that are left."""
        runs = share * self.left() / max(self.seconds_per_run, 1e-6)
        if self.most_runs is not None:
            runs = min(runs, share * (self.most_runs - self.done))
        return max(0, int(runs / tables))

    def pairs(self) -> list[Pair]:
        """The listed pairs of neighbours; without values outside the schema if the audit keeps within it."""
        if self.given:
            return self.given
        return [pair for pair in pairs(self.schema, self.adjacency) if pair.within or not self.within]

    def wait(self, runs: int = 1) -> float:
        """Seconds that the next answer, about so many runs, is waited for."""
        usual = runs * GENEROUS * self._slowest if self._slowest else UNKNOWN * self._seconds
        return max(SHORTEST, min(self.patience, max(FLOOR, usual), self._end - time.monotonic()))

    def looked(self) -> tuple[int, int]:
        """The number of listed pairs both of whose tables were answered for, and of all that are listed."""
        listed = self.pairs()
        return sum(self.silence.knows(pair.first, pair.second) for pair in listed), len(listed)

    def check(self) -> None:
        """Raise ParameterError if the target refuses every ordinary table."""
        said, lost = "", 0
        for base in [pair.first for pair in self.given] or [base for _, base in bases(self.schema)]:
            runs = self.run(base, 1)
            lost += runs.lost
            if lost > 1:
                break
            refused = [each for each in runs.features if each.startswith(REFUSALS)]
            if len(runs) and not refused:
                return
            said = refused[0] if refused else said
        if lost > 1 or not said:
            ways = "; ".join(self.silence.ways) or "there was no time for a run"
            raise ParameterError(
                f"{self.target.name} gives no answer on small tables ({ways}); give more --minutes or --memory, or try "
                "fewer rounds with --with name=value"
            )
        raise ParameterError(f"{self.target.name} refuses every table: {said}; {self._remedy(said)}")

    def _remedy(self, said: str) -> str:
        """What to do about a target that refuses every table."""
        if self.given:
            return "is the service up at this address, and may this account ask for both data sets?"
        if any(each in said for each in AS_FRAME):
            return "if it takes a pandas frame, give --form frame; if it takes records by their names, --form records"
        return (
            "describe the tables it takes with --schema, say with --form how it takes them (array, frame or records), "
            "or give parameters with --with name=value"
        )

    def run(self, table: Table, times: int, wanted: Sequence[str] = EVERYTHING) -> Runs:
        """Run on one table."""
        return self.run_tables([table], times, wanted)[0]

    def run_pair(
        self, pair: Pair, times: int, wanted: Sequence[str] = EVERYTHING, only: Sequence[str] | None = None
    ) -> tuple[Runs, Runs]:
        """Run on both tables of a pair, in random turns, so that a state of the process favours neither."""
        first, second = self.run_tables([pair.first, pair.second], times, wanted, only=only)
        return first, second

    def screen(self, pair: Pair, times: int) -> tuple[Runs, Runs]:
        """At least this many runs on a pair, including those of earlier stages: to choose by, not for bounds."""
        known = self.screened.get(pair)
        missing = times - (0 if known is None else min(map(len, known)))
        if known is None or missing > 0:
            self._chose = True
            fresh = self.run_pair(pair, missing)
            known = fresh if known is None else (together([known[0], fresh[0]]), together([known[1], fresh[1]]))
            known = shuffled(known[0], self.rng), shuffled(known[1], self.rng)
            self.screened[pair] = known
            self._forget()
        return known

    def keep(self, chosen: Sequence[Pair]) -> None:
        """Forget the runs on all other pairs."""
        self.screened = {pair: self.screened[pair] for pair in chosen if pair in self.screened}

    def _forget(self) -> None:
        """Forget the oldest runs if all together take too much memory."""
        while len(self.screened) > 1 and sum(each.size for both in self.screened.values() for each in both) > MOST_KEPT:
            del self.screened[next(iter(self.screened))]

    def run_tables(
        self,
        tables: Sequence[Table],
        times: int,
        wanted: Sequence[str] = EVERYTHING,
        only: Sequence[str] | None = None,
    ) -> list[Runs]:
        """Run on each table, in random turns; fewer times if the time is over. `only` some numbers may be asked for."""
        order = deque(int(each) for each in self.rng.permutation(np.repeat(np.arange(len(tables)), times)))
        collectors = [Collector() for _ in tables]
        if self.silence.holds(tables):
            for collector, table in zip(collectors, tables, strict=True):
                collector.lost = int(self.silence.holds([table]))
            return [each.runs() for each in collectors]
        request: dict[str, Any] = {"op": "run", "tables": [each.to_dict() for each in tables], "wanted": list(wanted)}
        request |= {"probes": self._probes.to_dict(), "only": None if only is None else list(only)}
        job = Job(request, order, collectors, tables, self.silence)
        began = time.monotonic()
        if len(self._workers) == 1 or len(order) == 1:
            self._work(0, job)
        else:
            with ThreadPoolExecutor(len(self._workers)) as pool:
                for each in [pool.submit(self._work, place, job) for place in range(len(self._workers))]:
                    each.result()
        self.silence.note(tables, collectors)
        return [each.runs(time.monotonic() - began) for each in collectors]

    def renew(self) -> None:
        """New processes for a named target, if its processes made runs to choose by: what an event owes to the state of
        these, such as addresses of objects, does not come back in those that count it."""
        if not self._chose:
            return
        self._chose = False
        for place in range(len(self._workers)):
            self._end_process(place)

    def _end_process(self, place: int) -> None:
        """A new process for the next request, if the target has processes of its own."""
        worker = self._workers[place]
        if isinstance(worker, workers.ProcessWorker):
            worker.close()
            self._workers[place] = None

    def ask(
        self, request: dict[str, Any], patience: float | None = None, tables: Sequence[Table] = ()
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Send a request of a stage's own, about these tables, to one worker: the headers of its frames, and the last.

        Raises `workers.Ended` if the process ends, and if these tables gave no answer before.
        """
        if self.silence.holds(tables):
            raise workers.Ended("gave no answer before", certain=False)
        frames: list[dict[str, Any]] = []
        worker = self._worker(0)
        try:
            end = worker.ask(request, lambda header, _: frames.append(header), patience or self.wait())
        except workers.Ended as ended:
            self._workers[0] = None
            self.silence.ended(ended, tables)
            raise
        self.silence.heard(tables)
        return frames, end

    def note_runs(self, runs: int, seconds: float) -> None:
        """Count runs that a stage made by a request of its own."""
        self.done += runs
        self._speed += seconds

    def takes(self) -> tuple[str, bool]:
        """What the target is called with, as its process says, and whether that includes a schema of ours."""
        worker = self._worker(0)
        return worker.takes, worker.is_given_schema

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the target, Python and numpy, as its process states them."""
        worker = next((each for each in self._workers if each is not None), None)
        return {} if worker is None else worker.versions

    def _worker(self, place: int) -> workers.Worker:
        worker = self._workers[place]
        if worker is None:
            worker = self._workers[place] = workers.start(self.target, self._given, self._start_within)
        return worker

    def _work(self, place: int, job: Job) -> None:
        """Take turns from the job until it is done."""
        turn = max(1, min(100, int(TURN * self.done / max(self._speed, 1e-6))))
        while self.left() > 0:
            request = job.next(turn)
            if request is None:
                return
            is_new = self._workers[place] is None
            worker = self._worker(place)
            began = time.monotonic()  # the import of the target is no part of a run
            seen = Seen(job, 1 if is_new else 0) if isinstance(worker, workers.ProcessWorker) else Seen(job)
            try:
                worker.ask(request, seen, self.wait())
            except workers.Ended as ended:
                self._workers[place] = None
                job.ended(request, seen.runs, ended)
            if seen.is_full:
                self._end_process(place)
            spent = time.monotonic() - began
            with job.lock:
                self.done += seen.runs
                self._speed += spent
                self._slowest = max(self._slowest, seen.slowest)
            turn = max(1, min(1000, 4 * turn, int(TURN * max(1, seen.runs) / max(spent, 1e-6))))
