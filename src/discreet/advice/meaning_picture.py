"""A picture of what an ε means: belief before and after, for this ε and for others beside it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.advice.meaning import belief_after
from discreet.pictures.figure import COLOURS, new_figure
from discreet.privacy.epsilon import Epsilon, shown_above

BESIDE = (0.1, 1.0, 3.0, 10.0)
"""Curves that are drawn for comparison."""


def draw(epsilon: Epsilon) -> Any:
    """Draw the most that a belief can become against what it was."""
    figure = new_figure(figsize=(6.4, 4.8))
    axis = figure.subplots()
    before = np.linspace(0, 1, 201)
    for other in BESIDE:
        axis.plot(before, [belief_after(float(p), other) for p in before], color="0.75", linewidth=1)
        place = 1 / (1 + math.exp(other / 2))  # where the curve is farthest from the diagonal
        beside = {"xytext": (5, -3), "textcoords": "offset points", "va": "top"}
        axis.annotate(f"ε = {other:g}", (place, belief_after(place, other)), fontsize=8, color="0.35", **beside)
    if epsilon != math.inf:
        after = [belief_after(float(p), epsilon) for p in before]
        axis.plot(before, after, color=COLOURS[0], linewidth=2.5, label=f"ε = {shown_above(epsilon)}")
    axis.plot([0, 1], [0, 1], color="0.4", linestyle=":", label="nothing is published")
    axis.set_xlabel("belief that one person is in the table, before")
    axis.set_ylabel("belief afterwards, at most")
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)
    axis.legend(loc="lower right")
    return figure
