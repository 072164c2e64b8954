"""`discreet serve`: the service on this machine, with pages, API and a worker of its own."""

from __future__ import annotations

import contextlib
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import serving
from discreet.cli.beside import beside
from discreet.cli.outputs import advise, say
from discreet.errors import ParameterError


def serve(
    folder: serving.Folder = serving.DEFAULT_FOLDER,
    database: serving.Database = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen at.")] = 8000,
    public_url: Annotated[
        str | None, typer.Option(help="Where people reach the service, if through a proxy.", show_default=False)
    ] = None,
    slot: serving.Slot = serving.DEFAULT_SLOT,
    memory: serving.Memory = None,
    worker: Annotated[bool, typer.Option("--worker/--no-worker", help="Start a worker, too.")] = True,
    oidc_issuer: Annotated[str | None, typer.Option(help="Sign-on by OpenID Connect: the issuer.")] = None,
    oidc_client: Annotated[str | None, typer.Option(help="The client's name at the issuer.")] = None,
    oidc_secret_file: Annotated[Path | None, typer.Option(help="A file with the client's secret.")] = None,
) -> None:
    """Serve models, scores and counts to analysts who never see a row, within limits that owners set.

    Without options everything is kept in one folder (SQLite), and a worker runs beside the pages. At the first start a
    link is printed, once, by which the owner makes an account. For many users give --database and run `discreet worker
    run` elsewhere, under an account of its own: only the worker needs to reach the data.

    \b
    Examples:
      discreet serve
      discreet serve --database postgresql://host/discreet --no-worker --public-url https://privacy.example.org
    """
    settings = serving.settings_of(
        folder,
        database,
        public_url=(public_url or f"http://{_named(host)}:{port}").rstrip("/"),
        least_slot=slot,
        job_memory=memory,
        with_worker=worker,
        oidc_issuer=oidc_issuer,
        oidc_client=oidc_client,
        oidc_secret_file=oidc_secret_file,
    )
    if host not in ("127.0.0.1", "localhost", "::1") and not settings.public_url.startswith("https://"):
        advise(
            "Others can reach this address without encryption; put a proxy with https in front: --public-url https://…"
        )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the default one would end this process, and not the worker
    prepare(settings)
    with beside(settings) if worker else contextlib.nullcontext():
        say(f"Serving at {settings.public_url}; stop with Ctrl-C.")
        run_web(settings, host, port)


def _named(host: str) -> str:
    return f"[{host}]" if ":" in host else "127.0.0.1" if host == "0.0.0.0" else host


def prepare(settings: Any) -> None:
    """Make or update the tables; if there is no owner, print the link that makes one."""
    from discreet.privacy.accounts import reading
    from discreet.service.database import open_database
    from discreet.service.people import has_owner

    engine = open_database(settings)
    try:
        with reading(engine) as connection:
            owned = has_owner(connection)
        if not owned:
            say(f"Become the owner, once, within {settings.link_hours:g} hours: {owner_link(settings, engine)}")
    finally:
        engine.dispose()


def owner_link(settings: Any, engine: Any) -> str:
    """A link that makes an owner; whoever has it first is one."""
    from discreet.privacy.accounts import writing
    from discreet.service.security.links import PATH, make_owner_link

    with writing(engine) as connection:
        secret = make_owner_link(connection, settings.link_hours)
    return f"{settings.public_url}{PATH}{secret}"


KEEP_ALIVE = 75
"""Seconds for which an idle connection stays open: longer than clients keep theirs, so that none is closed while a
request is on its way."""
SWITCH = 0.001
"""Seconds after which a thread that computes lets others go on. A thread that holds the lock of a population's chain
waits so long after each answer of the database; with Python's 0.005 s, others of that population wait for it."""


def run_web(settings: Any, host: str, port: int) -> None:
    """Run the web process until it is stopped."""
    import uvicorn

    from discreet.service.app import create_app

    sys.setswitchinterval(SWITCH)
    web = create_app(settings)
    try:
        uvicorn.run(
            web,
            host=host,
            port=port,
            access_log=False,
            log_level="warning",
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE,
        )
    except SystemExit as ended:
        if ended.code:
            raise ParameterError(f"cannot listen at {host}:{port}; choose another --port") from None
