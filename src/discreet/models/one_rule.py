"""One rule: the single attribute that tells most, chosen privately, and a class for each of its values."""

from __future__ import annotations

import math
from collections.abc import Iterator
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
from discreet.models.tabular import Attribute, Model, normalised, sorted_classes
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import laplace_steps, split_by_weight
from discreet.queries.tables import Counts, MajorityScore
from discreet.released.statistics import Answers, NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.schema.columns import Numeric
from discreet.sources import Source

Matrix = NDArray[np.float64]


class OneRule(PrivateClassifier):
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

    def _learn(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        bins = {each.name: int(self.bins) if isinstance(each, Numeric) else None for each in schema.columns}
        choosing, counting = split_by_weight(epsilon, [float(self.choosing), 1 - float(self.choosing)])
        plans = {name: laplace_steps([Counts(name, bins[name])], [counting], schema) for name in schema.names}
        candidates = [MajorityScore(name, bins[name]) for name in schema.names]
        chosen = select(source, schema, candidates, 1, choosing, ledger, rng, purpose)
        return release(source, schema, plans[chosen.columns[0]], ledger, rng, purpose).tables

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        tables = [(query, table) for query, table in noisy.tables if isinstance(query, Counts)]
        if not tables:
            raise ParameterError("these statistics are not those of a rule; need a table of counts")
        query, table = max(tables, key=lambda pair: _agreement(pair[1]))  # one, unless parties have answered for all
        self.attribute_ = query.column
        by_cell = _log_shares(table)
        log_table = np.log(_probabilities(table))
        attribute = Attribute(query.cells(schema), log_table, np.ascontiguousarray(by_cell.T))
        self._model = Model(np.zeros(len(schema.classes)), (attribute,)).in_order(places)

    def _scores(self, X: Any) -> Iterator[Matrix]:
        return self._model.joint(X, self.schema_)

    def evidence(self) -> tuple[list[Evidence], Matrix]:
        """The attribute's table by name, and the share of each class: what `plot` shows."""
        check_is_fitted(self, "noisy_")
        _, places = sorted_classes(self.schema_)
        table = next(table for query, table in self.noisy_.tables if self.attribute_ == getattr(query, "column", None))
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

    def content(self, top: int = 10) -> dict[str, Any]:
        """The same as plain data."""
        evidence, prior = self.evidence()
        return explanation.content(evidence, prior, self.classes_.tolist(), top)

    def plot(self, top: int = 10) -> Any:
        """The rule as a matplotlib figure."""
        evidence, prior = self.evidence()
        title = f"{self.schema_.target} by {self.attribute_} ({self.guarantee_.in_short()})"
        return explanation.draw(evidence, prior, self.classes_.tolist(), title, top)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this."""
        super().check_parameters()
        if not isinstance(self.bins, Integral) or not 2 <= self.bins <= 1000:
            raise ParameterError(f"bins={self.bins!r}; need an integer from 2 to 1000")
        if not isinstance(self.choosing, Real) or not 0.01 <= self.choosing <= 0.99:
            raise ParameterError(f"choosing={self.choosing!r}; need a share of epsilon from 0.01 to 0.99")


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


def _agreement(table: NoisyTable) -> float:
    """About how many records the rule of a noisy table gets right; weak cells count for the class that they take."""
    rule = np.argmax(_log_shares(table), axis=0)
    return float(np.asarray(table.values, dtype=np.float64)[rule, np.arange(len(rule))].sum())


def _probabilities(table: NoisyTable) -> Matrix:
    """Probability of each cell in each class, for the picture."""
    counts = np.maximum(np.asarray(table.values, dtype=np.float64), 0.0) + max(math.sqrt(table.variance / 2), 1e-3)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
