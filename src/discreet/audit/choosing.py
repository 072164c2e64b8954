"""Choosing an event: what, in the numbers of runs, best tells two neighbouring tables apart.

One half of the runs proposes events: single numbers, two at once, and a classifier's score. The other half ranks them.
Neither half is used for a bound.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.audit.events import Both, Event, Flags, Scored, Single, cells
from discreet.audit.runs import Runs, is_feature

Matrix = NDArray[np.float64]
Sides = tuple[Matrix, Matrix]
"""The numbers of runs on the first table, and of those on the second."""

CAUTION, CAUTIOUS = 1.25, 5
"""Estimates are lowered by this many standard errors and log10(runs / 5) more, so that an event seen a few times by
luck does not win: by 2 for 30 runs, where more would leave nothing to rank pairs by, and by 4 for 3,000, which are
close to a bound. With less caution, the best of thousands of events is the luckiest."""
SHOWN = 0.2
"""The least that an event must show without any caution: one that holds in nearly all runs on both tables needs no
caution either, and would win over all that are rare."""
SURE = 3.0
"""Standard errors by which an estimate is lowered that still holds for the best of some hundred events: one above the
claim is worth a test."""
THRESHOLDS, COMMON = 24, 8
"""Candidates per number: quantiles as thresholds, and the most frequent values."""
COLUMNS = 150
"""Numbers that are looked at closely: those that differ most between the tables."""
JOINED, FEATURES = 40, 60
"""Numbers of which events are tried two at once, and features that are looked at: those that differ most."""
JOINED_AT = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Shares of the runs at which a number is cut to try two events at once; its most frequent values are tried too."""
RANKED = 80
"""Events of each kind that one half of the runs proposes to the other."""
SCORED, BINS, ENOUGH = 40, 12, 100
"""Numbers in a score, cells of each, and the runs per table from which a classifier is tried."""
ROUNDING = 1e-9
"""A score this far below a threshold still reaches it: the sum of points may be rounded."""
SIMPLE = 0.9
"""A simple event is preferred to a score if it promises this share of the loss: readers can check it."""


@dataclass(frozen=True)
class Choice:
    """An event, whether it is the second table's, and two estimates of the loss that it shows: a cautious one, to rank
    by, and one that chance alone is unlikely to reach."""

    event: Event
    swapped: bool
    estimate: float
    sure: float = -10.0


def estimates(more: Matrix, runs: int, less: Matrix, other: int, delta: float, errors: float) -> Matrix:
    """Cautious estimates of the loss: Wilson's bounds, which are quick to compute. They prove nothing."""
    low = _wilson(more, runs, -errors) - delta
    high = np.maximum(_wilson(less, other, errors), 1e-12)
    plain = np.maximum((more + 0.5) / (runs + 1) - delta, 1e-12) * (other + 1) / (less + 0.5)
    return np.where((low > 0) & (plain > math.exp(SHOWN)), np.log(np.maximum(low, 1e-12) / high), -10.0)


def _wilson(successes: Matrix, runs: int, errors: float) -> Matrix:
    square = errors * errors
    share = successes / runs
    spread = errors * np.sqrt(share * (1 - share) / runs + square / (4 * runs * runs))
    return np.asarray((share + square / (2 * runs) + spread) / (1 + square / runs))


def choose(first: Runs, second: Runs, delta: float, caution: float = CAUTION) -> Choice | None:
    """The event that promises most; None if the runs show no number that varies.

    Less caution than `CAUTION` is for where few events are tried, and rare ones tell most.
    """
    if min(len(first), len(second)) < 4:
        return None
    names = [*dict.fromkeys((*first.names, *second.names)), *_features(first, second)]
    one, other = first.under(names), second.under(names)
    varying = _varying(one, other)
    if not varying.any():
        return None
    names = [name for name, kept in zip(names, varying, strict=True) if kept]
    halves = [np.array_split(side[:, varying], 2) for side in (one, other)]
    proposing, ranking = (halves[0][0], halves[1][0]), (halves[0][1], halves[1][1])
    errors = caution + max(0.25, math.log10(min(len(first), len(second)) / 2 / CAUTIOUS))
    simple, order = _singles(names, *proposing, delta, errors)
    events: list[Event] = [*simple[:RANKED], *_joined(order[:JOINED], names, *proposing, delta, errors)]
    best = _best(events, names, *ranking, delta, errors)
    if min(len(first), len(second)) >= ENOUGH:
        score = _best_score([names[place] for place in order[:SCORED]], names, proposing, ranking, delta, errors)
        if best is None or best.estimate < SIMPLE * score.estimate:
            return score
    return best


def _features(first: Runs, second: Runs) -> list[str]:
    """The features that some runs have and others have not, in quotes: those that differ most between the tables."""
    shares, seen = {}, set()
    for each in dict.fromkeys((*first.features, *second.features)):
        flags = first.feature(each), second.feature(each)
        own, other = (float(side.mean()) for side in flags)
        same = flags[0].tobytes() + flags[1].tobytes()  # the runs that have it: another name for the same says nothing
        if 0 < own + other < 2 and same not in seen:
            seen.add(same)
            shares[f"“{each}”"] = abs(own - other)
    return sorted(shares, key=lambda name: -shares[name])[:FEATURES]


def _varying(one: Matrix, other: Matrix) -> Flags:
    """Which columns are not the same number in all runs."""
    both = np.concatenate([one, other])
    missing = np.isnan(both)
    with np.errstate(invalid="ignore"):
        same = np.all((both == both[:1]) | (missing & missing[:1]), axis=0)
    return np.asarray(~same, dtype=np.bool_)


def _singles(
    names: Sequence[str], one: Matrix, other: Matrix, delta: float, errors: float
) -> tuple[list[Single], list[int]]:
    """Single events, the best first; and the columns, those that differ most first."""
    found: list[tuple[float, Single]] = []
    best = np.full(len(names), -10.0)
    for place, name in enumerate(names):
        events, counts = _of_column(name, one[:, place], other[:, place])
        own = np.maximum(
            estimates(counts[0], len(one), counts[1], len(other), delta, errors),
            estimates(counts[1], len(other), counts[0], len(one), delta, errors),
        )
        best[place] = own.max()
        for at in np.argsort(-own)[:16]:
            found.append((float(own[at]), events[at]))
    found.sort(key=lambda each: -each[0])
    return [event for _, event in found], [int(each) for each in np.argsort(-best)[:COLUMNS]]


def _of_column(name: str, one: Matrix, other: Matrix) -> tuple[list[Single], tuple[Matrix, Matrix]]:
    """The candidates of one column, and how often each holds on either side."""
    if is_feature(name):
        seen = [np.array([side.sum(), len(side) - side.sum()]) for side in (one, other)]
        return [Single(name, "=", 1.0), Single(name, "=", 0.0)], (seen[0], seen[1])
    missing = [np.count_nonzero(np.isnan(side)) for side in (one, other)]
    sides = [np.sort(side[~np.isnan(side)]) for side in (one, other)]
    pooled = np.sort(np.concatenate(sides))
    if not len(pooled):
        return [Single(name, "missing", 0.0)], (np.array([missing[0]], float), np.array([missing[1]], float))
    places = np.linspace(0, len(pooled) - 1, THRESHOLDS).astype(int)
    thresholds = np.unique(pooled[places])
    values, times = np.unique(pooled, return_counts=True)
    common = values[np.argsort(-times)[:COMMON]] if times.max() > 1 else values[:0]
    counts = []
    for side, gone in zip(sides, missing, strict=True):
        above = len(side) - np.searchsorted(side, thresholds, "left")
        below = np.searchsorted(side, thresholds, "right")
        equal = np.searchsorted(side, common, "right") - np.searchsorted(side, common, "left")
        counts.append(np.concatenate([above, below, equal, [gone]]).astype(np.float64))
    events = [Single(name, sign, float(each)) for sign in ("≥", "≤") for each in thresholds]
    events += [Single(name, "=", float(each)) for each in common]
    return [*events, Single(name, "missing", 0.0)], (counts[0], counts[1])


def _joined(
    order: Sequence[int], names: Sequence[str], one: Matrix, other: Matrix, delta: float, errors: float
) -> list[Event]:
    """Two events at once, of different numbers: those that show nothing each by itself may show much together."""
    chosen = [event for at in order for event in _parts(names[at], np.concatenate([one[:, at], other[:, at]]))]
    places = {name: place for place, name in enumerate(names)}
    held = [
        np.column_stack([event.among(side[:, places[event.name]]) for event in chosen]).astype(np.float32)
        for side in (one, other)
    ]
    counts = [(each.T @ each).astype(np.float64) for each in held]
    own = np.maximum(
        estimates(counts[0], len(one), counts[1], len(other), delta, errors),
        estimates(counts[1], len(other), counts[0], len(one), delta, errors),
    )
    own[np.tril_indices(len(chosen))] = -10.0
    about = np.array([places[event.name] for event in chosen])
    own[about[:, None] == about[None, :]] = -10.0
    best = np.argsort(-own, axis=None)[:RANKED]
    return [Both(chosen[at // len(chosen)], chosen[at % len(chosen)]) for at in best if own.flat[at] > -10.0]


def _parts(name: str, pooled: Matrix) -> list[Single]:
    """Events of one number, whatever they show by themselves: its most frequent values, and above and below cuts."""
    if is_feature(name):
        return [Single(name, "=", 1.0), Single(name, "=", 0.0)]
    known = np.sort(pooled[~np.isnan(pooled)])
    if not len(known):
        return []
    values, times = np.unique(known, return_counts=True)
    common = [float(each) for each in values[np.argsort(-times)[:COMMON]]] if times.max() > 1 else []
    cuts = np.unique(known[(np.array(JOINED_AT) * (len(known) - 1)).astype(int)])
    ends = [Single(name, "≤", float(known[0])), Single(name, "≥", float(known[-1]))]
    cut = [Single(name, sign, float(each)) for each in cuts for sign in ("≤", "≥")]
    return [*(Single(name, "=", each) for each in common), *dict.fromkeys([*ends, *cut])]


def _best_score(
    own: Sequence[str], names: Sequence[str], proposing: Sides, ranking: Sides, delta: float, errors: float
) -> Choice:
    """The best threshold on the score of a classifier."""
    best: Choice | None = None
    places = [names.index(name) for name in own]
    sides = [side[:, places] for side in ranking]
    for score in _scores(own, *(side[:, places] for side in proposing)):
        held = [np.sort(score.score(side)) for side in sides]
        cuts = np.unique(np.quantile(np.concatenate(held), np.linspace(0, 1, 2 * THRESHOLDS)[1:-1]))
        counts = [len(each) - np.searchsorted(each, cuts - ROUNDING, "left").astype(np.float64) for each in held]
        for swapped in (False, True):
            more, less = counts[::-1] if swapped else counts
            own_estimates = estimates(more, len(sides[swapped]), less, len(sides[not swapped]), delta, errors)
            at = int(np.argmax(own_estimates))
            if best is None or own_estimates[at] > best.estimate:
                event = dataclasses.replace(score, value=float(cuts[at]) - ROUNDING)
                sure = estimates(more[at], len(sides[swapped]), less[at], len(sides[not swapped]), delta, SURE)
                best = Choice(event, swapped, float(own_estimates[at]), float(sure))
    assert best is not None
    return best


def _scores(own: Sequence[str], one: Matrix, other: Matrix) -> list[Scored]:
    """Scores, in both directions: per number the logarithm of the ratio in its cells, by itself or weighted.

    The weights are those of a logistic regression: numbers that say the same are not counted twice.
    """
    from sklearn.linear_model import LogisticRegression

    both = np.concatenate([one, other])
    truth = np.repeat([1, 0], [len(one), len(other)])
    edges, ratios = [], []
    for column in both.T:
        finite = column[~np.isnan(column)]
        places = (np.linspace(0, 1, BINS + 1)[1:-1] * max(0, len(finite) - 1)).astype(int)
        cuts = np.unique(np.sort(finite)[places]) if len(finite) else finite
        cell = cells(column, [float(each) for each in cuts])
        counts = [np.bincount(cell[truth == side], minlength=len(cuts) + 2) + 1.0 for side in (1, 0)]
        edges.append([float(each) for each in cuts])
        ratios.append(np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum()))
    found = zip(both.T, edges, ratios, strict=True)
    looked = np.column_stack([ratio[cells(column, cuts)] for column, cuts, ratio in found])
    fitted = LogisticRegression(C=0.1, max_iter=200).fit(looked, truth).coef_[0]
    scores = []
    for weights in (fitted, np.ones(len(own)), -fitted, -np.ones(len(own))):
        points = [[float(each) for each in weight * ratio] for weight, ratio in zip(weights, ratios, strict=True)]
        scores.append(Scored(list(own), edges, points, 0.0))
    return scores


def _best(
    events: Sequence[Event], names: Sequence[str], one: Matrix, other: Matrix, delta: float, errors: float
) -> Choice | None:
    """The best of the proposed events on runs that did not propose it."""
    if not events:
        return None
    held = [Runs(list(names), side, [], np.zeros((len(side), 0), dtype=np.bool_)) for side in (one, other)]
    counts = [np.array([np.count_nonzero(event.holds(side)) for event in events], float) for side in held]
    plain = estimates(counts[0], len(one), counts[1], len(other), delta, errors)
    swapped = estimates(counts[1], len(other), counts[0], len(one), delta, errors)
    at = int(np.argmax(np.maximum(plain, swapped)))
    turned = bool(swapped[at] > plain[at])
    (more, runs), (less, rest) = ((counts[side][at], len(held[side])) for side in ((1, 0) if turned else (0, 1)))
    sure = float(estimates(more, runs, less, rest, delta, SURE))
    return Choice(events[at], turned, float(max(plain[at], swapped[at])), sure)
