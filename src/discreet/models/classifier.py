"""What every model shares: fit through the door, build from noisy statistics, predict a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discreet.doors.passage import Spending
from discreet.errors import ParameterError
from discreet.models import saving
from discreet.models.public import checked_public
from discreet.models.tabular import normalised, sorted_classes
from discreet.privacy.epsilon import Epsilon, as_epsilon, as_release_epsilon
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.ledger import Ledger, as_ledger
from discreet.privacy.randomness import Randomness, as_rng
from discreet.records.drafting import schema_from_data
from discreet.records.encoding import class_codes
from discreet.records.tables import as_vector
from discreet.released.statistics import Answers, NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source
from discreet.sources.memory import MemorySource

Matrix = NDArray[np.float64]


def _gives_probabilities(model: Classifier) -> bool:
    return model.probabilistic


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions of a fitted model: a subclass gives the scores of the classes, a block of rows at a time."""

    kind: ClassVar[str]
    probabilistic: ClassVar[bool] = True
    """Whether the scores are log-probabilities, up to a constant for each record."""
    fitted: ClassVar[str] = "noisy_"
    """The attribute that a fitted model has."""
    by_record: ClassVar[bool] = False
    """Whether what is predicted for a record is a function of that record alone, to the last bit."""

    schema: Schema | str
    schema_: Schema
    classes_: NDArray[Any]

    def _scores(self, X: Any) -> Iterator[Matrix]:
        """The score of each class (in the order of `classes_`) for each record, a block of rows at a time."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each record."""
        codes = [np.argmax(block, axis=1) for block in self._blocks(X)]
        return self.classes_[np.concatenate(codes)] if codes else self.classes_[:0]

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Matrix:
        """Log-probability of each class given the record."""
        return normalised(self._joined(X))

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Matrix:
        """Probability of each class given the record."""
        return np.exp(normalised(self._joined(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; labels are matched as the schema says. A score on private data is a release of its own."""
        check_is_fitted(self, self.fitted)
        predicted = class_codes(self.predict(X), self.schema_)
        return float(np.average(predicted == class_codes(as_vector(y), self.schema_), weights=sample_weight))

    def _blocks(self, X: Any) -> Iterator[Matrix]:
        check_is_fitted(self, self.fitted)
        if isinstance(self.schema, str):
            X = checked_public(X, width=len(self.schema_.columns), kind=type(self).__name__)
        return self._scores(X)

    def _joined(self, X: Any) -> Matrix:
        blocks = list(self._blocks(X))
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.classes_)))

    def _with_schema(self, X: Any, y: Any) -> tuple[Any, Any, Schema]:
        """The schema that was given, or one read off public data, which are then checked as scikit-learn does."""
        if isinstance(self.schema, Schema):
            return X, y, self.schema
        X, y = checked_public(X, y, kind=type(self).__name__)
        return X, y, schema_from_data(X, y)

    def _set_names(self) -> list[int]:
        """The attributes that scikit-learn expects; returns where each of `classes_` stands in the schema."""
        self.classes_, places = sorted_classes(self.schema_)
        self.n_features_in_ = len(self.schema_.columns)
        self.feature_names_in_ = np.array(self.schema_.names, dtype=object)
        return places

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this."""
        if not isinstance(self.schema, Schema) and self.schema != "from-data":
            raise ParameterError(f"schema={type(self.schema).__name__}; need a Schema, or 'from-data' for public data")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.classifier_tags.poor_score = True
        return tags


class PrivateClassifier(Classifier):
    """A model made of noisy statistics alone: `_learn` asks for them, `_build` makes the model."""

    by_record: ClassVar[bool] = True

    epsilon: Any
    random_state: Any

    def _learn(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        """Ask the data, through the doors, for exactly `epsilon` in all; all charges name `purpose`.

        What the model states is the sum of all that was charged to `ledger`: no subclass can leave a part out.
        """
        raise NotImplementedError

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        """Make the model; `places` says where each of `classes_` stands in the schema. No data, no cost."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, *, ledger: Ledger | None = None) -> Self:
        """Learn from a data frame, a list of dicts or a 2-D array X and labels y; charges the ledger, if one is given.

        With y=None the labels are the schema's target column of X.
        """
        self.check_parameters()
        X, y, schema = self._with_schema(X, y)
        return self._fit(MemorySource(X, y), schema, ledger)

    def fit_from(self, source: Source, *, ledger: Ledger | None = None) -> Self:
        """Learn from any source: a DuckDB table, a Parquet file larger than memory."""
        self.check_parameters()
        if not hasattr(source, "count") or not hasattr(source, "rows"):
            raise ParameterError(f"source={type(source).__name__}; need a source, for instance open_file(path)")
        if isinstance(self.schema, str):
            raise ParameterError("schema='from-data' reads data in memory only; use fit, or draft a schema first")
        return self._fit(source, self.schema, ledger)

    def _fit(self, source: Source, schema: Schema, ledger: Ledger | None) -> Self:
        epsilon = as_epsilon(self.epsilon)
        account = as_ledger(ledger, epsilon)
        account.check(epsilon, schema.adjacency)
        spending, purpose = Spending(account), f"{self.kind} for {schema.target}"
        answers = self._learn(source, schema, epsilon, spending, as_rng(self.random_state), purpose)
        return self._make(NoisyStatistics(answers, spending.receipt), schema)

    def fit_noisy(self, noisy: NoisyStatistics) -> Self:
        """Build the model from noisy statistics: post-processing, no data, no cost."""
        return self._make(noisy, self.schema if isinstance(self.schema, Schema) else self.schema_)

    def _make(self, noisy: NoisyStatistics, schema: Schema) -> Self:
        """Build the model. Until all is set it is not fitted: an interruption leaves it under no other promise."""
        noisy.check(schema)
        guarantee = Guarantee.of(noisy.receipt, schema)
        self.__dict__.pop(self.fitted, None)
        self.schema_, self.receipt_, self.guarantee_ = schema, noisy.receipt, guarantee
        self._build(noisy, schema, self._set_names())
        self.noisy_ = noisy
        return self

    def save(self, path: str | Path) -> None:
        """Write the model as JSON with its card; `discreet.load` reads it."""
        check_is_fitted(self, self.fitted)
        saving.save(self, path)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this."""
        as_rng(self.random_state)
        as_epsilon(self.epsilon)
        super().check_parameters()
        as_release_epsilon(self.epsilon)
