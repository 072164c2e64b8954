"""`discreet explain` and `discreet plot`: what a model says, as text and as a picture."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs
from discreet.cli.outputs import advise, check_out, emit, printable
from discreet.errors import ParameterError
from discreet.writing import whole_file

PICTURES = (".png", ".svg", ".pdf")

Top = Annotated[int, typer.Option(min=1, help="How many attributes to show.")]


def explain(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    top: Top = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which attributes decide, and which values speak for each class.

    \b
    Example, after `discreet demo`:
      discreet explain discreet-demo/model.json --top 5
    """
    trained = inputs.load_model(model)
    if as_json:
        emit(_content(trained, top))
    else:
        typer.echo(printable(trained.explain(top)))


def plot(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The picture to write: .png, .svg or .pdf.", show_default=False)],
    top: Top = 10,
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


def save_picture(model: Any, out: Path, top: int) -> None:
    """Write the model's figure, whole or not at all."""
    picture = io.BytesIO()
    model.plot(top).savefig(picture, format=out.suffix.lower().removeprefix("."), dpi=150)
    with whole_file(out, binary=True) as file:
        file.write(picture.getvalue())


def _content(model: Any, top: int) -> dict[str, Any]:
    """The explanation as plain data: bits of each attribute, and how many times as likely a cell is in a class."""
    from discreet.explanation import ranked

    evidence, prior = model.evidence()
    classes = [str(label) for label in model.schema_.classes]
    attributes = [
        {
            "name": each.name,
            "bits": bits,
            "times_as_likely": {
                label: dict(zip(each.cells, (2.0**row).tolist(), strict=True))
                for label, row in zip(classes, each.log_ratios(prior), strict=True)
            },
        }
        for each, bits in ranked(evidence, prior)[:top]
    ]
    return {
        "model": model.kind,
        "target": model.schema_.target,
        "classes": dict(zip(classes, prior.tolist(), strict=True)),
        "attributes": attributes,
    }
