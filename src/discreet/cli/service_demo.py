"""`discreet service demo`: a service with public data, on which the whole story runs by itself, and then stays."""

from __future__ import annotations

import contextlib
import csv
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from discreet.cli import serving
from discreet.cli.outputs import say, tabulate
from discreet.errors import BudgetError, DiscreetError, ParameterError

TABLE, PROJECT, SOURCE, SLOT = "breast-cancer", "oncology", "table-of-the-clinic", 4.0
PATIENCE = 120.0
"""Seconds to wait for one step before the demo gives up."""
T = TypeVar("T")


@dataclass(frozen=True)
class People:
    """Who takes part: the owner, the analyst of the story, whoever tries it afterwards; passwords and tokens."""

    owner: Any
    analyst: Any
    guest: Any
    passwords: dict[str, str]
    token: str
    guest_token: str


def demo(
    folder: Annotated[
        Path | None, typer.Option(help="Where to keep it; default: a folder that is removed at the end.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen at; 0: any that is free.")] = 0,
    once: Annotated[bool, typer.Option("--once", help="End after the story, instead of serving on.")] = False,
) -> None:
    """Fill a service with public data, and let owner and analyst tell the whole story by themselves.

    A table is registered and its public facts confirmed; an analyst asks for a model, its score and counts; the owner
    approves; the budget runs out, and the refusal says why. Then the service stays, to be looked at in a browser.

    \b
    Example:
      discreet service demo --once
    """
    with contextlib.ExitStack() as kept:
        place = folder or Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="discreet-demo-")))
        if folder is not None and folder.exists() and any(folder.iterdir()):
            raise ParameterError(f"{folder} is not empty; name a new folder")
        settings = serving.settings_of(
            place / "service", None, public_url=f"http://127.0.0.1:{port or _free()}", least_slot=SLOT
        )
        engine = kept.enter_context(_running(settings, place))
        people = _people(engine)
        _tell(settings, engine, people)
        if once:
            return
        say()
        say(f"Look at it: {settings.public_url}")
        for name, password in people.passwords.items():
            say(f"  sign in as {name} with the password {password}")
        say("Ask it from Python or the command line, as Emmy, who may spend ε = 1.5:")
        say(f"export DISCREET_URL={settings.public_url} DISCREET_TOKEN={people.guest_token}")
        say("Stop with Ctrl-C.")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _running(settings: Any, place: Path) -> Iterator[Any]:
    """The web application in a thread, and a worker in a process, with one source that it knows."""
    import uvicorn

    from discreet.cli.beside import beside
    from discreet.service.app import create_app
    from discreet.service.database import open_database
    from discreet.service.source_file import SourceEntry, add_source
    from discreet.service.web.logs import logger

    engine = open_database(settings)
    _write_table(place / "table.csv")
    add_source(settings.worker_folder, SourceEntry(SOURCE, "file", str((place / "table.csv").absolute())))
    with contextlib.ExitStack() as kept:
        lines = kept.enter_context(open(place / "requests.log", "w", encoding="utf-8"))
        port = int(settings.public_url.rpartition(":")[2])
        config = uvicorn.Config(create_app(settings, log=logger(lines)), port=port, access_log=False, log_level="error")
        server = uvicorn.Server(config)
        web = threading.Thread(target=server.run, daemon=True)
        kept.enter_context(beside(settings))
        web.start()
        try:
            _until(lambda: server.started or None, "the service to start")
            yield engine
        finally:
            server.should_exit = True
            web.join(10)
            engine.dispose()


def _write_table(path: Path) -> None:
    from discreet.datasets import built_in

    X, y, schema = built_in(TABLE)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*X, schema.target])
        writer.writerows(zip(*(values.tolist() for values in X.values()), y.tolist(), strict=True))


def _until(look: Callable[[], T | None], what: str) -> T:
    """What `look` finds, once it finds something."""
    end = time.monotonic() + PATIENCE
    while (found := look()) is None:
        if time.monotonic() > end:
            raise DiscreetError(f"waited {PATIENCE:g} s for {what}; is the machine very busy? Try again")
        time.sleep(0.1)
    return found


def _people(engine: Any) -> People:
    from discreet.privacy.accounts import writing
    from discreet.service.people import add_person
    from discreet.service.security.caller import Scope
    from discreet.service.security.secrets import hash_password, new_secret
    from discreet.service.security.sessions import make_token

    passwords = {name: new_secret()[:16] for name in ("ada", "grace", "alan", "emmy")}
    hashes = {name: hash_password(password) for name, password in passwords.items()}
    with writing(engine) as connection:
        owner = add_person(connection, "ada", "Ada, owner", ("owner",), password_hash=hashes["ada"])
        analyst = add_person(
            connection, "grace", "Grace, analyst", ("analyst",), by=owner, password_hash=hashes["grace"]
        )
        add_person(connection, "alan", "Alan, auditor", ("auditor",), by=owner, password_hash=hashes["alan"])
        guest = add_person(connection, "emmy", "Emmy, analyst", ("analyst",), by=owner, password_hash=hashes["emmy"])
        scopes = [Scope.READ, Scope.ASK]
        token, other = (make_token(connection, person.id, "demo", scopes, 1) for person in (analyst, guest))
    return People(owner, analyst, guest, passwords, token.secret, other.secret)


def _tell(settings: Any, engine: Any, people: People) -> None:
    """The story: what the owner does through the functions of the service, and the analyst through the client."""
    from discreet.client import Client

    _register(engine, people.owner)
    say(f"Ada registered {TABLE}, confirmed every public fact, and allows ε = 3 in all.")
    _grant(engine, people)
    say("Grace may spend ε = 1.5; requests up to ε = 0.5 are approved by rule, others by a person.")
    with Client(settings.public_url, people.token) as client:
        table = client.dataset(TABLE)
        _ask_for_model(engine, people, table)
        answers = table.count(by=[table.schema.target], epsilon="0.25", timeout=PATIENCE)
        width = answers.half_width()
        rows = [
            (name, f"{value:,.0f}", f"± {width:.0f}")
            for name, value in zip(answers.cells[0], answers.counts, strict=True)
        ]
        title = "Grace counted, for ε = 0.25 and without waiting for a person"
        tabulate(title, (table.schema.target, "records", "in 95 of 100 answers"), rows, right=("records",))
        try:
            table.train("one-rule", epsilon="0.5", timeout=PATIENCE)
        except BudgetError as error:
            say(f"Grace asked for more, and was refused: {error}")
    _verify(engine)


def _register(engine: Any, owner: Any) -> None:
    from discreet.datasets import built_in
    from discreet.privacy.accounts import reading, writing
    from discreet.service import catalogue, datasets

    def published() -> bool | None:
        with reading(engine) as connection:
            return bool(catalogue.known_sources(connection)) or None

    _until(published, "the worker")
    schema = built_in(TABLE)[2]
    facts = {"title": "Breast cancer", "description": "Tumours measured in Wisconsin: a table that is public."}
    with writing(engine) as connection:
        datasets.open_population(connection, "clinic", 3, schema.adjacency.value, by=owner)
        version = datasets.register(
            connection,
            TABLE,
            population="clinic",
            limit=3,
            source=SOURCE,
            target=schema.target,
            by=owner,
            **facts,
        )

    def in_state(*states: str) -> bool | None:
        with reading(engine) as connection:
            found = catalogue.version_by_id(connection, version.id)
        if found.state == "failed":
            raise DiscreetError("the worker could not read the table; look at the findings of the table")
        return found.state in states or None

    _until(lambda: in_state("drafted"), "the draft of the schema")
    with writing(engine) as connection:
        datasets.confirm(connection, version.id, schema.to_dict(), schema_marks(connection, version.id), by=owner)
    _until(lambda: in_state("ready"), "the snapshot")


def schema_marks(connection: Any, version_id: int) -> list[str]:
    """The entries of the draft, all of which the published schema of this table replaces or confirms."""
    from discreet.service.datasets import to_confirm

    return to_confirm(connection, version_id)


def _grant(engine: Any, people: People) -> None:
    from discreet.privacy.accounts import writing
    from discreet.service import catalogue, projects

    with writing(engine) as connection:
        project = projects.create_project(connection, PROJECT, "Oncology", by=people.owner)
        for person in (people.analyst, people.guest):
            projects.add_member(connection, project.id, person.id, by=people.owner)
        projects.set_project_limit(connection, project.id, "clinic", 3, by=people.owner)
        table = catalogue.dataset_named(connection, TABLE)
        for person, by_rule in ((people.analyst, "0.5"), (people.guest, "1")):
            projects.give_grant(
                connection, project.id, person.id, table.id, "1.5", approve_up_to=by_rule, by=people.owner
            )


def _ask_for_model(engine: Any, people: People, table: Any) -> None:
    from discreet.privacy.accounts import writing
    from discreet.service.jobs import approve

    request = {"kind": "train", "model": "naive-bayes", "epsilon": "1"}
    quoted = table.quote(request)["expected"]
    job = table.train("naive-bayes", epsilon="1", wait=False)
    say(f"Grace asked for a model at ε = 1; expected accuracy {quoted['low']:.0%} to {quoted['high']:.0%}.")
    with writing(engine) as connection:
        approve(connection, job.id, people.owner, "Welcome.")
    say("Ada approved it. The price is spent before data are read, and the answer appears at a time fixed beforehand.")
    job.wait(PATIENCE, progress=lambda _: None)
    scored = table.score(job, epsilon="0.25", timeout=PATIENCE)
    say(f"The model is released. Its accuracy, itself paid for: {scored['accuracy']:.1%}.")


def _verify(engine: Any) -> None:
    from discreet.privacy.accounts import reading
    from discreet.privacy.accounts.verification import verify

    with reading(engine) as connection:
        done = verify(connection)
    entries = sum(each.entries for each in done.populations)
    say(f"The ledger has {entries} entries; {'every one follows from those before it' if done.whole else 'DAMAGED'}.")
