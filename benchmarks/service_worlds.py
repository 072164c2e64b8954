"""A service for benchmarks: `discreet serve` as it is run, with a table that is registered through its API."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from discreet import Categorical, Numeric, Schema
from discreet.privacy.accounts import writing
from discreet.service import people, projects
from discreet.service.database import open_database
from discreet.service.security import sessions
from discreet.service.security.caller import Scope
from discreet.service.settings import Settings
from discreet.service.source_file import SourceEntry, add_source

SCHEMA = Schema(
    [Numeric("age", 0, 100), Categorical("sex", ["F", "M"]), Categorical("smoker", ["no", "yes"])],
    target="ill",
    classes=["no", "yes"],
    records=400,
)


@dataclass
class Service:
    """A running service: its address, the owner's token, and tokens of analysts who may ask the data set `patients`."""

    url: str
    folder: Path
    owner: str
    analysts: list[str] = field(default_factory=list)

    def client(self, token: str) -> httpx.Client:
        """A client of the API."""
        return httpx.Client(base_url=self.url + "/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)


def lines(rows: int = 400) -> list[str]:
    """A table of the schema, the same each time."""
    return ["age,sex,smoker,ill"] + [
        f"{20 + number % 70},{'FM'[number % 2]},{'no' if number % 3 else 'yes'},{'no' if number % 4 else 'yes'}"
        for number in range(rows)
    ]


def until(wanted: Callable[[], Any], seconds: float = 120) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + seconds
    while True:
        try:
            if found := wanted():
                return found
        except httpx.TransportError:
            pass
        if time.monotonic() > end:
            raise TimeoutError("the service did not get ready")
        time.sleep(0.2)


@contextmanager
def service(
    folder: Path,
    table: Sequence[str],
    *,
    database: str | None = None,
    analysts: int = 1,
    slot: float = 4.0,
    worker: bool = True,
) -> Iterator[Service]:
    """Start a service over this table, register it, and let analysts ask it without waiting for approval."""
    folder.mkdir(parents=True)
    data = folder / "table.csv"
    data.write_text("\n".join(table) + "\n", encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = Settings.of(folder / "service", database, public_url=f"http://127.0.0.1:{port}")
    engine = open_database(settings)
    add_source(settings.worker_folder, SourceEntry("table", "file", str(data)))
    made = Service(settings.public_url, folder, "")
    with writing(engine) as connection:
        owner = people.add_person(connection, "owner", "Owner", ("owner",))
        made.owner = sessions.make_token(connection, owner.id, "benchmark", Scope, 1).secret
        project = projects.create_project(connection, "study", "Study", by=owner)
        for number in range(analysts):
            person = people.add_person(connection, f"analyst{number}", "Analyst", ("analyst",), by=owner)
            projects.add_member(connection, project.id, person.id, by=owner)
            made.analysts.append(sessions.make_token(connection, person.id, "benchmark", Scope, 1).secret)
    engine.dispose()
    environment = {**os.environ, "DISCREET_FOLDER": str(settings.folder), "DISCREET_SLOT": str(slot)}
    environment |= {"DISCREET_DATABASE": database} if database else {}
    command = [sys.executable, "-m", "discreet.cli"]
    with (folder / "web.log").open("w") as log, (folder / "worker.log").open("w") as other:
        serve = [*command, "serve", "--port", str(port), "--no-worker"]
        web = subprocess.Popen(serve, env=environment, stdout=log, stderr=log)
        behind = subprocess.Popen([*command, "worker", "run"], env=environment, stdout=other, stderr=other)
    try:
        _register(made, analysts)
        if not worker:
            _end(behind)
        yield made
    finally:
        _end(web)
        _end(behind)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait(30)


def _register(made: Service, analysts: int) -> None:
    with made.client(made.owner) as owner:
        until(lambda: owner.get("/health/ready").is_success)
        until(lambda: owner.get("/sources").json())
        _done(owner.post("/populations", json={"name": "clinic", "limit": "10000", "adjacency": "add-remove"}))
        body = {"name": "patients", "title": "Patients", "population": "clinic", "limit": "10000", "source": "table"}
        _done(owner.post("/datasets", json={**body, "target": "ill"}))
        version = "/datasets/patients/versions/1"
        draft = until(lambda: (found := owner.get(f"{version}/draft").json())["state"] == "drafted" and found)
        confirmed = {"schema": SCHEMA.to_dict(), "confirmed": draft["to_confirm"]}
        _done(owner.post(f"{version}/confirm", json=confirmed))
        until(lambda: owner.get("/datasets/patients").json()["versions"][0]["state"] == "ready")
        _done(owner.put("/projects/study/limits/clinic", json={"limit": "10000"}))
        for number in range(analysts):
            who = {"project": "study", "person": f"analyst{number}", "dataset": "patients"}
            _done(owner.post("/grants", json={**who, "limit": "1000", "approve_up_to": "1000"}))


def _done(answer: httpx.Response) -> None:
    if not answer.is_success:
        raise RuntimeError(answer.text)
