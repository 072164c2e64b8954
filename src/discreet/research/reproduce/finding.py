"""A statement of a paper beside what we found."""

from __future__ import annotations

from typing import NamedTuple

from discreet.research.papers.reproduction import Reproduction
from discreet.research.report import ReportTable


class Finding(NamedTuple):
    """A statement and what we measured of it; `agrees` is None if the runs that decide are missing."""

    statement: str
    measured: str
    agrees: bool | None

    @property
    def row(self) -> list[str]:
        """The cells of a table."""
        verdict = {None: "not measured", True: "agrees", False: "does not agree"}[self.agrees]
        return [self.statement, self.measured, verdict]


def claim_table(paper: str, algorithm: type[Reproduction], origin: str) -> ReportTable:
    """The guarantee that a paper claims, and our verdict."""
    rows = [["claim", algorithm.claim], ["verdict", algorithm.verdict], ["in short", algorithm.reason]]
    return ReportTable("The guarantee", ["", paper], rows, origin)
