"""`auto` against rivals on the data sets of keel.py, of which no rival's figure helped to choose anything.

Decides nothing by a bar: it shows where `auto` is behind on tables beside the fifteen. `python benchmarks/others.py`
made results/others.md from the cells that come with the package (advise_cells.py) and results/rivals_keel.csv
(rival_cells.py). The rule of `auto` was tuned on our own models' figures of these tables, without a rival in sight.

A cell is a table at an ε. Ahead means a larger mean than the best of all rivals. All means have errors, and the best of
several is partly the luckiest: where the signal n ε is weak, that alone makes `auto` seem behind in many cells.
"Clearly" counts those that differ by more than twice the error of the difference.
"""

from __future__ import annotations

import csv
import math
from importlib import resources
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from discreet.advice.cases import committed

RESULTS = Path(__file__).parent / "results"
SIGNALS = (0.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, math.inf)
BEHIND = 0.005
"""Cells that are behind by more are listed."""


class Compared(NamedTuple):
    """A cell: its table, ε and signal; the means of `auto` and of the best rival, with their errors; who that is."""

    table: str
    epsilon: float
    signal: float
    classes: int
    columns: int
    own: float
    own_error: float
    rival: float
    rival_error: float
    name: str

    @property
    def is_clear(self) -> bool:
        """Whether the difference is more than twice its error."""
        return abs(self.own - self.rival) > 2 * math.hypot(self.own_error, self.rival_error)


def rivals() -> dict[tuple[str, str], tuple[float, float, str]]:
    """Mean, error and name of the best rival by table and ε."""
    best: dict[tuple[str, str], tuple[float, float, str]] = {}
    with (RESULTS / "rivals_keel.csv").open(newline="", encoding="utf-8") as file:
        for table, model, epsilon, _, mean, error in csv.reader(file):
            key = table, epsilon
            best[key] = max(best.get(key, (0.0, 0.0, "")), (float(mean), float(error), model))
    return best


def cells() -> list[Compared]:
    """All cells that both files have, the weakest signal first."""
    facts, best, found = {case.name: case.facts for case in committed()}, rivals(), []
    lines = (resources.files("discreet.advice") / "cells.csv").read_text("utf-8").splitlines()
    for row in csv.DictReader(lines):
        key = row["data"], row["epsilon"]
        if row["model"] == "auto" and key in best:
            own, epsilon = facts[row["data"]], float(row["epsilon"])
            error = float(row["deviation"]) / math.sqrt(int(row["runs"]))
            shape = own.records * epsilon, own.classes, own.numeric + own.categorical
            found.append(Compared(row["data"], epsilon, *shape, float(row["mean"]), error, *best[key]))
    return sorted(found, key=lambda each: each.signal)


def summary(found: list[Compared]) -> list[str]:
    """A line for each range of signals, and one for all."""
    lines = ["| signal n ε | cells | ahead | clearly | clearly behind | mean lead |", "|---" * 6 + "|"]
    ranges = [(f"{low:g} to {high:g}", low, high) for low, high in pairwise(SIGNALS)]
    for name, low, high in [*ranges, ("all", 0.0, math.inf)]:
        own = [each for each in found if low <= each.signal < high]
        leads = [each.own - each.rival for each in own]
        ahead = [each for each in own if each.own > each.rival]
        clear, behind = sum(each.is_clear for each in ahead), sum(each.is_clear for each in own if each not in ahead)
        lines.append(f"| {name} | {len(own)} | {len(ahead)} | {clear} | {behind} | {fmean(leads):+.3f} |")
    return lines


def listed(found: list[Compared]) -> list[str]:
    """The cells that are behind."""
    lines = ["| table | ε | n ε | classes | columns | auto | ± | best rival | ± |", "|---" * 9 + "|"]
    for each in found:
        if each.own < each.rival - BEHIND:
            shape = f"{each.signal:,.0f} | {each.classes} | {each.columns}"
            means = f"{each.own:.3f} | {each.own_error:.3f} | {each.rival:.3f} {each.name} | {each.rival_error:.3f}"
            lines.append(f"| {each.table} | {each.epsilon:g} | {shape} | {means} |")
    return lines


def main() -> None:
    """Write the report."""
    found = cells()
    head = [line for text in (__doc__ or "").split("\n\n")[1:3] for line in (*text.strip().splitlines(), "")]
    title = "# `auto` against rivals on other data sets"
    behind = [f"## Behind by more than {BEHIND:g}", "", *listed(found)]
    text = "\n".join([title, "", *head, *summary(found), "", *behind, ""])
    (RESULTS / "others.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
