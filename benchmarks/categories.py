"""From which signal a linear model is better than a tree, on tables of categories: few of them, or many.

Decides how the rule of models/auto/pick.py counts categories. `python benchmarks/categories.py` made
results/categories.md in about five minutes.

A made-up table has columns of the same number of categories, the i-th of which is found as often as 1 / i tells. Each
category adds a normal number to a score, times 2 * .7^j in column j, and the class is drawn from the score. Both models
see the same records; the signal is their number times ε. Each entry is what the linear model has more than the tree, on
average over `TABLES` tables. The last columns are the signal at which both are as good, between the entries on a
logarithmic scale, and the signal from which the rule picks the linear model.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np

from discreet import Categorical, DecisionTree, LinearSVM, Schema
from discreet.models.auto.pick import least_for_linear

RESULTS = Path(__file__).parent / "results"
COLUMNS, CATEGORIES = (6, 14), (3, 8, 20, 40)
SIGNALS = (50, 100, 200, 400, 800, 1600, 3200)
RECORDS, TESTED, TABLES = 6000, 2000, 24


def schema_of(columns: int, categories: int) -> Schema:
    """What is public of a table."""
    names = [str(each) for each in range(categories)]
    return Schema([Categorical(f"c{place}", names) for place in range(columns)], "y", [0, 1], records=RECORDS)


def made(columns: int, categories: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """A table and its classes."""
    rng = np.random.default_rng(seed)
    often = 1 / np.arange(1, categories + 1)
    codes = rng.choice(categories, (columns, RECORDS + TESTED), p=often / often.sum())
    added = rng.normal(size=(columns, categories)) * 2 * 0.7 ** np.arange(columns)[:, None]
    score = np.take_along_axis(added, codes, axis=1).sum(axis=0)
    score -= np.quantile(score, rng.uniform(0.3, 0.75))
    y = (rng.random(len(score)) < 1 / (1 + np.exp(-2 * score))).astype(int)
    return {f"c{place}": row.astype(str) for place, row in enumerate(codes)}, y


def gain(shape: tuple[int, int, int]) -> float:
    """By how much the linear model is more accurate than the tree, on average."""
    columns, categories, signal = shape
    public, found = schema_of(columns, categories), []
    for seed in range(TABLES):
        X, y = made(columns, categories, 1000 * seed + 37 * columns + categories)
        parts = np.s_[:RECORDS], np.s_[RECORDS:]
        train, test = ({name: values[part] for name, values in X.items()} for part in parts)
        scores = [
            family(public, epsilon=signal / RECORDS, random_state=seed).fit(train, y[:RECORDS]).score(test, y[RECORDS:])
            for family in (LinearSVM, DecisionTree)
        ]
        found.append(scores[0] - scores[1])
    return float(np.mean(found))


def crossing(gains: list[float]) -> str:
    """The signal from which on the linear model is not behind, between two that were tried."""
    for (low, before), (high, after) in reversed(list(pairwise(zip(SIGNALS, gains, strict=True)))):
        if before < 0 <= after:
            return f"{math.exp(np.interp(0, [before, after], [math.log(low), math.log(high)])):,.0f}"
    return f"above {SIGNALS[-1]:,}" if gains[-1] < 0 else f"below {SIGNALS[0]}"


def main() -> None:
    """Measure all tables and write the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    shapes = [(columns, categories) for columns in COLUMNS for categories in CATEGORIES]
    with ProcessPoolExecutor(options.jobs) as pool:
        found = iter(list(pool.map(gain, [(*shape, signal) for shape in shapes for signal in SIGNALS])))
    head = ["columns", "categories", *map(str, SIGNALS), "as good at", "picked from"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for columns, categories in shapes:
        gains = [next(found) for _ in SIGNALS]
        shown = [f"{each:+.3f}" for each in gains]
        picked = f"{least_for_linear(schema_of(columns, categories)):,.0f}"
        lines.append(f"| {' | '.join([str(columns), str(categories), *shown, crossing(gains), picked])} |")
    head = [line for text in (__doc__ or "").split("\n\n")[1:] for line in (*text.strip().splitlines(), "")]
    text = "\n".join(["# A linear model or a tree, by the number of categories", "", *head, *lines, ""])
    (RESULTS / "categories.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
