"""The numbers that the papers print, copied from their tables."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple


class Printed(NamedTuple):
    """One number of a table or figure of a paper.

    place : where it is printed, such as "Table 2".
    data : our name of the data set; empty for an average over data sets.
    model : the paper's name of the row or column.
    epsilon : a text; "inf" without privacy, empty if it does not apply.
    value : the printed number; percentages are divided by 100.
    deviation : the deviation printed beside it; None if there is none.
    """

    place: str
    data: str
    model: str
    epsilon: str
    value: float
    deviation: float | None


@lru_cache
def printed(paper: str, place: str | None = None) -> tuple[Printed, ...]:
    """All copied numbers of a paper, or those of one of its tables."""
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
