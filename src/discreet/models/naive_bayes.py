"""Naive Bayes for numbers and categories, from one noisy table an attribute."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet import explanation, model_file
from discreet.budget import Epsilon, Ledger, as_epsilon, as_ledger
from discreet.drafting import schema_from_data
from discreet.encoding import class_codes
from discreet.errors import ParameterError
from discreet.explanation import Evidence
from discreet.guarantee import Guarantee
from discreet.models import naive_bayes_plan as planning
from discreet.models import naive_bayes_tables as tables
from discreet.models.tabular import normalised, sorted_classes
from discreet.plan import laplace_steps, split_by_weight
from discreet.queries import MOST_BINS, Total
from discreet.randomness import as_rng
from discreet.release import release
from discreet.schema import Schema
from discreet.sources import Source
from discreet.sources.memory import MemorySource
from discreet.statistics import NoisyStatistics, Receipt
from discreet.tables import as_vector

Matrix = NDArray[np.float64]


class NaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """ε-differentially private naive Bayes for mixed data and any number of classes.

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the attributes that are asked, their
    bins and their shares of ε follow from the schema, ε and the noisy total alone; each table is released once at its
    share (`release`, proof there); the shares sum to ε (exact fractions); all that follows is post-processing.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which guarantees nothing.
    epsilon : the whole privacy loss of a fit; infinity for the model that is not private.
    numeric : "histogram" (default), "gaussian" (a normal law a class, from soft counts), or "smooth" (the same from
        means and deviations by Cauchy noise at smooth sensitivity; experimental).
    bins : number of bins of numeric attributes; "auto" follows from ε, the nominal number of records and the classes.
    split : "weighted" (default) gives larger tables a larger share of ε, "equal" the same to all.
    smoothing : pseudo-records in each cell.
    random_state : None for secure noise; an integer for experiments and tests, which voids the guarantee.

    Attributes
    ----------
    guarantee_ : what is promised, in words that name unit and adjacency.
    receipt_ : every charge.
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
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.numeric = numeric
        self.bins = bins
        self.split = split
        self.smoothing = smoothing
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, ledger: Ledger | None = None) -> NaiveBayes:
        """Learn from a data frame, a list of dicts or a 2-D array X and labels y; charges the ledger, if one is given.

        With y=None the labels are the schema's target column of X.
        """
        self.check_parameters()
        if isinstance(self.schema, str):
            X, y = planning.checked_public(X, y)
            self.schema_ = schema_from_data(X, y)
        else:
            self.schema_ = self.schema
        return self._fit(MemorySource(X, y), ledger)

    def fit_from(self, source: Source, *, ledger: Ledger | None = None) -> NaiveBayes:
        """Learn from any source: a DuckDB table, a Parquet file larger than memory."""
        self.check_parameters()
        if not hasattr(source, "count"):
            raise ParameterError(f"source={type(source).__name__}; need a source, for instance open_file(path)")
        if isinstance(self.schema, str):
            raise ParameterError("schema='from-data' reads data in memory only; use fit, or draft a schema first")
        self.schema_ = self.schema
        return self._fit(source, ledger)

    def _fit(self, source: Source, ledger: Ledger | None) -> NaiveBayes:
        epsilon, schema = as_epsilon(self.epsilon), self.schema_
        ledger = as_ledger(ledger, epsilon)
        rng = as_rng(self.random_state)
        noisy, records, rest = None, schema.records, epsilon
        purpose = f"{self.kind} for {schema.target}"
        if records is None and planning.needs_records(schema, self.numeric, self.bins, epsilon):
            counting, rest = split_by_weight(epsilon, [planning.COUNTING, 1 - planning.COUNTING])
            source.check(schema)
            planning.steps(schema, rest, planning.MANY_RECORDS, self.numeric, self.bins, self.split)
            ledger.check(epsilon)
            noisy = release(source, schema, laplace_steps([Total()], [counting], schema), ledger, rng, purpose)
            records = min(max(1, int(noisy[Total()].values.item())), planning.MANY_RECORDS)
        steps = planning.steps(schema, rest, records or 1, self.numeric, self.bins, self.split)
        tables_ = release(source, schema, steps, ledger, rng, purpose)
        return self.fit_noisy(tables_ if noisy is None else noisy + tables_)

    def fit_noisy(self, noisy: NoisyStatistics) -> NaiveBayes:
        """Build the model from noisy statistics: post-processing, no data, no cost."""
        if isinstance(self.schema, Schema):
            self.schema_ = self.schema
        schema = self.schema_
        noisy.check(schema)
        self.noisy_ = noisy
        self.receipt_: Receipt = noisy.receipt
        self.guarantee_ = Guarantee.of(noisy.receipt, schema)
        self.classes_, places = sorted_classes(schema)
        self.n_features_in_ = len(schema.columns)
        self.feature_names_in_ = np.array(schema.names, dtype=object)
        self._model = tables.build(noisy, schema, float(self.smoothing)).in_order(places)
        self.class_log_prior_ = self._model.log_prior
        self.feature_log_prob_ = [attribute.log_table for attribute in self._model.attributes]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each record."""
        codes = [np.argmax(block, axis=1) for block in self._blocks(X)]
        return self.classes_[np.concatenate(codes)] if codes else self.classes_[:0]

    def predict_joint_log_proba(self, X: Any) -> Matrix:
        """Log-probability of each class with the record, not normalised."""
        blocks = list(self._blocks(X))
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.classes_)))

    def predict_log_proba(self, X: Any) -> Matrix:
        """Log-probability of each class given the record."""
        return normalised(self.predict_joint_log_proba(X))

    def predict_proba(self, X: Any) -> Matrix:
        """Probability of each class given the record."""
        return np.exp(self.predict_log_proba(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; labels are matched as the schema says. A score on private data is a release of its own."""
        check_is_fitted(self, "noisy_")
        predicted = class_codes(self.predict(X), self.schema_)
        return float(np.average(predicted == class_codes(as_vector(y), self.schema_), weights=sample_weight))

    def _blocks(self, X: Any) -> Iterator[Matrix]:
        """Joint log-probabilities, a block of rows at a time."""
        check_is_fitted(self, "noisy_")
        if isinstance(self.schema, str):
            X = planning.checked_public(X, width=len(self.schema_.columns))
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
        return f"{text}\nNot asked, since ε pays for too little signal: {', '.join(left)}" if left else text

    def plot(self, top: int = 10) -> Any:
        """The same as a matplotlib figure: evidence per attribute and class, and the most telling attributes."""
        evidence, prior = self.evidence()
        title = f"{self.schema_.target}: what decides ({self.guarantee_.in_short()})"
        return explanation.draw(evidence, prior, self.classes_.tolist(), title, top)

    def save(self, path: str | Path) -> None:
        """Write the model as JSON with its card; `discreet.load` reads it."""
        check_is_fitted(self, "noisy_")
        model_file.save(self, path)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this."""
        as_rng(self.random_state)
        epsilon: Epsilon = as_epsilon(self.epsilon)
        if not isinstance(self.schema, Schema) and self.schema != "from-data":
            raise ParameterError(f"schema={type(self.schema).__name__}; need a Schema, or 'from-data' for public data")
        if self.numeric not in planning.NUMERIC:
            raise ParameterError(f"numeric={self.numeric!r}; need one of: {', '.join(planning.NUMERIC)}")
        if self.split not in planning.SPLITS:
            raise ParameterError(f"split={self.split!r}; need one of: {', '.join(planning.SPLITS)}")
        if self.bins != "auto" and not (isinstance(self.bins, Integral) and 2 <= self.bins <= MOST_BINS):
            raise ParameterError(f"bins={self.bins!r}; need 'auto' or an integer from 2 to {MOST_BINS}")
        if not isinstance(self.smoothing, Real) or not 0 < self.smoothing < math.inf:
            raise ParameterError(f"smoothing={self.smoothing!r}; need a number > 0")
        if epsilon != math.inf and epsilon > 10_000:
            raise ParameterError(f"epsilon={self.epsilon!r}; above 10000 nothing is private: use float('inf')")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.classifier_tags.poor_score = True
        return tags
