"""Accuracy of DecisionTree and RandomForest by data set and epsilon, with defaults only.

Decides whether the tree meets its bars with defaults only.
`python benchmarks/trees.py --data DIR --folds 5 --repeats 1 --draws 2` made results/trees.csv and results/trees.md,
after the same with `--folds 10 --repeats 1 --draws 4 --datasets` and the eight small sets.
The data are public: the scores are exact functions of them and not private. Noise is seeded, so results repeat.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import folds
from accuracy import Columns, _numbers_parsed
from discreet import Schema
from discreet.models.trees.decision_tree import DecisionTree
from discreet.models.trees.random_forest import RandomForest
from folds import Key, Score

RESULTS = Path(__file__).parent / "results"
TREE, UNDECLARED, FOREST = "DecisionTree", "DecisionTree, n not declared", "RandomForest"
EPSILONS = (0.01, 0.1, 1.0, 3.0)
BARS = {
    ("breast-w", 0.01): 0.81,
    ("iris", 0.1): 0.65,
    ("ecoli", 0.1): 0.49,
    ("seeds", 0.1): 0.61,
    ("skin", 1.0): 0.994,
    ("mushroom", 1.0): 0.96,
    ("adult", 1.0): 0.825,
    ("accelerometer", 1.0): 0.52,
    ("nursery", 1.0): 0.90,
    ("nursery", 3.0): 0.927,
}
"""The accuracy that the tree has to attain."""


def run(options: argparse.Namespace) -> None:
    """Append the lines that the results file lacks: each the mean over some draws of the noise."""
    done = folds.read_results(options.out)
    for name in options.datasets:
        table = folds.load(options.data, name)
        schema = Schema.load(Path(options.data) / "schemas.json", name).replace(classes=list(range(len(table.classes))))
        X = Columns(_numbers_parsed(table))
        draws = 1 if name in folds.LARGE else options.draws
        for fold in folds.planned_folds(name, table.y, options.folds, options.repeats):
            for model in (TREE, UNDECLARED, FOREST):
                for epsilon in options.epsilons:
                    key = Key(name, model, epsilon, fold.repeat, fold.fold)
                    if key not in done:
                        scores = [
                            folds.measure(build(model, schema, epsilon, key.seed() + draw), X, table.y, fold)
                            for draw in range(draws)
                        ]
                        averaged = Score(*(mean(values) for values in zip(*scores, strict=True)))
                        folds.append_result(options.out, key, averaged)


def build(model: str, schema: Schema, epsilon: float, seed: int) -> Any:
    """An estimator with its defaults."""
    if model == FOREST:
        return RandomForest(schema, epsilon=epsilon, random_state=seed)
    return DecisionTree(
        schema.replace(records=None) if model == UNDECLARED else schema, epsilon=epsilon, random_state=seed
    )


def table_of(results: Mapping[Key, Score], largest: Mapping[str, float], epsilons: list[float]) -> str:
    """A Markdown table: mean accuracy by data set, model and epsilon, beside the share of the largest class."""
    scores: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for key, score in results.items():
        scores[key.dataset, key.model, key.epsilon].append(score.accuracy)
    heads = [f"{model}, ε = {epsilon:g}" for model in (TREE, UNDECLARED, FOREST) for epsilon in epsilons]
    lines = ["| data set | largest class | " + " | ".join(heads) + " |", "|---" * (len(heads) + 2) + "|"]
    for name, share in largest.items():
        cells = [
            _cell(scores.get((name, model, epsilon)), BARS.get((name, epsilon)) if model == TREE else None)
            for model in (TREE, UNDECLARED, FOREST)
            for epsilon in epsilons
        ]
        lines.append(f"| {name} | {share:.3f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(values: list[float] | None, bar: float | None) -> str:
    if not values:
        return "–"
    mark = "" if bar is None else f" {'✓' if mean(values) >= bar else '✗'} (bar {bar:g})"
    return f"{mean(values):.3f} ± {np.std(values) / np.sqrt(len(values)):.3f}{mark}"


def main() -> None:
    """Run what is not yet in the results file, then print and write the table."""
    parser = folds.arguments(__doc__)
    parser.set_defaults(out=RESULTS / "trees.csv", epsilons=list(EPSILONS))
    parser.add_argument("--draws", type=int, default=4, help="draws of the noise for each fold (default 4)")
    options = folds.parse(parser)
    run(options)
    largest = {}
    for name in options.datasets:
        counts = np.bincount(folds.load(options.data, name).y)
        largest[name] = float(counts.max() / counts.sum())
    text = table_of(folds.read_results(options.out), largest, options.epsilons)
    (RESULTS / "trees.md").write_text(f"{HEADER}\n{text}\n", encoding="utf-8")
    print(text)


HEADER = """# Trees and forests

Commands: `python benchmarks/trees.py --data DIR --folds 10 --repeats 1 --draws 4 --datasets` with the first eight sets,
then `python benchmarks/trees.py --data DIR --folds 5 --repeats 1 --draws 2`. Ten stratified folds (the first five of
the other sets), each the mean over 4 draws of the noise (2 on mushroom, nursery and optdigits, one on the last three),
then mean ± standard error over folds. Add-remove, defaults only; ✓ and ✗: whether the tree meets its bar. A forest that
can feed only one tree is a DecisionTree. Public data: these scores are not themselves private.
"""

if __name__ == "__main__":
    main()
