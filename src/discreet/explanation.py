"""What a model of evidence tables says, as text and as a picture.

A naive Bayes adds up evidence: for each attribute, how much more likely a value is in a class than overall. How much
an attribute decides is the evidence that it gives on average (its mutual information with the class, in bits). All
is computed from the published tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingExtra
from discreet.schema import Label

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """One attribute: names of its cells, and the probability of each cell in each class (classes by cells)."""

    name: str
    cells: tuple[str, ...]
    probabilities: Matrix

    def log_ratios(self, prior: Matrix) -> Matrix:
        """log2 of the probability in the class over the probability overall."""
        overall = prior @ self.probabilities
        return np.log2(self.probabilities / overall)

    def information(self, prior: Matrix) -> Matrix:
        """Bits that the attribute gives on average about a record of each class."""
        return np.asarray((self.probabilities * self.log_ratios(prior)).sum(axis=1))


def ranked(evidence: Sequence[Evidence], prior: Matrix) -> list[tuple[Evidence, float]]:
    """Attributes with their mutual information with the class, the most telling first."""
    bits = [(each, float(prior @ each.information(prior))) for each in evidence]
    return sorted(bits, key=lambda pair: -pair[1])


def describe(evidence: Sequence[Evidence], prior: Matrix, classes: Sequence[Label], top: int = 10) -> str:
    """The attributes that decide, and for each class the values that speak most for it."""
    lines = ["Share of each class: " + ", ".join(f"{c} {p:.1%}" for c, p in zip(classes, prior, strict=True)), ""]
    listed = ranked(evidence, prior)
    width = max(len(each.name) for each, _ in listed[:top])
    lines.append(f"{'attribute':<{width}}   bits   values that speak for each class (times as likely as overall)")
    for each, bits in listed[:top]:
        ratios = each.log_ratios(prior)
        best = [
            f"{label}: {each.cells[cell]} (×{2 ** ratios[row, cell]:.2g})"
            for row, label in enumerate(classes)
            for cell in [int(np.argmax(ratios[row]))]
        ]
        lines.append(f"{each.name:<{width}}  {bits:5.3f}   {'; '.join(best)}")
    if len(listed) > top:
        lines.append(f"... and {len(listed) - top} more attributes with less")
    return "\n".join(lines)


def draw(evidence: Sequence[Evidence], prior: Matrix, classes: Sequence[Label], title: str, top: int = 10) -> Any:
    """A figure: which attributes decide for each class, and what the most telling ones say."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plot") from None
    listed = [each for each, _ in ranked(evidence, prior)[:top]]
    colours = [colormaps["cividis"](shade) for shade in np.linspace(0.0, 0.92, len(classes))]
    details = listed[: min(4, len(listed))]
    figure = Figure(figsize=(11, 1.6 + max(3.2, 0.34 * len(listed) * max(1, len(classes) / 2))), layout="constrained")
    axes = figure.subplot_mosaic([["bits", *(f"d{i}" for i in range(0, len(details), 2))],
                                  ["bits", *(f"d{min(i + 1, len(details) - 1)}" for i in range(0, len(details), 2))]],
                                 width_ratios=[1.5] + [1] * len(range(0, len(details), 2)))  # fmt: skip
    _draw_bits(axes["bits"], listed, prior, classes, colours)
    for position, each in enumerate(details):
        _draw_ratios(axes[f"d{position}"], each, prior, classes, colours)
    figure.suptitle(title)
    return figure


def _draw_bits(axis: Any, listed: Sequence[Evidence], prior: Matrix, classes: Sequence[Label], colours: Any) -> None:
    height = 0.8 / len(classes)
    for row, label in enumerate(classes):
        bits = [each.information(prior)[row] for each in listed]
        axis.barh(np.arange(len(listed)) + row * height, bits, height, label=str(label), color=colours[row])
    axis.set_yticks(np.arange(len(listed)) + 0.4 - height / 2, [each.name for each in listed])
    axis.invert_yaxis()
    axis.set_xlabel("evidence about a record of the class (bits)")
    axis.legend(title="class", fontsize="small", ncols=1 + len(classes) // 8)


def _draw_ratios(axis: Any, each: Evidence, prior: Matrix, classes: Sequence[Label], colours: Any) -> None:
    ratios = each.log_ratios(prior)
    places = np.arange(len(each.cells))
    for row in range(len(classes)):
        axis.plot(places, ratios[row], marker="o", markersize=3, color=colours[row])
    axis.axhline(0, color="0.6", linewidth=0.8)
    step = max(1, -(-len(places) // 6))
    axis.set_xticks(places[::step], [name[:14] for name in each.cells[::step]], rotation=30, ha="right", fontsize=7)
    axis.set_title(each.name, fontsize=9)
    axis.set_ylabel("log2 ratio", fontsize=7)
