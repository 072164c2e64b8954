"""Federated naive Bayes as published by Marchioro et al. 2022, beside the results of the authors' own program.

Decides whether our reproduction has the same law as the authors' program.
`python benchmarks/marchioro.py --data DIR --reference FILE --runs 50` made results/marchioro.md; FILE has the results
of the authors' program.
The data are public and accuracies are exact: nothing here is private, and the algorithm is not private either.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import folds
from discreet import Schema
from discreet.records.encoding import as_floats
from discreet.research.papers.marchioro2022 import Marchioro2022NaiveBayes

RESULTS = Path(__file__).parent / "results" / "marchioro.md"
DATASETS = {"votes": "house-votes-84", "mushroom": "mushroom", "adult": "adult"}
"""Data sets by the names of the reference file."""
RESAMPLES = 20_000
AGAIN = 200
"""Fresh runs of a cell that differs, to see which of the two is far out; they do not count."""


class Cell(NamedTuple):
    """One setting: the authors' mean, deviation and number of runs; our accuracies; fresh ones where they differ."""

    dataset: str
    epsilon: float
    nodes: int | None
    mean: float
    deviation: float
    runs: int
    ours: Any
    again: Any

    @property
    def difference(self) -> float:
        """Ours minus theirs in combined standard errors; exact results must agree to the digits given."""
        gap = float(np.mean(self.ours)) - self.mean
        error = math.hypot(self.deviation / math.sqrt(self.runs), np.std(self.ours) / math.sqrt(len(self.ours)))
        return 0.0 if abs(gap) <= 5e-5 else gap / error if error else math.inf

    @property
    def chance(self) -> float:
        """How often two samples of our runs, as many as theirs and as ours, have means that differ as much."""
        rng = np.random.default_rng(0)
        theirs, ours = (rng.choice(self.ours, (RESAMPLES, runs)).mean(axis=1) for runs in (self.runs, len(self.ours)))
        return float(np.mean(np.abs(theirs - ours) >= abs(self.mean - np.mean(self.ours)) - 5e-5))


class Split:
    """Train and test records as the authors divide them: Adult's own split, else 9 to 1 by pandas with seed 42."""

    def __init__(self, directory: str, name: str) -> None:
        path = Path(directory) / f"{name}.csv"
        self.schema = Schema.load(path.with_name("schemas.json"), name)
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if "split" in frame:
            train, test = (frame[frame["split"] == part] for part in ("train", "test"))
        else:
            shuffled, edge = frame.sample(frac=1, random_state=42), int(0.9 * len(frame))
            train, test = shuffled[:edge], shuffled[edge:]
        self.X_train, self.X_test = self._columns(train), self._columns(test)
        self.y_train, self.y_test = (part[self.schema.target].to_numpy() for part in (train, test))

    def _columns(self, frame: pd.DataFrame) -> dict[str, Any]:
        numeric = {column.name for column in self.schema.columns if hasattr(column, "lower")}
        arrays = {name: frame[name].to_numpy() for name in self.schema.names}
        return {name: as_floats(values) if name in numeric else values for name, values in arrays.items()}

    def accuracies(self, name: str, epsilon: float, nodes: int | None, runs: range) -> Any:
        """Test accuracy of each run; without noise all are alike, except for the partition."""
        found = []
        for run in runs if math.isfinite(epsilon) else runs[:3]:
            seed = folds.Key(name, f"marchioro {nodes}", epsilon, run, 0).seed()
            model = Marchioro2022NaiveBayes(
                self.schema, epsilon=epsilon, nodes=nodes or 1, federated=nodes is not None, skip_empty=True,
                random_state=seed,
            )  # fmt: skip
            found.append(model.fit(self.X_train, self.y_train).score(self.X_test, self.y_test))
        return np.array(found)


def measure(options: argparse.Namespace) -> list[Cell]:
    """All cells of the reference, ours beside theirs; printed as they come."""
    cells: list[Cell] = []
    splits = {name: Split(options.data, DATASETS[name]) for name in options.datasets}
    with options.reference.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["dataset"] in splits]
    for line in lines:
        name, split = line["dataset"], splits[line["dataset"]]
        assert (len(split.y_train), len(split.y_test)) == (int(line["n_train"]), int(line["n_test"]))
        epsilon = math.inf if line["eps"] == "none" else float(line["eps"])
        nodes = int(float(line["nodes"])) if line["kind"] == "federated" else None
        ours = split.accuracies(name, epsilon, nodes, range(options.runs))
        theirs = float(line["test_acc_mean"]), float(line["test_acc_std"]), int(line["iters"])
        cell = Cell(name, epsilon, nodes, *theirs, ours, ours[:0])
        if abs(cell.difference) > 2:
            fresh = range(options.runs, options.runs + AGAIN)
            cell = cell._replace(again=split.accuracies(name, epsilon, nodes, fresh))
        cells.append(cell)
        print(f"{name} {epsilon:g} {nodes or 'central'}: {np.mean(ours):.4f} {theirs[0]:.4f}", flush=True)
    return cells


def table(cells: list[Cell]) -> list[str]:
    """A line an epsilon, a column a number of nodes: ours / theirs, and the difference in standard errors."""
    columns = list(dict.fromkeys(cell.nodes for cell in cells))
    found = {(cell.epsilon, cell.nodes): cell for cell in cells}
    titles = ["central" if nodes is None else f"{nodes} nodes" if nodes > 1 else "1 node" for nodes in columns]
    lines = ["| ε | " + " | ".join(titles) + " |", "|---" * (len(columns) + 1) + "|"]
    for epsilon in dict.fromkeys(cell.epsilon for cell in cells):
        row = [found[epsilon, nodes] for nodes in columns]
        entries = [
            f"{np.mean(cell.ours):.4f} / {cell.mean:.4f}"
            + (f" ({cell.difference:+.1f})" if cell.difference else "")
            + (" **!**" if abs(cell.difference) > 2 else "")
            for cell in row
        ]
        lines.append(f"| {epsilon:g} | " + " | ".join(entries) + " |")
    return lines


def summary(cells: list[Cell]) -> list[str]:
    """How many cells agree, and what is known of those that do not."""
    noisy = [cell for cell in cells if math.isfinite(cell.epsilon)]
    exact = [cell for cell in cells if not math.isfinite(cell.epsilon)]
    within = sum(abs(cell.difference) <= 2 for cell in noisy)
    squares = np.mean([cell.difference**2 for cell in noisy if cell.deviation])
    lines = [
        f"{within} of {len(noisy)} cells with noise ({within / len(noisy):.0%}) are within two standard errors,",
        "ours and theirs combined; two programs of the same law have about 94%. The mean square of the differences is",
        f"{squares:.2f} (same law: about 1.1). Of {len(exact)} cells without noise "
        f"{sum(cell.difference == 0 for cell in exact)} agree in all digits given.",
        "",
        "Cells outside, marked **!**; how often two samples of our runs, as many as theirs and ours, differ as much;",
        f"and {AGAIN} fresh runs of ours, which do not count above, with their difference from the authors':",
        "",
        "| data set | ε | nodes | ours ± deviation | theirs ± deviation | chance | ours again |",
        "|---" * 7 + "|",
    ]
    for cell in cells:
        if abs(cell.difference) > 2:
            lines.append(
                f"| {cell.dataset} | {cell.epsilon:g} | {cell.nodes or 'central'} | {np.mean(cell.ours):.4f} ± "
                f"{np.std(cell.ours):.4f} | {cell.mean:.4f} ± {cell.deviation:.4f} | {cell.chance:.4f} | "
                f"{np.mean(cell.again):.4f} ({cell._replace(ours=cell.again).difference:+.1f}) |"
            )
    return lines


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("DISCREET_DATA"), help="directory with schemas.json")
    parser.add_argument("--reference", type=Path, required=True, help="CSV with the authors' results")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), choices=list(DATASETS), metavar="NAME")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = folds.parse(parser)
    cells = measure(options)
    text = [HEADER.format(runs=options.runs), *summary(cells), "", NOTES]
    for name in options.datasets:
        own = [cell for cell in cells if cell.dataset == name]
        text += [f"## {name}", "", *table(own), ""]
    options.out.write_text("\n".join(text), encoding="utf-8")


HEADER = """# Federated naive Bayes of Marchioro et al. 2022

Command: `python benchmarks/marchioro.py --data DIR --reference FILE --runs {runs}`.
Test accuracy of `Marchioro2022NaiveBayes(skip_empty=True)`, mean of {runs} runs, beside the authors' program, mean of
20 (`marchioro2022_reference.csv`). Votes and Mushroom are divided 9 to 1 by pandas with seed 42, Adult as it comes. In
brackets: ours minus theirs in standard errors, ours and theirs combined. The data are public and the accuracies are
computed in the clear: no number here is private. The algorithm is not private either (see its docstring).
"""

NOTES = """Without numeric columns, one node and the central classifier have the same law: the first two columns of
Votes and Mushroom are two samples of the same thing. The authors' cells of Votes at ε = 1 (.8670 and .8011) differ by
3.0 standard errors, so that one of them must be far out. Where all of their twenty runs are alike (Votes, 10 nodes,
ε = 10), their standard error is 0 and the difference says nothing; the chance does. On Adult a few runs fall far below
the others: twenty runs may have none of them, and then their deviation is too small (1 node, ε = 3.16).

What the program does beyond the paper: noisy counts and variances below 1e-6 are raised to it, at each node and after
adding; nothing is smoothed; a missing value is a category; the central classifier has the noise of Vaidya et al. 2013
with the range of the values in the data, and puts the noise of a deviation on the variance; a node without records of
a class sends zeros without noise for its categories (`skip_empty`; this matters with few records a node: Votes with
100 nodes, where noise on everything, as the paper has it, is up to .05 less accurate).
"""


if __name__ == "__main__":
    main()
