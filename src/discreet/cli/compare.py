"""`discreet compare`: compare models on public data, on the same folds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet import __version__
from discreet.cli import options
from discreet.cli.outputs import advise, emit, say, tabulate
from discreet.cli.progress import progress_bars, resumable
from discreet.errors import ParameterError

PUBLIC = (
    "For public data only: records are counted without protection, the noise is seeded, and these scores are not "
    "private. On private data use `discreet score`, which pays for what it shows."
)


def compare(
    out: options.FolderOut,
    grid: Annotated[
        Path | None, typer.Argument(help="A .toml file with data, models, epsilons, ...", show_default=False)
    ] = None,
    data: Annotated[str | None, typer.Option(help="Data sets, such as iris,wine.", show_default=False)] = None,
    models: Annotated[
        str | None, typer.Option(help="Models, such as naive-bayes,svm(huber=0.5).", show_default=False)
    ] = None,
    epsilons: Annotated[str | None, typer.Option(help="Privacy losses, such as 0.1,1.", show_default=False)] = None,
    folds: Annotated[int | None, typer.Option(help="Folds of the cross-validation.  [default: 10]")] = None,
    repeats: Annotated[int | None, typer.Option(help="Shuffles of the records.  [default: 1]")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of shuffles and noise.  [default: 0]")] = None,
    adjacency: Annotated[str | None, typer.Option(help="add-remove or replace-one.  [default: add-remove]")] = None,
    directory: options.DataFolder = None,
    jobs: options.Jobs = 1,
    beside: Annotated[
        list[Path] | None,
        typer.Option(help="A file with runs of other models on the same folds, to compare with; repeat for more."),
    ] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Also write the runs as runs.parquet.")] = False,
    as_json: options.Json = False,
) -> None:
    """Compare models on public data: accuracy by data set and epsilon, ranks and tests.

    Each run is written to runs.csv as soon as it ends; if the command is stopped and started again, it goes on from
    there. Writes report.html (one file that needs no network), report.md and, if matplotlib is installed, pictures:
    accuracy against epsilon, ranks, p-values, the spread at each epsilon, budget and noise of each query. For public
    data only.

    \b
    Examples:
      discreet compare --data iris,wine --models auto,naive-bayes --epsilons 0.1,1,10 --out comparison
      discreet compare --data iris --models "auto,naive-bayes(select=none)" --epsilons 1 --out comparison
      discreet compare grid.toml --jobs 2 --out comparison
    """
    from discreet.models.parameter_texts import configured, split_names
    from discreet.research.comparison import ResultsFile, summary
    from discreet.research.comparison import compare as run_grid

    flags = {"data": data, "models": models, "epsilons": epsilons}
    lists = {name: split_names(value) for name, value in flags.items() if value is not None}
    numbers = {"folds": folds, "repeats": repeats, "seed": seed, "adjacency": adjacency}
    wanted = _grid(grid, {**lists, **{name: value for name, value in numbers.items() if value is not None}})
    families = {name: configured(name, catalogue()) for name in wanted.models}
    place = None if directory is None else str(directory)
    _check_data(wanted.data, place)
    advise(PUBLIC)
    with resumable(out / "runs.csv"), progress_bars() as told:
        found = run_grid(
            wanted,
            families,
            ResultsFile(out / "runs.csv"),
            version=__version__,
            directory=place,
            jobs=jobs,
            others=beside or [],
            progress=lambda done, of: told("runs", done, of),
        )
    cells = summary.cells(found.measured)
    remarks = _remarks(families)
    if found.failures:
        remarks.append(f"{len(found.failures)} runs failed and are left out of the means.")
    written = [out / "runs.csv", *_write(wanted, families, found, remarks, out, place)]
    if parquet:
        written.append(_parquet(out))
    failed = [f"{count} runs failed: {message}" for message, count in _counted(found.failures).items()]
    for remark in [*found.remarks(out / "runs.csv", jobs), *failed, *remarks]:
        advise(remark)
    if as_json:
        emit(_report(cells, found.failures, written))
    else:
        _show(cells)
        say(f"Written: {', '.join(map(str, written))}")


def catalogue() -> dict[str, Any]:
    """The models that can be compared, by name: our models that take an epsilon, and the papers' classifiers."""
    from discreet.models import MODELS
    from discreet.models.classifier import PrivateClassifier
    from discreet.research import papers

    published = {name: getattr(papers, name) for name in papers.__all__}
    return {
        **{name: family for name, family in MODELS.items() if issubclass(family, PrivateClassifier)},
        **{name: family for name, family in published.items() if hasattr(family, "predict")},
    }


def _remarks(families: dict[str, Any]) -> list[str]:
    """A remark on models whose epsilon is only claimed."""
    claimed = [name for name, family in families.items() if hasattr(getattr(family, "func", family), "honest_epsilon")]
    if not claimed:
        return []
    return [f"The epsilon of {', '.join(claimed)} is what the paper claims; no guarantee is stated for it here."]


def _grid(path: Path | None, flags: dict[str, Any]) -> Any:
    """The grid of a file or of the options; both together are refused, since they may contradict each other."""
    from discreet.research.comparison import Grid, read_grid

    if path is not None:
        if flags:
            raise ParameterError(f"{path} and --{next(iter(flags))} both say what to compare; leave one out")
        return read_grid(path)
    missing = [name for name in ("data", "models", "epsilons") if name not in flags]
    if missing:
        raise ParameterError(f"no {missing[0]} to compare; name a .toml file, or add --{missing[0]}")
    return Grid(**flags)


def _check_data(names: Any, directory: str | None) -> None:
    """Raise ParameterError, in the words of the command line, if a data set is not known."""
    from discreet import datasets

    known = datasets.known(directory)
    for name in names:
        if name not in known:
            raise ParameterError(
                f"data set {name!r} is not known; need one of: {', '.join(known)}; for others name a folder with "
                "schemas.json by --directory or DISCREET_DATA"
            )


def _write(
    grid: Any, families: dict[str, Any], found: Any, remarks: list[str], out: Path, directory: str | None
) -> list[Path]:
    """Write the report, with pictures if matplotlib is installed; returns the files."""
    from discreet.research.comparison import describe, engine, summary
    from discreet.research.report.folder import write_report

    drawn = describe.has_pictures()
    if not drawn:
        advise(describe.missing_pictures())
    charges = engine.charges(grid, families, directory) if drawn else ("", {})
    document = describe.describe(
        grid,
        summary.cells(found.measured),
        charges,
        remarks,
        __version__,
        drawn=drawn,
        records=found.records,
        directory=directory is not None,
    )
    return write_report(document, out, describe.PICTURES)


def _parquet(out: Path) -> Path:
    from discreet.research.comparison import ResultsFile

    ResultsFile(out / "runs.csv").write_parquet(out / "runs.parquet")
    return out / "runs.parquet"


def _counted(failures: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for run, message in failures:
        words = f"{run.model} at epsilon {run.epsilon} on {run.data}: {message}"
        counts[words] = counts.get(words, 0) + 1
    return counts


def _report(cells: Any, failures: Any, written: list[Path]) -> dict[str, Any]:
    from discreet.research.comparison import summary

    return {
        "cells": [each._asdict() for each in cells],
        "average_ranks": summary.average_ranks(cells),
        "tests": [each._asdict() for each in summary.differences(cells)],
        "failures": [{**each.run._asdict(), "message": each.message} for each in failures],
        "files": [str(path) for path in written],
    }


def _show(cells: Any) -> None:
    from discreet.research.comparison import summary

    heads = ["data", "model", "ε", "runs", "accuracy", "of noiseless", "balanced / rarest found"]
    rows = [
        [
            cell.data,
            cell.model,
            summary.shown(cell.epsilon),
            str(cell.runs),
            f"{cell.mean:.3f} ± {cell.deviation:.3f}",
            "" if cell.ratio is None else f"{cell.ratio:.0%}",
            summary.rates(cell),
        ]
        for cell in cells
    ]
    tabulate("Accuracy", heads, rows, right=heads[2:])
    ranks = summary.average_ranks(cells)
    if ranks:
        tabulate("Average rank", ["model", "rank"], [[name, f"{rank:.2f}"] for name, rank in ranks.items()], ["rank"])
    tested = [[*map(str, each[:5]), f"{each.p_value:.2g}"] for each in summary.differences(cells)]
    if tested:
        heads = ["first", "second", "pairs", "first better", "second better", "p"]
        tabulate("Wilcoxon signed-rank test", heads, tested, right=heads[2:])
