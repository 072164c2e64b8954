"""`discreet advise`: what to expect of auto at which epsilon, before anything is spent and without the data."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.outputs import advise as remark
from discreet.cli.outputs import check_out, check_picture, emit, save_figure, say, tabulate

RANGE = "mean, and a range that holds in about four of five tables"
USEFUL = "Clearly better than always predicting the largest class from about this ε on"
FIRST = " ← first choice"
RARE = (
    "These are accuracies. How much of a rare class is found cannot be told without the data: with no weights, a class "
    "of a few per cent is often not found at all. Train with --class-weight balanced if it matters, and let `discreet "
    "score` publish what is found on records that were held back (`discreet split`)."
)
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
    plot: Annotated[
        Path | None, typer.Option(help="The picture to write: .png, .svg or .pdf.", show_default=False)
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Say what auto picks at which epsilon and what accuracy to expect, from public facts alone.

    Reads a schema and no data, so it costs no privacy. The advice rests on the accuracy of the models on public data
    sets and made-up tables with as much signal per class, and its ranges on how these differ.

    \b
    Examples, after `discreet demo`:
      discreet advise discreet-demo/schema.json
      discreet advise discreet-demo/schema.json --records 12000 --epsilon 0.1,1 --plot advice.png
    """
    from discreet.advice import advisor
    from discreet.advice.wording import command

    if plot is not None:
        check_picture("--plot", plot)
        check_out(plot, inputs.schema_file(schema), force=force)
    declared, public = inputs.load_schema(schema), inputs.load_schema(schema, adjacency)
    if not public.is_public:
        remark(
            f"{schema} is a draft: {len(public.from_data)} of its entries were read from the data. Until a person has "
            "confirmed them, neither the draft nor this advice is public."
        )
    wanted = advisor.EPSILONS if epsilon is None else [part.strip() for part in epsilon.split(",") if part.strip()]
    advice = advisor.advise(public, wanted, records=records)
    if plot is not None:
        from discreet.advice.picture import draw

        save_figure(draw(advice), plot)
    if as_json:
        emit(report(advice, public.adjacency.value, not public.is_public))
        return
    _show(advice)
    line = command(advice, schema, None if public.adjacency is declared.adjacency else public.adjacency.value)
    if line:
        say(f"To train{', without privacy' if '--epsilon inf ' in line else ''}: {line}")
    say(RARE)
    drafted = "No data were read." if public.is_public else DRAFTED
    say(f"Data sets that count most: {', '.join(advice.nearest[:5])}. {drafted}")
    if plot is not None:
        remark(f"Picture written to {plot}")


def report(advice: Any, adjacency: str, draft: bool) -> dict[str, Any]:
    """The advice as plain data; an infinite epsilon becomes null."""
    from discreet.advice.wording import guess, hopeless, sentence

    return {
        "draft": draft,
        "facts": {**vars(advice.facts), "adjacency": adjacency},
        "choices": [
            {
                "epsilon": _finite(choice.epsilon),
                "train": choice.first.model,
                "picked": choice.picked.to_dict(),
                "is_worth_training": not hopeless(advice, choice),
                "is_guess": choice.is_guess,
                "sentence": " ".join([sentence(advice, [choice]), *guess(advice)]),
                "models": [vars(each) for each in choice.expectations],
            }
            for choice in advice.choices
        ],
        "largest_class": vars(advice.largest),
        "useful_from": [{name: _finite(value) for name, value in vars(each).items()} for each in advice.useful],
        "nearest_cases": list(advice.nearest),
        "rare_classes": RARE,
    }


def _finite(value: Any) -> Any:
    return None if value == math.inf else value


def _show(advice: Any) -> None:
    from discreet.advice.wording import from_where, rounded, sentences

    heads = ["model", *(f"ε = {rounded(choice.epsilon)}" for choice in advice.choices)]
    models = zip(*(choice.expectations for choice in advice.choices), strict=True)
    body = [
        [f"{row[0].model}{FIRST if not place else ''}", *(_per_cent(each) for each in row)]
        for place, row in enumerate(models)
    ]
    body.append([f"({advice.largest.model})", *(_per_cent(advice.largest) for _ in advice.choices)])
    tabulate(f"Expected accuracy in per cent: {RANGE}", heads, body, right=heads[1:])
    where = [[each.model, from_where(each)] for each in advice.useful]
    tabulate(USEFUL, ["model", "ε (range in four of five cases)"], where)
    for text in sentences(advice):
        say(text)


def _per_cent(each: Any) -> str:
    return f"{100 * each.accuracy:.0f} ({100 * each.low:.0f}–{100 * each.high:.0f})"
