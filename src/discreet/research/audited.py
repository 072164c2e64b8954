"""The report of an audit as a document: verdict, what shows it, the neighbours, a script, and what was tried."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from discreet.audit.findings import Finding
from discreet.audit.neighbours import shown
from discreet.audit.report import MEANS, Report, floored
from discreet.errors import MissingExtra
from discreet.pictures.figure import COLOURS, new_figure
from discreet.research.report import Code, Document, Paragraph, Part, Picture, ReportTable, Section

NOTHING = "“Found nothing” never means “private”: an audit can refute a claim, and cannot prove one."
MOST_PICTURES = 6
PICTURES = tuple(f"finding-{place}" for place in range(1, MOST_PICTURES + 1))
"""The names of all pictures that a report may have."""


def describe(report: Report, origin: str, *, drawn: bool = True) -> Document:
    """The report as a document; `drawn` is whether it has pictures, which need matplotlib."""
    sections = [
        Section("Verdict", [Paragraph(f"{report.verdict()[0].upper()}{report.verdict()[1:]}."), _facts(report, origin)])
    ]
    for place, finding in enumerate(report.findings, 1):
        sections.append(
            Section(f"Finding {place}: {_loss(finding)} ({finding.stage})", _parts(finding, place, origin, drawn))
        )
    sections.append(Section("What was tried", _tried(report, origin)))
    return Document(f"Audit of {report.target}", sections, [NOTHING], origin)


def _facts(report: Report, origin: str) -> ReportTable:
    given = ", ".join(f"{name}={json.dumps(value)}" for name, value in report.parameters.items())
    rows = [
        ["target", report.target],
        ["parameters", given or "as by default"],
        ["versions", ", ".join(f"{name} {value}" for name, value in report.versions.items()) or "not stated"],
        ["claim", str(report.claim)],
        ["neighbours", f"{report.adjacency.value}: {MEANS[report.adjacency]}"],
        ["confidence", f"{report.confidence:g}, for all findings together"],
        ["date", report.date],
        ["runs", f"{report.runs} in {report.seconds:.1f} s"],
    ]
    return ReportTable("What was audited", ["", "value"], rows, origin)


def _loss(finding: Finding) -> str:
    return "certain" if math.isinf(finding.epsilon) else f"ε ≥ {floored(finding.epsilon)}"


def _parts(finding: Finding, place: int, origin: str, drawn: bool) -> list[Part]:
    parts: list[Part] = [Paragraph(f"The event: {finding.event}.")]
    if finding.pair is not None:
        tables = [list(shown(finding.pair))]
        parts.append(
            ReportTable(f"The neighbours: {finding.pair.words}", ["first table", "second table"], tables, origin)
        )
    if drawn and finding.pictured is not None and place <= MOST_PICTURES:
        caption = f"{finding.pictured[0]} in runs on the two tables"
        parts.append(Picture(PICTURES[place - 1], caption, draw(finding), origin))
    if finding.repeat:
        parts.append(Code("A script that repeats it without discreet; it is beside this report", finding.repeat))
    return parts


def _tried(report: Report, origin: str) -> list[Part]:
    rows = [
        [stage.name, f"{stage.seconds:.1f}", str(len(stage.findings)), "; ".join(stage.tried)]
        for stage in report.stages
    ]
    parts: list[Part] = [ReportTable("The stages", ["stage", "seconds", "findings", "tried"], rows, origin)]
    remarks = [f"{stage.name}: {remark}" for stage in report.stages for remark in stage.remarks]
    return [*parts, *(Paragraph(each) for each in [*remarks, *(f"Without an answer: {each}" for each in report.lost)])]


def draw(finding: Finding) -> Any:
    """A matplotlib figure: the two distributions, and how often the event was seen on each table."""
    name, *sides = finding.pictured
    values = [np.asarray(side, dtype=np.float64) for side in sides]
    values = [side[np.isfinite(side)] for side in values]
    figure = new_figure(figsize=(8.5, 3.2))
    left, right = figure.subplots(1, 2, width_ratios=(3, 1))
    pooled = np.concatenate(values)
    if len(pooled):
        low, high = np.quantile(pooled, [0.01, 0.99])
        edges = np.linspace(low, high if high > low else low + 1, 41)
        for side, colour, label, style in zip(
            values, COLOURS, ("first table", "second table"), ("-", "--"), strict=False
        ):
            weights = np.full(len(side), 1 / max(1, len(side)))
            clipped = np.clip(side, edges[0], edges[-1])
            left.hist(clipped, edges, weights=weights, histtype="step", color=colour, label=label, linestyle=style)
        left.legend(fontsize=8)
    left.set_xlabel(name[:80], fontsize=8)
    left.set_ylabel("share of the runs", fontsize=8)
    if finding.counts is not None:
        shares = [times / runs for times, runs in finding.counts]
        right.bar(["first", "second"], shares, color=COLOURS[:2])
        right.set_title("the event", fontsize=9)
        right.set_ylim(0, 1)
    return figure


def has_matplotlib() -> bool:
    """Whether pictures can be drawn."""
    try:
        new_figure()
    except MissingExtra:
        return False
    return True
