"""`discreet audit`: attack a claim of privacy, ours or anybody's. Status 1 if it is refuted."""

from __future__ import annotations

import contextlib
import json
import shlex
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet import __version__
from discreet.cli import options
from discreet.cli.folder import as_folder, make_folder
from discreet.cli.outputs import advise, emit, say, tabulate
from discreet.cli.progress import progress_bars
from discreet.errors import FileError
from discreet.schema import Schema
from discreet.storage.writing import whole_file

REFUTED = 1
"""Exit status if the claim is refuted."""
SCRIPT = "# Repeats a finding: "
"""How a script of ours begins."""
FILES = ("report.html", "report.md", "audit.json")
"""What the folder of a report has in any case."""


def audit(
    context: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            help="module:Class with fit, module:function of (X, y) or of one table with the labels in it, a recipe (a "
            ".json file that names one), or the address of a discreet service.",
            show_default=False,
        ),
    ],
    claim: Annotated[
        float | None, typer.Option(help="The ε that is claimed, for instance 1.", show_default=False)
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="The δ that is claimed.  [default: 0]", show_default=False)
    ] = None,
    adjacency: Annotated[str | None, typer.Option(help="add-remove or replace-one.  [default: add-remove]")] = None,
    schema: Annotated[
        str | None,
        typer.Option(help="A schema file: what tables to attack with; default: two numbers from 0 to 1, two classes."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=VALUE", help="A parameter of the target; repeat for more."),
    ] = None,
    form: Annotated[str | None, typer.Option(help="How the target gets tables: array, frame or records.")] = None,
    python: Annotated[str | None, typer.Option(help="The interpreter of the target's own environment.")] = None,
    minutes: Annotated[float, typer.Option(help="Stop after about this time.")] = 5.0,
    confidence: Annotated[float, typer.Option(help="Confidence of all bounds together.")] = 0.999,
    within: Annotated[bool, typer.Option("--within", help="Only try values within the schema.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Count it as refuted if the target raises on one of two neighbours.")
    ] = False,
    first: Annotated[bool, typer.Option("--first", help="Stop after the first stage that refutes the claim.")] = False,
    memory: Annotated[int | None, typer.Option(min=64, help="The most megabytes for a process of the target.")] = None,
    processes: Annotated[int, typer.Option(min=1, help="Processes that run the target at once.")] = 2,
    seed: Annotated[int | None, typer.Option(min=0, help="Makes the search repeatable, not the target.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=as_folder, metavar="FOLDER", help="A folder for report.html, audit.json and a script."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Attack the claim that something is differentially private; it need not be ours.

    The target runs in processes of its own on small tables that are made here; give it no private data, it gets none.
    Neighbouring tables are tried that mechanisms often get wrong; an event that tells them apart is chosen by some
    runs and counted in others, so that the bound holds with the stated confidence. Status 0: nothing was found, which
    does not mean that the claim is true; 1: refuted; 2: the target could not be audited.

    \b
    Examples:
      discreet audit discreet:NaiveBayes --schema s.json --with epsilon=1 --claim 1
      discreet audit diffprivlib.models:GaussianNB --with epsilon=1 --with "bounds=(0,1)" --claim 1 \\
        --python other-env/bin/python --out report
    """
    from discreet.audit import audit as run_audit
    from discreet.audit.target import parse_parameters

    known = None if schema is None else Schema.load(schema)
    if out is not None:
        _ready(out)
    with _ended_by_signals(), progress_bars() as told:
        report = run_audit(
            target,
            claim,
            adjacency=adjacency,
            delta=delta,
            schema=known,
            parameters=parse_parameters(given) if given else None,
            form=form,
            python=python,
            minutes=minutes,
            confidence=confidence,
            within=within,
            strict=strict,
            first=first,
            megabytes=memory,
            processes=processes,
            seed=seed,
            told=told,
        )
    _told(report, out, _command(report, context.params), as_json)
    if report.refuted:
        raise typer.Exit(REFUTED)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End by SIGTERM and SIGHUP (a terminal that is closed) as by an interruption, so that nothing is left running; a
    SIGHUP that is ignored, as nohup does, stays so."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    named = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {each: signal.getsignal(each) for each in named}
    for each in named:
        if before[each] is not signal.SIG_IGN:
            signal.signal(each, end)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _told(report: Any, out: Path | None, command: str, as_json: bool) -> None:
    """Show the report, and write it to the folder if there is one; what was found is shown even if that fails."""
    if not as_json:
        _show(report)
    written: list[Path] = []
    try:
        written += [] if out is None else _write(report, out, command)
    finally:
        if as_json:
            emit({**report.to_dict(), "command": command, "written": [str(each) for each in written]})
    if written and not as_json:
        say(f"Written: {', '.join(map(str, written))}")


def _command(report: Any, params: dict[str, Any]) -> str:
    """The command that made the report, with all that decides what it does, also where that was left to a recipe."""
    stated = {"claim": report.claim.epsilon, "delta": report.claim.delta, "adjacency": report.adjacency.value}
    words = [params["target"]]
    for name, value in {**stated, **params, **stated}.items():
        if name in ("target", "out", "as_json"):
            continue
        option = "--with" if name == "given" else f"--{name}"
        for each in value if isinstance(value, list | tuple) else [value]:
            if each is True:
                words.append(option)
            elif each is not None and each is not False:
                words += [option, repr(each).removesuffix(".0") if isinstance(each, float) else str(each)]
    return f"discreet audit {shlex.join(words)}"


def _ready(out: Path) -> None:
    """Make the folder and see that it can be written to, before the audit takes its time."""
    make_folder(out)
    taken = [out / name for name in FILES if (out / name).is_dir()]
    if taken:
        raise FileError(f"{taken[0]} is a folder, and a report has a file of this name; choose another --out")
    try:
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise FileError(f"cannot write to folder {out}: {error.strerror}; choose another with --out") from None


def _write(report: Any, out: Path, command: str) -> list[Path]:
    """Write the folder: the report as a page and as JSON, and a script for each finding that has one."""
    from discreet.research import audited
    from discreet.research.report.folder import write_report

    drawn = audited.has_matplotlib()
    if not drawn:
        advise("The report has no pictures: they need pip install 'discreet[plot]'")
    content = {**report.to_dict(), "command": command}
    files = {"audit.json": json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"}
    scripts = [each.repeat for each in report.findings if each.repeat]
    _remove_scripts(out)
    files |= {f"repeat-{place}.py": text for place, text in enumerate(scripts, 1)}
    for name, text in files.items():
        with whole_file(out / name, binary=True) as file:  # a name may hold half of a surrogate pair
            file.write(text.encode(errors="backslashreplace"))
    origin = f"discreet {__version__}: {command}"
    pages = write_report(audited.describe(report, origin, drawn=drawn), out, audited.PICTURES)
    return [*pages[:2], *(out / name for name in files)]


def _remove_scripts(out: Path) -> None:
    """Remove the scripts of an earlier audit, which would seem to be of this one; nothing that we did not write."""
    for path in out.glob("repeat-*.py"):
        if path.stem.removeprefix("repeat-").isdigit() and path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                ours = file.readline().startswith(SCRIPT.encode())
            if ours:
                path.unlink()


def _show(report: Any) -> None:
    from discreet.audit.neighbours import shown
    from discreet.audit.report import floored

    verdict = report.verdict()
    say(f"{verdict[0].upper()}{verdict[1:]}.", style="bold red" if report.refuted else "bold")
    for finding in report.findings:
        loss = "certain" if finding.epsilon == float("inf") else f"ε ≥ {floored(finding.epsilon)}"
        say(f"- {loss} ({finding.stage}): {finding.event}")
        if finding.pair is not None:
            say(f"  neighbours: {finding.pair.words}")
    if report.findings and report.findings[0].pair is not None:
        tables = list(shown(report.findings[0].pair))
        tabulate("The neighbours of the first finding", ["first", "second"], [tables])
    rows = [
        [each.name, f"{each.seconds:.1f}", str(len(each.findings)), "; ".join(each.tried)] for each in report.stages
    ]
    tabulate("What was tried", ["stage", "seconds", "findings", "tried"], rows, right=["seconds", "findings"])
    for stage in report.stages:
        for remark in stage.remarks:
            advise(f"{stage.name}: {remark}")
    for each in report.lost:
        advise(each)
