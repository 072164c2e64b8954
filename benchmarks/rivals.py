"""Runs of the rivals, each in its own environment, as a file that `discreet compare --beside` shows.

Decides nothing by a bar: it puts rivals into the tables and tests of a comparison.

    python benchmarks/rivals.py --data DIR --epsilons 0.1 1 --out rivals.csv --runs rival-runs.csv
    discreet compare grid.toml --beside rival-runs.csv --out comparison

The folds are those of `discreet compare` with 10 folds and seed 0, so that accuracies are pairs. Epsilons are what the
rivals claim: those of diffprivlib's GaussianNB and RandomForest are refuted, and DP-EBM's come with δ = 1e-6.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import environments
import folds
from discreet.privacy.epsilon import as_epsilon
from discreet.research.comparison import Measured, ResultsFile, Run
from discreet.research.comparison.engine import data_hash
from discreet.research.comparison.results import Content

SCRIPTS = {"diffprivlib": "rival_diffprivlib.py", "ebm": "rival_ebm.py"}


def run_rivals(options: argparse.Namespace) -> None:
    """Append what the results file lacks."""
    limits = [("--folds", options.folds), ("--repeats", options.repeats)]
    common = ["--data", options.data, "--out", str(options.out), "--datasets", *options.datasets]
    common += ["--epsilons", *map(str, options.epsilons)]
    common += [word for flag, value in limits if value is not None for word in (flag, str(value))]
    for name in options.rivals:
        environments.run(name, SCRIPTS[name], *common)


def convert(results: Path, runs: Path, directory: str) -> int:
    """Write all rows of the rivals' file as runs; returns how many."""
    rows = folds.read_results(results)
    hashes = {name: data_hash(name, directory) for name in dict.fromkeys(key.dataset for key in rows)}
    runs.unlink(missing_ok=True)
    with ResultsFile(runs).appending() as file:
        for key, score in rows.items():
            loss = str(as_epsilon(str(key.epsilon)))
            run = Run(key.dataset, key.model, loss, "add-remove", folds.N_FOLDS, 0, key.repeat, key.fold)
            content = Content(_version(key.model), hashes[key.dataset])
            file.add(run, content, Measured(*score))
    return len(rows)


def _version(model: str) -> str:
    """The requirement that the model's environment pins."""
    rival = "diffprivlib" if model.startswith("diffprivlib") else "ebm"
    return environments.REQUIREMENTS[rival][0]


def main() -> None:
    """Run the rivals, unless nothing is missing, and write the file of runs."""
    parser = folds.arguments(__doc__)
    parser.add_argument("--runs", type=Path, required=True, help="the file for `discreet compare --beside`")
    parser.add_argument("--rivals", nargs="*", default=list(SCRIPTS), choices=SCRIPTS, help="none: only convert")
    options = folds.parse(parser)
    run_rivals(options)
    print(f"{convert(options.out, options.runs, options.data)} runs in {options.runs}")


if __name__ == "__main__":
    main()
