"""A picture of a one-rule: each value with its class, the shares of the classes, and the number of records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.models.rule_lines import RuleLine, grouped
from discreet.pictures.figure import COLOURS, new_figure
from discreet.pictures.labels import caption, height_of, title, width_of, wrapped
from discreet.pictures.noise import BAR, BARS, GREY, NO_NOISE
from discreet.schema.columns import Label

SIZE = 8.5
"""Size of the letters of the lines, in points."""
PALE = 0.3
"""How strongly the classes that a line does not predict are drawn."""


def draw(lines: Sequence[RuleLine], classes: Sequence[Label], column: str, target: str, heading: str) -> Any:
    """Draw a bar for each value: first the class that is predicted, then the others, pale."""
    shown = grouped(lines)
    names = [f"{wrapped(each.value, 30)} → {wrapped(classes[each.winner], 24)}" for each in shown]
    heights = [max(0.24, height_of(name, SIZE) + 0.05) for name in names]
    width = max(width_of(name, SIZE) for name in names)
    figure = new_figure(figsize=(width + 6.0, sum(heights) + 1.9))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    edges = np.concatenate([[0.0], np.cumsum(heights)])
    places = (edges[:-1] + edges[1:]) / 2
    for place, each in zip(places, shown, strict=True):
        _draw_shares(left, float(place), each, len(classes))
        right.barh(place, max(each.records, 0.0), 0.16, color=GREY if each.is_noise else "0.35")
        if each.off:
            right.hlines(place, max(each.records - each.off, 0.0), max(each.records + each.off, 0.0), color=BAR)
    left.set_yticks(places, names, fontsize=SIZE)
    left.set_ylim(edges[-1], 0)
    left.set_xlim(0, 1)
    left.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %  "], fontsize=8)
    pale = ";\npale: the other classes" if len(classes) <= len(COLOURS) else ""
    left.set_xlabel(f"share of the class that is predicted{pale}", fontsize=8)
    left.set_title(wrapped(f"IF {column} = … THEN {target} = …", 44), fontsize=9)
    right.set_xlim(left=0)
    right.set_xlabel("records, about", fontsize=8)
    right.locator_params(axis="x", nbins=4)
    right.tick_params(axis="x", labelsize=8)
    title(figure, heading)
    caption(figure, BARS if any(each.off for each in shown) else NO_NOISE)
    return figure


def _draw_shares(axis: Any, place: float, each: RuleLine, classes: int) -> None:
    """One line: grey if it may mean nothing; with many classes, all but the predicted one are one bar."""
    start, order = 0.0, [each.winner, *(row for row in range(classes) if row != each.winner)]
    for row in order if classes <= len(COLOURS) else order[:1]:
        strength = 1.0 if row == each.winner else PALE
        colour = GREY if each.is_noise else COLOURS[row if classes <= len(COLOURS) else 0]
        axis.barh(place, each.shares[row], 0.16, left=start, color=colour, alpha=strength, linewidth=0)
        start += each.shares[row]
    if each.share_off and not each.is_empty:
        middle = each.shares[each.winner]
        axis.hlines(place, max(middle - each.share_off, 0.0), min(middle + each.share_off, 1.0), color=BAR)
