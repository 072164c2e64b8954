"""Naive Bayes for numbers and categories, from one noisy table an attribute."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.doors.choice import select
from discreet.doors.counts import release
from discreet.doors.passage import Spending
from discreet.errors import ParameterError
from discreet.models import explanation
from discreet.models.classifier import PrivateClassifier
from discreet.models.explanation import Evidence
from discreet.models.naive_bayes import plan as planning
from discreet.models.naive_bayes import selection, tables
from discreet.models.record_count import MOST_RECORDS, RecordCount, known_records
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.queries.tables import MOST_BINS
from discreet.released.statistics import Answers, NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source

Matrix = NDArray[np.float64]


class NaiveBayes(PrivateClassifier):
    """ε-differentially private naive Bayes for mixed data and any number of classes.

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the attributes that are asked, their
    bins and their shares of ε follow from the schema, ε, the noisy total and the attributes that were chosen privately
    (the door `select`, proof there); each table is released once at its share (`release`, proof there); the shares of
    total, choice and tables sum to ε (exact fractions); all that follows is post-processing.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which guarantees nothing.
    epsilon : the whole privacy loss of a fit; infinity for the model that is not private.
    numeric : "histogram" (default), "gaussian" (a normal law a class, from soft counts), or "smooth" (the same from
        means and deviations by Cauchy noise at smooth sensitivity; experimental).
    bins : number of bins of numeric attributes; "auto" follows from ε, the nominal number of records and the classes.
    split : "weighted" (default) gives larger tables a larger share of ε, "equal" the same to all.
    smoothing : pseudo-records in each cell.
    select : None (default) asks as many attributes as ε pays for, whatever they tell. A number k spends a third of ε on
        choosing the k that tell most about the class and counts these alone. "auto" decides whether and how many
        (naive_bayes_selection): worth it where ε n is small, or where one attribute tells nearly all.
    random_state : None for secure noise; an integer for experiments and tests, which voids the guarantee.

    Attributes
    ----------
    guarantee_ : what is promised, in words that name unit and adjacency.
    receipt_ : every charge.
    columns_ : the names of the attributes that were asked, in the order of the schema.
    classes_, class_log_prior_, feature_log_prob_ : the model; classes are sorted, each attribute's table is classes by
        cells.

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

    def __init__(
        self,
        schema: Schema | str,
        *,
        epsilon: Any = 1.0,
        numeric: str = "histogram",
        bins: int | str = "auto",
        split: str = "weighted",
        smoothing: float = 1.0,
        select: int | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.numeric = numeric
        self.bins = bins
        self.split = split
        self.smoothing = smoothing
        self.select = select
        self.random_state = random_state

    def _learn(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        options = (self.numeric, self.bins)
        selection.rehearse(self.select, schema, epsilon, *options, self.split)

        def rehearse(rest: Epsilon) -> object:  # so many records that every column is asked
            return planning.steps(schema, rest, MOST_RECORDS, *options, self.split)

        known = RecordCount(schema.records or 1, epsilon)
        if planning.needs_records(schema, *options, epsilon):
            known = known_records(source, schema, epsilon, rehearse, ledger, rng, purpose)
        records, rest = known.records, known.rest
        names: Sequence[str] = schema.names if self.select == len(schema.names) else ()
        choice = selection.choice(self.select, schema, rest, records, *options)
        if choice is not None:
            won = select(source, schema, choice.candidates, choice.wanted, choice.epsilon, ledger, rng, purpose)
            names, rest = won.columns, choice.rest
        steps = planning.steps(schema, rest, records, *options, self.split, names)
        return known.answers + release(source, schema, steps, ledger, rng, purpose).tables

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        self._model = tables.build(noisy, schema, float(self.smoothing)).in_order(places)
        self.columns_ = [attribute.cells.column for attribute in self._model.attributes]
        self.class_log_prior_ = self._model.log_prior
        self.feature_log_prob_ = [attribute.log_table for attribute in self._model.attributes]

    def predict_joint_log_proba(self, X: Any) -> Matrix:
        """Log-probability of each class with the record, not normalised."""
        return self._joined(X)

    def _scores(self, X: Any) -> Iterator[Matrix]:
        return self._model.joint(X, self.schema_)

    def evidence(self) -> tuple[list[Evidence], Matrix]:
        """The attributes' tables by name, and the share of each class: what `explain` and `plot` show."""
        check_is_fitted(self, "noisy_")
        prior = np.exp(self.class_log_prior_)
        return [attribute.evidence(self.schema_) for attribute in self._model.attributes], prior / prior.sum()

    def explain(self, top: int = 10) -> str:
        """The attributes that decide, and what each class looks like, as text."""
        evidence, prior = self.evidence()
        text = explanation.describe(evidence, prior, self.classes_.tolist(), top)
        left = [name for name in self.schema_.names if name not in {each.name for each in evidence}]
        reason = "ε pays for too little signal" if self.select is None else "others tell more for this ε"
        return f"{text}\nNot asked, since {reason}: {', '.join(left)}" if left else text

    def content(self, top: int = 10) -> dict[str, Any]:
        """The same as plain data."""
        evidence, prior = self.evidence()
        return explanation.content(evidence, prior, self.classes_.tolist(), top)

    def plot(self, top: int = 10) -> Any:
        """The same as a matplotlib figure: evidence per attribute and class, and the most telling attributes."""
        evidence, prior = self.evidence()
        title = f"{self.schema_.target}: what decides ({self.guarantee_.in_short()})"
        return explanation.draw(evidence, prior, self.classes_.tolist(), title, top)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this."""
        super().check_parameters()
        if self.numeric not in planning.NUMERIC:
            raise ParameterError(f"numeric={self.numeric!r}; need one of: {', '.join(planning.NUMERIC)}")
        if self.split not in planning.SPLITS:
            raise ParameterError(f"split={self.split!r}; need one of: {', '.join(planning.SPLITS)}")
        if self.bins != "auto" and not (isinstance(self.bins, Integral) and 2 <= self.bins <= MOST_BINS):
            raise ParameterError(f"bins={self.bins!r}; need 'auto' or an integer from 2 to {MOST_BINS}")
        if not isinstance(self.smoothing, Real) or not 0 < self.smoothing < math.inf:
            raise ParameterError(f"smoothing={self.smoothing!r}; need a number > 0")
        selection.check(self.select, self.schema)
