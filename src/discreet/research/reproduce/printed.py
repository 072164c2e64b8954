"""The figures that the papers print, typed in from their tables."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple


class Printed(NamedTuple):
    """One number of a table or figure of a paper.

    place : such as "Table 2".
    data : the data set by our name; empty for an average over data sets.
    model : as the paper names the row or column.
    epsilon : as text, "inf" without privacy, empty where it does not apply.
    value : as printed, a share where the paper prints per cent.
    deviation : as printed beside it; None if there is none.
    """

    place: str
    data: str
    model: str
    epsilon: str
    value: float
    deviation: float | None


@lru_cache
def printed(paper: str, place: str | None = None) -> tuple[Printed, ...]:
    """All numbers typed in for a paper, or those of one of its tables."""
    text = files("discreet.research.reproduce").joinpath(f"figures/{paper}.csv").read_text(encoding="utf-8")
    rows = [
        Printed(
            row["place"],
            row["data"],
            row["model"],
            row["epsilon"],
            float(row["value"]),
            float(row["deviation"]) if row["deviation"] else None,
        )
        for row in csv.DictReader(text.splitlines())
    ]
    return tuple(row for row in rows if place in (None, row.place))
