"""A picture of a linear model: one diverging chart, of bars for two classes and of colours for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.models.linear.weights import Weight, size_of_noise, speaking
from discreet.pictures.figure import COLOURS, colours_of, new_figure
from discreet.pictures.labels import caption, fitting, height_of, name_across, title, width_of, wrapped
from discreet.pictures.noise import GREY, NO_NOISE, UNKNOWN
from discreet.schema.columns import Label

SIZE = 8.0
"""Size of the letters of the rows, in points."""
MOST_ROWS = 30
"""A chart of many classes has at most about this many rows: the values that speak most for each class."""
ACROSS = 4.6
"""Width of the chart itself, in inches."""
WRITTEN = 8
"""Up to this many classes, weights are also written as numbers."""


def draw(weights: Sequence[Weight], classes: Sequence[Label], noise: float | None, heading: str, top: int) -> Any:
    """Draw the values that speak most for each class; `noise` is how far noise may have moved a weight, None if it is
    not known."""
    per_class = top if len(classes) <= 2 else max(1, min(top, MOST_ROWS // len(classes)))
    listed = list(dict.fromkeys(each for row in range(len(classes)) for each in speaking(weights, row, per_class)))
    if len(classes) == 2:
        listed.sort(key=lambda each: -each.by_class[1])
    names = [wrapped(each.name, 38) for each in listed]
    heights = [max(0.2, height_of(name, SIZE) + 0.05) for name in names] or [0.3]
    wide = ACROSS if len(classes) <= 12 else 0.38 * len(classes)
    beside = max((width_of(name, SIZE) for name in names), default=0.0)
    figure = new_figure(figsize=(wide + beside + 0.6, sum(heights) + (1.7 if len(classes) <= 2 else 3.2)))
    axis = figure.subplots()
    edges = np.concatenate([[0.0], np.cumsum(heights)])
    if not listed:
        axis.set_axis_off()
    elif len(classes) == 2:
        _draw_bars(axis, listed, edges, classes, noise or 0.0)
    else:
        _draw_colours(axis, listed, edges, classes, noise or 0.0, wide)
    if listed:
        axis.set_yticks((edges[:-1] + edges[1:]) / 2, names, fontsize=SIZE)
        axis.set_ylim(edges[-1], 0)
    title(figure, heading if listed else f"{heading}: no value speaks for a class")
    caption(figure, told(noise, len(weights) * (1 if len(classes) == 2 else len(classes))))
    return figure


def told(noise: float | None, number: int) -> str:
    """What the picture says about noise."""
    if noise is None:
        return UNKNOWN
    return f"{size_of_noise(noise, number)} Grey: within that noise, so it may mean nothing." if noise else NO_NOISE


def _draw_bars(axis: Any, listed: Sequence[Weight], edges: Any, classes: Sequence[Label], noise: float) -> None:
    """Two classes: to the right what speaks for the second, to the left what speaks for the first."""
    values = np.array([each.by_class[1] for each in listed])
    colours = [GREY if abs(value) <= noise else COLOURS[int(value > 0)] for value in values]
    if noise:
        axis.axvspan(-noise, noise, color="0.93", zorder=0)
    axis.barh((edges[:-1] + edges[1:]) / 2, values, 0.13, color=colours, zorder=2)
    axis.axvline(0, color="0.4", linewidth=0.8)
    reach = 1.05 * max(noise, float(np.abs(values).max()), 1e-9)
    axis.set_xlim(-reach, reach)
    axis.locator_params(axis="x", nbins=6)
    axis.tick_params(axis="x", labelsize=8)
    first, second = (fitting(label, 0.4 * ACROSS, 9) for label in classes)
    axis.set_title(f"← speaks for {first}", fontsize=9, loc="left", color=COLOURS[0])
    axis.set_title(f"speaks for {second} →", fontsize=9, loc="right", color=COLOURS[1])
    axis.set_xlabel("weight" + (" (pale band: the noise, 95 %)" if noise else ""), fontsize=8)


def _draw_colours(
    axis: Any, listed: Sequence[Weight], edges: Any, classes: Sequence[Label], noise: float, wide: float
) -> None:
    """More classes: a column for each, orange for what speaks for it and purple for what speaks against it."""
    from matplotlib.colors import ListedColormap, TwoSlopeNorm

    values = np.array([each.by_class for each in listed])
    shown = np.ma.masked_array(values, np.abs(values) <= noise)
    colours = ListedColormap(colours_of("PuOr_r", np.linspace(0, 1, 256))).with_extremes(bad="0.9")
    least, most = min(-1e-9, float(values.min())), max(1e-9, float(values.max()))
    norm = TwoSlopeNorm(0.0, least, most)
    image = axis.pcolormesh(np.arange(len(classes) + 1) - 0.5, edges, shown, cmap=colours, norm=norm)
    name_across(axis, classes, wide, 8.5)
    axis.tick_params(axis="x", length=0)
    if len(classes) <= WRITTEN:
        for row, place in enumerate((edges[:-1] + edges[1:]) / 2):
            for column, value in enumerate(values[row]):
                strength = abs(norm(value) - 0.5)
                ink = "0.45" if abs(value) <= noise else "white" if strength > 0.32 else "black"
                axis.text(column, place, f"{value:+.2f}", fontsize=7, color=ink, ha="center", va="center")
    bar = axis.figure.colorbar(image, ax=axis, location="bottom", fraction=0.04, aspect=40)
    bar.set_label("weight: what a value adds to the score of a class", size=8)
    bar.ax.tick_params(labelsize=7)
    ends = [least, 0.0, most]
    bar.set_ticks(ends, labels=[f"{each:+.2g}" for each in ends])
