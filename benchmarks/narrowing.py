"""What LinearSVM gains by finding the part of its range that each number fills, and which constants find it best.

Decides the constants of `narrowing` in models/linear/plan.py. Data sets with numbers are in three parts: two halves of
those of keel.py, and the fifteen. A constant chosen on one half is judged on the other two parts. The data are public,
and the scores are exact functions of them, not private. Noise is seeded, so results repeat.

    python benchmarks/narrowing.py --data DIR KEEL > benchmarks/results/narrowing.md
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from advise_cells import chosen, table
from discreet import LinearSVM
from discreet.models.linear import plan

PARTS = {
    "first": ("ionosphere", "magic", "page-blocks0", "phoneme", "ring", "satimage", "texture", "vehicle", "wdbc"),
    "second": ("bands", "contraceptive", "pima", "saheart", "segment", "spambase", "twonorm", "vowel", "wine"),
    "fifteen": ("adult", "breast-w", "credit-approval", "ecoli", "heart-statlog", "iris", "optdigits", "seeds"),
}
"""Data sets whose numbers can be narrowed at some of these ε, but for the largest, which take long."""
EPSILONS = (0.1, 0.3, 1.0, 3.0)
CONSTANTS = "GIVEN_UP", "HALF", "LEAST_SHARP", "SHARP"
USUAL = {name: getattr(plan, name) for name in CONSTANTS}
VARIANTS: dict[str, dict[str, Any] | None] = {
    "as declared": None,
    "default": {},
    "15 % given up": {"GIVEN_UP": 0.15},
    "3 % for half": {"HALF": 0.03},
    "8 % for half": {"HALF": 0.08},
    "less sharp": {"LEAST_SHARP": 6, "SHARP": 20},
}
"""Constants of the plan that differ; None: `ranges=None`."""
DRAWS, RECORDS = 8, 3000
"""Draws of a cell; tables of more than this many records get a quarter of them."""


def accuracies(name: str, directory: str, epsilon: float) -> Iterator[float]:
    """The mean accuracy of each variant, on the same folds with the same seeds."""
    given = table(name, directory)
    draws = DRAWS if len(given.y) < RECORDS else DRAWS // 4
    for variant in VARIANTS.values():
        for constant, value in {**USUAL, **(variant or {})}.items():
            setattr(plan, constant, value)
        found = []
        for draw in range(draws):
            train, test = given.folds[draw % len(given.folds)]
            seed = zlib.crc32(repr((name, epsilon, draw)).encode())
            ranges = None if variant is None else "auto"
            model = LinearSVM(given.schema, epsilon=epsilon, ranges=ranges, random_state=seed)
            model.fit(chosen(given.X, train), given.y[train])
            found.append(float(np.mean(np.asarray(model.predict(chosen(given.X, test))) == given.y[test])))
        yield float(np.mean(found))


def main() -> None:
    """Print the means of the parts, and all cells."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", nargs="+", required=True, help="directories with schemas.json")
    directories = parser.parse_args().data
    where = {name: each for each in directories for name in json.loads((Path(each) / "schemas.json").read_text())}
    cells: dict[tuple[str, str, float], list[float]] = {}
    for part, names in PARTS.items():
        for name in names:
            for epsilon in EPSILONS:
                cells[part, name, epsilon] = list(accuracies(name, where[name], epsilon))
    head = f"| {' | '.join(VARIANTS)} |\n|---|{'---|' * len(VARIANTS)}"
    print(f"# Ranges that are narrowed\n\n{__doc__.split(chr(10), 2)[2]}\nMean accuracies of the linear model:\n")  # type: ignore[union-attr]
    print(f"| part {head}")
    for part in PARTS:
        means = np.mean([values for key, values in cells.items() if key[0] == part], axis=0)
        print(f"| {part} | {' | '.join(f'{mean:.4f}' for mean in means)} |")
    print(f"\n| data set | ε {head.replace('|---|', '|---|---|', 1)}")
    for (_, name, epsilon), values in cells.items():
        print(f"| {name} | {epsilon:g} | {' | '.join(f'{value:.3f}' for value in values)} |")


if __name__ == "__main__":
    main()
