"""What is known of the public data sets, and how they compare with those of the papers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from discreet import datasets
from discreet.errors import DiscreetError
from discreet.records.encoding import class_codes
from discreet.research.report import ReportTable
from discreet.research.reproduce.accuracies import MISSING
from discreet.research.reproduce.printed import printed
from discreet.schema import Schema


class Facts(NamedTuple):
    """What is known of a data set: its schema, and the number of records of each class."""

    schema: Schema
    counts: dict[str, int]

    @property
    def records(self) -> int:
        """Number of records that have a class."""
        return sum(self.counts.values())

    @property
    def largest_fraction(self) -> float:
        """Fraction of the records that are in the largest class."""
        return max(self.counts.values()) / self.records

    @property
    def smallest_class(self) -> int:
        """Number of records in the smallest class."""
        return min(self.counts.values())

    def smallest_trained(self, folds: int) -> int:
        """Number of records that every class has at least in a training fold.

        A stratified test fold takes at most a class's records over the number of folds, rounded up.
        """
        return self.smallest_class - math.ceil(self.smallest_class / folds)


@lru_cache(maxsize=16)
def facts(data: str, directory: str | None) -> Facts | None:
    """The facts of a public data set; None if it is not there."""
    try:
        _, labels, schema = datasets.load(data, directory)
    except DiscreetError:
        return None
    counts = np.bincount(class_codes(labels, schema), minlength=len(schema.classes))
    return Facts(schema, {str(name): int(count) for name, count in zip(schema.classes, counts, strict=False)})


def data_table(paper: str, names: Iterable[str], directory: str | None, origin: str) -> ReportTable:
    """What the paper says of its data sets, beside ours of the same name."""
    kinds = ("records", "attributes", "classes")
    said = {(row.data, row.model): row.value for row in printed(paper) if row.model in kinds}
    heads = ["data", *(f"{kind}, {whose}" for kind in kinds for whose in ("paper", "ours"))]
    rows = []
    for name in names:
        known = facts(name, directory)
        ours: dict[str, Any] = {}
        if known is not None:
            columns, classes = len(known.schema.columns), len(known.schema.classes)
            ours = dict(zip(kinds, (known.records, columns, classes), strict=True))
        row = [name]
        for kind in kinds:
            row += [_count(said.get((name, kind))), _count(ours.get(kind))]
        rows.append(row)
    return ReportTable("Data sets as the paper gives them, and as used here", heads, rows, origin)


def _count(value: float | None) -> str:
    return MISSING if value is None else f"{value:.0f}"
