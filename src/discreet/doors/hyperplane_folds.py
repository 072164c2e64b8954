"""The records between hyperplanes: held in memory if they are few, else added up where they live."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from discreet.doors import gathering
from discreet.doors.passage import Passes
from discreet.privacy.mechanisms import problem as problems
from discreet.privacy.mechanisms.problem import Problem, Sums
from discreet.queries.arrays import Integers
from discreet.queries.hyperplanes import Feature
from discreet.schema import Schema
from discreet.sources.feature_sums import OverFeatures, coded


def held_or_folded(passes: Passes, features: tuple[Feature, ...], schema: Schema) -> Problem | FoldedProblem:
    """The records with one of the classes; held if they are few and may be, and what is found is as near either way."""
    folded = FoldedProblem(passes, features, len(schema.classes))
    if passes.sums_only:
        return folded
    return folded.held(gathering.HELD // (len(features) + 1)) or folded


class FoldedProblem:
    """Records that are read again for all sums over them (`Records`). Private."""

    def __init__(self, passes: Passes, features: tuple[Feature, ...], classes: int) -> None:
        self._passes, self.features, self._classes = passes, features, classes
        self._count: int | None = None

    def __repr__(self) -> str:
        return "FoldedProblem(values hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("exact records are private and cannot be pickled; pickle the fitted model")

    def fold(self, sums: Sums) -> Integers:
        """As Records."""
        return self._passes.fold(OverFeatures(sums, self.features, self._classes))

    def count(self) -> int:
        """As Records."""
        if self._count is None:
            self.held(0)
        return self._count or 0

    def few(self) -> Problem | None:
        """As Records."""
        return None if self._count is not None and self._count > problems.FEW else self.held(problems.FEW)

    @property
    def sums_only(self) -> bool:
        """As Records."""
        return self._passes.sums_only

    def held(self, most: int | None) -> Problem | None:
        """All records in memory; None if they are more than `most`."""
        blocks = gathering.classified(self._passes, self._classes)
        side = np.dtype(np.uint16 if self._classes > 2 else np.int8)
        kinds = [side, *[np.dtype(np.uint16)] * len(self.features)]
        held, self._count = gathering.hold((coded(each, self.features, self._classes) for each in blocks), kinds, most)
        return None if held is None else Problem(self.features, tuple(held[1:]), held[0])
