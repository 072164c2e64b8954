"""How accuracies are spread at each epsilon: box plots over data sets and models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.pictures.figure import COLOURS, new_figure
from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, as_number
from discreet.research.comparison.summary import Cell, shown


def draw_spread(found: Sequence[Cell]) -> Any:
    """A matplotlib figure: for each epsilon, box plots of accuracies and of their ratios to no noise.

    The boxes are over data sets and models (Lopuhaä 2021, figure 5). Each cell is a point on its box.
    """
    private = [cell for cell in found if cell.model != MAJORITY and cell.epsilon != NOT_PRIVATE]
    epsilons = sorted({cell.epsilon for cell in private}, key=as_number)
    accuracies = [[cell.mean for cell in private if cell.epsilon == epsilon] for epsilon in epsilons]
    ratios = [
        [cell.ratio for cell in private if cell.epsilon == epsilon and cell.ratio is not None] for epsilon in epsilons
    ]
    panels = {"accuracy": accuracies} | ({"accuracy / without noise": ratios} if all(ratios) else {})
    figure = new_figure(figsize=(max(4.0, 1.6 + 0.6 * len(epsilons)) * len(panels), 3.6))
    for panel, (label, values) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        _boxes(panel, values)
        panel.set_xticks(range(1, len(epsilons) + 1), [shown(epsilon) for epsilon in epsilons])
        panel.set_xlabel("ε")
        panel.set_ylabel(label)
        panel.grid(axis="y", alpha=0.3)
    return figure


def _boxes(panel: Any, values: Sequence[Sequence[float]]) -> None:
    ink = {"color": COLOURS[0]}
    panel.boxplot(
        values,
        widths=0.55,
        showfliers=False,
        boxprops=ink,
        whiskerprops=ink,
        capprops=ink,
        medianprops={"color": COLOURS[1], "linewidth": 2},
    )
    for place, each in enumerate(values, 1):
        # shifts follow from the order alone, so that the picture is the same every time
        shifts = [0.4 * ((number * 0.618) % 1 - 0.5) for number in range(len(each))]
        panel.plot([place + shift for shift in shifts], each, ".", color="0.4", markersize=3, alpha=0.7)
