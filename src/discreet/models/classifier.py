"""What every model shares: fit through the doors, build from noisy statistics, predict block by block.

The base classes hold what families share. The protocols say what a family provides: a base class declares each by its
protocol and does not define it, so mypy checks what every family defines.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discreet.doors.passage import Spending
from discreet.errors import ParameterError
from discreet.models import saving
from discreet.models.class_weights import check_class_weight
from discreet.models.count_database import CountsByQuery, is_count_database
from discreet.models.public_data import (
    accept_any_table,
    check_schema_parameter,
    checked_public,
    schema_for_source,
    with_schema,
)
from discreet.models.remarks import remarks, unchecked
from discreet.models.tabular import normalised, sorted_classes
from discreet.privacy.epsilon import Epsilon, as_epsilon, as_release_epsilon
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.ledger import Ledger, as_ledger
from discreet.privacy.randomness import Randomness, as_rng
from discreet.queries.added_scores import AddedScores
from discreet.queries.trees import Tree
from discreet.records.chosen_columns import check_places
from discreet.records.encoding import Cells, Codes, class_codes
from discreet.records.tables import as_vector
from discreet.released.statistics import Answers, NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source, check_rows, finish
from discreet.sources.memory import MemorySource

Matrix = NDArray[np.float64]


class ScoreRecords(Protocol):
    """The type of `_scores`."""

    def __call__(self, X: Any) -> Iterator[Matrix]:
        """Yield the score of each class (in the order of `classes_`) for each record, one block of rows at a time."""
        ...


Added = tuple[Matrix, tuple[tuple[Cells | Tree, Matrix], ...], float]
"""Constants, groups and divisor of `AddedScores`, with the classes in the order of `classes_`."""


class TellScores(Protocol):
    """The type of `_added`."""

    def __call__(self) -> Added:
        """The model as sums, in the order in which `_scores` adds them."""
        ...


class AskData(Protocol):
    """The type of `_learn`."""

    def __call__(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        """Ask the data, through the doors, for exactly `epsilon` in total; every charge names `purpose`.

        The model states the sum of all charges to `ledger`, so a family cannot leave a part out.
        """
        ...


class TellCells(Protocol):
    """The type of `asked_cells`."""

    def __call__(self) -> tuple[Cells, ...]:
        """The cells of a record whose codes decide what is predicted for it, each once."""
        ...


class BuildModel(Protocol):
    """The type of `_build`."""

    def __call__(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        """Make the model from noisy statistics alone; `places` gives the schema position of each of `classes_`."""
        ...


def _gives_probabilities(model: Classifier) -> bool:
    return model.probabilistic


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions of a fitted model. A family provides `kind` and `_scores`."""

    kind: ClassVar[str]
    probabilistic: ClassVar[bool] = True
    """Whether the scores are log-probabilities, up to a constant per record."""
    fitted: ClassVar[str] = "noisy_"
    """Name of the attribute whose presence marks the model as fitted."""
    by_record: ClassVar[bool] = False
    """Whether the prediction for a record depends on that record alone, to the last bit."""

    schema: Schema | str
    schema_: Schema
    classes_: NDArray[Any]

    _scores: ScoreRecords

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each record."""
        best = self._best(X)  # first: it raises NotFittedError if there are no classes yet
        return self.classes_[best]

    def predict_positions(self, X: Any) -> Codes:
        """Return the class of each record as its position among the classes of the schema."""
        best = self._best(X)
        return class_codes(self.classes_, self.schema_)[best]

    def _best(self, X: Any) -> Codes:
        codes = [np.argmax(block, axis=1) for block in self._blocks(X)]
        return np.concatenate([np.empty(0, dtype=np.intp), *codes])

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Matrix:
        """Return the log-probability of each class given the record."""
        return normalised(self._joined(X))

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each class given the record."""
        return np.exp(normalised(self._joined(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; labels are matched as the schema says.

        No guarantee covers an accuracy on private records; `discreet.evaluate` gives one that can be published.
        """
        check_is_fitted(self, self.fitted)
        predicted = class_codes(self.predict(X), self.schema_)
        return float(np.average(predicted == class_codes(as_vector(y), self.schema_), weights=sample_weight))

    def _blocks(self, X: Any) -> Iterator[Matrix]:
        check_is_fitted(self, self.fitted)
        if isinstance(self.schema, str):
            X = checked_public(X, width=len(self.schema_.columns), kind=type(self).__name__)
        check_places(X, self.schema_)
        return self._scores(X)

    def _joined(self, X: Any) -> Matrix:
        blocks = list(self._blocks(X))
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.classes_)))

    def _set_names(self) -> list[int]:
        """Set the attributes that scikit-learn expects; returns the schema position of each of `classes_`."""
        self.classes_, places = sorted_classes(self.schema_)
        self.n_features_in_ = len(self.schema_.columns)
        self.feature_names_in_ = np.array(self.schema_.names, dtype=object)
        return places

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        check_schema_parameter(self.schema)

    def __sklearn_tags__(self) -> Any:
        tags = accept_any_table(super().__sklearn_tags__())
        tags.classifier_tags.poor_score = True
        return tags


class PrivateClassifier(Classifier):
    """A model made of noisy statistics alone. A family provides `kind`, `_learn`, `_build`,
    `_scores`, `_added` and `asked_cells`."""

    by_record: ClassVar[bool] = True
    by_counts: ClassVar[bool] = False
    """Whether counts are all that the model asks for, so that every source will do."""
    by_sums: ClassVar[bool] = False
    """Whether sums over records are all that it asks for, so that no record has to travel."""
    by_scores: ClassVar[bool] = False
    """Whether the records have scores of all classes in these sums: of linear models."""
    earlier: ClassVar[dict[str, Any]] = {}
    """Parameters that files of earlier versions do not have, with the values that those versions meant."""

    epsilon: Any
    random_state: Any
    class_weight: Any = None
    """None for all families that do not weigh classes."""

    asked_cells: TellCells
    _added: TellScores
    _learn: AskData
    _build: BuildModel

    def added_scores(self) -> AddedScores:
        """The model as sums, for engines that add up scores where the records are."""
        constants, groups, divisor = self._added()
        positions = class_codes(self.classes_, self.schema_).tolist()
        return AddedScores(constants, groups, divisor, tuple(positions))

    def fit(self, X: Any, y: Any = None, *, ledger: Ledger | None = None) -> Self:
        """Learn from X (a data frame, a list of dicts or a 2-D array) and the labels y.

        With y=None, the labels are in the schema's target column of X. A ledger, if given, is charged epsilon.
        """
        self.check_parameters()
        X, y, schema = with_schema(X, y, self.schema, type(self).__name__)
        return self._fit(MemorySource(X, y), schema, ledger)

    def fit_from(self, source: Source | CountsByQuery, *, ledger: Ledger | None = None) -> Self:
        """Learn from any source, for instance a DuckDB table or a Parquet file larger than memory.

        Models that ask for counts alone can be learned from a `CountDatabase`, or from a data set of the service; these
        have a ledger of their own.
        """
        self.check_parameters()
        if is_count_database(source):
            return self._fit_by_counts(cast(CountsByQuery, source), ledger)
        source = cast(Source, source)
        return self._fit(source, schema_for_source(source, self.schema), ledger)

    def _fit(self, source: Source, schema: Schema, ledger: Ledger | None) -> Self:
        self.check_weights(schema)
        epsilon = as_epsilon(self.epsilon)
        account = as_ledger(ledger, epsilon)
        account.check(epsilon, schema.adjacency)
        spending, purpose = Spending(account), f"{self.kind} for {schema.target}"
        if not self.by_counts:
            scores = len(schema.columns) + len(schema.classes) if self.by_scores else 0
            check_rows(source, sums=self.by_sums, scores=scores)
        try:
            answers = self._learn(source, schema, epsilon, spending, as_rng(self.random_state), purpose)
        finally:
            finish(source)
        return self._make(NoisyStatistics(answers, spending.receipt), schema)

    def _fit_by_counts(self, database: CountsByQuery, ledger: Ledger | None) -> Self:
        if ledger is not None:
            raise ParameterError("a count database is charged to its own ledger; leave out ledger=")
        schema = database.schema
        if not isinstance(self.schema, Schema) or self.schema.hash != schema.hash:
            raise ParameterError("the model has another schema than the count database; use the schema of the database")
        own = getattr(database, "ledger", None)  # of a service, the accounts are checked there, request by request
        if isinstance(own, Ledger):
            own.check(as_epsilon(self.epsilon), schema.adjacency)  # a fit that cannot finish spends nothing
        self.check_weights(schema)
        noisy = self._learn_by_counts(database, schema, as_epsilon(self.epsilon), f"{self.kind} for {schema.target}")
        return self._make(noisy, schema)

    def _learn_by_counts(
        self, database: CountsByQuery, schema: Schema, epsilon: Epsilon, purpose: str
    ) -> NoisyStatistics:
        """Ask a count database for exactly `epsilon` in total; families that need more than counts refuse."""
        raise ParameterError(
            f"{type(self).__name__} needs more than counts, and a count database answers nothing else; use OneRule or "
            "NaiveBayes, or fit the model where the records are"
        )

    def fit_noisy(self, noisy: NoisyStatistics) -> Self:
        """Build the model from noisy statistics: post-processing, which reads no data and costs nothing."""
        return self._make(noisy, self.schema if isinstance(self.schema, Schema) else self.schema_)

    def _make(self, noisy: NoisyStatistics, schema: Schema) -> Self:
        """Build the model. It counts as fitted only once all is set: an interruption leaves no half-changed model."""
        noisy.check(schema)
        self.check_weights(schema)
        guarantee = Guarantee.of(noisy.receipt, schema)
        self.__dict__.pop(self.fitted, None)
        self.schema_, self.receipt_, self.guarantee_ = schema, noisy.receipt, guarantee
        self._build(noisy, schema, self._set_names())
        self.remarks_, self.unchecked_ = remarks(noisy, schema), unchecked(noisy, schema)
        self.noisy_ = noisy
        return self

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model with its card to a JSON file; `discreet.load` reads it.

        A file that exists is kept, and an error raised, unless `overwrite` is set: it may have cost budget.
        """
        check_is_fitted(self, self.fitted)
        saving.save(self, path, overwrite=overwrite)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        as_rng(self.random_state)
        as_epsilon(self.epsilon)
        super().check_parameters()
        as_release_epsilon(self.epsilon)
        self.check_weights(self.schema)

    def check_weights(self, schema: Schema | str) -> None:
        """Raise ParameterError unless the weights of the classes fit the schema, and this family can use them."""
        check_class_weight(self.class_weight, schema)
