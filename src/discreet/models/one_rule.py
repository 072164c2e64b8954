"""One rule: the single attribute that tells most, chosen privately, and a class for each of its values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet import explanation, model_file
from discreet.budget import Ledger, as_epsilon, as_ledger
from discreet.columns import Numeric
from discreet.drafting import schema_from_data
from discreet.encoding import class_codes
from discreet.errors import ParameterError
from discreet.explanation import Evidence
from discreet.guarantee import Guarantee
from discreet.models.naive_bayes_plan import checked_public
from discreet.models.tabular import Attribute, Model, normalised, sorted_classes
from discreet.plan import laplace_steps, split_by_weight
from discreet.queries import Counts, MajorityScore
from discreet.randomness import as_rng
from discreet.release import release, select
from discreet.schema import Schema
from discreet.sources import Source
from discreet.sources.memory import MemorySource
from discreet.statistics import NoisyStatistics, NoisyTable
from discreet.tables import as_vector

Matrix = NDArray[np.float64]


class OneRule(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """ε-differentially private 1R: IF attribute = value THEN class, for one attribute (Holte 1993).

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the attribute is chosen at ε/2
    (`select`, proof there), then one table of it is released at ε/2 (`release`, proof there); losses add; all that
    follows is post-processing. The price of more attributes is a logarithm, not a share of ε.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which guarantees nothing.
    epsilon : the whole privacy loss of a fit; infinity for the rule that is not private.
    bins : number of equal bins of numeric attributes.
    choosing : the share of ε that pays for the choice of the attribute.
    random_state : None for secure noise; an integer for experiments and tests, which voids the guarantee.

    Attributes
    ----------
    attribute_ : the name of the chosen attribute.
    guarantee_, receipt_ : what is promised, and every charge.

    Examples
    --------
    >>> from discreet import Categorical, OneRule, Schema
    >>> schema = Schema([Categorical("smoker", ["no", "yes"], unlisted=False)], target="ill", classes=["no", "yes"])
    >>> records = [{"smoker": "yes"}] * 500 + [{"smoker": "no"}] * 500
    >>> model = OneRule(schema, epsilon=1).fit(records, ["yes"] * 500 + ["no"] * 500)
    >>> for line in model.explain().splitlines():
    ...     print(line.partition("  ")[0])
    IF smoker = no THEN ill = no
    IF smoker = yes THEN ill = yes
    """

    kind: ClassVar[str] = "one-rule"

    def __init__(
        self,
        schema: Schema | str,
        *,
        epsilon: Any = 1.0,
        bins: int = 8,
        choosing: float = 0.5,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.bins = bins
        self.choosing = choosing
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, ledger: Ledger | None = None) -> OneRule:
        """Learn from a data frame, a list of dicts or a 2-D array X and labels y; charges the ledger, if given."""
        self.check_parameters()
        if isinstance(self.schema, str):
            X, y = checked_public(X, y, kind="OneRule")
            self.schema_ = schema_from_data(X, y)
        else:
            self.schema_ = self.schema
        return self._fit(MemorySource(X, y), ledger)

    def fit_from(self, source: Source, *, ledger: Ledger | None = None) -> OneRule:
        """Learn from any source: a DuckDB table, a Parquet file larger than memory."""
        self.check_parameters()
        if not hasattr(source, "count"):
            raise ParameterError(f"source={type(source).__name__}; need a source, for instance open_file(path)")
        if isinstance(self.schema, str):
            raise ParameterError("schema='from-data' reads data in memory only; use fit, or draft a schema first")
        self.schema_ = self.schema
        return self._fit(source, ledger)

    def _fit(self, source: Source, ledger: Ledger | None) -> OneRule:
        epsilon, schema = as_epsilon(self.epsilon), self.schema_
        ledger = as_ledger(ledger, epsilon)
        rng = as_rng(self.random_state)
        bins = {each.name: int(self.bins) if isinstance(each, Numeric) else None for each in schema.columns}
        purpose = f"{self.kind} for {schema.target}"
        ledger.check(epsilon)
        choosing, counting = split_by_weight(epsilon, [self.choosing, 1 - self.choosing])
        plans = {name: laplace_steps([Counts(name, bins[name])], [counting], schema) for name in schema.names}
        candidates = [MajorityScore(name, bins[name]) for name in schema.names]
        chosen = select(source, schema, candidates, 1, choosing, ledger, rng, purpose)
        noisy = release(source, schema, plans[chosen.columns[0]], ledger, rng, purpose)
        return self.fit_noisy(NoisyStatistics(noisy.tables, chosen.receipt + noisy.receipt))

    def fit_noisy(self, noisy: NoisyStatistics) -> OneRule:
        """Build the rule from the noisy table: post-processing, no data, no cost."""
        if isinstance(self.schema, Schema):
            self.schema_ = self.schema
        schema = self.schema_
        noisy.check(schema)
        ((query, table),) = noisy.tables
        if not isinstance(query, Counts):
            raise ParameterError("these statistics are not those of a rule; need one table of counts")
        self.noisy_ = noisy
        self.receipt_ = noisy.receipt
        self.guarantee_ = Guarantee.of(noisy.receipt, schema)
        self.classes_, places = sorted_classes(schema)
        self.n_features_in_ = len(schema.columns)
        self.feature_names_in_ = np.array(schema.names, dtype=object)
        self.attribute_ = query.column
        by_cell = _log_shares(table)
        log_table = np.log(_probabilities(table))
        attribute = Attribute(query.cells(schema), log_table, np.ascontiguousarray(by_cell.T))
        self._model = Model(np.zeros(len(schema.classes)), (attribute,)).in_order(places)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that the rule gives each record."""
        codes = [np.argmax(block, axis=1) for block in self._blocks(X)]
        return self.classes_[np.concatenate(codes)] if codes else self.classes_[:0]

    def predict_log_proba(self, X: Any) -> Matrix:
        """Log-probability of each class given the record's value of the attribute."""
        blocks = list(self._blocks(X))
        return normalised(np.concatenate(blocks)) if blocks else np.empty((0, len(self.classes_)))

    def predict_proba(self, X: Any) -> Matrix:
        """Probability of each class given the record's value of the attribute."""
        return np.exp(self.predict_log_proba(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; labels are matched as the schema says. A score on private data is a release of its own."""
        check_is_fitted(self, "noisy_")
        predicted = class_codes(self.predict(X), self.schema_)
        return float(np.average(predicted == class_codes(as_vector(y), self.schema_), weights=sample_weight))

    def _blocks(self, X: Any) -> Iterator[Matrix]:
        check_is_fitted(self, "noisy_")
        if isinstance(self.schema, str):
            X = checked_public(X, width=len(self.schema_.columns), kind="OneRule")
        return self._model.joint(X, self.schema_)

    def evidence(self) -> tuple[list[Evidence], Matrix]:
        """The attribute's table by name, and the share of each class: what `plot` shows."""
        check_is_fitted(self, "noisy_")
        _, places = sorted_classes(self.schema_)
        table = self.noisy_.tables[0][1]
        shares = np.maximum(np.asarray(table.values, dtype=np.float64).sum(axis=1), 1.0)[places]
        return [each.evidence(self.schema_) for each in self._model.attributes], shares / shares.sum()

    def explain(self, top: int | None = None) -> str:
        """The rule, one line for each value of the attribute."""
        check_is_fitted(self, "noisy_")
        (attribute,) = self._model.attributes
        names = attribute.evidence(self.schema_).cells
        shares = np.exp(normalised(attribute.by_cell))
        is_number = isinstance(self.schema_[self.attribute_], Numeric)
        relation = "in" if is_number else "="
        lines = [
            f"IF {self.attribute_} {relation} {name} THEN {self.schema_.target} = "
            f"{self.classes_[int(np.argmax(row))]}  ({row.max():.0%})"
            for name, row in zip(names, shares, strict=True)
        ]
        return "\n".join(lines[:top])

    def plot(self, top: int = 10) -> Any:
        """The rule as a matplotlib figure."""
        evidence, prior = self.evidence()
        title = f"{self.schema_.target} by {self.attribute_} ({self.guarantee_.in_short()})"
        return explanation.draw(evidence, prior, self.classes_.tolist(), title, top)

    def save(self, path: str | Path) -> None:
        """Write the model as JSON with its card; `discreet.load` reads it."""
        check_is_fitted(self, "noisy_")
        model_file.save(self, path)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this."""
        as_rng(self.random_state)
        as_epsilon(self.epsilon)
        if not isinstance(self.schema, Schema) and self.schema != "from-data":
            raise ParameterError(f"schema={type(self.schema).__name__}; need a Schema, or 'from-data' for public data")
        if not isinstance(self.bins, int) or not 2 <= self.bins <= 1000:
            raise ParameterError(f"bins={self.bins!r}; need an integer from 2 to 1000")
        if not isinstance(self.choosing, float) or not 0.01 <= self.choosing <= 0.99:
            raise ParameterError(f"choosing={self.choosing!r}; need a share of epsilon from 0.01 to 0.99")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.classifier_tags.poor_score = True
        return tags


def _log_shares(table: NoisyTable) -> Matrix:
    """Log-probability of each class in each cell (classes by cells), from one noisy table.

    A cell whose noisy total is below two standard deviations of its noise says nothing: it takes the overall shares.
    """
    counts = np.maximum(np.asarray(table.values, dtype=np.float64), 0.0)
    deviation = math.sqrt(table.variance)
    pseudo = max(deviation / math.sqrt(2), 1e-3)
    overall = counts.sum(axis=1)
    totals = np.asarray(table.values, dtype=np.float64).sum(axis=0)
    weak = totals < 2 * deviation * math.sqrt(len(counts)) if deviation else totals <= 0
    filled = np.where(weak, overall[:, None], counts) + pseudo
    return np.asarray(np.log(filled / filled.sum(axis=0)))


def _probabilities(table: NoisyTable) -> Matrix:
    """Probability of each cell in each class, for the picture."""
    counts = np.maximum(np.asarray(table.values, dtype=np.float64), 0.0) + max(math.sqrt(table.variance / 2), 1e-3)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
