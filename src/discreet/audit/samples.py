"""Stage *samples*: events that are more likely on one table than on its neighbour, found and bounded by runs.

Successive halving: many pairs get few runs, the better half of them twice as many, until a few pairs are left. Their
events, chosen by these runs, are then counted in fresh ones.
"""

from __future__ import annotations

import time
from itertools import zip_longest
from typing import TYPE_CHECKING

from discreet.audit.choosing import Choice, choose
from discreet.audit.events import Scored
from discreet.audit.findings import Finding, StageResult
from discreet.audit.fresh import confirmed, counted, looks, promised
from discreet.audit.neighbours import Pair, random_pair, smaller
from discreet.audit.structure import Structure, differs

if TYPE_CHECKING:
    from discreet.audit.session import Session

FIRST, FEWEST = 60, 24
"""Runs per table of each pair in the first round, and the fewest if time is short: then fewer pairs are tried."""
FEWEST_PAIRS = 12
"""Pairs that the first round tries at least. It tries no more than half of the time for searching allows: an event of
several numbers is only found with many runs, so later rounds must have their part."""
MOST_KEPT = 4
"""The number of pairs whose events are tested on fresh runs; the risk is divided among them."""
EARLY = 4
"""Where the first finding is enough: the number of events that are tested while pairs are still searched."""
SEARCHING = 0.5
"""Share of the time that is left which chooses pairs and events; the rest is for the fresh runs that give the bound."""
REFUSED = 0.5
"""Pairs on which a larger share of the runs raises are left to the stage *structure*."""
RANDOM = 24
"""Number of random pairs that are tried besides those of the list."""
SHRUNK, SHRINKING = 0.9, 0.1
"""A smaller pair is taken if it promises this share of the loss; and the share of the time that is spent to find it."""
MOST_RUNS = 100_000
"""Fresh runs per table: more would raise a bound by little."""


class Samples:
    """Looks for events in the numbers that runs show."""

    name = "samples"

    def run(self, session: Session) -> StageResult:
        """Search for pairs and events, then bound the loss of the best."""
        began = time.monotonic()
        ranked, tried, early = self._search(session)
        findings = [early] if early is not None else []
        known: set[tuple[str, ...]] = set()
        bound = max((each.epsilon for each in findings), default=0.0)
        for place, (pair, choice) in enumerate(ranked):
            session.progress(self.name, place, len(ranked))
            if _about(choice) in known:
                continue  # the same numbers have refuted the claim already
            risk = _risk(session)
            runs = min(MOST_RUNS, session.affordable(0.5 if place + 1 < len(ranked) else 1.0))
            sizes = [max(1, runs)]
            if choice.estimate > session.claim.epsilon and pair in session.screened:
                wanted = promised(session, choice, session.screened[pair], risk)
                sizes = looks(wanted if session.first else 4 * wanted, runs)
            finding = counted(session, self.name, pair, choice, sizes, risk)
            bound = max(bound, finding.epsilon if finding is not None else 0.0)
            if finding is not None and finding.epsilon > session.claim.epsilon:
                findings.append(finding)
                session.findings.append(finding)
                known.add(_about(choice))
                if session.first:
                    break
        tried.append(f"{len(ranked)} events tested on fresh runs")
        return StageResult(self.name, time.monotonic() - began, tried, findings, bound=bound)

    def _search(self, session: Session) -> tuple[list[tuple[Pair, Choice]], list[str], Finding | None]:
        """The pairs that promise most, each with its event; what was tried, in words; and what was found on the way,
        if the first finding is enough."""
        stop = session.left() * (1 - SEARCHING)
        pairs = _candidates(session)
        afforded = session.affordable(SEARCHING / 2)
        runs = max(FEWEST, min(FIRST, afforded // max(1, len(pairs))))
        pairs = pairs[: max(FEWEST_PAIRS, afforded // runs)]
        known: dict[Pair, Choice] = {}
        tried: list[str] = []
        tests = EARLY if session.first else 0
        while pairs and session.left() > stop:
            looked = 0
            for done, pair in enumerate(pairs):
                session.progress(f"{self.name}, {runs} runs", done, len(pairs))
                chosen = _choice(session, pair, runs)
                looked += 1
                known.pop(pair, None)
                if chosen is not None:
                    known[pair] = chosen
                if session.left() <= stop:
                    break
            tried.append(f"{looked} pairs with {runs} runs on each table")
            ranked = sorted(known, key=lambda pair: (-known[pair].estimate, len(pair.first)))
            pairs = ranked[: max(MOST_KEPT, len(ranked) // 2)]
            known = {pair: known[pair] for pair in pairs}
            session.keep(pairs)
            surest = max(pairs, key=lambda pair: known[pair].sure, default=None)
            if tests and surest is not None and known[surest].sure > session.claim.epsilon:
                tests -= 1
                finding = _early(session, surest, known[surest])
                if finding is not None:
                    return [], [*tried, "one event tested on the way"], finding
            runs *= 2
        return [_shrunk(session, *each) for each in _spread(list(known.items()))], tried, None


def _risk(session: Session) -> float:
    """The probability of a false alarm that one test may use."""
    return session.risk / (MOST_KEPT + (EARLY if session.first else 0))


def _early(session: Session, pair: Pair, choice: Choice) -> Finding | None:
    """What as many fresh runs show as are likely to refute the claim, if it is refuted."""
    risk = _risk(session)
    sizes = looks(promised(session, choice, session.screened[pair], risk), session.affordable(1 - SEARCHING))
    return confirmed(session, Samples.name, pair, choice, sizes, risk)


def _candidates(session: Session) -> list[Pair]:
    """The pairs that no earlier stage refuted, those within the schema first, in turn with random ones: there may not
    be time for all of them."""
    known = {finding.pair for finding in session.findings}
    listed = sorted((pair for pair in session.pairs() if pair not in known), key=lambda pair: not pair.within)
    if session.given:
        return listed
    drawn = [random_pair(session.schema, session.adjacency, session.rng) for _ in range(RANDOM)]
    return [pair for turn in zip_longest(listed, drawn) for pair in turn if pair is not None]


def _spread(ranked: list[tuple[Pair, Choice]]) -> list[tuple[Pair, Choice]]:
    """The best pairs, with one event each; pairs within the schema come first if they promise nearly as much."""
    best = sorted(ranked, key=lambda each: abs(each[1].sure) * (0.0 if each[0].within else 1 - SHRUNK) - each[1].sure)
    seen: dict[tuple[str, ...], tuple[Pair, Choice]] = {}
    for each in best:
        seen.setdefault(_about(each[1]), each)
    kept = list(seen.values())[:MOST_KEPT]
    return [*kept, *(each for each in best if each not in kept)][:MOST_KEPT]


def _choice(session: Session, pair: Pair, runs: int) -> Choice | None:
    """The best event of a pair; None if there is none, or the target refuses one of the tables.

    Where the structure refuted the claim, pairs that differ in structure are left out: they would show the same again.
    """
    sides = session.screen(pair, runs)
    if not all(map(len, sides)) or max(each.refused for each in sides) >= REFUSED:
        return None
    if any(finding.stage == Structure.name for finding in session.findings) and differs(*sides):
        return None
    return choose(*sides, session.claim.delta)


def _about(choice: Choice) -> tuple[str, ...]:
    """What tells an event from others that show the same."""
    return (choice.event.words,) if isinstance(choice.event, Scored) else tuple(sorted(choice.event.names))


def _shrunk(session: Session, pair: Pair, choice: Choice) -> tuple[Pair, Choice]:
    """The pair with as few common records as show the same, if it is likely to refute the claim."""
    runs = min(400, *map(len, session.screened.get(pair, ((), ()))))
    if choice.estimate <= session.claim.epsilon or runs < FEWEST or len(pair.second) == 0:
        return pair, choice
    stop = session.left() * (1 - SHRINKING)
    wanted = max(SHRUNK * choice.estimate, session.claim.epsilon)
    tried = iter(smaller(pair))
    while session.left() > stop and (each := next(tried, None)) is not None:
        found = _choice(session, each, runs)
        if found is not None and found.estimate >= wanted:
            again = _choice(session, each, 2 * runs)
            if again is not None and again.estimate >= wanted:
                pair, choice, tried = each, again, iter(smaller(each))
    return pair, choice
