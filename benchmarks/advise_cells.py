"""The cells that `discreet advise` learns from: accuracies of a comparison, made precise where models are close.

Decides which model counts as the best for each data set and epsilon. The package's `cells.csv` and `cases.csv` were
made by `python benchmarks/advise_cells.py --runs RUNS.csv --more MORE.json --minutes 30`, where RUNS.csv holds the runs
of `discreet compare` (`--models` with naive-bayes(select=auto), ten folds).

Models that may still be the best are run again on new folds and with new noise, until the standard error of each is
below --target; with thirty runs, luck would decide which is best at small epsilons. Models that are clearly worse keep
the runs that they have. Models that are equal at an epsilon by their own public rules use the same runs
(`discreet.advice.twins`).
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
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from discreet import datasets
from discreet.advice.cases import ADVISED, MAJORITY
from discreet.advice.facts import Facts
from discreet.advice.simulation import families
from discreet.advice.twins import twins
from discreet.advice.worlds import numbered
from discreet.privacy.epsilon import as_epsilon
from discreet.records.encoding import as_floats, category_codes, class_codes
from discreet.research.comparison.grid import as_number
from discreet.research.comparison.results import ResultsFile
from discreet.schema import Schema
from discreet.schema.columns import Categorical

PACKAGE = Path(__file__).parents[1] / "src" / "discreet" / "advice"
FIRST_REPEAT = 1000
"""Folds that no comparison has used."""
MARGIN = 0.012
"""A model that is this far below the best, plus two and a half standard errors, is no longer a candidate."""

Key = tuple[str, str, float]
Sums = dict[Key, list[float]]
"""Number, sum and sum of squares of the accuracies."""


def read_runs(paths: list[Path]) -> Sums:
    """The runs of comparisons, summed."""
    sums: Sums = {}
    for path in paths:
        for (run, _), measured in ResultsFile(path).read().items():
            add(sums, (run.data, run.model, as_number(run.epsilon)), measured.accuracy)
    return sums


def add(sums: Sums, key: Key, accuracy: float) -> None:
    """One more run."""
    entry = sums.setdefault(key, [0, 0.0, 0.0])
    for place, value in enumerate((1, accuracy, accuracy**2)):
        entry[place] += value


def pooled(*parts: Sums) -> Sums:
    """All runs together."""
    keys = {key for part in parts for key in part}
    return {key: [sum(part[key][place] for part in parts if key in part) for place in range(3)] for key in keys}


@cache
def public(name: str) -> Schema:
    """The schema of a data set."""
    return datasets.load(name)[2]


def shared(sums: Sums) -> Sums:
    """The same with the runs of twins counted for both."""
    found = dict(sums)
    for name, epsilon in sorted({(key[0], key[2]) for key in sums}):
        for model, simpler in twins(public(name), as_epsilon(epsilon)).items():
            entries = [sums[key] for key in ((name, model, epsilon), (name, simpler, epsilon)) if key in sums]
            together = [sum(values) for values in zip(*entries, strict=True)]
            found |= {(name, each, epsilon): together for each in (model, simpler) if together}
    return found


def moments(entry: list[float]) -> tuple[float, float]:
    """Mean and deviation."""
    count, total, squares = entry
    mean = total / count
    return mean, math.sqrt(max(0.0, squares - count * mean**2) / max(1, count - 1))


class Table:
    """A data set as numbers, which are encoded faster than texts; models cannot tell the difference."""

    def __init__(self, name: str) -> None:
        X, y, schema = datasets.load(name)
        codes = class_codes(y, schema)
        known = codes < len(schema.classes)
        columns = [
            category_codes(X[each.name], each) if isinstance(each, Categorical) else as_floats(X[each.name])
            for each in schema.columns
        ]
        bounds = {each.name: each for each in schema.columns if not isinstance(each, Categorical)}
        alike = numbered(schema, schema.names, schema.records or len(y))
        self.schema = alike.replace(columns=[bounds.get(each.name, each) for each in alike.columns])
        self.X, self.y = np.column_stack(columns).astype(np.float64)[known], codes[known]

    def folds(self, repeat: int) -> Iterator[tuple[Any, Any]]:
        """Training and test rows of stratified ten-fold cross-validation."""
        from sklearn.model_selection import StratifiedKFold

        yield from StratifiedKFold(10, shuffle=True, random_state=repeat).split(self.X, self.y)


def candidates(sums: Sums, name: str, epsilon: float, rows: int, target: float) -> list[str]:
    """The models that may be the best and are not measured well enough.

    Means over whole cross-validations hardly vary by which rows are tested: what a fold's size explains is left out.
    """
    found = {}
    for model in ADVISED:
        mean, deviation = moments(sums[name, model, epsilon])
        noise = max(deviation**2 - 10 * mean * (1 - mean) / rows, deviation**2 / 20)
        found[model] = mean, math.sqrt(noise / sums[name, model, epsilon][0])
    best = max(mean for mean, _ in found.values())
    return [model for model, (mean, error) in found.items() if error > target and mean > best - MARGIN - 2.5 * error]


def refine(sums: Sums, more: Path, names: list[str], target: float, minutes: float) -> Sums:
    """Run candidates until all are precise or time is over; what was run is kept in the file `more`."""
    own: Sums = {}
    if more.exists():
        own = {tuple(json.loads(key)): entry for key, entry in json.loads(more.read_text()).items()}
    end, tables, models = time.time() + 60 * minutes, {name: Table(name) for name in names}, families()
    repeat = FIRST_REPEAT + int(own.pop(("", "repeats", 0.0), [0])[0])
    epsilons = sorted({key[2] for key in sums if key[2] != math.inf})
    busy = True
    while busy and time.time() < end:
        busy = False
        for name, table in tables.items():
            for epsilon in epsilons:
                same = twins(table.schema, as_epsilon(epsilon))
                wanted = candidates(shared(pooled(sums, own)), name, epsilon, len(table.y), target)
                # the SVM takes ten times as long as any other
                wanted = [each for each in wanted if each not in same and (each != "svm" or repeat % 4 == 0)]
                busy = busy or bool(wanted)
                for fold, (train, test) in enumerate(table.folds(repeat) if wanted else ()):
                    for model in wanted:
                        seed = zlib.crc32(repr((name, model, epsilon, repeat, fold)).encode())
                        fitted = models[model](table.schema, epsilon=epsilon, random_state=seed)
                        fitted.fit(table.X[train], table.y[train])
                        hits = fitted.predict(table.X[test]) == table.y[test]
                        add(own, (name, model, epsilon), float(hits.mean()))
        repeat += 1
        done = {**own, ("", "repeats", 0.0): [repeat - FIRST_REPEAT, 0, 0]}
        more.with_suffix(".part").write_text(json.dumps({json.dumps(key): entry for key, entry in done.items()}))
        os.replace(more.with_suffix(".part"), more)
        print(f"repeat {repeat - FIRST_REPEAT}, {(end - time.time()) / 60:.0f} minutes left", flush=True)
    return own


def write(sums: Sums) -> None:
    """The package's tables."""
    names = sorted({key[0] for key in sums})
    with (PACKAGE / "cases.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["data", "records", "classes", "numeric", "categorical", "categories"])
        for name in names:
            facts = Facts.of(public(name))
            writer.writerow([name, facts.records, facts.classes, facts.numeric, facts.categorical, facts.categories])
    order = {model: place for place, model in enumerate((MAJORITY, *ADVISED))}
    with (PACKAGE / "cells.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["data", "model", "epsilon", "runs", "mean", "deviation"])
        for key in sorted((key for key in sums if key[1] in order), key=lambda key: (key[0], order[key[1]], key[2])):
            mean, deviation = moments(sums[key])
            writer.writerow([key[0], key[1], f"{key[2]:g}", int(sums[key][0]), f"{mean:.5f}", f"{deviation:.5f}"])


def main() -> None:
    """Read, refine, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", nargs="+", type=Path, required=True, help="runs.csv of discreet compare")
    parser.add_argument("--more", type=Path, required=True, help="JSON file that keeps further runs")
    parser.add_argument("--datasets", nargs="*", default=[], help="data sets to measure further")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--target", type=float, default=0.004, help="standard error to reach")
    options = parser.parse_args()
    sums = read_runs(options.runs)
    write(shared(pooled(sums, refine(sums, options.more, options.datasets, options.target, options.minutes))))


if __name__ == "__main__":
    main()
