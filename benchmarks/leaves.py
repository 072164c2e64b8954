"""Leaves of a tree inside a linear model of three classes and more: how far the hinge is rounded, and whether they pay.

Decides the rounding of models/linear/plan.py for more than two classes. Among the data sets at hand only one of three
classes and more has so strong a signal that leaves are grown, so narrow tables are made: six (or four) neighbouring
columns of large data sets of keel.py, none of which is reported in frontier.py. `python benchmarks/leaves.py --data
DIR --seconds 12`, DIR the folder that keel.py writes, made results/leaves.md. Every variant sees the same folds. The
data are public: the scores are exact functions of them and not private. Noise is seeded, so results repeat.
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from discreet import DecisionTree, LinearSVM, Schema
from frontier import loaded

RESULTS = Path(__file__).parent / "results" / "leaves.md"
LEAST = 3
"""Draws that every variant gets, however long they take."""


class Narrow(NamedTuple):
    """Some neighbouring columns of a data set, and ε."""

    dataset: str
    first: int
    number: int
    epsilon: float


TABLES = (
    Narrow("penbased", 0, 6, 3.0),
    Narrow("penbased", 8, 6, 1.5),
    Narrow("satimage", 12, 6, 3.0),
    Narrow("satimage", 16, 4, 1.5),
    Narrow("texture", 0, 6, 3.0),
    Narrow("texture", 10, 4, 1.5),
)
VARIANTS: dict[str, Callable[..., Any]] = {
    "rounded by 2": lambda schema, **given: LinearSVM(schema, huber=2.0, **given),
    "rounded by 1": lambda schema, **given: LinearSVM(schema, huber=1.0, **given),
    "rounded by 0.5": lambda schema, **given: LinearSVM(schema, huber=0.5, **given),
    "no leaves": lambda schema, **given: LinearSVM(schema, leaves=0, **given),
    "tree alone": DecisionTree,
}


def measured(narrow: Narrow, directory: str, seconds: float) -> dict[str, list[float]]:
    """Accuracies of every variant, on one fold after another until the time is over."""
    X, y, schema, planned = loaded(directory, narrow.dataset)
    columns = schema.columns[narrow.first : narrow.first + narrow.number]
    schema = Schema(columns, schema.target, list(schema.classes), records=len(planned[0][0]))
    found: dict[str, list[float]] = {name: [] for name in VARIANTS}
    start = time.process_time()
    for draw, (train, test) in enumerate(planned):
        if draw >= LEAST and time.process_time() - start > seconds:
            break
        seed = zlib.crc32(repr((narrow, draw)).encode())
        for name, make in VARIANTS.items():
            model = make(schema, epsilon=narrow.epsilon, random_state=seed)
            model.fit({each.name: X[each.name][train] for each in columns}, y[train])
            predicted = model.predict({each.name: X[each.name][test] for each in columns})
            found[name].append(float((np.asarray(predicted) == y[test]).mean()))
    return found


def main() -> None:
    """Measure all tables and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="the folder that keel.py writes")
    parser.add_argument("--seconds", type=float, default=20.0, help="processor time per table; at least three folds")
    options = parser.parse_args()
    head = ["data set", "columns", "classes", "ε", "draws", *VARIANTS]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for narrow in TABLES:
        found = measured(narrow, options.data, options.seconds)
        classes, last = len(loaded(options.data, narrow.dataset)[2].classes), narrow.first + narrow.number
        place = f"{narrow.first + 1} to {last}"
        draws = len(found["no leaves"])
        cells = [f"{fmean(each):.3f} ± {np.std(each) / np.sqrt(draws):.3f}" for each in found.values()]
        row = [narrow.dataset, place, str(classes), f"{narrow.epsilon:g}", str(draws), *cells]
        lines.append("| " + " | ".join(row) + " |")
        print(lines[-1], flush=True)
        RESULTS.write_text(f"# Leaves inside a linear model\n\n{__doc__}\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
