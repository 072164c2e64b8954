"""Cells by name, and the tables that both studies of naive Bayes with noisy means and deviations show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from discreet import datasets
from discreet.errors import DiscreetError
from discreet.records.encoding import class_codes
from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, as_number
from discreet.research.comparison.summary import Cell, shown
from discreet.research.report import ReportTable
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.vaidya2013.picture import Curve
from discreet.schema import Schema

MISSING = "–"
"""What a table shows where nothing was measured."""

INDEPENDENT = "runs taken as independent; they share records, so that true errors may be larger"
"""Of standard errors over folds and repeats."""

DEVIATIONS = "mean ± deviation of single runs, which share records"
"""Of tables."""


class Scores:
    """The cells that were found, by data set, model and epsilon."""

    def __init__(self, found: Iterable[Cell]) -> None:
        self._cells = {(cell.data, cell.model, cell.epsilon): cell for cell in found}

    @property
    def data(self) -> list[str]:
        """The data sets, in the order in which they come."""
        return list(dict.fromkeys(data for data, _, _ in self._cells))

    @property
    def epsilons(self) -> list[str]:
        """The epsilons of private runs, least first."""
        return sorted({epsilon for _, _, epsilon in self._cells if epsilon != NOT_PRIVATE}, key=as_number)

    def models(self, data: str | None = None) -> list[str]:
        """The models, those on one data set if one is named; without the largest class."""
        names = dict.fromkeys(model for name, model, _ in self._cells if data in (None, name))
        return [name for name in names if name != MAJORITY]

    def mean(self, data: str, model: str, epsilon: str) -> float | None:
        """The mean accuracy; None if it was not measured."""
        cell = self._cells.get((data, model, epsilon))
        return None if cell is None else cell.mean

    def error(self, data: str, model: str, epsilon: str) -> float:
        """The standard error of the mean, as if runs were independent; 0 if nothing was measured."""
        cell = self._cells.get((data, model, epsilon))
        return 0.0 if cell is None else cell.deviation / math.sqrt(cell.runs)

    def curve(self, data: str, model: str, line: str, colour: int, label: str = "") -> Curve:
        """Accuracy against epsilon, with standard errors."""
        points = [(as_number(each), self.mean(data, model, each)) for each in self.epsilons]
        errors = [self.error(data, model, each) for each in self.epsilons]
        return Curve(label or model, points, line, colour, errors)

    def majority(self, data: str) -> Curve:
        """The share of the largest class, as a line."""
        return self._level(data, MAJORITY, "largest class")

    def _level(self, data: str, model: str, label: str) -> Curve:
        value = self.mean(data, model, NOT_PRIVATE)
        return Curve(label, [(as_number(each), value) for each in self.epsilons], ":", -1)

    def table(self, caption: str, origin: str, models: Sequence[str] | None = None) -> ReportTable:
        """A row for each data set and model, a column for each epsilon; mean and deviation of single runs."""
        epsilons = [*self.epsilons, NOT_PRIVATE]
        heads = ["data", "model", *(f"ε = {shown(each)}" for each in epsilons)]
        rows = [
            [data, model, *(self._shown(data, model, each) for each in epsilons)]
            for data in self.data
            for model in [*(self.models(data) if models is None else models), MAJORITY]
        ]
        return ReportTable(caption, heads, rows, origin)

    def _shown(self, data: str, model: str, epsilon: str) -> str:
        cell = self._cells.get((data, model, epsilon))
        return MISSING if cell is None else f"{cell.mean:.3f} ± {cell.deviation:.3f}"


class Facts:
    """What the privacy loss of a published algorithm depends on: the schema and the number of records of each class."""

    def __init__(self, schema: Schema, counts: Sequence[int]) -> None:
        self.schema, self.counts = schema, counts

    @property
    def smallest_class(self) -> int:
        """Records in the smallest class."""
        return min(self.counts)

    def smallest_trained(self, folds: int) -> int:
        """Records that a training fold has at least in each class.

        A stratified test fold takes at most a class's records over the number of folds, rounded up.
        """
        return self.smallest_class - math.ceil(self.smallest_class / folds)


@lru_cache(maxsize=16)
def facts(data: str, directory: str | None) -> Facts | None:
    """Of a public data set; None if it is not there."""
    try:
        _, y, schema = datasets.load(data, directory)
    except DiscreetError:
        return None
    counts = np.bincount(class_codes(y, schema), minlength=len(schema.classes) + 1)[:-1]
    return Facts(schema, counts.tolist())


def data_table(paper: str, names: Iterable[str], directory: str | None, origin: str) -> ReportTable:
    """What the paper says of its data sets, beside those we have by this name."""
    kinds = ("records", "attributes", "classes")
    said = {(row.data, row.model): row.value for row in printed(paper) if row.model in kinds}
    heads = ["data", *(f"{kind}, {whose}" for kind in kinds for whose in ("paper", "ours"))]
    rows = []
    for name in names:
        known = facts(name, directory)
        ours: dict[str, Any] = {}
        if known is not None:
            columns, classes = len(known.schema.columns), len(known.schema.classes)
            ours = dict(zip(kinds, (sum(known.counts), columns, classes), strict=True))
        row = [name]
        for kind in kinds:
            row += [_count(said.get((name, kind))), _count(ours.get(kind))]
        rows.append(row)
    return ReportTable("Data sets as the paper gives them, and as used here", heads, rows, origin)


def _count(value: float | None) -> str:
    return MISSING if value is None else f"{value:.0f}"


def loss_text(value: float) -> str:
    """An epsilon for people."""
    return "∞" if value == np.inf else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
