"""Asking: keys, rules, roles, prices, and the last units when many ask at once."""

import threading
from datetime import timedelta
from fractions import Fraction

import pytest
from sqlalchemy import update

from discreet.errors import BudgetError
from discreet.schema import Categorical, Numeric, Schema
from discreet.service import grants, job_views, jobs, log, people, projects, quotes, tables
from discreet.service.clock import now
from discreet.service.errors import KeyReusedError, NotAllowedError, NotFoundError, RequestError, StateError
from discreet.service.requests import plain, read_request

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"])], "ill", ["no", "yes"], records=4000)
COUNT = {"kind": "count", "epsilon": "1", "queries": [{"by": [{"column": "sex"}]}]}


@pytest.fixture
def asked(clinic):
    """A ready data set of 10, and a grant of 5 whose rule approves up to 1."""
    clinic.pretend(SCHEMA)
    clinic.given = clinic.grant(approve_up_to=1)
    return clinic


def test_the_same_key_gives_the_stored_job_whatever_became_of_it(asked):
    job = asked.ask(COUNT, "key")
    assert asked.write(jobs.submit, asked.ann, "visits", {**COUNT, "epsilon": 1.0}, "key") == (job, False)
    asked.write(jobs.cancel, job, asked.ann)
    assert asked.write(jobs.submit, asked.ann, "visits", COUNT, "key") == (job, False)
    assert asked.standings(asked.given) == [(0, 0)] * 4
    with pytest.raises(KeyReusedError):
        asked.ask({**COUNT, "epsilon": "0.5"}, "key")
    asked.grant(asked.bob, approve_up_to=1)
    assert asked.ask(COUNT, "key", asked.bob) != job  # keys are each person's own


def test_a_job_has_its_lines_in_their_order_and_once(asked):
    made = [asked.ask(COUNT, "key"), asked.ask({**COUNT, "epsilon": "2"}, "other")]
    assert [asked.ask(COUNT, "key"), asked.ask({**COUNT, "epsilon": "2"}, "other")] == made
    told = [[line.action for line in asked.read(log.read, for_owner=True, subject=job)] for job in made]
    assert told == [["job.approved", "job.requested"], ["job.requested"]]  # newest first


def test_one_key_at_the_same_time_is_one_job(asked):
    found, gate = [], threading.Barrier(8)

    def ask():
        gate.wait()
        found.append(asked.write(jobs.submit, asked.ann, "visits", COUNT, "same"))

    run_all([threading.Thread(target=ask) for _ in range(8)])
    assert len({job for job, _ in found}) == 1
    assert sum(new for _, new in found) == 1
    assert asked.standings(asked.given) == [(1, 0)] * 4


def run_all(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_last_units_are_given_once(asked):
    """64 requests at once for the last 5 units: exactly 5 succeed."""
    outcomes, gate = [], threading.Barrier(64)

    def ask(number):
        gate.wait()
        try:
            outcomes.append(asked.ask(COUNT, f"k{number}"))
        except BudgetError:
            outcomes.append(None)

    run_all([threading.Thread(target=ask, args=(number,)) for number in range(64)])
    assert len(outcomes) == 64
    assert sum(job is not None for job in outcomes) == 5
    assert asked.standings(asked.given) == [(5, 0)] * 4
    assert len(asked.read(job_views.list_jobs, asked.ann)) == 5  # the others left nothing behind


def test_a_rule_approves_small_requests_and_a_person_the_others(asked):
    small, large = asked.ask(COUNT, "small"), asked.ask({**COUNT, "epsilon": "2"}, "large")
    assert asked.job(small).state == "reserved"
    assert asked.job(large).state == "requested"
    assert asked.read(job_views.count_waiting, asked.owner) == 1
    with pytest.raises(NotAllowedError):
        asked.write(jobs.approve, large, asked.ann)
    asked.write(jobs.approve, large, asked.owner, "for the annual report")
    seen = asked.job(large)
    assert (seen.state, seen.decided_by, seen.note) == ("reserved", "olga", "for the annual report")
    assert asked.standings(asked.given) == [(3, 0)] * 4
    with pytest.raises(StateError):
        asked.write(jobs.refuse, large, asked.owner)


def test_an_approval_that_does_not_fit_says_which_account_is_short(asked):
    job = asked.ask({**COUNT, "epsilon": "5.5"}, "much")
    with pytest.raises(BudgetError, match="grant ann/visits"):
        asked.approve(job)
    assert asked.job(job).state == "requested"
    asked.write(jobs.refuse, job, asked.owner, "too much")
    assert asked.job(job).note == "too much"


def test_nobody_sees_or_cancels_the_jobs_of_others(asked):
    job = asked.ask(COUNT)
    for person in (asked.bob, asked.eve):
        with pytest.raises(NotFoundError):
            asked.job(job, person)
        with pytest.raises(NotFoundError):
            asked.write(jobs.cancel, job, person)
        assert asked.read(job_views.list_jobs, person) == []
    assert asked.job(job, asked.owner).person == "ann"


def test_without_a_grant_nothing_can_be_asked(asked):
    with pytest.raises(NotAllowedError, match="no grant"):
        asked.ask(COUNT, person=asked.bob)
    asked.grant(asked.bob, kinds=["count"], expires_at=now() + timedelta(seconds=0.2), approve_up_to=1)
    with pytest.raises(NotAllowedError, match="does not allow train"):
        asked.ask({"kind": "train", "epsilon": 1}, person=asked.bob)
    threading.Event().wait(0.3)
    with pytest.raises(NotAllowedError, match="ended"):
        asked.ask(COUNT, person=asked.bob)


def test_a_kind_that_was_taken_from_a_grant_neither_starts_nor_is_approved(asked):
    small, large = asked.ask(COUNT, "small"), asked.ask({**COUNT, "epsilon": "2"}, "large")
    asked.write(projects.change_grant, asked.given.id, kinds=["train"], by=asked.owner)
    with pytest.raises(StateError, match="no longer allows"):
        asked.approve(large)
    assert asked.write(jobs.start, "w", ("count",), 10.0) is None
    assert asked.job(small).state not in ("reserved", "running")
    assert asked.standings(asked.given) == [(0, 0)] * 4


def test_a_grant_that_has_expired_is_not_extended(asked):
    given = asked.grant(asked.bob, expires_at=now() + timedelta(seconds=0.2))
    threading.Event().wait(0.3)
    with pytest.raises(StateError, match="expired"):
        asked.write(projects.change_grant, given.id, expires_at=now() + timedelta(days=1), by=asked.owner)


@pytest.mark.parametrize("epsilon", ["1/3", 0.1, 1, "1e-9", "0.1234567890123456789"])
def test_what_is_stored_of_a_request_is_a_request(epsilon):
    request = read_request({"kind": "train", "epsilon": epsilon})
    assert read_request(plain(request)) == request


@pytest.mark.parametrize("epsilon", ["0.1234567890123456789012", 1e-5 / 3])
def test_an_epsilon_that_is_stored_as_a_long_fraction_is_refused_before_it_costs(epsilon):
    with pytest.raises(RequestError, match="fewer digits"):
        read_request({"kind": "train", "epsilon": epsilon})


@pytest.mark.parametrize("epsilon", ["9e-10", "1/1000000001", 1e-37, "1e-350"])
@pytest.mark.parametrize("asked_for", [{"kind": "train"}, COUNT])
def test_an_epsilon_that_nothing_can_be_fitted_with_is_refused_before_it_costs(asked_for, epsilon):
    with pytest.raises(RequestError, match="need at least 1e-9"):
        read_request({**asked_for, "epsilon": epsilon})
    assert read_request({**asked_for, "epsilon": "1e-9"}).epsilon == "1/1000000000"


def test_a_new_grant_continues_the_account(asked):
    asked.write(jobs.start, "w", ("count",), 10.0) if asked.ask(COUNT) else None
    asked.write(projects.revoke, asked.given.id, by=asked.owner)
    with pytest.raises(BudgetError):  # one unit is spent already
        asked.grant(limit="0.5")
    again = asked.grant(limit="1.5", approve_up_to=1)
    assert again.account == asked.given.account
    with pytest.raises(BudgetError):
        asked.ask(COUNT, "more")


def test_a_job_does_not_start_if_the_right_to_ask_has_ended(asked):
    job = asked.ask(COUNT)
    asked.write(people.disable, asked.ann.id, by=asked.owner)
    assert asked.write(jobs.start, "w", ("count",), 10.0) is None
    assert asked.job(job, asked.owner).state == "cancelled"
    assert asked.standings(asked.given) == [(0, 0)] * 4


def test_a_job_gets_the_epsilon_that_was_paid_whatever_its_row_says(asked):
    job = asked.ask(COUNT)
    asked.write(lambda connection: connection.execute(update(tables.jobs).values(epsilon="9", nano=0)))
    started = asked.write(jobs.start, "w", ("count",), 10.0)
    assert (started.id, started.epsilon) == (job, "1")
    assert asked.standings(asked.given) == [(0, 1)] * 4


def test_whoever_is_no_analyst_any_more_gets_no_answer(asked):
    waiting, reserved = asked.ask({**COUNT, "epsilon": "2"}, "waiting"), asked.ask(COUNT, "reserved")
    asked.write(people.set_roles, asked.ann.id, ("auditor",), by=asked.owner)
    with pytest.raises(StateError, match="has ended"):
        asked.approve(waiting)
    assert asked.write(jobs.start, "w", ("count",), 10.0) is None
    assert asked.job(reserved, asked.owner).state == "cancelled"
    assert asked.standings(asked.given) == [(0, 0)] * 4


def test_pages_of_jobs(asked):
    ids = [asked.ask({**COUNT, "epsilon": "0.01"}, f"k{number}") for number in range(7)]
    first = asked.read(job_views.list_jobs, asked.ann, most=3)
    second = asked.read(job_views.list_jobs, asked.ann, most=10, before=first[-1].id)
    assert [job.id for job in (*first, *second)] == ids[::-1]
    assert len(asked.read(job_views.list_jobs, asked.ann, states=["reserved"])) == 7
    assert asked.read(job_views.list_jobs, asked.ann, states=["released"]) == []


def test_prices_count_twice_under_replace_one(clinic):
    clinic.pretend(SCHEMA, adjacency="replace-one")
    given = clinic.grant(approve_up_to=2)
    quoted = clinic.read(quotes.quote, clinic.ann, "visits", COUNT)
    assert quoted.nano == 2 * 10**9
    clinic.ask(COUNT)
    assert clinic.standings(given) == [(2, 0)] * 4


def test_a_quote_says_price_rest_and_noise_and_charges_nothing(asked):
    quoted = asked.read(quotes.quote, asked.ann, "visits", COUNT)
    assert (quoted.epsilon, quoted.nano, quoted.enough, quoted.approved_by_rule) == ("1", 10**9, True, True)
    assert quoted.remaining == {"grant": Fraction(4), "project": Fraction(9)}
    (noise,) = quoted.expected["queries"]
    assert noise["cells"] == 3
    assert noise["deviation"] == pytest.approx(1.357, abs=0.01)
    assert noise["margin"] == 3
    trained = asked.read(quotes.quote, asked.ann, "visits", {"kind": "train", "epsilon": "1"}).expected
    assert 0 < trained["low"] < trained["accuracy"] < trained["high"] <= 1
    dear = asked.read(quotes.quote, asked.ann, "visits", {**COUNT, "epsilon": 100})
    assert not dear.enough
    assert asked.standings(asked.given) == [(0, 0)] * 4
    with pytest.raises(NotAllowedError):
        asked.read(quotes.quote, asked.bob, "visits", COUNT)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"epsilon": "inf"}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"epsilon": "1" * 50}, "epsilon"),
        ({"kind": "sql"}, "kind|tag|request"),
        ({"surprise": 1}, "surprise"),
        ({"queries": []}, "queries"),
        ({"queries": [{}] * 101}, "queries"),
        ({"queries": [{}, {}]}, "twice"),
        ({"shares": [1, 1]}, "shares"),
        ({"queries": [{"by": [{"column": "name"}]}]}, "name"),
        ({"queries": [{"by": [{"column": "age"}]}]}, "bins"),
        ({"queries": [{"by": [{"column": "age", "bins": 65000}, {"column": "sex"}]}]}, "cells"),
        ({"queries": [{"where": [{"column": "sex", "equals": "X"}]}]}, "sex"),
        ({"queries": [{"where": [{"column": "sex"}]}]}, "exactly one"),
        ({"queries": [{"where": [{"column": "age", "between": [float("nan"), 3]}]}]}, "between"),
        ({"queries": [{"where": [{"column": "age; DROP TABLE jobs", "missing": True}]}]}, "not in the schema"),
        ({"queries": {"where": {"where": {}}}}, "queries"),
    ],
)
def test_bad_requests_are_refused_without_a_charge(small, change, word):
    small.pretend(SCHEMA)
    given = small.grant(approve_up_to=1)
    with pytest.raises(RequestError, match=word):
        small.ask({**COUNT, **change})
    assert small.standings(given) == [(0, 0)] * 4
    assert small.read(job_views.list_jobs, small.ann) == []


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ({"model": "bee-rules"}, "model"),
        ({"parameters": {"random_state": 1}}, "random_state"),
        ({"model": "svm", "parameters": {"schema": "x"}}, "schema"),
        ({"model": "decision-tree", "parameters": {"max_depth": 10**9}}, "at most"),
        ({"model": "decision-tree", "parameters": {"structure": "magic"}}, "structure"),
        ({"model": "naive-bayes", "parameters": {"bins": [1]}}, "bins"),
    ],
)
def test_parameters_are_from_a_closed_list(small, content, word):
    small.pretend(SCHEMA)
    small.grant()
    with pytest.raises(RequestError, match=word):
        small.ask({"kind": "train", "epsilon": "1", **content})


def test_a_score_needs_a_model_that_the_asker_may_see(small):
    small.pretend(SCHEMA)
    small.grant()
    for release in ("00000000-0000-0000-0000-000000000000", "x"):
        with pytest.raises(RequestError, match="release"):
            small.ask({"kind": "score", "epsilon": 1, "release": release})


def test_the_log_is_never_changed(clinic):
    clinic.pretend(SCHEMA)
    assert clinic.read(log.read, for_owner=False)
    for statement in ("UPDATE log SET action = 'x'", "DELETE FROM log"):
        with pytest.raises(Exception, match="never changed"), clinic.engine.begin() as connection:
            connection.exec_driver_sql(statement)


def test_grants_are_listed_for_their_people(asked):
    assert [each.id for each in asked.read(grants.grants_of, asked.ann.id)] == [asked.given.id]
    assert asked.read(grants.grants_of, asked.bob.id) == []
    assert len(asked.read(grants.all_grants)) == 1
