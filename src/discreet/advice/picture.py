"""A picture of the advice: expected accuracy against epsilon, one panel per model, that of `auto` first."""

from __future__ import annotations

import math
from typing import Any

from discreet.advice.advisor import Advice
from discreet.advice.cases import ADVISED
from discreet.advice.wording import amount
from discreet.errors import ParameterError
from discreet.pictures.figure import COLOURS, MARKERS, new_figure
from discreet.pictures.labels import caption, title

CAPTION = (
    "Band: a range that holds in about four of five tables. Grey: the other models. Dotted: always predicting the "
    "largest class, in comparable tables."
)


def draw(advice: Advice) -> Any:
    """A matplotlib figure: in each panel one model's accuracy with its range, and all other models in grey."""
    choices = [choice for choice in advice.choices if choice.epsilon != math.inf]
    if not choices:
        raise ParameterError("every epsilon is infinite; a picture needs at least one that is finite")
    epsilons = [choice.epsilon for choice in choices]
    curves = {
        model: [next(each for each in choice.expectations if each.model == model) for choice in choices]
        for model in ADVISED
    }
    lows = [each.low for own in curves.values() for each in own]
    least = max(0.0, min(*lows, advice.largest.accuracy) - 0.05)
    columns = math.ceil(len(ADVISED) / 2)
    figure = new_figure(figsize=(10, 6))
    panels = figure.subplots(2, columns, sharey=True).ravel()
    for unused in panels[len(ADVISED) :]:
        unused.set_axis_off()
    for place, (panel, model) in enumerate(zip(panels, ADVISED, strict=False)):
        for other in ADVISED:
            panel.plot(epsilons, [each.accuracy for each in curves[other]], color="0.8", linewidth=1)
        own, colour = curves[model], COLOURS[place]
        panel.fill_between(
            epsilons, [each.low for each in own], [each.high for each in own], color=colour, alpha=0.2, linewidth=0
        )
        panel.plot(epsilons, [each.accuracy for each in own], marker=MARKERS[place], color=colour, markersize=5)
        first = model == ADVISED[0]
        panel.set_title(f"{model}: first choice" if first else model, fontweight="bold" if first else "normal")
        panel.axhline(advice.largest.accuracy, color="0.3", linewidth=1, linestyle=(0, (1, 2)))
        panel.set_xscale("log")
        panel.set_ylim(least, 1)
        panel.grid(alpha=0.3)
        panel.set_xlabel("ε")
    for panel in panels[::columns]:
        panel.set_ylabel("expected accuracy")
    title(figure, f"From public facts alone: {amount(advice.facts.records)}")
    caption(figure, CAPTION)
    return figure
