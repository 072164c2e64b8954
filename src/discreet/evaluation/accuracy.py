"""How good a model is on private records, as numbers that can be published: with noise, and for one charge."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet.doors.counts import release
from discreet.errors import ParameterError
from discreet.evaluation.confusion import MOST_CLASSES, Confusion, confusion
from discreet.evaluation.intervals import Noisy
from discreet.models import MODELS
from discreet.privacy.epsilon import Epsilon, as_epsilon, as_release_epsilon, shown_above
from discreet.privacy.guarantee import NEIGHBOURS, Guarantee, factor
from discreet.privacy.ledger import Ledger, as_ledger
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import as_rng
from discreet.privacy.receipt import Receipt
from discreet.privacy.steps import Step, laplace_steps, split_evenly
from discreet.queries.tables import ClassCounts, Counts, TableQuery
from discreet.released.intervals import half_width, half_width_of_sum
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Records, Source, as_declared, as_records, check_rows, finish
from discreet.sources.file import open_file
from discreet.sources.predictions import PAIR, Examples, MarkedSource, MarkedTable, marks

UNIT = "one record of the test data"
RIGHT_WRONG, PAIRS = ClassCounts(), Counts(PAIR.column)
"""What is asked of marked records: how many are right and wrong, and how many there are of each pair of classes."""
ASKED = {repr(RIGHT_WRONG): "Predictions(right, wrong)", repr(PAIRS): "Predictions(true, predicted)"}
"""The same in the words of a receipt."""
ONLY = ("accuracy",)
"""What can be asked for alone."""
SUREST = 0.999999999
"""The largest confidence of an interval: nothing that is computed from it may fail after the charge."""


class AccuracyGuarantee(Guarantee):
    """The guarantee of an accuracy: it covers the records that the accuracy was measured on, and no others.

    Examples
    --------
    >>> from discreet import NaiveBayes, datasets, evaluate
    >>> X, y, schema = datasets.load("iris")
    >>> model = NaiveBayes(schema, epsilon=1).fit(X, y)
    >>> guarantee = evaluate(model, X, y, epsilon="1/2").guarantee
    >>> str(guarantee.epsilon), guarantee.holds
    ('1/2', True)
    """

    def statement(self) -> str:
        """One paragraph for a person who has to decide."""
        if not self.holds:
            return f"No privacy is guaranteed: {'; '.join(self.reasons)}."
        return (
            f"This accuracy is {shown_above(self.epsilon)}-differentially private (delta = 0) for {self.unit}, with "
            f"all that was published with it: if {NEIGHBOURS[self.adjacency]}, the probability of any such result "
            f"changes by a factor of at most {factor(self.epsilon)}. The model is taken to be public; for records that "
            "it was trained on, or that its columns were chosen with, the two losses add up."
        )


@dataclass(frozen=True)
class Accuracy:
    """A published accuracy.

    Attributes
    ----------
    value : the fraction of right predictions among the records that have one of the classes.
    lower, upper : confidence interval for the accuracy on this test set, at least at `confidence`. It accounts for the
        noise only, not for how well these records represent others.
    right, wrong : the noisy numbers of records predicted right and wrong; they may be negative.
    margin : with at least the probability `confidence`, both are at most this far from the true numbers.
    confusion : the noisy confusion matrix with the figures that follow from it; None if it was not asked for, or if
        there are too many classes.

    Examples
    --------
    >>> from discreet import NaiveBayes, datasets, evaluate
    >>> X, y, schema = datasets.load("iris")
    >>> model = NaiveBayes(schema, epsilon=1).fit(X, y)
    >>> accuracy = evaluate(model, X, y, epsilon=1, only="accuracy")
    >>> 0 <= accuracy.lower <= accuracy.value <= accuracy.upper <= 1, accuracy.confusion
    (True, None)
    """

    value: float
    lower: float
    upper: float
    confidence: float
    right: int
    wrong: int
    margin: int
    receipt: Receipt
    guarantee: AccuracyGuarantee
    confusion: Confusion | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = ("lower", "upper", "confidence", "right", "wrong", "margin")
        return {
            "accuracy": self.value,
            **{name: getattr(self, name) for name in names},
            "confusion": None if self.confusion is None else self.confusion.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "charges": [charge.to_dict() for charge in self.receipt.charges],
        }


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    epsilon: Any = 1.0,
    ledger: Ledger | None = None,
    adjacency: Any = None,
    confidence: float = 0.95,
    only: str | None = None,
    random_state: Any = None,
) -> Accuracy:
    """How good a model is on a data frame, a list of dicts or a 2-D array X and labels y, as a release of its own.

    With y=None the labels are the target column of X. Records without one of the schema's classes are not counted. One
    charge pays for the accuracy and the confusion matrix; balanced accuracy, and sensitivity, specificity and precision
    of each class, follow from these for free. On records that the model was trained on all figures are too good.

    Guarantee  the result is ε-DP under the adjacency, with ε the charge; the model is public.
    Proof      a record is marked with its true and its predicted class or, without a class, not at all, by a function
               of the record and of public things alone (MarkedSource). What is asked are the numbers of right and wrong
               marks, the numbers of each pair of classes, or both at shares that sum to ε: one record added adds at
               most one to one number of each table (L1 distance 1). Replace-one is a removal and an addition (distance
               2), and changes no more. `release` answers with discrete Laplace noise at that sensitivity; all figures,
               intervals and margins are made of its answers and of public things.
    Test       tests/evaluation/test_accuracy.py::test_the_loss_between_neighbours_is_what_was_paid and
               tests/evaluation/test_confusion.py::test_the_loss_between_neighbours_is_what_was_paid
    Utility    for two classes, the matrix alone is asked: right and wrong are sums of two of its counts each, and their
               noise is √2 times that of a score with only="accuracy". For more classes such sums would be noisier, so
               half of ε pays for right and wrong themselves: twice the noise (benchmarks/scores.py). Under replace-one
               the number of records is public, but not how many of them have a class.

    Parameters
    ----------
    epsilon : the charge.
    ledger : the account of the test data; it is charged before the first value is read.
    adjacency : "add-remove" or "replace-one"; default: that of the model's schema.
    confidence : the probability that the interval is correct, between 0 and 1.
    only : None (default), or "accuracy" to spend all of ε on the numbers of right and wrong predictions.
    random_state : None for secure noise; a number for repeatable noise, without a guarantee.

    Examples
    --------
    >>> from discreet import NaiveBayes, datasets
    >>> X, y, schema = datasets.load("iris")
    >>> model = NaiveBayes(schema, epsilon=1).fit(X, y)
    >>> accuracy = evaluate(model, X, y, epsilon=1)
    >>> 0 <= accuracy.lower <= accuracy.value <= accuracy.upper <= 1, accuracy.receipt.epsilon
    (True, Fraction(1, 1))
    """
    _check_model(model)
    marked = MarkedSource(model.predict, model.schema_, (X, y), lambda: [(X, y)], singly=not model.by_record)
    options = {"adjacency": adjacency, "confidence": confidence, "only": only, "random_state": random_state}
    return _evaluated(model, marked, epsilon, ledger, **options)


def evaluate_from(model: Any, source: Source, **options: Any) -> Accuracy:
    """As `evaluate`, for any source, for instance a database or a file larger than memory.

    Records are marked where the source counts them, and only numbers of records come back; models that need whole
    values (bee rules) read them block by block. Columns that are not in the model's schema are not read.

    Examples
    --------
    >>> import tempfile
    >>> from discreet import Ledger, Numeric, OneRule, Schema, open_file
    >>> schema = Schema([Numeric("age", 0, 120)], "ill", ["no", "yes"], records=100)
    >>> model = OneRule(schema, epsilon=1).fit([{"age": 20}, {"age": 70}] * 50, ["no", "yes"] * 50)
    >>> ledger = Ledger(1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "test.csv").write_text("age,ill\\n" + "30,no\\n80,yes\\n" * 50)
    ...     accuracy = evaluate_from(model, open_file(Path(folder, "test.csv")), epsilon="1/2", ledger=ledger)
    >>> str(ledger.spent)
    '1/2'
    """
    _check_model(model)
    source = as_declared(source, model.schema_)
    marked: Source
    if model.by_record:
        check_rows(source, sums=True)
        marked = MarkedTable(source, model.predict_positions, model.asked_cells(), model.schema_, model.added_scores())
    else:
        records = as_records(source)
        structure = {name: column for name, column in records.structure().items() if name in model.schema_.all_names}
        blocks = partial(_examples, records, model.schema_)
        marked = MarkedSource(model.predict, model.schema_, (structure, None), blocks, singly=True)
    try:
        return _evaluated(model, marked, **options)
    finally:
        finish(source)


def _examples(records: Records, schema: Schema) -> Iterator[Examples]:
    return ((block, None) for block in records.values(schema.all_names, schema.numeric_names))


def evaluate_file(model: Any, path: str | Path, table: str | None = None, **options: Any) -> Accuracy:
    """As `evaluate_from`, for a file: CSV, Excel, Parquet, a folder of Parquet files, or a table of a .duckdb file.

    Examples
    --------
    >>> import tempfile
    >>> from discreet import Numeric, OneRule, Schema
    >>> schema = Schema([Numeric("age", 0, 120)], "ill", ["no", "yes"], records=100)
    >>> model = OneRule(schema, epsilon=1).fit([{"age": 20}, {"age": 70}] * 50, ["no", "yes"] * 50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = Path(folder, "test.csv").write_text("age,ill\\n" + "30,no\\n80,yes\\n" * 50)
    ...     accuracy = evaluate_file(model, Path(folder, "test.csv"), epsilon=1)
    >>> 0 <= accuracy.value <= 1
    True
    """
    return evaluate_from(model, open_file(path, table), **options)


def _evaluated(
    model: Any,
    source: Source,
    epsilon: Any = 1.0,
    ledger: Ledger | None = None,
    *,
    adjacency: Any = None,
    confidence: float = 0.95,
    only: str | None = None,
    random_state: Any = None,
) -> Accuracy:
    check_options(model, epsilon, adjacency, confidence, random_state, only)
    charge, schema = as_epsilon(epsilon), _public(model, adjacency)
    marked, steps = plan(schema, charge, only)
    purpose = f"accuracy of {model.kind} for {schema.target}"
    noisy = release(source, marked, steps, as_ledger(ledger, charge), as_rng(random_state), purpose)
    charges = tuple(replace(each, query=ASKED[each.query]) for each in noisy.receipt.charges)
    tested = schema.replace(chosen=None)  # the choice of the columns belongs to the model, which is public
    receipt = replace(noisy.receipt, charges=charges, schema_hash=tested.hash)
    guarantee = AccuracyGuarantee.of(receipt, tested)
    guarantee = replace(guarantee, unit=UNIT, public=("the model", *guarantee.public))
    assert isinstance(guarantee, AccuracyGuarantee)
    return _told(noisy, steps, schema, float(confidence), receipt, guarantee)


Plan = list[Step[TableQuery, DiscreteLaplace]]


def plan(schema: Schema, epsilon: Epsilon, only: str | None = None) -> tuple[Schema, Plan]:
    """The schema of the marks, and what is asked of them: see `evaluate`."""
    classes = len(schema.classes)
    queries: list[TableQuery] = [RIGHT_WRONG, PAIRS]
    if only is not None or classes > MOST_CLASSES:
        queries = [RIGHT_WRONG]
    elif classes <= 2:
        queries = [PAIRS]
    marked = marks(schema.adjacency, classes if PAIRS in queries else 0)
    return marked, laplace_steps(queries, split_evenly(epsilon, len(queries)), marked)


def _told(
    noisy: NoisyStatistics,
    steps: Plan,
    schema: Schema,
    confidence: float,
    receipt: Receipt,
    guarantee: AccuracyGuarantee,
) -> Accuracy:
    """What the noisy answers tell: post-processing."""
    mechanisms, size = {step.query: step.mechanism for step in steps}, len(schema.classes)
    matrix, direct, found = None, None, None
    if PAIRS in mechanisms:
        both = np.asarray(noisy[PAIRS].values).reshape(2, size, size)
        matrix = np.where(np.eye(size, dtype=bool), both[0], both[1])  # the other cells of both are noise alone
        right, wrong = int(np.trace(matrix)), int(matrix.sum() - np.trace(matrix))
    if RIGHT_WRONG in mechanisms:
        right, wrong = (int(count) for count in noisy[RIGHT_WRONG].values.ravel())
        variance = mechanisms[RIGHT_WRONG].variance
        direct = Noisy(right, variance), Noisy(wrong, variance)
    if matrix is not None:
        each = half_width(mechanisms[PAIRS].scale, confidence)
        found = confusion(matrix, mechanisms[PAIRS].variance, each, direct, schema.classes, confidence)
    margin = expected_margin(steps, size, confidence)
    bounds = interval(right, wrong, margin)
    value = right_fraction(right, wrong)
    return Accuracy(value, *bounds, confidence, right, wrong, margin, receipt, guarantee, found)


def expected_margin(steps: Plan, classes: int, confidence: float) -> int:
    """How far right and wrong may both be from the truth, with at least this probability: from public things alone."""
    scales = {step.query: step.mechanism.scale for step in steps}
    if RIGHT_WRONG in scales:
        return noise_margin(scales[RIGHT_WRONG], confidence)
    cells = max(classes, classes * (classes - 1))  # independent sums: both hold with the product of their probabilities
    return half_width_of_sum(scales[PAIRS], cells, math.sqrt(confidence))


def check_options(
    model: Any, epsilon: Any, adjacency: Any, confidence: Any, random_state: Any, only: Any = None
) -> None:
    """Raise ParameterError if an option is out of range. Reads no data and costs nothing; evaluation starts with it.

    Examples
    --------
    >>> from discreet import NaiveBayes, datasets
    >>> X, y, schema = datasets.load("iris")
    >>> model = NaiveBayes(schema, epsilon=1).fit(X, y)
    >>> check_options(model, epsilon=1, adjacency=None, confidence=2, random_state=None)
    Traceback (most recent call last):
    discreet.errors.ParameterError: confidence=2; need a number between 0 and 1, for instance 0.95
    """
    _check_model(model)
    charge = as_release_epsilon(epsilon)
    if isinstance(confidence, bool) or not isinstance(confidence, Real) or not 0 < float(confidence) < 1:
        raise ParameterError(f"confidence={confidence!r}; need a number between 0 and 1, for instance 0.95")
    if float(confidence) > SUREST:
        raise ParameterError(f"confidence={confidence!r}; need at most {SUREST}: floats round larger ones to 1")
    if only is not None and only not in ONLY:
        raise ParameterError(f"only={only!r}; need one of: {', '.join(ONLY)}, or leave it out for all figures")
    as_rng(random_state)
    plan(_public(model, adjacency), charge, only)


def right_fraction(right: int, wrong: int) -> float:
    """The fraction of right ones, with negative numbers counted as 0; 0 if there are no records."""
    return max(right, 0) / max(1, max(right, 0) + max(wrong, 0))


def noise_margin(scale: float, confidence: float) -> int:
    """The least t for which two independent discrete Laplace draws are both within -t ... t with this probability.

    P[|Z| > t] = 2 p^(t + 1) / (1 + p) with p = exp(-1 / scale), the sum of both tails; both are within t with
    (1 - P[|Z| > t])^2.

    >>> noise_margin(0.0, 0.95), noise_margin(1.0, 0.95)
    (0, 4)
    """
    if scale == 0:
        return 0
    # 1 - sqrt(confidence), without losing digits where it is small
    most = -math.expm1(math.log(confidence) / 2)
    constant = math.log(2) - math.log1p(math.exp(-1 / scale)) - math.log(most)
    return max(0, math.ceil(scale * constant - 1))


def interval(right: int, wrong: int, margin: int) -> tuple[float, float]:
    """Bounds of the true accuracy if both numbers are at most `margin` from the truth, and the truth is not negative.

    Accuracy grows with the right ones and falls with the wrong ones, so its bounds are at the corners. If there may be
    no record at all, every accuracy is possible.
    """
    least, most = (max(right - margin, 0), max(wrong - margin, 0)), (max(right + margin, 0), max(wrong + margin, 0))
    lower = least[0] / (least[0] + most[1]) if least[0] + most[1] else 0.0
    upper = most[0] / (most[0] + least[1]) if most[0] + least[1] else 1.0
    return min(lower, right_fraction(right, wrong)), max(upper, right_fraction(right, wrong))


def _check_model(model: Any) -> None:
    if type(model) not in MODELS.values():  # predictions of a subclass may depend on other records
        known = ", ".join(kind.__name__ for kind in MODELS.values())
        raise ParameterError(f"model={type(model).__name__}; need a fitted model of discreet: {known}")
    check_is_fitted(model, model.fitted)
    if isinstance(model.schema, str):
        raise ParameterError(
            "the model's schema is 'from-data', which refuses records by their values; save the model and load it again"
        )


def _public(model: Any, adjacency: Any) -> Schema:
    """The model's schema under the adjacency that was asked for."""
    schema: Schema = model.schema_
    return schema if adjacency is None else schema.replace(adjacency=adjacency)
