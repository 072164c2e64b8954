"""What a stage of an audit finds, and what it tried."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from discreet.audit.neighbours import Pair


@dataclass(frozen=True)
class Finding:
    """A loss above the claim, shown on a pair of neighbours.

    Attributes
    ----------
    stage : name of the stage that found it.
    epsilon : the loss is at least this. Infinity is for what is certain without samples, such as a forgotten account.
    confidence : the probability that all findings of the audit together are right.
    event : what is seen on one table and hardly on the other, in words.
    pair : the neighbours; None if the finding is not about a pair.
    repeat : a script that repeats the finding without discreet; empty if there is none.
    refusal : whether the event is that the target raises or ends on one of the tables.
    counts : how often the event was seen: (times, runs) on the first table, and on the second.
    about : "fit" for the loss of one run, "account" for an account of many that forgets.
    pictured : values of the number that the event is about, on both tables; for the picture.
    """

    stage: str
    epsilon: float
    confidence: float
    event: str
    pair: Pair | None
    repeat: str = ""
    counts: tuple[tuple[int, int], tuple[int, int]] | None = None
    refusal: bool = False
    about: str = "fit"
    pictured: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class StageResult:
    """What a stage tried, how long it took, and what it found; remarks are no evidence against the claim.

    `bound` is the largest loss that its tests showed, whether above the claim or not: how close the attack came.
    """

    name: str
    seconds: float
    tried: list[str]
    findings: list[Finding]
    remarks: list[str] = field(default_factory=list)
    bound: float = 0.0
