"""A running service for tests in a browser: the web application, a worker, and one table of public data."""

import csv
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from discreet.privacy.accounts import writing
from discreet.service.app import create_app
from discreet.service.database import open_database
from discreet.service.security import links
from discreet.service.settings import Settings
from discreet.service.source_file import SourceEntry, add_source
from discreet.service.web.logs import logger
from discreet.service.worker import Worker


@dataclass
class Running:
    """Where it is, and how its first owner gets in."""

    url: str
    owner_link: str
    settings: Settings


def write_table(path):
    """A table of public data: five columns of scikit-learn's breast cancer, and the diagnosis."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in data.feature_names[:5]]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*names, "size", "diagnosis"])
        for row, label in zip(data.data, data.target, strict=True):
            size = "large" if row[3] > 800 else "middle" if row[3] > 500 else "small"
            writer.writerow([*(f"{value:.4f}" for value in row[:5]), size, data.target_names[label]])


@contextmanager
def running_service(folder, port, *, least_slot=12.0, log=None):
    """A service with a source "clinic-file" and no person yet."""
    folder = Path(folder)
    settings = Settings.of(folder / "service", public_url=f"http://127.0.0.1:{port}", least_slot=least_slot)
    engine = open_database(settings)
    write_table(folder / "table.csv")
    add_source(settings.worker_folder, SourceEntry("clinic-file", "file", str(folder / "table.csv")))
    with writing(engine) as connection:
        secret = links.make_owner_link(connection, settings.link_hours)
    with open(log or folder / "requests.log", "w") as lines:
        app = create_app(settings, log=logger(lines))
        server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", access_log=False))
        web = threading.Thread(target=server.run, daemon=True)
        worker = Worker(settings, engine)
        work = threading.Thread(target=worker.run, daemon=True)
        web.start()
        work.start()
        until = time.monotonic() + 180
        while not server.started:
            assert time.monotonic() < until, "the service did not start"
            time.sleep(0.05)
        try:
            yield Running(settings.public_url, settings.public_url + links.PATH + secret, settings)
        finally:
            worker.stop()
            server.should_exit = True
            web.join(20)
            work.join(20)
            engine.dispose()
