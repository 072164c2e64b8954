"""What a model of evidence tables says, as text and as plain data; evidence_picture.py draws it.

Naive Bayes adds up evidence: for each column, how much more likely a value is in a class than overall. A column decides
as much as the evidence that it gives on average (its mutual information with the class, in bits). Everything is
computed from the published tables, and from the size of their noise, which is public: what may be noise alone is said
to be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.released.intervals import DEVIATIONS
from discreet.schema.columns import Label

Matrix = NDArray[np.float64]


MOST_CELLS = 40
"""A picture names at most this many cells of a column; rarer categories are grouped, and neighbouring intervals."""

SURPRISING = 2.0
"""Noise alone exceeds its mean by this many standard deviations in about one of twenty columns."""


@dataclass(frozen=True)
class Evidence:
    """One column: the names of its cells, their probabilities in each class (classes by cells), and whether the cells
    are ordered.

    `margins` says how far noise may have moved "times as likely as overall", up or down, in 95 of 100 cases: None if
    that is not known, 0 without noise.
    """

    name: str
    cells: tuple[str, ...]
    probabilities: Matrix
    ordered: bool = False
    margins: Matrix | None = None

    def log_ratios(self, prior: Matrix) -> Matrix:
        """Logarithm to base 2 of the probability in the class over the probability overall."""
        overall = prior @ self.probabilities
        return np.log2(self.probabilities / overall)

    def contributions(self, prior: Matrix) -> Matrix:
        """Average evidence of each cell about a record of each class, in bits; rare cells give little."""
        return self.probabilities * self.log_ratios(prior)

    def information(self, prior: Matrix) -> Matrix:
        """Average evidence of the column about a record of each class, in bits."""
        return np.asarray(self.contributions(prior).sum(axis=1))

    @property
    def has_noise(self) -> bool:
        """Whether there is noise of known size."""
        return self.margins is not None and bool((self.margins > 0).any())

    def within_noise(self, prior: Matrix) -> NDArray[np.bool_]:
        """Which cells may be as likely in the class as overall, had there been no noise."""
        if self.margins is None:
            return np.zeros(self.probabilities.shape, dtype=np.bool_)
        return np.asarray((np.abs(2.0 ** self.log_ratios(prior) - 1) <= self.margins) & (self.margins > 0))

    def range_of_information(self, prior: Matrix) -> tuple[Matrix, Matrix]:
        """The least and the most that `information` may be without noise, in about 95 of 100 cases.

        The information is the sum of q (r log2 r - (r - 1) / ln 2) over the cells: q is the frequency of a cell, r how
        many times as likely it is. No summand is negative, so noise alone looks like information. Therefore cells
        within the noise count nothing at the lower end, and a class of which all cells together are no further from 1
        than noise is (`_is_beyond`) has a lower end of 0. The changes of the other cells add in squares.
        """
        bits = self.information(prior)
        if self.margins is None or not self.has_noise:
            return bits, bits
        overall, ratios = prior @ self.probabilities, 2.0 ** self.log_ratios(prior)
        highest = np.minimum(ratios + self.margins, np.maximum(1 / prior[:, None], ratios))
        here, lower, upper = (
            overall * _deviance(each) for each in (ratios, np.maximum(ratios - self.margins, 0.0), highest)
        )
        noise = self.within_noise(prior)
        nearest, farthest = np.minimum(lower, upper), np.maximum(lower, upper)
        lost = np.sqrt(np.where(noise, 0.0, here - nearest) ** 2 @ np.ones(len(overall)))
        low = np.where(noise, 0.0, here).sum(axis=1) - lost
        high = bits + np.sqrt(((np.maximum(farthest, here) - here) ** 2).sum(axis=1))
        return np.where(self._is_beyond(ratios), np.maximum(low, 0.0), 0.0), high

    def _is_beyond(self, ratios: Matrix) -> NDArray[np.bool_]:
        """Which classes differ from the whole by more than noise: by the sum of squares in units of the noise.

        Each square has a mean of 1; that of Laplace noise a variance of 5. The sum is beyond the noise if it is more
        than `SURPRISING` deviations above its mean.
        """
        assert self.margins is not None
        deviations = np.maximum(self.margins / DEVIATIONS, 1e-12)
        squares, count = (((ratios - 1) / deviations) ** 2).sum(axis=1), ratios.shape[1]
        return np.asarray(squares > count + SURPRISING * np.sqrt(5 * count))

    def is_noise(self, prior: Matrix) -> bool:
        """Whether the whole column may tell nothing: all its bits may be due to noise."""
        return self.has_noise and float(prior @ self.range_of_information(prior)[0]) <= 0

    def grouped(self, prior: Matrix, most: int = MOST_CELLS) -> Evidence:
        """The same with at most this many cells: the rarest categories together, or neighbouring intervals."""
        count = len(self.cells)
        if count <= most:
            return self
        if self.ordered:
            edges = np.linspace(0, count, most // 2 + 1).round().astype(int).tolist()
            groups = [list(range(low, high)) for low, high in pairwise(edges)]
            names = [_joined(self.cells[own[0]], self.cells[own[-1]]) for own in groups]
        else:
            order = np.argsort(-(prior @ self.probabilities), kind="stable")
            kept = sorted(order[: most - 1].tolist())
            rest = sorted(order[most - 1 :].tolist())
            groups = [[place] for place in kept] + [rest]
            names = [self.cells[place] for place in kept] + [f"({len(rest)} others together)"]
        shares = np.stack([self.probabilities[:, own].sum(axis=1) for own in groups], axis=1)
        margins = None
        if self.margins is not None:
            squares = (prior @ self.probabilities * self.margins) ** 2
            margins = np.sqrt(np.stack([squares[:, own].sum(axis=1) for own in groups], axis=1)) / (prior @ shares)
        return Evidence(self.name, tuple(names), shares, self.ordered, margins)


def _deviance(ratios: Matrix) -> Matrix:
    """r log2 r - (r - 1) / ln 2, which is 1 / ln 2 at r = 0."""
    return np.asarray(ratios * np.log2(np.maximum(ratios, 1e-300)) - (ratios - 1) / np.log(2))


def _joined(first: str, last: str) -> str:
    """One interval from the first to the last of several."""
    return f"{first.partition(' to ')[0]} to {last.rpartition(' to ')[2]}"


def ranked(evidence: Sequence[Evidence], prior: Matrix) -> list[tuple[Evidence, float]]:
    """Columns with their mutual information with the class, the most informative first."""
    bits = [(each, float(prior @ each.information(prior))) for each in evidence]
    return sorted(bits, key=lambda pair: -pair[1])


TOLD = 0.02
"""A smaller margin is not told: ratios have two digits."""
NOTE = "± is 95 % of the noise; a value within the noise may speak for no class"


def describe(evidence: Sequence[Evidence], prior: Matrix, classes: Sequence[Label], top: int = 10) -> str:
    """The columns that decide, and for each class the values that speak most for it in spite of the noise."""
    lines = ["Frequency of each class: " + ", ".join(f"{c} {p:.1%}" for c, p in zip(classes, prior, strict=True)), ""]
    listed = ranked(evidence, prior)
    width = max([len("column"), *(len(each.name) for each, _ in listed[:top])])
    lines.append(f"{'column':<{width}}   bits   values that speak for each class (times as likely as overall)")
    for each, bits in listed[:top]:
        best = "; ".join(f"{label}: {_strongest(each, prior, row)}" for row, label in enumerate(classes))
        told = f"within the noise ({best})" if each.is_noise(prior) else best
        lines.append(f"{each.name:<{width}}  {bits:5.3f}   {told}")
    if len(listed) > top:
        lines.append(f"... and {len(listed) - top} more columns that decide less")
    if any(each.has_noise for each, _ in listed[:top]):
        lines.append(f"({NOTE})")
    return "\n".join(lines)


def _strongest(each: Evidence, prior: Matrix, row: int) -> str:
    """The cell that speaks most for a class, with its noise; cells within the noise only if there is no other."""
    ratios, weights = 2.0 ** each.log_ratios(prior)[row], each.contributions(prior)[row]
    clear = ~each.within_noise(prior)[row] & (ratios > 1)
    cell = int(np.argmax(np.where(clear, weights, -np.inf) if clear.any() else weights))
    if each.has_noise and not clear.any():
        return "nothing beyond the noise"
    off = 0.0 if each.margins is None else float(each.margins[row, cell])
    margin = f" ± {off:.2g}" if off >= TOLD else ""
    return f"{each.cells[cell]} (×{ratios[cell]:.2g}{margin})"


def content(evidence: Sequence[Evidence], prior: Matrix, classes: Sequence[Label], top: int = 10) -> dict[str, Any]:
    """The same as plain data: bits of each column, and how many times as likely each cell is in a class as overall.

    `noise` has the same shape: how far noise may have moved that number, in 95 of 100 cases; null if it is not known.
    """
    labels = [str(label) for label in classes]
    columns = [
        {
            "name": each.name,
            "bits": bits,
            "within_noise": each.is_noise(prior),
            "times_as_likely": _by_cell(each, labels, 2.0 ** each.log_ratios(prior)),
            "noise": None if each.margins is None else _by_cell(each, labels, each.margins),
        }
        for each, bits in ranked(evidence, prior)[:top]
    ]
    return {"classes": dict(zip(labels, prior.tolist(), strict=True)), "attributes": columns}


def _by_cell(each: Evidence, labels: Sequence[str], values: Matrix) -> dict[str, dict[str, float]]:
    return {label: dict(zip(each.cells, row.tolist(), strict=True)) for label, row in zip(labels, values, strict=True)}
