"""Cases to learn from: how accurate each model was, at which signal, on tables whose public facts are known.

The committed cases are public data sets and made-up tables that `benchmarks/advise_cells.py` measured once (`cases.csv`
holds their facts, `cells.csv` the accuracies).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from discreet.advice.facts import Facts

Values = NDArray[np.float64]

AUTO = "auto"
ADVISED = (AUTO, "naive-bayes", "one-rule", "decision-tree", "svm")
"""The models whose accuracy is told, in the order of all arrays here; the first is the one that is advised."""

MAJORITY = "majority"
REAL = "real"
"""The family of real data sets; made-up tables have the name of theirs."""
NOTHING = 0.3
"""A signal per class at which no model can do better than guess: the noise is larger than the whole class."""
CLEAR = 0.05
"""A model is useful if it makes this fraction fewer mistakes than always predicting the largest class."""


@dataclass(frozen=True, eq=False)
class Case:
    """A table and how well each model did on it.

    Parameters
    ----------
    family : `REAL`, or the family of made-up tables that it belongs to.
    epsilons : the epsilons at which accuracy was measured, increasing and finite.
    accuracies : the accuracy of each model (rows) at each epsilon.
    noiseless : the accuracy of each model without noise.
    largest : the accuracy of always predicting the largest class.
    """

    name: str
    family: str
    facts: Facts
    epsilons: Values
    accuracies: Values
    noiseless: Values
    largest: float

    @property
    def is_real(self) -> bool:
        """Whether it is a real data set."""
        return self.family == REAL

    @cached_property
    def curve(self) -> tuple[Values, Values]:
        """Logarithms of signals per class, and the accuracy of each model (rows) there, which never falls.

        A larger epsilon is worse by chance only, so that curves are made to rise (isotonic least squares). They begin
        at `NOTHING`, where a model can only guess a class, unless a smaller signal was measured.
        """
        from sklearn.isotonic import isotonic_regression

        signals, curves = np.array([self.facts.signal_per_class(each) for each in self.epsilons]), self.accuracies
        if signals[0] > NOTHING:
            guessing = np.full(len(curves), 1 / self.facts.classes)
            signals, curves = np.append(NOTHING, signals), np.column_stack([guessing, curves])
        return np.log(signals), np.array([isotonic_regression(row) for row in curves])

    def at(self, signals: Values) -> Values:
        """The accuracy of each model (rows) at signals per class, interpolated linearly in their logarithm."""
        places, curves = self.curve
        found = np.array([np.interp(np.log(np.minimum(signals, 1e300)), places, row) for row in curves])
        return np.where(np.isinf(signals), self.noiseless[:, None], found)

    def scaled(self, accuracies: Values) -> Values:
        """Accuracies on a scale from 0 (as good as guessing a random class) to 1 (no mistakes)."""
        floor = 1 / self.facts.classes
        return np.asarray((accuracies - floor) / (1 - floor))

    def useful_from(self) -> Values:
        """The signal per class from which on each model is useful; infinity if none that was measured is enough."""
        places, curves = self.curve
        enough = self.largest + CLEAR * (1 - self.largest)
        return np.array([_crossing(places, row - enough) for row in curves])


def _crossing(places: Values, above: Values) -> float:
    """The signal at which a rising curve reaches zero; its first point if it is there already."""
    below = np.flatnonzero(above < 0)
    if not len(below):
        return float(np.exp(places[0]))
    last = int(below[-1])
    if last + 1 == len(above):
        return math.inf
    part = -above[last] / (above[last + 1] - above[last])
    return float(np.exp(places[last] + part * (places[last + 1] - places[last])))


@cache
def committed() -> tuple[Case, ...]:
    """The measured tables that come with discreet, in alphabetical order."""
    cells: dict[str, dict[tuple[str, float], float]] = {}
    for row in rows("cells.csv"):
        cells.setdefault(row["data"], {})[row["model"], float(row["epsilon"])] = float(row["mean"])
    return tuple(case_of(row, cells[row["data"]]) for row in rows("cases.csv"))


def case_of(row: Mapping[str, str], cells: Mapping[tuple[str, float], float]) -> Case:
    """A case from its line of `cases.csv` and its cells by model and epsilon."""
    counts = (int(row[name]) for name in ("records", "classes", "numeric", "categorical", "categories"))
    epsilons = sorted({epsilon for _, epsilon in cells if epsilon != math.inf})
    return Case(
        row["data"],
        row["family"],
        Facts(*counts),
        np.array(epsilons),
        np.array([[cells[model, epsilon] for epsilon in epsilons] for model in ADVISED]),
        np.array([cells[model, math.inf] for model in ADVISED]),
        cells[MAJORITY, math.inf],
    )


def rows(name: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV file that comes with the package."""
    text = resources.files("discreet.advice").joinpath(name).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())
