"""What analysts see in time does not depend on the data."""

from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.schema import Categorical, Numeric, Schema
from discreet.service import job_views, jobs, log, releases
from discreet.service.errors import RequestError
from discreet.service.fitting import MOST, MOST_GROWING, estimator_for
from discreet.service.requests import read_request
from discreet.service.slots import REGISTRATION, deadline, growing, slot

SCHEMA = Schema([Categorical("smoker", ["no", "yes"])], "ill", ["no", "yes"], records=100)
COUNT = {"kind": "count", "epsilon": "1/10", "queries": [{}]}
START = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests move."""
    times = {"at": START}
    for module in (jobs, job_views, releases):
        monkeypatch.setattr(module, "now", lambda: times["at"])
    return times


def seen(clinic, job):
    """All that an analyst can see of a job, but for what is random: its id and the release's."""
    found = asdict(clinic.job(job))
    number = len(clinic.read(releases.all_releases, clinic.ann))
    release = clinic.read(releases.release_of_job, job, clinic.ann)
    return {**found, "id": "", "release": bool(found["release"]), "releases": number, "there": release is not None}


def story(clinic, clock, key, moments, outcome, at):
    """What an analyst sees at each moment of a job whose outcome is stored at a time of its own."""
    clock["at"] = START
    job = clinic.ask(COUNT, key)
    started = clinic.write(jobs.start, "w", ("count",), 10.0)
    assert started.id == job
    views, done = [], False
    for moment in moments:
        if outcome is not None and not done and moment >= at:
            clock["at"] = START + timedelta(seconds=at)
            clinic.write(jobs.end, started, "w", jobs.Made(b"{}", {}, "") if outcome == "released" else None, "Broken")
            done = True
        clock["at"] = START + timedelta(seconds=moment)
        views.append(seen(clinic, job))
    return views


def test_what_is_seen_in_time_is_the_same_on_neighbouring_tables(clinic, clock):
    """Neighbours may make a job quick or slow, fail at once or late, or kill the worker; before the slot's end, nothing
    of it is seen, and afterwards one bit."""
    clinic.pretend(SCHEMA)
    clinic.grant(approve_up_to=1)
    moments = [0, 0.5, 1, 5, 9.5, 9.999, 10, 11, 100]
    before = [moment for moment in moments if moment < 10]
    stories = {
        (outcome, at): story(clinic, clock, f"{outcome}{at}", moments, outcome, at)
        for outcome, at in (("failed", 0.5), ("failed", 9.5), (None, 0), ("released", 11))
    }
    first = next(iter(stories.values()))
    assert all(each == first for each in stories.values())  # failed early, late, lost, or released too late
    assert [view["state"] for view in first] == ["running"] * len(before) + ["failed"] * 3
    for at in (0.5, 9.5):
        good = story(clinic, clock, f"good{at}", moments, "released", at)
        assert [view["state"] for view in good] == ["running"] * len(before) + ["released"] * 3
        assert good[: len(before)] == first[: len(before)]


def test_a_release_cannot_be_read_before_its_slot_is_over(clinic, clock):
    clinic.pretend(SCHEMA)
    clinic.grant(approve_up_to=1)
    clinic.ask(COUNT, "early")
    started = clinic.write(jobs.start, "w", ("count",), 10.0)
    clinic.write(jobs.end, started, "w", jobs.Made(b"{}", {}, ""))
    with clinic.engine.connect() as connection:
        (stored,) = connection.exec_driver_sql("SELECT id FROM releases").scalars().all()
    for person in (clinic.ann, clinic.owner):
        assert clinic.read(releases.all_releases, person) == []
        with pytest.raises(jobs.NotFoundError):
            clinic.read(releases.content_of, stored, person)
    clock["at"] += timedelta(seconds=10)
    assert clinic.read(releases.content_of, stored, clinic.ann) == b"{}"


def test_a_clock_that_is_set_back_shows_nothing_earlier_and_returns_nothing(clinic, clock):
    """It fails closed: results come later, the worker waits, and spent stays spent. No job runs twice."""
    clinic.pretend(SCHEMA)
    given = clinic.grant(approve_up_to=1)
    done = clinic.ask(COUNT, "done")
    first = clinic.write(jobs.start, "w", ("count",), 10.0)
    lost = clinic.ask(COUNT, "lost")
    assert clinic.write(jobs.start, "other", ("count",), 10.0).id == lost
    clinic.write(jobs.end, first, "w", jobs.Made(b"{}", {}, ""))
    spent = clinic.standings(given)
    clock["at"] = START + timedelta(seconds=11)
    release = clinic.job(done).release
    assert clinic.read(releases.content_of, release, clinic.ann) == b"{}"
    clock["at"] = START - timedelta(hours=5)
    clinic.write(jobs.settle)
    clinic.write(jobs.expire)
    assert [clinic.job(each).state for each in (done, lost)] == ["running", "running"]
    with pytest.raises(jobs.NotFoundError):
        clinic.read(releases.content_of, release, clinic.ann)
    assert clinic.read(jobs.busy_until, "w") == first.visible_at  # it takes no other job before
    assert clinic.write(jobs.start, "third", ("count",), 10.0) is None
    assert clinic.standings(given) == spent
    clock["at"] = START + timedelta(seconds=11)
    clinic.write(jobs.settle)
    assert [clinic.job(each).state for each in (done, lost)] == ["released", "failed"]
    assert clinic.standings(given) == spent


def test_the_log_of_an_auditor_says_nothing_before_the_slot_is_over(clinic, clock):
    """Not even by a gap in the numbers of its lines."""
    clinic.pretend(SCHEMA)
    clinic.grant(approve_up_to=1)

    def numbers():
        clinic.write(log.write, None, "test", "line")
        return [line.id for line in clinic.read(log.read, for_owner=False)]

    for key, made in (("released", jobs.Made(b"{}", {}, "")), ("failed", None)):
        clock["at"] = START
        clinic.ask(COUNT, key)
        started = clinic.write(jobs.start, "w", ("count",), 10.0)
        before = numbers()
        clinic.write(jobs.end, started, "w", made, "Broken")
        assert numbers()[0] == before[0] + 1, key
        clock["at"] += timedelta(seconds=10)
        clinic.write(jobs.settle)
    causes = [each.detail for each in clinic.read(log.read, for_owner=True) if each.action == "job.cause"]
    assert causes == [{"cause": "Broken"}]


@given(st.sampled_from(["train", "score", "count"]), st.integers(1, 10**7), st.floats(1, 60), st.integers(0, 50))
def test_slots_are_multiples_of_the_least_and_grow_with_the_table(kind, records, least, queries):
    request = {"model": "auto", "queries": [{}] * queries}
    whole = slot(kind, SCHEMA, records, request, least).total_seconds()
    assert abs(whole / least - round(whole / least)) < 1e-6
    assert whole >= least - 1e-6  # times are whole microseconds
    assert slot(kind, SCHEMA, 2 * records, request, least).total_seconds() >= whole
    left = deadline(timedelta(seconds=whole)).total_seconds()
    assert 0 < left < whole


def test_what_no_slot_can_hold_is_refused_before_the_charge(small):
    small.pretend(SCHEMA.replace(records=10**16))
    small.grant(approve_up_to=1)
    with pytest.raises(RequestError, match="more than 7 days"):
        small.ask(COUNT)


def test_drafts_and_snapshots_have_an_hour():
    assert slot("draft", None, None, {}, 10.0) == slot("snapshot", SCHEMA, 5, {}, 10.0) == REGISTRATION


WIDE = Schema([Numeric(f"n{i}", 0, 100) for i in range(15)], "ill", ["no", "yes"], records=20_000)


def train(model, **parameters):
    return {"kind": "train", "model": model, "epsilon": "1", "parameters": parameters}


@pytest.mark.parametrize(
    ("request_", "records", "took"),
    [
        (train("random-forest", n_trees=50, max_depth=10), 400, 13.0 / 4),
        (train("random-forest", n_trees=50, max_depth=10), 20_000, 45.4 / 4),
        (train("random-forest", n_trees=50, max_depth=6, thresholds=1000), 400, 15.7 / 4),
        (train("decision-tree", max_depth=12, thresholds=1000), 20_000, 4.3),
        (train("svm", knots=64), 20_000, 3.2),
        ({**train("decision-tree"), "epsilon": "10000"}, 400, 1.4),
        ({**train("random-forest"), "epsilon": "10000"}, 400, 7.8),
        ({**train("random-forest"), "epsilon": "10000"}, 20_000, 7.7),
        ({"kind": "score", "release": "of 50 trees"}, 10**6, 0.74 + 6.5),
        ({"kind": "count", "choose": {"candidates": [{}] * 4096, "wanted": 64}}, 20_000, 2.5),
    ],
)
def test_a_slot_is_several_times_what_the_largest_requests_took(request_, records, took):
    """Otherwise an asker chooses a request that ends close to its deadline, and learns its time from the outcome."""
    whole = slot(request_["kind"], WIDE, records, request_, 1.0)
    assert deadline(whole).total_seconds() >= 3 * took


CODED = Schema([Numeric("age", 0, 100), Categorical("code", [f"c{i}" for i in range(60_000)])], "ill", ["no", "yes"])
TESTS = [{"column": "age", "between": [0, 1 + number]} for number in range(16)]
BY = [{"column": "age", "bins": 10}, {"column": "ill"}]


@pytest.mark.parametrize(
    ("queries", "records", "took"),
    [
        ([{"where": TESTS}] * 256, 1000, 0.6),
        ([{"where": [{"column": "code", "in": ["c1"] * 256}]}] * 256, 1000, 0.8 + 1.3),
        ([{"where": [{"column": "age", "equals": 3}], "by": BY}] * 256, 10**7, 2.1 + 256 * 10**7 * 4 * 2e-9),
    ],
)
def test_a_slot_is_several_times_what_counts_with_many_predicates_took(queries, records, took):
    request = {"kind": "count", "queries": queries}
    free = slot("count", CODED, records, {"kind": "count", "queries": [{}] * 256}, 1.0)
    whole = slot("count", CODED, records, request, 1.0)
    assert deadline(whole).total_seconds() >= 3 * took
    assert whole > free  # what the asker chose is in it


@pytest.mark.parametrize(("columns", "classes", "model", "took"), [(300, 2, "auto", 4.8), (60, 10, "auto", 2.9),
                                                                  (300, 2, "random-forest", 9.8)])  # fmt: skip
def test_a_slot_is_several_times_what_wide_tables_took(columns, classes, model, took):
    given = [Numeric(f"n{i}", 0, 100) for i in range(columns)]
    schema = Schema(given, "ill", [f"c{i}" for i in range(classes)], records=400)
    whole = slot("train", schema, 400, {**train(model), "epsilon": "10000"}, 1.0)
    assert deadline(whole).total_seconds() >= 3 * took


@given(st.integers(1, MOST["n_trees"]), st.integers(0, 12), st.integers(1, 254))
def test_trees_that_are_accepted_do_not_keep_the_worker_for_long(trees, depth, thresholds):
    content = train("random-forest", n_trees=trees, max_depth=depth, thresholds=thresholds)
    if growing(content, WIDE, 1) > MOST_GROWING:
        with pytest.raises(RequestError, match="take too long"):
            estimator_for(read_request(content), WIDE)
    else:
        estimator_for(read_request(content), WIDE)


def test_a_slot_provides_for_the_stumps_that_a_deep_labelled_tree_compares():
    """With one threshold its questions take no time, and 20 million stumps took 1.4 s."""
    given = [Numeric(f"n{i}", 0, 100) for i in range(20)]
    schema = Schema(given, "ill", [f"c{i}" for i in range(40)], records=2000)
    requests = [train("decision-tree", structure="labelled", max_depth=depth, thresholds=1) for depth in (1, 12)]
    shallow, deep = (growing(each, schema, 1) for each in requests)
    assert deep - shallow >= 4 * 1.2


def test_no_number_of_a_request_breaks_its_slot():
    for odd in (-(10**400), 10**400, True, "auto", None, 0.5):
        assert growing(train("random-forest", n_trees=odd, max_depth=odd, thresholds=odd), WIDE, 10) >= 0
