"""`discreet advise`: which model to train at which epsilon, before anything is spent and without the data."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.outputs import advise as remark
from discreet.cli.outputs import check_out, check_picture, emit, save_figure, say, tabulate
from discreet.cli.progress import progress_bars

STAR = "* the first choice: on average the least below the best model in comparable cases"
DRAFTED = "This command read no data, but the draft's entries were read from the data."


def advise(
    schema: Annotated[str, typer.Argument(help="A schema file, or schemas.json#name.", show_default=False)],
    records: Annotated[
        int | None, typer.Option(help="The number of records, roughly; default: as the schema says.")
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Privacy losses, such as 0.1,1.  [default: 0.01,0.1,1,5]", show_default=False)
    ] = None,
    adjacency: options.Adjacency = None,
    simulation: Annotated[
        bool, typer.Option("--simulation/--no-simulation", help="Try the models on made-up tables too.")
    ] = True,
    plot: Annotated[
        Path | None, typer.Option(help="The picture to write: .png, .svg or .pdf.", show_default=False)
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say which model to train at which epsilon, from public facts alone.

    Reads a schema and no data, so it costs no privacy. The advice rests on the accuracy of the models on public data
    sets of similar size and shape, and on made-up tables with your schema. It says how sure it is.

    \b
    Examples, after `discreet demo`:
      discreet advise discreet-demo/schema.json
      discreet advise discreet-demo/schema.json --records 12000 --epsilon 0.1,1 --plot advice.png
    """
    from discreet.advice import advisor

    if plot is not None:
        check_picture("--plot", plot)
        check_out(plot, inputs.schema_file(schema))
    declared, public = inputs.load_schema(schema), inputs.load_schema(schema, adjacency)
    if not public.is_public:
        remark(
            f"{schema} is a draft: {len(public.from_data)} of its entries were read from the data. Until a person has "
            "confirmed them, neither the draft nor this advice is public."
        )
    wanted = advisor.EPSILONS if epsilon is None else [part.strip() for part in epsilon.split(",") if part.strip()]
    with progress_bars() as told:
        advice = advisor.advise(
            public,
            wanted,
            records=records,
            simulated=simulation,
            progress=partial(told, "simulating"),
        )
    if plot is not None:
        from discreet.advice.picture import draw

        save_figure(draw(advice), plot)
    if as_json:
        emit(report(advice, public.adjacency.value, not public.is_public))
        return
    _show(advice)
    _advise_commands(advice, schema, None if public.adjacency is declared.adjacency else public.adjacency.value)
    if advice.hindered:
        say(f"Nothing was simulated, since {advice.hindered}: the advice rests on public data sets alone.")
    drafted = "No data were read." if public.is_public else DRAFTED
    say(f"Cases that count most: {', '.join(advice.nearest[:5])}. {drafted}")
    if plot is not None:
        remark(f"Picture written to {plot}")


def report(advice: Any, adjacency: str, draft: bool) -> dict[str, Any]:
    """The advice as plain data; an infinite epsilon becomes null."""
    from discreet.advice.record import track_record
    from discreet.advice.wording import hopeless, options, sentence

    record = track_record(advice.cases)
    return {
        "draft": draft,
        "facts": {**vars(advice.facts), "adjacency": adjacency},
        "choices": [
            {
                "epsilon": _finite(choice.epsilon),
                "train": choice.first.model,
                "is_worth_training": not hopeless(advice, choice),
                "options": options(choice.first.model),
                "is_guess": choice.is_guess,
                "cases": choice.cases,
                "sentence": sentence(advice, [choice]),
                "models": [vars(each) for each in choice.expectations],
            }
            for choice in advice.choices
        ],
        "useful_from": [{name: _finite(value) for name, value in vars(each).items()} for each in advice.useful],
        "nearest_cases": list(advice.nearest),
        "record": {**record._asdict(), "share": record.fraction},
    }


def _finite(value: Any) -> Any:
    return None if value == math.inf else value


def _show(advice: Any) -> None:
    from discreet.advice.cases import ADVISED
    from discreet.advice.wording import from_where, rounded, sentences

    heads = ["model", *(f"ε = {rounded(choice.epsilon)}" for choice in advice.choices)]
    found = {
        (choice.epsilon, each.model): f"{'* ' if each is choice.first else ''}{_per_cent(each)}"
        for choice in advice.choices
        for each in choice.expectations
    }
    body = [[model, *(found[choice.epsilon, model] for choice in advice.choices)] for model in ADVISED]
    tabulate(f"Expected accuracy in per cent, with a range\n{STAR}", heads, body, right=heads[1:])
    where = [[each.model, from_where(each)] for each in advice.useful]
    tabulate("Useful from about this ε on", ["model", "ε (range in four of five cases)"], where)
    for text in sentences(advice):
        say(text)


def _advise_commands(advice: Any, schema: str, adjacency: str | None) -> None:
    """Print a command for each model of the advice."""
    from discreet.advice.wording import command

    chosen = dict.fromkeys(choice.first.model for choice in advice.choices)
    for line in filter(None, (command(advice, model, schema, adjacency) for model in chosen)):
        say(f"To train{', without privacy' if '--epsilon inf ' in line else ''}: {line}")


def _per_cent(each: Any) -> str:
    return f"{100 * each.accuracy:.0f} ({100 * each.low:.0f}–{100 * each.high:.0f})"
