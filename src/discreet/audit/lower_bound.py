"""A lower bound on the privacy loss of anything that can be run, from samples alone.

Run a mechanism many times on two neighbouring tables and find an event that is more likely on one of them: the loss
is at least the logarithm of the ratio. The bound holds with the stated confidence, whatever the mechanism does. It can
refute a claim, never prove one: proofs stand beside the mechanisms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta


@dataclass(frozen=True)
class LowerBound:
    """The loss is at least `epsilon` with the stated confidence; `event` says on which outputs it showed."""

    epsilon: float
    confidence: float
    event: str


def lower_bound(first: ArrayLike, second: ArrayLike, confidence: float = 0.999) -> LowerBound:
    """Bound the loss from scores of two neighbours, one number a run.

    Guarantee  with probability `confidence` the true loss is at least `epsilon`.
    Proof      the first half of the runs chooses one event among thresholds and single values, in either direction;
               the second half, independent of the choice, counts it. Clopper and Pearson's intervals bound the
               probability on one table from below and on the other from above, each at (1 - confidence) / 2, so that
               both hold with the stated confidence; the loss is at least the logarithm of their ratio.
    Test       tests/audit/test_lower_bound.py::test_bound_stays_below_the_true_loss
    """
    scores = [np.asarray(values, dtype=np.float64).ravel() for values in (first, second)]
    train, held = zip(*(np.array_split(values, 2) for values in scores), strict=True)
    best = max(_candidates(train[0], train[1]), key=lambda event: _point_ratio(event, train[0], train[1]))
    swap, sign, threshold = best
    more, less = (held[1], held[0]) if swap else (held[0], held[1])
    risk = (1 - confidence) / 2
    low = _at_least(_count(more, sign, threshold), len(more), risk)
    high = _at_most(_count(less, sign, threshold), len(less), risk)
    relation = {1: ">=", -1: "<=", 0: "=="}[sign]
    event = f"score {relation} {threshold:.6g} on the {'second' if swap else 'first'} table"
    return LowerBound(max(0.0, math.log(low / high)) if low > 0 else 0.0, confidence, event)


Event = tuple[bool, int, float]
"""Whether the second table has it more often; sign of the inequality (0 for equality); threshold."""


def _candidates(first: NDArray[np.float64], second: NDArray[np.float64]) -> list[Event]:
    pooled = np.concatenate([first, second])
    thresholds = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, 101), method="nearest"))
    values, counts = np.unique(pooled, return_counts=True)
    common = values[np.argsort(-counts)[:20]]
    events = [(swap, sign, float(each)) for swap in (False, True) for sign in (1, -1) for each in thresholds]
    return events + [(swap, 0, float(each)) for swap in (False, True) for each in common]


def _point_ratio(event: Event, first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """How well an event separates the two halves used to choose: a cautious ratio, so that rare luck does not win."""
    swap, sign, threshold = event
    more, less = (second, first) if swap else (first, second)
    low = _at_least(_count(more, sign, threshold), len(more), 0.05)
    return low / _at_most(_count(less, sign, threshold), len(less), 0.05)


def _count(scores: NDArray[np.float64], sign: int, threshold: float) -> int:
    if sign == 0:
        return int(np.count_nonzero(scores == threshold))
    return int(np.count_nonzero(scores * sign >= threshold * sign))


def _at_least(successes: int, runs: int, risk: float) -> float:
    return 0.0 if successes == 0 else float(beta.ppf(risk, successes, runs - successes + 1))


def _at_most(successes: int, runs: int, risk: float) -> float:
    return 1.0 if successes == runs else float(beta.ppf(1 - risk, successes + 1, runs - successes))
