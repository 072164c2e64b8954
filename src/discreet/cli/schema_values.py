"""`discreet schema check --values`: a private report for the owner; no epsilon, and never touched by training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.outputs import emit, notes, say, tabulate
from discreet.schema import Schema
from discreet.sources import Source, as_records, finish
from discreet.storage.addresses import Address

if TYPE_CHECKING:
    from discreet.records.value_report import ColumnReport, Spelling

LABEL = "PRIVATE: exact numbers and values of the data, for their owner only. Never publish this report."


def show_values(name: str, data: Path | Address, schema: Schema, source: Source, *, as_json: bool) -> None:
    """Compare all values with the schema, and show what does not fit."""
    from discreet.records.value_report import report_values

    try:
        with notes.status("comparing values"):
            blocks = as_records(source).values(
                schema.all_names, () if schema.dialect.decimal == "." else schema.numeric_names
            )
            report = report_values(blocks, schema)
    finally:
        finish(source)
    if as_json:
        columns = [column.to_dict() for column in report.columns]
        about = {"notice": LABEL, "schema": name, "data": str(data), "records": report.records}
        found = {"columns": columns, "target": report.target.to_dict(), "classes": report.classes}
        emit({**about, **found, "problems": report.problems, "verdict": report.verdict})
        return
    say(LABEL, style="bold red")
    rows = [_row(column) for column in [*report.columns, report.target]]
    heads = ["column", "kind", "missing", "clipped", "unlisted", "written instead"]
    tabulate(f"{data}: {report.records} records against {name}", heads, rows, right=heads[2:5])
    say("Classes     " + ", ".join(f"{label}: {count}" for label, count in report.classes.items()))
    say(report.verdict, style="bold red" if report.problems else "bold")


def _row(column: ColumnReport) -> list[str]:
    clipped = _share(column.clipped, column.records) if column.kind == "numeric" else "-"
    unlisted = "-" if column.kind == "numeric" else _share(column.unlisted, column.records)
    shown = ", ".join(map(_spelled, column.examples))
    return [column.name, column.kind, _share(column.missing, column.records), clipped, unlisted, shown]


def _spelled(each: Spelling) -> str:
    hint = f" (listed: {each.near!r})" if each.near is not None else ""
    return f"{each.text[:40]!r} × {each.records}{hint}"


def _share(part: int, whole: int) -> str:
    if not part:
        return ""
    percent = 100 * part / max(1, whole)
    return "< 0.1 %" if percent < 0.1 else f"{percent:.1f} %"
