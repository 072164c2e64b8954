"""Pictures for the first half of Zorarpacı 2019: accuracy by epsilon, and by F."""

from __future__ import annotations

from typing import Any

from discreet.pictures.figure import COLOURS, MARKERS, new_figure
from discreet.research.comparison.grid import MAJORITY
from discreet.research.report import Picture
from discreet.research.reproduce.accuracies import INDEPENDENT
from discreet.research.reproduce.zorarpaci2019.rules_models import DATA, LEARNERS
from discreet.research.reproduce.zorarpaci2019.rules_tables import (
    CENTRAL,
    EPSILONS,
    LOCAL,
    Means,
    printed_scores,
    theirs,
)

Line = tuple[str, list[float | None]]


def accuracies(means: Means, origin: str) -> Picture:
    """A panel per data set: the thesis's learners, ours on its noise and under local privacy, and our naive Bayes."""
    figure, panels = _panels(len(DATA), 3)
    scores = printed_scores()
    for panel, data in zip(panels, DATA, strict=False):
        for place, learner in enumerate(LEARNERS):
            style = {"color": COLOURS[place], "marker": MARKERS[place], "markersize": 4}
            ours = [means.get((data, learner, loss)) for loss in EPSILONS]
            local = [means.get((data, learner + LOCAL, loss)) for loss in EPSILONS]
            hollow = {**style, "markerfacecolor": "white"}
            _draw(panel, [scores[data, learner, loss] for loss in EPSILONS], "--", f"{learner}, thesis", hollow)
            _draw(panel, [cell and cell.mean for cell in ours], "-", f"{learner}, ours", style)
            _draw(panel, [cell and cell.mean for cell in local], ":", f"{learner}, local privacy", style)
        for place, name in enumerate(CENTRAL, len(LEARNERS)):
            cells = [means.get((data, name, loss)) for loss in EPSILONS]
            style = {"color": COLOURS[place + 2], "marker": MARKERS[place], "markersize": 4}
            _draw(panel, [cell and cell.mean for cell in cells], "-.", f"{name}, private", style)
        if largest := means.get((data, MAJORITY, "inf")):
            panel.axhline(largest.mean, color="0.5", linewidth=1, linestyle=(0, (1, 2)), label="largest class")
        panel.set_title(data)
        panel.set_xticks(range(len(EPSILONS)), ["1", "2", "3", "∞"])
        panel.set_xlabel("ε")
        panel.set_ylabel("accuracy")
    _legend(figure, panels)
    caption = (
        "Accuracy by ε: the learners of rules as printed (dashed, hollow), ours on the same noise (solid, no "
        "guarantee) and under local privacy (dotted; at ∞ our defaults on clear records), and our private models "
        "that count (dash-dotted)."
    )
    return Picture("zorarpaci2019-rules-accuracy", caption, figure, origin)


def _draw(panel: Any, values: list[float | None], dashes: str, label: str, style: dict[str, Any]) -> None:
    """Draw one line; clear records stand at the right, as epsilon infinity."""
    ordered = [*values[1:], values[0]]
    points = [(x, value) for x, value in enumerate(ordered) if value is not None]
    panel.plot([x for x, _ in points], [value for _, value in points], dashes, label=label, **style)


def moves(means: Means, origin: str) -> Picture:
    """A panel per data set of Table 5.11: accuracy by F, with error bars of two standard errors."""
    known = theirs("Table 5.11")
    names = list(dict.fromkeys(key[0] for key in known))
    figure, panels = _panels(len(names), 3)
    for panel, data in zip(panels, names, strict=False):
        printed = [
            (float(model.removeprefix("F=")), each.value) for (name, model, _), each in known.items() if name == data
        ]
        panel.plot(
            *zip(*printed, strict=True),
            "--",
            marker="o",
            markersize=4,
            markerfacecolor="white",
            color=COLOURS[0],
            label="thesis",
        )
        cells = [(x, cell) for x, _ in printed if (cell := means.get((data, f"F={x:.1f}", "inf")))]
        panel.errorbar(
            [x for x, _ in cells],
            [cell.mean for _, cell in cells],
            [2 * cell.deviation / cell.runs**0.5 for _, cell in cells],
            fmt="-s",
            markersize=4,
            capsize=2,
            color=COLOURS[1],
            label="ours",
        )
        panel.set_title(data)
        panel.set_xlabel("F")
        panel.set_ylabel("accuracy")
    _legend(figure, panels)
    caption = (
        "1-rule ABC by F: as printed in Table 5.11 (dashed), and ours with bars of two standard errors "
        f"({INDEPENDENT})."
    )
    return Picture("zorarpaci2019-rules-f", caption, figure, origin)


def _panels(count: int, width: int) -> tuple[Any, Any]:
    height = -(-count // width)
    figure = new_figure(figsize=(4.2 * width, 3.2 * height + 1.0))
    panels = figure.subplots(height, width, squeeze=False).ravel()
    for panel in panels[count:]:
        panel.set_visible(False)
    for panel in panels:
        panel.grid(alpha=0.3)
    return figure, panels


def _legend(figure: Any, panels: Any) -> None:
    """A legend that names every line of every panel once."""
    lines: dict[str, Any] = {}
    for panel in panels:
        for line, label in zip(*panel.get_legend_handles_labels(), strict=True):
            lines.setdefault(label, line)
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, frameon=False, fontsize=8)
