"""Runs the part of a grid that a results file does not have yet, on one core or several."""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from discreet import datasets
from discreet.errors import DiscreetError, ParameterError
from discreet.privacy.receipt import Charge
from discreet.records.encoding import as_floats, class_codes
from discreet.research.comparison.beside import beside
from discreet.research.comparison.data_facts import DataFacts, counted, strange
from discreet.research.comparison.grid import MAJORITY, Grid, Run, as_number
from discreet.research.comparison.results import Content, Measured, ResultsFile, Rows
from discreet.schema.columns import Numeric

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


class Failure(NamedTuple):
    """A run that failed, and the model's error message; the run is tried again next time."""

    run: Run
    message: str


class Comparison(NamedTuple):
    """The runs of a grid, runs of other files beside them, and failures.

    of_other_versions : number of rows in the file that another version made.
    of_other_data : number of rows that this version made with other records of a data set of the same name.
    processes : number of processes that were used; 0 if no run was missing.
    records : the facts of each data set.
    """

    measured: dict[Run, Measured]
    failures: list[Failure]
    of_other_versions: int
    of_other_data: int
    processes: int
    records: dict[str, DataFacts]

    def remarks(self, path: Path, jobs: int) -> list[str]:
        """Remarks for the user about the file, the processes and the data."""
        words = []
        if 0 < self.processes < jobs:
            words.append(f"{self.processes} of {jobs} processes were used: more than processors or runs are of no use")
        if self.of_other_versions:
            words.append(f"{self.of_other_versions} runs in {path} are of another version; kept, and not counted")
        if self.of_other_data:
            words.append(
                f"{self.of_other_data} runs in {path} were made with other records of the same name; kept, and not "
                "counted"
            )
        return [*words, *(each for name, own in self.records.items() for each in strange(name, own))]


def compare(
    grid: Grid,
    models: Mapping[str, Any],
    results: ResultsFile,
    *,
    version: str,
    directory: str | None = None,
    jobs: int = 1,
    others: Sequence[str | Path] = (),
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Comparison:
    """Run what is missing; each row is in the file before `progress` is called.

    Parameters
    ----------
    models : classes by name; each is called with (schema, epsilon=..., random_state=...).
    results : a row with the same settings, version and data is not run again.
    version : version of discreet; rows of other versions stay in the file but do not count.
    directory : the folder of the data sets; default as for `discreet.datasets.load`.
    jobs : largest number of processes; never more than processors or missing runs are used.
    others : files with runs of other models on the same folds, to show beside.
    progress : called with the number of finished runs and the number of all runs.
    """
    grid.check(models)
    if isinstance(jobs, bool) or jobs < 1:
        raise ParameterError(f"jobs={jobs!r}; need an integer, at least 1")
    records: dict[str, DataFacts] = {}
    for name in grid.data:
        records[name] = counted(name, _loaded(name, directory), data_hash(name, directory))
        _check_folds(name, grid.folds, records[name])
        _check_parameters(name, {model: models[model] for model in grid.models}, directory)
    contents = {name: Content(version, each.data_hash) for name, each in records.items()}
    foreign_runs = {run: each for path in others for run, each in beside(path, grid, contents).items()}
    before, runs = results.read(), grid.runs()
    found = {run: before[run, contents[run.data]] for run in runs if (run, contents[run.data]) in before}
    failures: list[Failure] = []
    progress(len(found), len(runs))
    missing = [run for run in runs if run not in found]
    processes = min(jobs, len(missing), processors())
    if missing:
        with results.appending() as file:
            for run, outcome in _outcomes(missing, models, directory, processes):
                if isinstance(outcome, str):
                    failures.append(Failure(run, outcome))
                else:
                    file.add(run, contents[run.data], outcome)
                    found[run] = outcome
                progress(len(found) + len(failures), len(runs))
    measured = {run: found[run] for run in runs if run in found} | foreign_runs
    return Comparison(measured, failures, *_not_counted(before, contents, version), processes, records)


def _not_counted(before: Rows, contents: Mapping[str, Content], version: str) -> tuple[int, int]:
    """Number of rows of another version, and number of rows of this version with other records."""
    same = [(run, content) for run, content in before if content.version == version]
    other = sum(run.data in contents and content != contents[run.data] for run, content in same)
    return len(before) - len(same), other


def processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _outcomes(
    runs: Iterable[Run], models: Mapping[str, Any], directory: str | None, jobs: int
) -> Iterator[tuple[Run, Measured | str]]:
    if jobs == 1:
        yield from (outcome(run, models.get(run.model), directory) for run in runs)
        return
    from sklearn.utils.parallel import Parallel, delayed

    tasks = (delayed(outcome)(run, models.get(run.model), directory) for run in runs)
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)


def outcome(run: Run, family: Any, directory: str | None) -> tuple[Run, Measured | str]:
    """The measurements of a run, or the error message if it failed: one model must not stop the others."""
    try:
        return run, measure(run, family, directory)
    except DiscreetError as error:
        return run, str(error)
    except Exception as error:  # the data are public: the message may be shown
        return run, f"{type(error).__name__}: {error}"


def measure(run: Run, family: Any, directory: str | None) -> Measured:
    """Fit and test one model; records without a class are left out of the test."""
    X, y, schema = _loaded(run.data, directory)
    train, test = _folds(run.data, directory, run.folds, run.seed + run.repeat)[run.fold]
    codes = class_codes(y, schema)
    test = test[codes[test] < len(schema.classes)]
    if run.model == MAJORITY:
        counts = np.bincount(codes[train], minlength=len(schema.classes) + 1)[: len(schema.classes)]
        return scored(np.full(len(test), counts.argmax()), codes[test], codes, len(schema.classes))
    model = family(
        schema.replace(adjacency=run.adjacency), epsilon=as_number(run.epsilon), random_state=run.noise_seed()
    )
    start = time.perf_counter()
    model.fit({name: values[train] for name, values in X.items()}, y[train])
    fitted = time.perf_counter()
    predicted = model.predict({name: values[test] for name, values in X.items()})
    end = time.perf_counter()
    times = fitted - start, end - fitted
    return scored(class_codes(predicted, schema), codes[test], codes, len(schema.classes), *times)


def scored(
    predicted: NDArray[Any],
    true: NDArray[Any],
    all_codes: NDArray[Any],
    classes: int,
    fit_seconds: float = 0.0,
    predict_seconds: float = 0.0,
) -> Measured:
    """The figures of one test; `all_codes` are the classes of all records, which tell the rarest class that occurs."""
    right, sizes = predicted == true, np.bincount(all_codes, minlength=classes + 1)[:classes]
    recalls = {each: _fraction(right[true == each]) for each in np.unique(true).tolist()}
    rarest = int(np.where(sizes > 0, sizes, np.iinfo(np.int64).max).argmin())
    balanced = float(np.mean(list(recalls.values()))) if recalls else 0.0
    return Measured(_fraction(right), fit_seconds, predict_seconds, balanced, recalls.get(rarest))


def charges(grid: Grid, models: Mapping[str, Any], directory: str | None) -> tuple[str, dict[str, list[Charge]]]:
    """The charges of each private model on the first data set at the middle epsilon, and a text that names both."""
    finite = sorted((each for each in grid.epsilons if as_number(each) < np.inf), key=as_number)
    if not finite:
        return "", {}
    data, epsilon = grid.data[0], finite[len(finite) // 2]
    X, y, schema = _loaded(data, directory)
    found = {}
    for name in grid.models:
        model = models[name](
            schema.replace(adjacency=grid.adjacency), epsilon=as_number(epsilon), random_state=grid.seed
        )
        receipt = getattr(model.fit(X, y), "receipt_", None)
        if receipt is not None:
            found[name] = list(receipt.charges)
    return f"{data}, ε = {as_number(epsilon):.4g}, {grid.adjacency}", found


def _fraction(right: NDArray[np.bool_]) -> float:
    return float(right.mean()) if len(right) else 0.0


@lru_cache(maxsize=2)
def _loaded(name: str, directory: str | None) -> datasets.DataSet:
    """A data set; numbers are parsed once here, because parsing them again takes longer than most fits."""
    X, y, schema = datasets.load(name, directory)
    numeric = {column.name for column in schema.columns if isinstance(column, Numeric)}
    return {name: as_floats(X[name]) if name in numeric else X[name] for name in schema.names}, y, schema


@lru_cache(maxsize=4)
def _folds(name: str, directory: str | None, folds: int, seed: int) -> Folds:
    """Stratified folds, the same for all models and epsilons, so that their scores can be compared in pairs."""
    _, y, schema = _loaded(name, directory)
    codes = class_codes(y, schema)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed % 2**32)
    with warnings.catch_warnings():
        # some data sets have classes with fewer records than there are folds, which does no harm here
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.zeros((len(codes), 1)), codes))


def _check_folds(name: str, folds: int, records: DataFacts) -> None:
    if folds > records.largest:
        raise ParameterError(
            f"folds={folds}; the largest class of {name} has fewer records; need at most {records.largest}"
        )


def _check_parameters(name: str, models: Mapping[str, Any], directory: str | None) -> None:
    """Raise one error now for a parameter with which every run would fail."""
    for model, family in models.items():
        check = getattr(family(_loaded(name, directory)[2], epsilon=1.0, random_state=0), "check_parameters", None)
        try:
            if check is not None:
                check()
        except DiscreetError as error:
            raise ParameterError(f"{model} on {name}: {error}") from None


def data_hash(name: str, directory: str | None) -> str:
    """Hash of schema and records, so that rows made with other data are not taken for rows of this data set."""
    X, y, schema = _loaded(name, directory)
    digest = hashlib.sha256(schema.hash.encode())
    for values in (*X.values(), y):
        digest.update(values.tobytes() if values.dtype.kind == "f" else repr(values.tolist()).encode())
    return digest.hexdigest()[:16]
