"""Curves in panels: pictures that several studies share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from discreet.pictures.figure import COLOURS, MARKERS, new_figure

DASHED, SOLID = "--", "-"
"""Lines: dashed for what the papers publish, solid for ours."""


class Curve(NamedTuple):
    """Points with a name; points that were not measured are left out.

    Parameters
    ----------
    label : text in the legend; a label that occurs in several panels is shown once.
    points : x and y.
    line : line style of matplotlib, such as `DASHED`.
    colour : place in the list of colours and markers; negative for a thin grey line without markers.
    errors : one error per point, drawn as a band; no band if empty.
    """

    label: str
    points: Sequence[tuple[float, float | None]]
    line: str
    colour: int
    errors: Sequence[float] = ()


def draw(panels: Mapping[str, Sequence[Curve]], x: str, y: str = "accuracy", *, logarithmic_y: bool = False) -> Any:
    """A matplotlib figure with one panel per title; x is logarithmic unless its label begins with "share"."""
    width = 2 if len(panels) == 4 else min(3, max(1, len(panels)))
    height = max(1, math.ceil(len(panels) / width))
    figure = new_figure(figsize=(4.4 * width, 3.3 * height + 1.0))
    places = list(figure.subplots(height, width, squeeze=False).ravel())
    for place, (title, curves) in zip(places, panels.items(), strict=False):
        place.set_title(title)
        place.set_xlabel(x)
        place.set_ylabel(y)
        place.grid(alpha=0.3)
        if not x.startswith("share"):
            place.set_xscale("log")
        if logarithmic_y:
            place.set_yscale("log")
        for curve in curves:
            _draw_curve(place, curve)
    for place in places[len(panels) :]:
        place.set_visible(False)
    _add_legend(figure, places)
    return figure


def _draw_curve(place: Any, curve: Curve) -> None:
    errors = curve.errors or [0.0] * len(curve.points)
    pairs = zip(curve.points, errors, strict=True)
    measured = sorted((at, value, error) for (at, value), error in pairs if value is not None)
    if not measured:
        return
    x, y, widths = zip(*measured, strict=True)
    if curve.colour < 0:
        place.plot(x, y, color="0.45", linewidth=1, linestyle=(0, (1, 2)), label=curve.label)
        return
    colour, marker = COLOURS[curve.colour % len(COLOURS)], MARKERS[curve.colour % len(MARKERS)]
    filling = colour if curve.line == SOLID else "white"
    style = {"color": colour, "marker": marker, "markersize": 4, "markerfacecolor": filling}
    place.plot(x, y, linestyle=curve.line, label=curve.label, **style)
    low, high = ([at + sign * width for at, width in zip(y, widths, strict=True)] for sign in (-1, 1))
    place.fill_between(x, low, high, alpha=0.12, linewidth=0, color=colour)


def _add_legend(figure: Any, places: Sequence[Any]) -> None:
    named: dict[str, Any] = {}
    for place in places:
        for handle, label in zip(*place.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if named:
        columns = min(4, len(named))
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns, frameon=False)
