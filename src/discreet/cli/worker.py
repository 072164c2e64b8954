"""`discreet worker`: runs the jobs of a service, and knows where its data are."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, serving
from discreet.cli.beside import BESIDE, PATIENCE
from discreet.cli.outputs import emit, say, tabulate
from discreet.errors import ParameterError


def run(
    folder: serving.Folder = serving.DEFAULT_FOLDER,
    database: serving.Database = None,
    slot: serving.Slot = serving.DEFAULT_SLOT,
    memory: serving.Memory = None,
    name: Annotated[str, typer.Option(help="A name of this worker's own, if there are several.")] = "worker",
) -> None:
    """Run jobs that were approved and paid, one at a time, until stopped.

    Run it under an account of its own, with a folder that no other account can read: it holds the snapshots, and the
    list of sources with their passwords. It has no port that others could reach.

    \b
    Example:
      discreet worker run --folder /srv/discreet --database postgresql://host/discreet --name worker-1
    """
    settings = serving.settings_of(folder, database, least_slot=slot, job_memory=memory, worker_name=name)
    from discreet.privacy.opendp_sampler import check_opendp
    from discreet.records.duckdb_engine import duckdb_module
    from discreet.service.alone import alone
    from discreet.service.database import open_database
    from discreet.service.worker import Worker

    check_opendp()  # each job would be refused by its own process, but only after its price was spent
    duckdb_module()

    is_beside = os.environ.get(BESIDE) == "1"
    with alone(settings.worker_folder, name, TURN if is_beside else 0.0):
        engine = open_database(settings)
        worker = Worker(settings, engine)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, worker.stop)
        if is_beside:
            threading.Thread(target=_end_with_parent, args=(worker,), name="parent", daemon=True).start()
        try:
            worker.run()
        finally:
            worker.close()
            engine.dispose()


TURN = PATIENCE + 5.0
"""Seconds that the worker of a service waits for the one of a service that was killed before, which is about to end."""


def _end_with_parent(worker: Any) -> None:
    """End when the parent has: in order if that is in time. What was spent for the job at hand stays spent."""
    while os.read(0, 1):
        pass
    worker.stop()
    time.sleep(PATIENCE)
    os._exit(1)


def add(
    name: Annotated[str, typer.Argument(help="The name that owners see.", show_default=False)],
    file: Annotated[Path | None, typer.Option(help="A .csv or .parquet file, or a folder of the latter.")] = None,
    duckdb: Annotated[Path | None, typer.Option(help="A .duckdb file.")] = None,
    postgres: Annotated[
        str | None, typer.Option(help="The address of a database; - reads it from standard input.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="The table, of a database.")] = None,
    describe: Annotated[str, typer.Option(help="What owners are told about it.")] = "",
    folder: serving.Folder = serving.DEFAULT_FOLDER,
) -> None:
    """Add a source: a table that owners can register. Where it is stays in the worker's folder.

    \b
    Examples:
      discreet worker sources add visits --file /data/visits.parquet
      discreet worker sources add registry --postgres - --table public.patients < address.txt
    """
    settings = serving.settings_of(folder, None)
    from discreet.service.source_file import SourceEntry, add_source

    given = [(kind, place) for kind, place in (("file", file), ("duckdb", duckdb), ("postgres", postgres)) if place]
    if len(given) != 1:
        raise ParameterError("name one place: --file PATH, --duckdb PATH or --postgres ADDRESS")
    kind, place = given[0]
    if kind != "postgres" and not Path(place).exists() and not set("*?[") & set(str(place)):
        raise ParameterError(f"cannot read {place}: no such file; check the path")
    where = sys.stdin.readline().strip() if str(place) == "-" else str(place)
    absolute = where if kind == "postgres" else str(Path(where).absolute())
    add_source(settings.worker_folder, SourceEntry(name, kind, absolute, table, describe))
    say(f"Owners can register {name} now. Where it is, only this worker knows.")


def listing(folder: serving.Folder = serving.DEFAULT_FOLDER, as_json: options.Json = False) -> None:
    """List the sources: names, kinds and what owners are told; not where they are.

    \b
    Example:
      discreet worker sources list --folder /srv/discreet
    """
    settings = serving.settings_of(folder, None)
    from discreet.service.source_file import described, read_sources

    found = sorted(read_sources(settings.worker_folder).values(), key=lambda each: each.name)
    if as_json:
        emit([{"name": each.name, "kind": each.kind, "described": described(each)} for each in found])
        return
    rows = [[each.name, each.kind, described(each)] for each in found]
    tabulate(f"{len(rows)} sources", ["name", "kind", "what owners are told"], rows)


listing.__name__ = "list"
