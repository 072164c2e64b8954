"""What LinearSVM gains by finding the part of its range that each number fills, and which constants find it best.

Decides the constants of `narrowing` in models/linear/plan.py. Data sets with numbers are in three parts: two halves of
those of keel.py, and the fifteen. A constant chosen on one half is judged on the other two parts. The data are public,
and the scores are exact functions of them, not private. Noise is seeded, so results repeat.

    python benchmarks/narrowing.py --data DIR KEEL > benchmarks/results/narrowing.md
"""

from __future__ import annotations

import argparse
import os
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from variants import accuracies, directories, page

PARTS = {
    "first": ("ionosphere", "magic", "page-blocks0", "phoneme", "ring", "satimage", "texture", "vehicle", "wdbc"),
    "second": ("bands", "contraceptive", "pima", "saheart", "segment", "spambase", "twonorm", "vowel", "wine"),
    "fifteen": ("adult", "breast-w", "credit-approval", "ecoli", "heart-statlog", "iris", "optdigits", "seeds"),
}
"""Data sets whose numbers can be narrowed at some of these ε, but for the largest, which take long."""
EPSILONS = (0.1, 0.3, 1.0, 3.0)
VARIANTS: dict[str, dict[str, Any]] = {
    "as declared": {"ranges": None},
    "default": {},
    "15 % given up": {"GIVEN_UP": 0.15},
    "3 % for half": {"HALF": 0.03},
    "8 % for half": {"HALF": 0.08},
    "less sharp": {"LEAST_SHARP": 6, "SHARP": 20},
}
DRAWS, FEWER = 8, 2
"""Draws of a cell, and of one of a large table."""


def main() -> None:
    """Print the means of the parts, and all cells."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", nargs="+", required=True, help="directories with schemas.json")
    where = directories(parser.parse_args().data)
    keys = [(part, name, epsilon) for part, names in PARTS.items() for name in names for epsilon in EPSILONS]
    cells = {key: accuracies(VARIANTS, key[1], where[key[1]], key[2], DRAWS, FEWER) for key in keys}
    print(page("Ranges that are narrowed", __doc__, VARIANTS, cells, every=True))


if __name__ == "__main__":
    main()
