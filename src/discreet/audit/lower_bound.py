"""A lower bound on the privacy loss of anything that can be run, from samples alone.

Run a mechanism many times on two neighbouring tables and find an event that is more likely on one of them: the loss
is at least the logarithm of the ratio. The bound holds with the stated confidence, whatever the mechanism does. It can
refute a claim, but never prove one: the proofs are beside the mechanisms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta


@dataclass(frozen=True)
class LowerBound:
    """The loss is at least `epsilon` with the stated confidence; `event` names the outputs that show it.

    Examples
    --------
    >>> from discreet.audit import lower_bound
    >>> bound = lower_bound([1.0] * 1000, [0.0] * 1000)  # outputs that tell two neighbours apart without fail
    >>> bound.epsilon > 4, bound.confidence
    (True, 0.999)
    """

    epsilon: float
    confidence: float
    event: str


def lower_bound(first: ArrayLike, second: ArrayLike, confidence: float = 0.999) -> LowerBound:
    """Bound the loss from the scores of runs on two neighbours, one number per run.

    Guarantee  with probability `confidence` the true loss is at least `epsilon`.
    Proof      the first half of the runs chooses one event among thresholds and single values, in either direction; the
               second half, independent of the choice, counts it. Clopper and Pearson's intervals bound the probability
               on one table from below and on the other from above, each with an error of (1 - confidence) / 2: both
               hold with the stated confidence, and the loss is at least the logarithm of their ratio.
    Test       tests/audit/test_lower_bound.py::test_bound_stays_below_the_true_loss

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.laplace(10, 0.5, 20_000), rng.laplace(11, 0.5, 20_000)  # the true loss is 2
    >>> 1.4 < lower_bound(first, second).epsilon <= 2
    True
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
"""Whether it is more frequent on the second table; sign of the inequality (0 for equality); threshold."""

THRESHOLDS, COMMON = 101, 20
"""Number of candidates: one threshold per percentile of the scores, and the most frequent values. The bound is valid
with any numbers; more candidates need more runs to pay off."""
CAUTION = 0.05
"""Error of the intervals that rank the candidates: small enough that an event seen a few times by luck does not win.
The bound is valid with any value."""


def _candidates(first: NDArray[np.float64], second: NDArray[np.float64]) -> list[Event]:
    pooled = np.concatenate([first, second])
    thresholds = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, THRESHOLDS), method="nearest"))
    values, counts = np.unique(pooled, return_counts=True)
    common = values[np.argsort(-counts)[:COMMON]]
    events = [(swap, sign, float(each)) for swap in (False, True) for sign in (1, -1) for each in thresholds]
    return events + [(swap, 0, float(each)) for swap in (False, True) for each in common]


def _point_ratio(event: Event, first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """How well an event separates the runs that are used to choose: a cautious estimate of the ratio."""
    swap, sign, threshold = event
    more, less = (second, first) if swap else (first, second)
    low = _at_least(_count(more, sign, threshold), len(more), CAUTION)
    return low / _at_most(_count(less, sign, threshold), len(less), CAUTION)


def _count(scores: NDArray[np.float64], sign: int, threshold: float) -> int:
    if sign == 0:
        return int(np.count_nonzero(scores == threshold))
    return int(np.count_nonzero(scores * sign >= threshold * sign))


def _at_least(successes: int, runs: int, risk: float) -> float:
    return 0.0 if successes == 0 else float(beta.ppf(risk, successes, runs - successes + 1))


def _at_most(successes: int, runs: int, risk: float) -> float:
    return 1.0 if successes == runs else float(beta.ppf(1 - risk, successes + 1, runs - successes))
