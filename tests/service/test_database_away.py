"""The database is lost in mid-job: nothing runs twice, spent stays spent, an outcome is stored if it comes back."""

import contextlib

import pytest

from discreet.errors import FileError
from discreet.schema import Categorical, Schema
from discreet.service import jobs, worker
from discreet.service.spares import Spare
from discreet.service.worker import Worker

SCHEMA = Schema([Categorical("sex", ["F", "M"])], "ill", ["no", "yes"], records=100)
COUNT = {"kind": "count", "epsilon": "1", "queries": [{}]}


@pytest.fixture
def away(small, monkeypatch):
    """A service whose worker can lose its database, and whose children answer at once."""
    small.pretend(SCHEMA)
    small.given = small.grant(approve_up_to=1)
    monkeypatch.setattr(Spare, "wait_until_ready", lambda _: None)
    monkeypatch.setattr(Worker, "_message", lambda *_: {})
    whole, small.refusals = worker.writing, []

    @contextlib.contextmanager
    def writing(engine):
        if small.refusals and small.refusals.pop(0):
            raise FileError("the accounts cannot be used now")
        with whole(engine) as connection:
            yield connection

    monkeypatch.setattr(worker, "writing", writing)
    return small


def run(clinic, monkeypatch, answer, *refusals):
    def ask(self, message):
        clinic.refusals[:] = refusals
        return answer

    monkeypatch.setattr(Spare, "ask", ask)
    job = clinic.ask(COUNT)
    clinic.worker.step(("count",), paced=False)
    return job


def stored(clinic, job):
    with clinic.engine.connect() as connection:
        return connection.execute(jobs.select(jobs.jobs).where(jobs.jobs.c.id == job)).one()


def test_an_outcome_is_stored_when_the_database_is_back(away, monkeypatch):
    job = run(away, monkeypatch, {"content": {}, "card": {}}, True)
    assert stored(away, job).outcome == "released"
    assert away.standings(away.given) == [(0, 1)] * 4


def test_a_database_that_stays_away_means_failed_and_spent(away, monkeypatch):
    job = run(away, monkeypatch, {"content": {}, "card": {}}, *[True] * 1000)
    away.refusals.clear()
    assert stored(away, job).outcome is None
    assert away.job(job).state == "failed"
    assert away.standings(away.given) == [(0, 1)] * 4
    assert not away.worker.step(("count",), paced=False)


def test_without_a_database_nothing_is_started(away, monkeypatch):
    monkeypatch.setattr(Spare, "ask", lambda *_: pytest.fail("a child was asked"))
    job = away.ask(COUNT)
    away.worker.publish()
    away.worker._keep_house(at_once=True)
    away.refusals[:] = [True]
    with pytest.raises(FileError):
        away.worker.step(("count",), paced=False)
    assert away.job(job).state == "reserved"
    assert away.standings(away.given) == [(1, 0)] * 4
