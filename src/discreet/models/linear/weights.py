"""What a linear model says: the values that speak most for each class, as text and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.hyperplanes import spelled
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


def size_of_noise(noise: float, number: int) -> str:
    """The size of the noise in words, and how many weights of this number it may move further by chance."""
    chance = (
        f" Of {number:,} weights, up to about {number / 20:,.0f} are beyond it by noise alone." if number > 19 else ""
    )
    return f"Noise moves a weight by at most about {noise:.2g} (95 %), by less where many records speak.{chance}"


def describe(
    weights: Sequence[Weight], constants: NDArray[np.float64], classes: Sequence[Label], noise: float | None, top: int
) -> str:
    """The constant of each class, and the values that speak most for it; `noise` is how far noise may move a weight."""
    lines = ["A record gets the class with the largest sum of the constant and the weights of its values."]
    if noise:
        lines.append(size_of_noise(noise, len(weights) * (1 if len(classes) == 2 else len(classes))))
    for row, label in enumerate(classes):
        lines += ["", f"{label}: constant {constants[row]:+.3g}"]
        for each in speaking(weights, row, top):
            mark = "  (within the noise)" if noise and each.by_class[row] <= noise else ""
            lines.append(f"  {each.by_class[row]:+7.3g}  {each.name}{mark}")
    if leaves := sum(each.column is None for each in weights):
        lines += ["", f"A leaf is a group of records: each record lies in one of {leaves}, and gets its weight too."]
    return "\n".join(lines)


def where(ranges: Mapping[str, tuple[float, float]], top: int) -> str:
    """Where most values lie of columns whose ranges were narrowed, as a line to be added; empty if there are none."""
    if not ranges:
        return ""
    told = [f"{name} {spelled(low)} to {spelled(high)}" for name, (low, high) in list(ranges.items())[: max(top, 1)]]
    more = f" and {len(ranges) - len(told)} more" if len(ranges) > len(told) else ""
    return f"\nWhere most values lie, found privately: {'; '.join(told)}{more}"


def content(
    weights: Sequence[Weight], constants: NDArray[np.float64], classes: Sequence[Label], noise: float | None, top: int
) -> dict[str, Any]:
    """The same as plain data; the noise is null where it is not known."""
    return {
        "noise": noise,
        "classes": [
            {
                "class": label,
                "constant": float(constants[row]),
                "weights": [
                    {"attribute": each.column or "leaf", "value": each.value, "weight": each.by_class[row]}
                    | ({} if noise is None else {"within_noise": bool(0 < each.by_class[row] <= noise)})
                    for each in speaking(weights, row, top)
                ],
            }
            for row, label in enumerate(classes)
        ],
    }
