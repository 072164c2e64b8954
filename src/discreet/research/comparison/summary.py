"""Statistics of the runs: means, deviations, ratios, ranks, and which differences are more than chance."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, Run, as_number
from discreet.research.comparison.results import Measured


class Cell(NamedTuple):
    """One model on one data set at one epsilon.

    The deviation is that of single runs (n - 1 in the denominator; 0 for one run). The ratio is the mean over the mean
    of the same model without noise; None if the latter is missing or 0. `balanced` and `rarest` are the means of the
    balanced accuracy and of the recall of the rarest class; None if no run has them.
    """

    data: str
    model: str
    epsilon: str
    runs: int
    mean: float
    deviation: float
    ratio: float | None
    balanced: float | None = None
    rarest: float | None = None


class Difference(NamedTuple):
    """The Wilcoxon signed-rank test between two models; a pair is a data set and an epsilon."""

    first: str
    second: str
    pairs: int
    first_better: int
    second_better: int
    p_value: float


def cells(measured: Mapping[Run, Measured]) -> list[Cell]:
    """The runs grouped by data set, model and epsilon, in the order of the runs."""
    runs: dict[tuple[str, str, str], list[Measured]] = defaultdict(list)
    for run, each in measured.items():
        runs[run.data, run.model, run.epsilon].append(each)
    scores = {key: [each.accuracy for each in own] for key, own in runs.items()}
    means = {key: float(np.mean(values)) for key, values in scores.items()}
    return [
        Cell(
            *key,
            len(values),
            means[key],
            float(np.std(values, ddof=1)) if len(values) > 1 else 0.0,
            _ratio(means[key], means.get((key[0], key[1], NOT_PRIVATE))),
            _known_mean([each.balanced_accuracy for each in runs[key]]),
            _known_mean([each.rarest_recall for each in runs[key]]),
        )
        for key, values in scores.items()
    ]


def _known_mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _ratio(mean: float, reference: float | None) -> float | None:
    return mean / reference if reference else None


def _private_means(found: Sequence[Cell]) -> dict[str, dict[tuple[str, str], float]]:
    """The means of each model by data set and epsilon; runs without noise count only if there are no others."""
    own = [cell for cell in found if cell.model != MAJORITY]
    private = [cell for cell in own if cell.epsilon != NOT_PRIVATE] or own
    means: dict[str, dict[tuple[str, str], float]] = {}
    for cell in private:
        means.setdefault(cell.model, {})[cell.data, cell.epsilon] = cell.mean
    return means


def differences(found: Sequence[Cell]) -> list[Difference]:
    """A test between every two models, on the data sets and epsilons that both have (Lopuhaä 2021, definition 4.1).

    Absolute differences are ranked, equal ones by their average rank; the ranks of differences of zero are divided
    evenly between the two sides (`zero_method="zsplit"` of scipy); the p-value is two-sided, by the normal
    approximation without correction for continuity. The variance is N(N+1)(2N+1)/24 less the usual correction for equal
    ranks; the paper prints 1/4 for 1/24 in equation 22, which no test of this name has. Pairs from few data sets are
    not independent, so the p-value is only a hint.
    """
    means = _private_means(found)
    tested = []
    for first, second in combinations(means, 2):
        both = [key for key in means[first] if key in means[second]]
        gaps = np.array([means[first][key] - means[second][key] for key in both]).round(9)
        if len(gaps):
            better = int((gaps > 0).sum()), int((gaps < 0).sum())
            tested.append(Difference(first, second, len(gaps), *better, signed_rank_p_value(gaps)))
    return tested


def signed_rank_p_value(gaps: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Two-sided p-value of the test; 1 if all gaps are 0.

    >>> signed_rank_p_value(np.zeros(3))
    1.0
    """
    from scipy.stats import wilcoxon

    if not gaps.any():
        return 1.0
    return float(wilcoxon(gaps, zero_method="zsplit", correction=False, method="approx").pvalue)


def average_ranks(found: Sequence[Cell]) -> dict[str, float]:
    """The mean rank of each model over data sets and epsilons that all models have; 1 is best, ties get the mean."""
    return ranked_pairs(found)[0]


def ranked_pairs(found: Sequence[Cell]) -> tuple[dict[str, float], int]:
    """The average ranks, best first, and the number of pairs of data set and epsilon behind them."""
    from scipy.stats import rankdata

    means = _private_means(found)
    common = [key for key in next(iter(means.values()), {}) if all(key in each for each in means.values())]
    if not common:
        return {}, 0
    scores = np.array([[each[key] for each in means.values()] for key in common]).round(9)
    ranks = rankdata(-scores, axis=1).mean(axis=0)
    return dict(sorted(zip(means, ranks.tolist(), strict=True), key=lambda pair: pair[1])), len(common)


def critical_difference(models: int, pairs: int) -> float:
    """The difference of average ranks that is significant (Nemenyi, level 0.05, Demšar 2006): q √(k (k + 1) / 6 N).

    q is the quantile of the studentized range for infinitely many degrees of freedom, divided by √2.
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(0.95, models, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(models * (models + 1) / (6 * pairs))


def described(cell: Cell) -> str:
    """The accuracy of a cell for people."""
    ratio = "" if cell.ratio is None or cell.epsilon == NOT_PRIVATE else f" ({cell.ratio:.0%})"
    return f"{cell.mean:.3f} ± {cell.deviation:.3f}{ratio}"


def rates(cell: Cell) -> str:
    """Balanced accuracy and recall of the rarest class for people."""
    return " / ".join("–" if each is None else f"{each:.3f}" for each in (cell.balanced, cell.rarest))


def shown(epsilon: str) -> str:
    """An epsilon for people."""
    return "∞" if epsilon == NOT_PRIVATE else f"{as_number(epsilon):.4g}"
