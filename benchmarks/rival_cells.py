"""Accuracy of one library of rivals in cells of many draws, for benchmarks/others.py and benchmarks/frontier.py.

It runs in the environment of that library (`environments.py`), with the models of rival_diffprivlib.py or rival_ebm.py,
on the data sets of a folder: the one that keel.py writes, or DISCREET_DATA:

    python benchmarks/rival_cells.py diffprivlib KEEL results/rivals_keel.csv
    python benchmarks/rival_cells.py diffprivlib DATA results/rivals_weak.csv --weak --draws 1000 --seconds 30

A cell is the mean over draws, each with its own noise and one of twenty folds, as in advise_cells.py; it gets no
further draw after --seconds, so that slow models have few. OUT.csv is appended to: what it holds is not run again.
Noise is seeded. What a library claims of its own privacy is said in the files named above.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import time
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np

import folds

EPSILONS = (0.01, 0.1, 0.3, 1.0, 3.0)
"""Those of the cells of the package from .01 to 3, but one."""
MISSING = ("", "<null>")
"""How KEEL spells missing values, beside `?`."""
WEAK, FAIR = 100.0, 3000.0
"""A signal n ε per class below the first has a cell of 60 draws, and a signal below the second one of 20; else 6."""
NOISY = 120.0
"""Signals below it are those that --weak keeps, as in frontier.py."""


def tables(library: str, directory: Path, most: int) -> list[tuple[str, folds.Table]]:
    """The data sets that a library can learn, the smallest first."""
    described = json.loads((directory / "schemas.json").read_text(encoding="utf-8"))
    found = []
    for name in sorted(described, key=lambda each: int(described[each]["rows"])):
        if int(described[name]["rows"]) > most:
            continue
        table = folds.load(directory, name)
        for column, values in table.rows.items():
            table.rows[column] = np.where(np.isin(values, MISSING), "?", values)
        if library == "diffprivlib" or len(table.classes) == 2:
            found.append((name, table))
    return found


def cell(
    name: str, model: str, build: folds.Build, table: folds.Table, X: Any, epsilon: float, options: argparse.Namespace
) -> Any:
    """Number of draws, mean and standard error of one cell."""
    splits = folds.folds(table.y, 0) + folds.folds(table.y, 1)
    order = np.random.default_rng(zlib.crc32(name.encode())).permutation(len(splits))
    signal = epsilon * len(table.y)
    wanted = options.draws or (60 if signal / len(table.classes) < WEAK else 20 if signal < FAIR else 6)
    found, start = [], time.process_time()
    for draw in range(wanted):
        train, test = splits[order[draw % len(order)]]
        classifier = build(table, epsilon, zlib.crc32(repr((name, model, epsilon, draw)).encode()))
        classifier.fit(X[train], table.y[train])
        found.append(float(np.mean(np.asarray(classifier.predict(X[test])) == table.y[test])))
        if time.process_time() - start > options.seconds:
            break
    return len(found), float(np.mean(found)), float(np.std(found) / np.sqrt(len(found)))


def main() -> None:
    """Append the cells that are missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("library", choices=("diffprivlib", "ebm"))
    parser.add_argument("directory", type=Path, help="the folder with schemas.json")
    parser.add_argument("out", type=Path)
    parser.add_argument("--most", type=int, default=20_000, help="most records of a data set")
    parser.add_argument("--seconds", type=float, default=1.5, help="of processor time per cell")
    parser.add_argument("--draws", type=int, help="of each cell, instead of the rule")
    parser.add_argument("--weak", action="store_true", help="only cells with a signal n ε below 120")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rival = importlib.import_module(f"rival_{options.library}")
    done = set()
    if options.out.exists():
        with options.out.open(newline="", encoding="utf-8") as file:
            done = {(row[0], row[1], row[2]) for row in csv.reader(file)}
    for name, table in tables(options.library, options.directory, options.most):
        encoded = (
            folds.rival_matrix(table.columns, table.rows) if options.library != "ebm" else rival.plain_matrix(table)
        )
        for model, build in rival.MODELS.items():
            for epsilon in EPSILONS:
                is_left_out = options.weak and epsilon * len(table.y) >= NOISY
                if is_left_out or (name, model, f"{epsilon:g}") in done:
                    continue
                draws, mean, error = cell(name, model, build, table, encoded, epsilon, options)
                with options.out.open("a", newline="", encoding="utf-8") as file:
                    csv.writer(file, lineterminator="\n").writerow(
                        [name, model, f"{epsilon:g}", draws, f"{mean:.5f}", f"{error:.5f}"]
                    )


if __name__ == "__main__":
    main()
