"""What a linear model says: the values that speak most for each class, as text, as plain data and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.pictures.figure import new_figure
from discreet.schema.columns import Label

SHOWN_LEAVES = 3
"""At most this many leaves are shown for a class: there are so many that they would hide the columns."""


@dataclass(frozen=True)
class Weight:
    """A value of a column (or a leaf of the tree, by its path), and what it adds to the score of each class."""

    column: str | None
    """None for a leaf."""
    value: str
    by_class: tuple[float, ...]

    @property
    def name(self) -> str:
        """Column and value, or the path to the leaf, as text."""
        if self.column is None:
            return f"leaf: {self.value}"
        return f"{self.column} {self.value}" if self.value.startswith("near ") else f"{self.column} = {self.value}"


def speaking(weights: Sequence[Weight], row: int, top: int) -> list[Weight]:
    """The values that speak most for a class, the strongest first, at most `top` of them, and then the same of leaves.

    At most `SHOWN_LEAVES` leaves are listed, and not more than values.
    """
    listed = sorted((each for each in weights if each.by_class[row] > 0), key=lambda each: -each.by_class[row])
    values, leaves = ([each for each in listed if (each.column is None) == leaf] for leaf in (False, True))
    return values[:top] + leaves[: min(top, SHOWN_LEAVES)]


def describe(weights: Sequence[Weight], constants: NDArray[np.float64], classes: Sequence[Label], top: int) -> str:
    """The constant of each class, and the values that speak most for it."""
    lines = ["A record gets the class with the largest sum of the constant and the weights of its values."]
    for row, label in enumerate(classes):
        lines += ["", f"{label}: constant {constants[row]:+.3g}"]
        lines += [f"  {each.by_class[row]:+7.3g}  {each.name}" for each in speaking(weights, row, top)]
    if leaves := sum(each.column is None for each in weights):
        lines += ["", f"A leaf is a group of records: each record lies in one of {leaves}, and gets its weight too."]
    return "\n".join(lines)


def content(
    weights: Sequence[Weight], constants: NDArray[np.float64], classes: Sequence[Label], top: int
) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "classes": [
            {
                "class": label,
                "constant": float(constants[row]),
                "weights": [
                    {"attribute": each.column or "leaf", "value": each.value, "weight": each.by_class[row]}
                    for each in speaking(weights, row, top)
                ],
            }
            for row, label in enumerate(classes)
        ]
    }


def draw(weights: Sequence[Weight], classes: Sequence[Label], title: str, top: int) -> Any:
    """Draw the values that speak most for each class as bars, one axis per class."""
    columns = min(3, len(classes))
    rows = -(-len(classes) // columns)
    figure = new_figure(figsize=(1 + 4 * columns, 1 + rows * (1 + 0.28 * top)))
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for row, label in enumerate(classes):
        listed = speaking(weights, row, top)
        axes[row].barh([each.name[:32] for each in listed], [each.by_class[row] for each in listed], color="#31688e")
        axes[row].invert_yaxis()
        axes[row].set_title(str(label), fontsize=9)
        axes[row].tick_params(labelsize=7)
        axes[row].set_xlabel("weight", fontsize=8)
    for axis in axes[len(classes) :]:
        axis.set_axis_off()
    figure.suptitle(title)
    return figure
