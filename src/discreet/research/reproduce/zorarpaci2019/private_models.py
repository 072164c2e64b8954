"""Models that choose columns before they learn: as in the thesis, on exact records, and with a private choice."""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache
from typing import Any, Protocol, Self

from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.models import MODELS
from discreet.models.bees.bee_feature_selector import BeeFeatureSelector
from discreet.models.feature_selector import FeatureSelector
from discreet.privacy.epsilon import as_epsilon
from discreet.privacy.ledger import Ledger
from discreet.privacy.randomness import as_rng
from discreet.privacy.steps import split_by_weight
from discreet.research.papers.zorarpaci2019_pipeline import LEARNERS
from discreet.research.reproduce.zorarpaci2019.private_cells import number
from discreet.schema import Schema

BINS = 10
"""Number of bins of numeric columns for the published learners: their default."""

BY_SHAPE = {
    ("party", 16): "house-votes-84",
    ("edibility", 22): "mushroom",
    ("disease", 13): "heart-statlog",
    ("diagnosis", 22): "spect",
    ("approved", 15): "credit-approval",
    ("class", 9): "breast-w",
    ("rank", 8): "nursery",
}
"""The data sets by target and number of columns, since a model is given only the schema."""

Columns = dict[str, NDArray[Any]]


class HashedTable:
    """Training records that compare equal if their contents are equal, so that a search on them can be cached."""

    def __init__(self, columns: Columns, labels: NDArray[Any], schema: Schema) -> None:
        self.columns, self.labels, self.schema = columns, labels, schema
        digest = hashlib.sha256(schema.hash.encode())
        for values in (*(columns[name] for name in schema.names), labels):
            digest.update(values.tobytes() if values.dtype.kind == "f" else repr(values.tolist()).encode())
        self._digest = digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashedTable) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)


@lru_cache(maxsize=4)
def searched(records: HashedTable, seed: int) -> Schema:
    """The schema of the columns that ABC-DE chooses on these exact records; each process searches once."""
    selector = BeeFeatureSelector(records.schema, random_state=seed)
    return selector.fit(records.columns, records.labels).selected_schema_


class ColumnChoice(Protocol):
    """Chooses columns on exact records."""

    def __call__(self, schema: Schema, columns: Columns, labels: NDArray[Any]) -> Schema:
        """The schema of the columns to keep."""
        ...


class OnChosenColumns:
    """A model on some of the columns; a subclass chooses them in `fit`."""

    columns_: list[str]
    model_: Any

    def predict(self, columns: Columns) -> NDArray[Any]:
        """The model's prediction from the chosen columns."""
        labels: NDArray[Any] = self.model_.predict(self._chosen(columns))
        return labels

    def _chosen(self, columns: Columns) -> Columns:
        return {name: columns[name] for name in self.columns_}


class PublishedOnChosen(OnChosenColumns):
    """1R or naive Bayes as published, on columns chosen on exact records: the loss is infinite."""

    def __init__(
        self, schema: Schema, *, epsilon: Any, random_state: Any, choose: ColumnChoice, learner: str = "one-rule"
    ) -> None:
        self.schema, self.epsilon, self.random_state = schema, epsilon, random_state
        self.choose, self.learner = choose, learner

    def fit(self, columns: Columns, labels: NDArray[Any]) -> Self:
        """Choose, then count the chosen columns with noise."""
        chosen = self.choose(self.schema, columns, labels)
        self.columns_ = chosen.names
        model = LEARNERS[self.learner](chosen, epsilon=self.epsilon, bins=BINS, random_state=self.random_state)
        self.model_ = model.fit(self._chosen(columns), labels)
        return self


def by_search(schema: Schema, columns: Columns, labels: NDArray[Any]) -> Schema:
    """The columns that ABC-DE finds, as in `Zorarpaci2019Pipeline`.

    The search reads only the records, so one search serves all epsilons and both learners.
    """
    return searched(HashedTable(columns, labels, schema), 0)


def best_alone(schema: Schema, columns: Columns, labels: NDArray[Any]) -> Schema:
    """As many columns as the thesis's search kept: those that classify most records rightly when used alone.

    This shows the effect of the number of columns, apart from the search that finds them.
    """
    selector = FeatureSelector(schema, k=kept_of(schema), epsilon=math.inf, bins=BINS, random_state=0)
    return selector.fit(columns, labels).selected_schema_


def kept_of(schema: Schema) -> int:
    """Number of columns that the thesis's search kept on the data set with this schema."""
    data = BY_SHAPE.get((schema.target, len(schema.names)))
    if data is None:
        raise ParameterError(f"no data set of the thesis has the target {schema.target!r}; need one of its seven")
    return int(number(data, "Table 5.23", "attributes with F.S."))


class ChosenThenFitted(OnChosenColumns):
    """`FeatureSelector` and a private model within one epsilon: a third of it pays for the choice of k columns.

    Guarantee: that of the two together, by sequential composition; both charge one ledger, whose limit is epsilon.
    """

    def __init__(
        self, schema: Schema, *, epsilon: Any, random_state: Any, learner: str = "naive-bayes", k: int = 5
    ) -> None:
        self.schema, self.epsilon, self.random_state = schema, epsilon, random_state
        self.learner, self.k = learner, k

    def fit(self, columns: Columns, labels: NDArray[Any]) -> Self:
        """Choose, then fit on the chosen columns; neither step can exceed the ledger's limit."""
        choosing, fitting = split_by_weight(as_epsilon(self.epsilon), [1 / 3, 2 / 3])
        self.ledger_, rng = Ledger(self.epsilon), as_rng(self.random_state)
        selector = FeatureSelector(
            self.schema, k=min(self.k, len(self.schema.names)), epsilon=choosing, random_state=rng
        )
        schema = selector.fit(columns, labels, ledger=self.ledger_).selected_schema_
        model = MODELS[self.learner](schema, epsilon=fitting, random_state=rng)
        self.columns_ = schema.names
        self.model_ = model.fit(self._chosen(columns), labels, ledger=self.ledger_)
        return self
