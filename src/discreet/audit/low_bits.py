"""Stage *low bits*: outputs that are possible under one table only, because noise was added in floating point.

A float holds 53 bits. Added to 0, noise keeps all of its own; added to 1, its lowest bits are rounded away, and a
number with such bits cannot have come from there (Mironov 2012). So each number is replaced by the place of its lowest
bit, and the events are sought among these.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import enough_runs
from discreet.audit.choosing import Choice, choose
from discreet.audit.findings import Finding, StageResult
from discreet.audit.fresh import confirmed
from discreet.audit.neighbours import Pair
from discreet.audit.runs import LOWEST_BIT, Runs

if TYPE_CHECKING:
    from discreet.audit.session import Session

LOOKED = 120
"""Runs per table that choose what is tested: an event of probability 1/4 on one table and 0 on the other stands out."""
TESTED = 4
"""The most events that are tested on fresh runs; the risk is divided among them."""
CAUTION = 0.6
"""Less than elsewhere: a pair has few numbers whose bits differ, and of these the rarest tell most."""
PROMISING = 0.2
"""Share of the claim that these runs must promise: what shows less is left to the stage *samples*."""
SHARE = 0.15
"""The share of the time that is left for looking, and again for testing."""
NONE = 5000.0
"""In place of the lowest bit of 0, which has none; infinities have none either and get twice this number."""


class LowBits:
    """Looks for bits that only one of two tables can produce."""

    name = "low bits"

    def run(self, session: Session) -> StageResult:
        """Look at pairs within the schema; test on fresh runs what differed."""
        began = time.monotonic()
        pairs = [pair for pair in session.pairs() if pair.within]
        stop, looked, whole = session.left() * (1 - SHARE), 0, 0
        seen: list[tuple[Pair, Choice]] = []
        for pair in pairs:
            if session.left() <= stop:
                break
            session.progress(self.name, looked, len(pairs))
            if _is_whole(session, pair):
                whole += 1  # runs of earlier stages have told
                continue
            sides = [lowest_bits(each) for each in session.screen(pair, LOOKED)]
            looked += 1
            names = [name for name in sides[0].names if _is_full(sides[0], name) and _is_full(sides[1], name)]
            if not names:
                continue  # a number that is missing on one table is for other stages
            chosen = choose(_only(sides[0], names), _only(sides[1], names), session.claim.delta, CAUTION)
            if chosen is not None and chosen.estimate > PROMISING * session.claim.epsilon:
                seen.append((pair, chosen))
        seen.sort(key=lambda each: -each[1].estimate)
        findings: list[Finding] = []
        risk, claim = session.risk / TESTED, session.claim
        wanted = max(200, 8 * enough_runs(claim.epsilon + 1, risk, claim.delta))
        for pair, choice in seen[:TESTED]:
            runs = min(wanted, session.affordable(SHARE))
            finding = confirmed(session, self.name, pair, choice, [max(1, runs)], risk, view=lowest_bits)
            if finding is not None:
                findings.append(finding)
                break  # one pair shows it; the time is better spent elsewhere
        tried = [f"the lowest bits of floats on {looked} of {len(pairs)} pairs, {LOOKED} runs on each table"]
        if whole:
            tried.append(f"{whole} pairs show integers only, which have no such bits")
        tried.append(f"{len(seen[:TESTED])} events tested on fresh runs")
        return StageResult(self.name, time.monotonic() - began, tried, findings)


def lowest_bits(runs: Runs) -> Runs:
    """The runs, with each number that is not an integer in every run replaced by the position of its lowest bit."""
    with np.errstate(invalid="ignore"):
        fractional = ~((runs.numbers == np.floor(runs.numbers)) | np.isnan(runs.numbers)).all(axis=0)
    names = [f"{LOWEST_BIT}{name}" for name, kept in zip(runs.names, fractional, strict=True) if kept]
    return Runs(names, lowest_bit(runs.numbers[:, fractional]), runs.features, runs.present, runs.lost, runs.seconds)


def lowest_bit(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The exponent of the lowest bit that is 1: 0 for odd integers, -1 for odd halves; NaN stays NaN.

    >>> lowest_bit(np.array([3.0, 0.75, 8.0, 0.1])).tolist()
    [0.0, -2.0, 3.0, -55.0]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(numbers), numbers, 1.0))
    whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    with np.errstate(divide="ignore"):
        zeros = np.log2((whole & -whole).astype(np.float64))
    places = np.where(whole == 0, NONE, zeros + exponent - 53)
    return np.where(np.isnan(numbers), np.nan, np.where(np.isinf(numbers), 2 * NONE, places))


def _is_whole(session: Session, pair: Pair) -> bool:
    """Whether runs of earlier stages are known, on both tables, and showed no number that is not an integer."""
    known = session.screened.get(pair, ())
    return bool(known) and all(len(each) > 0 and not lowest_bits(each).names for each in known)


def _is_full(runs: Runs, name: str) -> bool:
    """Whether every run has this number."""
    return len(runs) > 0 and not np.isnan(runs.column(name)).any()


def _only(runs: Runs, names: list[str]) -> Runs:
    """The runs with these numbers alone, and without features."""
    return Runs(names, runs.under(names), [], runs.present[:, :0], runs.lost, runs.seconds)
