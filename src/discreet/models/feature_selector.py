"""The most informative columns, chosen privately: a step before any model."""

from __future__ import annotations

from typing import Any, Self

from discreet.doors.choice import select
from discreet.errors import ParameterError
from discreet.models.column_selector import ColumnSelector
from discreet.models.parameter_checks import check_integer
from discreet.models.public_data import check_schema_parameter, schema_for_source, with_schema
from discreet.privacy.epsilon import as_epsilon, as_release_epsilon
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.ledger import Ledger, as_ledger
from discreet.privacy.randomness import as_rng
from discreet.queries.tables import MOST_BINS, MajorityScore
from discreet.schema import Schema
from discreet.schema.columns import Numeric
from discreet.sources import Source, finish
from discreet.sources.memory import MemorySource


class FeatureSelector(ColumnSelector):
    """ε-differentially private choice of the k most informative columns.

    The score of a column is the number of records that it classifies right if each of its cells votes for its largest
    class. Columns are chosen one after another by permute-and-flip; more candidates cost only a logarithm.

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the door `select`, proof there; names,
    order and `selected_schema_` are post-processing. Give `selected_schema_` to the next model: if it is fitted on the
    same data at ε2, both together cost ε + ε2, which the model's guarantee states; each charges the ledger that it is
    given. `NaiveBayes(select=k)` divides one ε between choosing and counting.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which voids the guarantee.
    k : number of columns to keep.
    epsilon : privacy loss of the whole fit; infinity for a choice without noise.
    bins : number of equally wide bins per numeric column.
    random_state : None for secure noise; an integer for repeatable experiments and tests, which voids the guarantee.

    Attributes
    ----------
    columns_ : names of the chosen columns, in the order in which they were chosen.
    selected_schema_ : the schema with only these columns, for the next model; the others are ignored. If the choice has
        no guarantee (seed, infinite ε, schema from data), this schema says so, and no model made with it has one.
    guarantee_ : what is guaranteed for the choice, in words that name unit and adjacency.
    receipt_ : every charge.

    Examples
    --------
    >>> from discreet import Categorical, Schema
    >>> schema = Schema([Categorical("smoker", ["no", "yes"]), Categorical("hat", ["no", "yes"])], "ill", ["no", "yes"])
    >>> records = [{"smoker": "yes", "hat": "no"}] * 500 + [{"smoker": "no", "hat": "no"}] * 500
    >>> selector = FeatureSelector(schema, k=1, epsilon=1).fit(records, ["yes"] * 500 + ["no"] * 500)
    >>> selector.columns_, selector.transform(records[:1]).tolist(), selector.selected_schema_.names
    (['smoker'], [['yes']], ['smoker'])
    """

    def __init__(
        self, schema: Schema | str, *, k: int = 1, epsilon: Any = 1.0, bins: int = 8, random_state: Any = None
    ) -> None:
        self.schema = schema
        self.k = k
        self.epsilon = epsilon
        self.bins = bins
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, ledger: Ledger | None = None) -> Self:
        """Choose from the columns of X (a data frame, a list of dicts or a 2-D array) by the labels y.

        With y=None, the labels are in the schema's target column of X. A ledger, if given, is charged epsilon.
        """
        self.check_parameters()
        X, y, schema = with_schema(X, y, self.schema, type(self).__name__)
        return self._fit(MemorySource(X, y), schema, ledger)

    def fit_from(self, source: Source, *, ledger: Ledger | None = None) -> Self:
        """Choose from any source, for instance a DuckDB table or a Parquet file larger than memory."""
        self.check_parameters()
        return self._fit(source, schema_for_source(source, self.schema), ledger)

    def _fit(self, source: Source, schema: Schema, ledger: Ledger | None) -> Self:
        self._check_k(schema)
        epsilon = as_epsilon(self.epsilon)
        bins = int(self.bins)
        candidates = [MajorityScore(each.name, bins if isinstance(each, Numeric) else None) for each in schema.columns]
        purpose, rng = f"feature selection for {schema.target}", as_rng(self.random_state)
        account = as_ledger(ledger, epsilon)
        try:
            chosen = select(source, schema, candidates, int(self.k), epsilon, account, rng, purpose)
        finally:
            finish(source)
        self._set_choice(schema, chosen.columns, Guarantee.of(chosen.receipt, schema), chosen.receipt)
        return self

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        as_rng(self.random_state)
        as_release_epsilon(self.epsilon)
        check_schema_parameter(self.schema)
        check_integer("bins", self.bins, 2, MOST_BINS)
        check_integer("k", self.k, 1)
        if isinstance(self.schema, Schema):
            self._check_k(self.schema)

    def _check_k(self, schema: Schema) -> None:
        if int(self.k) > len(schema.columns):
            raise ParameterError(f"k={self.k}, but there are {len(schema.columns)} feature(s); need at most that many")
