"""What a noisy confusion matrix tells: accuracy, balanced accuracy, and how well each class is found.

All of it is made of the published counts and of public things: post-processing, which costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.evaluation.intervals import Estimate, Noisy, fraction, is_sure, mean
from discreet.pictures.figure import new_figure
from discreet.schema.columns import Label

MOST_CLASSES = 254
"""The most classes of a confusion matrix: a column has at most 65,000 cells, and there is one for each pair."""
MOST_WRITTEN = 12
"""Up to this many classes, a picture writes each count into its cell: more would not be readable."""


@dataclass(frozen=True)
class ClassFigures:
    """How well one class is found.

    Attributes
    ----------
    records : the noisy number of records of the class; it may be negative.
    sensitivity : the fraction of its records that are predicted as it (recall).
    specificity : the fraction of all other records that are predicted as something else.
    precision : the fraction of the records predicted as it that are of it.

    Examples
    --------
    >>> from discreet import NaiveBayes, datasets, evaluate
    >>> X, y, schema = datasets.load("iris")
    >>> model = NaiveBayes(schema, epsilon=1).fit(X, y)
    >>> figures = evaluate(model, X, y, epsilon=1).confusion.by_class[0]
    >>> figures.label == schema.classes[0], 0 <= figures.sensitivity.lower <= figures.sensitivity.upper <= 1
    (True, True)
    """

    label: Label
    records: int
    sensitivity: Estimate
    specificity: Estimate
    precision: Estimate

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        rates = {name: getattr(self, name).to_dict() for name in ("sensitivity", "specificity", "precision")}
        return {"class": self.label, "records": self.records, **rates}


@dataclass(frozen=True)
class Confusion:
    """A published confusion matrix, and what follows from it.

    Attributes
    ----------
    classes : the classes, in the order of the schema.
    counts : noisy numbers of records by true class (rows) and predicted class; they may be negative.
    margin : each of them is at most this far from the exact number, with the probability `confidence`.
    confidence : that of every interval by itself, for the noise and for sampling: how well records represent others.
    accuracy, balanced_accuracy : the fraction of right predictions, and the mean of the sensitivities of all classes.
    by_class : the figures of each class.

    Examples
    --------
    >>> from discreet import NaiveBayes, datasets, evaluate
    >>> X, y, schema = datasets.load("iris")
    >>> model = NaiveBayes(schema, epsilon=1).fit(X, y)
    >>> confusion = evaluate(model, X, y, epsilon=1).confusion
    >>> confusion.classes == schema.classes, len(confusion.counts), len(confusion.counts[0])
    (True, 3, 3)
    """

    classes: tuple[Label, ...]
    counts: tuple[tuple[int, ...], ...]
    margin: int
    confidence: float
    accuracy: Estimate
    balanced_accuracy: Estimate
    by_class: tuple[ClassFigures, ...]

    @property
    def rarest(self) -> ClassFigures:
        """The class with the smallest noisy number of records."""
        return min(self.by_class, key=lambda each: each.records)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "classes": list(self.classes),
            "counts": [list(row) for row in self.counts],
            "margin": self.margin,
            "confidence": self.confidence,
            "accuracy": self.accuracy.to_dict(),
            "balanced_accuracy": self.balanced_accuracy.to_dict(),
            "by_class": [each.to_dict() for each in self.by_class],
        }

    def plot(self) -> Any:
        """Draw the matrix, and the sensitivity and precision of each class with their intervals, with matplotlib."""
        size = len(self.classes)
        figure = new_figure(figsize=(5 + 0.7 * min(size, 24), 3.2 + 0.35 * min(size, 24)))
        matrix, rates = figure.subplots(1, 2, width_ratios=(3, 2))
        _draw_matrix(matrix, self)
        _draw_rates(rates, self)
        return figure


def confusion(
    noisy_counts: NDArray[np.int64],
    variance: float,
    margin: int,
    right_and_wrong: tuple[Noisy, Noisy] | None,
    classes: Sequence[Label],
    confidence: float,
) -> Confusion:
    """The matrix with its figures; `right_and_wrong` are numbers of their own, if they were published besides it."""

    def summed(chosen: NDArray[np.bool_]) -> Noisy:
        return Noisy(int(noisy_counts[chosen].sum()), float(chosen.sum()) * variance)

    def share(part: NDArray[np.bool_], rest: NDArray[np.bool_]) -> Estimate:
        return fraction(summed(part), summed(rest), confidence)

    size = len(classes)
    sure = all(is_sure(Noisy(int(row.sum()), size * variance)) for row in noisy_counts)
    right = np.eye(size, dtype=bool)
    figures = []
    for place, label in enumerate(classes):
        true, predicted = np.zeros_like(right), np.zeros_like(right)
        true[place], predicted[:, place] = True, True
        hit = true & predicted
        found = (
            share(hit, true & ~hit),
            share(~true & ~predicted, ~true & predicted),
            share(hit, predicted & ~hit),
        )
        figures.append(ClassFigures(label, summed(true).count, *found))
    accuracy = share(right, ~right) if right_and_wrong is None else fraction(*right_and_wrong, confidence)
    return Confusion(
        tuple(classes),
        tuple(tuple(int(each) for each in row) for row in noisy_counts),
        margin,
        confidence,
        accuracy,
        mean([each.sensitivity for each in figures], sure=sure),
        tuple(figures),
    )


def _draw_matrix(axes: Any, found: Confusion) -> None:
    counts = np.array(found.counts, dtype=np.float64)
    rows = np.maximum(counts, 0.0)
    shares = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
    axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    names = [str(label) for label in found.classes]
    axes.set_xticks(range(len(names)), names, rotation=90 if max(map(len, names)) * len(names) > 24 else 0)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    axes.set_title(f"Noisy counts (±{found.margin:,})", fontsize="medium")
    if len(names) <= MOST_WRITTEN:
        for (row, column), count in np.ndenumerate(counts):
            colour = "grey" if abs(count) <= found.margin else "white" if shares[row, column] > 0.6 else "black"
            axes.text(column, row, f"{count:,.0f}", ha="center", va="center", color=colour, fontsize="small")


def _draw_rates(axes: Any, found: Confusion) -> None:
    for offset, (name, marker, colour) in enumerate((("sensitivity", "o", "#0072B2"), ("precision", "D", "#D55E00"))):
        estimates = [getattr(each, name) for each in found.by_class]
        values = [each.value for each in estimates]
        spread = [[each.value - each.lower for each in estimates], [each.upper - each.value for each in estimates]]
        places = [place + 0.24 * offset - 0.12 for place in range(len(values))]
        axes.errorbar(values, places, xerr=spread, fmt=marker, color=colour, label=name, capsize=2, markersize=4)
    axes.set_yticks(range(len(found.classes)), [str(label) for label in found.classes])
    axes.set_ylim(len(found.classes) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_title(f"balanced accuracy {found.balanced_accuracy.value:.2f}", fontsize="medium")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False, fontsize="small")
