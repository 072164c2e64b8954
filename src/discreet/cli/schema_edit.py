"""`discreet schema edit`: a person confirms, changes or leaves out each entry of a draft that was read off the data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import inputs
from discreet.cli.outputs import advise, say
from discreet.errors import ParameterError, SchemaError
from discreet.schema import Schema
from discreet.schema.confirming import answered, choices, value_of

MOST_SHOWN = 600
"""The most characters of an entry that are shown at once."""


def edit(
    draft: Annotated[
        Path, typer.Argument(help="A draft of `discreet schema draft`; it is changed.", show_default=False)
    ],
) -> None:
    """Go through every entry of a draft that was read from the data: confirm it, change it, or ignore the column.

    What is true of such tables in general, or written in their documentation, is public: confirm it. What only these
    records tell is not: replace it by what is possible. Each answer is saved at once; s leaves an entry for later and
    q stops, and the same command goes on from there. No data are read.

    \b
    Example, after `discreet schema draft ... --out s.json`:
      discreet schema edit s.json
    """
    if inputs.schema_file(str(draft)) != draft:
        raise ParameterError(
            f"{draft} is one of several schemas in a file, which is not changed; write the draft to a file of its own"
        )
    schema = inputs.load_schema(str(draft))
    total, number = len(schema.from_data), 0
    try:
        for mark in schema.from_data:
            if mark not in schema.from_data:  # its column was left out by an earlier answer
                continue
            number += 1
            changed = _asked(schema, mark, f"{number} of {total}")
            if changed is None:
                break
            if changed is not schema:
                changed.save(draft)
                schema = changed
    except KeyboardInterrupt:
        typer.echo(f"\ninterrupted; {_left(schema, draft)}", err=True)
        raise typer.Exit(130) from None
    if schema.is_public:
        say(
            f"{draft} is complete: every entry counts as public knowledge. Next: discreet schema check {draft} DATA",
            style="green",
        )
    else:
        advise(_left(schema, draft))


def _asked(schema: Schema, mark: str, place: str) -> Schema | None:
    """The schema after an answer; the same if the entry was left for later, None if the person stops."""
    say()
    value = value_of(schema, mark)
    say(f"{place}   {mark}: {value[:MOST_SHOWN]}{' …' if len(value) > MOST_SHOWN else ''}", style="bold")
    say(f"  {choices(schema, mark)}; s: later; q: stop")
    while True:
        typer.echo("> ", nl=False)
        line = sys.stdin.readline()
        if not line or line.strip().lower() in ("q", "quit"):
            typer.echo()
            return None
        if line.strip().lower() == "s":
            return schema
        if not line.strip():
            continue
        try:
            return answered(schema, mark, line)
        except SchemaError as error:
            advise(f"  {error}")


def _left(schema: Schema, draft: Path) -> str:
    count = len(schema.from_data)
    if not count:
        return f"{draft} is complete"
    entries = "1 entry is" if count == 1 else f"{count} entries are"
    return f"{entries} left to confirm; what was answered is in {draft}. Go on with: discreet schema edit {draft}"
