"""Where a linear model of two classes draws the line, if classes are weighted.

The weights of a linear model point from one class to the other even where no record has a score above zero, as with a
class of 5 %. So a share of ε counts the records of each class by interval of the score, and the line is drawn where the
weighted number of right predictions is largest: post-processing of these counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.models.class_weights import weights_of
from discreet.models.linear.scoring import Scorer
from discreet.queries.added_scores import AddedScores
from discreet.queries.hyperplanes import Hyperplanes
from discreet.records.encoding import Codes
from discreet.records.tables import CodedRecords
from discreet.schema import Schema
from discreet.sources.predictions import Marking

Matrix = NDArray[np.float64]

SHARE = 0.15
"""Share of ε that pays for the counts by score (recall and precision: benchmarks/imbalance.py)."""
BINS = 64
"""Intervals of the score. Sums of their noise decide, so more would not place the line any better."""
REACH = 2.0
"""Scores beyond this are not told apart: the hinge looks at scores from -1 to 1."""
MOST_NUMBERS = 1 << 20
"""The most numbers that describe the intervals to an engine; with more cells there are fewer intervals."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """The intervals of the score of the schema's second class, as a model in which each interval is a class.

    Interval j ends at the j-th threshold t. Line j is j times the score, less the sum of the first j thresholds: it is
    above line j - 1 exactly where the score is above the threshold between them. So the largest line names the
    interval, and engines that find the largest score find it too.
    """

    scorer: Scorer
    schema: Schema
    thresholds: Matrix

    @classmethod
    def of(cls, scorer: Scorer, schema: Schema) -> Intervals:
        """The intervals for a scorer whose classes are in the order of the schema."""
        tables = [by_cell[:, 1] for _, by_cell in scorer.groups]
        low = float(scorer.constants[1]) + sum(float(each.min()) for each in tables)
        high = float(scorer.constants[1]) + sum(float(each.max()) for each in tables)
        bins = bins_for(sum(len(each) for each in tables))
        ends = np.linspace(max(low, -REACH), max(low, -REACH, min(high, REACH)), bins + 1)
        thresholds = ends[1:-1]
        slopes = np.arange(bins, dtype=np.float64)
        offsets = np.concatenate([[0.0], np.cumsum(thresholds)])
        groups = tuple((feature, np.ascontiguousarray(by_cell[:, 1:2] * slopes)) for feature, by_cell in scorer.groups)
        return cls(Scorer(scorer.constants[1] * slopes - offsets, groups), schema, thresholds)

    @property
    def added(self) -> AddedScores:
        """The same as sums."""
        groups = tuple((feature.cells, by_cell) for feature, by_cell in self.scorer.groups)
        return AddedScores(self.scorer.constants, groups, 1.0, tuple(range(len(self.scorer.constants))))

    def __call__(self, records: CodedRecords) -> Codes:
        """The interval of each record."""
        codes = [np.argmax(block, axis=1) for block in self.scorer.scores(records, self.schema)]
        return np.concatenate([np.empty(0, dtype=np.intp), *codes])


def bins_for(cells: int) -> int:
    """How many intervals there are for this many cells."""
    return max(2, min(BINS, MOST_NUMBERS // max(cells, 1)))


def trial(query: Hyperplanes, schema: Schema) -> Marking:
    """What will be asked of an engine, with weights of zero: to see before anything is paid whether it can be done."""
    groups = tuple((feature, np.zeros((len(feature.places), 2))) for feature in query.features(schema))
    intervals = Intervals.of(Scorer(np.zeros(2), groups), schema)
    return Marking(intervals, len(schema.classes), intervals.added, len(intervals.thresholds) + 1)


def line(intervals: Intervals, noisy_counts: NDArray[Any], variance: float, value: Any) -> tuple[float, Matrix]:
    """The score above which a record gets the second class, and the weights of both classes.

    Of equally good lines the one nearest to 0 is taken.
    """
    counts = np.asarray(noisy_counts, dtype=np.float64)
    weights = weights_of(value, intervals.schema, counts.sum(axis=1), float(np.sqrt(variance * counts.shape[1])))
    assert weights is not None, "weights were asked for"
    below = np.cumsum(counts[0])[:-1]
    above = counts[1].sum() - np.cumsum(counts[1])[:-1]
    right = weights[0] * below + weights[1] * above
    best = np.flatnonzero(right >= right.max() - 1e-9)
    places = intervals.thresholds[best]
    return float(places[np.argmin(np.abs(places))]), weights
