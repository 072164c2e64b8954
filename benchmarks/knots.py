"""How many knots numbers should have, when more lie near the bounds, how many columns: LinearSVM with other rules.

Decides `KNOTS`, `OF_CLASSES`, `OF_CHOSEN`, `EDGES_OF_CHOSEN`, and for two classes `GROUP` and `ENOUGH`, of
models/linear/plan.py. Data sets for which these rules say different things are in three parts: two halves of those of
keel.py, and the fifteen. A constant chosen on one half is judged on the other two parts. The data are public, and the
scores are exact functions of them, not private. Noise is seeded, so results repeat.

    python benchmarks/knots.py --data DIR KEEL > benchmarks/results/knots.md
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from advise_cells import chosen, table
from discreet import LinearSVM
from discreet.models.linear import plan

PARTS = {
    "first": (
        "german", "ionosphere", "mammographic", "movement_libras", "page-blocks0", "pima", "ring", "satimage",
        "texture", "vehicle", "wdbc",
    ),
    "second": (
        "bands", "bupa", "chess", "contraceptive", "haberman", "phoneme", "saheart", "segment", "spambase", "twonorm",
        "vowel", "wine",
    ),
    "fifteen": (
        "breast-w", "credit-approval", "ecoli", "heart-statlog", "house-votes-84", "iris", "mushroom", "optdigits",
        "seeds", "spect",
    ),
}  # fmt: skip
"""Data sets for which some rule says different things at some of these ε, but for the largest."""
EPSILONS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 3.0)
CONSTANTS = (
    "KNOTS", "OF_CLASSES", "OF_CHOSEN", "EDGES_FROM", "EDGES_OF_CHOSEN", "GROUP", "ENOUGH", "GROUP_OF_CLASSES",
    "ENOUGH_OF_CLASSES",
)  # fmt: skip
USUAL = {name: getattr(plan, name) for name in CONSTANTS}
LATER, SOONER = {1.25: 4, 10.0: 8}, {0.4: 4, 10.0: 8}
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "no knots near bounds of chosen": {"EDGES_OF_CHOSEN": 8},
    "near all bounds from 4 on": {"EDGES_FROM": 4},
    "two classes: 4 knots later": {"KNOTS": {2.5: 4, 10.0: 8}},
    "two classes: 8 knots sooner": {"KNOTS": {1.25: 4, 5.0: 8}},
    "more classes: as two": {"OF_CLASSES": LATER, "OF_CHOSEN": LATER},
    "more classes: all from 0.6 on": {"OF_CLASSES": plan.OF_CHOSEN},
    "more classes: chosen from 0.4 on": {"OF_CHOSEN": SOONER},
    "two classes: choose as for more": {"GROUP": plan.GROUP_OF_CLASSES, "ENOUGH": plan.ENOUGH_OF_CLASSES},
    "more classes: choose as for two": {"GROUP_OF_CLASSES": plan.GROUP, "ENOUGH_OF_CLASSES": plan.ENOUGH},
}
"""Constants of the plan that differ."""
DRAWS, RECORDS = 6, 3000
"""Draws of a cell; tables of more than this many records get a third of them."""
Cell = tuple[str, str, float]


def accuracies(name: str, directory: str, epsilon: float) -> list[float]:
    """The mean accuracy of each variant, on the same folds with the same seeds."""
    given = table(name, directory)
    draws = DRAWS if len(given.y) < RECORDS else DRAWS // 3
    means = []
    for variant in VARIANTS.values():
        for constant, value in {**USUAL, **variant}.items():
            setattr(plan, constant, value)
        found = []
        for draw in range(draws):
            train, test = given.folds[draw % len(given.folds)]
            seed = zlib.crc32(repr((name, epsilon, draw)).encode())
            model = LinearSVM(given.schema, epsilon=epsilon, random_state=seed)
            model.fit(chosen(given.X, train), given.y[train])
            found.append(float(np.mean(np.asarray(model.predict(chosen(given.X, test))) == given.y[test])))
        means.append(float(np.mean(found)))
    return means


def main() -> None:
    """Print the means of the parts, and the cells in which the variants differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", nargs="+", required=True, help="directories with schemas.json")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    where = {name: each for each in options.data for name in json.loads((Path(each) / "schemas.json").read_text())}
    keys = [(part, name, epsilon) for part, names in PARTS.items() for name in names for epsilon in EPSILONS]
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = {key: pool.submit(accuracies, key[1], where[key[1]], key[2]) for key in keys}
        cells = {key: each.result() for key, each in waiting.items()}
    print(report(cells))


def report(cells: dict[Cell, list[float]]) -> str:
    """The page of results."""
    head = f"| {' | '.join(VARIANTS)} |\n|---|{'---|' * len(VARIANTS)}"
    lines = [
        f"# Knots\n\n{(__doc__ or '').split(chr(10), 2)[2]}\nMean accuracies of the linear model:\n",
        f"| part {head}",
    ]
    for part in PARTS:
        means = np.mean([values for key, values in cells.items() if key[0] == part], axis=0)
        lines.append(f"| {part} | {' | '.join(f'{mean:.4f}' for mean in means)} |")
    lines.append("\nThe cells in which they differ:\n")
    lines.append(f"| data set | ε {head.replace('|---|', '|---|---|', 1)}")
    for (_, name, epsilon), values in cells.items():
        if len(set(values)) > 1:
            lines.append(f"| {name} | {epsilon:g} | {' | '.join(f'{value:.3f}' for value in values)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
