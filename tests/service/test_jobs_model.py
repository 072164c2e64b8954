"""The states of jobs and the money, against a plain model: any order of requests, decisions, workers and clocks."""

import math
import os
import uuid
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import insert, select

from discreet.errors import BudgetError
from discreet.privacy.accounts import Books
from discreet.privacy.accounts.tables import reservations
from discreet.schema import Categorical, Schema
from discreet.service import datasets, grants, job_views, jobs, people, projects
from discreet.service.errors import KeyReusedError, NotAllowedError, StateError
from discreet.service.tables import jobs as table
from discreet.service.tables import releases, sources, versions

SCHEMA = Schema([Categorical("smoker", ["no", "yes"])], "ill", ["no", "yes"], records=100)
PRICES = [Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(5)]
PLACES = ("population", "dataset", "project", "ann", "bob")
LIMITS = {
    "population": Fraction(6),
    "dataset": Fraction(5),
    "project": Fraction(4),
    "ann": Fraction(3),
    "bob": Fraction(2),
}
RULE = Fraction(1, 2)
SLOT = 10.0


def counted(price):
    """Whole billionths, rounded up."""
    return Fraction(math.ceil(price * 10**9), 10**9)


class Clock:
    """A clock that stands still until it is moved."""

    at = datetime(2030, 1, 1, tzinfo=UTC)


class Names:
    """Names of jobs in the order in which they are made: a schedule that is played again takes the same jobs."""

    number = 0

    @classmethod
    def uuid4(cls):
        cls.number += 1
        return uuid.UUID(int=cls.number)


def made_clinic(connection):
    """People, a ready version, and a grant for each of two analysts in one project; all rows in this transaction."""
    owner = people.add_person(connection, "olga", "Olga", ("owner",))
    both = [people.add_person(connection, name, name, ("analyst",), by=owner) for name in ("ann", "bob")]
    datasets.open_population(connection, "clinic", LIMITS["population"], "add-remove", by=owner)
    values = {"kind": "file", "described": "", "published_at": Clock.at}
    connection.execute(insert(sources).values(name="visits", **values))
    facts = {"title": "v", "description": "", "population": "clinic", "limit": LIMITS["dataset"], "source": "visits"}
    version = datasets.register(connection, "visits", target="ill", by=owner, **facts)
    ready = {"schema": SCHEMA.to_dict(), "schema_hash": SCHEMA.hash, "records_declared": 100, "state": "ready"}
    connection.execute(versions.update().where(versions.c.id == version.id).values(**ready))
    connection.execute(table.update().where(table.c.version_id == version.id).values(state="released"))
    project = projects.create_project(connection, "heart", "heart", by=owner)
    projects.set_project_limit(connection, project.id, "clinic", LIMITS["project"], by=owner)
    given = []
    for person in both:
        projects.add_member(connection, project.id, person.id, by=owner)
        rule_of = {"approve_up_to": RULE, "by": owner}
        limit = LIMITS[person.name]
        given.append(projects.give_grant(connection, project.id, person.id, version.dataset_id, limit, **rule_of))
    return owner, both, given


class Machine(RuleBasedStateMachine):
    """Runs the same steps in the database and in dictionaries."""

    engine = None
    books = Books()

    @initialize()
    def begin(self):
        self.connection = self.engine.connect()
        self.outer = self.connection.begin()
        Clock.at, Names.number = datetime(2030, 1, 1, tzinfo=UTC), 0
        self.owner, self.people, self.grants = made_clinic(self.connection)
        self.active = [True, True]
        self.model = {}
        self.reserved = dict.fromkeys(PLACES, Fraction(0))
        self.spent = dict.fromkeys(PLACES, Fraction(0))
        self.asked = {}

    def teardown(self):
        if hasattr(self, "connection"):
            self.outer.rollback()
            self.connection.close()

    def do(self, function, *arguments, **options):
        """Call a function; after an error, what it did is undone, as at the end of a request."""
        with self.connection.begin_nested():
            return function(self.connection, *arguments, **options)

    def paths(self, who):
        return ("population", "dataset", "project", ("ann", "bob")[who])

    def fits(self, who, price):
        cost = counted(price)
        return all(self.reserved[each] + self.spent[each] + cost <= LIMITS[each] for each in self.paths(who))

    def move(self, who, price, *, reserved=0, spent=0):
        for each in self.paths(who):
            self.reserved[each] += reserved * counted(price)
            self.spent[each] += spent * counted(price)

    def some(self, data, *states):
        names = sorted(name for name, job in self.model.items() if not states or self.state(job) in states)
        return data.draw(st.sampled_from(names)) if names else None

    def state(self, job):
        over = job["state"] == "running" and job["visible"] <= Clock.at
        return (job["outcome"] or "failed") if over else job["state"]

    @rule(who=st.integers(0, 1), price=st.sampled_from(PRICES), key=st.integers(0, 60))
    def submit(self, who, price, key):
        self.asks(who, price, key)

    def asks(self, who, price, key):
        content = {"kind": "train", "model": "one-rule", "epsilon": str(price)}

        def ask():
            return self.do(jobs.submit, self.people[who], "visits", content, f"key{key}", request_days=1)

        if (who, key) in self.asked:
            known, paid = self.asked[who, key]
            if paid != price:
                with pytest.raises(KeyReusedError):
                    ask()
            else:
                assert ask() == (known, False)
            return
        if not self.active[who]:
            with pytest.raises(NotAllowedError):
                ask()
            return
        if price <= RULE and not self.fits(who, price):
            with pytest.raises(BudgetError):
                ask()
            return
        job, new = ask()
        assert new
        self.asked[who, key] = (job, price)
        state = "reserved" if price <= RULE else "requested"
        if state == "reserved":
            self.move(who, price, reserved=1)
        expires = Clock.at + timedelta(days=1)
        self.model[job] = {"who": who, "price": price, "state": state, "expires": expires, "decided": Clock.at}

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def approve(self, data):
        name = self.some(data)
        job = self.model[name]
        if job["state"] != "requested" or not self.active[job["who"]] or job["expires"] <= Clock.at:
            with pytest.raises(StateError):
                self.do(jobs.approve, name, self.owner)
        elif not self.fits(job["who"], job["price"]):
            with pytest.raises(BudgetError):
                self.do(jobs.approve, name, self.owner)
        else:
            self.do(jobs.approve, name, self.owner)
            self.move(job["who"], job["price"], reserved=1)
            job.update(state="reserved", decided=Clock.at)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), refuses=st.booleans())
    def refuse_or_cancel(self, data, refuses):
        name = self.some(data)
        job = self.model[name]
        allowed = ("requested",) if refuses else ("requested", "reserved")
        call = (jobs.refuse, self.owner) if refuses else (jobs.cancel, self.people[job["who"]])
        if job["state"] not in allowed:
            with pytest.raises(StateError):
                self.do(call[0], name, call[1])
            return
        self.do(call[0], name, call[1])
        self.drop(job, "refused" if refuses else "cancelled")

    def drop(self, job, state):
        if job["state"] == "reserved":
            self.move(job["who"], job["price"], reserved=-1)
        job["state"] = state

    @rule(who=st.integers(0, 1), key=st.integers(100, 10**6))
    def submit_little(self, who, key):
        self.asks(who, PRICES[0], key)

    def next_in_turn(self):
        """The oldest job of who was served longest ago, or never."""
        waiting = [(job["who"], job["decided"], name) for name, job in self.model.items() if job["state"] == "reserved"]
        served = {}
        for job in self.model.values():
            if "started" in job:
                served[job["who"]] = max(served.get(job["who"], job["started"].started_at), job["started"].started_at)

        def turn(who):
            since = min(decided for other, decided, _ in waiting if other == who)
            return who in served, served.get(who, since), since, who

        return min((turn(who), decided, name) for who, decided, name in waiting)[2] if waiting else None

    @rule()
    def start(self):
        expected = self.next_in_turn()
        while expected is not None:
            job = self.model[expected]
            if self.active[job["who"]] and job["expires"] > Clock.at:
                break
            self.drop(job, "cancelled")
            expected = self.next_in_turn()
        found = self.do(jobs.start, "w", ("train",), SLOT)
        assert (found.id if found else None) == expected
        if found is not None:
            job = self.model[expected]
            self.move(job["who"], job["price"], reserved=-1, spent=1)
            job.update(state="running", visible=found.visible_at, outcome=None, started=found)
            assert found.visible_at == Clock.at + timedelta(seconds=SLOT)

    @precondition(lambda self: any(job["state"] == "running" for job in self.model.values()))
    @rule(data=st.data(), good=st.booleans(), too_late=st.booleans())
    def end(self, data, good, too_late):
        names = sorted(name for name, job in self.model.items() if job["state"] == "running")
        job = self.model[data.draw(st.sampled_from(names))]
        if too_late:
            Clock.at = max(Clock.at, job["visible"])
        made = jobs.Made(b"{}", {}, "0" * 64) if good else None
        if job["outcome"] is not None:
            with pytest.raises(StateError):
                self.do(jobs.end, job["started"], "w", made)
            return
        late = job["visible"] <= Clock.at
        assert self.do(jobs.end, job["started"], "w", made, "Broken") == (good and not late)
        job["outcome"] = "released" if good and not late else "failed"
        if late:
            job["state"] = "failed"

    @rule(seconds=st.sampled_from([1, 5, 10, 3600]))
    def wait(self, seconds):
        Clock.at += timedelta(seconds=seconds)

    @precondition(lambda self: len(self.model) > 5)
    @rule()
    def wait_for_days(self):
        Clock.at += timedelta(days=2)

    @rule()
    def keep_house(self):
        self.do(jobs.settle)
        self.do(jobs.expire)
        for job in self.model.values():
            job["state"] = self.state(job)
            if job["state"] in ("requested", "reserved") and job["expires"] <= Clock.at:
                self.drop(job, "expired")

    @precondition(lambda self: len(self.model) > 3)
    @rule(who=st.integers(0, 1), surely=st.integers(0, 3))
    def revoke(self, who, surely):
        if surely:  # seldom: nothing can be asked afterwards
            return
        if not self.active[who]:
            with pytest.raises(StateError):
                self.do(projects.revoke, self.grants[who].id, by=self.owner)
            return
        self.do(projects.revoke, self.grants[who].id, by=self.owner)
        self.active[who] = False
        for job in self.model.values():
            if job["who"] == who and job["state"] in ("requested", "reserved"):
                self.drop(job, "cancelled")

    @invariant()
    def money_and_states_agree(self):
        if not hasattr(self, "model"):
            return
        accounts = dict(zip(PLACES, (*self.grants[0].accounts, self.grants[1].account), strict=True))
        for place, account in accounts.items():
            found = self.books.standing(self.connection, account)
            assert (found.reserved, found.spent) == (self.reserved[place], self.spent[place]), place
        seen = {each.id: each for each in job_views.list_jobs(self.connection, self.owner, most=1000)}
        assert {name: job.state for name, job in seen.items()} == {n: self.state(j) for n, j in self.model.items()}
        assert all((job.release is not None) == (job.state == "released") for job in seen.values())
        self.check_that_every_result_was_paid()

    def check_that_every_result_was_paid(self):
        paid = dict(self.connection.execute(select(reservations.c.id, reservations.c.state)).all())
        for name, job in self.model.items():
            wanted = {"requested": None, "refused": None, "reserved": "reserved"}
            if job["state"] in wanted:
                assert paid.get(name) == wanted[job["state"]]
            elif job["state"] in ("running", "released", "failed"):
                assert paid[name] == "spent"
            else:
                assert paid.get(name) in (None, "returned")
        released = self.connection.execute(select(releases.c.job_id)).scalars().all()
        assert all(paid[name] == "spent" for name in released)


class TestJobs:
    """On both databases; the schedules of each example live in one transaction that is undone."""

    def test_any_order_of_steps_agrees_with_the_model(self, clinic, monkeypatch):
        for module in (jobs, grants, projects, job_views):
            monkeypatch.setattr(module, "now", lambda: Clock.at)
        monkeypatch.setattr(jobs, "uuid", Names)
        self.forget_people(clinic)
        Machine.engine = clinic.engine
        few = int(os.environ.get("DISCREET_SCHEDULES", "60" if clinic.engine.dialect.name == "sqlite" else "30"))
        quick = settings(
            max_examples=few, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        )
        run_state_machine_as_test(Machine, settings=quick)

    @staticmethod
    def forget_people(clinic):
        """The machine has people of its own, of the same names."""
        with clinic.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE people SET name = 'not-' || name")
