"""Accuracy against epsilon: the thesis's best, the published algorithms run by us, and ours with a proof."""

from __future__ import annotations

from typing import Any

from discreet.pictures.figure import COLOURS, DASHES, MARKERS, new_figure
from discreet.research.comparison.grid import as_number
from discreet.research.report import Picture
from discreet.research.reproduce.accuracies import INDEPENDENT, standard_error
from discreet.research.reproduce.zorarpaci2019.private_cells import (
    EPSILONS,
    ONE_RULE,
    PUBLISHED,
    SELECTING,
    TREE,
    PrivateAccuracies,
)

SHOWN = (ONE_RULE, SELECTING, TREE, PUBLISHED["1R with F.S."], PUBLISHED["NB with F.S."])


def curves(found: PrivateAccuracies, origin: str) -> Picture:
    """A panel per data set; error bars are two standard errors."""
    width = min(3, len(found.data))
    height = -(-len(found.data) // width)
    figure = new_figure(figsize=(4.2 * width, 3.2 * height + 0.9))
    panels = figure.subplots(height, width, squeeze=False).ravel()
    for panel, data in zip(panels, found.data, strict=False):
        _draw(panel, found, data)
    for panel in panels[len(found.data) :]:
        panel.set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(3, width + 1), frameon=False)
    caption = (
        "Accuracy against ε. Dotted in black: the best of the thesis's four rows at each ε. Ours with a proof: "
        f"{', '.join(SHOWN[:3])}. The published algorithms after the search in the clear, run by us: the other two. "
        f"Bars are two standard errors ({INDEPENDENT})."
    )
    return Picture("zorarpaci2019-private", caption, figure, origin)


def _draw(panel: Any, found: PrivateAccuracies, data: str) -> None:
    bars = [bar for bar in found.bars() if bar.data == data]
    panel.plot(
        [float(bar.epsilon) for bar in bars],
        [bar.asked for bar in bars],
        ":",
        marker="x",
        color="black",
        label="thesis, best of four",
    )
    for place, model in enumerate(SHOWN):
        points = [cell for epsilon in EPSILONS if (cell := found.cell(data, model, epsilon)) is not None]
        panel.errorbar(
            [as_number(cell.epsilon) for cell in points],
            [cell.mean for cell in points],
            yerr=[2 * standard_error(cell) for cell in points],
            linestyle=DASHES[0] if place < 3 else DASHES[1],
            marker=MARKERS[place],
            markersize=4,
            color=COLOURS[place],
            label=model,
        )
    largest = found.majority(data)
    if largest is not None:
        panel.axhline(largest.mean, color="0.5", linewidth=1, linestyle=(0, (1, 2)), label="largest class")
    panel.set_xscale("log")
    panel.set_xlabel("ε")
    panel.set_ylabel("accuracy")
    panel.grid(alpha=0.3)
    panel.set_title(data)
