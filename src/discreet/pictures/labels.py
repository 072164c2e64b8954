"""Texts in pictures: broken into lines instead of cut, measured before they are placed, and never read as formulas."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from discreet.errors import MissingExtra

LONGEST = 200
"""A text with more letters than this is shortened in its middle: it would fill the picture. Nothing else is cut."""
LINE = 1.25
"""Height of a line of text, in multiples of the size of its letters."""
_PARTS = re.compile(r"\s+|(?:[^\s_\-/.,;]|[.,](?=\d))+[_\-/.,;]*|[_\-/.,;]+")
"""Parts of a text after which a line may end: words and spaces, but not the two halves of a number."""
POINTS = 72
"""Points per inch."""


def plain(text: object) -> str:
    r"""A text for matplotlib: dollar signs would begin a formula, and line breaks would change the layout.

    >>> plain("a\n$b")
    'a \\$b'
    """
    shown = "".join(letter if letter.isprintable() else " " for letter in str(text))
    if len(shown) > LONGEST:
        shown = f"{shown[: LONGEST // 2]} … {shown[-LONGEST // 2 :]}"
    return shown.replace("$", r"\$")


def wrapped(text: object, letters: int = 24) -> str:
    r"""The text in lines of at most this many letters: broken after spaces, hyphens and the like, else anywhere.

    >>> wrapped("marital_status = Married-civ-spouse", 20)
    'marital_status =\nMarried-civ-spouse'
    """
    lines, line = [], ""
    for part in _PARTS.findall(plain(text)):
        word = part
        while len(line + word.rstrip()) > letters:
            if line.strip():
                lines.append(line.strip())
                line, word = "", word.lstrip()
            else:  # one word that is longer than a line
                lines.append(word[:letters])
                line, word = "", word[letters:]
        line += word
    return "\n".join([*lines, line.strip()] if line.strip() or not lines else lines)


def lines_of(texts: Sequence[str]) -> int:
    """The most lines that one of the texts has."""
    return max((text.count("\n") + 1 for text in texts), default=1)


def height_of(text: str, size: float) -> float:
    """The height of a text, in inches."""
    return (text.count("\n") + 1) * LINE * size / POINTS


def width_of(text: str, size: float) -> float:
    """The width of a text in the usual letters, in inches."""
    return max(_width(line, size) for line in text.split("\n"))


@lru_cache(maxsize=4096)
def _width(line: str, size: float) -> float:
    try:
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path
    except ImportError:
        raise MissingExtra("plot") from None

    width, _, _ = text_to_path.get_text_width_height_descent(line, FontProperties(size=size), ismath=False)
    return float(width) / POINTS


def fitting(text: object, inches: float, size: float) -> str:
    """The text in as many lines as it takes to be no wider than this."""
    letters = max(4, int(inches * POINTS / (0.52 * size)))
    while letters > 4 and width_of(wrapped(text, letters), size) > inches:
        letters -= 1
    return wrapped(text, letters)


def title(figure: Any, text: object, size: float = 11) -> None:
    """Give the figure a title that is no wider than the figure."""
    figure.suptitle(fitting(text, 0.94 * figure.get_size_inches()[0], size), fontsize=size)


def caption(figure: Any, text: object, size: float = 8) -> None:
    """Say below the figure what its marks mean, in lines that are no wider than the figure."""
    figure.supxlabel(fitting(text, 0.94 * figure.get_size_inches()[0], size), fontsize=size, color="0.25")


def _standing(texts: Sequence[str], size: float) -> float:
    """Room that each of some texts takes from left to right when it stands upright, in inches."""
    return (lines_of(texts) * LINE + 0.1) * size / POINTS


def name_across(axis: Any, names: Sequence[object], inches: float, size: float = 8) -> None:
    """Name places 0, 1, … of a horizontal axis of this width: upright if the names are too wide to stand side by side.

    Where even upright names in one line would touch, only as many are shown as fit.
    """
    each = inches / max(1, len(names))
    shown = [plain(name) for name in names]
    upright = max(map(len, shown), default=0) > 3 and max(width_of(text, size) for text in shown) > 0.85 * each
    for letters in (22, 30, 44) if upright else ():
        folded = [wrapped(name, letters) for name in names]
        if _standing(folded, size) <= each:
            shown = folded
            break
    taken = _standing(shown, size) if upright else max((width_of(text, size) for text in shown), default=0.0)
    places = list(range(0, len(names), max(1, math.ceil(taken / each))))
    options = {"rotation": 90, "ha": "center", "va": "top"} if upright else {}
    axis.set_xticks(places, [shown[place] for place in places], fontsize=size, **options)
