"""One rule: the most informative column, chosen privately, and one class for each of its values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.doors.choice import select
from discreet.doors.counts import release
from discreet.doors.passage import Spending
from discreet.errors import ParameterError
from discreet.models import explanation, rule_picture
from discreet.models.classifier import Added, PrivateClassifier
from discreet.models.count_database import CountsByQuery, ask_steps, choosing, rehearse_steps
from discreet.models.explanation import Evidence
from discreet.models.parameter_checks import check_integer
from discreet.models.rule_lines import RuleLine, lines_of, weak_cells
from discreet.models.tabular import LEAST_PSEUDO_RECORDS, ColumnScores, Model, normalised, sorted_classes
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import laplace_steps, split_by_weight, split_evenly
from discreet.queries.tables import Counts, MajorityScore
from discreet.records.encoding import Cells
from discreet.released.statistics import Answers, NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.schema.columns import Numeric
from discreet.sources import Source

Matrix = NDArray[np.float64]

MOST_RULE_BINS = 1000
"""Most bins of a numeric column: the rule has one line per bin."""
LEAST_SHARE = 0.01
"""Choosing and counting both need some of ε: neither may get less than this share."""


class OneRule(PrivateClassifier):
    """ε-differentially private 1R: IF column = value THEN class, for a single column (Holte 1993).

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the column is chosen at `choosing` ε
    (`select`, proof there), then one table of it is released at the rest of ε (`release`, proof there); losses add;
    everything after that is post-processing. More columns to choose from cost only a logarithm of their number.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which voids the guarantee.
    epsilon : privacy loss of the whole fit; infinity for a rule without noise.
    bins : number of equally wide bins per numeric column.
    choosing : share of ε that pays for choosing the column.
    random_state : None for secure noise; an integer for repeatable experiments and tests, which voids the guarantee.

    Attributes
    ----------
    attribute_ : name of the chosen column.
    guarantee_ : what is guaranteed, in words that name unit and adjacency.
    receipt_ : every charge.

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
    by_counts: ClassVar[bool] = True

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

    def _learn_by_counts(
        self, database: CountsByQuery, schema: Schema, epsilon: Epsilon, purpose: str
    ) -> NoisyStatistics:
        """What a direct fit asks: the best column, then its table; with the same seed the model is the same.

        If the database only counts, `choosing` ε buys a table of each column instead; the rest buys another table of
        the column that looks best. That tells columns apart at a larger ε only, the more columns the larger.
        """
        bins = {each.name: int(self.bins) if isinstance(each, Numeric) else None for each in schema.columns}
        queries = {name: Counts(name, bins[name]) for name in schema.names}
        first, rest = split_by_weight(epsilon, [float(self.choosing), 1 - float(self.choosing)])
        tables = laplace_steps(list(queries.values()), split_evenly(first, len(queries)), schema)
        second = {name: laplace_steps([query], [rest], schema) for name, query in queries.items()}
        rehearse_steps(tables, schema)
        chooser = choosing(database)
        if chooser is not None:
            candidates = [MajorityScore(name, bins[name]) for name in schema.names]
            chosen = chooser.choose(candidates, 1, first, purpose=purpose)
            counted = ask_steps(database, second[chosen.columns[0]], schema, purpose)
            return NoisyStatistics(counted.tables, chosen.receipt + counted.receipt)
        noisy = ask_steps(database, tables, schema, purpose)
        best, _ = max(zip(queries, noisy.tables, strict=True), key=lambda pair: _lead(pair[1][1]))
        return noisy + ask_steps(database, second[best], schema, purpose)

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        query, table = _chosen(noisy)
        self.attribute_ = query.column
        by_cell = _log_class_probabilities(table)
        log_table = np.log(_cell_probabilities(table))
        column = ColumnScores(query.cells(schema), log_table, np.ascontiguousarray(by_cell.T))
        self._model = Model(np.zeros(len(schema.classes)), (column,)).in_order(places)

    def asked_cells(self) -> tuple[Cells, ...]:
        """The cells of a record whose codes decide what is predicted for it."""
        return self._model.cells

    def _added(self) -> Added:
        return *self._model.added, 1.0

    def _scores(self, X: Any) -> Iterator[Matrix]:
        return self._model.joint(X, self.schema_)

    def evidence(self) -> tuple[list[Evidence], Matrix]:
        """Return the table of the column and the probability of each class: what `plot` shows."""
        check_is_fitted(self, "noisy_")
        _, places = sorted_classes(self.schema_)
        _, table = _chosen(self.noisy_)
        totals = np.maximum(np.asarray(table.values, dtype=np.float64).sum(axis=1), 1.0)[places]
        return [each.evidence(self.schema_) for each in self._model.columns], totals / totals.sum()

    def explain(self, top: int | None = None) -> str:
        """Return the rule as text, one line per value of the column, and what in it may be noise."""
        relation = "in" if isinstance(self.schema_[self.attribute_], Numeric) else "="
        told = [
            f"IF {self.attribute_} {relation} {line.value} THEN {self.schema_.target} = "
            f"{self.classes_[line.winner]}  ({line.told()})"
            for line in self._lines()
        ]
        return "\n".join(told[:top])

    def _lines(self) -> list[RuleLine]:
        """What the rule says of each value, and how much of that may be noise."""
        check_is_fitted(self, "noisy_")
        (column,) = self._model.columns
        _, places = sorted_classes(self.schema_)
        _, table = _chosen(self.noisy_)
        return lines_of(column.evidence(self.schema_).cells, np.exp(normalised(column.by_cell)), table, places)

    def content(self, top: int = 10) -> dict[str, Any]:
        """Return the same as plain data: every line of the rule, and how much more likely its values are in a class."""
        evidence, prior = self.evidence()
        lines = [line.to_dict(self.classes_.tolist()) for line in self._lines()]
        told = explanation.content(evidence, prior, self.classes_.tolist(), top)
        return {**told, "column": self.attribute_, "rule": lines}

    def plot(self, top: int | None = None) -> Any:
        """Draw the rule with matplotlib: the class and the shares of each value, or of the first `top`."""
        title = f"{self.schema_.target} by {self.attribute_} ({self.guarantee_.in_short()})"
        lines, classes = self._lines()[:top], self.classes_.tolist()
        return rule_picture.draw(lines, classes, self.attribute_, self.schema_.target, title)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        super().check_parameters()
        check_integer("bins", self.bins, 2, MOST_RULE_BINS)
        if not isinstance(self.choosing, Real) or not LEAST_SHARE <= self.choosing <= 1 - LEAST_SHARE:
            raise ParameterError(
                f"choosing={self.choosing!r}; need a share of epsilon from {LEAST_SHARE} to {1 - LEAST_SHARE}"
            )


def _chosen(noisy: NoisyStatistics) -> tuple[Counts, NoisyTable]:
    """The column of the rule, and what is known of it.

    Federated parties answer for all columns: the one whose rule agrees with the most records. A count database is asked
    once more for the best column: the one that has the most tables, which are averaged.
    """
    tables: dict[Counts, list[NoisyTable]] = {}
    for query, table in noisy.tables:
        if isinstance(query, Counts):
            tables.setdefault(query, []).append(table)
    if not tables:
        raise ParameterError("these statistics do not belong to a rule; need a table of counts")
    most = max(map(len, tables.values()))
    candidates = [(query, _averaged(own)) for query, own in tables.items() if len(own) == most]
    return max(candidates, key=lambda pair: _agreement(pair[1]))


def _averaged(tables: list[NoisyTable]) -> NoisyTable:
    """Several tables of the same counts as one: weighted by the inverse of their variances."""
    if len(tables) == 1 or min(each.variance for each in tables) == 0:
        return min(tables, key=lambda each: each.variance)
    weights = np.array([1 / each.variance for each in tables])
    values = np.tensordot(weights / weights.sum(), np.stack([each.values for each in tables]), axes=1)
    return NoisyTable(values, float(1 / weights.sum()))


def _log_class_probabilities(table: NoisyTable) -> Matrix:
    """Log-probability of each class in each cell (classes by cells), from one noisy table.

    A cell whose noisy total is below two standard deviations of its noise says nothing: it takes the overall counts.
    """
    counts = np.maximum(np.asarray(table.values, dtype=np.float64), 0.0)
    deviation = math.sqrt(table.variance)
    pseudo = max(deviation / math.sqrt(2), LEAST_PSEUDO_RECORDS)
    overall = counts.sum(axis=1)
    filled = np.where(weak_cells(table), overall[:, None], counts) + pseudo
    return np.asarray(np.log(filled / filled.sum(axis=0)))


def _agreement(table: NoisyTable) -> float:
    """About how many records the rule of a noisy table classifies right."""
    rule = np.argmax(_log_class_probabilities(table), axis=0)
    return float(np.asarray(table.values, dtype=np.float64)[rule, np.arange(len(rule))].sum())


def _lead(table: NoisyTable) -> float:
    """How much more records the rule of a noisy table gets right than a guess, with what noise adds taken off.

    In each cell the largest count leads the average of the classes, which is free of the noise in the cell's total. The
    square of that lead is too large by about the variance of its noise, so a table of many cells would win by noise.
    """
    counts = np.asarray(table.values, dtype=np.float64)
    lead = counts.max(axis=0) - counts.mean(axis=0)
    return float(np.sqrt(np.maximum(lead**2 - table.variance * (1 - 1 / len(counts)), 0.0)).sum())


def _cell_probabilities(table: NoisyTable) -> Matrix:
    """Probability of each cell in each class, for the picture."""
    counts = np.maximum(np.asarray(table.values, dtype=np.float64), 0.0) + max(
        math.sqrt(table.variance / 2), LEAST_PSEUDO_RECORDS
    )
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
