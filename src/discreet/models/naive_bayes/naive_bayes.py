"""Naive Bayes for numbers and categories, from one noisy table per column."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from numbers import Real
from operator import add
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.doors.choice import select
from discreet.doors.counts import CountStep, release
from discreet.doors.passage import Spending
from discreet.errors import ParameterError
from discreet.models import evidence_picture, explanation
from discreet.models.class_weights import described, weights_of
from discreet.models.classifier import Added, PrivateClassifier
from discreet.models.count_database import CountsByQuery, ask_steps, choosing, rehearse_steps
from discreet.models.explanation import Evidence
from discreet.models.naive_bayes import plan as planning
from discreet.models.naive_bayes import selection, tables
from discreet.models.naive_bayes.margins import margins
from discreet.models.parameter_checks import check_integer, check_one_of, check_select
from discreet.models.record_count import MOST_RECORDS, RecordCount, bought_records, known_records
from discreet.models.tabular import normalised, sorted_classes
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import Randomness
from discreet.queries.tables import MOST_BINS
from discreet.records.encoding import Cells
from discreet.released.statistics import Answers, NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source

Matrix = NDArray[np.float64]

TEMPERING = 0.25
"""The temperature is the number of columns to this power. Columns that are all alike would need 1, independent ones 0
(log-loss and calibration: benchmarks/calibration.py)."""
MOST_TEMPERATURE = 1e6
"""A higher temperature makes all classes equally likely, and a lower one than its inverse none but one."""


class NaiveBayes(PrivateClassifier):
    """ε-differentially private naive Bayes for mixed data and any number of classes.

    It counts the records of each class in each cell of each column, adds noise, and multiplies the probabilities.

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the columns that are asked, their
    bins and their shares of ε follow from the schema, ε, the noisy total and the columns that were chosen privately
    (the door `select`, proof there); each table is released once at its share (`release`, proof there); the shares of
    total, choice and tables sum to ε (exact fractions); everything after that is post-processing.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which voids the guarantee.
    epsilon : privacy loss of the whole fit; infinity for a model without noise.
    numeric : how numeric columns are modelled: "histogram" (default); "gaussian", one normal law per class from soft
        counts; or "smooth", the same law from means and deviations with Cauchy noise at smooth sensitivity
        (experimental).
    bins : number of bins per numeric column; "auto" chooses it from ε, the number of records and the classes.
    split : "weighted" (default) gives larger tables a larger share of ε; "equal" gives every table the same share.
    smoothing : pseudo-records added to each cell.
    select : "auto" (default) decides whether to choose columns, and how many (rule in models/naive_bayes/selection.py):
        the wider the table and the fewer the records, the more it is worth. A number k spends three tenths of ε on
        choosing the k most informative columns and counts only these. None asks as many columns as ε pays for, however
        informative they are; where all tell about the same, it is the better one (benchmarks/selection.py).
    temperature : the log-probabilities of the classes are divided by this number before they are normalised. Columns
        that depend on each other are counted as if each were news, so the more of them are asked, the more
        `predict_proba` is over-confident. "auto" is the fourth root of the number of columns that were asked, and 1
        without noise. It does not change what is predicted.
    class_weight : None; "balanced", to find rare classes as well as frequent ones; or a weight by class, such as
        {"yes": 10} (others weigh 1). The prior is multiplied by the weights: post-processing of the published counts.
        Columns that predict the majority are then of no use, so select="auto" is select=None.
    random_state : None for secure noise; an integer for repeatable experiments and tests, which voids the guarantee.

    Attributes
    ----------
    guarantee_ : what is guaranteed, in words that name unit and adjacency.
    receipt_ : every charge.
    columns_ : names of the columns that were asked, in the order of the schema.
    temperature_ : the temperature by which log-probabilities are divided.
    class_weight_ : the weight of each of `classes_`, or None.
    classes_ : the classes, sorted.
    class_log_prior_ : log-probability of each class.
    feature_log_prob_ : for each of `columns_`, log-probabilities of its cells, classes by cells.

    Examples
    --------
    >>> from discreet import Categorical, NaiveBayes, Schema
    >>> schema = Schema([Categorical("smoker", ["no", "yes"])], target="ill", classes=["no", "yes"], records=1000)
    >>> records = [{"smoker": "yes"}] * 500 + [{"smoker": "no"}] * 500
    >>> model = NaiveBayes(schema, epsilon=1).fit(records, ["yes"] * 500 + ["no"] * 500)
    >>> model.predict([{"smoker": "yes"}]).tolist(), model.guarantee_.holds
    (['yes'], True)
    """

    kind: ClassVar[str] = "naive-bayes"
    by_counts: ClassVar[bool] = True
    earlier: ClassVar[dict[str, Any]] = {"temperature": 1.0}

    def __init__(
        self,
        schema: Schema | str,
        *,
        epsilon: Any = 1.0,
        numeric: str = "histogram",
        bins: int | str = "auto",
        split: str = "weighted",
        smoothing: float = 1.0,
        select: int | str | None = "auto",
        temperature: float | str = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.numeric = numeric
        self.bins = bins
        self.split = split
        self.smoothing = smoothing
        self.select = select
        self.temperature = temperature
        self.class_weight = class_weight
        self.random_state = random_state

    def _learn(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        options, wanted = (self.numeric, self.bins), self._wanted()
        selection.rehearse(wanted, schema, epsilon, *options, self.split)
        known = RecordCount(schema.records or 1, epsilon)
        if planning.needs_records(schema, *options, epsilon):
            rehearse = partial(self._asked, schema)
            known = known_records(source, schema, epsilon, rehearse, ledger, rng, purpose, careful=True)
        records, rest = known.records, known.rest
        names: Sequence[str] = schema.names if wanted == len(schema.names) else ()
        for rule in (selection.one, selection.few):  # the second only if no column was enough
            choice = None if names else rule(wanted, schema, rest, records, self.bins)
            if choice is not None:
                won = select(source, schema, choice.candidates, choice.wanted, choice.epsilon, ledger, rng, purpose)
                names, rest = won.columns, choice.rest
        steps = planning.steps(schema, rest, records, *options, self.split, names)
        return known.answers + release(source, schema, steps, ledger, rng, purpose).tables

    def _asked(self, schema: Schema, epsilon: Epsilon) -> list[CountStep]:
        """What is asked at most: with this many records, every column."""
        return planning.steps(schema, epsilon, MOST_RECORDS, self.numeric, self.bins, self.split)

    def _rehearse(self, schema: Schema, epsilon: Epsilon) -> None:
        """Raise ParameterError, before anything is paid, if epsilon is too small for the most expensive plan."""
        selection.rehearse(self._wanted(), schema, epsilon, self.numeric, self.bins, self.split)
        self._asked(schema, epsilon)

    def _wanted(self) -> int | str | None:
        """How many columns to choose: by how many records they classify, which says nothing about a rare class."""
        return None if self.class_weight is not None and self.select == "auto" else self.select

    def _learn_by_counts(
        self, database: CountsByQuery, schema: Schema, epsilon: Epsilon, purpose: str
    ) -> NoisyStatistics:
        """What a direct fit asks for, at the same shares and with the same noise: with the same seed, the same model.

        If the database only counts, no column is chosen, as with select=None.
        """
        options, chooser = (self.numeric, self.bins), choosing(database)
        wanted = self._wanted() if chooser is not None or isinstance(self.select, int) else None
        if chooser is None and wanted not in (None, len(schema.names)):
            raise ParameterError(
                f"select={self.select!r}: this database only counts, and does not choose columns; use select=None"
            )
        selection.rehearse(wanted, schema, epsilon, *options, self.split)

        def rehearse(rest: Epsilon) -> None:  # with this many records, every column is asked
            rehearse_steps(planning.steps(schema, rest, MOST_RECORDS, *options, self.split), schema)

        def buy(steps: Sequence[CountStep]) -> NoisyStatistics:
            return ask_steps(database, steps, schema, purpose)

        known, bought = RecordCount(schema.records or 1, epsilon), None
        rehearse(epsilon)
        if schema.records is None and planning.needs_records(schema, *options, epsilon):
            known, bought = bought_records(schema, epsilon, rehearse, buy, careful=True)
        receipts = [] if bought is None else [bought.receipt]
        records, rest = known.records, known.rest
        names: Sequence[str] = schema.names if wanted == len(schema.names) else ()
        for rule in (selection.one, selection.few) if chooser is not None else ():
            choice = None if names else rule(wanted, schema, rest, records, self.bins)
            if chooser is not None and choice is not None:
                won = chooser.choose(choice.candidates, choice.wanted, choice.epsilon, purpose=purpose)
                names, rest, receipts = won.columns, choice.rest, [*receipts, won.receipt]
        noisy = buy(planning.steps(schema, rest, records, *options, self.split, names))
        return NoisyStatistics(known.answers + noisy.tables, reduce(add, [*receipts, noisy.receipt]))

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        model = tables.build(noisy, schema, float(self.smoothing))
        weights = weights_of(self.class_weight, schema, np.exp(model.log_prior))
        if weights is not None:
            model = replace(model, log_prior=normalised((model.log_prior + np.log(weights))[None, :])[0])
        self.class_weight_ = None if weights is None else weights[places]
        self._model = model.in_order(places)
        self.columns_ = [column.cells.column for column in self._model.columns]
        self.class_log_prior_ = self._model.log_prior
        self.feature_log_prob_ = [column.log_table for column in self._model.columns]
        noiseless = noisy.receipt.epsilon == math.inf
        by_rule = 1.0 if noiseless else len(self.columns_) ** TEMPERING
        self.temperature_ = by_rule if isinstance(self.temperature, str) else float(self.temperature)

    def predict_joint_log_proba(self, X: Any) -> Matrix:
        """Return the log-probability of each class together with the record, not normalised, at temperature 1."""
        return self._joined(X) * self.temperature_

    def asked_cells(self) -> tuple[Cells, ...]:
        """The cells of a record whose codes decide what is predicted for it."""
        return self._model.cells

    def _added(self) -> Added:
        return *self._model.added, self.temperature_

    def _scores(self, X: Any) -> Iterator[Matrix]:
        return (block / self.temperature_ for block in self._model.joint(X, self.schema_))

    def evidence(self) -> tuple[list[Evidence], Matrix]:
        """Return the table of each column and the probability of each class: what `explain` and `plot` show."""
        check_is_fitted(self, "noisy_")
        prior = np.exp(self.class_log_prior_)
        _, places = sorted_classes(self.schema_)
        noise = {name: table[places] for name, table in margins(self.noisy_, self.schema_).items()}
        told = (column.evidence(self.schema_) for column in self._model.columns)
        return [replace(each, margins=noise.get(each.name)) for each in told], prior / prior.sum()

    def explain(self, top: int = 10) -> str:
        """Return the columns that decide, and what each class looks like, as text."""
        evidence, prior = self.evidence()
        text = explanation.describe(evidence, prior, self.classes_.tolist(), top)
        if weighted := described(self.class_weight_, self.classes_):
            text = f"{weighted}\n{text.replace('Frequency of each class', 'Weighted frequency of each class', 1)}"
        left = [name for name in self.schema_.names if name not in {each.name for each in evidence}]
        rounds = [each.mechanism for each in self.receipt_.charges].count(PermuteAndFlip.name)
        chosen = rounds > 1 or rounds == len(evidence)  # a single round may have found that no column is enough
        reason = "other columns tell more" if chosen else "ε is too small for more columns"
        return f"{text}\nNot asked, because {reason}: {', '.join(left)}" if left else text

    def content(self, top: int = 10) -> dict[str, Any]:
        """Return the same as plain data."""
        evidence, prior = self.evidence()
        return explanation.content(evidence, prior, self.classes_.tolist(), top)

    def plot(self, top: int = 10) -> Any:
        """Draw the same with matplotlib: the evidence of each column, and the most informative columns."""
        evidence, prior = self.evidence()
        title = f"{self.schema_.target}: what decides ({self.guarantee_.in_short()})"
        return evidence_picture.draw(evidence, prior, self.classes_.tolist(), title, top)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        super().check_parameters()
        check_one_of("numeric", self.numeric, planning.NUMERIC)
        check_one_of("split", self.split, planning.SPLITS)
        if self.bins != "auto":
            check_integer("bins", self.bins, 2, MOST_BINS, or_="'auto'")
        if not isinstance(self.smoothing, Real) or not 0 < self.smoothing < math.inf:
            raise ParameterError(f"smoothing={self.smoothing!r}; need a number > 0")
        if self.temperature != "auto":
            check_temperature(self.temperature)
        check_select(self.select, self.schema)


def check_temperature(value: Any) -> None:
    """Raise ParameterError unless it is a number in range."""
    usable = isinstance(value, Real) and not isinstance(value, bool)
    if not usable or not 1 / MOST_TEMPERATURE <= value <= MOST_TEMPERATURE:
        raise ParameterError(
            f"temperature={value!r}; need 'auto' or a number from {1 / MOST_TEMPERATURE:g} to {MOST_TEMPERATURE:g}"
        )
