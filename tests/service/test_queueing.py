"""Which job is next: people take turns, and a job that cannot start stops no other."""

import pytest
from sqlalchemy import update

from discreet.schema import Categorical, Schema
from discreet.service import jobs, queueing
from discreet.service.slots import slot
from discreet.service.tables import jobs as table
from discreet.service.tables import versions

SCHEMA = Schema([Categorical("smoker", ["no", "yes"])], "ill", ["no", "yes"], records=100)
COUNT = {"kind": "count", "epsilon": "1/1000", "queries": [{}]}


@pytest.fixture
def asked(clinic):
    """A service on which Ann has asked for much, and then Bob for a little."""
    clinic.pretend(SCHEMA)
    clinic.pretend(SCHEMA, "other", new=False)
    clinic.given = clinic.grant(approve_up_to=1)
    clinic.grant(clinic.bob, "other", approve_up_to=1)
    clinic.anns = [clinic.ask(COUNT, f"a{number}") for number in range(5)]
    clinic.bobs = [clinic.ask(COUNT, f"b{number}", clinic.bob, "other") for number in range(2)]
    return clinic


def started(clinic, number):
    found = [clinic.write(jobs.start, "w", ("count",), 10.0) for _ in range(number)]
    return [each and each.id for each in found]


def test_many_jobs_of_one_person_do_not_keep_others_waiting(asked):
    ann, bob = asked.anns, asked.bobs
    assert started(asked, 8) == [ann[0], bob[0], ann[1], bob[1], *ann[2:], None]


@pytest.mark.parametrize(("records", "told"), [(10**16, "more than 7 days"), (999, "OverflowError")])
def test_a_job_that_no_slot_can_hold_is_cancelled_and_stops_no_other(asked, caplog, monkeypatch, records, told):
    """It was asked for before such numbers were refused."""

    def broken(kind, schema, declared, *rest):
        if declared == 999:
            raise OverflowError
        return slot(kind, schema, declared, *rest)

    monkeypatch.setattr(queueing, "slot", broken)
    with asked.engine.begin() as connection:
        version = connection.execute(table.select().where(table.c.id == asked.anns[0])).one().version_id
        connection.execute(update(versions).where(versions.c.id == version).values(records_declared=records))
    assert started(asked, 2) == [asked.bobs[0], asked.bobs[1]]
    assert [asked.job(each).state for each in asked.anns] == ["cancelled"] * 5
    assert asked.standings(asked.given)[3] == (0, 0)  # what was reserved was returned
    assert told in caplog.text


def test_a_job_without_its_reservation_has_failed_and_stops_no_other(small):
    small.pretend(SCHEMA)
    small.grant(approve_up_to=1)
    first, second = small.ask(COUNT, "1"), small.ask(COUNT, "2")
    small.write(jobs.BOOKS.spend, first)  # by nothing that is known
    assert started(small, 1) == [second]
    assert small.job(first).state == "failed"
