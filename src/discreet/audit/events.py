"""Events: sets of outputs that can be counted in runs, told in words, and written as code for a script.

All events are plain data: numbers are named as runs name them. A comparison with a number that a run does not have is
false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.audit.runs import Runs, is_feature

Flags = NDArray[np.bool_]
RELATIONS = ("≥", "≤", "=", "missing")
_IN_CODE = {"≥": ">=", "≤": "<=", "=": "=="}


class Event(Protocol):
    """A set of outputs."""

    @property
    def words(self) -> str:
        """What the event is."""

    @property
    def names(self) -> list[str]:
        """The numbers that it is about."""

    def holds(self, runs: Runs) -> Flags:
        """Which runs are in it."""

    def code(self) -> str:
        """A Python expression for it, in terms of `v`, a dictionary of the numbers, and numpy as `np`."""


@dataclass(frozen=True)
class Single:
    """One number compared with a value, or missing."""

    name: str
    relation: str
    value: float

    @property
    def words(self) -> str:
        """For instance "class_count_[0] ≥ 3.5"."""
        if is_feature(self.name):
            return self.name if self.value == 1 else f"no {self.name}"
        return (
            f"{self.name} is missing" if self.relation == "missing" else f"{self.name} {self.relation} {self.value!r}"
        )

    @property
    def names(self) -> list[str]:
        """Its one number."""
        return [self.name]

    def holds(self, runs: Runs) -> Flags:
        """Which runs are in it."""
        return self.among(runs.column(self.name))

    def among(self, column: NDArray[np.float64]) -> Flags:
        """Which of these numbers are in it."""
        compare = {"≥": np.greater_equal, "≤": np.less_equal, "=": np.equal}
        flags = np.isnan(column) if self.relation == "missing" else compare[self.relation](column, self.value)
        return np.asarray(flags, dtype=np.bool_)

    def code(self) -> str:
        """A Python expression."""
        if self.relation == "missing":
            return f"np.isnan(v[{self.name!r}])"
        value = repr(self.value) if np.isfinite(self.value) else f"float('{self.value}')"
        return f"v[{self.name!r}] {_IN_CODE[self.relation]} {value}"


@dataclass(frozen=True)
class Both:
    """Two events at once: what each number alone may not show."""

    one: Single
    other: Single

    @property
    def words(self) -> str:
        """Both in words."""
        return f"{self.one.words} and {self.other.words}"

    @property
    def names(self) -> list[str]:
        """The numbers of both."""
        return list(dict.fromkeys([self.one.name, self.other.name]))

    def holds(self, runs: Runs) -> Flags:
        """Which runs are in both."""
        return self.one.holds(runs) & self.other.holds(runs)

    def code(self) -> str:
        """A Python expression."""
        return f"{self.one.code()} and {self.other.code()}"


@dataclass(frozen=True)
class Scored:
    """A sum of a table look-up per number, compared with a value: a classifier's score.

    Parameters
    ----------
    names : the numbers.
    edges : per number, where its cells end; a missing number falls into the first cell.
    points : per number, what each cell adds.
    value : the score is at least this.
    """

    names: list[str]
    edges: list[list[float]]
    points: list[list[float]]
    value: float

    @property
    def words(self) -> str:
        """Which numbers weigh most."""
        spans = [max(each) - min(each) for each in self.points]
        most = [self.names[place] for place in np.argsort(spans)[::-1][:3] if spans[place] > 0]
        of = ", ".join(most)
        more = len(self.names) - len(most)
        return f"a score of {of}{f' and {more} more numbers' if more > 0 else ''} ≥ {self.value:.4g}"

    def score(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each row of numbers."""
        total = np.zeros(len(matrix))
        for place, (edges, points) in enumerate(zip(self.edges, self.points, strict=True)):
            total += np.asarray(points)[cells(matrix[:, place], edges)]
        return total

    def holds(self, runs: Runs) -> Flags:
        """Which runs are in it."""
        return np.asarray(self.score(runs.under(self.names)) >= self.value, dtype=np.bool_)

    def code(self) -> str:
        """A Python expression."""
        parts = [
            f"{points}[0 if np.isnan(v[{name!r}]) else 1 + np.searchsorted({edges}, v[{name!r}], 'right')]"
            for name, edges, points in zip(self.names, self.edges, self.points, strict=True)
        ]
        return f"sum([{', '.join(parts)}]) >= {self.value!r}"


def cells(column: NDArray[np.float64], edges: Sequence[float]) -> NDArray[np.int64]:
    """The cell of each number: 0 if it is missing, else one more than the number of edges at or below it."""
    return np.where(np.isnan(column), 0, 1 + np.searchsorted(edges, column, side="right")).astype(np.int64)
