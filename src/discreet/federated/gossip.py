"""Gossip: without an aggregator, parties send their answers to random peers until each of them knows the sum.

Push-sum (Kempe, Dobra and Gehrke 2003) and push-pull (Jelasity, Montresor and Babaoglu 2005), simulated for all parties
at once. Parties send mixtures of noisy answers: post-processing, as long as every answer is private by itself. Answers
to a secure sum are not, since a mixture of a few of them carries only a part of the noise: they are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from discreet.errors import ParameterError
from discreet.federated import dealing
from discreet.federated.aggregator import Aggregator, model_of
from discreet.federated.invitation import Invitation
from discreet.federated.message import Message
from discreet.privacy.randomness import search_generator
from discreet.privacy.receipt import Receipt
from discreet.queries.tables import shape
from discreet.released.statistics import NoisyStatistics

PROTOCOLS = ("push-sum", "push-pull")

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
OneRound = Callable[[Floats, Floats, Any], tuple[Floats, Floats]]
"""Takes what the nodes hold, their weights and a generator; returns both after the round."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The result of gossip.

    Attributes
    ----------
    estimates : each node's estimate of the sum over all nodes (nodes by cells).
    values, weights : what the nodes hold; their sums over the nodes never change.
    errors : per round (round 0 is the start), the largest error of any node's estimate of any cell, relative to the
        largest absolute sum of a cell.
    variances : per round, the variance of the held values over the nodes, averaged over the cells.
    """

    estimates: Floats
    values: Floats
    weights: Floats
    errors: Floats
    variances: Floats


def push_sum(values: Any, rounds: int, seed: Any = None) -> Trace:
    """In each round every node keeps half of its value and weight, and pushes the other half to a random other node.

    Guarantee  the sums of values and of weights over the nodes do not change; N * value / weight tends to the sum at
               every node.
    Proof      a round is a matrix of non-negative entries whose columns sum to one. The spread of value over weight
               falls exponentially: O(log N + log 1/error) rounds with high probability (Kempe et al., theorem 3.1).
    Test       tests/federated/test_gossip.py::test_push_sum_keeps_sums_and_converges_exponentially
    """
    return _traced(_push, values, rounds, seed)


def push_pull(values: Any, cycles: int, seed: Any = None) -> Trace:
    """In each cycle every node in turn meets a random other node, and both take the mean of their values.

    Guarantee  the sum over the nodes does not change; the variance over the nodes falls by a factor of about
               1 / (2 √e) = .303 in expectation in each cycle.
    Proof      a meeting replaces two values by their mean twice. A node that is in φ meetings has its variance halved
               in each, so that the factor is E[2^-φ]; here φ is one plus a Poisson variable of mean one, and
               E[2^-φ] = 1/2 · e^(-1/2) (Jelasity et al., section 4).
    Test       tests/federated/test_gossip.py::test_push_pull_loses_variance_at_the_rate_of_the_theory
    """
    return _traced(_meet, values, cycles, seed)


def _traced(one_round: OneRound, values: Any, rounds: int, seed: Any) -> Trace:
    """Simulate the rounds, and note the error after each of them."""
    held, generator = _start(values, rounds), search_generator(seed)
    weights = np.ones(len(held))
    record = _Record(held)
    record.note(held, weights)
    for _ in range(rounds if len(held) > 1 else 0):
        held, weights = one_round(held, weights, generator)
        record.note(held, weights)
    return record.trace(held, weights)


def _push(held: Floats, weights: Floats, generator: Any) -> tuple[Floats, Floats]:
    """A round of push-sum."""
    nodes = len(held)
    pushed = csr_array((np.full(nodes, 0.5), (_peers(nodes, generator), np.arange(nodes))), shape=(nodes, nodes))
    return held / 2 + pushed @ held, weights / 2 + pushed @ weights


def _meet(held: Floats, weights: Floats, generator: Any) -> tuple[Floats, Floats]:
    """A cycle of push-pull; changes `held` in place."""
    first, second = np.arange(len(held)), _peers(len(held), generator)
    for meetings in _at_once(first, second):
        means = (held[first[meetings]] + held[second[meetings]]) / 2
        held[first[meetings]] = means
        held[second[meetings]] = means
    return held, weights


@dataclass(frozen=True, eq=False)
class Gossip:
    """The answers to an invitation after gossip: every node has an estimate of the sum, and can make the model."""

    invitation: Invitation
    trace: Trace
    _answers: list[int]
    _receipt: Receipt

    def statistics(self, node: int = 0) -> NoisyStatistics:
        """A node's estimate of the sum, rounded to integers, as noisy statistics: post-processing of the answers."""
        if not isinstance(node, Integral) or not 0 <= node < len(self.trace.estimates):
            raise ParameterError(f"node={node!r}; need an integer from 0 to {len(self.trace.estimates) - 1}")
        known, start, sums = np.rint(self.trace.estimates[node]).astype(np.int64), 0, []
        queries = [question.query for question in self.invitation.questions]
        for query in queries:
            rows, columns = shape(query, self.invitation.schema)
            sums.append(known[start : start + rows * columns].reshape(rows, columns))
            start += rows * columns
        variances = [self.invitation.variance(place, count) for place, count in enumerate(self._answers)]
        parties = len(self.trace.estimates)
        tables = dealing.tables(self.invitation.schema, queries, sums, variances, self._answers, parties)
        return NoisyStatistics(tables, self._receipt)

    def model(self, node: int = 0) -> Any:
        """The model that a node makes from its estimate."""
        return model_of(self.invitation, self.statistics(node))


def gossip(
    invitation: Invitation,
    messages: Sequence[Message],
    *,
    protocol: str = "push-sum",
    rounds: int | None = None,
    seed: Any = None,
) -> Gossip:
    """Simulate gossip over the answers to an invitation; each answer is at a node of its own.

    Parameters
    ----------
    invitation, messages : the round, with trust="nobody", and the answers; parties without an answer are left out.
    protocol : "push-sum" or "push-pull".
    rounds : the number of rounds or cycles; by default enough for a relative error of about a millionth.
    seed : for the choice of peers, which protects nothing.
    """
    if invitation.trust == "sum":
        raise ParameterError(
            "gossip over answers to a secure sum is not private: nodes send partial sums, and partial sums carry "
            "partial noise; invite with trust='nobody', or use an Aggregator"
        )
    if invitation.is_vertical:
        raise ParameterError("parties that have different columns have no sum to spread by gossip; use an Aggregator")
    if protocol not in PROTOCOLS:
        raise ParameterError(f"protocol={protocol!r}; need one of: {', '.join(PROTOCOLS)}")
    aggregator = Aggregator.of(invitation, messages)
    shapes = [shape(question.query, invitation.schema) for question in invitation.questions]
    tables = [np.zeros((len(messages), *each)) for each in shapes]
    answers = [0] * len(shapes)
    for number, message in enumerate(messages):
        for place, table in zip(invitation.asked(message.party), message.tables, strict=True):
            tables[place][number] = table
            answers[place] += 1
    values = np.concatenate([table.reshape(len(messages), -1) for table in tables], axis=1)
    spread = push_sum if protocol == "push-sum" else push_pull
    trace = spread(values, default_rounds(len(messages), protocol) if rounds is None else rounds, seed)
    return Gossip(invitation, trace, answers, aggregator.statistics().receipt)


def default_rounds(nodes: int, protocol: str) -> int:
    """A number of rounds after which the relative error is about a millionth."""
    if protocol == "push-sum":
        return 40 + 3 * math.ceil(math.log2(nodes))
    return 24 + math.ceil(math.log2(nodes) / 2)


class _Record:
    """Notes errors and variances, round by round."""

    def __init__(self, values: Floats) -> None:
        self._sum = values.sum(axis=0)
        self._scale = max(float(np.abs(self._sum).max(initial=0.0)), 1e-300)
        self._errors: list[float] = []
        self._variances: list[float] = []

    def note(self, held: Floats, weights: Floats) -> None:
        estimates = len(held) * held / weights[:, None]
        self._errors.append(float(np.abs(estimates - self._sum).max(initial=0.0)) / self._scale)
        self._variances.append(float(held.var(axis=0).mean()) if held.size else 0.0)

    def trace(self, held: Floats, weights: Floats) -> Trace:
        estimates = len(held) * held / weights[:, None]
        return Trace(estimates, held, weights, np.array(self._errors), np.array(self._variances))


def _start(values: Any, rounds: int) -> Floats:
    held = np.array(values, dtype=np.float64)
    if held.ndim != 2 or not len(held) or not np.isfinite(held).all():
        raise ParameterError("values: need a matrix of finite numbers, one row per node, and at least one node")
    if not isinstance(rounds, Integral) or rounds < 0:
        raise ParameterError(f"rounds={rounds!r}; need an integer of at least 0")
    return held


def _peers(nodes: int, generator: Any) -> Integers:
    """For each node a uniformly drawn other node."""
    peers = generator.integers(nodes - 1, size=nodes)
    return np.asarray(peers + (peers >= np.arange(nodes)))


def _at_once(first: Integers, second: Integers) -> list[Integers]:
    """The meetings in groups without a common node: taken group by group, the result is that of one after another."""
    last = [0] * len(first)
    depth = []
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        last[one] = last[other] = max(last[one], last[other]) + 1
        depth.append(last[one])
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depth)[1:])[:-1])
