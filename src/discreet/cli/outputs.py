"""Where output goes: results to standard output (text for people, JSON for scripts), remarks to standard error."""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from discreet.errors import FileError, ParameterError
from discreet.privacy.epsilon import Epsilon, shown_above, total
from discreet.privacy.ledger.address import AccountAddress
from discreet.privacy.receipt import Charge
from discreet.storage.writing import whole_file

FEW_DIGITS = 3
"""Digits of a part of an epsilon on a card: rounded up, so that the parts may seem to sum to a little more."""
PICTURES = (".png", ".svg", ".pdf")

paper = Console(highlight=False, markup=False, emoji=False)
"""Standard output, for results."""
notes = Console(stderr=True, highlight=False, markup=False, emoji=False)
"""Standard error, for progress and advice."""


def say(text: str = "", *, style: str | None = None) -> None:
    """Print a paragraph for people; a file or a pipe gets it on one line."""
    paper.print(printable(text), style=style, soft_wrap=not paper.is_terminal)


def advise(text: str) -> None:
    """Print a remark that is not part of the result."""
    notes.print(printable(text), soft_wrap=not notes.is_terminal)


def emit(content: Any) -> None:
    """Print JSON for scripts, and nothing else."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
    try:
        text.encode()
    except UnicodeEncodeError:  # a name in a file may hold half of a surrogate pair
        text = json.dumps(content, allow_nan=False, indent=1)
    typer.echo(text)


def tabulate(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = (), *, on: Console = paper
) -> None:
    """Print a table; the columns named in `right` are aligned to the right."""
    table = Table(title=printable(title), title_justify="left", title_style="bold")
    for head in heads:
        table.add_column(printable(head), justify="right" if head in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    on.print(table)


def tabulate_charges(charges: Sequence[Charge]) -> None:
    """Print a receipt: every charge and their sum, rounded for people; --json has the exact fractions."""
    rows = [
        [_query(each), each.mechanism, shown(each.epsilon, FEW_DIGITS), str(each.sensitivity), _scale(each.scale)]
        for each in charges
    ]
    rows.append(["sum", "", shown(total([each.epsilon for each in charges])), "", ""])
    heads = ["query", "mechanism", "ε", "sens.", "scale"]
    tabulate("Charges (rounded up; --json has exact fractions)", heads, rows, right=heads[2:])


def _scale(scale: float) -> str:
    return f"{scale:,.0f}" if scale >= 1000 else f"{scale:.3g}"


def _query(charge: Charge) -> str:
    """The query, column first: "SplineCounts(column='age', bins=4)" becomes "age: SplineCounts, bins=4"."""
    parts = re.fullmatch(r"(\w+)\(column='(.*?)'(.*)\)", charge.query)
    return f"{parts[2]}: {parts[1]}{parts[3]}" if parts else charge.query


def tabulate_receipt(charges: Sequence[Charge]) -> None:
    """Print a short receipt: one line per kind of charge."""
    groups: dict[tuple[str, str], list[Epsilon]] = {}
    for each in charges:
        groups.setdefault((each.query.partition("(")[0], each.mechanism), []).append(each.epsilon)
    rows = []
    for (query, mechanism), losses in groups.items():
        ends = dict.fromkeys((shown(min(losses)), shown(max(losses))))
        rows.append([str(len(losses)), query, mechanism, " to ".join(ends), shown(total(losses))])
    rows.append([str(len(charges)), "all", "", "", shown(total([each.epsilon for each in charges]))])
    heads = ["tables", "query", "mechanism", "ε each", "ε together"]
    tabulate("Receipt", heads, rows, right=["tables", "ε each", "ε together"])


def say_remarks(remarks: Sequence[str], unchecked: str) -> None:
    """Say what the published answers show about the table, if anything is conspicuous, and what they cannot show."""
    if remarks:
        say()
        say("What the noisy answers show about the table (this costs nothing)", style="bold yellow")
    for remark in remarks:
        say(f"- {remark}", style="yellow")
    if unchecked:
        say()
        say(f"{unchecked}.", style="yellow")


def check_picture(option: str, path: Path) -> None:
    """Raise ParameterError unless the file's name ends like a picture that can be written."""
    if path.suffix.lower() not in PICTURES:
        raise ParameterError(f"{option}={path}; need a name that ends in {', '.join(PICTURES)}")


def save_figure(figure: Any, path: Path) -> None:
    """Write a matplotlib figure, whole or not at all, in the format that the file's name ends in."""
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.lower().removeprefix("."), dpi=150)
    with whole_file(path, binary=True) as file:
        file.write(picture.getvalue())


def shown(epsilon: Epsilon, digits: int = 6) -> str:
    """An epsilon for people: a few digits, never below the true one."""
    return "∞" if epsilon == float("inf") else shown_above(epsilon, digits)


def printable(text: str) -> str:
    """The text with control characters escaped: names in a file may come from anyone, and could steer a terminal."""
    return "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)


def one_line(text: str) -> str:
    """The text on one line."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode()


def check_out(out: Path, *inputs: Path | AccountAddress | None, force: bool = True) -> None:
    """Raise FileError unless a file can be written at `out` and is not one of the command's own inputs.

    With force=False the file must not exist either: it may have cost budget, or an hour of work.
    """
    if out.is_dir():
        raise FileError(f"{out} is a folder; name a file in it")
    if not out.parent.is_dir():
        raise FileError(f"cannot write {out}: the folder {out.parent} does not exist; make it first")
    try:
        with tempfile.TemporaryFile(dir=out.parent):
            pass
    except OSError as error:
        raise FileError(f"cannot write {out}: {error.strerror}; choose another place") from None
    if out.exists() and not os.access(out, os.W_OK):
        raise FileError(f"cannot write {out}: permission denied; choose another place")
    for given in inputs:
        path = given.file if isinstance(given, AccountAddress) else given
        if path is not None and os.path.realpath(out) == os.path.realpath(path):
            raise FileError(f"{out} would overwrite an input of this command; choose another name")
    kept = _kept_kind(out) if out.is_file() else None
    if kept is not None:
        raise FileError(f"{out} is {kept}, which is never overwritten; choose another name")
    if out.exists() and not force:
        raise FileError(f"{out} exists; choose another name, or give --force to overwrite it")


def _kept_kind(path: Path) -> str | None:
    """What a file is that must not be lost: a ledger of any version, or a database, which may hold accounts."""
    try:
        with path.open("rb") as file:
            start = file.read(100)
    except OSError:
        return None
    if b"discreet/ledger" in start:
        return "a ledger"
    return "a database" if start.startswith(b"SQLite format 3") else None
