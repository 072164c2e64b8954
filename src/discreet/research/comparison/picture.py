"""Accuracy against epsilon, one panel per data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from discreet.pictures.figure import COLOURS, DASHES, MARKERS, new_figure
from discreet.pictures.labels import width_of, wrapped
from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, as_number
from discreet.research.comparison.summary import Cell

FEW = 5
"""Up to this number, every epsilon has a label on the axis; beyond it, only powers of ten have one."""


def draw(found: Sequence[Cell]) -> Any:
    """A matplotlib figure: means with bands of one deviation, and the largest class as a grey line.

    A tick at the right edge, in the colour of its model, is the accuracy without noise.
    """
    names = list(dict.fromkeys(cell.data for cell in found))
    models = list(dict.fromkeys(cell.model for cell in found if cell.model != MAJORITY))
    width = min(3, len(names))
    height = math.ceil(len(names) / width)
    figure = new_figure(figsize=(4.2 * width, 3.2 * height + 0.6))
    panels = figure.subplots(height, width, squeeze=False).ravel()
    for panel, name in zip(panels, names, strict=False):
        _draw_panel(panel, [cell for cell in found if cell.data == name], models)
        panel.set_title(wrapped(name, 40))
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    each = max((width_of(label, 9) for label in labels), default=1.0) + 0.7
    fitting = max(1, int(figure.get_size_inches()[0] / each))
    columns = min(fitting, 4, max(1, len(labels)))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
    return figure


def _draw_panel(panel: Any, own: Sequence[Cell], models: Sequence[str]) -> None:
    panel.set_xscale("log")
    panel.set_xlabel("ε")
    panel.set_ylabel("accuracy")
    panel.grid(alpha=0.3)
    epsilons = sorted({as_number(cell.epsilon) for cell in own} - {math.inf})
    if len(epsilons) <= FEW:  # a logarithmic axis would label other numbers, or none
        panel.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    panel.tick_params(axis="x", which="minor", labelbottom=False)
    for place, model in enumerate(models):
        points = sorted((cell for cell in own if cell.model == model), key=lambda cell: as_number(cell.epsilon))
        private = [cell for cell in points if cell.epsilon != NOT_PRIVATE]
        style = {"color": COLOURS[place % len(COLOURS)]}
        x, y = [as_number(cell.epsilon) for cell in private], [cell.mean for cell in private]
        dashes = DASHES[place // len(COLOURS) % len(DASHES)]
        panel.plot(x, y, dashes, marker=MARKERS[place % len(MARKERS)], markersize=4, label=wrapped(model, 30), **style)
        low, high = ([cell.mean + sign * cell.deviation for cell in private] for sign in (-1, 1))
        panel.fill_between(x, low, high, alpha=min(0.15, 0.6 / len(models)), linewidth=0, **style)
        for cell in points[len(private) :]:
            panel.plot([1.0], [cell.mean], marker=0, transform=panel.get_yaxis_transform(), clip_on=False, **style)
    panel.plot([], [], marker=0, color="0.3", linestyle="none", label="without noise")
    for cell in own:
        if cell.model == MAJORITY:
            panel.axhline(cell.mean, color="0.5", linewidth=1, linestyle=(0, (1, 2)), label="largest class")
