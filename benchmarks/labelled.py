"""Trees whose last questions are chosen together with the classes of their leaves, beside those that count leaves.

Decides from which signal on models/trees/plan.py asks questions above the stumps, how many, and from which signal per
class on leaves are counted. `python benchmarks/labelled.py --data DIR KEEL --seconds 2` made results/labelled.md, KEEL
the folder that keel.py writes. Every variant sees the same folds. The constants were chosen with figures of both
collections in sight. The data are public: the scores are exact functions of them and not private. Noise is seeded, so
results repeat.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from discreet import DecisionTree
from discreet.models.trees.plan import of_a_class, rule
from frontier import loaded

RESULTS = Path(__file__).parent / "results" / "labelled.md"
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
LEAST, MOST = 6.0, 3000.0
"""Signals per class of the cells, from about the first to about the second."""
MOST_RECORDS = 60_000
BANDS = (0, 20, 50, 100, 200, 400, 800, 1600, 10_000)
"""Bounds of the signals that are averaged."""
LEAST_DRAWS, MOST_DRAWS = 6, 300
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "greedy, counted": {"structure": "greedy"},
    "random": {"structure": "random"},
    "stump": {"structure": "stump"},
    **{f"{depth} above": {"structure": "labelled", "max_depth": depth} for depth in range(1, 7)},
}


class Cell(NamedTuple):
    """A data set of a folder, at an ε."""

    directory: str
    dataset: str
    epsilon: float


class Measured(NamedTuple):
    """A cell with its signal, number of classes, what the rule chooses, and the mean accuracy of each variant."""

    cell: Cell
    signal: float
    classes: int
    chosen: str
    means: dict[str, float]


def cells_of(directories: list[str]) -> list[Cell]:
    """All cells whose signal per class is within the bounds."""
    found = []
    for directory in directories:
        described = json.loads((Path(directory) / "schemas.json").read_text(encoding="utf-8"))
        for name, each in sorted(described.items()):
            target = next(column for column in each["columns"] if column["name"] == each["target"])
            for epsilon in EPSILONS:
                own = of_a_class(0.9 * int(each["rows"]) * epsilon, len(target["categories"]))
                if int(each["rows"]) <= MOST_RECORDS and LEAST <= own <= MOST:
                    found.append(Cell(directory, name, epsilon))
    return found


def measured(cell: Cell, seconds: float) -> Measured:
    """Every variant on one fold after another, until the time is over."""
    X, y, schema, planned = loaded(cell.directory, cell.dataset)
    schema = schema.replace(records=len(planned[0][0]))
    signal, classes = cell.epsilon * len(planned[0][0]), len(schema.classes)
    found: dict[str, list[float]] = {name: [] for name in VARIANTS}
    start = time.process_time()
    for draw in range(MOST_DRAWS):
        if draw >= LEAST_DRAWS and time.process_time() - start > seconds:
            break
        train, test = planned[draw % len(planned)]
        seed = zlib.crc32(repr((cell.dataset, cell.epsilon, draw)).encode())
        for name, options in VARIANTS.items():
            model = DecisionTree(schema, epsilon=cell.epsilon, random_state=seed, **options)
            model.fit({column: values[train] for column, values in X.items()}, y[train])
            predicted = model.predict({column: values[test] for column, values in X.items()})
            found[name].append(float((np.asarray(predicted) == y[test]).mean()))
    return Measured(cell, signal, classes, rule(signal, classes), {name: fmean(each) for name, each in found.items()})


def bands(rows: list[Measured], directories: list[str]) -> list[str]:
    """Means by folder, number of classes and signal."""
    lines = [f"| folder | classes | signal | cells | {' | '.join(VARIANTS)} |", "|---" * (4 + len(VARIANTS)) + "|"]
    for place, directory in enumerate(directories, 1):
        for few, classes in ((range(2, 3), "2"), (range(3, 9), "3 to 8"), (range(9, 1000), "more")):
            for low, high in pairwise(BANDS):
                own = [
                    each
                    for each in rows
                    if each.cell.directory == directory and each.classes in few and low <= each.signal < high
                ]
                if own:
                    means = " | ".join(f"{fmean(each.means[name] for each in own):.3f}" for name in VARIANTS)
                    lines.append(f"| {place} | {classes} | {low} to {high} | {len(own)} | {means} |")
    return lines


def main() -> None:
    """Measure all cells and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", nargs="+", required=True, help="folders with schemas.json")
    parser.add_argument("--seconds", type=float, default=3.0, help="processor time per cell; at least six folds")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(measured, cell, options.seconds) for cell in cells_of(options.data)]
        rows = [each.result() for each in waiting]
    text = [f"# {(__doc__ or '').splitlines()[0]}", "", *(__doc__ or "").splitlines()[2:], ""]
    text += [f"Folders: {', '.join(str(place) for place in range(1, len(options.data) + 1))}, in the order of --data. "]
    text += ["Mean accuracies:", "", *bands(rows, options.data), ""]
    text += [
        f"| data set | classes | ε | signal | chosen | {' | '.join(VARIANTS)} |",
        "|---" * (5 + len(VARIANTS)) + "|",
    ]
    for each in rows:
        best = max(each.means.values())
        shown = (f"**{mean:.3f}**" if math.isclose(mean, best) else f"{mean:.3f}" for mean in each.means.values())
        text.append(
            f"| {each.cell.dataset} | {each.classes} | {each.cell.epsilon:g} | {each.signal:,.0f} | {each.chosen} | "
            f"{' | '.join(shown)} |"
        )
    RESULTS.write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
