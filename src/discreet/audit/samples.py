"""Stage *samples*: events that are more likely on one table than on its neighbour, found and bounded by runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from discreet.audit.bounds import loss
from discreet.audit.events import Choice, choose
from discreet.audit.neighbours import Pair
from discreet.audit.stage import Finding, StageResult

if TYPE_CHECKING:
    from discreet.audit.session import Session

FIRST = 100
"""Runs per table of each pair in the first round; each round keeps the better half of the pairs and doubles the runs."""
MOST_KEPT = 4
"""The number of pairs that reach the last round, and whose events are tested on fresh runs."""
SEARCHING = 0.4
"""Share of the time that is left which chooses pairs and events; the rest is for the fresh runs that give the bound."""


class Samples:
    """Looks for events in the numbers that runs show."""

    name = "samples"

    def run(self, session: Session) -> StageResult:
        """Successive halving over the pairs, then a bound on fresh runs for those that are left."""
        began = time.monotonic()
        ranked, tried = self._search(session)
        findings = []
        for place, (pair, choice) in enumerate(ranked):
            runs = session.affordable(1 / (len(ranked) - place))
            finding = _tested(session, pair, choice, runs, session.risk / MOST_KEPT)
            if finding is not None and finding.epsilon > session.claim.epsilon:
                findings.append(finding)
                session.findings.append(finding)
        tried.append(f"{len(ranked)} events tested on fresh runs")
        return StageResult(self.name, time.monotonic() - began, tried, findings)

    def _search(self, session: Session) -> tuple[list[tuple[Pair, Choice]], list[str]]:
        """The pairs that promise most, each with its event; and what was tried, in words."""
        known = {finding.pair for finding in session.findings}
        pairs = [pair for pair in session.pairs() if pair not in known]
        stop = session.left() * (1 - SEARCHING)
        runs, best, tried = FIRST, [], []
        while pairs and session.left() > stop:
            best = []
            for pair in pairs:
                if session.left() <= stop:
                    break
                chosen = choose(*session.screen(pair, runs), session.claim.delta, session.rng)
                if chosen is not None:
                    best.append((pair, chosen))
            best.sort(key=lambda each: -each[1].estimate)
            tried.append(f"{len(best)} pairs with {runs} runs on each table")
            if len(best) <= MOST_KEPT:
                break
            pairs = [pair for pair, _ in best[: max(MOST_KEPT, len(best) // 2)]]
            session.screened = {pair: session.screened[pair] for pair in pairs}
            runs *= 2
        return best[:MOST_KEPT], tried


def _tested(session: Session, pair: Pair, choice: Choice, runs: int, risk: float) -> Finding | None:
    """The bound that fresh runs give for one event."""
    first, second = session.run_pair(pair, runs)
    if not len(first) or not len(second):
        return None
    counts = [(int(np.count_nonzero(choice.event.holds(each))), len(each)) for each in (first, second)]
    (more, of), (less, other) = counts[::-1] if choice.swapped else counts
    epsilon = loss(more, of, less, other, risk, session.claim.delta)
    table = "second" if choice.swapped else "first"
    event = f"{choice.event.words}: seen in {more} of {of} runs on the {table} table, in {less} of {other} on the other"
    return Finding(Samples.name, epsilon, session.confidence, event, pair, counts=(counts[0], counts[1]))
