"""A picture of evidence: which columns decide for each class, what the most informative ones say, and the noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.models.explanation import Evidence, ranked
from discreet.pictures.figure import COLOURS, MARKERS, colours_of, new_figure
from discreet.pictures.labels import caption, height_of, name_across, title, width_of, wrapped
from discreet.pictures.noise import BAR, BARS, GREY, GREYED, NO_NOISE, UNKNOWN
from discreet.schema.columns import Label

Matrix = NDArray[np.float64]

FEW_CLASSES = 4
"""Up to this many classes can be told apart by colour; more are shown as columns of a heat map."""
DETAILS = 4
"""Number of columns whose cells are shown."""
FARTHEST = 6.0
"""Beyond 2^6 times as likely or unlikely, the axis ends: so much more can hardly be told from the noise."""
SMALL = 7.5
"""Size of the letters of cells, in points."""


def draw(evidence: Sequence[Evidence], prior: Matrix, classes: Sequence[Label], heading: str, top: int = 10) -> Any:
    """Draw which columns decide for each class, and what the most informative ones say."""
    listed = [each for each, _ in ranked(evidence, prior)[:top]]
    details = [each.grouped(prior) for each in listed[:DETAILS]]
    painter: _Painter = _Marks(prior, classes) if len(classes) <= FEW_CLASSES else _HeatMaps(prior, classes, details)
    stacks = _stacked(details, painter)
    heights = [sum(painter.height(each) for each in own) for own in stacks]
    names = [wrapped(each.name, 20) for each in listed]
    widths = [max(map(width_of, names, [9.0] * len(names))) + painter.bits_width]
    widths += [
        max(width_of(_named(cell), SMALL) for each in own for cell in each.cells) + painter.width for own in stacks
    ]
    rows = sum(max(height_of(name, 9.0) + 0.06, painter.bar) for name in names)
    figure = new_figure(figsize=(max(6.4, sum(widths) + 0.3), max(rows + painter.above, *heights) + 0.9))
    outer = figure.add_gridspec(1, len(widths), width_ratios=widths)
    painter.bits(figure.add_subplot(outer[0]), listed, names)
    for place, own in enumerate(stacks, 1):
        inner = outer[place].subgridspec(len(own), 1, height_ratios=[painter.height(each) for each in own])
        for row, each in enumerate(own):
            axis = figure.add_subplot(inner[row])
            painter.detail(axis, each)
            axis.set_title(wrapped(each.name, 40), fontsize=9)
    title(figure, heading)
    caption(figure, f"{painter.legend} {_noise_in_words(listed, painter.told)}".strip())
    return figure


def _stacked(details: Sequence[Evidence], painter: _Painter) -> list[list[Evidence]]:
    """The columns in two stacks of about the same height."""
    stacks: list[list[Evidence]] = [[], []]
    for each in details:
        lower = min(stacks, key=lambda own: sum(painter.height(other) for other in own))
        lower.append(each)
    return [own for own in stacks if own]


def _noise_in_words(listed: Sequence[Evidence], told: str) -> str:
    if any(each.has_noise for each in listed):
        unknown = [each.name for each in listed if each.margins is None]
        return f"{told} (Not known, and not shown, for {', '.join(unknown)}.)" if unknown else told
    return UNKNOWN if any(each.margins is None for each in listed) else NO_NOISE


def _named(cell: object) -> str:
    return wrapped(cell, 26)


class _Painter(Protocol):
    """How classes are told apart; sizes are in inches."""

    bits_width: float
    width: float
    bar: float
    above: float
    legend: str
    told: str

    def height(self, each: Evidence) -> float: ...
    def bits(self, axis: Any, listed: Sequence[Evidence], names: Sequence[str]) -> None: ...
    def detail(self, axis: Any, each: Evidence) -> None: ...


class _Marks:
    """Few classes: a colour and a mark for each."""

    bits_width, width, told = 3.0, 2.6, BARS
    legend = "Marks: the rarer the value, the smaller."

    def __init__(self, prior: Matrix, classes: Sequence[Label]) -> None:
        self._prior, self._classes = prior, classes
        self.bar = max(0.26, 0.13 * len(classes))
        self.above = 0.8 + 0.2 * len(classes)

    def height(self, each: Evidence) -> float:
        """Room for a panel, its title and the labels of its axis included."""
        least = 0.075 * len(self._classes) + 0.06
        return 0.75 + sum(max(least, height_of(_named(cell), SMALL) + 0.03) for cell in each.cells)

    def bits(self, axis: Any, listed: Sequence[Evidence], names: Sequence[str]) -> None:
        """Draw bars: the bits of each column about each class, grey if the column may tell nothing."""
        height = 0.8 / len(self._classes)
        ranges = [each.range_of_information(self._prior) for each in listed]
        for row, label in enumerate(self._classes):
            places = np.arange(len(listed)) + row * height
            bits = np.array([each.information(self._prior)[row] for each in listed])
            greyed = [each.has_noise and low[row] <= 0 for each, (low, _) in zip(listed, ranges, strict=True)]
            colours = [GREY if grey else COLOURS[row] for grey in greyed]
            axis.barh(places, bits, 0.92 * height, color=colours)
            axis.barh([0], [0], color=COLOURS[row], label=wrapped(label, 28))
            for place, each, (low, high) in zip(places, listed, ranges, strict=True):
                if each.has_noise:
                    axis.hlines(place, low[row], high[row], color=BAR, linewidth=1)
        axis.set_yticks(np.arange(len(listed)) + 0.4 - height / 2, names, fontsize=9)
        axis.set_ylim(len(listed) - 0.1, -0.5)
        axis.set_xlim(left=0)
        axis.locator_params(axis="x", nbins=5)
        axis.tick_params(axis="x", labelsize=8)
        axis.set_xlabel("evidence about a record\nof the class (bits)", fontsize=9)
        axis.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0, fontsize=9, frameon=False)

    def detail(self, axis: Any, each: Evidence) -> None:
        """Draw one column: how much each cell speaks for each class; the rarer the cell, the smaller its mark."""
        ratios, overall = each.log_ratios(self._prior), self._prior @ each.probabilities
        noise, places = each.within_noise(self._prior), np.arange(len(each.cells))
        low, high = _limits(each, ratios, noise)
        for row in range(len(self._classes)):
            shift = 0.0 if len(self._classes) == 1 else 0.44 * (row / (len(self._classes) - 1) - 0.5)
            colours = np.where(noise[row], GREY, COLOURS[row])
            if each.has_noise and each.margins is not None:
                ends = [np.maximum(2.0 ** ratios[row] + sign * each.margins[row], 2.0**-20) for sign in (-1, 1)]
                axis.hlines(places + shift, *np.clip(np.log2(ends), low, high), color=colours, linewidth=0.9)
            sizes = 5 + 30 * np.sqrt(overall / overall.max())
            shown = np.clip(ratios[row], low, high)
            axis.scatter(shown, places + shift, s=sizes, color=colours, marker=MARKERS[row], zorder=3, clip_on=False)
        axis.axvline(0, color="0.6", linewidth=0.8)
        axis.set_yticks(places, [_named(cell) for cell in each.cells], fontsize=SMALL)
        axis.set_ylim(len(places) - 0.5, -0.5)
        axis.set_xlim(low, high)
        _name_powers(axis, low, high)


def _limits(each: Evidence, ratios: Matrix, noise: NDArray[np.bool_]) -> tuple[float, float]:
    """Ends of the axis: they fit what is beyond the noise, and its bars."""
    clear = np.append(ratios[~noise], 0.0)
    reach = 0.0
    if each.margins is not None and (~noise).any():
        reach = float(np.log2(2.0**ratios + np.minimum(each.margins, 2.0**ratios))[~noise].max())
    low = max(-FARTHEST, min(-1.0, float(clear.min()) - 0.4))
    return low, min(FARTHEST, max(1.0, float(clear.max()) + 0.4, reach + 0.1))


def _name_powers(axis: Any, low: float, high: float, size: float = 7.5) -> None:
    """Label powers of two as what they mean: how many times as likely a value is in the class as overall."""
    step = max(1, math.ceil((high - low) / 5))
    powers = [power for power in range(math.ceil(low), math.floor(high) + 1) if power % step == 0]
    axis.set_xticks(powers, [_times(power) for power in powers], fontsize=size)
    axis.set_xlabel("times as likely as overall", fontsize=8)


def _times(power: int) -> str:
    """A power of two as a factor.

    >>> _times(2), _times(-1)
    ('4×', '1/2×')
    """
    return f"{2**power}×" if power >= 0 else f"1/{2**-power}×"


class _HeatMaps:
    """Many classes: a column for each; purple for less likely than overall, orange for more likely, grey for noise."""

    bar, told = 0.26, GREYED

    def __init__(self, prior: Matrix, classes: Sequence[Label], details: Sequence[Evidence]) -> None:
        self._prior, self._classes = prior, classes
        self.across = max(1.8, 0.2 * len(classes))
        self.bits_width = self.width = self.across + 0.9
        longest = max(width_of(wrapped(label, 22), SMALL) for label in classes)
        self._below = min(1.4, longest) + 0.5
        clear = np.concatenate([[0.0], *(each.log_ratios(prior)[~each.within_noise(prior)] for each in details)])
        self._least, self._most = max(-FARTHEST, min(-0.5, clear.min())), min(FARTHEST, max(0.5, clear.max()))
        self.legend, self.above = "", 1.1 + self._below

    def height(self, each: Evidence) -> float:
        """Room for a panel, its title and the names of the classes included."""
        rows = sum(max(0.17, height_of(_named(cell), SMALL) + 0.03) for cell in each.cells)
        return max(0.9, rows) + self._below + 0.3

    def bits(self, axis: Any, listed: Sequence[Evidence], names: Sequence[str]) -> None:
        """Draw the bits of each column about each class."""
        bits = np.array([each.information(self._prior) for each in listed])
        noise = [each.range_of_information(self._prior)[0] <= 0 if each.has_noise else bits[0] < -1 for each in listed]
        image = axis.imshow(
            np.ma.masked_array(bits, np.array(noise)),
            aspect="auto",
            cmap=_with_grey("viridis"),
            vmin=0,
            vmax=float(bits.max()) or 1.0,
        )
        axis.set_yticks(range(len(listed)), names, fontsize=9)
        name_across(axis, self._classes, self.across, SMALL)
        bar = axis.figure.colorbar(image, ax=axis, location="bottom", fraction=0.05)
        bar.set_label("evidence about a record of the class (bits)", size=8)
        bar.ax.tick_params(labelsize=7)
        bar.ax.locator_params(nbins=4)

    def detail(self, axis: Any, each: Evidence) -> None:
        """Draw one column: how much each cell speaks for each class."""
        ratios = np.ma.masked_array(each.log_ratios(self._prior).T, each.within_noise(self._prior).T)
        norm = _centred(self._least, self._most)
        image = axis.imshow(ratios, aspect="auto", cmap=_with_grey("PuOr_r"), norm=norm)
        axis.set_yticks(range(len(each.cells)), [_named(cell) for cell in each.cells], fontsize=SMALL)
        name_across(axis, self._classes, self.across, SMALL)
        powers = sorted({0, math.floor(self._most), math.ceil(self._least)})
        bar = axis.figure.colorbar(image, ax=axis, ticks=powers, fraction=0.06)
        bar.ax.set_yticklabels([_times(power) for power in powers], fontsize=7)
        bar.set_label("times as likely", size=7)


def _centred(least: float, most: float) -> Any:
    """Colours that fit the data on both sides of 0, which keeps the middle colour."""
    from matplotlib.colors import TwoSlopeNorm

    return TwoSlopeNorm(0.0, least, most)


def _with_grey(name: str) -> Any:
    """A colour map in which masked cells are grey."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(colours_of(name, np.linspace(0, 1, 256))).with_extremes(bad=GREY)
