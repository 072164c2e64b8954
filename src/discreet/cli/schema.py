"""`discreet schema`: draft a schema that a person completes, and check one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import inputs, options
from discreet.cli.outputs import advise, check_out, emit, notes, say, tabulate
from discreet.cli.progress import progress_bars
from discreet.cli.schema_values import show_values
from discreet.errors import ParameterError
from discreet.records.files import is_sheet
from discreet.schema import Schema
from discreet.schema.columns import Column, Label, Numeric
from discreet.schema.dialect import USUAL
from discreet.storage.writing import whole_file

if TYPE_CHECKING:
    from discreet.records.file_drafts import FileDraft

MOST_SHOWN = 8
"""At most this many categories of a column are shown, so that a row stays readable."""


def draft(
    data: options.DataInFile,
    target: Annotated[str, typer.Option(help="The column that holds the class.", show_default=False)],
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat for more.")] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write; default: standard output.")] = None,
    table: options.DataTable = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    force: options.Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the schema, and what each column is.")] = False,
) -> None:
    """Draft a schema from a data file, for a person to complete, and say what each column was taken for.

    The draft holds values of the data: keep it as private as the data. Each entry that was read from the data is listed
    under "from_data", also a bound that was rounded and a column that is left out. Confirm it, or replace it by public
    knowledge: `discreet schema edit` goes through all of them.

    \b
    Example, after `discreet demo`:
      discreet schema draft discreet-demo/train.csv --target diagnosis --out s.json
    """
    from discreet.records.file_drafts import draft_file

    if out is not None:
        check_out(out, data, force=force)
    if table is not None and not is_sheet(data):
        raise ParameterError(f"--table is for .xlsx files here; {data} is not one: leave --table out")
    dialect = inputs.as_dialect(USUAL, delimiter, decimal, encoding)
    with progress_bars() as bars:
        found = draft_file(
            data,
            target,
            ignore or [],
            dialect,
            table,
            lambda done, of: bars("reading", done, of),
            guess=decimal is None,
        )
    _write_draft(found, out, as_json=as_json)


def _write_draft(found: FileDraft, out: Path | None, *, as_json: bool) -> None:
    content = found.schema.to_dict()
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    if out is not None:
        with whole_file(out) as file:
            file.write(text)
    findings = [finding.to_dict() for finding in found.findings]
    if as_json:
        emit({"out": None if out is None else str(out), "schema": content, "findings": findings, "notes": found.notes})
    elif out is None:
        typer.echo(text, nl=False)
    rows = [
        [each.column, each.taken_for, each.proposal, _percent(each.missing), each.remark] for each in found.findings
    ]
    heads = ["column", "taken for", "proposal", "missing", "remark"]
    if not as_json:
        tabulate("What the columns seem to hold (read from the data: for their owner only)", heads, rows, on=notes)
    for note in found.notes:
        advise(note)
    advise(
        "Bounds are round numbers around what is in the data, and lists hold what occurs there: replace them by what "
        f"is possible. {len(found.schema.from_data)} entries were read from the data; while one is listed under "
        f'"from_data", no privacy is guaranteed. Next: discreet schema edit {out or "DRAFT"}'
    )


def _percent(share: float) -> str:
    return "" if share == 0 else "< 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def check(
    schema: Annotated[str, typer.Argument(help="A schema file; schemas.json#adult picks one of several.")],
    data: options.OptionalData = None,
    values: Annotated[
        bool, typer.Option("--values", help="Also compare the values: a private report for the owner only, no epsilon.")
    ] = False,
    table: options.DataTable = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    as_json: options.Json = False,
) -> None:
    """Check a schema and, if a data file is given, that it has the schema's columns.

    No value of the data is read, unless the owner asks for it with --values: then a report shows, exactly and column by
    column, which part of the records the schema leaves out, and what is written there instead. It is as private as the
    data: never publish it. Training does not use it.

    \b
    Example, after `discreet demo`:
      discreet schema check discreet-demo/schema.json discreet-demo/train.csv
      discreet schema check discreet-demo/schema.json discreet-demo/train.csv --values
    """
    public = inputs.as_written(inputs.load_schema(schema), delimiter, decimal, encoding)
    if values and data is None:
        raise ParameterError("--values compares the values of a data file; name the file after the schema")
    if data is not None:
        source = inputs.open_data(data, table, dialect=public.dialect)
        inputs.check_structure(source, data, public, table)
        if values:
            show_values(schema, data, public, source, as_json=as_json)
            return
    if as_json:
        emit(
            {
                "schema": schema,
                "hash": public.hash,
                "target": public.target,
                "classes": list(public.classes),
                "adjacency": public.adjacency.value,
                "attributes": public.names,
                "is_public": public.is_public,
                "from_data": list(public.from_data),
                "fits": None if data is None else str(data),
            }
        )
        return
    _show(schema, public)
    if data is not None:
        say(f"{data} has the columns of the schema; no value was read.")


def _show(schema: str, public: Schema) -> None:
    rows = [[column.name, column.kind, _domain(column), _marks(column, public)] for column in public.columns]
    tabulate(f"{schema}: {len(rows)} columns", ["column", "kind", "public values", "read from the data"], rows)
    say(f"Target      {public.target}, classes: {_some(public.classes)}")
    say(f"Adjacency   {public.adjacency.value}")
    say(f"Records     {public.records or 'not public'}")
    say(f"Ignored     {', '.join(public.ignore) or 'nothing'}")
    if public.dialect != USUAL:
        say(f"CSV files   {', '.join(f'{name} {value!r}' for name, value in public.dialect.to_json().items())}")
    if len(public.classes) == 1:
        say("There is one class only: a model has nothing to tell apart.", style="yellow")
    say(f"Hash        {public.hash}")
    if public.is_public:
        say("The schema is complete: every entry counts as public knowledge.", style="green")
    else:
        say(
            f"A draft: {len(public.from_data)} entries were read from the data, and a model made with it has no "
            f"guarantee: {', '.join(public.from_data)}. Go through them: discreet schema edit {schema}",
            style="yellow",
        )


def _domain(column: Column) -> str:
    if isinstance(column, Numeric):
        return f"{column.lower:g} to {column.upper:g}"
    return _some(column.categories) + (", or unlisted" if column.unlisted else "")


def _some(labels: Sequence[Label]) -> str:
    words = [str(label) for label in labels]
    rest = len(words) - MOST_SHOWN
    return ", ".join(words[:MOST_SHOWN]) + (f", ... {rest} more" if rest > 0 else "")


def _marks(column: Column, schema: Schema) -> str:
    return ", ".join(
        mark.removeprefix(f"{column.name}.") for mark in schema.from_data if mark.startswith(f"{column.name}.")
    )
