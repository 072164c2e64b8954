"""The exchange of Marchioro et al. 2022: partitions, aggregation, online updates and gossip."""

import math

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy.randomness import SeededRandomness, as_rng
from discreet.research.papers.marchioro2022 import Marchioro2022NaiveBayes
from discreet.research.papers.marchioro2022_exchange import (
    FLOOR,
    PARTITIONS,
    Messages,
    Running,
    aggregate,
    gossip,
    partition,
)
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

SCHEMA = Schema(
    [Numeric("age", 0, 100), Numeric("level", -1, 1), Categorical("sex", ["F", "M"])],
    target="ill",
    classes=["no", "yes"],
)


@pytest.fixture
def fitted():
    """A model of forty nodes, with noise."""
    rng = np.random.default_rng(3)
    X = {"age": rng.uniform(0, 100, 300), "level": rng.normal(0, 0.3, 300), "sex": rng.choice(["F", "M"], 300)}
    y = np.where(X["age"] + rng.normal(0, 20, 300) > 50, "yes", "no")
    return Marchioro2022NaiveBayes(SCHEMA, epsilon=20, nodes=40, random_state=0).fit(X, y)


def test_aggregation_adds_messages():
    sent = Messages(
        np.array([[2.0, 1.0], [4.0, 1.0]]),
        {"u": np.array([[[1.0, 3.0], [0.0, 0.0]], [[2.0, 1.0], [0.0, 2.0]]])},
        {"x": np.array([[6.0, 1.0], [6.0, 1.0]])},
        {"x": np.array([[20.0, 1.0], [16.0, 0.0]])},
    )
    found = aggregate(sent)
    np.testing.assert_allclose(found.classes, [6, 2])
    np.testing.assert_allclose(found.tables["u"], [[3, 4], [FLOOR, 2]])
    np.testing.assert_allclose(found.means["x"], [2, 1])
    np.testing.assert_allclose(found.deviations["x"], [math.sqrt(6 - 4), math.sqrt(FLOOR)])


@pytest.mark.parametrize("sizes", PARTITIONS)
@pytest.mark.parametrize("rows", [0, 1, 5, 19, 20, 1000])
def test_partition_gives_every_record_one_node(sizes, rows):
    labels = np.arange(rows) % 2
    for iid in (True, False):
        node_of = partition(labels, 10, sizes, iid, as_rng(1))
        counts = np.bincount(node_of, minlength=10)
        assert len(node_of) == rows
        assert counts.sum() == rows
        assert len(counts) == 10
        assert counts.min() >= (2 if rows >= 20 else 0)
    if sizes == "equal":
        assert np.ptp(counts) <= 1
    elif rows == 1000:
        assert np.ptp(counts) > 50
    if rows == 1000:  # the last partition is sorted by class: only one node can have both
        mixed = [len(set(labels[node_of == node])) > 1 for node in range(10)]
        assert sum(mixed) <= 1


def test_iid_partition_does_not_follow_the_order_of_records():
    node_of = partition(np.zeros(10_000, dtype=np.intp), 2, "equal", True, as_rng(0))
    assert abs(np.mean(node_of[:5000]) - 0.5) < 0.03
    again = partition(np.zeros(10_000, dtype=np.intp), 2, "equal", True, as_rng(1))
    assert 0.4 < np.mean(node_of == again) < 0.6


def test_unequal_sizes_follow_their_weights():
    """Ratio of the standard deviation to the mean: sqrt(27/4)/5.5 for uniform on [1, 10], 1 for exponential."""
    labels = np.zeros(1_000_000, dtype=np.intp)
    for sizes, ratio in (("uniform", math.sqrt(81 / 12) / 5.5), ("exponential", 1.0)):
        counts = np.bincount(partition(labels, 1000, sizes, False, as_rng(5)), minlength=1000)
        assert counts.std() / counts.mean() == pytest.approx(ratio, rel=0.1)


@pytest.mark.parametrize("order", [range(40), range(39, -1, -1)])
def test_online_updates_equal_the_batch(fitted, order):
    state = Running.start(SCHEMA)
    for node in order:
        state = state.update(fitted.messages_.of(node))
    found, batch = state.parameters(), fitted.parameters_
    np.testing.assert_allclose(found.classes, batch.classes, rtol=1e-9)
    for field in ("tables", "means", "deviations"):
        for name, values in getattr(batch, field).items():
            np.testing.assert_allclose(getattr(found, field)[name], values, rtol=1e-9, atol=1e-9, err_msg=name)
    with pytest.raises(ParameterError, match="40 messages"):
        state.update(fitted.messages_)


def test_a_total_of_zero_is_no_crash():
    empty = Messages(np.zeros((1, 2)), {}, {"x": np.zeros((1, 2))}, {"x": np.zeros((1, 2))})
    for found in (
        Running.start(Schema([Numeric("x", 0, 1)], target="t", classes=["a", "b"])).update(empty).parameters(),
        aggregate(empty),
    ):
        assert np.isfinite(found.means["x"]).all()
        assert (found.deviations["x"] > 0).all()


def test_gossip_converges_to_the_sums(fitted):
    sent = fitted.messages_
    spread = [np.var(sent.sums["age"][:, 0] * 40)]
    for cycles in (1, 4, 40):
        held = gossip(sent, cycles, as_rng(2))
        for name, values in held.tables.items():
            np.testing.assert_allclose(values.mean(axis=0), sent.tables[name].sum(axis=0), err_msg=name)
        np.testing.assert_allclose(held.classes.mean(axis=0), sent.classes.sum(axis=0))
        np.testing.assert_allclose(held.squares["age"].mean(axis=0), sent.squares["age"].sum(axis=0))
        spread.append(np.var(held.sums["age"][:, 0]))
    assert (spread[2] / spread[0]) ** 0.25 == pytest.approx(1 / (2 * math.sqrt(math.e)), rel=0.35)
    one = aggregate(held.of(17))
    for field in ("tables", "means", "deviations"):
        for name, values in getattr(fitted.parameters_, field).items():
            np.testing.assert_allclose(getattr(one, field)[name], values, rtol=1e-6, err_msg=name)
    alone = gossip(sent.of(0), 3, as_rng(0))
    np.testing.assert_array_equal(alone.sums["age"], sent.sums["age"][:1])
    for bad in (-1, 1.5, True):
        with pytest.raises(ParameterError, match="cycles="):
            gossip(sent, bad, as_rng(0))


def test_gossip_meets_another_node():
    """Draws of nodes - 2 mean the last of the others: 0 meets 2, 1 meets 2, 2 meets 1."""

    class Last(SeededRandomness):
        def integers(self, below, shape):
            return np.full(shape, below - 1)

    sent = Messages(np.array([[8.0], [0.0], [16.0]]), {}, {}, {})
    np.testing.assert_allclose(gossip(sent, 1, Last(None)).classes, 3 * np.array([[12.0], [6.0], [6.0]]))
