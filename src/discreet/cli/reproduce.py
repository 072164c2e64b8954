"""`discreet reproduce`: make the tables and figures of a paper again, and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet import __version__
from discreet.cli import options
from discreet.cli.outputs import advise, emit, say, tabulate
from discreet.cli.progress import progress_bars, resumable
from discreet.errors import ParameterError

PAPERS = ("lopuhaa2021", "zorarpaci2019", "vaidya2013", "zafarani2020", "marchioro2022")
"""The names of the studies, written here so that --help does not load them."""


def reproduce(
    paper: Annotated[str, typer.Argument(help=f"One of: {', '.join(PAPERS)}.", show_default=False)],
    out: options.FolderOut,
    full: Annotated[
        bool, typer.Option("--full", help="Everything in the paper: 10 to 40 minutes on two cores.")
    ] = False,
    directory: options.DataFolder = None,
    jobs: options.Jobs = 1,
    as_json: options.Json = False,
) -> None:
    """Make the tables and figures of a paper again, as published and with our guarantees, beside its printed figures.

    Without --full only the quick part is run: fewer repeats on small data, under two minutes per paper. With --full it
    takes 10 to 40 minutes on two cores (--jobs 2). Needs matplotlib: pip install 'discreet[plot]'. Each run is kept as
    soon as it ends; if the command is stopped and started again, it goes on from there. Writes report.html (one file
    that needs no network), report.md and pictures. Uses public data only.

    \b
    Examples:
      discreet reproduce vaidya2013 --out vaidya
      discreet reproduce lopuhaa2021 --full --jobs 2 --out lopuhaa
    """
    from discreet.research.report.folder import write_report
    from discreet.research.reproduce import STUDIES
    from discreet.research.reproduce import run as runs

    if paper not in STUDIES:
        raise ParameterError(f"paper {paper!r} is not known; need one of: {', '.join(STUDIES)}")
    place = None if directory is None else str(directory)
    advise(runs.PUBLIC)
    with resumable(out), progress_bars() as progress:
        done = runs.reproduce(
            STUDIES[paper](), out, version=__version__, full=full, directory=place, jobs=jobs, progress=progress
        )
    written = write_report(done.document, out)
    runs.write_cells(done.found, out / "cells.csv")
    for remark in done.remarks:
        advise(remark)
    if done.absent:
        advise(f"Left out, since they are not on this machine: {', '.join(done.absent)}")
    for run, message in done.failures[:5]:
        advise(f"{run.model} at epsilon {run.epsilon} on {run.data} failed: {message}")
    if len(done.failures) > 5:
        advise(f"{len(done.failures) - 5} more runs failed")
    if as_json:
        emit(_report(done, [*written, out / "cells.csv"]))
        return
    rows = [["✓" if holds else "✗", what] for what, holds in done.checks.items()]
    if rows:
        tabulate("What was found", ["", "statement"], rows)
    say(f"Written: {out / 'report.html'}, {out / 'report.md'}, {out / 'cells.csv'} and {len(written) - 2} pictures")


def _report(done: Any, written: list[Path]) -> dict[str, Any]:
    return {
        "title": done.document.title,
        "origin": done.document.origin,
        "checks": dict(done.checks),
        "cells": {name: [cell._asdict() for cell in own] for name, own in done.found.items()},
        "failures": [{**each.run._asdict(), "message": each.message} for each in done.failures],
        "absent": list(done.absent),
        "files": [str(path) for path in written],
    }
