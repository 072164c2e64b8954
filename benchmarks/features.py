"""What LinearSVM gains by choosing columns, by leaves of a tree and by knots near the bounds: each switched off.

Decides the constants of models/linear/plan.py.
`python benchmarks/features.py --data DIR` made results/features.csv and results/features.md. The data sets are public
and the scores are exact functions of them, not private. Noise is seeded, so results repeat.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import folds
from accuracy import Columns, _numbers_parsed
from discreet import Categorical, LinearSVM, Schema
from discreet.models.linear import plan
from folds import Key, Score

RESULTS = Path(__file__).parent / "results"
EPSILONS = (0.1, 0.5, 1.0, 3.0)
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "all columns": {"select": None},
    "no leaves": {"leaves": 0},
    "even knots": {},
}
"""Keywords of LinearSVM; "even knots" leaves out the knots near the bounds."""
FAMILIES = ("additive", "weak", "graded", "bayes")
ROWS, WIDTH, RELEVANT, VALUES, CLASSES, TABLES = 3000, 60, 6, 4, 3, 5
"""Of the generated tables: records to train on (as many to test on), columns, those that matter, values, classes, and
tables per family."""


def generated(family: str, seed: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """A table of which six columns matter, its classes, and these columns; three in ten columns are skewed."""
    rng = np.random.default_rng(seed)
    X = rng.integers(VALUES, size=(2 * ROWS, WIDTH))
    for column in np.flatnonzero(rng.random(WIDTH) < 0.3):
        X[:, column] = rng.choice(VALUES, 2 * ROWS, p=[0.7, 0.15, 0.1, 0.05])
    where = rng.permutation(WIDTH)[:RELEVANT]
    if family == "bayes":
        y = rng.choice(CLASSES, 2 * ROWS, p=[0.5, 0.3, 0.2])
        for column in where:
            ends = np.cumsum(rng.dirichlet(np.full(VALUES, 0.7), size=CLASSES), axis=1)
            X[:, column] = (ends[y] < rng.random(2 * ROWS)[:, None]).sum(axis=1).clip(0, VALUES - 1)
        return X, y, where.tolist()
    sizes = {"additive": np.full(RELEVANT, 1.5), "weak": np.full(RELEVANT, 1.0), "graded": np.linspace(2.5, 0.5, 6)}
    weights = rng.normal(size=(RELEVANT, VALUES, CLASSES)) * sizes[family][:, None, None]
    scores = sum(own[X[:, column]] for own, column in zip(weights, where, strict=True))
    return X, np.argmax(scores + rng.gumbel(size=(2 * ROWS, CLASSES)), axis=1), where.tolist()


def measured(variant: str, schema: Schema, X: Any, y: Any, fold: folds.Fold, key: Key) -> Score:
    """Fit one variant."""
    usual = plan.EDGES_FROM, plan.EDGES_OF_CHOSEN
    if variant == "even knots":
        plan.EDGES_FROM = plan.EDGES_OF_CHOSEN = 10**9
    try:
        model = LinearSVM(
            schema, epsilon=key.epsilon, random_state=key._replace(model="").seed(), **VARIANTS.get(variant, {})
        )
        return folds.measure(model, X, y, fold)
    finally:
        plan.EDGES_FROM, plan.EDGES_OF_CHOSEN = usual


def cases(options: Any) -> Iterator[tuple[str, str, Schema, Any, Any, folds.Fold]]:
    """Every data set with each variant and fold, then the generated tables."""
    for name in options.datasets:
        table = folds.load(options.data, name)
        schema = Schema.load(Path(options.data) / "schemas.json", name).replace(classes=list(range(len(table.classes))))
        number = 1 if name in folds.LARGE else options.folds
        for fold in folds.planned_folds(name, table.y, number, options.repeats):
            for variant in VARIANTS:
                yield name, variant, schema, Columns(_numbers_parsed(table)), table.y, fold
    yield from generated_cases()


def generated_cases() -> Iterator[tuple[str, str, Schema, Any, Any, folds.Fold]]:
    """The generated tables, with all columns and with the six alone."""
    halves = np.arange(ROWS), np.arange(ROWS, 2 * ROWS)
    for family in FAMILIES:
        for seed in range(TABLES):
            values, y, where = generated(family, seed)
            columns = [Categorical(f"c{i:02}", list(range(VALUES)), unlisted=False) for i in range(WIDTH)]
            schema = Schema(columns, "y", list(range(CLASSES)), records=ROWS)
            few = Schema([columns[i] for i in sorted(where)], "y", list(range(CLASSES)), records=ROWS)
            for variant, public in (("default", schema), ("all columns", schema), ("the six alone", few)):
                X = Columns({name: values[:, int(name[1:])] for name in public.names})
                yield f"generated {family}", variant, public, X, y, folds.Fold(seed, 0, *halves)


def table_of(results: dict[Key, Score], epsilons: list[float]) -> str:
    """A Markdown table: mean accuracy by data set, epsilon and variant."""
    scores: dict[tuple[str, float, str], list[float]] = defaultdict(list)
    for key, score in results.items():
        scores[key.dataset, key.epsilon, key.model].append(score.accuracy)
    models = [*VARIANTS, "the six alone"]
    lines = ["| data set | ε | " + " | ".join(models) + " |", "|---" * (2 + len(models)) + "|"]
    for name in dict.fromkeys(key.dataset for key in results):
        for epsilon in epsilons:
            cells = [scores.get((name, epsilon, model), []) for model in models]
            shown = " | ".join(f"{mean(cell):.3f}" if cell else "" for cell in cells)
            lines.append(f"| {name} | {epsilon:g} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is not yet in the results file, then print and write the table."""
    parser = folds.arguments(__doc__)
    parser.set_defaults(out=RESULTS / "features.csv", epsilons=list(EPSILONS), folds=3, repeats=1)
    options = folds.parse(parser)
    done = folds.read_results(options.out)
    for name, variant, schema, X, y, fold in cases(options):
        for epsilon in options.epsilons:
            key = Key(name, variant, epsilon, fold.repeat, fold.fold)
            if key not in done:
                folds.append_result(options.out, key, measured(variant, schema, X, y, fold, key))
    text = table_of(folds.read_results(options.out), options.epsilons)
    (RESULTS / "features.md").write_text(f"{HEADER}\n{text}\n", encoding="utf-8")
    print(text)


HEADER = """# Inputs of LinearSVM

Command: `python benchmarks/features.py --data DIR`. The first three folds of stratified 10-fold (of large data sets the
first), one draw of the noise for each, the same in all columns; generated tables (60 columns of 4 values, 3 classes,
six columns matter, 3,000 records to train on), five per family. Add-remove, number of records declared. Each column but
the first switches one thing off: the choice of columns, the leaves of a tree, the knots near the bounds; the last is
the same model on the six columns that matter. The constants were chosen on these data sets and families. Public data:
these scores are not themselves private.
"""

if __name__ == "__main__":
    main()
