"""Figures by matplotlib, which is an extra; and the colours, markers and dashes of all pictures."""

from __future__ import annotations

from typing import Any

from discreet.errors import MissingExtra

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, which colour-blind people can tell apart; markers and dashes differ too, for print."""

MARKERS, DASHES = "osD^vPX", ("-", "--", "-.", ":")


def new_figure(**options: Any) -> Any:
    """An empty matplotlib figure; MissingExtra if matplotlib is not installed."""
    try:
        import matplotlib.figure
    except ImportError:
        raise MissingExtra("plot") from None
    return matplotlib.figure.Figure(**{"layout": "constrained", **options})


def class_colours(number: int) -> list[Any]:
    """One colour per class: colours that everybody can tell apart, or shades if there are too many classes."""
    return list(COLOURS[:number]) if number <= len(COLOURS) else list(colours_of("viridis", _even(number)))


def ink_on(colour: Any) -> str:
    """Black or white, whichever can be read on this colour."""
    try:
        from matplotlib.colors import to_rgb
    except ImportError:
        raise MissingExtra("plot") from None
    return "black" if sum(a * b for a, b in zip(to_rgb(colour), (0.299, 0.587, 0.114), strict=True)) >= 0.5 else "white"


def _even(number: int) -> list[float]:
    return [0.95 * place / (number - 1) for place in range(number)]


def colours_of(name: str, places: Any) -> Any:
    """The colours of a matplotlib colour map at these places between 0 and 1."""
    try:
        from matplotlib import colormaps
    except ImportError:
        raise MissingExtra("plot") from None
    return colormaps[name](places)
