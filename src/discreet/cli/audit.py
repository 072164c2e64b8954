"""`discreet audit`: attack a claim of privacy, ours or anybody's. Status 1 if it is refuted."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet import __version__
from discreet.cli import options
from discreet.cli.folder import as_folder, make_folder
from discreet.cli.outputs import advise, emit, say, tabulate
from discreet.cli.progress import progress_bars
from discreet.schema import Schema
from discreet.storage.writing import whole_file

REFUTED = 1
"""Exit status if the claim is refuted."""


def audit(
    target: Annotated[
        str,
        typer.Argument(
            help="module:Class with fit, module:function of (X, y), a recipe (a .json file that names one), or the "
            "address of a discreet service.",
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
    with progress_bars() as told:
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
    written = [] if out is None else _write(report, out, _origin(target, report))
    if as_json:
        emit({**report.to_dict(), "written": [str(each) for each in written]})
    else:
        _show(report)
        if written:
            say(f"Written: {', '.join(map(str, written))}")
    if report.refuted:
        raise typer.Exit(REFUTED)


def _origin(target: str, report: Any) -> str:
    """The command that made the report."""
    words = [target, "--claim", f"{report.claim.epsilon:g}", "--adjacency", report.adjacency.value]
    words += ["--delta", f"{report.claim.delta:g}"] if report.claim.delta else []
    for name, value in report.parameters.items():
        words += ["--with", f"{name}={json.dumps(value)}"]
    return f"discreet {__version__}: discreet audit {shlex.join(words)}"


def _write(report: Any, out: Path, origin: str) -> list[Path]:
    """Write the folder: the report as a page and as JSON, and a script for each finding that has one."""
    from discreet.research import audited
    from discreet.research.report.folder import write_report

    make_folder(out)
    drawn = audited.has_matplotlib()
    if not drawn:
        advise("The report has no pictures: they need pip install 'discreet[plot]'")
    files = {"audit.json": json.dumps(report.to_dict(), ensure_ascii=False, indent=1) + "\n"}
    scripts = [each.repeat for each in report.findings if each.repeat]
    files |= {f"repeat-{place}.py": text for place, text in enumerate(scripts, 1)}
    for name, text in files.items():
        with whole_file(out / name) as file:
            file.write(text)
    pages = write_report(audited.describe(report, origin, drawn=drawn), out, audited.PICTURES)
    return [*pages[:2], *(out / name for name in files)]


def _show(report: Any) -> None:
    from discreet.audit.report import floored

    verdict = report.verdict()
    say(f"{verdict[0].upper()}{verdict[1:]}.", style="bold red" if report.refuted else "bold")
    for finding in report.findings:
        loss = "certain" if finding.epsilon == float("inf") else f"ε ≥ {floored(finding.epsilon)}"
        say(f"- {loss} ({finding.stage}): {finding.event}")
        if finding.pair is not None:
            say(f"  neighbours: {finding.pair.words}")
    if report.findings and report.findings[0].pair is not None:
        pair = report.findings[0].pair
        tabulate("The neighbours of the first finding", ["first", "second"], [[pair.first.text(), pair.second.text()]])
    rows = [
        [each.name, f"{each.seconds:.1f}", str(len(each.findings)), "; ".join(each.tried)] for each in report.stages
    ]
    tabulate("What was tried", ["stage", "seconds", "findings", "tried"], rows, right=["seconds", "findings"])
    for stage in report.stages:
        for remark in stage.remarks:
            advise(f"{stage.name}: {remark}")
