"""`discreet explain` and `discreet plot`: how a model decides, as text and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import inputs, options
from discreet.cli.outputs import advise, check_out, check_picture, emit, printable, save_figure

Top = Annotated[
    int | None, typer.Option(min=1, help="How many columns, rules, trees or levels to show.", show_default=False)
]


def explain(
    model: options.Model,
    top: Top = None,
    as_json: options.Json = False,
) -> None:
    """Show how a model decides: by which columns and values, rules, weights or tree.

    \b
    Example, after `discreet demo`:
      discreet explain discreet-demo/model.json --top 5
    """
    trained = inputs.load_model(model)
    if as_json:
        about = {"model": trained.kind, "target": trained.schema_.target}
        emit({**about, **(trained.content() if top is None else trained.content(top))})
    else:
        typer.echo(printable(trained.explain() if top is None else trained.explain(top)))


def plot(
    model: options.Model,
    out: Annotated[Path, typer.Option(help="The picture to write: .png, .svg or .pdf.", show_default=False)],
    top: Top = None,
    force: options.Force = False,
) -> None:
    """Draw how a model decides.

    \b
    Example, after `discreet demo`:
      discreet plot discreet-demo/model.json --out m.png
    """
    check_picture("--out", out)
    check_out(out, model, force=force)
    trained = inputs.load_model(model)
    save_figure(trained.plot() if top is None else trained.plot(top), out)
    advise(f"Picture written to {out}")
