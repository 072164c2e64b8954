"""Accuracy and speed of InterpretML's DP-EBM on the shared folds of the binary data sets.

Adds its lines to results/rivals.csv, which benchmarks/accuracy.py compares with ours. It runs in the environment "ebm"
of `environments.py`:

    python benchmarks/rival_ebm.py --data DIRECTORY

DP-EBM boosts additive models. Its guarantee is (epsilon, delta) with delta = 1e-6 here, not pure epsilon, and
it takes the number of rows as public. Types and numeric bounds are given from the public schema. Categories
cannot be given without an order: those of a nominal column are read off the data and published when they are
frequent enough after noise, and the library does not warn of it. It does warn of a seed, which makes noise
repeatable; the rows here are seeded, so that warning is silenced. It takes neither missing numbers, so these
are the midpoint of their bounds, nor more than two classes.

The default learning rate of 0.01 starves it on large data; a rate of 0.1 is listed as a model of its own.
It is the slowest contestant: some minutes in all; `--folds` and `--repeats` cut that short.
"""

from __future__ import annotations

import json
import warnings
from functools import partial

import numpy as np
from interpret.privacy import DPExplainableBoostingClassifier

from folds import Build, Classifier, Floats, Table, arguments, category_codes, fit_seconds, load, numbers, parse, run

DELTA = 1e-6


def plain_matrix(table: Table) -> Floats:
    """Numbers as they are and categories as codes: the library encodes by itself."""
    encoded = [
        (numbers if column["kind"] == "numeric" else category_codes)(column, table.rows[column["name"]])
        for column in table.columns
    ]
    return np.column_stack(encoded).astype(np.float64)


def boosting(learning_rate: float, table: Table, epsilon: float, seed: int | None) -> Classifier:
    """Tell it everything public that it can be told."""
    kinds = [column["kind"] for column in table.columns]
    bounds = {
        index: (float(column["lower"]), float(column["upper"]))
        for index, column in enumerate(table.columns)
        if column["kind"] == "numeric"
    }
    model: Classifier = DPExplainableBoostingClassifier(
        feature_types=["continuous" if kind == "numeric" else "nominal" for kind in kinds],
        privacy_bounds=bounds,
        epsilon=epsilon,
        delta=DELTA,
        learning_rate=learning_rate,
        n_jobs=1,
        random_state=seed,
    )
    return model


MODELS: dict[str, Build] = {"DP-EBM": partial(boosting, 0.01), "DP-EBM lr=0.1": partial(boosting, 0.1)}


def main() -> None:
    """Measure accuracy on all binary data sets."""
    parser = arguments(__doc__)
    parser.add_argument("--time", metavar="NAME", help="print the fit times on this set instead, as JSON")
    parser.add_argument("--runs", type=int, default=2, help="fits of each that --time takes the least of")
    options = parse(parser)
    warnings.filterwarnings("ignore", message="Privacy violation: using a fixed random_state")
    if options.time:
        table = load(options.data, options.time)
        print(json.dumps(fit_seconds(table, plain_matrix(table), MODELS, options.runs)))
        return
    for name in options.datasets:
        table = load(options.data, name)
        if len(table.classes) == 2:
            run(name, table, plain_matrix(table), MODELS, options)


if __name__ == "__main__":
    main()
