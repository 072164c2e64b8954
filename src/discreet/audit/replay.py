"""Stage *replay*: what enters the noise on two neighbours, where the samplers are known.

The samplers of discreet, diffprivlib, OpenDP and numpy are watched in the target's process (`inside/samplers.py`). The
sum of the losses by the law of the noise says how much the noise itself allows on a pair. That alone is no evidence:
noisy answers may not be published. So suspicious pairs are run many times, and only what these runs show is a finding.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.audit import workers
from discreet.audit.choosing import Choice, choose
from discreet.audit.findings import Finding, StageResult
from discreet.audit.fresh import confirmed, looks, promised
from discreet.audit.inside import samplers as inside
from discreet.audit.neighbours import Pair, in_turn, random_pair, varied
from discreet.audit.structure import differs
from discreet.errors import ParameterError
from discreet.schema import Adjacency

if TYPE_CHECKING:
    from discreet.audit.session import Session

TESTED = 4
"""The most events that are tested on fresh runs; the risk is divided among them."""
ROUNDS = ((12, 6, 40, 100), (4, 2, 100, 400), (2, 1, 300, 1500), (1, 1, 600, 6000))
"""Suspicious pairs that are run, as many at least if runs are slow, and how often each table at least, and at most: the
better pairs are run more often. Each round may take its part of the time for choosing."""
REFUSED = 0.5
"""Pairs on which a larger share of the runs raises are left to the stage *structure*."""
FEWEST = 600
"""Fresh runs per table that a test makes at least, if there is time: fewer give bounds that are needlessly low."""
LARGEST_SIZE = 100
"""Numbers of records that are tried if a parameter of the target is that number."""
RANDOM, REPLAYED = 80, 3
"""Number of random pairs that are replayed besides those of the list, and the runs that a replay takes."""
CLIMBING, CLIMBED = 4, 250
"""Number of pairs from which others are made by small changes, and of pairs that are made so."""
LOOKING, CHOOSING, TESTING = 0.12, 0.35, 0.4
"""Shares of the time that is left for replaying pairs, for choosing among the suspicious, and for each test."""


@dataclass(frozen=True)
class Suspicion:
    """What the replay of a pair suggests: the most that the noise allows, and the average over the noise, which says
    better how likely runs are to show it."""

    pair: Pair
    epsilon: float
    words: str
    typical: float = math.inf


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
        findings: list[Finding] = []
        remarks: list[str] = []
        for each, choice in _chosen(session, above):
            finding = _confirmed(session, each, choice)
            if finding is not None:
                findings.append(finding)
                break  # one pair shows it; the time is better spent elsewhere
            remarks.append(f"not confirmed by runs: {each.words} ({each.pair.words})")
            if len(remarks) == TESTED:
                break
        if above and not findings and not remarks:
            remarks.append(
                f"not confirmed by runs, which show nothing that varies: {above[0].words} ({above[0].pair.words})"
            )
        if not above and suspicions:
            most = max(each.epsilon for each in suspicions)
            tried.append(f"the noise allows at most {most:.4g} on these pairs, if nothing is published around it")
        tried.append(f"{len(above)} pairs are suspicious, {len(findings) + len(remarks)} tested on fresh runs")
        return StageResult(self.name, time.monotonic() - began, tried, findings, remarks)

    def _replayed(self, session: Session) -> tuple[list[Suspicion], int, int, set[str]]:
        found: list[Suspicion] = []
        replayed, calls, unknown = 0, 0, set[str]()
        stop, pairs = session.left() * (1 - LOOKING), _candidates(session)
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
        climbed = _climbed(session, found, stop)
        return found + climbed, replayed + len(climbed), calls, unknown


def _climbed(session: Session, found: list[Suspicion], stop: float) -> list[Suspicion]:
    """More pairs, made from those with the largest average loss by small changes, as long as that is finite: several
    choices that one record decides, say, are rare among pairs of a list."""
    best = sorted(found, key=_rank)[:CLIMBING]
    tried: list[Suspicion] = []
    for turn in range(CLIMBED if best else 0):
        if session.left() <= stop or best[0].typical == math.inf:
            break
        session.progress(f"{Replay.name}, varied", turn, CLIMBED)
        pair = varied(best[int(session.rng.integers(len(best)))].pair, session.schema, session.rng)
        answer = _asked(session, pair)
        if answer is not None and answer.get("calls"):
            tried.append(_suspicion(pair, answer))
            best = sorted([*best, tried[-1]], key=_rank)[:CLIMBING]
    return tried


def _candidates(session: Session) -> list[Pair]:
    """Pairs of the list, those with classes in turn, and random ones, one after the other: there may not be time for
    all of them."""
    dealt = list(in_turn(session.schema, _sizes(session))) if session.adjacency is Adjacency.ADD_REMOVE else []
    drawn = [random_pair(session.schema, session.adjacency, session.rng) for _ in range(RANDOM)]
    return [pair for turn in zip_longest(session.pairs(), dealt, drawn) for pair in turn if pair is not None]


def _sizes(session: Session) -> list[int]:
    """Numbers of records at which dealing them out may show: whole parameters of the target, and small ones."""
    given = [each for each in session.target.parameters.values() if isinstance(each, int) and 1 < each <= LARGEST_SIZE]
    return list(dict.fromkeys([*(max(2, size + more) for size in given for more in (0, 1, -1)), *range(2, 13)]))


def _asked(session: Session, pair: Pair) -> dict[str, Any] | None:
    """What the target's process saw; None if it ended."""
    try:
        session.ask({"op": "extend", "path": str(Path(inside.__file__))})
        began = time.monotonic()
        tables, claim = [pair.first.to_dict(), pair.second.to_dict()], session.claim.epsilon * (1 + 1e-9)
        request = {"op": "replay", "tables": tables, "claim": claim}
        _, end = session.ask(request, session.wait(REPLAYED + inside.REPEATS), (pair.first, pair.second))
        session.note_runs(REPLAYED, time.monotonic() - began)
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
        # Perhaps only because of randomness that is not watched: the noise still says how much runs are likely to show.
        typical = float(answer["typical"]) or math.inf
        return Suspicion(pair, math.inf, "the results differ although all noisy answers are equal", typical)
    words = f"by its law the noise allows {answer['loss']:.4g}"
    return Suspicion(pair, float(answer["loss"]), words, float(answer["typical"]))


def _rank(each: Suspicion) -> tuple[bool, float, int]:
    """Within the schema first, then the largest average loss, then the smallest table."""
    return not each.pair.within, -each.typical, len(each.pair.first)


def _points(each: Suspicion) -> int:
    """Number of different records' values: the fewer, the less a model can hide what its noisy answers show."""
    return len({repr(values) for values, _ in each.pair.first.records})


def _mixed(above: list[Suspicion]) -> list[Suspicion]:
    """In turn: the largest loss, the largest that is finite, the largest with all records at one point, and the longest
    table among the largest losses: counts far from 0 are cut off less often."""
    longest = sorted(above, key=lambda each: (*_rank(each)[:1], -round(each.typical, 2), -len(each.pair.first)))
    finite = sorted(above, key=lambda each: (not each.pair.within, math.isinf(each.typical), *_rank(each)))
    at_one = sorted(
        above, key=lambda each: (not each.pair.within, _points(each) > 1, math.isinf(each.typical), *_rank(each))
    )
    return list(dict.fromkeys(each for four in zip(above, finite, longest, at_one, strict=True) for each in four))


def _chosen(session: Session, above: list[Suspicion]) -> Iterator[tuple[Suspicion, Choice]]:
    """The suspicious pairs whose runs promise most, with their events: at once where they promise enough, else after
    all rounds, the best first."""
    stop, budget = session.left() * (1 - CHOOSING), session.affordable(CHOOSING)
    left = _mixed(above)
    found: list[tuple[Suspicion, Choice]] = []
    tested: list[Choice] = []
    for most, least, fewest, largest in ROUNDS:
        tried = min(most, max(least, budget // len(ROUNDS) // fewest))
        runs = min(largest, max(fewest, budget // len(ROUNDS) // tried))
        looked: list[tuple[Suspicion, Choice]] = []
        for each in left[:tried]:
            if session.left() <= stop and (found or looked):
                break
            session.progress(f"{Replay.name}, {runs} runs", len(looked), tried)
            sides = session.screen(each.pair, runs)
            told = bool(session.findings) and differs(*sides)  # the stage *structure* has shown such a difference
            refused = max(side.refused for side in sides) >= REFUSED
            choice = None if told or refused else choose(*sides, session.claim.delta)
            if choice is not None:
                looked.append((each, choice))
        again = {each for each, _ in looked}  # they come first: fewer runs promise too much
        looked.sort(key=lambda each: -each[1].estimate)
        found = [*looked, *(old for old in found if old[0] not in again)]
        surest = max(found, key=lambda each: each[1].sure, default=None)
        if surest is not None and surest[1].sure > session.claim.epsilon and surest[1] not in tested:
            tested.append(surest[1])
            yield surest  # not run more often before; if fresh runs do not confirm it, the next round chooses by more
        left = [each for each, _ in found]
    yield from (each for each in sorted(found, key=lambda each: -each[1].sure) if each[1] not in tested)


def _confirmed(session: Session, suspicion: Suspicion, choice: Choice) -> Finding | None:
    """A bound from runs on the pair, if it is above the claim."""
    pair, risk = suspicion.pair, session.risk / TESTED
    wanted = promised(session, choice, session.screen(pair, 1), risk)
    sizes = looks(wanted if session.first else max(FEWEST, 2 * wanted), session.affordable(TESTING))
    return confirmed(session, Replay.name, pair, choice, sizes, risk, reason=suspicion.words)
