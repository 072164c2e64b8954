"""Stage *time and memory*: does a run take longer, or ask for more memory, on one of two neighbours?

Only remarks: the records themselves take time and memory, clocks are noisy, and few claims cover them. Where an
adversary sees the clock, they are worth reading.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import mannwhitneyu

from discreet.audit import workers
from discreet.audit.findings import StageResult
from discreet.audit.inside import clock as inside
from discreet.audit.neighbours import Pair
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.audit.session import Session

PAIRS, RUNS, SHARE = 6, 60, 0.05
"""Number of pairs, runs on each table, and the share of the time that is left which this stage may take."""
NOTED = 1.2
"""Medians or peaks that differ by less than this factor are not mentioned."""


class TimeAndMemory:
    """Compares medians of times, by a test that assumes nothing about their law, and peaks of memory."""

    name = "time and memory"

    def run(self, session: Session) -> StageResult:
        """Time a few pairs that differ in different ways."""
        began, end = time.monotonic(), session.left() * (1 - SHARE)
        pairs = session.pairs()
        pairs = pairs[:: max(1, len(pairs) // PAIRS)][:PAIRS]
        remarks: list[str] = []
        compared = 0
        for pair in pairs:
            if session.left() <= end:
                break
            remark = _compared(session, pair, session.risk / PAIRS)
            compared += remark is not None
            remarks += [remark] if remark else []
        tried = [f"times of {RUNS} runs and peaks of memory on both tables of {compared} pairs"]
        return StageResult(self.name, time.monotonic() - began, tried, [], remarks)


def _compared(session: Session, pair: Pair, risk: float) -> str | None:
    """A remark, "" if there is nothing to remark, None if the process gave no answer."""
    times = max(8, min(RUNS, int(SHARE * session.left() / PAIRS / max(session.seconds_per_run, 1e-6) / 2)))
    order = [int(each) for each in session.rng.permutation(np.repeat([0, 1], times))]
    tables = [pair.first.to_dict(), pair.second.to_dict()]
    try:
        session.ask({"op": "extend", "path": str(Path(inside.__file__))})
        _, answer = session.ask({"op": "clock", "tables": tables, "order": order})
    except (workers.Ended, ParameterError):
        return None
    seconds, places = np.array(answer["seconds"], dtype=np.float64), np.array(order)
    first, second = seconds[places == 0], seconds[places == 1]
    medians = sorted((float(np.median(first)), float(np.median(second))))
    differ = mannwhitneyu(first, second).pvalue < risk and medians[1] > NOTED * medians[0]
    least, most = sorted(answer["peaks"])
    words = []
    if differ:
        words.append(f"medians of {1000 * np.median(first):.3g} ms and {1000 * np.median(second):.3g} ms")
    if most > NOTED * least + 4096:
        words.append(f"peaks of memory of {answer['peaks'][0]} and {answer['peaks'][1]} bytes")
    return f"{pair.words}: {' and '.join(words)}" if words else ""
