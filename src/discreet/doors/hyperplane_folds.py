"""The records between hyperplanes: held in memory if they are few, else added up where they live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.doors.gathering import Gathered, gather, gather_few
from discreet.doors.passage import Passes
from discreet.privacy.mechanisms import problem as problems
from discreet.privacy.mechanisms.problem import Problem, Sums
from discreet.queries.arrays import Integers
from discreet.queries.hyperplanes import Feature
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.exact import ExactRows


def held_or_folded(
    passes: Passes, cells: Sequence[Cells], features: tuple[Feature, ...], schema: Schema
) -> Problem | FoldedProblem:
    """The records with one of the classes; what is found is the same either way."""
    held = gather_few(passes, cells, schema)
    if held is None:
        return FoldedProblem(passes, tuple(cells), features, schema)
    return _problem(held, features, len(schema.classes))


def _problem(held: Gathered, features: tuple[Feature, ...], classes: int) -> Problem:
    read, labels = held
    return Problem(features, tuple(each.codes(read, len(labels)) for each in features), sides_of(labels, classes))


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
        kept = block.labels < self.classes
        labels, read = block.labels, block.codes
        if not kept.all():
            labels, read = labels[kept], {each: codes[kept] for each, codes in read.items()}
        codes = [each.codes(read, len(labels)) for each in self.features]
        return self.sums(codes, sides_of(labels, self.classes))


@dataclass(frozen=True, eq=False, repr=False)
class FoldedProblem:
    """Records that are read again for all sums over them (`Records`). Private."""

    passes: Passes
    cells: tuple[Cells, ...]
    features: tuple[Feature, ...]
    schema: Schema

    def __repr__(self) -> str:
        return "FoldedProblem(values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact records are private and cannot be pickled; pickle the fitted model")

    def fold(self, sums: Sums) -> Integers:
        """As Records."""
        return self.passes.fold(OverFeatures(sums, self.features, len(self.schema.classes)))

    def count(self) -> int:
        """As Records."""
        return int(self.fold(_One())[0])

    def few(self) -> Problem | None:
        """As Records."""
        held = gather_few(self.passes, self.cells, self.schema, most=problems.FEW)
        return None if held is None else _problem(held, self.features, len(self.schema.classes))

    def whole(self) -> Problem:
        """As Records."""
        return _problem(gather(self.passes, self.cells, self.schema), self.features, len(self.schema.classes))


@dataclass(frozen=True)
class _One:
    """The number of records."""

    size: int = 1

    def __call__(self, codes: Sequence[NDArray[Any]], sides: NDArray[Any]) -> Integers:
        return np.array([len(sides)])
