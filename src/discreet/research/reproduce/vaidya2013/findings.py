"""Whether our runs agree with the statements of Vaidya et al. 2013; all sentences are computed from cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from discreet.research.comparison.grid import NOT_PRIVATE, as_number
from discreet.research.comparison.summary import shown
from discreet.research.reproduce.accuracies import Accuracies
from discreet.research.reproduce.finding import Finding
from discreet.research.reproduce.printed import printed

PUBLISHED, RIGOROUS = "published", "rigorous"
"""The beginnings of the models' names."""

SMALL = 0.05
"""The paper speaks of a small loss of accuracy and names no number; we take this one."""

STEEP = 0.02
"""Smaller differences are taken for chance; set after a first look at our runs."""

SENSITIVE = ("adult", "skin")
"""The data sets on which, the paper says, n matters; on its other three it matters little."""

Loss = Callable[[str, str, str], float | None]
"""The privacy loss of a published model by data set, name and stated epsilon; None if it is not known."""


def findings(scores: Accuracies) -> list[Finding]:
    """All statements of the text about Figure 3."""
    return [falls(scores), steep_part(scores), *(small_loss(scores, data) for data in _named()), effect_of_n(scores)]


def _named() -> list[str]:
    return [row.data for row in printed("vaidya2013") if row.model == "small loss from epsilon"]


def published(scores: Accuracies, data: str | None = None) -> list[str]:
    """The names of the published models, one for each n of the noise."""
    return [name for name in scores.models(data) if name.startswith(PUBLISHED)]


def falls(scores: Accuracies) -> Finding:
    """Whether a smaller epsilon means a smaller accuracy."""
    statement = f"accuracy falls as ε falls (we take: no curve is more than {STEEP} higher at the least ε)"
    ends = [
        (scores.mean(data, model, scores.epsilons[0]), scores.mean(data, model, scores.epsilons[-1]))
        for data in scores.data
        for model in published(scores, data)
        if len(scores.epsilons) > 1
    ]
    known = [(least, most) for least, most in ends if least is not None and most is not None]
    if not known:
        return Finding(statement, "–", None)
    lower, near = (sum(least <= most + slack for least, most in known) for slack in (0.0, STEEP))
    ends_shown = f"at ε = {shown(scores.epsilons[0])} than at {shown(scores.epsilons[-1])}"
    text = f"{lower} of {len(known)} curves are no higher {ends_shown}, {near} are no more than {STEEP} higher"
    return Finding(statement, text, near == len(known))


def steep_part(scores: Accuracies) -> Finding:
    """The step between two epsilons of the grid at which each curve of the smallest n falls most."""
    steepest: dict[str, tuple[str, float, float]] = {}
    for data in scores.data:
        for model in published(scores, data)[:1]:
            means = [(each, scores.mean(data, model, each)) for each in scores.epsilons]
            known = [(epsilon, mean) for epsilon, mean in means if mean is not None]
            drops = [(high - low, name) for (_, low), (name, high) in pairwise(known)]
            if drops:
                drop, name = max(drops)
                steepest[data] = (name, drop, known[-1][1] - known[0][1])
    statement = "the loss is steep below some ε, and which one depends on the data set"
    steep = {data: (name, drop) for data, (name, drop, whole) in steepest.items() if whole > STEEP}
    if not steepest:
        return Finding(statement, "–", None)
    parts = [f"{data} loses {drop:.3f} just below {shown(name)}" for data, (name, drop) in steep.items()]
    parts += [f"{data} has no steep part (it loses at most {STEEP})" for data in steepest if data not in steep]
    return Finding(statement, "; ".join(parts), len({name for name, _ in steep.values()}) > 1)


def small_loss(scores: Accuracies, data: str) -> Finding:
    """The largest loss of accuracy at or above the epsilon that the paper names."""
    said = next(r.value for r in printed("vaidya2013") if r.data == data and r.model == "small loss from epsilon")
    statement = f"{data}: little is lost at ε ≥ {said:g}"
    reference = [scores.mean(data, model, NOT_PRIVATE) for model in published(scores, data)]
    means = [
        scores.mean(data, model, each)
        for model in published(scores, data)
        for each in scores.epsilons
        if as_number(each) >= said
    ]
    known, full = [each for each in means if each is not None], [each for each in reference if each is not None]
    if not known or not full:
        return Finding(statement, "–", None)
    loss = max(full) - min(known)
    return Finding(statement, f"at most {loss:.3f} of {max(full):.3f} is lost; small is below {SMALL}", loss < SMALL)


def spread_over_n(scores: Accuracies, data: str) -> float | None:
    """The distance between the highest and the lowest curve of different n, averaged over epsilon."""
    spreads = []
    for epsilon in scores.epsilons:
        means = [scores.mean(data, model, epsilon) for model in published(scores, data)]
        known = [mean for mean in means if mean is not None]
        if len(known) == len(means) and known:
            spreads.append(max(known) - min(known))
    return sum(spreads) / len(spreads) if spreads else None


def effect_of_n(scores: Accuracies) -> Finding:
    """Whether n matters most on the data sets that the paper names."""
    statement = f"n matters most on {' and '.join(SENSITIVE)}"
    spreads = {data: spread_over_n(scores, data) for data in scores.data}
    known = {data: spread for data, spread in spreads.items() if spread is not None}
    text = "; ".join(f"{data}: curves {spread:.3f} apart" for data, spread in known.items())
    inside = [spread for data, spread in known.items() if data in SENSITIVE]
    outside = [spread for data, spread in known.items() if data not in SENSITIVE]
    if len(inside) < len(SENSITIVE) or not outside:
        return Finding(statement, text or "–", None)
    return Finding(statement, text, min(inside) > max(outside))


class PairedMeans(NamedTuple):
    """Pairs of means, ours and theirs, each with its data set."""

    pairs: Sequence[tuple[str, float, float]]

    @property
    def won(self) -> int:
        """Number of pairs in which ours is at least as high."""
        return sum(ours >= theirs for _, ours, theirs in self.pairs)


def at_equal_epsilon(scores: Accuracies, rigorous: str = RIGOROUS) -> PairedMeans:
    """Ours against each published curve at the same stated epsilon, although the published one loses more."""
    pairs = []
    for data in scores.data:
        for model in published(scores, data):
            for epsilon in scores.epsilons:
                ours, theirs = scores.mean(data, rigorous, epsilon), scores.mean(data, model, epsilon)
                if ours is not None and theirs is not None:
                    pairs.append((data, ours, theirs))
    return PairedMeans(pairs)


class Beaten(NamedTuple):
    """Ours at one epsilon beside the most accurate published point whose privacy loss is below a limit."""

    data: str
    ours: float
    theirs: float
    model: str
    epsilon: str
    loss: float


def at_honest_epsilon(scores: Accuracies, loss: Loss, limit: float, epsilon: str = "1") -> list[Beaten]:
    """Ours at ε = 1 against the most accurate published point of each data set whose `loss` is at most `limit`."""
    found = []
    for data in scores.data:
        ours = scores.mean(data, RIGOROUS, epsilon)
        points = [
            (mean, model, each, lost)
            for model in published(scores, data)
            for each in scores.epsilons
            if (mean := scores.mean(data, model, each)) is not None
            and (lost := loss(data, model, each)) is not None
            and lost <= limit
        ]
        if ours is not None and points:
            found.append(Beaten(data, ours, *max(points)))
    return found


def helped_by_noise(scores: Accuracies) -> dict[str, tuple[float, float]]:
    """Data sets on which a published model is clearly better with noise: the best accuracy with and without it."""
    helped = {}
    for data in scores.data:
        models = published(scores, data)
        without = [scores.mean(data, model, NOT_PRIVATE) for model in models]
        noisy = [scores.mean(data, model, each) for model in models for each in scores.epsilons]
        known = [each for each in noisy if each is not None], [each for each in without if each is not None]
        if known[0] and known[1] and max(known[0]) > max(known[1]) + STEEP:
            helped[data] = max(known[0]), max(known[1])
    return helped
