"""`discreet audit URL`: a running service is asked about two neighbouring data sets, as by any analyst."""

import csv

import pytest

from discreet.audit import audit
from discreet.audit.samples import Samples
from discreet.audit.structure import Structure
from discreet.service import datasets, jobs, projects
from discreet.service.source_file import SourceEntry, add_source
from support.asked_service import until, working
from support.service_world import Unlimited, world

NAMES = ("with", "without")
COUNT = {"kind": "count", "queries": [{"where": [], "by": [{"column": "ill"}]}]}
TRAIN = {"kind": "train", "model": "naive-bayes"}


def write(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sex", "ill"])
        writer.writerows(["FM"[number % 2], "yes" if number % 3 == 0 else "no"] for number in range(rows))


def register(service, name):
    """A data set that ana may ask often."""
    with service.client("olga") as owner:
        until(lambda: any(each["name"] == name for each in owner.get("/sources").json()))
        body = {"name": name, "title": name, "population": "trial", "limit": "10000", "source": name, "target": "ill"}
        assert owner.post("/datasets", json=body).status_code == 201
        address = f"/datasets/{name}/versions/1"
        draft = until(lambda: (found := owner.get(f"{address}/draft").json())["state"] == "drafted" and found)
        schema = {**draft["draft"], "records": 60}
        done = owner.post(f"{address}/confirm", json={"schema": schema, "confirmed": draft["to_confirm"]})
        assert done.status_code == 200, done.text
        until(lambda: owner.get(f"/datasets/{name}").json()["versions"][0]["state"] == "ready")
        grant = {"project": "study", "person": "ana", "dataset": name, "limit": "10000", "approve_up_to": "50"}
        assert owner.post("/grants", json=grant).status_code == 201


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audited")
    with world(folder / "service", rates=Unlimited(), least_slot=0.2) as made:
        with made.writing() as connection:
            jobs.cancel(connection, made.facts["reserved_job"], made.people["ana"])
            datasets.open_population(connection, "trial", "100000", "add-remove", by=made.people["olga"])
            project = made.facts["project"]
            projects.set_project_limit(connection, project, "trial", "100000", by=made.people["olga"])
        for name, rows in zip(NAMES, (61, 60), strict=True):
            write(folder / f"{name}.csv", rows)
            add_source(made.settings.worker_folder, SourceEntry(name, "file", str(folder / f"{name}.csv")))
        with working(made):
            for name in NAMES:
                register(made, name)
            yield made


def asked(service, monkeypatch, request, epsilon, claim, runs):
    monkeypatch.setenv("DISCREET_TOKEN", service.tokens["ana"])
    parameters = {"datasets": list(NAMES), "request": {**request, "epsilon": str(epsilon)}}
    stages = [Structure(), Samples()]
    return audit(service.url, claim, parameters=parameters, minutes=10, most_runs=runs, stages=stages, seed=0)


@pytest.mark.parametrize("request_", [COUNT, TRAIN], ids=["count", "train"])
def test_a_service_that_charges_what_it_states_is_not_refuted(service, monkeypatch, request_):
    report = asked(service, monkeypatch, request_, 1, 1.0, 12)
    assert not report.refuted, report.verdict()
    assert report.runs >= 12


@pytest.mark.slow
def test_a_claim_below_what_was_asked_for_is_refuted(service, monkeypatch):
    report = asked(service, monkeypatch, COUNT, 20, 0.5, 150)
    assert report.refuted
    assert "the data sets 'with' and 'without'" in report.findings[0].pair.words
