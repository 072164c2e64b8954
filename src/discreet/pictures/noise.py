"""How noise is shown in all pictures: bars that hold 95 % of it, and grey for what may be noise alone."""

from __future__ import annotations

GREY = "#A8A8A8"
"""What lies within the noise."""
BAR = "#404040"
"""The bars that show the noise."""

BARS = "Bars: 95 % of the noise. Grey: within the noise, so it may mean nothing."
GREYED = "Grey: within 95 % of the noise, so it may mean nothing."
NO_NOISE = "Without noise: these are the exact figures of the training records."
UNKNOWN = "The size of the noise is not known here, so it is not shown."
