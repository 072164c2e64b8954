"""Sums over the records by their cells in groups of coordinates: the task of linear models, which engines may know.

An engine that does not know it runs it on coded blocks like any other task; one that adds up in SQL reads its fields,
all of which are public, and gives the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.problem import Sums
from discreet.queries.arrays import Integers
from discreet.queries.hyperplanes import Feature
from discreet.sources.exact import ExactRows


@dataclass(frozen=True, eq=False)
class OverFeatures:
    """A task: sums over the records with one of the classes, by their cells in groups of coordinates and sides."""

    sums: Sums
    features: tuple[Feature, ...]
    classes: int

    @property
    def size(self) -> int:
        """Length of the answer."""
        return self.sums.size

    def __call__(self, block: ExactRows) -> Integers:
        """The sums of some records."""
        sides, *codes = coded(with_class(block, self.classes), self.features, self.classes)
        return self.sums(codes, sides)


def with_class(block: ExactRows, classes: int) -> ExactRows:
    """The records of a block that have one of the classes."""
    kept = block.labels < classes
    if kept.all():
        return block
    return ExactRows({each: codes[kept] for each, codes in block.codes.items()}, block.labels[kept])


def sides_of(labels: NDArray[Any], classes: int) -> NDArray[Any]:
    """The side of each record: -1 or 1, or the number of its class if there are more than two."""
    return labels if classes > 2 else np.where(labels == classes - 1, 1, -1).astype(np.int8)


def coded(block: ExactRows, features: tuple[Feature, ...], classes: int) -> list[NDArray[Any]]:
    """The side of each record, and its cell in each group."""
    return [sides_of(block.labels, classes), *(each.codes(block.codes, len(block.labels)) for each in features)]
