"""The three figures of Marchioro et al. 2022, from our runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.pictures.figure import COLOURS, DASHES, MARKERS, new_figure
from discreet.research.comparison.grid import NOT_PRIVATE, as_number
from discreet.research.comparison.picture import draw
from discreet.research.comparison.summary import Cell
from discreet.research.reproduce.marchioro2022.models import CENTRAL, PUBLISHED
from discreet.research.reproduce.marchioro2022.nodes import Errors, Sensitivity
from discreet.research.reproduce.printed import Printed

BINS = 25


def name_in_figure(printed: Printed) -> str:
    """Our name of a model of the authors' program."""
    return CENTRAL if printed.model == "central" else PUBLISHED + printed.model.removeprefix("N=")


def draw_accuracies(cells: Sequence[Cell], theirs: Sequence[Printed] = ()) -> Any:
    """Accuracy against epsilon, a panel per data set; open markers are the authors' program."""
    figure = draw(cells)
    models = list(dict.fromkeys(cell.model for cell in cells if cell.model != "majority"))
    for panel in figure.axes:
        for printed in theirs:
            if printed.data == panel.get_title() and printed.epsilon != NOT_PRIVATE:
                place = models.index(name_in_figure(printed)) if name_in_figure(printed) in models else None
                if place is not None:
                    panel.plot(
                        [as_number(printed.epsilon)],
                        [printed.value],
                        MARKERS[place % len(MARKERS)],
                        markersize=8,
                        markerfacecolor="none",
                        color=COLOURS[place % len(COLOURS)],
                    )
    return figure


def draw_sensitivities(found: Mapping[str, Sequence[Sensitivity]]) -> Any:
    """A panel per data set: for each column and number of nodes, a box over nodes and classes (5% to 95%)."""
    figure = new_figure(figsize=(9.6, 3.2 * len(found) + 0.5))
    panels = figure.subplots(len(found), 1, squeeze=False).ravel()
    for panel, (data, rows) in zip(panels, found.items(), strict=True):
        columns = list(dict.fromkeys(row.column for row in rows))
        nodes = list(dict.fromkeys(row.nodes for row in rows))
        for place, many in enumerate(nodes):
            own = [row for row in rows if row.nodes == many]
            positions = [columns.index(row.column) + (place - (len(nodes) - 1) / 2) * 0.2 for row in own]
            colour = COLOURS[place % len(COLOURS)]
            panel.boxplot(
                [row.fractions for row in own],
                positions=positions,
                widths=0.16,
                whis=(5, 95),
                showfliers=False,
                patch_artist=True,
                boxprops={"facecolor": colour, "alpha": 0.5},
                medianprops={"color": "black"},
            )
            panel.plot([], [], "s", color=colour, alpha=0.5, label=_nodes(many))
        panel.axhline(1.0, color="0.3", linestyle="--", linewidth=1, label="public bounds (ours)")
        panel.set_xticks(range(len(columns)), columns)
        panel.set_title(data)
        panel.set_ylabel("sensitivity / bound")
        panel.set_ylim(-0.03, 1.08)
        panel.grid(axis="y", alpha=0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def draw_errors(found: Sequence[Errors]) -> Any:
    """A panel per method: densities of the error for each number of nodes; a Laplace law has straight flanks here."""
    methods = list(dict.fromkeys(row.method for row in found))
    figure = new_figure(figsize=(4.8 * len(methods), 3.8))
    panels = figure.subplots(1, len(methods), squeeze=False).ravel()
    for panel, method in zip(panels, methods, strict=True):
        for place, row in enumerate(each for each in found if each.method == method):
            inside = np.quantile(row.values, [0.005, 0.995])
            density, edges = np.histogram(row.values, BINS, range=(float(inside[0]), float(inside[1])), density=True)
            centres = (edges[1:] + edges[:-1]) / 2
            kept = density > 0
            style = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
            dashes = DASHES[place % len(DASHES)]
            panel.plot(centres[kept], density[kept], dashes, markersize=3, label=_nodes(row.nodes), **style)
        panel.set_yscale("log")
        panel.set_title(method)
        panel.set_xlabel("relative error of the mean")
        panel.set_ylabel("density")
        panel.grid(alpha=0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _nodes(many: int) -> str:
    return "1 node" if many == 1 else f"{many} nodes"
