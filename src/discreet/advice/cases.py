"""Cases to learn from: how well each model did, at which signal, on tables whose public facts are known.

The committed cases are public data sets, measured once (`cases.csv` holds their facts, `cells.csv` the accuracies);
a simulated world is a case as well.
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
"""The models that are advised, in the order of all arrays here."""

MAJORITY = "majority"
NOTHING = 0.3
"""A signal at which nothing is left: noise is larger than the whole table."""
CLEAR = 0.02
"""By how much a model without noise must be above the largest class to be of use at all."""


@dataclass(frozen=True, eq=False)
class Case:
    """A table and how well each model did on it.

    Parameters
    ----------
    signals : the signals of the measurements, increasing.
    accuracies : of each model (rows) at each signal.
    noiseless : of each model without noise.
    largest : the accuracy of always answering the largest class.
    """

    name: str
    facts: Facts
    signals: Values
    accuracies: Values
    noiseless: Values
    largest: float

    def at(self, signal: float) -> Values:
        """The accuracy of each model at a signal, between measurements in proportion to its logarithm.

        Where noise is all, a model guesses: at the signal `NOTHING` the accuracy is that of guessing among the classes.
        """
        if signal == math.inf:
            return self.noiseless
        whole = self.from_nothing()
        return np.array([np.interp(math.log(signal), np.log(whole.signals), row) for row in whole.accuracies])

    def from_nothing(self) -> Case:
        """The same with the accuracy of guessing at the signal `NOTHING`, if no smaller one was measured."""
        if self.signals[0] <= NOTHING:
            return self
        guessing = np.full(len(self.accuracies), 1 / self.facts.classes)
        curves = np.column_stack([guessing, self.accuracies])
        return replace(self, signals=np.append(NOTHING, self.signals), accuracies=curves)

    def useful_from(self) -> Values:
        """The signal from which each model is useful: it has come half of the way from the largest class to the best
        accuracy without noise, and does not fall back. Infinity if it never does, NaN if nothing is to be gained."""
        half = (self.largest + self.noiseless.max()) / 2
        if self.noiseless.max() < self.largest + CLEAR:
            return np.full(len(ADVISED), np.nan)
        return np.array([_crossing(np.log(self.signals), row - half) for row in self.accuracies])


@lru_cache(maxsize=256)
def rising(case: Case) -> Case:
    """The same with curves that never fall (least squares): more epsilon is worse only by luck, or a rule or two."""
    from sklearn.isotonic import isotonic_regression

    whole = case.from_nothing()
    return replace(whole, accuracies=np.array([isotonic_regression(row) for row in whole.accuracies]))


def _crossing(places: Values, above: Values) -> float:
    """Where a curve comes above zero for good, as a signal; its first point if it is always there."""
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
    """The rows of a table that comes with the package."""
    text = resources.files("discreet.advice").joinpath(name).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())
