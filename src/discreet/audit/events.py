"""Choosing an event: what, in the numbers of runs, tells two tables apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import losses
from discreet.audit.runs import Runs

CAUTION = 0.02
"""Error of the intervals that rank events, so that one that was seen a few times by luck does not win. The bound holds
with any value."""


@dataclass(frozen=True)
class Event:
    """A set of outputs: which runs are in it, and what it is in words."""

    words: str
    holds: Callable[[Runs], NDArray[np.bool_]]


@dataclass(frozen=True)
class Choice:
    """An event, whether it is the second table's, and a cautious estimate of the loss that it shows."""

    event: Event
    swapped: bool
    estimate: float


def choose(first: Runs, second: Runs, delta: float, rng: np.random.Generator) -> Choice | None:
    """The event that promises most; None if the runs show no numbers, or the same ones always."""
    best: Choice | None = None
    for name in dict.fromkeys((*first.names, *second.names)):
        one, other = first.column(name), second.column(name)
        pooled = np.concatenate([one, other])
        for threshold in np.unique(np.nanquantile(pooled, np.linspace(0, 1, 41), method="nearest")):
            for sign, relation in ((1, "≥"), (-1, "≤")):
                event = Event(f"{name} {relation} {threshold:.6g}", _beyond(name, sign, float(threshold)))
                best = _better(best, event, first, second, delta)
    return best


def _beyond(name: str, sign: int, threshold: float) -> Callable[[Runs], NDArray[np.bool_]]:
    return lambda runs: sign * runs.column(name) >= sign * threshold


def _better(best: Choice | None, event: Event, first: Runs, second: Runs, delta: float) -> Choice | None:
    held = [int(np.count_nonzero(event.holds(each))) for each in (first, second)]
    for swapped in (False, True):
        (more, of), (less, other) = ((held[1], len(second)), (held[0], len(first)))[:: 1 if swapped else -1]
        estimate = float(losses(more, of, less, other, CAUTION, delta))
        if best is None or estimate > best.estimate:
            best = Choice(event, swapped, estimate)
    return best
