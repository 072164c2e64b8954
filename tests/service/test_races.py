"""Many at once, over HTTP: the last units, one key, two decisions; on both databases."""

import threading

import pytest

from discreet.privacy.accounts import Books, as_fraction, reading, writing
from discreet.privacy.accounts.tables import accounts
from discreet.privacy.accounts.verification import verify
from discreet.service import jobs
from support.account_databases import new_address
from support.service_world import COUNT, TRAIN, Unlimited, world

BIG = {**TRAIN, "epsilon": "1"}
"""More than the rule of the grant approves: an owner decides."""


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request, tmp_path):
    running = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    with world(tmp_path, new_address(request.param, tmp_path, running), rates=Unlimited()) as made:
        yield made


def at_once(calls):
    """The answers of calls that begin together, in the order of the calls."""
    answers, gate = [None] * len(calls), threading.Barrier(len(calls))

    def send(place, call):
        gate.wait()
        answers[place] = call()

    threads = [threading.Thread(target=send, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def ask(service, key, request=COUNT):
    client = service.client("ana", **{"Idempotency-Key": key})
    return lambda: client.post("/jobs", json={"dataset": "patients", "request": request})


def decide(service, who, job, what):
    client = service.client(who)
    return lambda: client.post(f"/jobs/{job}/{what}", json={})


def standing(service):
    """Limit, reserved and spent of Ana's grant."""
    with reading(service.engine) as connection:
        found = Books().standing(connection, service.facts["account"])
        assert verify(connection).whole
    return found.limit, found.reserved, found.spent


def kinds_of(answers):
    return sorted((each.status_code, each.json().get("type")) for each in answers)


def test_64_requests_for_the_last_10_units_get_10(service):
    _, reserved, spent = standing(service)
    with writing(service.engine) as connection:
        Books().set_limit(connection, service.facts["account"], str(float(reserved + spent + 1)))
    answers = at_once([ask(service, f"last{number}") for number in range(64)])
    assert kinds_of(answers) == [(201, None)] * 10 + [(409, "/problems/budget-short")] * 54
    limit, reserved, spent = standing(service)
    assert reserved + spent == limit
    with reading(service.engine) as connection:
        rows = connection.execute(accounts.select()).all()
    assert len(rows) >= 4
    assert all(row.reserved_nano + row.spent_nano <= row.limit_nano for row in rows)
    assert {as_fraction(row.reserved_nano) for row in rows if row.reserved_nano} == {reserved}


def test_one_key_at_once_is_one_job_and_no_other_request(service):
    before = standing(service)
    other = {**COUNT, "queries": [{"where": [{"column": "sex", "equals": "M"}], "by": []}]}
    answers = at_once([ask(service, "one", COUNT if number % 2 else other) for number in range(16)])
    first = next(each for each in answers if each.status_code == 201)
    assert kinds_of(answers).count((201, None)) == 1
    assert kinds_of(answers).count((200, None)) == 7
    assert sum(each.status_code == 409 for each in answers) == 8
    assert {each.json()["id"] for each in answers if each.is_success} == {first.json()["id"]}
    assert standing(service)[1] - before[1] == as_fraction(10**8)


@pytest.mark.parametrize("request_", [COUNT, BIG], ids=["by the rule", "waits"])
def test_a_new_job_is_told_as_it_is_stored(service, request_):
    made = ask(service, "told", request_)()
    assert made.status_code == 201
    assert made.json()["state"] == ("reserved" if request_ is COUNT else "requested")
    assert service.client("ana").get(f"/jobs/{made.json()['id']}").json() == made.json()


def test_two_tabs_that_approve_at_once_reserve_once(service):
    before, job = standing(service), service.facts["requested_job"]
    answers = at_once([decide(service, "olga", job, "approve") for _ in range(8)])
    assert sorted(each.status_code for each in answers) == [200] + [409] * 7
    assert standing(service)[1] - before[1] == 1


def test_approval_and_refusal_at_once_are_one_of_them(service):
    before, job = standing(service), service.facts["requested_job"]
    answers = at_once([decide(service, "olga", job, what) for what in ("approve", "refuse") * 3])
    assert sorted(each.status_code for each in answers) == [200] + [409] * 5
    state = service.client("ana").get(f"/jobs/{job}").json()["state"]
    assert standing(service)[1] - before[1] == (1 if state == "reserved" else 0)


def test_a_job_that_starts_while_it_is_cancelled_is_spent_or_returned(service):
    """Six jobs, each cancelled in three tabs while a worker takes what it can."""
    before = standing(service)
    made = [ask(service, f"race{number}")().json()["id"] for number in range(6)]
    started = []

    def start():
        with writing(service.engine) as connection:
            started.append(jobs.start(connection, "test", ("count",), 1.0))

    calls = [decide(service, "ana", job, "cancel") for job in made for _ in range(3)]
    at_once([*calls, *[start] * 6])
    running = {each.id for each in started if each is not None}
    client = service.client("ana")
    states = {job: client.get(f"/jobs/{job}").json()["state"] for job in made}
    unit = as_fraction(10**8)
    assert {job for job, state in states.items() if state == "running"} == running
    assert {state for job, state in states.items() if job not in running} <= {"cancelled", "reserved"}
    after = standing(service)
    assert after[2] - before[2] == unit * len(running)
    assert after[1] - before[1] == unit * sum(state == "reserved" for state in states.values())
