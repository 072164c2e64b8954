"""A picture of rules, a row each: what a rule asks for of every attribute, how precise it is and how much it covers."""

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

MOST_ATTRIBUTES = 12
"""Attributes that have a column of their own: those that most of the shown rules use."""
TRACK = "0.88"
NAME_LENGTH = 16


def draw(rules: Sequence[Rule], in_all: int, schema: Schema, prior: NDArray[np.float64], title: str) -> Any:
    """A matplotlib figure; colours are classes, grey tracks are the public range of an attribute."""
    attributes, left_out = shown_attributes(rules, schema)
    columns, rows = max(1, len(attributes)), max(1, len(rules))
    figure = new_figure(figsize=(4.2 + 1.05 * columns, 1.9 + 0.34 * rows))
    tracks, precision, coverage = figure.subplots(1, 3, sharey=True, width_ratios=[columns, 1.5, 1.5])
    colours = colours_of("viridis", np.linspace(0.0, 0.85, len(schema.classes)))
    _draw_tracks(tracks, rules, attributes, schema, colours)
    _draw_shares(precision, [rule.precision(len(prior)) for rule in rules], rules, colours, "precision")
    sizes = [rule.inside + rule.outside for rule in rules]
    _draw_counts(coverage, sizes, rules, colours)
    tracks.set_yticks(range(len(rules)), [_plain(schema.classes[rule.label]) for rule in rules])
    tracks.set_ylim(rows - 0.5, -0.6)
    notes = []
    if len(rules) < in_all:
        notes.append(f"{len(rules)} of {in_all} rules, those that cover most of their class")
    if left_out:
        notes.append(f"… conditions on {left_out} more attributes not shown")
    figure.suptitle("\n".join([title.replace("$", r"\$"), *notes]), fontsize=10)
    return figure


def shown_attributes(rules: Sequence[Rule], schema: Schema) -> tuple[list[str], int]:
    """The attributes that most rules use, in the schema's order, and how many others are used."""
    uses = Counter(condition.column for rule in rules for condition in rule.conditions)
    chosen = {name for name, _ in uses.most_common(MOST_ATTRIBUTES)}
    return [name for name in schema.names if name in chosen], len(uses) - len(chosen)


def place(condition: Condition, schema: Schema) -> tuple[float, float]:
    """The part of an attribute's range that a condition asks for, from 0 to 1; a category has an equal share.

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
    """A condition in a few letters.

    >>> from discreet import Numeric
    >>> short(Between("x", 0.0, 2.5), Schema([Numeric("x", 0, 10)], "y", ["a", "b"]))
    '≤ 2.5'
    """
    words = condition.text(schema).removeprefix(condition.column).strip()
    for long, brief in (("at most ", "≤ "), ("at least ", "≥ "), ("between ", ""), (" and ", " – "), ("= ", "")):
        words = words.replace(long, brief, 1)
    return words[:NAME_LENGTH]


def _draw_tracks(axis: Any, rules: Sequence[Rule], attributes: Sequence[str], schema: Schema, colours: Any) -> None:
    """For each rule and attribute a track, and on it what the rule asks for."""
    margin, width = 0.08, 0.84
    for column in range(len(attributes)):
        ends = column + margin, column + margin + width
        axis.hlines(range(len(rules)), *ends, color=TRACK, linewidth=1.2, zorder=1)
    for row, rule in enumerate(rules):
        asked = {condition.column: condition for condition in rule.conditions}
        for column, name in enumerate(attributes):
            if name not in asked:
                continue
            first, last = place(asked[name], schema)
            start, length = column + margin + width * first, max(width * (last - first), 0.03)
            axis.barh(row, length, left=start, height=0.5, color=colours[rule.label], zorder=2)
            middle = min(max(start + length / 2, column + 0.25), column + 0.75)
            label = _plain(short(asked[name], schema))
            axis.text(middle, row - 0.28, label, ha="center", va="bottom", fontsize=5.5, color="0.3")
    names = [_ranged(name, schema) for name in attributes]
    axis.set_xticks(np.arange(len(attributes)) + 0.5, names, fontsize=7, rotation=30, ha="left")
    axis.xaxis.tick_top()
    axis.set_xlim(0, max(1, len(attributes)))
    axis.tick_params(length=0)
    _unframed(axis)
    axis.set_ylabel(f"IF ... THEN {_plain(schema.target)} =")


def _ranged(name: str, schema: Schema) -> str:
    column = schema[name]
    if isinstance(column, Categorical):
        return _plain(name)
    return f"{_plain(name)}\n{column.lower:g} to {column.upper:g}"


def _plain(name: object) -> str:
    """The beginning of a name, which may hold any character: a dollar would start a formula."""
    return str(name)[:NAME_LENGTH].replace("$", r"\$")


def _draw_shares(axis: Any, shares: Sequence[float], rules: Sequence[Rule], colours: Any, title: str) -> None:
    axis.barh(range(len(rules)), shares, height=0.5, color=[colours[rule.label] for rule in rules])
    axis.set_xlim(0, 1)
    axis.set_xticks([0, 0.5, 1], ["0", "½", "1"], fontsize=7)
    axis.set_title(title, fontsize=8)
    axis.tick_params(length=0)
    for row, share in enumerate(shares):
        axis.text(0.03, row, f"{share:.0%}", va="center", fontsize=6, color="white" if share > 0.4 else "0.2")
    _unframed(axis)


def _draw_counts(axis: Any, sizes: Sequence[int], rules: Sequence[Rule], colours: Any) -> None:
    """Covered records: those of the class in its colour, the others in grey behind."""
    axis.barh(range(len(rules)), sizes, height=0.5, color="0.75")
    axis.barh(range(len(rules)), [rule.inside for rule in rules], height=0.5, color=[colours[r.label] for r in rules])
    axis.set_title("records covered\n(grey: other classes)", fontsize=8)
    axis.tick_params(length=0, labelsize=7)
    axis.set_xlim(0, max([1, *sizes]) * 1.05)
    _unframed(axis)


def _unframed(axis: Any) -> None:
    for side in ("top", "right", "bottom", "left"):
        axis.spines[side].set_visible(False)
