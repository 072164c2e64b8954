"""A service for tests, with people of every kind, on a real server on loopback; no worker, its part is played here."""

import io
import json
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import uvicorn
from sqlalchemy import update

from discreet import Categorical, Numeric, OneRule, Schema
from discreet.models.saving import to_dict
from discreet.privacy.accounts import writing
from discreet.service import catalogue, datasets, jobs, people, projects
from discreet.service.app import create_app
from discreet.service.clock import now
from discreet.service.database import open_database
from discreet.service.jobs import Made
from discreet.service.security import sessions
from discreet.service.security.caller import Scope
from discreet.service.security.secrets import hash_password
from discreet.service.settings import Settings
from discreet.service.tables import jobs as job_rows
from discreet.service.tables import releases as release_rows
from discreet.service.tables import tokens, versions
from discreet.service.web.logs import logger
from discreet.service.web.rates import Rates

PASSWORD = "a long enough password"
SCHEMA = Schema(
    [Numeric("age", 0, 100), Categorical("sex", ["F", "M"])], target="ill", classes=["no", "yes"], records=200
)
COUNT = {"kind": "count", "epsilon": "1/10", "queries": [{"where": [{"column": "sex", "equals": "F"}], "by": []}]}
TRAIN = {"kind": "train", "model": "one-rule", "epsilon": "1/10"}


class Unlimited(Rates):
    """No rate limits, for tests that send much."""

    def wait(self, what, who, rate):
        """Always at once."""
        return 0.0


@dataclass
class World:
    """The service, its address, a token for each kind of person, and what there is to ask for."""

    settings: Settings
    engine: Any
    app: Any
    url: str
    log: io.StringIO
    tokens: dict[str, str] = field(default_factory=dict)
    people: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    clients: list[Any] = field(default_factory=list)

    def client(self, who=None, **headers):
        """A client of the API for a person; None is nobody."""
        if who is not None:
            headers["Authorization"] = f"Bearer {self.tokens[who]}"
        self.clients.append(httpx.Client(base_url=self.url + "/api/v1", headers=headers, timeout=120))
        return self.clients[-1]

    def writing(self):
        """A transaction."""
        return writing(self.engine)


def free_port():
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def served(app, port):
    """The application on a real server in a thread."""
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_config=None, access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield
    finally:
        server.should_exit = True
        thread.join(10)


@contextmanager
def world(folder, database=None, schema=SCHEMA, rates=None, **settings):
    """A service with an owner, analysts with and without a grant, an auditor, and somebody disabled."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = Settings.of(folder, database, public_url=url, **settings)
    engine = open_database(settings)
    log = io.StringIO()
    app = create_app(settings, log=logger(log), rates=rates)
    made = World(settings, engine, app, url, log)
    try:
        _fill(made, schema)
        with served(app, port):
            yield made
    finally:
        for client in made.clients:
            client.close()
        app.state.context.engine.dispose()
        engine.dispose()


def _fill(made, schema):
    with made.writing() as connection:
        owner = people.add_person(connection, "olga", "Olga", ("owner",), password_hash=hash_password(PASSWORD))
        roles = {"ana": ("analyst",), "bob": ("analyst",), "aud": ("auditor",), "dis": ("analyst",)}
        made.people = {"olga": owner} | {
            name: people.add_person(connection, name, name.title(), role, by=owner) for name, role in roles.items()
        }
        for name, person in made.people.items():
            made.tokens[name] = sessions.make_token(connection, person.id, "test", Scope, 1).secret
        _bad_tokens(connection, made)
        people.disable(connection, made.people["dis"].id, by=owner)
        _register(connection, made, owner, schema)
        _grant(connection, made, owner)


def _bad_tokens(connection, made):
    """Tokens that were in force, or never were."""
    ana = made.people["ana"].id
    for name in ("expired", "revoked", "narrow"):
        scopes = [Scope.METRICS] if name == "narrow" else Scope
        token = sessions.make_token(connection, ana, name, scopes, 1)
        made.tokens[name] = token.secret
        gone = {"expired": {"expires_at": now() - timedelta(seconds=1)}, "revoked": {"revoked_at": now()}}.get(name)
        if gone:
            connection.execute(update(tokens).where(tokens.c.id == token.id).values(**gone))
    made.tokens["forged"] = "dsc_" + "A" * 43


def _register(connection, made, owner, schema):
    datasets.open_population(connection, "clinic", "100", "add-remove", by=owner)
    datasets.publish_sources(connection, [("visits", "file", "a file")])
    common = {"description": "", "population": "clinic", "limit": "100", "source": "visits", "target": schema.target}
    version = datasets.register(connection, "patients", title="Patients", by=owner, **common)
    make_ready(connection, version.id, schema)
    datasets.register(connection, "drafting", title="Not ready yet", by=owner, **common)


def make_ready(connection, version_id, schema):
    """What registration leads to, without a worker."""
    values = {"schema": schema.to_dict(), "schema_hash": schema.hash, "records_declared": schema.records}
    connection.execute(
        update(versions).where(versions.c.id == version_id).values(state="ready", snapshot_hash="0" * 64, **values)
    )
    connection.execute(update(job_rows).where(job_rows.c.version_id == version_id).values(state="released"))


def _grant(connection, made, owner):
    project = projects.create_project(connection, "study", "Study", by=owner)
    projects.set_project_limit(connection, project.id, "clinic", "100", by=owner)
    dataset = catalogue.dataset_named(connection, "patients")
    ana, bob = made.people["ana"], made.people["bob"]
    projects.add_member(connection, project.id, ana.id, by=owner)
    grant = projects.give_grant(connection, project.id, ana.id, dataset.id, "50", approve_up_to="0.2", by=owner)
    made.facts = {"project": project.id, "grant": grant.id, "account": grant.account, "bob": bob.id, "ana": ana.id}
    made.facts["released_job"], made.facts["release"] = release_model(connection, made, ana)
    made.facts["reserved_job"] = jobs.submit(connection, ana, "patients", TRAIN, "reserved")[0]
    big = {**TRAIN, "epsilon": "1"}
    made.facts["requested_job"] = jobs.submit(connection, ana, "patients", big, "requested")[0]


def release_model(connection, made, person):
    """A job that has run, and the model that it released."""
    job, _ = jobs.submit(connection, person, "patients", TRAIN, "released")
    started = jobs.start(connection, "test", ["train"], 10.0)
    model = OneRule(SCHEMA, epsilon=0.1, random_state=0).fit(
        {"age": [20, 70] * 50, "sex": ["F", "M"] * 50}, ["no", "yes"] * 50
    )
    content = json.dumps(to_dict(model)).encode()
    jobs.end(connection, started, "test", Made(content, to_dict(model)["card"], "0" * 64))
    past = now() - timedelta(seconds=1)
    connection.execute(update(job_rows).where(job_rows.c.id == job).values(visible_at=past))
    connection.execute(update(release_rows).where(release_rows.c.job_id == job).values(visible_at=past))
    jobs.settle(connection)
    found = connection.execute(release_rows.select().where(release_rows.c.job_id == job)).one()
    return job, found.id
