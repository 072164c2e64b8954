"""Vaidya, Shafiq, Basu and Hong 2013, "Differentially Private Naive Bayes Classification", as published."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.randomness import Randomness
from discreet.research.papers.published import (
    Array,
    ExactRecords,
    Likelihoods,
    Parameters,
    PublishedNaiveBayes,
    count_columns,
    exact_parameters,
    laplace_noise,
)
from discreet.schema import Schema
from discreet.schema.columns import Categorical


class Vaidya2013NaiveBayes(PublishedNaiveBayes):
    """Naive Bayes with Laplace noise of full epsilon on every count, mean and deviation.

    Scales: 1/epsilon on each count; w/((n+1) epsilon) on a mean and sqrt(n) w/((n+1) epsilon) on a deviation,
    w the width of the bounds; 1 on the class counts, whatever epsilon is. Counts and deviations are redrawn
    until they are not negative. One is added to each count before it becomes a probability.

    Parameters
    ----------
    schema : the public schema.
    epsilon : what the paper calls epsilon; each query uses all of it.
    n : the paper's constant for the noise on means and deviations, unrelated to the data; it used 1000 to 10**6.
    random_state : None for unpredictable draws, an integer for repeatable ones.

    Gap
    ---
    The claim is epsilon under add-remove. The loss is larger for five reasons. Losses of queries on the same record
    add up: epsilon per table and 2 epsilon per numeric column. The class counts cost 1 at every epsilon. Redrawing
    gives the law conditioned on [0, inf), whose normaliser depends on the data: ln(2 e^eps - 1) for a count
    instead of eps. A class with fewer than n records moves its mean by more than w/(n+1): the loss of that
    query is epsilon (n+1)/(n_c+1). The paper assumes two records in each category, which is a condition on the data.
    `honest_epsilon` is the exact loss (of real-valued noise; floats add more).

    Examples
    --------
    >>> from discreet.schema import Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 100)], target="ill", classes=["no", "yes"])
    >>> model = Vaidya2013NaiveBayes(schema, epsilon=0.01, n=1000, random_state=0)
    >>> model.fit([[20], [30], [70], [80]], ["no", "no", "yes", "yes"]).guarantee_.holds
    False
    >>> round(model.honest_epsilon(smallest_class=2), 1)
    4.7
    """

    claim = "epsilon-differential privacy, one record more or less (Vaidya et al. 2013)"
    verdict = (
        "FAILS: every table, mean and deviation is released at the full epsilon and the class counts at 1, so that "
        "the loss is at least epsilon (m_cat + 2 m_num) + 1 under add-remove. Redrawing negative values adds up to "
        "ln(2 - e^-eps) a count, and a class of n_c < n records multiplies a mean's loss by (n+1)/(n_c+1)"
    )
    reason = "every query is released at the full epsilon, class counts at 1, and negative values are drawn again"

    def __init__(self, schema: Schema, *, epsilon: object = 1.0, n: float = 1000, random_state: Any = None) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.n = n
        self.random_state = random_state

    def honest_epsilon(self, smallest_class: int = 0) -> float:
        """The exact loss under add-remove when a record joins a class of at least `smallest_class` records.

        Worst case: the class has m records, all at one bound and in other cells than the new one, at the other
        bound. In units of its scale a count moves by epsilon, the mean by epsilon (n+1)/(m+1), the deviation,
        from 0, by epsilon sqrt(m)/(m+1) (n+1)/sqrt(n), the class count by 1; `_redrawn_loss` adds what
        redrawing costs. The mean of no records is the middle, so m = 0 moves it by half the width. All of it
        falls with m from 1 on. Under replace-one: at most twice the value for one record fewer.
        """
        return max(self._loss(smallest_class), self._loss(max(smallest_class, 1)))

    def _loss(self, m: int) -> float:
        epsilon, n = self.claimed_epsilon, float(self.n)
        categorical, numeric = count_columns(self.schema)
        loss = _redrawn_loss(1.0, m) + categorical * _redrawn_loss(epsilon, 0)
        if numeric:
            deviation = epsilon * math.sqrt(m) / (m + 1) * (n + 1) / math.sqrt(n) if m else 0.0
            loss += numeric * (epsilon * (n + 1) / max(m + 1, 2) + _redrawn_loss(deviation, 0))
        return loss

    def scales(self, records: ExactRecords) -> Parameters:
        """The noise scales; in this paper they do not depend on the records."""
        epsilon, n, classes = self.claimed_epsilon, float(self.n), len(self.schema.classes)
        tables, means, deviations = {}, {}, {}
        for column in self.schema.columns:
            if isinstance(column, Categorical):
                tables[column.name] = np.full((classes, column.size), 1 / epsilon)
            else:
                width = float(column.upper) - float(column.lower)
                means[column.name] = np.full(classes, width / (n + 1) / epsilon)
                deviations[column.name] = np.full(classes, math.sqrt(n) * width / (n + 1) / epsilon)
        return Parameters(np.ones(classes), tables, means, deviations)

    def publish(self, records: ExactRecords, rng: Randomness) -> tuple[Parameters, Likelihoods]:
        """Perturb, redraw negative values (not of means), and add one to each count before dividing."""

        plain = laplace_noise(rng)

        def redrawn(exact: Array, scale: Array) -> Array:
            noisy = plain(exact, scale)
            while (negative := noisy < 0).any():
                noisy[negative] = plain(exact[negative], scale[negative])
            return noisy

        noisy = exact_parameters(records).perturb(
            self.scales(records), classes=redrawn, tables=redrawn, means=plain, deviations=redrawn
        )
        tables = {name: (table + 1) / (table + 1).sum(axis=1, keepdims=True) for name, table in noisy.tables.items()}
        prior = (noisy.classes + 1) / (noisy.classes + 1).sum()
        return noisy, Likelihoods(self.schema, prior, tables, noisy.means, noisy.deviations)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; fitting begins with this check."""
        if isinstance(self.n, bool) or not isinstance(self.n, int | float) or not 1 <= self.n < math.inf:
            raise ParameterError(f"n={self.n!r}; need a number of records, at least 1")


def _redrawn_loss(shift: float, least: float) -> float:
    """Loss of Laplace noise of scale 1 conditioned on [0, inf), between the values `least` and `least + shift`.

    The density at o is e^-|o-q| / (2 - e^-q), up to a constant; the ratio of the smaller value's to the larger
    one's is greatest at o = 0.
    """
    if math.isinf(shift):
        return math.inf
    return shift + math.log1p(-math.exp(-least - shift) / 2) - math.log1p(-math.exp(-least) / 2)
