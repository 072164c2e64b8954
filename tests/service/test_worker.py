"""The worker: jobs from request to release on both databases, and what happens when something breaks."""

import json
import os
import signal
import threading
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from discreet.models.loading import from_dict
from discreet.privacy.accounts import reading
from discreet.released.answers import Answers
from discreet.service import jobs, log, releases
from discreet.service.clock import now
from discreet.service.errors import NotFoundError
from discreet.service.snapshots import snapshot_path
from discreet.service.spares import Spare
from discreet.service.tables import jobs as table
from discreet.service.worker import Worker
from support.hospital import PAID, hospital

COUNT = {"kind": "count", "epsilon": "1/10", "queries": [{"by": [{"column": "smoker"}]}]}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def ready(request, tmp_path_factory):
    """A service with a data set and a grant whose rule approves up to 1."""
    running = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    with hospital(request.param, tmp_path_factory.mktemp("hospital"), running) as made:
        made.version = made.register(limit=1000)
        made.given = made.grant(limit=500, project_limit=500, approve_up_to=1)
        yield made


def run(clinic, content, key, paced=True):
    job = clinic.ask(content, key)
    assert clinic.worker.step(PAID, paced=paced)
    return job


def causes(clinic, job):
    """Why a job failed: as the log tells once the slot is over, or as it is kept until then."""
    lines = clinic.read(log.read, for_owner=True, subject=job)
    told = [line.detail["cause"] for line in lines if line.action == "job.cause"]
    with reading(clinic.engine) as connection:
        kept = connection.execute(select(table.c.cause).where(table.c.id == job)).scalar()
    return told or [kept]


def test_models_scores_and_counts_are_released_as_they_were_paid(ready):
    before = ready.standings(ready.given)[0][1]
    trained = ready.job(run(ready, {"kind": "train", "model": "naive-bayes", "epsilon": "1"}, "train"))
    assert trained.state == "released"
    model = from_dict(json.loads(ready.read(releases.content_of, trained.release, ready.ann)))
    assert model.guarantee_.holds
    assert model.guarantee_.epsilon == 1
    assert model.schema_ == ready.version.schema
    scored = ready.job(run(ready, {"kind": "score", "release": trained.release, "epsilon": "0.5"}, "score"))
    card = ready.read(releases.get_release, scored.release, ready.ann).card
    assert card["guarantee"]["epsilon"] == "1/2"
    assert 0 <= card["accuracy"] <= 1
    counted = ready.job(run(ready, COUNT, "count"))
    answers = Answers.from_dict(json.loads(ready.read(releases.content_of, counted.release, ready.ann)))
    assert answers.guarantee.holds
    assert abs(int(answers[0].counts.sum()) - 400) < 400
    assert ready.standings(ready.given) == [(0, before + Fraction(8, 5))] * 4
    with pytest.raises(NotFoundError):
        ready.read(releases.get_release, counted.release, ready.bob)
    assert ready.read(releases.get_release, counted.release, ready.owner).id == counted.release


def test_nothing_is_read_before_the_price_is_spent(ready, monkeypatch):
    seen = []

    def ask(self, message):
        seen.append((ready.standings(ready.given)[0], ready.job(job).state, message["snapshot"]))
        return {"failed": "Pretended"}

    monkeypatch.setattr(Spare, "ask", ask)
    before = ready.standings(ready.given)[0]
    job = ready.ask(COUNT, "order")
    assert ready.standings(ready.given)[0][0] == before[0] + Fraction(1, 10)
    ready.worker.step(PAID, paced=False)
    ((reserved, spent), state, snapshot) = seen[0]
    assert (reserved, spent) == (before[0], before[1] + Fraction(1, 10))
    assert state == "running"
    assert snapshot == str(snapshot_path(ready.settings.worker_folder, ready.version.id))
    assert causes(ready, job) == ["Pretended"]
    assert ready.standings(ready.given)[0] == (reserved, spent)


def test_a_changed_snapshot_is_not_read(ready, monkeypatch):
    path = snapshot_path(ready.settings.worker_folder, ready.version.id)
    content = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(content + b"x")
    monkeypatch.setattr(Spare, "ask", lambda *_: pytest.fail("the child was asked"))
    try:
        job = run(ready, COUNT, "changed", paced=False)
    finally:
        path.write_bytes(content)
        path.chmod(0o400)
    assert causes(ready, job) == ["FileError"]


def test_a_child_that_dies_is_a_failure_and_stays_spent(ready, monkeypatch):
    whole = Spare.ask

    def ask(self, message):
        child = self._child
        threading.Timer(0.05, lambda: os.killpg(child.pid, signal.SIGKILL)).start()
        os.kill(child.pid, signal.SIGSTOP)
        return whole(self, message)

    monkeypatch.setattr(Spare, "ask", ask)
    before = ready.standings(ready.given)[0][1]
    job = run(ready, COUNT, "killed", paced=False)
    assert causes(ready, job) == ["child-lost"]
    assert ready.standings(ready.given)[0][1] > before
    assert ready.job(job).state == "running"  # until its slot is over


def test_what_overruns_is_ended_and_has_failed(ready, monkeypatch):
    whole = Spare.ask

    def ask(self, message):
        os.kill(self._child.pid, signal.SIGSTOP)
        return whole(self, {**message, "seconds": 0.3})

    monkeypatch.setattr(Spare, "ask", ask)
    job = run(ready, COUNT, "overrun", paced=False)
    assert causes(ready, job) == ["overran"]


def test_a_lost_worker_means_failed_spent_and_never_again(ready):
    job = ready.ask(COUNT, "lost")
    spent = ready.standings(ready.given)[0][1]
    started = ready.write(jobs.start, "gone", PAID, ready.settings.least_slot)
    assert started.id == job
    assert ready.job(job).state == "running"
    assert ready.read(jobs.busy_until, "gone") == started.visible_at
    ready.worker._sleep_until(started.visible_at)
    assert ready.job(job).state == "failed"  # before anybody has settled it
    ready.write(jobs.settle)
    assert causes(ready, job) == ["lost"]
    assert not ready.write(jobs.start, "other", PAID, 1.0)
    assert ready.standings(ready.given)[0][1] == spent + Fraction(1, 10)
    with pytest.raises(jobs.StateError):
        ready.write(jobs.end, started, "gone", jobs.Made(b"{}", {}, ""))
    assert ready.ask(COUNT, "lost") == job  # the same key gives the stored job


def test_two_workers_never_take_the_same_job(ready):
    asked = {ready.ask(COUNT, f"many{number}") for number in range(6)}
    taken, gate = [], threading.Barrier(3)

    def take(name):
        gate.wait()
        while (found := ready.write(jobs.start, name, PAID, 1.0)) is not None:
            taken.append(found.id)

    threads = [threading.Thread(target=take, args=(f"w{number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == sorted(asked)


def test_a_worker_that_starts_again_waits_for_the_slot_of_its_last_job(ready, monkeypatch):
    monkeypatch.setattr(Spare, "ask", lambda *_: {"failed": "Pretended"})
    first = run(ready, COUNT, "first", paced=False)
    until = ready.job(first).visible_at
    second = ready.ask(COUNT, "second")
    again = Worker(ready.settings, ready.engine)
    try:
        assert again.step(PAID, paced=True)
    finally:
        again.close()
    assert ready.job(second).started_at >= until


def test_times_of_jobs_are_not_in_the_future(ready):
    with ready.engine.connect() as connection:
        started = connection.execute(select(table.c.started_at).where(table.c.started_at.is_not(None))).scalars().all()
    assert all(each <= now() for each in started)


def test_a_lane_goes_on_after_an_error_that_nobody_expected(small, monkeypatch, caplog):
    """A full disk or a process that cannot be started ends no lane: it would stand still until somebody notices."""
    calls = []

    def step(kinds, *, paced):
        calls.append(kinds)
        if len(calls) > 2:
            small.worker.stop()
            return False
        raise OSError(28, "No space left on device: canary-7f3a")

    monkeypatch.setattr(small.worker, "step", step)
    monkeypatch.setattr("discreet.service.worker.POLL", 0.01)
    small.worker._lane(PAID, True)
    assert len(calls) == 3
    assert "OSError" in caplog.text
    assert "canary" not in caplog.text


def test_an_answer_that_cannot_be_kept_is_a_failure_of_its_job(ready, monkeypatch):
    monkeypatch.setattr(Spare, "ask", lambda *_: {"content": {"number": float("nan")}, "card": {}})
    assert causes(ready, run(ready, COUNT, "nan", paced=False)) == ["ValueError"]


def test_a_job_is_told_how_much_memory_it_may_take(small, monkeypatch):
    told = []
    worker = Worker(replace(small.settings, job_memory=3.0), small.engine)
    monkeypatch.setattr(worker, "_message", lambda job: {})
    moment = now()
    job = SimpleNamespace(started_at=moment, visible_at=moment + timedelta(seconds=9))
    assert worker._run(job, SimpleNamespace(ask=lambda message: told.append(message) or {})) == {}
    assert [message["memory"] for message in told] == [3.0]
