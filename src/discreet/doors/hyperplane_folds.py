"""The records between hyperplanes: held in memory if they are few, else added up where they live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.doors import gathering
from discreet.doors.passage import Passes
from discreet.privacy.mechanisms import problem as problems
from discreet.privacy.mechanisms.problem import Problem, Sums
from discreet.queries.arrays import Integers
from discreet.queries.hyperplanes import Feature
from discreet.schema import Schema
from discreet.sources.exact import ExactRows


def held_or_folded(passes: Passes, features: tuple[Feature, ...], schema: Schema) -> Problem | FoldedProblem:
    """The records with one of the classes; what is found is the same either way."""
    folded = FoldedProblem(passes, features, len(schema.classes))
    return folded.held(gathering.HELD // (len(features) + 1)) or folded


def sides_of(labels: NDArray[Any], classes: int) -> NDArray[Any]:
    """The side of each record: -1 or 1, or the number of its class if there are more than two."""
    return labels if classes > 2 else np.where(labels == classes - 1, 1, -1).astype(np.int8)


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
        sides, *codes = coded(gathering.with_class(block, self.classes), self.features, self.classes)
        return self.sums(codes, sides)


def coded(block: ExactRows, features: tuple[Feature, ...], classes: int) -> list[NDArray[Any]]:
    """The side of each record, and its cell in each group."""
    return [sides_of(block.labels, classes), *(each.codes(block.codes, len(block.labels)) for each in features)]


@dataclass(frozen=True, eq=False, repr=False)
class FoldedProblem:
    """Records that are read again for all sums over them (`Records`). Private."""

    passes: Passes
    features: tuple[Feature, ...]
    classes: int

    def __repr__(self) -> str:
        return "FoldedProblem(values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact records are private and cannot be pickled; pickle the fitted model")

    def fold(self, sums: Sums) -> Integers:
        """As Records."""
        return self.passes.fold(OverFeatures(sums, self.features, self.classes))

    def count(self) -> int:
        """As Records."""
        return int(self.fold(_One())[0])

    def few(self) -> Problem | None:
        """As Records."""
        return self.held(problems.FEW)

    def whole(self) -> Problem:
        """As Records."""
        held = self.held(None)
        assert held is not None
        return held

    def held(self, most: int | None) -> Problem | None:
        """All records in memory; None if they are more than `most`."""
        blocks = (
            coded(block, self.features, self.classes) for block in gathering.classified(self.passes, self.classes)
        )
        side = np.dtype(np.uint16 if self.classes > 2 else np.int8)
        held = gathering.hold(blocks, [side, *[np.dtype(np.uint16)] * len(self.features)], most)
        return None if held is None else Problem(self.features, tuple(held[1:]), held[0])


@dataclass(frozen=True)
class _One:
    """The number of records."""

    size: int = 1

    def __call__(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> Integers:
        return np.array([len(sides)])
