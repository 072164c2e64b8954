"""The lines of a one-rule: for each value its class, the share of that class, and how much of that may be noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.released.intervals import margin
from discreet.released.statistics import NoisyTable
from discreet.schema.columns import Label

Matrix = NDArray[np.float64]

MOST_LINES = 40
"""A picture has at most about this many lines: beyond it, the values with the fewest records are grouped by class."""


@dataclass(frozen=True)
class RuleLine:
    """One value of the column, or several that have the same class.

    Parameters
    ----------
    shares : the share of each class, as the model uses it.
    winner : position of the class that is predicted.
    records : about how many records have the value.
    off, share_off : how far noise may have moved the records and the share of the winner, in 95 of 100 cases; 0 without
        noise.
    is_empty : whether there is hardly more than noise: then the rule takes the most frequent class.
    is_close : whether noise may have decided between the first two classes.
    """

    value: str
    shares: tuple[float, ...]
    winner: int
    records: float
    off: float
    share_off: float
    is_empty: bool
    is_close: bool

    @property
    def is_noise(self) -> bool:
        """Whether the line may mean nothing."""
        return self.is_empty or self.is_close

    def told(self) -> str:
        """How sure the line is, in words."""
        if self.is_empty:
            return "no more records than noise: takes the most frequent class"
        spread = f" ± {self.share_off:.0%}" if self.share_off >= 0.005 else ""
        close = ": within the noise" if self.is_close else ""
        return f"{self.shares[self.winner]:.0%}{spread} of about {self.records:,.0f} records{close}"

    def to_dict(self, classes: Sequence[Label]) -> dict[str, Any]:
        """Plain data."""
        return {
            "value": self.value,
            "class": classes[self.winner],
            "shares": dict(zip(map(str, classes), self.shares, strict=True)),
            "records": round(max(self.records, 0.0), 3),
            "noise_of_records": round(self.off, 3),
            "noise_of_share": round(self.share_off, 6),
            "within_noise": self.is_noise,
        }


def weak_cells(table: NoisyTable) -> NDArray[np.bool_]:
    """The cells that say nothing: their noisy total is below two standard deviations of its noise."""
    values = np.asarray(table.values, dtype=np.float64)
    totals, deviation = values.sum(axis=0), math.sqrt(table.variance)
    return np.asarray(totals < 2 * deviation * math.sqrt(len(values)) if deviation else totals <= 0)


def lines_of(names: Sequence[str], probabilities: Matrix, table: NoisyTable, places: Sequence[int]) -> list[RuleLine]:
    """A line for each cell, from the class probabilities of cells (cells by sorted classes) and the published table.

    `places` are the positions of the sorted classes in the table.
    """
    counts = np.asarray(table.values, dtype=np.float64)[list(places)].T
    cells = zip(names, probabilities, counts, weak_cells(table).tolist(), strict=True)
    return [_line(name, row, own, table.variance, is_empty) for name, row, own, is_empty in cells]


def _line(name: str, shares: Matrix, counts: Matrix, variance: float, is_empty: bool) -> RuleLine:
    variance = variance if math.isfinite(variance) else 0.0
    winner, total, classes = int(np.argmax(shares)), float(counts.sum()), len(counts)
    off = margin(variance, classes)
    share = float(shares[winner])
    moved = margin(variance, (1 - share) ** 2 + (classes - 1) * share**2)
    others = np.delete(counts, winner)
    is_close = bool(len(others)) and variance > 0 and counts[winner] - others.max() <= margin(variance, 2)
    return RuleLine(
        name,
        tuple(shares.tolist()),
        winner,
        total,
        off,
        min(1.0, moved / max(total, 1.0)),
        is_empty,
        bool(is_close),
    )


def grouped(lines: Sequence[RuleLine], most: int = MOST_LINES) -> list[RuleLine]:
    """The lines, those with the fewest records together with others of the same class if there are too many."""
    if len(lines) <= most:
        return list(lines)
    order = sorted(range(len(lines)), key=lambda place: (lines[place].is_empty, -lines[place].records))
    kept = sorted(order[: most - len({each.winner for each in lines})])
    rest = [each for place, each in enumerate(lines) if place not in set(kept)]
    together = [_together([each for each in rest if each.winner == w]) for w in sorted({each.winner for each in rest})]
    return [lines[place] for place in kept] + together


def _together(lines: Sequence[RuleLine]) -> RuleLine:
    """Several lines of one class as one: means weighted by records."""
    if len(lines) == 1:
        return lines[0]
    weights = np.array([max(each.records, 0.0) + 1e-9 for each in lines])
    shares = weights @ np.array([each.shares for each in lines]) / weights.sum()
    off = math.sqrt(sum(each.off**2 for each in lines))
    share_off = math.sqrt(sum((w * each.share_off) ** 2 for w, each in zip(weights, lines, strict=True)))
    total = sum(each.records for each in lines)
    empty, close = all(each.is_empty for each in lines), all(each.is_noise for each in lines)
    moved = min(1.0, share_off / float(weights.sum()))
    return RuleLine(f"({len(lines)} others)", tuple(shares.tolist()), lines[0].winner, total, off, moved, empty, close)
