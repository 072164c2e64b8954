"""Where the privacy budget goes: what each query of a model costs, and how much noise its answer gets."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.pictures.figure import COLOURS, new_figure
from discreet.pictures.labels import height_of, title, wrapped
from discreet.privacy.receipt import Charge

ROWS = 10
"""Most rows per model; beyond that, the last row has the sum of all other ε and the geometric mean of their noise."""


def draw_noise(charges: Mapping[str, Sequence[Charge]], heading: str) -> Any:
    """A matplotlib figure with two panels per model: the epsilon of each query, and the scale of its noise.

    The scale is in units of what one record can change, so that queries of different kinds can be compared.
    """
    rows = {model: _rows(each) for model, each in charges.items() if each}
    heights = [0.45 + sum(max(0.26, height_of(row[0], 7) + 0.06) for row in each) for each in rows.values()]
    figure = new_figure(figsize=(9.5, 0.9 + sum(heights)))
    panels = figure.subplots(len(rows), 2, squeeze=False, sharex="col", sharey="row", height_ratios=heights)
    for (left, right), (model, each) in zip(panels, rows.items(), strict=True):
        labels, epsilons, scales = zip(*each, strict=True)
        places = range(len(labels))
        left.barh(places, epsilons, color=COLOURS[0])
        right.plot(scales, places, "D", color=COLOURS[1], markersize=5)
        right.set_xscale("log")
        left.set_yticks(places, labels, fontsize=7)
        left.invert_yaxis()
        left.set_title(wrapped(model, 60), fontsize=9, loc="left")
        for panel in (left, right):
            panel.grid(axis="x", alpha=0.3)
            panel.tick_params(axis="x", which="both", labelsize=7)
    panels[-1][0].set_xlabel("ε", fontsize=8)
    panels[-1][1].set_xlabel("scale of the noise / what one record changes", fontsize=8)
    title(figure, heading, 10)
    return figure


def _rows(charges: Sequence[Charge]) -> list[tuple[str, float, float]]:
    """Label, epsilon and relative noise of each query; if there are too many, the costliest come first."""
    known = [(_named(each.query), float(each.epsilon), each.scale / each.sensitivity) for each in charges]
    if len(known) <= ROWS:
        return known
    known = sorted(known, key=lambda row: -row[1])
    rest = known[ROWS - 1 :]
    middle = math.exp(sum(math.log(max(row[2], 1e-12)) for row in rest) / len(rest))
    return [*known[: ROWS - 1], (f"{len(rest)} more: sum, mean noise", sum(row[1] for row in rest), middle)]


def _named(text: str, letters: int = 44) -> str:
    """A short name of a query, in lines: counts are named by their column."""
    column = re.match(r"\w*Counts\(column='(.*?)'", text)
    return wrapped(f"{column[1]} by class" if column else text, letters)
