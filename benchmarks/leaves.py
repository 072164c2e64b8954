"""Leaves of a tree inside a linear model: from which signal they pay, at which share of ε, with which rounding.

Decides `LEAVES_FROM`, `LEAVES_OF_CATEGORIES`, `SPLITTING` and `HUBER_OF_LEAVES` of models/linear/plan.py. The signal
per squared group is ε n / (d + 1)^2, with d columns. Few data sets are large enough for a strong one, so neighbouring
columns of data sets of keel.py make narrow tables, and ε is what gives a table its signal, at most 6. Tables with
numbers and tables of categories alone are in two halves each, by data set; those that frontier.py reports are a part of
their own, with all their columns. In all variants but the first two leaves are grown at every signal. The data are
public, and the scores are exact functions of them, not private. Noise is seeded, so results repeat; large tables have
few draws a cell.

That categories need less signal was seen on nursery first, and then looked for on the other tables. A fifth of ε for
the splits is better than two fifths on many narrow tables, and worse on adult, skin, banana and nursery with all their
columns and a strong signal, so that it is not the default; neither is a sharper hinge, which is worse on adult.

    python benchmarks/leaves.py --data DIR KEEL > benchmarks/results/leaves.md
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from advise_cells import Table, table
from variants import compared, directories, head, heading, line


class Narrow(NamedTuple):
    """Neighbouring columns of a data set; all, if there is no number."""

    part: str
    dataset: str
    first: int = 0
    number: int | None = None

    def title(self) -> str:
        """What the results call it."""
        if self.number is None:
            return self.dataset
        return f"{self.dataset}, columns {self.first + 1} to {self.first + self.number}"

    def cut(self, given: Table) -> Table:
        """The table of these columns."""
        last = None if self.number is None else self.first + self.number
        return given._replace(schema=given.schema.replace(columns=given.schema.columns[self.first : last]))


TABLES = (
    *(Narrow("numbers, first", name) for name in ("banana", "mammographic", "page-blocks0")),
    *(Narrow("numbers, first", "ring", first, 6) for first in (0, 10)),
    *(Narrow("numbers, first", "satimage", first, number) for first, number in ((12, 6), (16, 4))),
    *(Narrow("numbers, first", "texture", first, number) for first, number in ((0, 6), (10, 4))),
    *(Narrow("numbers, first", name, 0, 4) for name in ("german", "letter", "pima", "vehicle")),
    Narrow("numbers, first", "page-blocks0", 4, 5),
    *(Narrow("numbers, second", name) for name in ("magic", "marketing", "penbased", "phoneme")),
    *(Narrow("numbers, second", "penbased", first, 6) for first in (0, 8)),
    *(Narrow("numbers, second", "spambase", first, 6) for first in (0, 50)),
    *(Narrow("numbers, second", name, 0, 4) for name in ("contraceptive", "magic", "segment", "twonorm")),
    Narrow("categories, first", "car-good"),
    *(Narrow("categories, first", "chess", first, 6) for first in (0, 8, 20, 30)),
    *(Narrow("categories, first", "german", first, 4) for first in (5, 13)),
    Narrow("categories, second", "titanic"),
    *(Narrow("categories, second", "tic-tac-toe", first, 4) for first in (0, 3)),
    *(Narrow("categories, second", "splice", first, 6) for first in (24, 27, 30)),
    Narrow("categories, second", "flare-F", 0, 5),
    *(Narrow("frontier", name) for name in ("adult", "accelerometer", "mushroom", "nursery", "skin")),
)
SIGNALS = (64, 128, 256, 512, 1024)
"""Per squared group."""
MOST_EPSILON = 6.0
ALWAYS: dict[str, Any] = {"LEAVES_FROM": 0, "LEAVES_OF_CATEGORIES": 0}
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "no leaves": {"leaves": 0},
    "leaves": ALWAYS,
    "share .1": {**ALWAYS, "SPLITTING": 0.1},
    "share .2": {**ALWAYS, "SPLITTING": 0.2},
    "rounded by .5": {**ALWAYS, "huber": 0.5},
    "rounded by 1": {**ALWAYS, "huber": 1.0},
    "rounded by 2": {**ALWAYS, "huber": 2.0},
}
"""Constants of the plan that differ; the default rounds by 2 for two classes, and by .5 for more."""
DRAWS, FEWER = 16, 6
"""Draws of a cell, and of one of a large table."""


def epsilons(given: Table) -> dict[int, float]:
    """What gives the table each signal."""
    groups = len(given.schema.columns) + 1
    found = {signal: signal * groups**2 / (given.schema.records or len(given.y)) for signal in SIGNALS}
    return {signal: epsilon for signal, epsilon in found.items() if epsilon <= MOST_EPSILON}


def measured(narrow: Narrow, directory: str) -> dict[int, list[float]]:
    """Mean accuracies of the variants at each signal of a table."""
    given = narrow.cut(table(narrow.dataset, directory))
    return {
        signal: compared(VARIANTS, given, (*narrow, signal), epsilon, DRAWS, FEWER)
        for signal, epsilon in epsilons(given).items()
    }


def main() -> None:
    """Print the means of the parts at each signal, and all cells."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", nargs="+", required=True, help="directories with schemas.json")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    where = directories(options.data)
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = {each: pool.submit(measured, each, where[each.dataset]) for each in TABLES}
        cells = {each: waiting[each].result() for each in TABLES}
    print(f"{heading('Leaves inside a linear model', __doc__)}\nMeans of the tables that have this signal:\n")
    print(head("part", "signal", "tables", *VARIANTS))
    for part in dict.fromkeys(each.part for each in TABLES):
        for signal in SIGNALS:
            found = [rows[signal] for each, rows in cells.items() if each.part == part and signal in rows]
            if found:
                print(line(part, str(signal), str(len(found)), *(f"{mean:.4f}" for mean in np.mean(found, axis=0))))
    print(f"\nAll cells:\n\n{head('table', 'signal', *VARIANTS)}")
    for narrow, rows in cells.items():
        for signal, means in rows.items():
            print(line(narrow.title(), str(signal), *(f"{mean:.3f}" for mean in means)))


if __name__ == "__main__":
    main()
