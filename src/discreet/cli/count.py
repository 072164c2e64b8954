"""`discreet count`: noisy numbers of records, with intervals. Every check comes before the charge."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.accounts import Payment, as_dict, paying
from discreet.cli.outputs import advise, check_out, emit, say, tabulate
from discreet.cli.progress import counting
from discreet.cli.train import public_schema
from discreet.errors import FileError, ParameterError
from discreet.privacy.epsilon import as_release_epsilon
from discreet.schema import Schema
from discreet.schema.columns import Numeric

if TYPE_CHECKING:
    from discreet.queries.crossed import CrossedCounts
    from discreet.released.answers import Answer, Answers

SHOWN = "the counts were shown"
MOST_LINES = 60
"""The most lines that a table of counts is printed in; --json and --out have all."""
BAR = 16
"""Length of the longest bar."""
BINS = 8
"""Bins of a numeric column that --by names without a number."""
MOST_DIGITS = 9
"""Digits of a number of bins: the bound that the query states is far below."""


def count(
    data: options.Data,
    schema: options.Schema,
    epsilon: options.Epsilon,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PREDICATE", help="Which records: 'age between 40 60'; repeat, and all must hold."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN[:BINS]", help="A count for each category, class or interval; repeat to cross."),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="A JSON file with a list of questions instead, each with where and by.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the answers to a JSON file.", show_default=False)] = None,
    adjacency: options.Adjacency = None,
    table: options.DataTable = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    stream: options.Stream = False,
    ledger: options.OptionalLedger = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    draft_ok: options.DraftOk = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Publish how many records there are: noisy counts with 95 % intervals, which are charged to the budget.

    Records whose label is none of the schema's classes are not counted. The bounds of an interval of numbers snap
    outwards to the column's public grid; what was counted is said. Questions in a file whose predicates exclude each
    other share their part of epsilon.

    \b
    Predicates: COLUMN = VALUE            COLUMN in VALUE,VALUE
                COLUMN between LOW HIGH   COLUMN missing   COLUMN unlisted

    \b
    Example, after `discreet demo`:
      discreet count discreet-demo/train.csv --schema discreet-demo/schema.json \\
        --where "mean_radius between 12 20" --by diagnosis --epsilon 0.1 --ledger ledger.jsonl --limit 2
      discreet count discreet-demo/train.csv --schema discreet-demo/schema.json \\
        --by mean_radius:6 --by diagnosis --epsilon 0.1
    """
    from discreet.doors.questions import planned
    from discreet.models.count_database import CountDatabase
    from discreet.privacy.ledger import as_ledger
    from discreet.sources import check_rows

    with paying(ledger, "no count was shown") as payment:
        loss = as_release_epsilon(epsilon)
        public = inputs.as_written(public_schema(schema, adjacency, draft_ok), delimiter, decimal, encoding)
        asked = read_questions(where or [], by or [], questions, public)
        planned(public, asked, loss)
        if out is not None:
            check_out(out, *inputs.data_files(data), inputs.schema_file(schema), ledger, questions, force=force)
        source = inputs.open_data(data, table, stream=stream, dialect=public.dialect)
        check_rows(source, sums=True)
        inputs.check_structure(source, data, public, table)
        account = as_ledger(payment.open(limit, loss, public.adjacency), loss)
        with counting(source):
            answers = CountDatabase(source, public, ledger=account, random_state=seed).ask(asked, loss)
        if out is not None:
            answers.save(out)
            payment.outcome = f"the counts are in {out}"
        if as_json:
            emit({**answers.to_dict(), "ledger": as_dict(payment.ledger)})
            payment.outcome = SHOWN
        else:
            _show(answers, payment, out)


def read_questions(where: list[str], by: list[str], path: Path | None, schema: Schema) -> list[CrossedCounts]:
    """The questions of the options, or of a file."""
    from discreet.queries.crossed import CrossedCounts

    if path is None:
        return [CrossedCounts.of([_predicate(each, schema) for each in where], [_column(each, schema) for each in by])]
    if where or by:
        raise ParameterError("--questions has where and by of its own; leave out --where and --by")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise FileError(f"{path} is not JSON; need a list of questions, each with where and by") from None
    if not isinstance(content, list):
        raise FileError(f"{path} is not a list; need a list of questions, each with where and by")
    return [CrossedCounts.from_plain(each) for each in content]


def _predicate(text: str, schema: Schema) -> dict[str, Any]:
    """A predicate from words: the column may have spaces in its name."""
    names = [name for name in schema.all_names if text.strip().startswith(f"{name} ")]
    if not names:
        known = ", ".join(schema.all_names[:8])
        raise ParameterError(f"--where {text!r} does not begin with a column and a space; columns: {known}")
    column = max(names, key=len)
    word, _, rest = text.strip()[len(column) :].strip().partition(" ")
    rest = rest.strip()
    is_number = column != schema.target and isinstance(schema[column], Numeric)
    if word in ("missing", "unlisted") and not rest:
        return {"column": column, word: True}
    if word in ("=", "equals") and rest:
        return {"column": column, "equals": _value(rest, is_number)}
    if word == "in" and rest:
        return {"column": column, "in": [_value(each.strip(), is_number) for each in rest.split(",")]}
    if word == "between" and len(rest.split()) == 2:
        return {"column": column, "between": [_value(each, True) for each in rest.split()]}
    raise ParameterError(
        f"--where {text!r}; need COLUMN = VALUE, COLUMN in VALUE,VALUE, COLUMN between LOW HIGH, COLUMN missing or "
        "COLUMN unlisted"
    )


def _value(text: str, is_number: bool) -> Any:
    if not is_number:
        return text
    try:
        return float(text) if not text.lstrip("+-").isdecimal() else int(text)
    except ValueError:
        return text  # the predicate refuses it, and names the column


def _column(text: str, schema: Schema) -> dict[str, Any]:
    name, _, bins = text.rpartition(":")
    if name and text not in schema.all_names and bins.isdecimal():
        if len(bins) > MOST_DIGITS:
            raise ParameterError(f"--by {name}:… has a number of {len(bins)} digits; need a few bins, such as {BINS}")
        return {"column": name, "bins": int(bins)}
    is_number = text in schema.names and isinstance(schema[text], Numeric)
    return {"column": text, "bins": BINS} if is_number else {"column": text}


def _show(answers: Answers, payment: Payment, out: Path | None) -> None:
    for answer in answers.answers:
        tabulate_answer(answer, answers.schema)
    payment.outcome = SHOWN if out is None else payment.outcome
    say(answers.guarantee.statement(), style="bold")
    payment.say_state()
    if out is not None:
        say(f"Answers written to {out}.")


def tabulate_answer(answer: Answer, schema: Schema) -> None:
    """One table: a line for each cell, with its interval and a bar."""
    counted = answer.query.where.counted(schema)
    title = f"Records with {' and '.join(counted)}" if counted else "All records"
    width, counts = answer.half_width(), answer.counts.ravel().tolist()
    largest = max(1.0, *counts) if counts else 1.0
    names = list(itertools.product(*answer.cells))
    rows = [
        [*name, f"{value:.6g}", f"{max(value - width, 0):.6g} to {max(value + width, 0):.6g}", _bar(value, largest)]
        for name, value in list(zip(names, counts, strict=True))[:MOST_LINES]
    ]
    heads = [*(each.column for each in answer.query.by), "count", "95 % interval", ""]
    tabulate(title, heads if answer.query.by else heads[:-1], rows if answer.query.by else [rows[0][:-1]], ["count"])
    if len(names) > MOST_LINES:
        advise(f"{len(names) - MOST_LINES} more cells are not shown; --json or --out FILE has them all.")


def _bar(value: float, largest: float) -> str:
    return "█" * round(BAR * max(value, 0.0) / largest)
