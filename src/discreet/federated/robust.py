"""Hostile parties: a minority can change the model only within bounds, whatever numbers it sends.

Every answer is first brought into its feasible range: no party counts for more records than the public limit. Parties
whose tables deviate together, in a direction in which noise would not, are left out (a spectral filter, after
Diakonikolas et al. 2016). From the rest, the proportion of each cell in its class is estimated cell by cell: by a
trimmed mean or a median, weighted by precision. Weights are capped, so claiming more records gains no influence.

All of this is post-processing of answers that are private by themselves (trust="nobody"). It needs each single answer,
so it cannot work on a secure sum. It assumes that honest parties differ only in size and in their mixture of classes: a
party that is truly different may be left out, and cells that few parties have are underestimated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gamma

from discreet.errors import ParameterError
from discreet.federated.aggregator import Aggregator, model_of
from discreet.federated.invitation import Invitation
from discreet.federated.message import Message
from discreet.released.statistics import NoisyStatistics, NoisyTable

RULES = ("trimmed-mean", "median", "clip")
SAMPLING = 1 / 3
"""Approximate variance of a cell's proportion per record, in the precision weights."""
ABSTAIN = 3
"""A party has no say about a class if it counts fewer of its records than this many standard deviations of noise."""
TOGETHER = 4
"""Approximate variance inflation from shared records: the same records are in all tables of a party."""
CAP = 0.3
"""Weights are capped at this quantile."""
MARGIN = 1.25
"""A direction is suspicious if its eigenvalue exceeds the largest one of pure noise by this factor."""
QUIET = 1e-5
"""The probability that an honest party is mistaken for one that adds no noise."""
MOST_LEFT_OUT = 0.4
"""The filter leaves out at most this fraction of the parties: it cannot tell a hostile majority from an honest one."""
FEASIBLE = 6
"""A cell is clipped at this many standard deviations of its noise beyond what a party can have."""
MOST_RECORDS = 6.0
"""By default a party can have this many times its even part of the schema's number of records."""

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Kept = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Robust:
    """Robust tables, and the parties that the filter left out."""

    invitation: Invitation
    statistics: NoisyStatistics
    left_out: tuple[str, ...]

    def model(self) -> Any:
        """The model that is made from the robust tables."""
        return model_of(self.invitation, self.statistics)


def combine(
    invitation: Invitation,
    messages: Sequence[Message],
    *,
    rule: str = "trimmed-mean",
    trim: float = 0.35,
    most_records: int | None = None,
) -> Robust:
    """Combine answers, some of which may come from hostile parties.

    Guarantee  for each cell the trimmed mean and the median lie between two honest parties' values if the hostile
               parties that the filter kept have less than `trim` (for the median: half) of the capped weight. With
               "clip" each cell of a party lies in the range of a party with `most_records`, noise included, before its
               tables are made consistent. Privacy is that of the answers: post-processing.
    Test       tests/federated/test_robust.py::test_estimates_lie_between_honest_ones, ..._claimed_count_buys_nothing

    Parameters
    ----------
    invitation, messages : the round, with trust="nobody", and the answers; parties without an answer are left out.
    rule : "trimmed-mean", "median", or "clip" (the sum of answers in their feasible range, without a filter).
    trim : the fraction of the weight that a trimmed mean drops on each side.
    most_records : the most records that a party can have, which is public; default: six times its even part of the
        schema's number of records.
    """
    most = _checked(invitation, rule, trim, most_records)
    plain = Aggregator.of(invitation, messages).statistics()
    answers = _Answers.of(invitation, messages, most)
    kept = np.ones(len(messages), dtype=bool) if rule == "clip" else _filtered(answers)
    values, variances = answers.sums() if rule == "clip" else answers.combined(kept, 0.5 if rule == "median" else trim)
    noisy = [
        (question.query, NoisyTable(np.rint(table * unit).astype(np.int64), float(variances[start]) * unit**2))
        for question, table, start in zip(
            invitation.questions, np.split(values, answers.starts[1:], axis=1), answers.starts, strict=True
        )
        for unit in [question.query.unit(invitation.schema)]
    ]
    left_out = tuple(message.party for message, stays in zip(messages, kept, strict=True) if not stays)
    return Robust(invitation, NoisyStatistics(noisy, plain.receipt), left_out)


@dataclass(frozen=True, eq=False)
class _Answers:
    """All answers in units of records, clipped to their feasible range.

    Attributes
    ----------
    cells : every table of every party, side by side (parties by classes by cells).
    starts : the first cell of each table.
    variances : the variance of the noise in each cell.
    counts, variance : class counts of each party by least squares (parties by classes), and their error variance.
    """

    cells: Floats
    starts: NDArray[np.intp]
    variances: Floats
    counts: Floats
    variance: float

    @classmethod
    def of(cls, invitation: Invitation, messages: Sequence[Message], most: float) -> _Answers:
        """Clip every cell to what a party with `most` records can have, and scale every party to at most `most`."""
        widths = np.array([columns for _, columns in invitation.shapes(messages[0].party)])
        units = np.array([float(question.query.unit(invitation.schema)) for question in invitation.questions])
        own = np.array([invitation.variance(place, 1) for place in range(len(widths))]) / units**2
        cells = np.stack([np.concatenate(message.tables, axis=1) for message in messages]) / np.repeat(units, widths)
        variances = np.repeat(own, widths)
        starts = np.cumsum(widths) - widths
        weights = 1 / (widths * np.maximum(own, 1e-12))
        claimed = np.maximum(np.add.reduceat(cells, starts, axis=2) @ (weights / weights.sum()), 0.0).sum(axis=1)
        cells *= np.minimum(1.0, most / np.maximum(claimed, 1e-300))[:, None, None]
        noise = FEASIBLE * np.sqrt(variances)
        cells = np.clip(cells, -noise, most + noise)
        sums = np.add.reduceat(cells, starts, axis=2)
        counts = np.minimum(np.maximum(sums @ (weights / weights.sum()), 0.0), most)
        lacking = (counts[:, :, None] - sums) / widths
        return cls(cells + np.repeat(lacking, widths, axis=2), starts, variances, counts, float(1 / weights.sum()))

    @property
    def floors(self) -> Floats:
        """The class counts, raised to `ABSTAIN` standard deviations of their noise: cells are divided by them."""
        return np.maximum(self.counts, max(ABSTAIN * math.sqrt(self.variance), 1e-9))

    def sums(self) -> tuple[Floats, Floats]:
        """The sum of the tables, and the variance of the noise in each cell."""
        return self.cells.sum(axis=0), self.variances * len(self.cells)

    def capped(self, kept: Kept) -> Floats:
        """The class counts that weights are made of: zero for parties that abstain, and at most the cap.

        The cap is a low quantile, so a claim of many records weighs no more than an ordinary party. The cap is at least
        the count of a party whose records are clearly above its noise.
        """
        deviation = max(math.sqrt(self.variance), 1e-6)
        own = np.where((self.counts < ABSTAIN * deviation) | ~kept[:, None], 0.0, self.counts)
        own[np.ix_(kept, ~own.any(axis=0))] = deviation  # nobody has records of the class: all know equally little
        cap = np.maximum(np.quantile(own[kept], CAP, axis=0), 2 * ABSTAIN * deviation)
        return np.asarray(np.minimum(own, cap))

    def weights(self, kept: Kept) -> Floats:
        """Precision of each party's proportions in each class, from the capped counts."""
        own = self.capped(kept)
        return np.asarray(own**2 / (own * SAMPLING + max(self.variance, 1e-12)))

    def proportions(self, weights: Floats, trim: float) -> Floats:
        """The proportion of each cell in each class (classes by cells), estimated cell by cell over the parties."""
        own = self.cells / self.floors[:, :, None]
        return np.stack([middle(own[:, row], weights[:, row], trim) for row in range(own.shape[1])])

    def combined(self, kept: Kept, trim: float) -> tuple[Floats, Floats]:
        """Tables of counts for all parties, from robust proportions of cells and robust class counts."""
        weights = self.weights(kept)
        totals = middle(self.counts[kept], np.ones(int(kept.sum())), 0.5) * len(self.counts)
        noise = float((self._spread(weights) * totals**2).mean())
        return totals[:, None] * self.proportions(weights, trim), noise * self.variances

    def residuals(self, kept: Kept) -> tuple[Floats, Floats]:
        """How far each kept party's cells are from those expected by the mean of all kept parties, in standard
        deviations; and the fraction of the variance that is noise.

        The mean, not the median: hostile parties that agree to the last digit would pull the median to themselves,
        while a minority is always farther from the mean than the majority. The sampling variance is multiplied by
        `TOGETHER`: the same records are in all tables, so these vary together in some directions.
        """
        weights = self.weights(kept)
        proportions, own = self.proportions(weights, 0.0), self.counts[kept, :, None]
        noise = self.variances * (1 + own**2 * self._spread(weights)[:, None])
        whole = noise + TOGETHER * np.maximum(own * proportions, 0.0)
        apart = (self.cells[kept] - own * proportions) / np.sqrt(whole)
        return apart.reshape(len(own), -1), (self.variances / whole).reshape(len(own), -1)

    def _spread(self, weights: Floats) -> Floats:
        """The variance of each class's combined proportions, per unit of the variance of a cell's noise."""
        return np.asarray(((weights / self.floors) ** 2).sum(axis=0) / weights.sum(axis=0) ** 2)


def middle(values: Floats, weights: Floats, trim: float) -> Floats:
    """The weighted trimmed mean of each column: `trim` of the weight is dropped on each side; .5 gives the median."""
    order = np.argsort(values, axis=0, kind="stable")
    ordered, own = np.take_along_axis(values, order, axis=0), weights[order]
    ends = np.cumsum(own, axis=0)
    whole = ends[-1]
    trim = min(trim, 0.5 - 1e-9)  # for the median the two cuts nearly meet
    low, high = trim * whole, (1 - trim) * whole
    left = np.clip(ends, low, high) - np.clip(ends - own, low, high)
    return np.asarray((left * ordered).sum(axis=0) / left.sum(axis=0))


def _filtered(answers: _Answers) -> Kept:
    """Leave out parties without noise, then, one by one, those that deviate together in some direction.

    Independent noise of variance one in D cells of A parties has singular values up to about √D + √A (Bai and Yin
    1993). Hostile parties that agree on how to shift the tables, or one that shifts them far, exceed it. Parties that
    agree and add no noise would not, and would define the median: they are found by their missing noise.
    """
    parties = len(answers.counts)
    kept = np.ones(parties, dtype=bool)
    kept[_too_quiet(answers, kept)] = False
    while kept.sum() > max(1, math.ceil((1 - MOST_LEFT_OUT) * parties)):
        residuals, _ = answers.residuals(kept)
        values, vectors = np.linalg.eigh(residuals @ residuals.T)
        if values[-1] <= MARGIN * (math.sqrt(residuals.shape[1]) + math.sqrt(len(residuals))) ** 2:
            break
        kept[np.flatnonzero(kept)[np.argmax(np.abs(vectors[:, -1]))]] = False
    return kept


def _too_quiet(answers: _Answers, kept: Kept) -> Integers:
    """Parties whose tables are nearer to the expected ones than noise allows; at most as many as may be left out.

    A squared Laplace variable of variance one has variance five. Their sum is approximated by a gamma variable of the
    same mean and variance, whose lower tail is heavier.
    """
    residuals, noise = answers.residuals(kept)
    free = 1 - len(answers.starts) / len(answers.variances)  # tables were made to agree with the class counts
    mean, variance = free * noise.sum(axis=1), 5 * free * (noise**2).sum(axis=1)
    least = gamma.ppf(QUIET, mean**2 / variance, scale=variance / mean) if free > 0 else np.zeros(len(mean))
    excess = (residuals**2).sum(axis=1) - least
    quiet = np.argsort(excess)[: math.floor(MOST_LEFT_OUT * len(kept))]
    return np.asarray(quiet[excess[quiet] < 0])


def _checked(invitation: Invitation, rule: str, trim: float, most_records: int | None) -> float:
    """The most records that a party can have; ParameterError if the round or a parameter does not fit."""
    if invitation.trust == "sum":
        raise ParameterError(
            "robust rules compare single answers, and in a secure sum these are masked: only their sum can be read; "
            "invite with trust='nobody'"
        )
    if invitation.is_vertical:
        raise ParameterError("parties that have different columns cannot be compared; use an Aggregator")
    everything = list(range(len(invitation.questions)))
    if any(invitation.asked(party.name) != everything for party in invitation.parties):
        raise ParameterError("robust rules need every party to answer every question; invite with deal=False")
    if rule not in RULES:
        raise ParameterError(f"rule={rule!r}; need one of: {', '.join(RULES)}")
    if not isinstance(trim, Real) or not 0 <= trim < 0.5:
        raise ParameterError(f"trim={trim!r}; need a fraction of at least 0 and below 0.5")
    if most_records is None:
        return MOST_RECORDS * (invitation.schema.records or 1) / len(invitation.parties)
    if not isinstance(most_records, Integral) or most_records < 1:
        raise ParameterError(f"most_records={most_records!r}; need a positive integer")
    return float(most_records)
