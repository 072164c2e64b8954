"""What the nodes of Marchioro et al. 2022 send, and how it becomes a model: their Algorithms 1 to 3, and gossip.

Algorithm 1 reads records; the others are functions of noisy messages alone, so they would keep a guarantee of the
messages. The messages have none: see `Marchioro2022NaiveBayes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.randomness import Randomness
from discreet.records.encoding import Cells, Codes
from discreet.research.papers.published import Array, ExactRecords, Parameters, at_least, clipped_numbers, laplace_noise
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

FLOOR = 1e-6
"""Noisy counts and variances below this are raised to it, by each node and by the aggregator.

The paper does not mention negative counts; the authors' program does this. Every node raises its own counts, so N
nodes raise an empty cell by N/(2 epsilon') on average.
"""
PARTITIONS = ("equal", "uniform", "exponential")
LEAST_RECORDS = 2
"""Each node has at least this many records, if there are enough records."""


@dataclass(frozen=True)
class Messages:
    """Noisy class counts n, category counts m, sums S and sums of squares Q; the first axis is the node."""

    classes: Array
    tables: Mapping[str, Array]
    sums: Mapping[str, Array]
    squares: Mapping[str, Array]

    @property
    def nodes(self) -> int:
        """Number of messages."""
        return len(self.classes)

    def of(self, node: int) -> Messages:
        """The message of one node alone."""
        return Messages(
            self.classes[[node]],
            *({name: values[[node]] for name, values in group.items()} for group in self.groups()),
        )

    def groups(self) -> tuple[Mapping[str, Array], Mapping[str, Array], Mapping[str, Array]]:
        """Everything except the class counts."""
        return self.tables, self.sums, self.squares


def partition(labels: Codes, nodes: int, sizes: str, iid: bool, rng: Randomness) -> Codes:
    """The node of each record: records are shuffled (iid), or sorted by class, so most nodes have only one class.

    `sizes` is "equal", or the law of the nodes' weights: "uniform" on [1, 10] or "exponential". Each node gets two
    records if there are enough; the others are divided in proportion to the weights. The authors' program has the same
    three settings, but its weights change the size of a node by a few records only.
    """
    if nodes == 1:
        return np.zeros(len(labels), dtype=np.intp)
    if sizes == "equal":
        weights = np.ones(nodes)
    elif sizes == "uniform":
        weights = 1 + 9 * (rng.integers(2**53, (nodes,)) / 2**53)
    else:
        weights = np.abs(rng.laplace((nodes,))) + np.finfo(np.float64).tiny
    least = LEAST_RECORDS if len(labels) >= LEAST_RECORDS * nodes else 0
    ends = np.cumsum(weights) / weights.sum() * (len(labels) - least * nodes)
    counts = least + np.diff(np.rint(ends).astype(np.intp), prepend=0)
    order = np.argsort(rng.integers(2**62, (len(labels),)) if iid else labels, kind="stable")
    node_of = np.empty(len(labels), dtype=np.intp)
    node_of[order] = np.repeat(np.arange(nodes), counts)
    return node_of


@dataclass(frozen=True)
class Variant:
    """How nodes answer. The defaults are Algorithm 1; the other values show what drives its accuracy.

    Parameters
    ----------
    skip_empty : whether a node without records of a class sends zeros for its categories without noise.
    public_bounds : whether the noise on sums has the scale of the largest value that the schema allows.
    without_data : whether every exact count and sum is replaced by 0, so that only the noise is sent.
    """

    skip_empty: bool = False
    public_bounds: bool = False
    without_data: bool = False


def answer(
    records: ExactRecords, node_of: Codes, nodes: int, epsilon: float, variant: Variant, rng: Randomness
) -> Messages:
    """Algorithm 1 at every node: counts with noise Lap(1/epsilon), sums with Lap(D/epsilon).

    D is the largest |value| (for Q, its square) of that class at that node: read off the data, which is the gap. A
    node without records of a class has D = 0 and sends S = Q = 0 without noise. Negative Q become 0.
    """
    cells = nodes, len(records.schema.classes)
    places = node_of * (cells[1] + 1) + records.labels
    known = 0.0 if variant.without_data else 1.0
    noisy = laplace_noise(rng)

    def counts(codes: Codes, size: int) -> Array:
        flat = np.bincount(codes, minlength=nodes * (cells[1] + 1) * size)
        return flat.reshape(nodes, -1, size)[:, : cells[1]].astype(np.float64)

    def count(codes: Codes, size: int) -> Array:
        return at_least(FLOOR, noisy)(known * counts(codes, size), np.asarray(1 / epsilon))

    def total(values: Array, bound: Array) -> Array:
        sums, largest = node_sums(values, records.labels, node_of, cells)
        sensitivity = bound if variant.public_bounds else largest
        return noisy(known * sums, sensitivity / epsilon)

    class_counts = count(places, 1)[:, :, 0]
    silent = counts(places, 1) == 0 if variant.skip_empty else np.zeros((*cells, 1), dtype=np.bool_)
    tables, sums, squares = {}, {}, {}
    for column in records.schema.columns:
        values = records.table.column(column.name)
        if isinstance(column, Categorical):
            codes = Cells(column.name).codes(values, records.schema)
            tables[column.name] = np.where(silent, 0.0, count(places * column.size + codes, column.size))
        elif isinstance(column, Numeric):
            numbers, bound = clipped_numbers(values, column), np.full(cells, public_sensitivity(column))
            sums[column.name] = total(numbers, bound)
            squares[column.name] = np.maximum(total(numbers**2, bound**2), 0.0)
    return Messages(class_counts, tables, sums, squares)


def node_sums(values: Array, labels: Codes, node_of: Codes, cells: tuple[int, int]) -> tuple[Array, Array]:
    """The sum and the largest |value| by node and class; `cells` are the numbers of nodes and classes."""
    nodes, classes = cells
    places = node_of * (classes + 1) + labels
    largest = np.zeros(nodes * (classes + 1))
    np.maximum.at(largest, places, np.abs(values))
    sums: Array = np.bincount(places, values, minlength=len(largest)).astype(np.float64)
    return sums.reshape(nodes, -1)[:, :classes], largest.reshape(nodes, -1)[:, :classes]


def public_sensitivity(column: Numeric) -> float:
    """The most that one record can add to a sum, by the schema alone."""
    return max(abs(float(column.lower)), abs(float(column.upper)))


def aggregate(messages: Messages) -> Parameters:
    """Algorithm 2: add the messages; mean S/n, variance Q/n - mean**2.

    Counts and variances are raised to `FLOOR`: no noise at all can still leave a variance of 0.
    """
    classes = np.maximum(messages.classes.sum(axis=0), FLOOR)
    tables = {name: np.maximum(table.sum(axis=0), FLOOR) for name, table in messages.tables.items()}
    means = {name: np.nan_to_num(values.sum(axis=0) / classes) for name, values in messages.sums.items()}
    variances = {name: values.sum(axis=0) / classes - means[name] ** 2 for name, values in messages.squares.items()}
    return Parameters(classes, tables, means, deviations_of(variances))


def deviations_of(variances: Mapping[str, Array]) -> dict[str, Array]:
    """Square roots of noisy variances, raised to `FLOOR` first."""
    return {name: np.sqrt(np.maximum(np.nan_to_num(values), FLOOR)) for name, values in variances.items()}


@dataclass(frozen=True)
class Running:
    """What the aggregator stores between messages: total counts, means and variances so far."""

    classes: Array
    tables: Mapping[str, Array]
    means: Mapping[str, Array]
    variances: Mapping[str, Array]

    @classmethod
    def start(cls, schema: Schema) -> Running:
        """The state before the first message."""
        zero = np.zeros(len(schema.classes))
        tables = {c.name: np.zeros((len(zero), c.size)) for c in schema.columns if isinstance(c, Categorical)}
        numeric = {c.name: zero for c in schema.columns if isinstance(c, Numeric)}
        return cls(zero, tables, numeric, dict(numeric))

    def update(self, message: Messages) -> Running:
        """Algorithm 3, the online update: equal to `aggregate` of all messages so far, if no class total is 0.

        A total of exactly 0 has no mean, and later messages cannot repair this, since ratios are stored, not sums.
        The paper's equation (20) subtracts the mean; the variance needs its square, as in Algorithm 3.
        """
        if message.nodes != 1:
            raise ParameterError(f"{message.nodes} messages; need one, as Messages.of(node) gives it")
        classes = self.classes + message.classes[0]
        means, variances = {}, {}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            kept = self.classes / classes
            for name, mean in self.means.items():
                means[name] = kept * mean + message.sums[name][0] / classes
                second = kept * (self.variances[name] + mean**2) + message.squares[name][0] / classes
                variances[name] = second - means[name] ** 2
        tables = {name: table + message.tables[name][0] for name, table in self.tables.items()}
        return Running(classes, tables, means, variances)

    def parameters(self) -> Parameters:
        """What Algorithm 2 would publish."""
        tables = {name: np.maximum(table, FLOOR) for name, table in self.tables.items()}
        means = {name: np.nan_to_num(mean) for name, mean in self.means.items()}
        return Parameters(np.maximum(self.classes, FLOOR), tables, means, deviations_of(self.variances))


def gossip(messages: Messages, cycles: int, rng: Randomness) -> Messages:
    """Each node's estimate of the sums, without an aggregator: push-pull averaging (Jelasity et al. 2005).

    In a cycle, every node in turn meets another node at random, and both take the mean of their two values. The mean
    over all nodes never changes; the expected variance between nodes shrinks to 1/(2 sqrt(e)) of itself in a cycle. A
    node's estimate of a sum is the number of nodes times its value; `aggregate` of its row gives the model. A message
    must carry all of its noise before it is sent, because other nodes see it.
    """
    if isinstance(cycles, bool) or not isinstance(cycles, int) or cycles < 0:
        raise ParameterError(f"cycles={cycles!r}; need an integer, at least 0")
    nodes = messages.nodes
    arrays = [messages.classes, *(values for group in messages.groups() for values in group.values())]
    held = nodes * np.concatenate([values.reshape(nodes, -1) for values in arrays], axis=1)
    for _ in range(cycles if nodes > 1 else 0):
        for node, drawn in enumerate(rng.integers(nodes - 1, (nodes,)).tolist()):
            pair = [node, drawn + (drawn >= node)]
            held[pair] = held[pair].mean(axis=0)
    edges = np.cumsum([values[0].size for values in arrays])[:-1]
    parts = iter([part.reshape(v.shape) for part, v in zip(np.split(held, edges, axis=1), arrays, strict=True)])
    return Messages(next(parts), *({name: next(parts) for name in group} for group in messages.groups()))
