"""A tree as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.models.trees.leaves import GrownTree
from discreet.models.trees.text import content, more_questions
from discreet.pictures.figure import colours_of, new_figure
from discreet.schema import Schema
from discreet.schema.columns import Label

LONGEST = 22
"""Number of letters that fit in a box; longer texts are cut."""


class _Box(NamedTuple):
    """A node and its position: leaves stand side by side, a question stands above the middle of its branches."""

    branch: dict[str, Any]
    x: float
    level: int
    below: tuple[int, ...]


def draw(grown: GrownTree, schema: Schema, classes: Sequence[Label], title: str, top: int | None) -> Any:
    """Draw questions above their branches (yes to the left), and leaves with their class and its probability.

    A branch deeper than `top` questions is drawn as one leaf with the number of questions that it stands for.
    """
    boxes = _placed(content(grown, schema, classes, top))
    leaves = sum(not box.below for box in boxes)
    levels = max(box.level for box in boxes)
    figure = new_figure(figsize=(max(5.0, 1.35 * leaves + 1), 1.6 + 1.1 * levels))
    axis = figure.subplots()
    shades = colours_of("cividis", np.linspace(0.15, 0.95, len(classes)))
    for box in boxes:
        for word, place in zip(("yes", "no"), box.below, strict=False):
            child = boxes[place]
            axis.plot([box.x, child.x], [-box.level, -child.level], color="0.6", linewidth=1, zorder=1)
            middle = (box.x + child.x) / 2, -(box.level + child.level) / 2
            axis.text(*middle, word, fontsize=6, color="0.35", ha="center", va="center", backgroundcolor="white")
        _write(axis, box, classes, shades)
    cut = " (lower levels folded)" if any(box.branch.get("cut") for box in boxes) else ""
    axis.set_title(f"{title}{cut}", fontsize=10)
    axis.set_xlim(-0.7, leaves - 0.3)
    axis.set_ylim(-levels - 0.5, 0.5)
    axis.axis("off")
    return figure


def _placed(whole: dict[str, Any]) -> list[_Box]:
    """Boxes in preorder; `below` holds the positions of the branches in this list."""
    boxes: list[_Box] = []
    leaves = 0

    def place(branch: dict[str, Any], level: int) -> int:
        nonlocal leaves
        number = len(boxes)
        boxes.append(_Box(branch, float(leaves), level, ()))
        if "left" in branch:
            below = place(branch["left"], level + 1), place(branch["right"], level + 1)
            boxes[number] = _Box(branch, (boxes[below[0]].x + boxes[below[1]].x) / 2, level, below)
        else:
            leaves += 1
        return number

    place(whole, 0)
    return boxes


def _write(axis: Any, box: _Box, classes: Sequence[Label], shades: Any) -> None:
    if box.below:
        text, colour, ink = _cut(box.branch["if"]), "white", "black"
    else:
        number = list(classes).index(box.branch["class"])
        percent = "" if box.branch["records"] is None else f"\n{max(box.branch['shares'].values()):.0%}"
        folded = f"\n… {more_questions(box.branch)}" if box.branch["cut"] else ""
        text, colour = f"{_cut(str(box.branch['class']))}{percent}{folded}", shades[number]
        ink = "white" if float(np.dot(colour[:3], (0.299, 0.587, 0.114))) < 0.55 else "black"
    frame = {"boxstyle": "round,pad=0.35", "facecolor": colour, "edgecolor": "0.4", "linewidth": 0.8}
    axis.text(box.x, -box.level, text, fontsize=7, color=ink, ha="center", va="center", bbox=frame, zorder=2)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
