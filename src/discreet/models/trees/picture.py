"""A tree as a picture: questions above their branches, leaves with their class, its share and the records behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.models.trees.leaves import GrownTree
from discreet.models.trees.text import content, more_questions
from discreet.pictures.figure import class_colours, ink_on, new_figure
from discreet.pictures.labels import fitting, height_of, width_of, wrapped
from discreet.pictures.noise import GREY
from discreet.schema import Schema
from discreet.schema.columns import Label

SIZE = 8.0
"""Size of the letters in boxes, in points."""
PAD = 0.06
"""Room between the text of a box and its frame, in inches."""
APART = 0.14
"""Least room between two boxes of a level, in inches."""
DROP = 0.5
"""Room between two levels, in inches: the lines run through it, with their words."""
LEAST_WIDTH = 4.5
"""Least width of the picture, in inches."""


@dataclass
class _Box:
    """A node with its text; sizes and places are in inches, `x` from the left end of its own branch."""

    branch: dict[str, Any]
    text: str
    level: int
    x: float = 0.0
    below: list[_Box] = field(default_factory=list)

    @property
    def width(self) -> float:
        return width_of(self.text, SIZE) + 2 * PAD

    @property
    def height(self) -> float:
        return height_of(self.text, SIZE) + 2 * PAD

    def all(self) -> list[_Box]:
        """This box and all below it."""
        return [self, *(each for child in self.below for each in child.all())]

    def move(self, by: float) -> None:
        """Move the whole branch to the right."""
        for each in self.all():
            each.x += by


def draw(grown: GrownTree, schema: Schema, classes: Sequence[Label], title: str, top: int | None) -> Any:
    """Draw questions above their branches (yes to the left), and leaves with class, share and number of records.

    A branch deeper than `top` questions is drawn as one leaf with the number of questions that it stands for.
    """
    root = _placed(content(grown, schema, classes, top), 0)
    boxes = root.all()
    root.move(-min(each.x - each.width / 2 for each in boxes))
    tops = _tops(boxes)
    wide = max(LEAST_WIDTH, max(each.x + each.width / 2 for each in boxes) + 0.3)
    root.move((wide - max(each.x + each.width / 2 for each in boxes)) / 2)
    folded = " (lower levels folded)" if any(each.branch.get("cut") for each in boxes) else ""
    heading, below = fitting(f"{title}{folded}", 0.95 * wide, 10), fitting(_caption(grown, boxes), 0.95 * wide, 7.5)
    over, under = height_of(heading, 10) + 0.25, height_of(below, 7.5) + 0.25
    deep = tops[-1] + max(each.height for each in boxes if each.level == len(tops) - 1)
    figure = new_figure(figsize=(wide, deep + over + under), layout=None)
    axis = figure.add_axes((0, under / (deep + over + under), 1, deep / (deep + over + under)))
    axis.set_xlim(0, wide)
    axis.set_ylim(deep, 0)
    axis.axis("off")
    shades = class_colours(len(classes))
    for box in boxes:
        _connect(axis, box, tops)
        _write(axis, box, tops[box.level], shades[list(classes).index(box.branch["class"])] if not box.below else None)
    axis.set_title(heading, fontsize=10)
    figure.text(0.5, 0.1 / (deep + over + under), below, fontsize=7.5, color="0.25", ha="center", va="bottom")
    return figure


def _caption(grown: GrownTree, boxes: Sequence[_Box]) -> str:
    if grown.counts is None or grown.variances is None:
        return "" if grown.records is not None else "Only the class of each leaf was asked, so there are no counts."
    if not float(grown.variances.max()):
        return "Below each class: its share, and the number of records."
    parts = ["Below each class: its share, and about how many records are there, ± 95 % of the noise."]
    if any(box.branch["within_noise"] or box.branch["empty"] for box in boxes if not box.below):
        parts.append("Grey: the noise may have decided the class. Dashed: no more records than noise.")
    return " ".join(parts)


def _placed(branch: dict[str, Any], level: int) -> _Box:
    """The boxes of a branch: each question in the middle above its two branches, which stand as close as they can."""
    if "left" not in branch:
        return _Box(branch, _leaf_text(branch), level)
    left, right = _placed(branch["left"], level + 1), _placed(branch["right"], level + 1)
    ends, starts = _ends(left, 1), _ends(right, -1)
    right.move(max(ends[each] - starts[each] for each in ends if each in starts) + APART)
    return _Box(branch, wrapped(branch["if"], 20), level, (left.x + right.x) / 2, [left, right])


def _ends(box: _Box, side: int) -> dict[int, float]:
    """How far a branch reaches at each level, to the right (1) or to the left (-1)."""
    reach: dict[int, float] = {}
    for each in box.all():
        end = each.x + side * each.width / 2
        reach[each.level] = max(reach.get(each.level, end), end) if side > 0 else min(reach.get(each.level, end), end)
    return reach


def _tops(boxes: Sequence[_Box]) -> list[float]:
    """Where each level begins, from the top."""
    heights = [max(each.height for each in boxes if each.level == n) for n in range(max(b.level for b in boxes) + 1)]
    return [0.04 + sum(heights[:level]) + DROP * level for level in range(len(heights))]


def _connect(axis: Any, box: _Box, tops: Sequence[float]) -> None:
    """Draw the lines to the branches, each with its answer."""
    for word, child in zip(("yes", "no"), box.below, strict=False):
        start, end = tops[box.level] + box.height, tops[child.level]
        axis.plot([box.x, child.x], [start, end], color="0.6", linewidth=1, zorder=1)
        part = (end - 0.5 * DROP - start) / (end - start)  # half-way between the levels, however high the boxes are
        place = box.x + part * (child.x - box.x), start + part * (end - start)
        background = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        axis.text(*place, word, fontsize=6.5, color="0.35", ha="center", va="center", bbox=background, zorder=2)


def _leaf_text(leaf: dict[str, Any]) -> str:
    lines = [wrapped(leaf["class"], 20)]
    if leaf["records"] is not None:
        off = f" ± {leaf['noise']:,.0f}" if leaf["noise"] else ""
        lines += [
            f"{max(leaf['shares'].values()):.0%}" if leaf["records"] >= 1 else "–",
            f"of {leaf['records']:,.0f}{off}",
        ]
    if leaf["cut"]:
        lines.append(f"… {more_questions(leaf)}".replace(" more ", " more\n"))
    return "\n".join(lines)


def _write(axis: Any, box: _Box, top: float, shade: Any) -> None:
    """A frame with its text: the leaf of a class has its shade, one that may be noise is grey or dashed."""
    from matplotlib.patches import FancyBboxPatch

    colour, ink, line, edge = "white", "black", "-", "0.4"
    if shade is not None:
        empty, noise = box.branch["empty"], box.branch["within_noise"]
        colour = "white" if empty else GREY if noise else shade
        ink = "0.4" if empty else ink_on(colour)
        line, edge = ("--", "0.6") if empty else ("-", "0.4")
    corner = box.x - box.width / 2 + PAD / 2, top + PAD / 2
    frame = FancyBboxPatch(
        corner,
        box.width - PAD,
        box.height - PAD,
        boxstyle=f"round,pad={PAD / 2}",
        facecolor=colour,
        edgecolor=edge,
        linestyle=line,
        linewidth=0.8,
        zorder=2,
    )
    axis.add_patch(frame)
    middle = top + box.height / 2
    axis.text(box.x, middle, box.text, fontsize=SIZE, color=ink, ha="center", va="center", zorder=3)
