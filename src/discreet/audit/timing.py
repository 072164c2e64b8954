"""Stage *time and memory*: does a run take longer, or ask for more memory, on one of two neighbours?

Only remarks: the records themselves take time and memory, clocks are noisy, and few claims cover them. Where an
adversary sees the clock, they are worth reading.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from discreet.audit import workers
from discreet.audit.findings import StageResult
from discreet.audit.inside import clock as inside
from discreet.audit.neighbours import Pair
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.audit.session import Session

PAIRS, RUNS, SHARE = 6, 60, 0.1
"""The most pairs and runs on each table, and the share of the time that is left which this stage takes if it can."""
FEWEST, MOST_SHARE = 16, 0.25
"""The fewest runs on each table that can show a difference: the risk of a test is small, and times that do not overlap
at all could come about by chance if they are fewer. Of a slow target fewer pairs are timed, at least one if it takes no
more than this share of the time."""
LOOKED, LOOKING = 2, 1 / 3
"""Runs on each table that choose the pairs, and their part of the time of this stage; the test has runs of its own."""
TRACED = 2
"""Runs whose memory is traced come in one answer, and are waited for together."""
NOTED = 1.2
"""Medians or peaks that differ by less than this factor are not mentioned."""


@dataclass(frozen=True)
class _Timed:
    """Seconds of runs on both tables of a pair, and bytes of memory at their peaks if they were asked for."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    peaks: list[int]

    @property
    def factor(self) -> float:
        """How many times longer the quickest run on one table takes than on the other."""
        times = sorted((float(self.first.min()), float(self.second.min())))
        return times[1] / max(times[0], 1e-9)

    @property
    def seconds_per_run(self) -> float:
        """Average time of a run."""
        return float(np.concatenate([self.first, self.second]).mean())


class TimeAndMemory:
    """Compares medians of times, by a test that assumes nothing about their law, and peaks of memory."""

    name = "time and memory"

    def run(self, session: Session) -> StageResult:
        """Look at the times of many pairs, then test those that differ most, and some others."""
        began, left = time.monotonic(), session.left()
        seen = _seen(session, left * SHARE * LOOKING)
        chosen, runs = _affordable(seen, left * SHARE - (time.monotonic() - began), left)
        remarks: list[str] = []
        compared = 0
        for pair in chosen:
            timed = _timed(session, pair, runs, peaks=True)
            compared += timed is not None
            remark = "" if timed is None else _compared(timed, session.risk / len(chosen))
            remarks += [f"{pair.words}: {remark}"] if remark else []
        tried = [f"times of {runs} runs on each table and peaks of memory, on {compared} of {len(seen)} pairs"]
        if not chosen:
            tried = ["no times: the target is too slow for the time that is left, or gives no answer"]
        return StageResult(self.name, time.monotonic() - began, tried, [], remarks)


def _seen(session: Session, seconds: float) -> dict[Pair, _Timed]:
    """The times of a few runs on as many pairs as there is time for; the first differ in different ways."""
    listed, end = session.pairs(), time.monotonic() + seconds
    step = max(1, len(listed) // PAIRS)
    seen: dict[Pair, _Timed] = {}
    for pair in (each for start in range(step) for each in listed[start::step]):
        timed = _timed(session, pair, LOOKED)
        if timed is not None:
            seen[pair] = timed
        if time.monotonic() >= end:
            break
    return seen


def _affordable(seen: dict[Pair, _Timed], seconds: float, left: float) -> tuple[list[Pair], int]:
    """The pairs that are timed, and the number of runs on each table: in turn one that differed most, and one of those
    that were looked at first, whose memory may differ."""
    if not seen:
        return [], 0
    per_run = float(np.mean([each.seconds_per_run for each in seen.values()]))
    pairs = int(seconds / (2 * (FEWEST + 1) * per_run)) if seconds > 0 else 0  # peaks take one more run
    if pairs < 1 and 2 * (FEWEST + 1) * per_run <= MOST_SHARE * left:
        pairs = 1
    ranked = sorted(seen, key=lambda pair: -seen[pair].factor)
    chosen = list(dict.fromkeys(each for both in zip(ranked, seen, strict=True) for each in both))
    chosen = chosen[: min(PAIRS, pairs)]
    runs = int(seconds / per_run / 2 / max(1, len(chosen))) - 1
    return chosen, max(FEWEST, min(RUNS, runs))


def _timed(session: Session, pair: Pair, times: int, peaks: bool = False) -> _Timed | None:
    """Runs on both tables in random turns; None if the process gave no answer."""
    order = [int(each) for each in session.rng.permutation(np.repeat([0, 1], times))]
    request = {"op": "clock", "tables": [pair.first.to_dict(), pair.second.to_dict()], "order": order, "peaks": peaks}
    try:
        session.ask({"op": "extend", "path": str(Path(inside.__file__))})
        frames, answer = session.ask(request, session.wait(TRACED), (pair.first, pair.second))
    except (workers.Ended, ParameterError):
        return None
    seconds, places = np.array([each["seconds"] for each in frames]), np.array(order)
    return _Timed(seconds[places == 0], seconds[places == 1], answer["peaks"])


def _compared(timed: _Timed, risk: float) -> str:
    """What there is to remark, "" if there is nothing."""
    medians = [float(np.median(each)) for each in (timed.first, timed.second)]
    words = []
    if max(medians) > NOTED * min(medians) and mannwhitneyu(timed.first, timed.second).pvalue < risk:
        words.append(f"medians of {1000 * medians[0]:.3g} ms and {1000 * medians[1]:.3g} ms")
    if max(timed.peaks) > NOTED * min(timed.peaks) + 4096:
        words.append(f"peaks of memory of {timed.peaks[0]} and {timed.peaks[1]} bytes")
    return " and ".join(words)
