"""Marchioro, Giaretta, Markatos and Girdzijauskas 2022, "Federated Naive Bayes under Differential Privacy"."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.randomness import Randomness
from discreet.research.papers.marchioro2022_exchange import (
    FLOOR,
    PARTITIONS,
    Messages,
    Variant,
    aggregate,
    answer,
    deviations_of,
    partition,
)
from discreet.research.papers.published import (
    ExactRecords,
    Likelihoods,
    Parameters,
    PublishedNaiveBayes,
    at_least,
    count_columns,
    count_queries,
    exact_parameters,
    laplace_noise,
    ratios,
)
from discreet.schema import Adjacency, Schema
from discreet.schema.columns import Numeric

LARGEST_NODES = 100_000


class Marchioro2022NaiveBayes(PublishedNaiveBayes):
    """Federated naive Bayes of one exchange, with noise at the local sensitivity of each node.

    Each query has epsilon' = epsilon / (1 + #categorical + 2 #numeric). A node adds Laplace noise of scale
    1/epsilon' to its counts and D/epsilon' to its sums of values and of squares in each class, D the largest of
    them there. The aggregator adds the messages: P[c] = n_c/n, P[v | c] = m_vc/n_c, mean S/n, variance Q/n - mean^2.

    federated=False is the central classifier that the paper compares with ("based on Vaidya et al. 2013"). The paper
    gives no formula for it; the authors' program adds Laplace noise of scale r/((n+1) epsilon') to a mean and
    sqrt(n) r/((n+1) epsilon') to a variance, where r is the range of the values of that class in the data and n the
    number of all records. The paper does not say what to do with negative counts and variances: here both classifiers
    raise them to 1e-6, as the program does, at each node and after adding.

    Parameters
    ----------
    schema : the public schema.
    epsilon : the privacy loss that the paper claims for each node.
    nodes : number of nodes among which `fit` divides the records; the paper has 1, 10, 100 and 1000.
    partition : "equal", "uniform" or "exponential" sizes of the nodes; see `marchioro2022_exchange.partition`.
    iid : whether records are shuffled first, as in the paper; otherwise they are sorted by class.
    federated : whether nodes add the noise; if not, the parameters about nodes are ignored.
    skip_empty : whether a node without records of a class sends zeros for its categories without noise, as the
        authors' program does; their Algorithm 1 adds noise always.
    random_state : None for unpredictable draws, an integer for repeatable ones.

    Attributes
    ----------
    messages_ : what each node sent (`Messages`); None if central.

    Gap
    ---
    Noise at the local sensitivity reveals the sensitivity. A node whose values of a class are (0, ..., 0) has D = 0 and
    sends S = 0 with probability 1; with one more record of value 1 it sends 0 with probability 0. The two can always be
    told apart: no finite epsilon holds. That the Laplace mechanism "provides epsilon-DP using both definitions of
    sensitivity" is an error, and the global sensitivity of a sum does exist, once values are clipped to public bounds.
    More nodes have smaller D, which is why the federated classifier seems to beat the central one. The central
    one has the same gap in r: a constant class is published without noise. Without numeric columns the claim is
    right under add-remove; under replace-one the loss is 2 epsilon, as a changed label touches two cells of every
    table. With `skip_empty` it is infinite there, too: zeros tell that the node has nobody of that class.

    Examples
    --------
    >>> from discreet.schema import Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 100)], target="ill", classes=["no", "yes"])
    >>> model = Marchioro2022NaiveBayes(schema, epsilon=3, nodes=2, random_state=0)
    >>> model.fit([[0], [0], [70], [80]], ["no", "no", "yes", "yes"]).query_epsilon
    1.0
    >>> model.messages_.sums["age"][:, 0]
    array([0., 0.])
    >>> model.honest_epsilon()
    inf
    """

    claim = "epsilon-differential privacy of each node, tables that differ in one entry (Marchioro et al. 2022)"
    verdict = (
        "FAILS: the noise on sums has the scale of the largest value that the node holds (central: of the range of the "
        "class), so that the loss is infinite with any numeric column: a class of zeros is published without noise. "
        "With categorical columns only it is epsilon under add-remove and 2 epsilon under replace-one, infinite with "
        "skip_empty, as in the authors' program"
    )
    reason = "the largest value that a node holds sets the scale of the noise on its sums (local sensitivity)"

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: object = 1.0,
        nodes: int = 1,
        partition: str = "equal",
        iid: bool = True,
        federated: bool = True,
        skip_empty: bool = False,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.nodes = nodes
        self.partition = partition
        self.iid = iid
        self.federated = federated
        self.skip_empty = skip_empty
        self.random_state = random_state

    @property
    def query_epsilon(self) -> float:
        """The part of epsilon that each query gets; the paper's epsilon'."""
        return self.claimed_epsilon / count_queries(self.schema)

    @property
    def variant(self) -> Variant:
        """How nodes answer."""
        return Variant(skip_empty=self.skip_empty)

    def honest_epsilon(self) -> float:
        """The loss of a record that stays at its node, under the schema's adjacency; infinite with a numeric column.

        Without numeric columns, a record is in one class count and in one cell of each table of one node; it moves each
        by 1 at scale 1/epsilon'. A replaced record moves two of each. Raising and adding up are post-processing.
        """
        categorical, numeric = count_columns(self.schema)
        if numeric or (categorical and self.federated and self.skip_empty):
            return math.inf
        if self.schema.adjacency is Adjacency.ADD_REMOVE:
            return self.claimed_epsilon
        return 2 * self.query_epsilon * (categorical + (len(self.schema.classes) > 1))

    def publish(self, records: ExactRecords, rng: Randomness) -> tuple[Parameters, Likelihoods]:
        """Add the nodes' messages, or perturb the parameters of all records; then divide by the class counts."""
        self.messages_: Messages | None = None
        if self.federated:
            node_of = partition(records.labels, self.nodes, self.partition, self.iid, rng)
            self.messages_ = answer(records, node_of, self.nodes, self.query_epsilon, self.variant, rng)
            noisy = aggregate(self.messages_)
        else:
            noisy = _central(records, self.query_epsilon, rng)
        return noisy, ratios(self.schema, noisy, noisy.classes.sum())

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; fitting begins with this check."""
        if isinstance(self.nodes, bool) or not isinstance(self.nodes, int | np.integer):
            raise ParameterError(f"nodes={self.nodes!r}; need an integer")
        if not 1 <= self.nodes <= LARGEST_NODES:
            raise ParameterError(f"nodes={self.nodes!r}; need from 1 to {LARGEST_NODES}")
        if self.partition not in PARTITIONS:
            raise ParameterError(f"partition={self.partition!r}; need one of {', '.join(map(repr, PARTITIONS))}")
        for name in ("iid", "federated", "skip_empty"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name}={getattr(self, name)!r}; need True or False")


def _central(records: ExactRecords, epsilon: float, rng: Randomness) -> Parameters:
    """The central classifier of the authors' program: noise at the range that each class has in the data."""

    noisy = laplace_noise(rng)
    count = at_least(FLOOR, noisy)
    exact, n, one = exact_parameters(records), records.class_counts().sum(), np.asarray(1 / epsilon)
    means, variances = {}, {}
    for column in records.schema.columns:
        if isinstance(column, Numeric):
            ranges = np.array([np.ptp(values) if len(values) else 0.0 for values in records.values(column)])
            means[column.name] = noisy(exact.means[column.name], ranges / (n + 1) / epsilon)
            scale = math.sqrt(n) * ranges / (n + 1) / epsilon
            variances[column.name] = noisy(exact.deviations[column.name] ** 2, scale)
    classes = count(exact.classes, one)
    tables = {name: count(table, one) for name, table in exact.tables.items()}
    return Parameters(classes, tables, means, deviations_of(variances))
