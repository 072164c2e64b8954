"""A choice of columns by bees and differential evolution, from records in the clear or from noisy tables."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.models.bees.colony import Uniform, stream
from discreet.models.bees.fitness import NoisyAccuracy, NoisyHistogram, TreeAccuracy
from discreet.models.bees.reading import admit, labelled, promised
from discreet.models.bees.selection import Bits, SubsetSearch
from discreet.models.column_selector import ColumnSelector
from discreet.models.public_data import check_schema_parameter, with_schema
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.ledger import Ledger
from discreet.privacy.receipt import Receipt
from discreet.queries.tables import ClassCounts, Counts, SoftCounts, SplineCounts
from discreet.records.chosen_columns import schema_for
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema


class BeeFeatureSelector(ColumnSelector):
    """The columns that are enough, found by an artificial bee colony with differential evolution (ABC-DE).

    `fit` scores a set of columns by the accuracy of an entropy tree in 3-fold cross-validation on the records
    (Zorarpacı and Özel 2016). `fit_noisy` needs no records: it scores by the accuracy of naive Bayes on tables that
    were released before, for instance those of a private model.

    Guarantee: `fit` on clear records has none, and `selected_schema_` tells every model that is made with it. A choice
    from records that were perturbed one by one under a guarantee, or from noisy statistics, has the same guarantee as
    these, because it is post-processing. A model that is then fitted on the same data costs its own epsilon as well.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data.
    population : number of sets of columns that are kept.
    max_iter : number of rounds.
    onlookers : number of onlookers per round.
    normalise : False (default) for the probabilities of the published method, under which evolution is rare and
        onlookers hardly ever act; True for probabilities relative to the best set.
    price : accuracy that a further column must add to be chosen (`fit_noisy` only).
    random_state : an integer makes the search repeatable. No noise is drawn from it, so it affects no guarantee.

    Attributes
    ----------
    columns_ : names of the chosen columns, in the order of the schema.
    selected_schema_ : the schema with only these columns, for the next model.
    fitness_ : score of the choice; if the records were clear, this number is as private as they are.
    guarantee_, receipt_ : what is guaranteed for the choice, and what it cost.

    Examples
    --------
    >>> from discreet import Categorical, NaiveBayes, Schema
    >>> from discreet.models.bees.bee_feature_selector import BeeFeatureSelector
    >>> yes_no = [Categorical(name, ["no", "yes"], unlisted=False) for name in ("cough", "hat")]
    >>> schema = Schema(yes_no, target="ill", classes=["no", "yes"])
    >>> records = [{"cough": ill, "hat": hat} for ill in ("no", "yes") for hat in ("no", "yes")] * 500
    >>> model = NaiveBayes(schema, epsilon=1).fit(records, [record["cough"] for record in records])
    >>> selector = BeeFeatureSelector(schema).fit_noisy(model.noisy_)
    >>> selector.columns_, selector.guarantee_.holds
    (['cough'], True)
    """

    kind: ClassVar[str] = "bee-feature-selector"

    def __init__(
        self,
        schema: Schema | str,
        *,
        population: int = 20,
        max_iter: int = 100,
        onlookers: int = 20,
        normalise: bool = False,
        price: float = 0.005,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.population = population
        self.max_iter = max_iter
        self.onlookers = onlookers
        self.normalise = normalise
        self.price = price
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        ledger: Ledger | None = None,
        source_guarantee: Guarantee | None = None,
        source_receipt: Receipt | None = None,
    ) -> BeeFeatureSelector:
        """Choose columns by the records; with y=None, the labels are in the schema's target column of X.

        `source_guarantee` is the guarantee under which the records X, y were perturbed one by one; unless it is given
        and holds, a ledger is charged infinity before any record is read.
        """
        search = self._checked()
        self.__dict__.pop("columns_", None)  # an interrupted refit must not leave an old choice under a new guarantee
        uniform = stream(self.random_state)
        given = self.schema
        if isinstance(given, Schema) and source_guarantee is not None:  # else infinity is charged before X is looked at
            given = schema_for(X, given)
        admit(given, ledger, source_guarantee, source_receipt, self.kind)
        X, y, self.schema_ = with_schema(X, y, given, type(self).__name__)
        fitness = TreeAccuracy(*labelled(X, y, self.schema_), uniform)
        promise = promised("columns", self.schema_, source_guarantee, source_receipt)
        return self._choose(search, self.schema_.names, fitness, uniform, promise)

    def fit_noisy(self, noisy: NoisyStatistics) -> BeeFeatureSelector:
        """Choose columns by noisy tables: post-processing, no data, no cost. A column without a table is not chosen."""
        search = self._checked()
        if not isinstance(self.schema, Schema):
            raise ParameterError("schema='from-data' needs records; give the schema of the statistics")
        if not isinstance(noisy, NoisyStatistics):
            raise ParameterError(f"noisy={type(noisy).__name__}; need NoisyStatistics, for instance model.noisy_")
        self.schema_ = self.schema
        noisy.check(self.schema_)
        names, prior, tables = _histograms(noisy, self.schema_)
        uniform = stream(self.random_state)
        fitness = NoisyAccuracy(prior, tables, float(self.price), uniform)
        promise = Guarantee.of(noisy.receipt, self.schema_), noisy.receipt
        return self._choose(search, names, fitness, uniform, promise)

    def _choose(
        self,
        search: SubsetSearch,
        names: list[str],
        fitness: Callable[[Bits], float],
        uniform: Uniform,
        promise: tuple[Guarantee, Receipt],
    ) -> BeeFeatureSelector:
        """Search among these columns, then set the attributes of a fitted selector."""
        best = search.best(len(names), fitness, uniform)
        self.fitness_, self.n_iter_ = best.value, self.max_iter
        columns = [name for name, chosen in zip(names, best.bits, strict=True) if chosen]
        self._set_choice(self.schema_, columns, *promise)
        return self

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        self._checked()

    def _checked(self) -> SubsetSearch:
        check_schema_parameter(self.schema)
        if not isinstance(self.price, Real) or not 0 <= self.price <= 1:
            raise ParameterError(f"price={self.price!r}; need a number from 0 to 1")
        return SubsetSearch(self.population, self.max_iter, self.onlookers, self.normalise)


def _histograms(noisy: NoisyStatistics, schema: Schema) -> tuple[list[str], NDArray[np.float64], list[NoisyHistogram]]:
    """Each column's table as a histogram in records, in the order of the schema, and the class frequencies."""
    tables: dict[str, NoisyHistogram] = {}
    totals = []
    for query, table in noisy.tables:
        if isinstance(query, Counts | SplineCounts | SoftCounts | ClassCounts):
            unit = query.unit(schema)
            histogram = NoisyHistogram(np.asarray(table.values, dtype=np.float64) / unit, table.variance / unit**2)
            totals.append(np.maximum(histogram.counts.sum(axis=1), 0.0))
            if not isinstance(query, ClassCounts):
                tables[query.column] = histogram
    if not tables:
        raise ParameterError(
            "these statistics hold no table of counts of a column; use those of NaiveBayes with "
            "numeric='histogram' or 'gaussian'"
        )
    names = [name for name in schema.names if name in tables]
    prior = np.mean(totals, axis=0) + 1e-9
    return names, prior / prior.sum(), [tables[name] for name in names]
