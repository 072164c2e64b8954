"""What a model of evidence tables says, as text, as plain data and as a picture.

Naive Bayes adds up evidence: for each column, how much more likely a value is in a class than overall. A column decides
as much as the evidence that it gives on average (its mutual information with the class, in bits). Everything is
computed from the published tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.pictures.figure import colours_of, new_figure
from discreet.schema.columns import Label

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """One column: the names of its cells, their probabilities in each class (classes by cells), and whether the cells
    are ordered."""

    name: str
    cells: tuple[str, ...]
    probabilities: Matrix
    ordered: bool = False

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


def ranked(evidence: Sequence[Evidence], prior: Matrix) -> list[tuple[Evidence, float]]:
    """Columns with their mutual information with the class, the most informative first."""
    bits = [(each, float(prior @ each.information(prior))) for each in evidence]
    return sorted(bits, key=lambda pair: -pair[1])


def describe(evidence: Sequence[Evidence], prior: Matrix, classes: Sequence[Label], top: int = 10) -> str:
    """The columns that decide, and for each class the values that speak most for it."""
    lines = ["Frequency of each class: " + ", ".join(f"{c} {p:.1%}" for c, p in zip(classes, prior, strict=True)), ""]
    listed = ranked(evidence, prior)
    width = max(len("column"), *(len(each.name) for each, _ in listed[:top]))
    lines.append(f"{'column':<{width}}   bits   values that speak for each class (times as likely as overall)")
    for each, bits in listed[:top]:
        ratios, weights = each.log_ratios(prior), each.contributions(prior)
        best = [
            f"{label}: {each.cells[cell]} (×{2 ** ratios[row, cell]:.2g})"
            for row, label in enumerate(classes)
            for cell in [int(np.argmax(weights[row]))]
        ]
        lines.append(f"{each.name:<{width}}  {bits:5.3f}   {'; '.join(best)}")
    if len(listed) > top:
        lines.append(f"... and {len(listed) - top} more columns that decide less")
    return "\n".join(lines)


def content(evidence: Sequence[Evidence], prior: Matrix, classes: Sequence[Label], top: int = 10) -> dict[str, Any]:
    """The same as plain data: bits of each column, and how many times as likely each cell is in a class as overall."""
    labels = [str(label) for label in classes]
    columns = [
        {
            "name": each.name,
            "bits": bits,
            "times_as_likely": {
                label: dict(zip(each.cells, (2.0**row).tolist(), strict=True))
                for label, row in zip(labels, each.log_ratios(prior), strict=True)
            },
        }
        for each, bits in ranked(evidence, prior)[:top]
    ]
    return {"classes": dict(zip(labels, prior.tolist(), strict=True)), "attributes": columns}


FEW_CLASSES = 4
"""Up to this many classes can be told apart by colour; more are shown as rows of a heat map."""


def draw(evidence: Sequence[Evidence], prior: Matrix, classes: Sequence[Label], title: str, top: int = 10) -> Any:
    """Draw which columns decide for each class, and what the most informative ones say."""
    listed = [each for each, _ in ranked(evidence, prior)[:top]]
    details = listed[:4]
    columns = -(-len(details) // 2)
    figure = new_figure(figsize=(5 + 3 * columns, 2.2 + max(3.0, 0.36 * len(listed))))
    places = [f"d{place}" if place < len(details) else "." for place in range(2 * columns)]
    rows: Any = [["bits", *places[:columns]], ["bits", *places[columns:]]]
    axes = figure.subplot_mosaic(rows, width_ratios=[1.5] + [1] * columns)
    shades = colours_of("cividis", np.linspace(0.0, 0.92, len(classes)))
    painter = _Lines(prior, classes, shades) if len(classes) <= FEW_CLASSES else _HeatMaps(prior, classes)
    painter.bits(axes["bits"], listed)
    for place, each in zip(places, details, strict=False):
        painter.detail(axes[place], each)
        axes[place].set_title(each.name, fontsize=9)
    figure.suptitle(title)
    return figure


class _Lines:
    """Few classes: one colour per class."""

    def __init__(self, prior: Matrix, classes: Sequence[Label], colours: Any) -> None:
        self._prior, self._classes, self._colours = prior, classes, list(colours)

    def bits(self, axis: Any, listed: Sequence[Evidence]) -> None:
        """Draw bars: the bits of each column about each class."""
        height = 0.8 / len(self._classes)
        for row, label in enumerate(self._classes):
            bits = [each.information(self._prior)[row] for each in listed]
            places = np.arange(len(listed)) + row * height
            axis.barh(places, bits, height, label=str(label), color=self._colours[row])
        axis.set_yticks(np.arange(len(listed)) + 0.4 - height / 2, [each.name for each in listed])
        axis.invert_yaxis()
        axis.set_xlabel("evidence about a record of the class (bits)")
        axis.legend(title="class", fontsize="small")

    def detail(self, axis: Any, each: Evidence) -> None:
        """Draw one column: how much each cell speaks for each class; the rarer the cell, the smaller its mark."""
        ratios, overall = each.log_ratios(self._prior), self._prior @ each.probabilities
        places = np.arange(len(each.cells))
        for row, colour in enumerate(self._colours):
            if each.ordered:
                axis.plot(places, ratios[row], color=colour, linewidth=0.8)
            axis.scatter(places, ratios[row], s=4 + 60 * np.sqrt(overall / overall.max()), color=colour, alpha=0.9)
        axis.axhline(0, color="0.6", linewidth=0.8)
        axis.tick_params(labelsize=7)
        axis.set_ylabel("times as likely (log2)", fontsize=7)
        _name_cells(axis, each)


class _HeatMaps:
    """Many classes: one row per class, purple for less likely than overall, orange for more likely."""

    def __init__(self, prior: Matrix, classes: Sequence[Label]) -> None:
        self._prior, self._classes = prior, classes

    def bits(self, axis: Any, listed: Sequence[Evidence]) -> None:
        """Draw the bits of each column about each class."""
        bits = np.array([each.information(self._prior) for each in listed])
        image = axis.imshow(bits, aspect="auto", cmap="cividis", vmin=0)
        axis.set_yticks(range(len(listed)), [each.name for each in listed])
        names = [str(label)[:12] for label in self._classes]
        axis.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axis.figure.colorbar(image, ax=axis, label="evidence about a record of the class (bits)")

    def detail(self, axis: Any, each: Evidence) -> None:
        """Draw one column: how much each cell speaks for each class."""
        ratios = each.log_ratios(self._prior)
        largest = max(0.1, float(np.abs(ratios).max()))
        image = axis.imshow(ratios, aspect="auto", cmap="PuOr_r", vmin=-largest, vmax=largest)
        axis.set_yticks(range(len(self._classes)), [str(label)[:12] for label in self._classes], fontsize=7)
        axis.figure.colorbar(image, ax=axis).set_label("times as likely (log2)", size=7)
        _name_cells(axis, each)


def _name_cells(axis: Any, each: Evidence) -> None:
    places = np.arange(len(each.cells))
    step = max(1, -(-len(places) // 6))
    axis.set_xticks(places[::step], [name[:18] for name in each.cells[::step]], rotation=30, ha="right", fontsize=7)
