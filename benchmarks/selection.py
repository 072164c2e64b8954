"""What a private choice of columns is worth: NaiveBayes(select=None) beside NaiveBayes(), on the same folds.

Shows whether the choice meets its bars, and where it is more than a tolerance worse than no choice: on tables whose
columns tell about the same, a few of them tell less than all.
`python benchmarks/selection.py --data DIR` made results/selection.md.
The data are public: the scores are exact functions of them and not private. Noise is seeded, with the same seed for
both models, so they are equal where "auto" chooses nothing.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import folds
from accuracy import Columns, _numbers_parsed
from discreet import NaiveBayes, Schema
from discreet.records.encoding import Cells
from discreet.sources.exact import ExactStatistics
from discreet.sources.memory import MemorySource

RESULTS = Path(__file__).parent / "results"
EPSILONS = (0.01, 0.1, 0.5, 1.0, 3.0)
TOLERATED = 0.01
"""A cell may be this much worse than without a choice."""
BARS = {("mushroom", 0.01): 0.90, ("nursery", 0.01): 0.75, ("mushroom", 0.1): 0.97, ("iris", 1.0): 0.93}
"""The accuracy that the choice has to attain."""


class Remembering(MemorySource):
    """A source that is checked once, and counts each column once, however often the same fold is asked."""

    def __init__(self, X: Any, y: Any) -> None:
        super().__init__(X, y)
        self._known: dict[Cells, Any] = {}

    def check(self, schema: Schema) -> None:
        """Structure, the first time."""
        if not self._known:
            super().check(schema)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Exact counts, from memory where they are known."""
        new = [each for each in cells if each not in self._known]
        if new:
            self._known.update(super().count(new, schema).counts)
        return ExactStatistics({each: self._known[each] for each in cells})


def differences(options: argparse.Namespace, name: str) -> dict[float, list[tuple[float, float]]]:
    """For each epsilon the accuracies of the two models, the mean over the draws, for each fold."""
    table = folds.load(options.data, name)
    schema = Schema.load(Path(options.data) / "schemas.json", name).replace(classes=list(range(len(table.classes))))
    X = Columns(_numbers_parsed(table))
    draws = options.draws if name not in folds.LARGE else max(1, options.draws // 3)
    found: dict[float, list[tuple[float, float]]] = {epsilon: [] for epsilon in options.epsilons}
    for fold in folds.planned_folds(name, table.y, options.folds, options.repeats):
        source, unseen, truth = Remembering(X[fold.train], table.y[fold.train]), X[fold.test], table.y[fold.test]
        for epsilon in options.epsilons:
            scores: dict[str | None, list[float]] = {None: [], "auto": []}
            for draw in range(draws):
                seed = zlib.crc32(repr((name, epsilon, fold.repeat, fold.fold, draw)).encode())
                for select, accuracies in scores.items():
                    model = NaiveBayes(schema, epsilon=epsilon, select=select, random_state=seed).fit_from(source)
                    accuracies.append(float(np.mean(model.predict(unseen) == truth)))
            found[epsilon].append((mean(scores[None]), mean(scores["auto"])))
    return found


def row(name: str, found: dict[float, list[tuple[float, float]]]) -> str:
    """A line of the table: plain, chosen and whether the bars are met, for each epsilon."""
    cells = [f"| {name} "]
    for epsilon, pairs in found.items():
        plain, chosen = (mean(values) for values in zip(*pairs, strict=True))
        bar = BARS.get((name, epsilon))
        met = chosen >= plain - TOLERATED and (bar is None or chosen >= bar)
        asked = "" if bar is None else f" (bar {bar:g})"
        strong = "**" if chosen > plain + TOLERATED else ""
        cells.append(f"| {plain:.3f} → {strong}{chosen:.3f}{strong}{asked} {'✓' if met else '✗'} ")
    return "".join(cells) + "|"


def main() -> None:
    """Run everything, then print and write the table."""
    parser = folds.arguments(__doc__)
    parser.set_defaults(epsilons=list(EPSILONS), out=RESULTS / "selection.md")
    parser.add_argument("--draws", type=int, default=6, help="draws of the noise for each fold (default 6)")
    options = folds.parse(parser)
    head = "| data set | " + " | ".join(f"ε = {epsilon:g}" for epsilon in options.epsilons) + " |"
    lines = [head, "|---" * (len(options.epsilons) + 1) + "|"]
    print("\n".join(lines), flush=True)
    for name in options.datasets:
        lines.append(row(name, differences(options, name)))
        print(lines[-1], flush=True)
    text = HEADER.format(draws=options.draws, few=max(1, options.draws // 3)) + "\n".join(lines) + "\n"
    options.out.write_text(text, encoding="utf-8")


HEADER = """# A private choice of attributes

Command: `python benchmarks/selection.py --data DIR`. Accuracy of `NaiveBayes(select=None)` → `NaiveBayes()`, both
within the same ε. Stratified 10-fold (5 repeats below 1,000 rows, the first five folds of adult, skin and
accelerometer), mean over {draws} draws of the noise for each fold ({few} on the three large sets), add-remove, all else
default.
✓ and ✗: whether the choice is at most 0.01 worse than none and meets its bar, if there is one; bold: better by more
than 0.01. Equal numbers mostly mean that the rule chose nothing. Public data: these scores are not themselves private.

"""

if __name__ == "__main__":
    main()
