"""The loss that counts of an event show, with an error that is stated."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta


def at_least(successes: Any, runs: Any, risk: float) -> NDArray[np.float64]:
    """Clopper and Pearson's lower bound on a probability."""
    successes, runs = np.asarray(successes, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    bound = beta.ppf(risk, np.maximum(successes, 1), runs - successes + 1)
    return np.where(successes > 0, bound, 0.0)


def at_most(successes: Any, runs: Any, risk: float) -> NDArray[np.float64]:
    """Clopper and Pearson's upper bound on a probability."""
    successes, runs = np.asarray(successes, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    bound = beta.ppf(1 - risk, successes + 1, np.maximum(runs - successes, 1))
    return np.where(successes < runs, bound, 1.0)


def losses(more: Any, runs: Any, less: Any, other_runs: Any, risk: float, delta: float = 0.0) -> NDArray[np.float64]:
    """A lower bound on ε, given δ, from how often an event was seen on each table; below 0 where it shows nothing.

    Guarantee  for an event chosen before the runs: with probability 1 - risk, the mechanism is not (ε, δ)-DP for any
               ε below the bound.
    Proof      the two intervals miss with probability risk / 2 each. (ε, δ)-DP means p ≤ exp(ε) q + δ, so ε is at least
               log((p - δ) / q), which is smallest for the smallest p and the largest q of the intervals.
    Test       tests/audit/test_bounds.py::test_intervals_miss_no_more_often_than_stated
    """
    low = at_least(more, runs, risk / 2) - delta
    high = at_most(less, other_runs, risk / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(low > 0, np.log(np.maximum(low, 1e-300) / high), -math.inf)


def loss(more: int, runs: int, less: int, other_runs: int, risk: float, delta: float = 0.0) -> float:
    """The bound of one event, at least 0."""
    return max(0.0, float(losses(more, runs, less, other_runs, risk, delta)))


def runs_to_show(wanted: float, rates: tuple[float, float], risk: float, delta: float = 0.0) -> int:
    """The number of runs per table after which an event with these rates is likely to show a loss of `wanted`."""
    runs = 64
    while runs < 10**6:
        more = math.floor(rates[0] * runs - math.sqrt(rates[0] * (1 - rates[0]) * runs))
        less = math.ceil(rates[1] * runs + math.sqrt(rates[1] * (1 - rates[1]) * runs))
        if loss(max(0, more), runs, min(runs, less), runs, risk, delta) > wanted:
            break
        runs = math.ceil(runs * 1.3)
    return runs


def enough_runs(epsilon: float, risk: float, delta: float = 0.0) -> int:
    """The number of runs per table that refutes ε if the event is always seen on one table and never on the other."""
    runs = 8
    while runs < 10**7 and loss(runs, runs, 0, runs, risk, delta) <= epsilon:
        runs = math.ceil(runs * 1.2)
    return runs
