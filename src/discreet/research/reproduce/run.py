"""Runs a study: finished runs are not repeated, and every number of the report comes from the runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from discreet import datasets
from discreet.errors import FileError, MissingExtra, ParameterError
from discreet.research.comparison import Failure, ResultsFile, compare
from discreet.research.comparison.describe import has_pictures
from discreet.research.comparison.summary import Cell, cells
from discreet.research.report import Document
from discreet.research.reproduce.study import Context, Experiment, Study
from discreet.storage.writing import whole_file

PUBLIC = "Public data: these scores are exact functions of the records, and not private."
SEEDED = (
    "Every run has a seed, so that it can be repeated; a seeded model has no guarantee. What is said of the ε of our "
    "models holds for the same models without a seed, for one record, under the adjacency that is named."
)
QUICK = "Quick mode: fewer repeats and smaller data than in the paper. For all of it, add --full."

Progress = Callable[[str, int, int], None]


class Reproduced(NamedTuple):
    """The outcome of a study: its report, which of its statements hold, and what could not be run.

    absent : data sets that are not on this machine.
    remarks : remarks for the user about files, processes and data.
    """

    document: Document
    checks: Mapping[str, bool]
    found: Mapping[str, Sequence[Cell]]
    failures: Sequence[Failure]
    absent: Sequence[str]
    remarks: Sequence[str] = ()


def reproduce(
    study: Study,
    folder: str | Path,
    *,
    version: str,
    full: bool = False,
    directory: str | None = None,
    jobs: int = 1,
    progress: Progress = lambda experiment, done, of: None,
) -> Reproduced:
    """Run the experiments of a study, each with its file of runs in the folder, and write the report.

    Parameters
    ----------
    full : whether to run everything in the paper, or only a quick part.
    directory : the folder of the data sets; default as for `discreet.datasets.load`.
    progress : called with the experiment, the number of its finished runs and the number of all its runs.

    Raises
    ------
    MissingExtra : matplotlib, which every report needs, is not installed; nothing was run.
    """
    if not has_pictures():
        raise MissingExtra("plot")
    known = set(datasets.known(directory))
    asked = study.experiments(full, directory)
    absent = sorted({name for each in asked for name in each.grid.data} - known)
    possible = [each for each in (_without(each, absent) for each in asked) if each is not None]
    if not possible:
        raise ParameterError(
            f"{study.name} needs the data sets {', '.join(absent)}, and none of them was found; name a folder with "
            "schemas.json and the data by --directory or DISCREET_DATA"
        )
    found: dict[str, Sequence[Cell]] = {each.name: () for each in asked}
    failures: list[Failure] = []
    remarks: list[str] = []
    for name, grid, models in possible:

        def told(done: int, of: int, name: str = name) -> None:
            progress(name, done, of)

        path = Path(folder) / f"{name.replace(' ', '-')}.csv"
        results = compare(
            grid, models, ResultsFile(path), version=version, directory=directory, jobs=jobs, progress=told
        )
        found[name] = cells(results.measured)
        failures += results.failures
        remarks += results.remarks(path, jobs)
    context = Context(found, _origin(study, full, version, directory), full, directory)
    report = document(study, context, absent, len(failures))
    return Reproduced(report, study.checks(context), found, failures, absent, list(dict.fromkeys(remarks)))


def document(study: Study, context: Context, absent: Sequence[str] = (), failed: int = 0) -> Document:
    """The report of a study after its experiments were run."""
    notices = [PUBLIC, SEEDED] if context.full else [PUBLIC, SEEDED, QUICK]
    if failed:
        notices.append(f"{failed} runs failed and are left out of the means.")
    if absent:
        notices.append(f"Not on this machine, and so not in this report: {', '.join(absent)}.")
    return Document(study.title, study.sections(context), notices, context.origin)


def _without(experiment: Experiment, absent: Sequence[str]) -> Experiment | None:
    """The experiment on the data sets that were found; None if there are none."""
    kept = [name for name in experiment.grid.data if name not in absent]
    return experiment._replace(grid=replace(experiment.grid, data=kept)) if kept else None


def _origin(study: Study, full: bool, version: str, directory: str | None) -> str:
    """The command and seeds that make the numbers again; the folder of the data is not named."""
    seeds = sorted({each.grid.seed for each in study.experiments(full)})
    flags = f"{' --full' if full else ''}{'' if directory is None else ' --directory DIR'}"
    words = f"discreet reproduce {study.name}{flags} --out FOLDER"
    return f"discreet {version}: {words}; seed {', '.join(map(str, seeds))}"


HEADS = ("experiment", *Cell._fields)


def write_cells(found: Mapping[str, Sequence[Cell]], path: Path) -> None:
    """Write the means behind a report as a CSV file that is small enough to commit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADS)
    for name, own in found.items():
        writer.writerows([name, *("" if value is None else value for value in cell)] for cell in own)
    with whole_file(path) as file:
        file.write(text.getvalue())


def read_cells(path: Path) -> dict[str, list[Cell]]:
    """The inverse of `write_cells`."""
    try:
        lines = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; check the path") from None
    found: dict[str, list[Cell]] = {}
    for line in lines:
        ratio = float(line["ratio"]) if line["ratio"] else None
        texts = line["data"], line["model"], line["epsilon"]
        numbers = int(line["runs"]), float(line["mean"]), float(line["deviation"])
        rates = (float(line[name]) if line.get(name) else None for name in ("balanced", "rarest"))
        found.setdefault(line["experiment"], []).append(Cell(*texts, *numbers, ratio, *rates))
    return found
