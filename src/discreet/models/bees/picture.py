"""A picture of rules, one row per rule: its condition on each column, its precision and the records it covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.models.bees.rules import Between, Condition, Rule
from discreet.pictures.figure import colours_of, new_figure
from discreet.schema import Schema
from discreet.schema.columns import Categorical

MOST_COLUMNS = 12
"""Most columns of the schema that are drawn, those that most of the shown rules use: more do not fit on a page."""
TRACK = "0.88"
"""Grey of the line that stands for the range of a column."""
NAME_LENGTH = 16
"""Number of letters of a name that fit in the picture."""


def draw(rules: Sequence[Rule], in_all: int, schema: Schema, prior: NDArray[np.float64], title: str) -> Any:
    """Draw the rules with matplotlib; colours are classes, grey tracks are the public ranges of the columns."""
    columns, left_out = shown_columns(rules, schema)
    width, rows = max(1, len(columns)), max(1, len(rules))
    figure = new_figure(figsize=(4.2 + 1.05 * width, 1.9 + 0.34 * rows))
    tracks, precision, coverage = figure.subplots(1, 3, sharey=True, width_ratios=[width, 1.5, 1.5])
    colours = colours_of("viridis", np.linspace(0.0, 0.85, len(schema.classes)))
    _draw_tracks(tracks, rules, columns, schema, colours)
    _draw_fractions(precision, [rule.precision(len(prior)) for rule in rules], rules, colours, "precision")
    sizes = [rule.inside + rule.outside for rule in rules]
    _draw_counts(coverage, sizes, rules, colours)
    tracks.set_yticks(range(len(rules)), [_plain(schema.classes[rule.label]) for rule in rules])
    tracks.set_ylim(rows - 0.5, -0.6)
    notes = []
    if len(rules) < in_all:
        notes.append(f"{len(rules)} of {in_all} rules, those that cover most of their class")
    if left_out:
        notes.append(f"… conditions on {left_out} more columns not shown")
    figure.suptitle("\n".join([title.replace("$", r"\$"), *notes]), fontsize=10)
    return figure


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
    return words[:NAME_LENGTH]


def _draw_tracks(axis: Any, rules: Sequence[Rule], columns: Sequence[str], schema: Schema, colours: Any) -> None:
    """Draw a track for each rule and column, and on it the part that satisfies the rule."""
    margin, width = 0.08, 0.84
    for left in range(len(columns)):
        ends = left + margin, left + margin + width
        axis.hlines(range(len(rules)), *ends, color=TRACK, linewidth=1.2, zorder=1)
    for row, rule in enumerate(rules):
        asked = {condition.column: condition for condition in rule.conditions}
        for left, name in enumerate(columns):
            if name not in asked:
                continue
            first, last = place(asked[name], schema)
            start, length = left + margin + width * first, max(width * (last - first), 0.03)
            axis.barh(row, length, left=start, height=0.5, color=colours[rule.label], zorder=2)
            middle = min(max(start + length / 2, left + 0.25), left + 0.75)
            label = _plain(short(asked[name], schema))
            axis.text(middle, row - 0.28, label, ha="center", va="bottom", fontsize=5.5, color="0.3")
    names = [_ranged(name, schema) for name in columns]
    axis.set_xticks(np.arange(len(columns)) + 0.5, names, fontsize=7, rotation=30, ha="left")
    axis.xaxis.tick_top()
    axis.set_xlim(0, max(1, len(columns)))
    axis.tick_params(length=0)
    _unframed(axis)
    axis.set_ylabel(f"IF ... THEN {_plain(schema.target)} =")


def _ranged(name: str, schema: Schema) -> str:
    column = schema[name]
    if isinstance(column, Categorical):
        return _plain(name)
    return f"{_plain(name)}\n{column.lower:g} to {column.upper:g}"


def _plain(name: object) -> str:
    """The beginning of a name, with dollar signs escaped: matplotlib would read them as the start of a formula."""
    return str(name)[:NAME_LENGTH].replace("$", r"\$")


def _draw_fractions(axis: Any, fractions: Sequence[float], rules: Sequence[Rule], colours: Any, title: str) -> None:
    axis.barh(range(len(rules)), fractions, height=0.5, color=[colours[rule.label] for rule in rules])
    axis.set_xlim(0, 1)
    axis.set_xticks([0, 0.5, 1], ["0", "½", "1"], fontsize=7)
    axis.set_title(title, fontsize=8)
    axis.tick_params(length=0)
    for row, fraction in enumerate(fractions):
        axis.text(0.03, row, f"{fraction:.0%}", va="center", fontsize=6, color="white" if fraction > 0.4 else "0.2")
    _unframed(axis)


def _draw_counts(axis: Any, sizes: Sequence[int], rules: Sequence[Rule], colours: Any) -> None:
    """Draw the covered records: those of the class in its colour, all others in grey behind."""
    axis.barh(range(len(rules)), sizes, height=0.5, color="0.75")
    axis.barh(range(len(rules)), [rule.inside for rule in rules], height=0.5, color=[colours[r.label] for r in rules])
    axis.set_title("records covered\n(grey: other classes)", fontsize=8)
    axis.tick_params(length=0, labelsize=7)
    axis.set_xlim(0, max([1, *sizes]) * 1.05)
    _unframed(axis)


def _unframed(axis: Any) -> None:
    for side in ("top", "right", "bottom", "left"):
        axis.spines[side].set_visible(False)
