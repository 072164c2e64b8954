"""Rules by which `auto` could pick a model, played on cells that were measured already: nothing is fitted.

Decides whether the rule of models/auto/pick.py stays. `python benchmarks/pick.py --data DIR KEEL` made results/pick.md
from the cells that come with the package (advise_cells.py); DIR and KEEL, the folder that keel.py writes, are needed
only to see how far apart classes are, and how much of their ranges columns fill. Without --data those rows are left
out.

A cell is a table at an ε from .01 to 3. Regret is what the best of tree, naive Bayes and linear model has more than the
model that the rule picks. Cells of weak signals are means of few draws, and the best of three such means is partly the
luckiest, so that no rule has a regret of 0: see "luck". Tables are in four parts: the collection of keel.py, the two
halves of frontier.py, and made-up tables (worlds.py). A rule that was tuned on one part is judged by the other three;
the constant of today's rule was tuned on tables of the first part, "others". d are columns, K classes, and w weights of
a linear model: one for a number or for two categories, else one for each category, and one more.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import advise_cells
import frontier
from discreet import Categorical, Numeric, Schema
from discreet.advice.cases import ADVISED, Case, committed
from discreet.models.auto.pick import ENOUGH, FEW_COLUMNS, pick
from discreet.models.linear.plan import BITS
from discreet.queries.hyperplanes import Hyperplanes

RESULTS = Path(__file__).parent / "results"
FAMILIES = ("decision-tree", "naive-bayes", "svm")
TREE, BAYES, LINEAR = range(3)
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
PARTS = ("others", "first", "second", "made")
CONSTANTS = tuple(float(each) for each in np.geomspace(0.25, 300, 24))
CONSTANTS_OF_SPREAD = tuple(float(each) for each in np.geomspace(0.01, 300, 48))
POWERS = tuple(product((0.0, 1.0, 1.5, 2.0), (0.0, 0.5, 1.0, 1.5), (0.0, 0.5, 1.0)))
"""Of the number of classes, of the number of columns and one, and of the number of weights."""
TODAY = (2.0, 0.0, 0.5)
"""Those of today's rule, by expected error (models/auto/pick.py)."""
PAID = 0.05
"""Largest share of ε that may be paid to know more before a model is picked, as for `look`."""
SEEN = 50.0
"""ε times records that is paid to see how far apart classes are: with a sensitivity of 2, a noise of scale 0.04 n."""
CONTESTS = (25_000.0, 2_500.0)
"""Least signals from which models are fitted beside each other."""
TRIES = 40
"""How often noise is drawn where a rule pays for what it looks at."""
TWINS = ("optdigits", "texture")
"""Two tables of about the same shape on which the families come in opposite orders."""

Values = NDArray[np.float64]
Picks = NDArray[np.intp]


class Cells(NamedTuple):
    """All cells as arrays; accuracies by family (rows) at ε, and at halves and thirds of what a contest leaves."""

    names: list[str]
    parts: NDArray[np.str_]
    epsilons: Values
    records: Values
    classes: Values
    columns: Values
    weights: Values
    accuracies: Values
    halved: Values
    thirds: Values
    today: Picks

    @property
    def signal(self) -> Values:
        """Records per unit of noise."""
        return self.records * self.epsilons

    def per_weight(self, of_classes: float = 2.0, of_columns: float = 1.0, of_weights: float = 0.0) -> Values:
        """The signal over powers of the numbers of classes, of columns and of weights."""
        return self.signal / self.classes**of_classes / (self.columns + 1) ** of_columns / self.weights**of_weights

    def regret(self, found: Values) -> Values:
        """What the best family has more."""
        return np.asarray(self.accuracies.max(axis=0) - found)

    def of(self, picks: Picks) -> Values:
        """The accuracies of the families that were picked."""
        return np.asarray(self.accuracies[picks, np.arange(len(picks))])


def part_of(case: Case) -> str:
    """The part to which a table belongs."""
    return next(
        (half for half, names in frontier.HALVES.items() if case.name in names), "others" if case.is_real else "made"
    )


def shaped(case: Case) -> Schema:
    """A schema with the public facts of a table, which are all that a pick looks at."""
    facts = case.facts
    each = max(2, round(facts.categories / max(1, facts.categorical)))
    columns: list[Any] = [Numeric(f"x{place}", 0.0, 1.0) for place in range(facts.numeric)]
    columns += [Categorical(f"c{place}", range(each)) for place in range(facts.categorical)]
    return Schema(columns, "y", range(facts.classes), records=facts.records)


def read() -> Cells:
    """The cells of the package."""
    rows: list[tuple[Any, ...]] = []
    own = [ADVISED.index(family) for family in FAMILIES]
    for case in committed():
        schema, facts = shaped(case), case.facts
        for epsilon in EPSILONS:
            place = int(np.flatnonzero(np.isclose(case.epsilons, epsilon))[0])
            less = [case.at(np.array([facts.signal_per_class(epsilon * (1 - PAID) / k)]))[own, 0] for k in (2, 3)]
            today = FAMILIES.index(pick(schema, epsilon, facts.records).model)
            weights = sum(Hyperplanes(1, BITS).groups(schema))
            shape = (facts.records, facts.classes, facts.numeric + facts.categorical, weights)
            rows.append((case.name, part_of(case), epsilon, *shape, case.accuracies[own, place], *less, today))
    names, parts, *numbers, accuracies, halved, thirds, today = zip(*rows, strict=True)
    tables = [np.array(each).T for each in (accuracies, halved, thirds)]
    return Cells(list(names), np.array(parts), *(np.array(each, float) for each in numbers), *tables, np.array(today))


def luck() -> float:
    """How much, at least, the errors of the measured means add to a mean regret (frontier.py)."""
    lines = (resources.files("discreet.advice") / "cells.csv").read_text("utf-8").splitlines()
    means: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in csv.DictReader(lines):
        if row["model"] in FAMILIES and float(row["epsilon"]) in EPSILONS:
            error = float(row["deviation"]) / math.sqrt(int(row["runs"]))
            means.setdefault((row["data"], row["epsilon"]), []).append((float(row["mean"]), error))
    return frontier.luck(list(means.values()))


def threshold(cells: Cells, constant: float, powers: tuple[float, ...]) -> Picks:
    """A linear model from a signal per weight on, in more than a few columns; else a tree."""
    linear = (cells.per_weight(*powers) >= constant) & (cells.columns > FEW_COLUMNS)
    return np.where(linear, LINEAR, TREE)


def tuned(cells: Cells, part: str) -> tuple[Picks, str]:
    """The constant and the powers with the least mean regret on one part."""
    chosen = cells.parts == part
    rules = [(constant, powers) for constant in CONSTANTS for powers in POWERS]
    constant, powers = min(rules, key=lambda rule: cells.regret(cells.of(threshold(cells, *rule)))[chosen].mean())
    of_classes, of_columns, of_weights = powers
    name = f"n ε ≥ {constant:.3g} K^{of_classes:g} (d + 1)^{of_columns:g} w^{of_weights:g}"
    return threshold(cells, constant, powers), name


def rules(cells: Cells) -> Iterator[tuple[str, Values]]:
    """The name of each rule that needs no data, and the accuracy with it in every cell."""
    for family, name in enumerate(FAMILIES):
        yield f"always {name}", cells.of(np.full(len(cells.names), family))
    yield "today's rule", cells.of(cells.today)
    yield "today's rule without naive Bayes", cells.of(threshold(cells, ENOUGH, TODAY))
    for factor in (0.5, 2.0):
        picks = threshold(cells, ENOUGH * factor, TODAY)
        yield f"today's rule with {factor:g} times the constant", cells.of(picks)
    for part in PARTS:
        picks, name = tuned(cells, part)
        yield f"tuned on {part}: {name}", cells.of(picks)
    for classes, least in product((5, 9), (2.0, 5.0)):
        many = (cells.classes >= classes) & (cells.per_weight(1.0) >= least) & (cells.today == TREE)
        name = f"naive Bayes for {classes} classes or more, from n ε = {least:g} K (d + 1) on, where today a tree"
        yield name, cells.of(np.where(many, BAYES, cells.today))
    for least in CONTESTS:
        for name, found in (("tree and linear model", cells.halved[[TREE, LINEAR]]), ("all three", cells.thirds)):
            contest = np.where(cells.signal >= least, found.max(axis=0), cells.of(cells.today))
            yield f"contest of {name} at equal shares of ε, from n ε = {least:,.0f} on, judged without error", contest


def _table(name: str, directories: list[str]) -> advise_cells.Table:
    """A data set of one of the directories, or a made-up table."""
    homes = [each for each in directories if (Path(each) / f"{name}.csv").exists()]
    return advise_cells.table(name, homes[0] if homes else None)


def _scaled(column: Numeric, values: Any) -> Values:
    """Numbers as parts of the range of their column."""
    return (np.asarray(values, float) - float(column.lower)) / float(column.upper - column.lower)


def apart(name: str, directories: list[str]) -> float:
    """How far the classes are apart in the column that tells most: the mean distance of a class from the mean of all.

    Of a numeric column in parts of its range; of a categorical one half the sum over its categories. One record more
    changes the sum over records by at most 2: its own distance is at most 1, and all others' mean moves by as much.
    """
    table = _table(name, directories)
    own = np.eye(len(table.schema.classes))[np.asarray(table.y)]
    found = []
    for place, column in enumerate(table.schema.columns):
        values = table.X[column.name] if isinstance(table.X, dict) else table.X[:, place]
        if isinstance(column, Numeric):
            inputs = np.nan_to_num(np.clip(_scaled(column, values), 0, 1), nan=0.5)[:, None]
        else:
            inputs = (np.asarray(values)[:, None] == np.unique(np.asarray(values))[None, :]) / 2
        found.append(np.abs(own.T @ (inputs - inputs.mean(axis=0))).sum() / len(own))
    return float(max(found))


def spread(name: str, directories: list[str]) -> float:
    """How much of their ranges the columns fill, on average: four times the variance of a number in parts of its range,
    and the probability that two records differ in a category. Weights of columns that fill little must be large."""
    table, found = _table(name, directories), []
    for place, column in enumerate(table.schema.columns):
        values = table.X[column.name] if isinstance(table.X, dict) else table.X[:, place]
        if isinstance(column, Numeric):
            found.append(4 * float(np.nanvar(np.clip(_scaled(column, values), 0, 1))))
        else:
            found.append(1 - float((np.unique(values, return_counts=True)[1] ** 2).sum()) / len(values) ** 2)
    return float(np.mean(found))


def filled(cells: Cells, spreads: Values) -> Iterator[tuple[str, Values]]:
    """Rules that know how much of their ranges the columns fill, each tuned on one part; what it costs is left out."""
    for part, powers in product(("others", "first", "second"), ((2.0, 1.0), (1.5, 1.0), (2.0, 0.5))):
        amounts, chosen = cells.per_weight(*powers) * spreads, cells.parts == part
        picks = [
            np.where((amounts >= constant) & (cells.columns > FEW_COLUMNS), LINEAR, TREE)
            for constant in CONSTANTS_OF_SPREAD
        ]
        best = min(picks, key=lambda each: cells.regret(cells.of(each))[chosen].mean())
        rule = f"n ε times spread by K^{powers[0]:g} (d + 1)^{powers[1]:g}"
        yield f"tuned on {part}: {rule}, without noise, which is not private", cells.of(best)


def seen(cells: Cells, distances: Values) -> Iterator[tuple[str, Values]]:
    """Rules that pay to see how far apart classes are, where that costs at most `PAID`; what it costs is left out."""
    rng, affordable = np.random.default_rng(1), cells.signal >= SEEN / PAID
    affordable &= cells.columns > FEW_COLUMNS
    for usual, noise in product((0.15, 0.2), (0.0, 2 / SEEN)):
        total = np.zeros(len(cells.names))
        for _ in range(TRIES):
            noisy = np.maximum(distances + noise * rng.laplace(size=len(distances)), 1e-4)
            linear = cells.per_weight(*TODAY) * noisy / usual >= ENOUGH
            counted = (noisy >= usual) & (cells.per_weight(1.0) >= 3) & (cells.classes > 3)
            picks = np.where(linear, LINEAR, np.where(counted, BAYES, TREE))
            total += cells.of(np.where(affordable, picks, cells.today))
        known = "without noise, which is not private" if not noise else f"with noise, for {SEEN:g} / n"
        yield f"signal times distance of classes over {usual:g}, {known}", total / TRIES


def table_of(cells: Cells, found: list[tuple[str, Values]]) -> list[str]:
    """A line for each rule: regrets on each part, and the gain over today's rule on real tables with its error."""
    today = cells.of(cells.today)
    lines = ["| rule | " + " | ".join(PARTS) + " | gain over today's, real tables |", "|---" * (len(PARTS) + 2) + "|"]
    for name, accuracies in found:
        regret, gains = cells.regret(accuracies), accuracies - today
        shown = [f"{regret[cells.parts == part].mean():.4f}, {regret[cells.parts == part].max():.3f}" for part in PARTS]
        real = dict.fromkeys(name for name, part in zip(cells.names, cells.parts, strict=True) if part != "made")
        own = np.array([gains[[name == each for each in cells.names]].mean() for name in real])
        gain = f"{own.mean():+.4f} ± {own.std() / math.sqrt(len(own)):.4f}"
        lines.append(f"| {name} | {' | '.join(shown)} | {gain} |")
    return lines


def twins(cells: Cells) -> list[str]:
    """The accuracies of two tables that look alike from outside."""
    lines = ["| table | records | classes | columns | ε | " + " | ".join(FAMILIES) + " |", "|---" * 8 + "|"]
    for place, name in enumerate(cells.names):
        if name in TWINS and cells.epsilons[place] >= 1:
            shape = " | ".join(f"{each[place]:,.0f}" for each in (cells.records, cells.classes, cells.columns))
            shown = " | ".join(f"{value:.3f}" for value in cells.accuracies[:, place])
            lines.append(f"| {name} | {shape} | {cells.epsilons[place]:g} | {shown} |")
    return lines


def report(cells: Cells, found: list[tuple[str, Values]]) -> str:
    """The results as Markdown."""
    head = [line for text in (__doc__ or "").split("\n\n")[1:3] for line in (*text.strip().splitlines(), "")]
    parts = list(dict(zip(cells.names, cells.parts.tolist(), strict=True)).values())
    sizes = ", ".join(f"{parts.count(part)} {part}" for part in PARTS)
    return "\n".join(
        [
            "# Rules that pick a model",
            "",
            *head,
            f"Tables: {sizes}; {len(cells.names)} cells. Luck in the measured means adds {luck():.4f} or more to each",
            "mean regret. Each entry is the mean regret and the largest; the gain has its standard error over tables.",
            "",
            *table_of(cells, found),
            "",
            "## What no public fact tells",
            "",
            *twins(cells),
            "",
        ]
    )


def main() -> None:
    """Play all rules and write the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", nargs="*", default=[], help="directories with schemas.json")
    parser.add_argument("--report", type=Path, default=RESULTS / "pick.md")
    options = parser.parse_args()
    cells = read()
    found = list(rules(cells))
    if options.data:
        distances = {name: apart(name, options.data) for name in dict.fromkeys(cells.names)}
        found += seen(cells, np.array([distances[name] for name in cells.names]))
        spreads = {name: spread(name, options.data) for name in dict.fromkeys(cells.names)}
        found += filled(cells, np.array([spreads[name] for name in cells.names]))
    text = report(cells, found)
    options.report.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
