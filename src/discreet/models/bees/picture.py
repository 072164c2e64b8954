"""A picture of rules, one row per rule: its condition on each column, its precision and the records it covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.models.bees.rules import Between, Condition, Rule
from discreet.pictures.figure import class_colours, ink_on, new_figure
from discreet.pictures.labels import caption, fitting, height_of, width_of, wrapped
from discreet.schema import Schema
from discreet.schema.columns import Categorical

MOST_COLUMNS = 12
"""Most columns of the schema that are drawn, those that most of the shown rules use: more do not fit on a page."""
TRACK = "0.88"
"""Grey of the line that stands for the range of a column."""
LETTERS = 14
"""Letters on a line of a name or a condition; longer ones take more lines."""
SIZE = 6.5
"""Size of the letters of conditions, in points."""
LEAST_WIDTH = 0.85
"""Least width of a column, in inches."""
BAR = 0.15
"""Height of a bar, in inches."""


def draw(rules: Sequence[Rule], in_all: int, schema: Schema, prior: NDArray[np.float64], title: str) -> Any:
    """Draw the rules with matplotlib; colours are classes, grey tracks are the public ranges of the columns."""
    columns, left_out = shown_columns(rules, schema)
    widths = [_width(name, rules, schema) for name in columns] or [LEAST_WIDTH]
    names = [wrapped(schema.classes[rule.label], 24) for rule in rules]
    rows = _rows(rules, names, schema)
    beside = max((width_of(name, 9) for name in names), default=0.0)
    heads = max((height_of(_ranged(name, schema), 7.5) for name in columns), default=0.0)
    figure = new_figure(figsize=(beside + sum(widths) + 4.0, 1.9 + heads + rows[-1]))
    tracks, precision, coverage = figure.subplots(1, 3, sharey=True, width_ratios=[sum(widths), 1.4, 1.4])
    colours, places = class_colours(len(schema.classes)), [end - BAR for end in rows[1:]]
    _draw_tracks(tracks, rules, places, dict(zip(columns, widths, strict=False)), schema, colours)
    _draw_fractions(precision, [rule.precision(len(prior)) for rule in rules], rules, places, colours)
    sizes = [rule.inside + rule.outside for rule in rules]
    _draw_counts(coverage, sizes, rules, places, colours)
    tracks.set_yticks(places, names, fontsize=9)
    tracks.set_ylim(rows[-1] + 0.05, 0)
    _label(figure, [title, *_notes(len(rules), in_all, left_out)])
    return figure


def _label(figure: Any, lines: Sequence[str]) -> None:
    wide = 0.95 * figure.get_size_inches()[0]
    figure.suptitle("\n".join(fitting(line, wide, 10) for line in lines), fontsize=10)
    caption(
        figure, "Grey lines: the public range of a column, or its categories side by side. Bars: what a rule asks for."
    )


def _notes(shown: int, in_all: int, left_out: int) -> list[str]:
    notes = []
    if shown < in_all:
        notes.append(f"{shown} of {in_all} rules, those that cover most of their class")
    if left_out:
        notes.append(f"… conditions on {left_out} more columns not shown")
    return notes


def _width(name: str, rules: Sequence[Rule], schema: Schema) -> float:
    """Width of a column, in inches: none of its texts touches those of the next."""
    texts = [wrapped(short(each, schema), LETTERS) for rule in rules for each in rule.conditions if each.column == name]
    widest = max([width_of(text, SIZE) for text in texts], default=0.0)
    return max(LEAST_WIDTH, widest + 0.16, width_of(_ranged(name, schema), 7.5) + 0.16)


def _rows(rules: Sequence[Rule], names: Sequence[str], schema: Schema) -> list[float]:
    """Where each row ends, in inches from the top: texts stand above their bars."""
    ends = [0.0]
    for rule, name in zip(rules, names, strict=True):
        texts = [height_of(wrapped(short(each, schema), LETTERS), SIZE) for each in rule.conditions]
        ends.append(ends[-1] + max(0.12 + BAR + max(texts, default=0.0), height_of(name, 9) + 0.04))
    return ends if rules else [0.0, 0.5]


def shown_columns(rules: Sequence[Rule], schema: Schema) -> tuple[list[str], int]:
    """The columns that most rules use, in the order of the schema, and how many other columns are used."""
    uses = Counter(condition.column for rule in rules for condition in rule.conditions)
    chosen = {name for name, _ in uses.most_common(MOST_COLUMNS)}
    return [name for name in schema.names if name in chosen], len(uses) - len(chosen)


def place(condition: Condition, schema: Schema) -> tuple[float, float]:
    """The part of a column's range that satisfies a condition, from 0 to 1; all categories have equal parts.

    >>> from discreet import Numeric
    >>> place(Between("x", 2.0, 5.0), Schema([Numeric("x", 0, 10)], "y", ["a", "b"]))
    (0.2, 0.5)
    """
    column = schema[condition.column]
    if isinstance(condition, Between) and not isinstance(column, Categorical):
        lower, width = float(column.lower), float(column.upper) - float(column.lower)
        ends = np.clip([(condition.lower - lower) / width, (condition.upper - lower) / width], 0.0, 1.0)
        return float(ends[0]), float(ends[1])
    assert isinstance(column, Categorical)
    assert not isinstance(condition, Between)
    return condition.code / column.size, (condition.code + 1) / column.size


def short(condition: Condition, schema: Schema) -> str:
    """A condition as a short text.

    >>> from discreet import Numeric
    >>> short(Between("x", 0.0, 2.5), Schema([Numeric("x", 0, 10)], "y", ["a", "b"]))
    '≤ 2.5'
    """
    words = condition.text(schema).removeprefix(condition.column).strip()
    for long, brief in (("at most ", "≤ "), ("at least ", "≥ "), ("between ", ""), (" and ", " – "), ("= ", "")):
        words = words.replace(long, brief, 1)
    return words


def _draw_tracks(
    axis: Any,
    rules: Sequence[Rule],
    places: Sequence[float],
    widths: Mapping[str, float],
    schema: Schema,
    colours: Sequence[Any],
) -> None:
    """Draw a track for each rule and column, and on it the part that satisfies the rule."""
    left, middles = 0.0, []
    for name, width in widths.items():
        start, long = left + 0.06, width - 0.12
        axis.hlines(places[: len(rules)], start, start + long, color=TRACK, linewidth=1.2, zorder=1)
        for row, rule in zip(places, rules, strict=False):
            for condition in rule.conditions:
                if condition.column == name:
                    first, last = place(condition, schema)
                    bar = start + long * first, max(long * (last - first), 0.03)
                    axis.barh(row, bar[1], left=bar[0], height=BAR, color=colours[rule.label], zorder=2)
                    text = wrapped(short(condition, schema), LETTERS)
                    half = width_of(text, SIZE) / 2
                    middle = min(max(bar[0] + bar[1] / 2, left + half + 0.05), left + width - half - 0.05)
                    above = row - BAR / 2 - 0.01
                    axis.text(middle, above, text, ha="center", va="bottom", fontsize=SIZE, color="0.25", linespacing=1)
        middles.append(left + width / 2)
        left += width
    axis.set_xticks(middles, [_ranged(name, schema) for name in widths], fontsize=7.5)
    axis.xaxis.tick_top()
    axis.set_xlim(0, max(left, LEAST_WIDTH))
    axis.tick_params(length=0)
    _unframed(axis)
    axis.set_ylabel(fitting(f"IF … THEN {schema.target} =", 1.6, 9), fontsize=9)


def _ranged(name: str, schema: Schema) -> str:
    column = schema[name]
    if isinstance(column, Categorical):
        return wrapped(name, LETTERS)
    return f"{wrapped(name, LETTERS)}\n{column.lower:g} to {column.upper:g}"


def _draw_fractions(
    axis: Any, fractions: Sequence[float], rules: Sequence[Rule], places: Sequence[float], colours: Sequence[Any]
) -> None:
    places = places[: len(rules)]
    axis.barh(places, fractions, height=BAR, color=[colours[rule.label] for rule in rules])
    axis.set_xlim(0, 1)
    axis.set_xticks([0, 0.5, 1], ["0", "½", "1"], fontsize=7)
    axis.set_title("precision", fontsize=8)
    axis.tick_params(length=0)
    for row, fraction, rule in zip(places, fractions, rules, strict=True):
        ink = ink_on(colours[rule.label]) if fraction > 0.4 else "0.2"
        start = 0.03 if fraction > 0.4 else fraction + 0.03
        axis.text(start, row, f"{fraction:.0%}", va="center", fontsize=6.5, color=ink)
    _unframed(axis)


def _draw_counts(
    axis: Any, sizes: Sequence[int], rules: Sequence[Rule], places: Sequence[float], colours: Sequence[Any]
) -> None:
    """Draw the covered records: those of the class in its colour, all others in grey behind."""
    places = places[: len(rules)]
    axis.barh(places, sizes, height=BAR, color="0.75")
    axis.barh(places, [rule.inside for rule in rules], height=BAR, color=[colours[r.label] for r in rules])
    axis.set_title("records covered\n(grey: other classes)", fontsize=8)
    axis.tick_params(length=0, labelsize=7)
    axis.set_xlim(0, max([1, *sizes]) * 1.05)
    axis.locator_params(axis="x", nbins=3)
    _unframed(axis)


def _unframed(axis: Any) -> None:
    for side in ("top", "right", "bottom", "left"):
        axis.spines[side].set_visible(False)
