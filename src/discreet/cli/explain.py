"""`discreet explain` and `discreet plot`: what a model says, as text and as a picture."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.outputs import advise, check_out, emit, printable
from discreet.errors import ParameterError
from discreet.storage.writing import whole_file

PICTURES = (".png", ".svg", ".pdf")

Top = Annotated[
    int | None, typer.Option(min=1, help="How much to show: attributes, rules, trees or levels.", show_default=False)
]


def explain(
    model: options.Model,
    top: Top = None,
    as_json: options.Json = False,
) -> None:
    """Show how a model decides: its attributes and values, rules, weights or tree.

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
) -> None:
    """Draw what a model says.

    \b
    Example, after `discreet demo`:
      discreet plot discreet-demo/model.json --out m.png
    """
    if out.suffix.lower() not in PICTURES:
        raise ParameterError(f"--out={out}; need a name that ends in {', '.join(PICTURES)}")
    check_out(out, model)
    save_picture(inputs.load_model(model), out, top)
    advise(f"Picture written to {out}")


def save_picture(model: Any, out: Path, top: int | None = None) -> None:
    """Write the model's figure, whole or not at all."""
    picture = io.BytesIO()
    figure = model.plot() if top is None else model.plot(top)
    figure.savefig(picture, format=out.suffix.lower().removeprefix("."), dpi=150)
    with whole_file(out, binary=True) as file:
        file.write(picture.getvalue())
