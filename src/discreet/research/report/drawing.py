"""Figures as bytes that depend on the figure alone."""

from __future__ import annotations

import copy
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from discreet.research.report.document import Picture

RESOLUTION = 200
"""Dots per inch of the PNG: sharp on dense screens, and in print at the usual width of a column."""


class Drawing(NamedTuple):
    """A figure in both formats, and its size in the pixels of a style sheet (96 an inch)."""

    svg: bytes
    png: bytes
    width: int
    height: int


def draw(figure: Any) -> Drawing:
    """Draw a matplotlib figure; the same figure gives the same bytes, today and tomorrow."""
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
    """Drawing moves what a constrained layout arranges, so that a second time would look different: copies are drawn.

    Letters become paths, for a reader's machine may lack the font; identifiers are salted, else they are random.
    """
    from matplotlib import rc_context

    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "path"}):
        copy.deepcopy(figure).savefig(file, facecolor="white", **options)
    return file.getvalue()
