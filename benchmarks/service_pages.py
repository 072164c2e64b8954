"""How long pages take with a long history: a database of many jobs, one web application, pages asked in turn.

    python benchmarks/service_pages.py --jobs 1000000

Public, made-up jobs; no worker runs. With `--folder` the database stays there, and is used again if it is there,
so that pages can be measured when the machine is quiet. The bar: 95 of 100 pages in less than 0.2 s at a million jobs.
"""

import argparse
import contextlib
import json
import statistics
import tempfile
import time
import uuid
from datetime import UTC, datetime, timedelta

from fastapi.testclient import TestClient
from sqlalchemy import insert

from discreet import Categorical, Numeric, Schema
from discreet.privacy.accounts import reading, writing
from discreet.service import catalogue, datasets, people, projects
from discreet.service.app import create_app
from discreet.service.database import open_database
from discreet.service.security import sessions
from discreet.service.settings import Settings
from discreet.service.tables import jobs, releases, versions
from discreet.service.tables import log as lines

SCHEMA = Schema(
    [Numeric(f"measure-{place}", 0, 100) for place in range(20)] + [Categorical("sex", ["F", "M"])],
    "ill",
    ["no", "yes"],
    records=100_000,
)
OWNER = ("/inbox", "/jobs", "/releases", "/tables", "/projects", "/people", "/limits", "/ledger", "/log")
ANALYST = ("/catalogue", "/jobs", "/releases", "/budget", "/ask/patients/train", "/ask/patients/count")
STATES = ("released", "failed", "refused", "cancelled", "expired")
PART = 20_000


def fill(engine, number, analysts):
    """People, a table, grants, and a history of jobs; nearly all have ended, and a few hundred wait."""
    with writing(engine) as connection:
        owner = people.add_person(connection, "owner", "Owner", ("owner",))
        datasets.open_population(connection, "clinic", 100_000, "add-remove", by=owner)
        datasets.publish_sources(connection, [("visits", "file", "")])
        facts = {"population": "clinic", "limit": 100_000, "source": "visits", "target": "ill"}
        version = datasets.register(connection, "patients", title="Patients", description="", by=owner, **facts)
        ready = {"state": "ready", "schema": SCHEMA.to_dict(), "schema_hash": SCHEMA.hash, "records_declared": 100_000}
        connection.execute(versions.update().where(versions.c.id == version.id).values(**ready))
        project = projects.create_project(connection, "study", "Study", by=owner)
        projects.set_project_limit(connection, project.id, "clinic", 100_000, by=owner)
        table = catalogue.dataset_named(connection, "patients")
        held = []
        for place in range(analysts):
            person = people.add_person(connection, f"analyst-{place}", f"Analyst {place}", ("analyst",), by=owner)
            projects.add_member(connection, project.id, person.id, by=owner)
            held.append((person, projects.give_grant(connection, project.id, person.id, table.id, 10, by=owner)))
    began = datetime.now(UTC) - timedelta(days=365)
    for start in range(0, number, PART):
        rows = [row(place, number, began, held, version.id) for place in range(start, min(start + PART, number))]
        released = [
            {
                "id": str(uuid.uuid4()),
                "job_id": each["id"],
                "kind": "count",
                "content": b"{}",
                "content_hash": "0" * 64,
                "card": {},
                "visible_at": each["visible_at"],
            }
            for each in rows
            if each["state"] == "released"
        ]
        notes = [
            {"at": each["created_at"], "person_id": each["person_id"], "action": "job.requested", "subject": each["id"]}
            | {"detail": {"kind": "count", "epsilon": "1/1000"}, "owner_only": False}
            for each in rows
        ]
        with writing(engine) as connection:
            for target, content in ((jobs, rows), (releases, released), (lines, notes)):
                connection.execute(insert(target), content)
    return owner, held[0][0]


def known(engine):
    """The owner and the first analyst of a database that was filled before; None if it is empty."""
    with reading(engine) as connection:
        found = {each.name: each for each in people.all_people(connection)}
    return (found["owner"], found["analyst-0"]) if found else None


def row(place, number, began, held, version):
    """One job of the history."""
    person, grant = held[place % len(held)]
    at = began + timedelta(seconds=place)
    state = "requested" if number - place <= 300 else STATES[place % len(STATES)]
    return {
        "id": str(uuid.uuid4()),
        "kind": "count",
        "person_id": person.id,
        "grant_id": grant.id,
        "version_id": version,
        "request": {"kind": "count", "epsilon": "1/1000", "queries": [{"where": [], "by": [{"column": "sex"}]}]},
        "request_hash": "0" * 64,
        "idempotency_key": str(place),
        "epsilon": "1/1000",
        "nano": 1_000_000,
        "state": state,
        "created_at": at,
        "expires_at": at + timedelta(days=800),
        "decided_at": at,
        "note": "",
        "visible_at": at,
        "outcome": state if state in ("released", "failed") else None,
    }


def measure(settings, engine, person, paths, times):
    """Seconds of each page, by path."""
    with writing(engine) as connection:
        secret = sessions.open_session(connection, person.id, 1.0).secret
    with TestClient(create_app(settings, log=Quiet()), cookies={"discreet_session": secret}) as client:
        found = {}
        for path in paths:
            client.get(path)
            taken = []
            for _ in range(times):
                begun = time.perf_counter()
                answer = client.get(path)
                taken.append(time.perf_counter() - begun)
                assert answer.status_code == 200, (path, answer.status_code)
            found[path] = taken
    return found


class Quiet:
    """A log that writes nothing."""

    def info(self, *_, **__):
        """Nothing."""

    error = info


def main():
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--analysts", type=int, default=100)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--database", help="postgresql://…; default: SQLite in a temporary folder")
    parser.add_argument("--folder", help="keep the database here; default: a temporary folder")
    asked = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = asked.folder or stack.enter_context(tempfile.TemporaryDirectory())
        settings = Settings.of(folder, asked.database)
        engine = open_database(settings)
        owner, analyst = known(engine) or fill(engine, asked.jobs, asked.analysts)
        if not asked.times:
            return
        print(f"{asked.jobs:,} jobs of {asked.analysts} analysts; seconds of {asked.times} visits:")
        everything = []
        for person, paths in ((owner, OWNER), (analyst, ANALYST)):
            for path, taken in measure(settings, engine, person, paths, asked.times).items():
                everything += taken
                print(f"  {person.name:<12} {path:<22} median {statistics.median(taken):.3f}  most {max(taken):.3f}")
        p95 = statistics.quantiles(everything, n=20)[-1]
        print(json.dumps({"jobs": asked.jobs, "pages": len(everything), "p95": round(p95, 4)}))
        engine.dispose()


if __name__ == "__main__":
    main()
