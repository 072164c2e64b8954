"""Cases to learn from: how accurate each model was, at which signal, on tables whose public facts are known.

The committed cases are public data sets that `benchmarks/advise_cells.py` measured once (`cases.csv` holds their facts,
`cells.csv` the accuracies). A simulated world is a case too.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from discreet.advice.facts import Facts

Values = NDArray[np.float64]

ADVISED = ("naive-bayes", "naive-bayes(select=auto)", "one-rule", "decision-tree", "random-forest", "svm")
"""The models that can be advised, in the order of all arrays here."""

MAJORITY = "majority"
NOTHING = 0.3
"""A signal at which no model can do better than guess: the noise is larger than the whole table."""
CLEAR = 0.02
"""A model without noise must be this far above the largest class to be useful at all; chosen by hand."""


@dataclass(frozen=True, eq=False)
class Case:
    """A table and how well each model did on it.

    Parameters
    ----------
    signals : the signals at which accuracy was measured, increasing.
    accuracies : the accuracy of each model (rows) at each signal.
    noiseless : the accuracy of each model without noise.
    largest : the accuracy of always predicting the largest class.
    """

    name: str
    facts: Facts
    signals: Values
    accuracies: Values
    noiseless: Values
    largest: float

    def at(self, signal: float) -> Values:
        """The accuracy of each model at a signal, interpolated linearly in the logarithm of the signal.

        At the signal `NOTHING` a model can only guess: its accuracy is that of a random class.
        """
        if signal == math.inf:
            return self.noiseless
        whole = self.from_nothing()
        return np.array([np.interp(math.log(signal), np.log(whole.signals), row) for row in whole.accuracies])

    def from_nothing(self) -> Case:
        """The same case with the accuracy of guessing added at `NOTHING`, unless a smaller signal was measured."""
        if self.signals[0] <= NOTHING:
            return self
        guessing = np.full(len(self.accuracies), 1 / self.facts.classes)
        curves = np.column_stack([guessing, self.accuracies])
        return replace(self, signals=np.append(NOTHING, self.signals), accuracies=curves)

    def useful_from(self) -> Values:
        """The signal from which on each model stays useful: its accuracy is at least halfway between the largest class
        and the best accuracy without noise. Infinity if it never is, NaN if no model is above the largest class."""
        half = (self.largest + self.noiseless.max()) / 2
        if self.noiseless.max() < self.largest + CLEAR:
            return np.full(len(ADVISED), np.nan)
        return np.array([_crossing(np.log(self.signals), row - half) for row in self.accuracies])


@lru_cache(maxsize=256)
def rising(case: Case) -> Case:
    """The same case with curves that never fall (isotonic least squares): a larger epsilon is worse by chance only."""
    from sklearn.isotonic import isotonic_regression

    whole = case.from_nothing()
    return replace(whole, accuracies=np.array([isotonic_regression(row) for row in whole.accuracies]))


def _crossing(places: Values, above: Values) -> float:
    """The signal from which on a curve stays above zero; its first point if it always is."""
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
    """The measured data sets that come with discreet, in alphabetical order."""
    cells: dict[str, dict[tuple[str, float], float]] = {}
    for row in rows("cells.csv"):
        cells.setdefault(row["data"], {})[row["model"], float(row["epsilon"])] = float(row["mean"])
    return tuple(_case(row, cells[row["data"]]) for row in rows("cases.csv"))


def _case(row: Mapping[str, str], cells: Mapping[tuple[str, float], float]) -> Case:
    counts = (int(row[name]) for name in ("records", "classes", "numeric", "categorical", "categories"))
    epsilons = sorted({epsilon for _, epsilon in cells if epsilon != math.inf})
    facts = Facts(*counts)
    return Case(
        row["data"],
        facts,
        np.array([facts.signal(epsilon) for epsilon in epsilons]),
        np.array([[cells[model, epsilon] for epsilon in epsilons] for model in ADVISED]),
        np.array([cells[model, math.inf] for model in ADVISED]),
        cells[MAJORITY, math.inf],
    )


def rows(name: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV file that comes with the package."""
    text = resources.files("discreet.advice").joinpath(name).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())
