"""How many knots numbers should have, when more lie near the bounds, how many columns: LinearSVM with other rules.

Decides `KNOTS`, `OF_CLASSES`, `OF_CHOSEN`, `EDGES_OF_CHOSEN`, and for two classes `GROUP` and `ENOUGH`, of
models/linear/plan.py. Data sets for which these rules say different things are in three parts: two halves of those of
keel.py, and the fifteen. The rules were chosen with figures of all three parts in sight; that they are better on both
halves, and hardly worse on the fifteen, is what speaks for them. The data are public, and the scores are exact
functions of them, not private. Noise is seeded, so results repeat; large tables have two draws a cell.

    python benchmarks/knots.py --data DIR KEEL > benchmarks/results/knots.md
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from discreet.models.linear import plan
from variants import accuracies, directories, page

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
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "no knots near bounds of chosen": {"EDGES_OF_CHOSEN": 8},
    "near all bounds from 4 on": {"EDGES_FROM": 4},
    "two classes: 4 knots later": {"KNOTS": {2.5: 4, 10.0: 8}},
    "two classes: 8 knots sooner": {"KNOTS": {1.25: 4, 5.0: 8}},
    "more classes: as two": {"OF_CLASSES": plan.KNOTS, "OF_CHOSEN": plan.KNOTS},
    "more classes: all from 0.6 on": {"OF_CLASSES": plan.OF_CHOSEN},
    "more classes: chosen from 0.4 on": {"OF_CHOSEN": plan.OF_CLASSES},
    "two classes: choose as for more": {"GROUP": plan.GROUP_OF_CLASSES, "ENOUGH": plan.ENOUGH_OF_CLASSES},
    "more classes: choose as for two": {"GROUP_OF_CLASSES": plan.GROUP, "ENOUGH_OF_CLASSES": plan.ENOUGH},
}
"""Constants of the plan that differ."""
DRAWS, FEWER = 6, 2
"""Draws of a cell, and of one of a large table."""


def main() -> None:
    """Print the means of the parts, and the cells in which the variants differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", nargs="+", required=True, help="directories with schemas.json")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    where = directories(options.data)
    keys = [(part, name, epsilon) for part, names in PARTS.items() for name in names for epsilon in EPSILONS]
    with ProcessPoolExecutor(options.jobs) as pool:
        given = {key: (key[1], where[key[1]], key[2], DRAWS, FEWER) for key in keys}
        waiting = {key: pool.submit(accuracies, VARIANTS, *each) for key, each in given.items()}
        cells = {key: each.result() for key, each in waiting.items()}
    print(page("Knots", __doc__, VARIANTS, cells, every=False))


if __name__ == "__main__":
    main()
