"""Zorarpacı 2019 (PhD thesis, Çukurova University): columns chosen in the clear, then noisy counts, as published."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.errors import DataError, ParameterError
from discreet.models.bees.bee_feature_selector import BeeFeatureSelector
from discreet.privacy.randomness import Randomness
from discreet.records.tables import Table, as_vector
from discreet.research.papers.published import check_bins
from discreet.research.papers.reproduction import PublishedClassifier
from discreet.research.papers.zorarpaci2019 import Zorarpaci2019NaiveBayes
from discreet.research.papers.zorarpaci2019_one_rule import Zorarpaci2019OneRule
from discreet.schema import Schema

LEARNERS: dict[str, type[Zorarpaci2019OneRule] | type[Zorarpaci2019NaiveBayes]] = {
    "one-rule": Zorarpaci2019OneRule,
    "naive-bayes": Zorarpaci2019NaiveBayes,
}


class Zorarpaci2019Pipeline(PublishedClassifier):
    """ABC-DE chooses columns on the exact records; 1R or naive Bayes then counts the chosen ones with noise.

    The purpose: fewer columns mean fewer count queries, and each query gets more of epsilon. Columns are chosen by
    `BeeFeatureSelector` as published, by the accuracy of a tree in 3-fold cross-validation. The thesis does not state
    the size of the population and the number of rounds; its tree is Weka's J48 (here a tree by entropy, with at least
    two records per leaf).

    Parameters
    ----------
    schema : the public schema.
    learner : "one-rule" (`Zorarpaci2019OneRule`) or "naive-bayes" (`Zorarpaci2019NaiveBayes`).
    epsilon : the privacy loss that the thesis claims for the whole model.
    bins : number of equal bins of a numeric column, for the learner.
    population, max_iter : number of subsets and of rounds of the search.
    random_state : None for unpredictable draws, an integer for repeatable ones.

    Attributes
    ----------
    columns_ : the chosen columns, a function of the exact records.
    learner_ : the learner, fitted on them.

    Gap
    ---
    The choice is published without noise. Let one column determine the class of all records, and another that of all
    records but one; replace that one record so that the two columns change roles. For all folds, the best subset is the
    first column alone before, and the second alone after. A search that finds the best subset tells the two tables
    apart with probability 1 at every epsilon: the loss is infinite. The same holds for anyone who knows the seed of the
    search. The published search starts from random subsets and cannot leave a population of equal subsets, so with P of
    them it publishes the wrong column with probability (3/8)^P: its loss is at least P ln(8/3) + ln(1 - (5/8)^P), 19.6
    for P = 20, and grows with the search, not with epsilon. What fewer columns save was never paid for.

    Examples
    --------
    >>> from discreet.schema import Categorical, Schema
    >>> columns = [Categorical(name, [0, 1], unlisted=False) for name in ("cough", "hat")]
    >>> schema = Schema(columns, target="ill", classes=["no", "yes"])
    >>> model = Zorarpaci2019Pipeline(schema, epsilon=100, random_state=0)
    >>> model = model.fit([[0, 0], [0, 1], [1, 0], [1, 1]] * 9, ["no", "no", "yes", "yes"] * 9)
    >>> model.columns_, model.predict([[1, 0]]).tolist(), model.honest_epsilon()
    (['cough'], ['yes'], inf)
    """

    claim = "epsilon-differential privacy of the counts after columns were chosen (Zorarpaci 2019)"
    verdict = (
        "FAILS: the chosen columns are a function of exact cross-validated accuracies and are published without noise. "
        "One replaced record moves the best subset from one column to another: the loss is infinite for a search that "
        "finds it, and at least P ln(8/3), 19.6 for P = 20, for the published one with P random subsets, at "
        "every epsilon"
    )
    reason = "columns are chosen on the exact records, and the choice is published without noise"

    def __init__(
        self,
        schema: Schema,
        *,
        learner: str = "one-rule",
        epsilon: object = 1.0,
        bins: int = 10,
        population: int = 20,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.learner = learner
        self.epsilon = epsilon
        self.bins = bins
        self.population = population
        self.max_iter = max_iter
        self.random_state = random_state

    def honest_epsilon(self) -> float:
        """The loss: infinite, for a search that finds the best subset or whose seed is known; proof under Gap."""
        return math.inf

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; fitting begins with this check."""
        check_bins(self.bins)
        if self.learner not in LEARNERS:
            raise ParameterError(f"learner={self.learner!r}; need 'one-rule' or 'naive-bayes'")
        self._selector().check_parameters()

    def learn(self, X: Any, y: Any, rng: Randomness) -> None:
        """Choose columns on the exact records, then fit the learner on them."""
        table, labels = self._opened(X), as_vector(y)
        if len(labels) != table.rows:
            raise DataError("X and y have different lengths; need one label per record")
        seed = int(rng.integers(2**62, (1,))[0])
        columns = {name: np.asarray(table.column(name), dtype=object) for name in self.schema.names}
        selector = self._selector(seed).fit(columns, np.asarray(labels, dtype=object))
        self.columns_ = list(selector.columns_)
        learner = LEARNERS[self.learner](
            selector.selected_schema_, epsilon=self.epsilon, bins=self.bins, random_state=rng
        )
        self.learner_ = learner.fit({name: columns[name] for name in self.columns_}, labels)

    def predict(self, X: Any) -> NDArray[Any]:
        """The learner's prediction from the chosen columns."""
        check_is_fitted(self, "learner_")
        table = self._opened(X)
        labels: NDArray[Any] = self.learner_.predict({name: table.column(name) for name in self.columns_})
        return labels

    def _selector(self, seed: int | None = None) -> BeeFeatureSelector:
        return BeeFeatureSelector(self.schema, population=self.population, max_iter=self.max_iter, random_state=seed)

    def _opened(self, X: Any) -> Table:
        table = Table(X, self.schema)
        table.check(self.schema)
        return table
