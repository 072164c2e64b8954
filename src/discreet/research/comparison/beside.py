"""Runs made elsewhere, such as those of rival libraries in their own environments, shown beside a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from discreet.errors import FileError, ParameterError
from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, Grid, Run
from discreet.research.comparison.results import Content, Measured, ResultsFile


def beside(path: str | Path, grid: Grid, contents: Mapping[str, Content]) -> dict[Run, Measured]:
    """The runs of a file that pair with runs of the grid: same records, folds, seed, adjacency and epsilons.

    Their version of discreet does not matter, since the models are not ours. A model that the grid runs itself is left
    out.
    """
    if Path(path).is_dir():
        raise FileError(f"{path} is a folder; name a file of runs, such as {Path(path) / 'runs.csv'}")
    if not Path(path).is_file():
        raise FileError(f"cannot read {path}: no such file; name a file of runs")
    rows = ResultsFile(path).read()
    if not rows:
        raise FileError(f"{path} is empty: it has no runs; name a file of runs")
    epsilons = {*grid.epsilons, NOT_PRIVATE}
    paired = {
        run: measured
        for (run, content), measured in rows.items()
        if run.data in contents
        and content.data_hash == contents[run.data].data_hash
        and (run.adjacency, run.folds, run.seed) == (grid.adjacency, grid.folds, grid.seed)
        and run.repeat < grid.repeats
        and run.epsilon in epsilons
        and run.model != MAJORITY
    }
    others = {run: measured for run, measured in paired.items() if run.model not in grid.models}
    if paired and not others:
        names = ", ".join(dict.fromkeys(run.model for run in paired))
        raise ParameterError(
            f"{path}: all of its models have names of models that this comparison runs itself ({names}); give them "
            "other names in the file"
        )
    if not others:
        raise ParameterError(
            f"{path} has no run that pairs with a run of this comparison; data set, records, adjacency, number of "
            "folds, seed and epsilon have to be the same"
        )
    return others
