"""What a stage of an audit is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from discreet.audit.findings import Finding, StageResult

if TYPE_CHECKING:
    from discreet.audit.session import Session

__all__ = ["Finding", "Stage", "StageResult"]


class Stage(Protocol):
    """A way to attack a claim. Its false alarms together have at most the probability `session.risk`."""

    name: str

    def run(self, session: Session) -> StageResult:
        """Attack; stop in time (`session.left()`)."""
