"""Stage *structure*: what differs between neighbours with certainty or nearly so, without looking at numbers.

Attributes, shapes, classes, types, texts, warnings, exceptions, what is printed, and how a process ends.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from discreet.audit.bounds import enough_runs, loss, losses
from discreet.audit.findings import Finding, StageResult
from discreet.audit.neighbours import Pair
from discreet.audit.runs import REFUSALS, Runs
from discreet.audit.script import script

if TYPE_CHECKING:
    from discreet.audit.session import Session

LOOKED = 8
"""Runs per table that choose what is tested: what differs nearly always is seen in a few runs."""
SHARE = 0.25
"""The part of the time that is left which this stage may take to look at pairs."""
TESTED = 6
"""The most differences that are tested on fresh runs; the risk is divided among them."""
CERTAIN = 0.9
"""Difference between the shares of two tables' runs from which a feature is said to tell them apart."""
DOCUMENTED = ("raises ", "exits: ")
"""How features begin that say that a target refuses a table; that a process ends is no refusal, but a crash."""
CAUTION = 0.05
"""Error of the intervals that rank differences. The bound holds with any value."""


class Structure:
    """Looks for features that one table's runs have and the other's have not."""

    name = "structure"

    def run(self, session: Session) -> StageResult:
        """Look at all pairs in a few runs, then test what differed on fresh runs."""
        began = time.monotonic()
        pairs = session.pairs()
        seen: list[tuple[float, Pair, str, bool]] = []
        stop = session.left() * (1 - SHARE)
        for done, pair in enumerate(pairs):
            if session.left() <= stop:
                break
            session.progress(self.name, done, len(pairs))
            seen += _differences(pair, *session.screen(pair, LOOKED))
        tried = [f"{len(session.screened)} of {len(pairs)} pairs, {LOOKED} runs on each table"]
        findings: list[Finding] = []
        remarks: list[str] = []
        chosen, bound = _spread(seen), 0.0
        for _, pair, feature, swapped in chosen:
            finding = _tested(session, pair, feature, swapped, session.risk / TESTED)
            if finding is None:
                continue
            if finding.refusal and not session.strict:
                remarks.append(
                    f"refuses one of two neighbours, which --strict would count: {finding.event} ({pair.words})"
                )
                continue
            bound = max(bound, finding.epsilon)
            if finding.epsilon > session.claim.epsilon:
                findings.append(finding)
                session.findings.append(finding)
        tried.append(f"{len(chosen)} differences tested on fresh runs")
        return StageResult(self.name, time.monotonic() - began, tried, findings, remarks, bound)


def _differences(pair: Pair, first: Runs, second: Runs) -> list[tuple[float, Pair, str, bool]]:
    """The feature that best tells the runs of a pair apart, with a cautious estimate of the loss; none if none does."""
    found = []
    if not len(first) or not len(second):
        return []
    features = list(dict.fromkeys((*first.features, *second.features)))
    if first.refused or second.refused:  # then all else is missing too, and says nothing new
        features = [each for each in features if each.startswith(REFUSALS)]
    for feature in features:
        counts = [int(np.count_nonzero(runs.feature(feature))) for runs in (first, second)]
        swapped = counts[1] * len(first) > counts[0] * len(second)
        more, less = (second, first) if swapped else (first, second)
        estimate = losses(max(counts), len(more), min(counts), len(less), CAUTION)
        if estimate > 0.2:
            found.append((float(estimate), pair, feature, swapped))
    return sorted(found, key=lambda each: -each[0])[:1]


def differs(first: Runs, second: Runs) -> bool:
    """Whether some feature is in nearly all runs on one table and in nearly none on the other."""
    features = dict.fromkeys((*first.features, *second.features))
    return any(abs(first.feature(each).mean() - second.feature(each).mean()) > CERTAIN for each in features)


def _spread(seen: list[tuple[float, Pair, str, bool]]) -> list[tuple[float, Pair, str, bool]]:
    """At most `TESTED` differences, the clearest first, each kind of feature once; values outside the schema and
    refusals come last, as readers may expect them."""
    seen = sorted(
        seen, key=lambda each: (not each[1].within, each[2].startswith(REFUSALS), -each[0], len(each[1].first))
    )
    kinds: dict[tuple[bool, str], tuple[float, Pair, str, bool]] = {}
    for each in seen:
        kinds.setdefault((each[1].within, each[2].partition(":")[0].partition(" =")[0]), each)
    return list(kinds.values())[:TESTED]


def _tested(session: Session, pair: Pair, feature: str, swapped: bool, risk: float) -> Finding | None:
    """The bound that fresh runs give for one feature."""
    runs = max(40, enough_runs(session.claim.epsilon + 0.5, risk, session.claim.delta))
    first, second = session.run_pair(pair, min(runs, max(40, session.affordable(0.5))))
    counts = [(int(np.count_nonzero(each.feature(feature))), len(each)) for each in (first, second)]
    if not all(total for _, total in counts):
        return None
    (more, of), (less, other) = counts[::-1] if swapped else counts
    gone = (second.lost, first.lost) if swapped else (first.lost, second.lost)  # counted against the finding
    epsilon = loss(more, of + gone[0], less + gone[1], other + gone[1], risk, session.claim.delta)
    table = "second" if swapped else "first"
    event = f"“{feature}” is seen in {more} of {of} runs on the {table} table, and in {less} of {other} on the other"
    repeat = script(session.target, session.schema, pair, feature, (counts[0], counts[1]))
    return Finding(
        Structure.name,
        epsilon,
        session.confidence,
        event,
        pair,
        repeat,
        (counts[0], counts[1]),
        feature.startswith(DOCUMENTED),
    )
