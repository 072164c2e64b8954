"""`discreet schema`: draft a schema that a person completes, and check one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import inputs, options
from discreet.cli.outputs import advise, check_out, emit, say, tabulate
from discreet.errors import DataError
from discreet.records.files import Block, checked, is_text, open_quotes, read_columns
from discreet.schema import Schema
from discreet.schema.columns import Column, Label, Numeric
from discreet.storage.writing import whole_file

MOST_SHOWN = 8
"""At most this many categories of a column are shown, so that a row stays readable."""


def draft(
    data: options.DataInFile,
    target: Annotated[str, typer.Option(help="The column that holds the class.", show_default=False)],
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat for more.")] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write; default: standard output.")] = None,
    force: options.Force = False,
) -> None:
    """Draft a schema from a data file, for a person to complete.

    The draft holds values of the data: keep it as private as the data. Each entry that was read from the data is listed
    under "from_data". Confirm it or replace it by public knowledge, then remove its name from that list.

    \b
    Example, after `discreet demo`:
      discreet schema draft discreet-demo/train.csv --target diagnosis > s.json
    """
    if out is not None:
        check_out(out, data, force=force)
    columns = read_columns(data)
    _look_at_lines(data, columns)
    absent = [name for name in [target, *(ignore or [])] if name not in columns]
    if absent:
        raise DataError(
            f"{data} has no column {absent[0]!r}; check --target and --ignore, that it has a header row, and commas "
            "between the columns (tabs in a .tsv file)"
        )
    schema = drafted(columns, target, ignore or [])
    text = json.dumps(schema.to_dict(), indent=1, ensure_ascii=False) + "\n"
    if out is None:
        typer.echo(text, nl=False)
    else:
        with whole_file(out) as file:
            file.write(text)
    advise(
        f'A draft with {len(schema.from_data)} entries read from the data; while one is listed under "from_data", no '
        "privacy is guaranteed. For each: confirm it, or replace it by what is publicly known (round bounds, the full "
        "list of categories, null for records), then remove its name from the list. Next: discreet schema check"
    )


def _look_at_lines(data: Path, columns: Block) -> None:
    """Raise or warn about lines of a CSV file that are not read as one might expect: every line is one record."""
    if not is_text(checked(data)):
        return
    if any(isinstance(value, bytes) for values in columns.values() for value in values.tolist()):
        raise DataError(f"{data} has a line that is too long to read; remove it, or convert the file to Parquet")
    opened = open_quotes(data)
    if opened:
        lines = f"{opened} lines have a quote that is" if opened > 1 else "1 line has a quote that is"
        advise(
            f"{data}: {lines} never closed. Every line is taken for a record: if fields hold line breaks, convert the "
            "file to Parquet."
        )


def drafted(columns: Block, target: str, ignore: list[str]) -> Schema:
    """Draft a schema from columns in memory; no message quotes a value."""
    from discreet.records import drafting

    labels = columns[target]
    kept = {name: values for name, values in columns.items() if name != target and name not in ignore}
    for name, values in [*kept.items(), (target, labels)]:
        plain = values.dtype.kind != "M" and not any(isinstance(value, bytes) for value in values.tolist())
        if not plain:
            raise DataError(f"column {name!r} holds neither numbers nor texts; convert it, or leave it out: --ignore")
    if not kept:
        raise DataError("no column is left besides the target; need at least one")
    try:
        schema = drafting.draft(kept, labels, target, len(labels))
    except DataError as error:
        raise DataError(f"{error} (--ignore NAME)") from None
    return schema.replace(ignore=ignore)


def check(
    schema: Annotated[str, typer.Argument(help="A schema file; schemas.json#adult picks one of several.")],
    data: options.OptionalData = None,
    table: options.DataTable = None,
    as_json: options.Json = False,
) -> None:
    """Check a schema and, if a data file is given, that it has the schema's columns; no value of the data is read.

    \b
    Example, after `discreet demo`:
      discreet schema check discreet-demo/schema.json discreet-demo/train.csv
    """
    public = inputs.load_schema(schema)
    if data is not None:
        inputs.check_structure(inputs.open_data(data, table), data, public)
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
    rows = [[column.name, column.kind, _domain(column), _marks(column, public)] for column in public.columns]
    tabulate(f"{schema}: {len(rows)} columns", ["column", "kind", "public values", "read from the data"], rows)
    say(f"Target      {public.target}, classes: {_some(public.classes)}")
    say(f"Adjacency   {public.adjacency.value}")
    say(f"Records     {public.records or 'not public'}")
    say(f"Ignored     {', '.join(public.ignore) or 'nothing'}")
    say(f"Hash        {public.hash}")
    if data is not None:
        say(f"{data} has the columns of the schema; no value was read.")
    if public.is_public:
        say("The schema is complete: every entry counts as public knowledge.", style="green")
    else:
        say(
            f"A draft: {len(public.from_data)} entries were read from the data, and a model made with it has no "
            f'guarantee: {", ".join(public.from_data)}. Confirm or replace each, then remove it from "from_data".',
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
