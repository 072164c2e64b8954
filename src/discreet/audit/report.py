"""The report of an audit: a verdict in one sentence, what shows it, and what was tried."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from discreet.audit.findings import Finding, StageResult
from discreet.audit.neighbours import shown
from discreet.audit.session import Claim
from discreet.schema import Adjacency

LOW_BITS = "low bits"
"""The stage whose findings rest on how floats are stored, which a proof in real numbers does not see."""
MEANS = {
    Adjacency.ADD_REMOVE: "one record added or removed",
    Adjacency.REPLACE_ONE: "one record replaced",
}


@dataclass(frozen=True)
class Report:
    """What an audit found, or what it tried in vain.

    Attributes
    ----------
    target : name of what was audited.
    claim, adjacency, confidence : what was claimed, for which neighbours, and how sure the bounds are.
    stages : per stage its time, what it tried and what it found.
    seconds, runs : what the audit took.
    versions : of the target and its environment.
    parameters : what the target was made or called with.
    settings : what else decides what an audit does: the schema, how tables arrive, limits, the seed of the search.
    lost : runs without an answer and how they ended, and tables that were not asked again, in words.
    date : when the audit ended, in UTC.

    Examples
    --------
    >>> from discreet.audit import audit
    >>> report = audit(lambda X, y: len(y), claim=1, most_runs=2000)  # an exact count, without any noise
    >>> report.refuted, report.epsilon > 1
    (True, True)
    """

    target: str
    claim: Claim
    adjacency: Adjacency
    confidence: float
    stages: list[StageResult]
    seconds: float
    runs: int
    versions: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def findings(self) -> list[Finding]:
        """All findings: values within the schema first, refusals of a table and accounts later, then the largest."""
        found = [finding for stage in self.stages for finding in stage.findings]
        return sorted(found, key=_order)

    @property
    def refuted(self) -> bool:
        """Whether the claim was refuted. If it was not, that proves nothing."""
        return bool(self.findings)

    @property
    def epsilon(self) -> float:
        """The loss is at least this, with the stated confidence; 0 if nothing was found."""
        return self.findings[0].epsilon if self.findings else 0.0

    @property
    def bound(self) -> float:
        """The largest loss that any test showed, above the claim or not, with the stated confidence."""
        return max([self.epsilon, *(stage.bound for stage in self.stages)])

    def verdict(self) -> str:
        """One sentence."""
        neighbours = MEANS[self.adjacency]
        if not self.findings:
            return (
                f"nothing found against the claim of {self.claim} ({neighbours}) in {self.runs} runs; the loss that "
                f"their tests show, {floored(self.bound)} or more, is within the claim; that does not mean that it is "
                "true"
            )
        best = self.findings[0]
        if best.about == "account":
            return f"refuted for more than one fit: {best.event}; nothing found against one fit of {self.claim}"
        outside = "" if best.pair is None or best.pair.within else ", on values outside the schema"
        outside += ", by refusing a table" if best.refusal else ""
        outside += ", by the lowest bits of floats alone" if best.stage == LOW_BITS else ""
        loss = "without bound" if math.isinf(best.epsilon) else f"≥ {floored(best.epsilon)}"
        given = f" at δ = {self.claim.delta:g}" if self.claim.delta else ""
        return (
            f"refuted: ε {loss}{given} with confidence {self.confidence:g} for a claim of {self.claim} "
            f"({neighbours}){outside}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data that JSON can carry: infinities and what is no number are texts."""
        content = {
            "verdict": self.verdict(),
            "refuted": self.refuted,
            "epsilon": self.epsilon,
            "bound": self.bound,
            "target": self.target,
            "parameters": self.parameters,
            "versions": self.versions,
            "claim": {"epsilon": self.claim.epsilon, "delta": self.claim.delta},
            "adjacency": self.adjacency.value,
            "confidence": self.confidence,
            "settings": self.settings,
            "seconds": round(self.seconds, 3),
            "runs": self.runs,
            "date": self.date,
            "lost": self.lost,
            "findings": [_finding(each) for each in self.findings],
            "stages": [
                {
                    "name": each.name,
                    "seconds": round(each.seconds, 3),
                    "tried": each.tried,
                    "remarks": each.remarks,
                    "findings": len(each.findings),
                    "bound": each.bound,
                }
                for each in self.stages
            ],
        }
        plain: dict[str, Any] = _plain(content)
        return plain


def _order(finding: Finding) -> tuple[bool, bool, bool, float]:
    outside = finding.pair is not None and not finding.pair.within
    return finding.about == "account", outside, finding.refusal, -finding.epsilon


def floored(epsilon: float) -> str:
    """A lower bound for people: two decimals, never above the true one.

    >>> floored(4.889)
    '4.88'
    """
    return f"{math.floor(epsilon * 100) / 100:.2f}"


def _plain(value: Any) -> Any:
    """What JSON can carry of any value: "inf" and "nan" are texts, and so is what has no other form."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    return value if value is None or isinstance(value, str | bool | int) else repr(value)


def _finding(finding: Finding) -> dict[str, Any]:
    pair = finding.pair
    return {
        "stage": finding.stage,
        "about": finding.about,
        "epsilon": finding.epsilon,
        "confidence": finding.confidence,
        "event": finding.event,
        "counts": finding.counts,
        "pair": pair
        and {"words": pair.words, "within": pair.within, **dict(zip(("first", "second"), shown(pair), strict=True))},
        "refusal": finding.refusal,
        "repeat": finding.repeat,
    }
