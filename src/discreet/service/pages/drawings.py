"""Pictures that the server draws as SVG: what is left of a budget, and counts with their uncertainty.

Each is one `<svg role="img">` with a title and a description that say in words what it shows. Colours come from the
style sheet, so that a picture follows light and dark; what is reserved is hatched too, for people who cannot tell
the colours apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from markupsafe import Markup, escape

from discreet.privacy.epsilon import shown_above, shown_below

_ids = count(1)

WIDTH = 720
"""Of every picture in its own units; the style sheet fits it into the page."""
MOST_BARS = 40
"""More counts than this are shown as a table alone: bars that nobody can tell apart say nothing."""


@dataclass(frozen=True)
class Bar:
    """One noisy count with the interval that holds the exact one in 95 of 100 answers."""

    label: str
    value: float
    lower: float
    upper: float


def budget(name: str, limit: Fraction, reserved: Fraction, spent: Fraction) -> Markup:
    """How much of an account is spent, reserved and left, as one bar."""
    left = limit - reserved - spent
    title = f"Budget of {name}"
    words = (
        f"ε {shown_above(spent)} of {shown_below(limit)} spent, {shown_above(reserved)} reserved, "
        f"{shown_below(left)} left."
    )
    whole = float(limit) or 1.0
    first, second = WIDTH * float(spent) / whole, WIDTH * float(reserved) / whole
    shapes = [
        _rect("free", 0, 0, WIDTH, 26),
        _rect("spent", 0, 0, first, 26),
        _rect("reserved", first, 0, second, 26),
        *_hatching(first, first + second, 26),
    ]
    return _picture(title, words, 26, shapes, " bar", "none")


def counts(title: str, bars: Sequence[Bar]) -> Markup | None:
    """Horizontal bars with error bars; None where there are too many to be read."""
    if not 1 <= len(bars) <= MOST_BARS:
        return None
    low, high = min(0.0, *(bar.lower for bar in bars)), max(1.0, *(bar.upper for bar in bars))
    left, right, step = 200, WIDTH - 70, 28

    def place(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    shapes = [_line("axis", place(0), 0, place(0), step * len(bars))]
    for index, bar in enumerate(bars):
        top = step * index + 4
        start, end = sorted((place(0), place(bar.value)))
        middle = top + 10
        shapes += [
            _text(bar.label[:26], left - 8, middle + 5, "end"),
            _rect("spent", start, top, end - start, 20),
            _line("error", place(bar.lower), middle, place(bar.upper), middle),
            _line("error", place(bar.lower), middle - 5, place(bar.lower), middle + 5),
            _line("error", place(bar.upper), middle - 5, place(bar.upper), middle + 5),
            _text(f"{bar.value:,.0f}", WIDTH - 4, middle + 5, "end"),
        ]
    words = f"{len(bars)} noisy counts; the lines show where the exact count lies in 95 of 100 answers."
    return _picture(title, words, step * len(bars), shapes, " chart")


def _picture(title: str, words: str, height: int, shapes: Sequence[Markup], kind: str, fit: str = "xMidYMid") -> Markup:
    number = next(_ids)
    body = Markup("").join(shapes)
    return Markup(
        '<svg class="picture{6}" role="img" viewBox="0 0 {0} {1}" preserveAspectRatio="{7}" '
        'aria-labelledby="picture-{2} words-{2}">'
        '<title id="picture-{2}">{3}</title><desc id="words-{2}">{4}</desc>{5}</svg>'
    ).format(WIDTH, height, number, title, words, body, kind, fit)


def _hatching(start: float, end: float, height: int) -> list[Markup]:
    return [
        _line("hatch", place, height, min(place + height / 2, end), 0)
        for place in range(int(start) + 4, max(int(start) + 4, int(end) - 4), 12)
    ]


def _rect(kind: str, x: float, y: float, width: float, height: float) -> Markup:
    box = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}"'
    return Markup(f'<rect class="{kind}" {box} rx="3"/>')


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')


def _text(words: str, x: float, y: float, anchor: str) -> Markup:
    return (
        Markup(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="15">')
        + escape(words)
        + Markup("</text>")
    )
