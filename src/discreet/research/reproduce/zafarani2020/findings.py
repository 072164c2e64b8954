"""Whether our runs agree with the statements of Zafarani and Clifton 2020; all sentences are computed from cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from discreet import datasets
from discreet.errors import DiscreetError
from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE
from discreet.research.comparison.summary import shown
from discreet.research.papers.published import ExactRecords, count_columns
from discreet.research.papers.vaidya2013 import Vaidya2013NaiveBayes
from discreet.research.papers.zafarani2020 import Zafarani2020NaiveBayes
from discreet.research.reproduce.accuracies import MISSING, Accuracies
from discreet.research.reproduce.finding import Finding
from discreet.research.reproduce.zafarani2020.models import GLOBAL, RATIOS, SMOOTH

CHANCE = 0.02
"""Differences of means below this, or below two standard errors, are taken for chance.

Both limits were set after a first look at our runs.
"""


class Gap(NamedTuple):
    """How much more accurate one model is than another at one epsilon, and whether that is more than chance."""

    value: float
    is_clear: bool


def gaps(scores: Accuracies, data: str, first: str = SMOOTH, second: str = GLOBAL) -> list[Gap]:
    """The differences at each epsilon at which both were run."""
    found = []
    for epsilon in scores.epsilons:
        one, other = scores.mean(data, first, epsilon), scores.mean(data, second, epsilon)
        if one is not None and other is not None:
            error = math.hypot(scores.error(data, first, epsilon), scores.error(data, second, epsilon))
            found.append(Gap(one - other, abs(one - other) > max(CHANCE, 2 * error)))
    return found


def clearly(found: Sequence[Gap]) -> tuple[int, int]:
    """Number of epsilons at which the first model is clearly better, and clearly worse."""
    clear = [gap.value for gap in found if gap.is_clear]
    return sum(value > 0 for value in clear), sum(value < 0 for value in clear)


def average(found: Sequence[Gap]) -> float:
    """The mean difference."""
    return sum(gap.value for gap in found) / len(found)


def improvement(scores: Accuracies, data: str) -> Finding:
    """Whether smooth sensitivity beats global sensitivity, as the paper says it does everywhere."""
    statement = f"{data}: more accurate by smooth sensitivity than by global"
    found = gaps(scores, data)
    if not found:
        return Finding(statement, MISSING, None)
    better, worse = clearly(found)
    text = f"clearly better at {better} of {len(found)} ε, clearly worse at {worse}; on average {average(found):+.3f}"
    return Finding(statement, text, better > worse and average(found) > 0)


def useful_from(scores: Accuracies, data: str, model: str, margin: float = CHANCE) -> str:
    """The smallest epsilon from which the model stays above the largest class by a margin."""
    least = scores.mean(data, MAJORITY, NOT_PRIVATE)
    means = [(each, mean) for each in scores.epsilons if (mean := scores.mean(data, model, each)) is not None]
    if least is None or not means:
        return MISSING
    above = [mean > least + margin for _, mean in means]
    if not above[-1]:
        return f"above {shown(means[-1][0])}"
    first = len(above) - next((i for i, each in enumerate(reversed(above)) if not each), len(above))
    return shown(means[first][0])


class RelativeErrors(NamedTuple):
    """Median error with smooth sensitivity relative to that with global sensitivity: smallest, median, largest."""

    means: tuple[float, float, float]
    deviations: tuple[float, float, float]


def noise(data: str, directory: str | None, epsilon: float = 1.0) -> RelativeErrors | None:
    """The relative errors on a public data set; None if it is missing or has no numeric column.

    Global sensitivity is that of a list of the class's own size. The median of |Cauchy noise| is its scale, that of
    |Laplace noise| is ln 2 times its scale.
    """
    try:
        X, y, schema = datasets.load(data, directory)
    except DiscreetError:
        return None
    if not count_columns(schema)[1]:
        return None
    records = ExactRecords.read(X, y, schema)
    model = Zafarani2020NaiveBayes(schema, epsilon=epsilon)
    smooth = model.scales(records)
    means, deviations = [], []
    for label, count in enumerate(records.class_counts()):
        laplace = Vaidya2013NaiveBayes(schema, epsilon=model.query_epsilon, n=max(1.0, float(count))).scales(records)
        means += [scale[label] / (math.log(2) * laplace.means[name][label]) for name, scale in smooth.means.items()]
        deviations += [
            scale[label] / (math.log(2) * laplace.deviations[name][label]) for name, scale in smooth.deviations.items()
        ]
    ratios = np.array(means), np.array(deviations)
    first, second = ((float(each.min()), float(np.median(each)), float(each.max())) for each in ratios)
    return RelativeErrors(first, second)


def allocation_means(scores: Accuracies, data: str, model: str) -> dict[str, float]:
    """The accuracy of each ratio, averaged over epsilon; ratios without all runs are left out."""
    found = {}
    for numeric, categorical in RATIOS:
        ratio = f"{numeric}:{categorical}"
        means = [scores.mean(data, f"{model}, {ratio}", each) for each in scores.epsilons]
        known = [mean for mean in means if mean is not None]
        if known and len(known) == len(means):
            found[ratio] = _mean(known)
    return found


def allocation(scores: Accuracies, data: str) -> list[Finding]:
    """Whether a division is worse only if it favours categorical columns."""
    statements = (
        "the division 1:2, which favours categorical attributes, is worse than 2:1",
        "the other divisions cannot be told apart",
    )
    means = allocation_means(scores, data, SMOOTH)
    if not {"1:2", "1:1", "2:1", "4:1"} <= means.keys():
        return [Finding(each, MISSING, None) for each in statements]
    worse = gaps(scores, data, f"{SMOOTH}, 1:2", f"{SMOOTH}, 2:1")
    up, down = clearly(worse)
    others = [
        gap
        for first, second in combinations(("1:1", "2:1", "4:1"), 2)
        for gap in gaps(scores, data, f"{SMOOTH}, {first}", f"{SMOOTH}, {second}")
    ]
    text = "; ".join(f"{ratio} {mean:.3f}" for ratio, mean in means.items())
    told = f"clearly worse at {down} of {len(worse)} ε, clearly better at {up}; averages over ε: {text}"
    clear = sum(gap.is_clear for gap in others)
    return [
        Finding(statements[0], told, down > up),
        Finding(statements[1], f"{clear} of {len(others)} differences of 1:1, 2:1 and 4:1 are clear", clear == 0),
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
