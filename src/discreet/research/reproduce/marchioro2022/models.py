"""The models of Figure 1 of Marchioro et al. 2022: as published, two variants that show what drives it, and ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.federated.simulate import PublicTable, Setting
from discreet.models import NaiveBayes
from discreet.privacy.randomness import Randomness
from discreet.records.encoding import Cells, Codes
from discreet.research.papers import Marchioro2022NaiveBayes
from discreet.research.papers.marchioro2022_exchange import FLOOR, Messages, aggregate, partition
from discreet.research.papers.published import Array, ExactRecords, Likelihoods, Parameters, clipped_numbers
from discreet.research.reproduce.study import Factory
from discreet.schema import Adjacency, Schema
from discreet.schema.columns import Categorical, Numeric

CENTRAL, OURS = "published central", "ours central"
PUBLISHED, PROGRAM, LOCAL, SUMMED = "published N=", "program N=", "ours local noise N=", "ours secure sum N="
BOUNDED, NOISE = "public bounds N=", "noise alone N="


class Federation:
    """Our naive Bayes, trained by parties among whom the training records are divided evenly and at random.

    Everything runs in this process and from one seed, by `discreet.federated.simulate`: the questions, their shares of
    epsilon and the noise are those of an invitation. Without noise it is training at one place, as sums are exact.
    """

    def __init__(self, schema: Schema, *, epsilon: float, random_state: int, protocol: str, parties: int) -> None:
        self.schema, self.epsilon, self.random_state = schema, epsilon, random_state
        self.protocol, self.parties = protocol, parties

    def fit(self, X: Any, y: Any) -> Self:
        """Divide the records, add up what the parties answer, and build the model of the sums."""
        model = NaiveBayes(self.schema, epsilon=self.epsilon, random_state=self.random_state)
        if self.epsilon == math.inf:
            self.model_ = model.fit(X, y)
        else:
            table = PublicTable(X, y, self.schema, seed=self.random_state)
            setting = Setting(self.protocol, self.parties, self.epsilon)
            self.model_ = model.fit_noisy(table.statistics(setting, np.arange(len(y)), 0))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each record."""
        return self.model_.predict(X)


class PublicBounds(Marchioro2022NaiveBayes):
    """The same exchange with noise on sums at the largest value that the schema allows, not the largest that is there.

    What the claim needs: a record moves S by at most max(|lower|, |upper|) and Q by its square, so that each query is
    epsilon'-DP under add-remove, and the message epsilon-DP (but for the arithmetic of floats).
    """

    def honest_epsilon(self) -> float:
        """The claimed loss; at most twice it under replace-one, which is a removal and an addition."""
        return self.claimed_epsilon * (1 if self.schema.adjacency is Adjacency.ADD_REMOVE else 2)

    def publish(self, records: ExactRecords, rng: Randomness) -> tuple[Parameters, Likelihoods]:
        """Ask the nodes and add their messages."""
        return _published(self, records, rng, public=True, exact=True)


class NoiseAlone(Marchioro2022NaiveBayes):
    """The same exchange with every exact count and sum replaced by zero: all that is left of the data is the scale of
    the noise on sums. If it classifies better than a guess, it does so from what the scale tells."""

    def publish(self, records: ExactRecords, rng: Randomness) -> tuple[Parameters, Likelihoods]:
        """Ask the nodes and add their noise."""
        return _published(self, records, rng, public=False, exact=False)


def _published(
    model: Marchioro2022NaiveBayes, records: ExactRecords, rng: Randomness, *, public: bool, exact: bool
) -> tuple[Parameters, Likelihoods]:
    node_of = partition(records.labels, model.nodes, "equal", True, rng)
    model.messages_ = _messages(records, node_of, model.nodes, model.query_epsilon, rng, public, exact)
    noisy = aggregate(model.messages_)
    tables = {name: table / noisy.classes[:, np.newaxis] for name, table in noisy.tables.items()}
    prior = noisy.classes / noisy.classes.sum()
    return noisy, Likelihoods(model.schema, prior, tables, noisy.means, noisy.deviations)


def _messages(
    records: ExactRecords, node_of: Codes, nodes: int, epsilon: float, rng: Randomness, public: bool, exact: bool
) -> Messages:
    """Algorithm 1 at all nodes, as `marchioro2022_exchange.answer` has it but for the scales or the exact values."""
    schema, cells = records.schema, (nodes, len(records.schema.classes))
    places = node_of * (cells[1] + 1) + records.labels

    def noisy(values: Array, scale: Any) -> Array:
        return np.asarray(values * exact + scale / epsilon * rng.laplace(values.shape))

    def count(codes: Codes, size: int) -> Array:
        flat = np.bincount(codes, minlength=nodes * (cells[1] + 1) * size).astype(np.float64)
        return np.maximum(noisy(flat.reshape(nodes, -1, size)[:, : cells[1]], 1.0), FLOOR)

    def total(values: Array, bound: float) -> Array:
        sums, largest = node_sums(values, records.labels, node_of, cells)
        return noisy(sums, bound if public else largest)

    classes, tables, sums, squares = count(places, 1)[:, :, 0], {}, {}, {}
    for column in schema.columns:
        values = records.table.column(column.name)
        if isinstance(column, Categorical):
            codes = places * column.size + Cells(column.name).codes(values, schema)
            tables[column.name] = count(codes, column.size)
        else:
            numbers, bound = clipped_numbers(values, column), public_sensitivity(column)
            sums[column.name] = total(numbers, bound)
            squares[column.name] = np.maximum(total(numbers**2, bound**2), 0.0)
    return Messages(classes, tables, sums, squares)


def node_sums(values: Array, labels: Codes, node_of: Codes, cells: tuple[int, int]) -> tuple[Array, Array]:
    """The sum and the largest |value| by node and class, cells being the numbers of nodes and classes."""
    nodes, classes = cells
    places = node_of * (classes + 1) + labels
    largest = np.zeros(nodes * (classes + 1))
    np.maximum.at(largest, places, np.abs(values))
    sums: Array = np.bincount(places, values, minlength=len(largest)).astype(np.float64)
    return sums.reshape(nodes, -1)[:, :classes], largest.reshape(nodes, -1)[:, :classes]


def public_sensitivity(column: Numeric) -> float:
    """The most that one record can add to a sum, by the schema alone."""
    return max(abs(float(column.lower)), abs(float(column.upper)))


def factories(nodes: Sequence[int], numeric: bool) -> dict[str, Factory]:
    """The models of a data set that can be divided among these numbers of nodes."""
    most, many = max(nodes), [each for each in nodes if each > 1]
    published: Callable[..., Factory] = partial(partial, Marchioro2022NaiveBayes)
    models: dict[str, Factory] = {CENTRAL: published(federated=False)}
    models |= {f"{PUBLISHED}{each}": published(nodes=each) for each in nodes}
    models |= {OURS: NaiveBayes}
    models |= {f"{LOCAL}{each}": partial(Federation, protocol="local-noise", parties=each) for each in many}
    models |= {f"{SUMMED}{most}": partial(Federation, protocol="secure-sum", parties=most)}
    if numeric:
        models |= {f"{BOUNDED}{most}": partial(PublicBounds, nodes=most)}
        models |= {f"{NOISE}{most}": partial(NoiseAlone, nodes=most)}
    else:
        models |= {f"{PROGRAM}{each}": published(nodes=each, skip_empty=True) for each in many}
    return models
