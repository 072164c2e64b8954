"""`discreet federated simulate`: how accurate federated training would be, on public data."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.folder import make_folder
from discreet.cli.outputs import advise, check_out, emit, save_figure, say, tabulate
from discreet.cli.progress import progress_bars
from discreet.datasets import DataSet, load
from discreet.datasets.collection import read_labelled
from discreet.errors import MissingExtra, ParameterError
from discreet.pictures.figure import colours_of, new_figure
from discreet.pictures.labels import caption, title
from discreet.storage.writing import whole_file

PUBLIC = (
    "For public data only: rows are counted without protection, the noise is seeded, and these scores are not private. "
    "On private data a simulation would be a release that is not paid for."
)

FILES = ("simulation.csv", "simulation.png")
"""What is written into the folder."""


def simulate(
    data: Annotated[
        str, typer.Argument(help="A data set by name, such as iris, or a file of public data.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The folder to write into: table and figure.", show_default=False)],
    schema: Annotated[str | None, typer.Option(help="A schema file, if the data are a file.")] = None,
    parties: Annotated[str, typer.Option(help="Numbers of parties.")] = "1,10,100,1000",
    epsilons: Annotated[str, typer.Option(help="Privacy losses.")] = "0.01,0.0316,0.1,0.316,1,3.16,10",
    repeats: Annotated[int, typer.Option(min=1, help="How often to draw test rows, partition and noise.")] = 20,
    sizes: Annotated[str, typer.Option(help="Numbers of rows per party: equal, uniform or exponential.")] = "equal",
    skew: Annotated[
        float | None,
        typer.Option(help="Dirichlet concentration of the labels: 0.1 is a strong skew; default: no skew."),
    ] = None,
    model: Annotated[str, typer.Option(help="naive-bayes or one-rule.")] = "naive-bayes",
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything that is drawn.")] = 0,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Simulate federated training on public data: local noise, secure sum and training at one place.

    Writes simulation.csv and, if matplotlib is installed, simulation.png: accuracy against ε, one line per number of
    parties. For public data only.

    \b
    Example:
      discreet federated simulate iris --parties 1,10 --epsilons 0.1,1,10 --repeats 5 --out simulation
    """
    from discreet.federated.simulate import PublicTable, grid

    settings = list(
        grid(_numbers("parties", parties, int), _numbers("epsilons", epsilons, float), sizes=sizes, concentration=skew)
    )
    X, y, public = _open(data, schema)
    table = PublicTable(X, y, public, model=model, seed=seed)
    for setting in settings:
        table.invitation(setting)  # a wrong setting is found before an hour of work
    make_folder(out)
    for name in FILES:
        check_out(out / name, force=force)
    advise(PUBLIC)
    lines = []
    with progress_bars() as told:
        for done, setting in enumerate(settings):
            told("simulating", done, len(settings))
            lines.append(table.run(setting, repeats).to_dict())
    files = _write(lines, Path(data).stem, out)
    if as_json:
        plain = [{key: None if value != value else value for key, value in line.items()} for line in lines]
        emit({"public_data_only": PUBLIC, "results": plain, "files": [str(path) for path in files]})
        return
    _show(lines)
    say("Written: " + ", ".join(str(path) for path in files))


def _numbers(name: str, text: str, kind: Callable[[str], Any]) -> list[Any]:
    try:
        numbers = [kind(each) for each in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 < each < math.inf for each in numbers):
        raise ParameterError(f"--{name}={text!r}; need numbers > 0, separated by commas, such as 1,10,100")
    return sorted(set(numbers))


def _open(data: str, schema: str | None) -> DataSet:
    """A data set by name, or a file with its schema, whose target column holds the labels."""
    if schema is None and not Path(data).suffix:
        return load(data)
    if schema is None:
        raise ParameterError(f"{data} is a file; say what is public about it: --schema FILE (`discreet schema draft`)")
    public = inputs.load_schema(schema)
    inputs.check_header(Path(data), public)
    return read_labelled(Path(data), public, f"the target of {schema}; name another file or schema")


def _write(lines: Sequence[dict[str, Any]], name: str, out: Path) -> list[Path]:
    """Write the table and, if matplotlib is installed, the figure; returns the files."""
    files = [out / FILES[0]]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    with whole_file(files[0]) as file:
        file.write(text.getvalue())
    try:
        figure = draw(lines, name)
    except MissingExtra as error:
        advise(f"No figure: {error}")
        return files
    save_figure(figure, out / FILES[1])
    return [*files, out / FILES[1]]


TITLES = {"local-noise": "local noise", "secure-sum": "secure sum", "published": "as published: no guarantee"}
"""Titles of the panels, one per protocol in the results; these may include results of other programs."""


def draw(lines: Sequence[dict[str, Any]], name: str) -> Any:
    """A figure of accuracy against ε: one panel per protocol, one line per number of parties."""
    central = [line for line in lines if line["protocol"] == "central"]
    protocols = [each for each in TITLES if any(line["protocol"] == each for line in lines)]
    figure = new_figure(figsize=(1.5 + 4.2 * max(1, len(protocols)), 4))
    axes = figure.subplots(1, max(1, len(protocols)), sharey=True, squeeze=False)[0]
    for axis, protocol in zip(axes, protocols or ["central"], strict=True):
        _line(axis, central, "at one place", "black", "D")
        many = sorted({line["parties"] for line in lines if line["protocol"] == protocol != "central"})
        shades = colours_of("cividis", [place / max(1, len(many) - 0.7) for place in range(len(many))])
        for number, colour, marker in zip(many, shades, "osv^<>pX*" * len(many), strict=False):
            own = [line for line in lines if (line["protocol"], line["parties"]) == (protocol, number)]
            _line(axis, own, f"{number} parties", colour, marker)
        axis.set_xscale("log")
        axis.set_xlabel("ε")
        axis.set_title(TITLES.get(protocol, "at one place"))
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
    axes[0].set_ylabel("accuracy on held-out rows")
    title(figure, f"{name}: federated training (public data; scores not private)", 10)
    caption(figure, "Bars: the standard error of the mean over repeats.")
    return figure


def _line(axis: Any, lines: Sequence[dict[str, Any]], label: str, colour: Any, marker: str) -> None:
    lines = sorted(lines, key=lambda line: float(line["epsilon"]))
    error = [0.0 if line["error"] != line["error"] else line["error"] for line in lines]
    where, height = [line["epsilon"] for line in lines], [line["accuracy"] for line in lines]
    axis.errorbar(where, height, yerr=error, label=label, color=colour, marker=marker, markersize=4, linewidth=1.2)


def _show(lines: Sequence[dict[str, Any]]) -> None:
    epsilons = sorted({line["epsilon"] for line in lines})
    rows = []
    for protocol, many in dict.fromkeys((line["protocol"], line["parties"]) for line in lines):
        scores = {
            line["epsilon"]: line["accuracy"]
            for line in lines
            if (line["protocol"], line["parties"]) == (protocol, many)
        }
        rows.append([protocol, str(many), *(f"{scores[epsilon]:.3f}" for epsilon in epsilons)])
    heads = ["protocol", "parties", *(f"ε = {epsilon:g}" for epsilon in epsilons)]
    tabulate("Accuracy on held-out rows", heads, rows, right=heads[1:])
