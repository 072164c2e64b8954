"""The cells that `discreet advise` learns from: the accuracy of each model at each epsilon on real and made-up tables.

Decides what accuracies are expected, and how wide ranges are. The package's `cells.csv` and `cases.csv` were made by

    python benchmarks/keel.py KEEL
    python benchmarks/advise_cells.py CELLS.csv --data $DISCREET_DATA KEEL --made --seconds 0.15 --pack

A cell is the mean over draws: each has its own noise, and tests on one of ten stratified folds what the other nine
taught. Where the signal is weak noise decides, so there are more draws. A cell takes at most about --seconds, but has
at least two draws if these take less than ten times that. What CELLS.csv holds is not run again, so that a run can be
stopped and resumed, or extended by models such as 'naive-bayes(select=auto)', data sets and epsilons. Its columns
(data, model, epsilon, runs, mean, deviation) are all that is needed to compare models.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # two processes on two cores, and no threads beside them

import numpy as np

import folds
import worlds
from discreet import Schema
from discreet.advice.cases import ADVISED, MAJORITY, REAL
from discreet.advice.facts import Facts
from discreet.errors import DiscreetError
from discreet.models import MODELS
from discreet.models.parameter_texts import configured
from discreet.records.encoding import as_floats
from discreet.schema.columns import Numeric

PACKAGE = Path(__file__).parents[1] / "src" / "discreet" / "advice"
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, math.inf)
SMALLER = {0.001: 1000, 0.0001: 10_000}
"""Epsilons that are measured too from so many records on: else nothing is known of weak signals in large tables."""
HEAD = ("data", "model", "epsilon", "runs", "mean", "deviation")
WEAK, LARGE = 100, 10_000
SLOW = 10
"""A single draw is enough if it takes this many times as long as a cell should."""

Key = tuple[str, str, float]
Cells = dict[Key, dict[str, str]]


class Table(NamedTuple):
    """A table with its public schema, which declares as many records as a model is trained on, and its folds."""

    schema: Schema
    X: Any
    y: Any
    folds: list[tuple[Any, Any]]
    family: str


class Task(NamedTuple):
    """What one process does at a time: one model on one table, at the epsilons that are missing."""

    data: str
    directory: str | None
    model: str
    epsilons: tuple[float, ...]
    seconds: float


@lru_cache(maxsize=2)
def table(data: str, directory: str | None) -> Table:
    """A data set of a directory, or a made-up table if there is none."""
    if directory is None:
        schema, X, y = worlds.made(data)
        family = worlds.family_of(data)
    else:
        text = folds.load(directory, data)
        schema = Schema.load(Path(directory) / "schemas.json", data).replace(classes=range(len(text.classes)))
        numeric = {each.name for each in schema.columns if isinstance(each, Numeric)}
        X = {name: as_floats(values) if name in numeric else values for name, values in text.rows.items()}
        y, family = text.y, REAL
    splits = folds.folds(y, 0) + (folds.folds(y, 1) if len(y) < 1000 else [])
    order = np.random.default_rng(zlib.crc32(data.encode())).permutation(len(splits))
    return Table(schema.replace(records=len(y) * 9 // 10), X, y, [splits[place] for place in order], family)


def epsilons_of(records: int) -> list[float]:
    """The epsilons at which a table of so many records is measured."""
    return [*(epsilon for epsilon, least in SMALLER.items() if records >= least), *EPSILONS]


def draws(signal: float, records: int) -> int:
    """How many draws a cell should have; by the signal per class, since below about 100 noise decides.

    >>> draws(20, 1000), draws(300, 1000), draws(20, 100_000), draws(math.inf, 100_000)
    (60, 20, 18, 6)
    """
    most = 20 if records < LARGE else 6  # large tables have large folds: each draw is already precise
    return 3 * most if signal < WEAK else most


def run(task: Task) -> tuple[Task, list[list[Any]]]:
    """The rows of the cells of a task; the first row is that of the largest class."""
    found, (schema, X, y, splits, _) = [], table(task.data, task.directory)
    facts, family = Facts.of(schema), configured(task.model, MODELS)
    found.append([task.data, MAJORITY, "inf", 1, f"{np.bincount(y).max() / len(y):.5f}", "0.00000"])
    for epsilon in task.epsilons:
        begun, scores = time.perf_counter(), []
        for draw in range(draws(facts.signal_per_class(epsilon), len(y))):
            train, test = splits[draw % len(splits)]
            seed = zlib.crc32(repr((task.data, task.model, epsilon, draw)).encode())
            try:
                fitted = family(schema, epsilon=epsilon, random_state=seed).fit(chosen(X, train), y[train])
            except DiscreetError as refused:  # such a cell is missing, all others are not
                print(f"{task.data} {task.model} at {epsilon:g}: {refused}", flush=True)
                break
            scores.append(float(np.mean(np.asarray(fitted.predict(chosen(X, test))) == y[test])))
            if time.perf_counter() - begun > task.seconds * (SLOW if draw == 0 else 1):
                break
        if scores:
            deviation = np.std(scores, ddof=1) if len(scores) > 1 else 0.0
            measured = (len(scores), f"{np.mean(scores):.5f}", f"{deviation:.5f}")
            found.append([task.data, task.model, f"{epsilon:g}", *measured])
    return task, found


def chosen(X: Any, rows: Any) -> Any:
    """Some rows of columns or of a matrix."""
    return {name: values[rows] for name, values in X.items()} if isinstance(X, dict) else X[rows]


def read(path: Path) -> Cells:
    """The cells of a file; none if there is no file yet."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {(row["data"], row["model"], float(row["epsilon"])): row for row in csv.DictReader(file)}


def append(path: Path, rows: list[list[Any]]) -> None:
    """Write rows at once, so that an interrupted run loses little."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *rows] if is_new else rows)


def all_tables(options: argparse.Namespace) -> list[tuple[int, str, str | None]]:
    """The number of records, the name and the directory of every table."""
    found: list[tuple[int, str, str | None]] = []
    for directory in options.data:
        described = json.loads((Path(directory) / "schemas.json").read_text(encoding="utf-8"))
        found += [(int(each["rows"]), name, directory) for name, each in described.items()]
    return found + [(worlds.rows_of(name), name, None) for name in worlds.NAMES if options.made]


def tasks(options: argparse.Namespace, done: Cells) -> Iterator[Task]:
    """What is missing, large tables first, so that the processes end together."""
    for records, name, directory in sorted(all_tables(options), key=lambda each: (-each[0], each[1])):
        if options.datasets and name not in options.datasets:
            continue
        for model in options.models:
            wanted = options.epsilons or epsilons_of(records)
            missing = tuple(epsilon for epsilon in wanted if (name, model, epsilon) not in done)
            if missing:
                yield Task(name, directory, model, missing, options.seconds)


def pack(cells: Cells, options: argparse.Namespace) -> None:
    """Write the package's tables from all data sets that have every cell of `ADVISED`."""
    keys: dict[str, list[Key]] = {}
    lines, missing = [], []
    for records, name, directory in sorted(all_tables(options), key=lambda each: each[1]):
        pairs = [(model, epsilon) for model in ADVISED for epsilon in sorted(epsilons_of(records))]
        keys[name] = [(name, *pair) for pair in [(MAJORITY, math.inf), *pairs]]
        if not all(key in cells for key in keys[name]):
            missing.append(name)
            continue
        found = table(name, directory)
        facts = Facts.of(found.schema)
        shape = (facts.records, facts.classes, facts.numeric, facts.categorical, facts.categories)
        lines.append([name, found.family, *shape])
    with (PACKAGE / "cases.csv").open("w", newline="", encoding="utf-8") as file:
        head = ["data", "family", "records", "classes", "numeric", "categorical", "categories"]
        csv.writer(file, lineterminator="\n").writerows([head, *lines])
    with (PACKAGE / "cells.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(cells[key] for line in lines for key in keys[line[0]])
    print(f"{len(lines)} cases written to the package; left out: {', '.join(missing) or 'none'}")


def main() -> None:
    """Run what is missing, and pack."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="CSV to append to; cells in it are not run again")
    parser.add_argument("--data", nargs="*", default=[], help="directories with schemas.json")
    parser.add_argument("--made", action="store_true", help="the made-up tables too")
    parser.add_argument("--datasets", nargs="*", default=[], help="only these")
    parser.add_argument("--models", nargs="+", default=list(ADVISED))
    parser.add_argument("--epsilons", nargs="+", type=float, help="default: by the number of records")
    parser.add_argument("--seconds", type=float, default=0.6, help="per cell")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--pack", action="store_true", help="write cells.csv and cases.csv of the package at the end")
    options = parser.parse_args()
    begun, done = time.time(), read(options.out)
    waiting = list(tasks(options, done))
    with ProcessPoolExecutor(options.processes) as pool:
        for place, future in enumerate(as_completed([pool.submit(run, task) for task in waiting]), 1):
            task, rows = future.result()
            largest = (task.data, MAJORITY, math.inf)
            append(options.out, rows[1:] if largest in done else rows)
            done[largest] = {}
            print(
                f"{place} of {len(waiting)}, {(time.time() - begun) / 60:.1f} minutes: {task.data} {task.model}",
                flush=True,
            )
    if options.pack:
        pack(read(options.out), options)


if __name__ == "__main__":
    main()
