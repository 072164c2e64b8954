"""Figures 2 and 3 of Lopuhaä 2021: accuracy against epsilon, on an axis that has room for 1e-11."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from discreet.pictures.figure import COLOURS, DASHES, MARKERS, new_figure
from discreet.research.comparison.grid import MAJORITY
from discreet.research.reproduce.lopuhaa2021.findings import TableTwo, average, table_two
from discreet.research.reproduce.lopuhaa2021.models import FAMILIES, OTHERS

MeanAt = Callable[[str, float], float | None]
"""The mean accuracy of a model at an epsilon."""


def draw_panels(scores: TableTwo) -> Any:
    """A matplotlib figure: a panel per data set, as published (dashed) and rigorous (solid).

    The epsilons stand at equal distances, because 1e-11 would be far away on any other axis. A triangle at the right is
    the paper's average over all epsilons.
    """
    width = min(3, max(1, len(scores.data)))
    height = max(1, math.ceil(len(scores.data) / width))
    figure = new_figure(figsize=(4.2 * width, 3.4 * height + 0.7))
    panels = figure.subplots(height, width, squeeze=False).ravel()
    printed = table_two("average")
    for panel, data in zip(panels, scores.data, strict=False):
        _axes(panel, scores.grid)
        _curves(panel, scores, lambda model, epsilon, data=data: scores.mean(data, model, epsilon))  # type: ignore[misc]
        for place, family in enumerate(FAMILIES):
            if (data, family) in printed:
                _tick(panel, printed[data, family], place)
        majority = scores.mean(data, MAJORITY)
        if majority is not None:
            panel.axhline(majority, color="0.5", linewidth=1, linestyle=(0, (1, 2)), label="largest class")
        panel.set_title(data)
    for panel in panels[len(scores.data) :]:
        panel.set_visible(False)
    _legend(figure, panels[0])
    return figure


def draw_averages(scores: TableTwo) -> Any:
    """A matplotlib figure: the same, averaged over the data sets, and our other models.

    The paper's averages are shown only if exactly its data sets were run.
    """
    figure = new_figure(figsize=(7.2, 5.0))
    panel = figure.subplots()
    _axes(panel, scores.grid)

    def curve(model: str, epsilon: float) -> float | None:
        return average([scores.mean(data, model, epsilon) for data in scores.data])

    _curves(panel, scores, curve)
    for place, model in enumerate(OTHERS, len(FAMILIES)):
        _line(panel, scores.grid, [curve(model, epsilon) for epsilon in scores.grid], model, place, DASHES[3])
    if scores.all_data:
        for place, family in enumerate(FAMILIES):
            _tick(panel, table_two("average")["", family], place)
    panel.set_ylabel("accuracy, mean over data sets")
    _legend(figure, panel)
    return figure


def _axes(panel: Any, epsilons: Sequence[float]) -> None:
    panel.set_xticks(range(len(epsilons)), [f"{epsilon:g}" for epsilon in epsilons], rotation=45)
    panel.set_xlabel("ε (not to scale)")
    panel.set_ylabel("accuracy")
    panel.grid(alpha=0.3)


def _curves(panel: Any, scores: TableTwo, mean_at: MeanAt) -> None:
    for place, models in enumerate(FAMILIES.values()):
        for model, dashes in zip(models, (DASHES[1], DASHES[0]), strict=True):
            _line(panel, scores.grid, [mean_at(model, epsilon) for epsilon in scores.grid], model, place, dashes)


def _line(
    panel: Any, epsilons: Sequence[float], heights: Sequence[float | None], label: str, place: int, dashes: str
) -> None:
    y = [math.nan if height is None else height for height in heights]
    marker, fill = MARKERS[place], "none" if dashes == DASHES[1] else COLOURS[place]
    style = {"color": COLOURS[place], "marker": marker, "markersize": 4, "markerfacecolor": fill}
    panel.plot(range(len(epsilons)), y, dashes, label=label, **style)


def _tick(panel: Any, height: float, place: int) -> None:
    style = {"color": COLOURS[place], "markersize": 6, "clip_on": False, "linestyle": "none"}
    label = f"{list(FAMILIES)[place]}: the paper's average"
    panel.plot([1.0], [height], marker="<", transform=panel.get_yaxis_transform(), label=label, **style)


def _legend(figure: Any, panel: Any) -> None:
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
