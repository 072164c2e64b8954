"""Stage *replay*: what enters the noise on two neighbours, where the samplers are known.

The samplers of discreet, diffprivlib, OpenDP and numpy are watched in the target's process (`inside/samplers.py`). The
sum of the losses by the law of the noise says how much the noise itself allows on a pair. That alone is no evidence:
noisy answers may not be published. So suspicious pairs are run many times, and only what these runs show is a finding.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.audit import workers
from discreet.audit.bounds import enough_runs
from discreet.audit.choosing import choose
from discreet.audit.findings import Finding, StageResult
from discreet.audit.fresh import confirmed
from discreet.audit.inside import samplers as inside
from discreet.audit.neighbours import Pair
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.audit.session import Session

TESTED = 4
"""The most pairs that are tested on fresh runs; the risk is divided among them."""
LOOKED = 1000
"""Runs per table that choose the event of a suspicious pair."""
LOOKING, TESTING = 0.1, 0.15
"""Shares of the time that is left for replaying pairs, and for confirming what each of the best suggests."""


@dataclass(frozen=True)
class Suspicion:
    """What the replay of a pair suggests."""

    pair: Pair
    epsilon: float
    words: str


class Replay:
    """Replays all pairs once, then tries to confirm the largest losses."""

    name = "replay"

    def run(self, session: Session) -> StageResult:
        """Replay, rank, confirm."""
        began = time.monotonic()
        suspicions, replayed, calls, unknown = self._replayed(session)
        if not calls:
            tried = [f"{replayed} pairs replayed: no sampler that is known was called"]
            return StageResult(self.name, time.monotonic() - began, tried, [])
        tried = [f"{replayed} pairs replayed, {calls} calls of samplers watched"]
        if unknown:
            tried.append(f"laws not known here, so not counted: {', '.join(sorted(unknown))}")
        above = sorted((each for each in suspicions if each.epsilon > session.claim.epsilon * (1 + 1e-9)), key=_rank)
        findings, remarks = [], []
        for each in above[:TESTED]:
            finding = _confirmed(session, each, TESTING)
            if finding is not None:
                findings.append(finding)
                break  # one pair shows it; the time is better spent elsewhere
            remarks.append(f"not confirmed by runs: {each.words} ({each.pair.words})")
        if not above and suspicions:
            most = max(each.epsilon for each in suspicions)
            tried.append(f"the noise allows at most {most:.4g} on these pairs, if nothing is published around it")
        tried.append(f"{len(above)} pairs are suspicious, {len(findings) + len(remarks)} tested on fresh runs")
        return StageResult(self.name, time.monotonic() - began, tried, findings, remarks)

    def _replayed(self, session: Session) -> tuple[list[Suspicion], int, int, set[str]]:
        found: list[Suspicion] = []
        replayed, calls, unknown = 0, 0, set[str]()
        stop, pairs = session.left() * (1 - LOOKING), session.pairs()
        for pair in pairs:
            if session.left() <= stop:
                break
            session.progress(self.name, replayed, len(pairs))
            answer = _asked(session, pair)
            replayed += 1
            if answer is None or "raised" in answer:
                continue
            calls += int(answer["calls"])
            unknown |= set(answer["unknown"])
            if answer["calls"]:
                found.append(_suspicion(pair, answer))
            elif replayed >= 8 and not calls:
                break  # nothing that we know is ever called
        return found, replayed, calls, unknown


def _asked(session: Session, pair: Pair) -> dict[str, Any] | None:
    """What the target's process saw; None if it ended."""
    try:
        session.ask({"op": "extend", "path": str(Path(inside.__file__))})
        _, end = session.ask({"op": "replay", "tables": [pair.first.to_dict(), pair.second.to_dict()]})
    except (workers.Ended, ParameterError):
        return None
    return dict(end["found"]) if "found" in end else None


def _suspicion(pair: Pair, answer: dict[str, Any]) -> Suspicion:
    """The loss that a replay suggests, with the reason."""
    if not answer["same_calls"]:
        return Suspicion(pair, math.inf, "the number or kind of noisy answers depends on the data")
    if answer["loss"] is None:
        why = next((each for each in answer["why"] if "depends" in each or "scale 0" in each), "no noise")
        return Suspicion(pair, math.inf, why)
    if answer["leak"]:
        return Suspicion(pair, math.inf, "the results differ although all noisy answers are equal")
    return Suspicion(pair, float(answer["loss"]), f"by its law the noise allows {answer['loss']:.4g}")


def _rank(each: Suspicion) -> tuple[bool, float, int]:
    """Within the schema first, then the largest loss, then the smallest table."""
    return not each.pair.within, -each.epsilon, len(each.pair.first)


def _confirmed(session: Session, suspicion: Suspicion, share: float) -> Finding | None:
    """A bound from runs on the pair, if it is above the claim."""
    claim, pair, risk = session.claim, suspicion.pair, session.risk / TESTED
    looked = session.screen(pair, min(LOOKED, max(40, session.affordable(share / 3))))
    chosen = choose(*looked, claim.delta)
    if chosen is None:
        return None
    wanted = max(2000, 20 * enough_runs(claim.epsilon + 1, risk, claim.delta))
    runs = min(wanted, session.affordable(share))
    return confirmed(session, Replay.name, pair, chosen, runs, risk, reason=suspicion.words)
