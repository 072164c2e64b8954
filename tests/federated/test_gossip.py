"""Gossip: sums stay, errors fall as the theory says, the model is the aggregator's, shares are refused."""

import math

import numpy as np
import pytest

from discreet import Ledger
from discreet.errors import DataError, ParameterError
from discreet.federated.aggregator import Aggregator
from discreet.federated.gossip import PROTOCOLS, default_rounds, gossip, push_pull, push_sum
from discreet.federated.invitation import invite
from discreet.federated.party import Party
from discreet.sources.memory import MemorySource

NODES, CELLS = 500, 20


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(0).normal(3, 100, (NODES, CELLS))


def test_push_sum_keeps_sums_and_converges_exponentially(values):
    trace = push_sum(values, 60, seed=1)
    assert np.allclose(trace.values.sum(axis=0), values.sum(axis=0), rtol=1e-12)
    assert trace.weights.sum() == pytest.approx(NODES, rel=1e-12)
    assert (trace.weights > 0).all()
    assert np.allclose(trace.estimates, values.sum(axis=0), rtol=1e-6, atol=1e-6 * np.abs(values.sum(axis=0)).max())
    errors = np.log(trace.errors[15:50])
    slope, straightness = np.polyfit(np.arange(35), errors, 1)[0], np.corrcoef(np.arange(35), errors)[0, 1]
    assert slope < -0.3
    assert straightness < -0.97


def test_push_sum_moves_half_of_everything_to_one_other_node():
    """From the unit matrix: a round's matrix. Its diagonal is a half, each node's other half is at one other node."""
    step = push_sum(np.eye(6), 1, seed=2)
    assert np.allclose(np.diag(step.values), 0.5)
    pushed = step.values - np.diag(np.diag(step.values))
    assert ((pushed > 0).sum(axis=0) == 1).all()
    assert np.allclose(pushed.sum(axis=0), 0.5)
    assert np.allclose(step.weights, step.values.sum(axis=1))


def test_push_pull_loses_variance_at_the_rate_of_the_theory():
    """1 / (2 √e) = .303 a cycle; with pairs that are drawn without turns it would be 1/e = .368, with matchings .25."""
    draws = np.random.default_rng(3).normal(size=(10_000, 4))
    variances = push_pull(draws, 12, seed=3).variances
    factor = (variances[12] / variances[0]) ** (1 / 12)
    assert factor == pytest.approx(1 / (2 * math.sqrt(math.e)), abs=0.01)


def test_push_pull_equals_one_meeting_after_another():
    """Meetings that are done at once have no node in common; the result is that of the plain loop."""
    nodes, cycles = 40, 3
    start = np.random.default_rng(4).normal(size=(nodes, 3))
    trace = push_pull(start, cycles, seed=4)
    generator, held = np.random.default_rng(4), start.copy()
    for _ in range(cycles):
        peers = generator.integers(nodes - 1, size=nodes)
        peers += peers >= np.arange(nodes)
        for node, peer in enumerate(peers):
            held[node] = held[peer] = (held[node] + held[peer]) / 2
    assert np.array_equal(trace.values, held)
    assert np.allclose(held.sum(axis=0), start.sum(axis=0))


@pytest.mark.parametrize("spread", [push_sum, push_pull])
def test_ten_thousand_nodes_agree_in_the_default_number_of_rounds(spread):
    start = np.random.default_rng(5).normal(5, 30, (10_000, 30))
    name = "push-sum" if spread is push_sum else "push-pull"
    trace = spread(start, default_rounds(10_000, name), seed=5)
    assert trace.errors[-1] < 1e-5
    assert trace.errors[0] > 1


@pytest.mark.parametrize("spread", [push_sum, push_pull])
def test_one_node_knows_the_sum_at_once(spread):
    trace = spread([[1.0, -2.0]], 5, seed=6)
    assert trace.estimates.tolist() == [[1.0, -2.0]]
    assert trace.errors.tolist() == [0.0]


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((0, 2)), [[np.nan]], [[np.inf, 0.0]]])
def test_what_is_no_matrix_of_numbers_is_refused(wrong):
    with pytest.raises(ParameterError, match="matrix of finite numbers"):
        push_sum(wrong, 3)


@pytest.mark.parametrize("rounds", [-1, 1.5])
def test_a_wrong_number_of_rounds_is_named(rounds):
    with pytest.raises(ParameterError, match="rounds="):
        push_pull([[1.0]], rounds)


@pytest.fixture
def invitation(schema):
    return invite(schema, 8, [f"party {number}" for number in range(12)])


@pytest.fixture
def messages(invitation, records):
    parties = []
    for number, party in enumerate(invitation.parties):
        rows = {name: values[number::12] for name, values in records.items()}
        parties.append(Party(party.name, MemorySource(rows), Ledger(8), random_state=number).answer(invitation))
    return parties


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_node_ends_with_the_model_of_the_aggregator(invitation, messages, records, protocol):
    aggregator = Aggregator(invitation)
    for message in messages:
        aggregator.add(message)
    central = aggregator.statistics()
    spread = gossip(invitation, messages, protocol=protocol, seed=1)
    for node in (0, 7, 11):
        found = spread.statistics(node)
        for (query, table), (asked, sums) in zip(found.tables, central.tables, strict=True):
            assert query == asked
            assert table.variance == sums.variance
            assert np.abs(table.values - sums.values).max() <= 1e-5 * np.abs(sums.values).max()
        assert found.receipt == central.receipt
    X = {name: values for name, values in records.items() if name != "outcome"}
    assert np.array_equal(spread.model(3).predict(X), aggregator.model().predict(X))
    assert spread.model().guarantee_.seeded


def test_too_few_rounds_show_in_the_trace(invitation, messages):
    short = gossip(invitation, messages, rounds=2, seed=1)
    assert len(short.trace.errors) == 3
    assert short.trace.errors[-1] > 0.01


def test_shares_of_a_secure_sum_are_refused(schema, messages):
    names = ["north", "south", "west"]
    masked = invite(schema, 1, names, trust="sum", keys={name: f"{place + 9:064x}" for place, name in enumerate(names)})
    with pytest.raises(ParameterError, match="partial sums carry partial noise"):
        gossip(masked, messages)


def test_parties_with_different_columns_are_refused(schema):
    vertical = invite(schema, 1, {"a": ["age", "sex"], "b": ["dose", "site"]})
    with pytest.raises(ParameterError, match="different columns"):
        gossip(vertical, [])


def test_foreign_and_repeated_answers_are_refused(schema, invitation, messages):
    other = invite(schema, 8, [party.name for party in invitation.parties])
    with pytest.raises(DataError, match="another invitation"):
        gossip(other, messages)
    with pytest.raises(DataError, match="answered already"):
        gossip(invitation, [*messages, messages[0]])
    with pytest.raises(DataError, match="no answer"):
        gossip(invitation, [])


def test_wrong_names_are_named(invitation, messages):
    with pytest.raises(ParameterError, match="protocol='rumour'"):
        gossip(invitation, messages, protocol="rumour")
    with pytest.raises(ParameterError, match="node=12"):
        gossip(invitation, messages, seed=1).statistics(12)
