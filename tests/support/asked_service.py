"""A service with a real worker and one registered table, as analysts meet it."""

import csv
import os
import threading
import time
from contextlib import contextmanager

from discreet.service import jobs
from discreet.service.source_file import SourceEntry, add_source
from discreet.service.worker import Worker
from support.service_world import Unlimited, world

SLOT = float(os.environ.get("DISCREET_SLOT", "2"))
"""Seconds; on a busy machine, jobs need more."""


def write_table(path, rows=600):
    """A table whose target follows one column."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "sex", "smoker", "ill"])
        for number in range(rows):
            smoker = "yes" if number % 3 == 0 else "no"
            writer.writerow([20 + number % 60, "FM"[number % 2], smoker, smoker])


def until(wanted, seconds=180):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not (found := wanted()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


@contextmanager
def working(service):
    """A worker in a thread, on a connection of its own."""
    worker = Worker(service.settings, service.engine)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        worker.stop()
        thread.join(60)


def register(service):
    """All that an owner does, by the API alone."""
    with service.client("olga") as owner:
        until(lambda: any(each["name"] == "table" for each in owner.get("/sources").json()))
        body = {"name": "smokers", "title": "Smokers", "population": "clinic", "limit": "50", "source": "table"}
        assert owner.post("/datasets", json={**body, "target": "ill"}).status_code == 201
        address = "/datasets/smokers/versions/1"
        draft = until(lambda: (found := owner.get(f"{address}/draft").json())["state"] == "drafted" and found)
        schema = {**draft["draft"], "records": 600}
        done = owner.post(f"{address}/confirm", json={"schema": schema, "confirmed": draft["to_confirm"]})
        assert done.status_code == 200, done.text
        until(lambda: owner.get("/datasets/smokers").json()["versions"][0]["state"] == "ready")
        grant = {"project": "study", "person": "ana", "dataset": "smokers", "limit": "20", "approve_up_to": "5"}
        assert owner.post("/grants", json=grant).status_code == 201


@contextmanager
def asked_service(folder):
    """The service, with the data set "smokers", which ana may ask without waiting up to an epsilon of 5."""
    write_table(folder / "table.csv")
    with world(folder / "service", rates=Unlimited(), least_slot=SLOT) as made:
        with made.writing() as connection:  # the jobs that the world made for other tests are not for this worker
            jobs.cancel(connection, made.facts["reserved_job"], made.people["ana"])
        add_source(made.settings.worker_folder, SourceEntry("table", "file", str(folder / "table.csv")))
        with working(made):
            register(made)
            yield made
