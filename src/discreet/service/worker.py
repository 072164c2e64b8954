"""The worker: takes jobs that were paid, runs each in a process of its own, and stores what came out.

It has no inbound port. It alone knows where data are (source_file.py) and keeps the snapshots. It has two lanes: one
for what analysts ask, which is occupied to the end of each slot (slots.py), and one for drafts and snapshots of owners.

Guarantee  the source of a job is opened at most once, and only after its price was spent and committed.
Proof      a child process gets the path of a snapshot only in `_run`, after `writing` around `jobs.start` has ended
           without an error, which means that the transaction is on the disk. No exception leads back before it: a job
           whose child, worker or database is lost ends as failed (jobs.py), and `start` takes reserved jobs only.
Test       tests/service/test_worker.py::test_nothing_is_read_before_the_price_is_spent
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, select

from discreet.errors import DiscreetError
from discreet.privacy.accounts import reading, writing
from discreet.schema import Schema
from discreet.service import datasets, jobs
from discreet.service.clock import now
from discreet.service.errors import StateError
from discreet.service.jobs import Made, Started
from discreet.service.settings import Settings, private_folder, private_key
from discreet.service.slots import deadline
from discreet.service.snapshots import check_snapshot, keyed_hash, seal, snapshot_path
from discreet.service.source_file import described, read_sources
from discreet.service.spares import Nursery, Spare
from discreet.service.tables import PAID_KINDS, releases, versions
from discreet.service.tables import jobs as job_table

POLL = 0.3
"""Seconds between two looks for work."""
HOUSEKEEPING = 5.0
"""Seconds between two looks for what has expired or whose slot is over."""
LARGEST = 64 << 20
"""The most bytes of a release."""

log = logging.getLogger("discreet.worker")


class Worker:
    """Runs jobs until told to stop; `step` runs at most one, for tests."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self.settings = settings
        self.name = settings.worker_name
        self._engine = engine
        self._folder = private_folder(settings.worker_folder)
        self._key = private_key(self._folder / "snapshots.key")
        self._stop = threading.Event()
        self._published: float | None = None
        self._kept = 0.0
        self._nursery = Nursery(self._folder)
        self._spares: dict[bool, Spare] = {}

    def run(self) -> None:
        """Work until `stop`; an error of the database is waited out."""
        lanes = [
            threading.Thread(target=self._lane, args=(PAID_KINDS, True), name="asked", daemon=True),
            threading.Thread(target=self._lane, args=(("draft", "snapshot"), False), name="registration", daemon=True),
        ]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            while lane.is_alive():
                lane.join(0.5)
        self.close()

    def stop(self, *_: object) -> None:
        """End after the jobs at hand."""
        self._stop.set()

    def close(self) -> None:
        """End the child processes that wait for a job, and the process that they are forked from."""
        for spare in self._spares.values():
            spare.close()
        self._nursery.close()

    def _lane(self, kinds: tuple[str, ...], paced: bool) -> None:
        while not self._stop.is_set():
            try:
                busy = self.step(kinds, paced=paced)
            except DiscreetError as error:  # the database is away: nothing is run meanwhile
                log.warning("waiting: %s", type(error).__name__)
                busy = False
            except (
                Exception
            ) as error:  # a full disk, no memory: the job at hand has failed, spent, and the next may not
                log.error("trouble: %s", type(error).__name__)
                busy = False
            if not busy:
                self._stop.wait(POLL)

    def step(self, kinds: tuple[str, ...], *, paced: bool) -> bool:
        """Take one job and see it through; returns whether there was one. With `paced`, wait for the slot's end."""
        spare = self._spares.setdefault(paced, Spare(self._nursery))
        self._keep_house()
        if paced:
            self._wait_for_slot()
        if self._stop.is_set() or not self._has_work(kinds):
            return False
        spare.wait_until_ready()
        with writing(self._engine) as connection:
            job = jobs.start(connection, self.name, kinds, self.settings.least_slot)
        if job is None:
            return False
        log.info("job %s started", job.id)
        told = self._run(job, spare)
        self._store(job, told)
        log.info("job %s ended", job.id)
        if paced:
            self._sleep_until(job.visible_at)
            self._keep_house(at_once=True)
        return True

    def _has_work(self, kinds: tuple[str, ...]) -> bool:
        wanted = select(job_table.c.id).where(job_table.c.state == "reserved", job_table.c.kind.in_(kinds)).limit(1)
        with reading(self._engine) as connection:
            return connection.execute(wanted).first() is not None

    def _keep_house(self, *, at_once: bool = False) -> None:
        self.publish()
        moment = now().timestamp()
        if at_once or abs(moment - self._kept) > HOUSEKEEPING:
            self._kept = moment
            with writing(self._engine) as connection:
                jobs.settle(connection)
                jobs.expire(connection)

    def publish(self) -> None:
        """Tell the service the names of the sources, at the start and when the file has changed."""
        path = self._folder / "sources.toml"
        changed = path.stat().st_mtime if path.exists() else 0.0
        if changed != self._published:
            known = [(each.name, each.kind, described(each)) for each in read_sources(self._folder).values()]
            with writing(self._engine) as connection:
                datasets.publish_sources(connection, known)
            self._published = changed

    def _wait_for_slot(self) -> None:
        """Wait for the end of the slot of a job that this worker ran before it was started again."""
        with reading(self._engine) as connection:
            until = jobs.busy_until(connection, self.name)
        if until is not None:
            self._sleep_until(until)

    def _sleep_until(self, moment: datetime) -> None:
        while not self._stop.is_set() and (left := (moment - now()).total_seconds()) > 0:
            self._stop.wait(min(left, 1.0))

    def _run(self, job: Started, spare: Spare) -> dict[str, Any]:
        """The child's answer; whatever goes wrong is {"failed": class of the error}."""
        try:
            message = self._message(job)
            seconds = deadline(job.visible_at - job.started_at).total_seconds()
            message["seconds"] = seconds - (now() - job.started_at).total_seconds()
            message["memory"] = self.settings.job_memory
            return spare.ask(message)
        except Exception as error:
            return {"failed": type(error).__name__}

    def _message(self, job: Started) -> dict[str, Any]:
        """What the child is told. The snapshot is verified first."""
        version = job.version
        message: dict[str, Any] = {"kind": job.kind, "request": job.request, "epsilon": job.epsilon}
        if version.schema is not None:
            message["schema"] = version.schema.to_dict()
        if job.kind in ("draft", "snapshot"):
            source = read_sources(self._folder)[version.source_name].to_dict()
            place = snapshot_path(self._folder, version.id).with_suffix(".part")
            facts = {"target": version.target, "ignore": list(version.ignore), "part": str(place)}
            return {**message, "source_name": version.source_name, "source": source, **facts}
        with reading(self._engine) as connection:
            wanted = select(versions.c.snapshot_hash).where(versions.c.id == version.id)
            expected = connection.execute(wanted).scalar()
            if job.kind == "score":
                content = select(releases.c.content).where(releases.c.id == job.request["release"])
                message["model"] = json.loads(connection.execute(content).scalar_one())
        path = snapshot_path(self._folder, version.id)
        check_snapshot(path, self._key, expected)
        return {**message, "snapshot": str(path)}

    def _store(self, job: Started, told: dict[str, Any]) -> None:
        """Store the outcome, trying again while the slot lasts; after it, the job has failed by itself."""
        keep = self._paid if job.kind in PAID_KINDS else functools.partial(self._registered, job)
        try:
            store = keep(told)
        except Exception as error:  # what came out cannot be kept: this job has failed, and tells no other
            log.error("job %s: %s", job.id, type(error).__name__)
            told = {"failed": type(error).__name__}
            store = keep(told)
        cause = str(told.get("failed", ""))
        while True:
            try:
                with writing(self._engine) as connection:
                    made = store(connection)
                    jobs.end(connection, job, self.name, made, cause)
                return
            except StateError:
                return
            except DiscreetError:
                if now() >= job.visible_at or self._stop.wait(1.0):
                    return

    def _paid(self, told: dict[str, Any]) -> Callable[[Any], Made | None]:
        if "content" not in told:
            return lambda _: None
        content = json.dumps(told["content"], ensure_ascii=False, allow_nan=False).encode()
        if len(content) > LARGEST:
            told["failed"] = "too-large"
            return lambda _: None
        made = Made(content, told["card"], hashlib.sha256(content).hexdigest())
        return lambda _: made

    def _registered(self, job: Started, told: dict[str, Any]) -> Callable[[Any], Made | None]:
        found = told.get("found", {"problem": "unreadable", "cause": told.get("failed", "")})
        if job.kind == "draft":
            content = told.get("draft")
            schema = None if content is None else Schema.from_dict(content)

            def keep_draft(connection: Any) -> Made | None:
                datasets.drafted(connection, job.version.id, schema, found)
                return None if schema is None else Made(b"", {}, "")

            return keep_draft
        digest = self._sealed(job) if "found" in told else None

        def keep_snapshot(connection: Any) -> Made | None:
            datasets.written(connection, job.version.id, digest, found)
            return None if digest is None else Made(b"", {}, "")

        return keep_snapshot

    def _sealed(self, job: Started) -> str:
        path = snapshot_path(self._folder, job.version.id)
        seal(path.with_suffix(".part"), path)
        return keyed_hash(path, self._key)
