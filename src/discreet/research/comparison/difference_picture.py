"""Which models differ: average ranks with the critical difference, and a heat map of p-values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.pictures.figure import new_figure
from discreet.pictures.labels import height_of, name_across, width_of, wrapped
from discreet.research.comparison.summary import Cell, critical_difference, differences, ranked_pairs


def draw_ranks(found: Sequence[Cell]) -> Any:
    """A matplotlib figure: a point at each model's average rank, in a bar as long as the critical difference.

    Two models differ (Nemenyi's test at the level 0.05) if and only if their bars do not overlap.
    """
    ranks, pairs = ranked_pairs(found)
    half = critical_difference(len(ranks), pairs) / 2
    names = [wrapped(name, 34) for name in ranks]
    figure = new_figure(figsize=(6.4, 1.5 + 0.2 * len(ranks) + sum(height_of(name, 10) for name in names)))
    panel = figure.subplots()
    for place, rank in enumerate(ranks.values()):
        panel.plot([rank - half, rank + half], [place, place], color="#56B4E9", linewidth=5, solid_capstyle="butt")
        panel.plot([rank], [place], "o", color="#0072B2")
    panel.set_yticks(range(len(ranks)), names)
    panel.invert_yaxis()
    panel.set_xlabel("average rank (1 is best)")
    panel.set_title(f"critical difference {2 * half:.2f}, {pairs} data sets and ε", fontsize=10)
    panel.grid(axis="x", alpha=0.3)
    return figure


def draw_p_values(found: Sequence[Cell]) -> Any:
    """A matplotlib figure: the p-value of the Wilcoxon test between every two models, light where they differ."""
    tested = differences(found)
    names = list(dict.fromkeys(name for each in tested for name in (each.first, each.second)))
    matrix = np.full((len(names), len(names)), np.nan)
    for each in tested:
        first, second = names.index(each.first), names.index(each.second)
        matrix[first, second] = matrix[second, first] = each.p_value
    beside = max(width_of(wrapped(name, 30), 9) for name in names)
    figure = new_figure(figsize=(1.8 + beside + 0.7 * len(names), 0.8 + beside + 0.6 * len(names)))
    panel = figure.subplots()
    image = panel.imshow(matrix, cmap="cividis_r", vmin=0, vmax=1)
    for (row, column), value in np.ndenumerate(matrix):
        if not np.isnan(value):
            ink = "black" if value < 0.5 else "white"
            panel.text(column, row, f"{value:.2g}", ha="center", va="center", color=ink, fontsize=8)
    name_across(panel, names, 0.6 * len(names), 9)
    panel.set_yticks(range(len(names)), [wrapped(name, 30) for name in names], fontsize=9)
    figure.colorbar(image, label="p (Wilcoxon signed-rank)")
    return figure
