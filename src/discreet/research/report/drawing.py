"""Figures as bytes; equal figures give equal bytes."""

from __future__ import annotations

import copy
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from discreet.research.report.document import Picture

RESOLUTION = 200
"""Dots per inch of the PNG: sharp on dense screens and in print."""


class Drawing(NamedTuple):
    """A figure in both formats, and its size in CSS pixels (96 per inch)."""

    svg: bytes
    png: bytes
    width: int
    height: int


def draw(figure: Any) -> Drawing:
    """Draw a matplotlib figure; the same figure always gives the same bytes."""
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return Drawing(
        _saved(figure, format="svg", metadata={"Date": None, "Creator": None}),
        _saved(figure, format="png", metadata={"Software": None}, dpi=RESOLUTION),
        width,
        height,
    )


def draw_all(pictures: Sequence[Picture]) -> dict[str, Drawing]:
    """The drawings by the names of the pictures."""
    return {picture.name: draw(picture.figure) for picture in pictures}


def _saved(figure: Any, **options: Any) -> bytes:
    """Draw a copy, because drawing moves the parts of a constrained layout and a second drawing would look different.

    Letters become paths, because a reader's machine may lack the font. A fixed salt makes identifiers repeatable.
    """
    from matplotlib import rc_context

    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "path"}):
        copy.deepcopy(figure).savefig(file, facecolor="white", **options)
    return file.getvalue()
