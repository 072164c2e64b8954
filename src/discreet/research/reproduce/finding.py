"""A statement of a paper, and what our runs say of it."""

from __future__ import annotations

from typing import NamedTuple


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
