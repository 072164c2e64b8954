"""A service for benchmarks: `discreet serve` as it is run, with a table that is registered through its API."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
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
    web: list[subprocess.Popen[bytes]] = field(default_factory=list)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    keep_workers: bool = True
    adding: threading.Lock = field(default_factory=threading.Lock)

    def client(self, token: str) -> httpx.Client:
        """A client of the API."""
        return httpx.Client(base_url=self.url + "/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)

    def register(self, name: str, data: Path, schema: Schema) -> None:
        """Register a table and let every analyst ask it without waiting for approval."""
        with self.adding:
            add_source(self.folder / "service" / "worker", SourceEntry(name, "file", str(data)))
        with self.client(self.owner) as owner:
            until(lambda: any(each["name"] == name for each in owner.get("/sources").json()))
            body = {"name": name, "title": name, "population": "clinic", "limit": "90000", "source": name}
            done(lambda: owner.post("/datasets", json={**body, "target": schema.target}))
            version = f"/datasets/{name}/versions/1"
            draft = until(lambda: (found := owner.get(f"{version}/draft").json())["state"] == "drafted" and found)
            confirmed = {"schema": schema.to_dict(), "confirmed": draft["to_confirm"]}
            done(lambda: owner.post(f"{version}/confirm", json=confirmed))
            until(lambda: owner.get(f"/datasets/{name}").json()["versions"][0]["state"] == "ready")
            for number in range(len(self.analysts)):
                who = {"project": "study", "person": f"analyst{number}", "dataset": name}
                done(lambda who=who: owner.post("/grants", json={**who, "limit": "9000", "approve_up_to": "9000"}))

    def end_workers_if_not_kept(self) -> None:
        """End the workers after registration, so that what is reserved stays reserved."""
        if not self.keep_workers:
            for each in self.workers:
                _end(each)


def lines(rows: int = 400) -> list[str]:
    """A table of the schema, the same each time."""
    return ["age,sex,smoker,ill"] + [
        f"{20 + number % 70},{'FM'[number % 2]},{'no' if number % 3 else 'yes'},{'no' if number % 4 else 'yes'}"
        for number in range(rows)
    ]


def until(wanted: Callable[[], Any], seconds: float = 600) -> Any:
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
    with started(folder, database=database, analysts=analysts, slot=slot, keep_workers=worker) as made:
        data = folder / "table.csv"
        data.write_text("\n".join(table) + "\n", encoding="utf-8")
        made.register("patients", data, SCHEMA)
        made.end_workers_if_not_kept()
        yield made


@contextmanager
def started(
    folder: Path,
    *,
    database: str | None = None,
    analysts: int = 1,
    slot: float = 4.0,
    workers: int = 1,
    keep_workers: bool = True,
) -> Iterator[Service]:
    """Start a service with people and no table yet."""
    folder.mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = Settings.of(folder / "service", database, public_url=f"http://127.0.0.1:{port}")
    engine = open_database(settings)
    made = Service(settings.public_url, folder, "", keep_workers=keep_workers)
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
        made.web.append(subprocess.Popen(serve, env=environment, stdout=log, stderr=log))
        for number in range(workers):
            run = [*command, "worker", "run", "--name", f"worker{number}"]
            made.workers.append(subprocess.Popen(run, env=environment, stdout=other, stderr=other))
    try:
        _open(made)
        yield made
    finally:
        for each in [*made.web, *made.workers]:
            _end(each)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait(30)


def _runs(made: Service) -> bool:
    if any(each.poll() is not None for each in [*made.web, *made.workers]):
        raise RuntimeError((made.folder / "web.log").read_text() + (made.folder / "worker.log").read_text())
    return True


def _open(made: Service) -> None:
    with made.client(made.owner) as owner:
        until(lambda: _runs(made) and owner.get("/health/ready").is_success)
        done(lambda: owner.post("/populations", json={"name": "clinic", "limit": "90000", "adjacency": "add-remove"}))
        done(lambda: owner.put("/projects/study/limits/clinic", json={"limit": "90000"}))


def done(call: Callable[[], httpx.Response]) -> httpx.Response:
    """The answer of a call that must succeed; after too many requests it is sent again, as the service says."""
    while (answer := call()).status_code == 429:
        time.sleep(float(answer.headers.get("Retry-After", "1")))
    if not answer.is_success:
        raise RuntimeError(answer.text)
    return answer
