"""Shares of epsilon are exact and positive, and never sum to more than epsilon."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Categorical, Schema
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.steps import laplace_steps, split_by_weight, split_evenly
from discreet.queries.tables import ClassCounts, Counts, SplineCounts

epsilons = st.fractions(Fraction(1, 10**6), 10_000).filter(lambda epsilon: epsilon > 0)
weights = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=20)


@given(epsilons, weights)
def test_shares_sum_to_epsilon_exactly(epsilon, weights):
    shares = split_by_weight(epsilon, weights)
    assert len(shares) == len(weights)
    assert sum(shares, Fraction(0)) == epsilon
    assert all(share > 0 and isinstance(share, Fraction) for share in shares)


@given(epsilons, weights)
def test_shares_are_in_proportion(epsilon, weights):
    shares = split_by_weight(epsilon, weights)
    for share, weight in zip(shares, weights, strict=True):
        assert float(share / epsilon) == pytest.approx(weight / sum(weights), rel=0.002)


@given(epsilons, st.integers(1, 50))
def test_equal_shares(epsilon, parts):
    assert split_evenly(epsilon, parts) == [epsilon / parts] * parts


@given(weights)
def test_an_infinite_epsilon_is_infinite_for_all(weights):
    assert split_by_weight(math.inf, weights) == [math.inf] * len(weights)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_steps_are_charged_what_their_mechanism_loses(adjacency):
    schema = Schema([Categorical("c", ["a", "b"])], "y", ["no", "yes"], adjacency=adjacency)
    queries = [Counts("c"), ClassCounts()]
    steps = laplace_steps(queries, split_by_weight(Fraction(1), [1, 2]), schema)
    for step in steps:
        moved = step.query.distance(schema)
        assert moved == (1 if adjacency == "add-remove" else 2)
        assert step.mechanism.loss(moved) <= step.epsilon
        (charge,) = step.charges(schema)
        assert (charge.epsilon, charge.sensitivity, charge.scale) == (step.epsilon, moved, step.mechanism.scale)
        assert charge.query == repr(step.query)
    assert sum(line.epsilon for step in steps for line in step.charges(schema)) == 1


def test_steps_need_a_share_each():
    schema = Schema([Categorical("c", ["a"])], "y", ["no"])
    with pytest.raises(ValueError, match="zip"):
        laplace_steps([Counts("c"), ClassCounts()], [Fraction(1)], schema)


def test_an_infinite_share_has_no_noise():
    schema = Schema([Categorical("c", ["a"])], "y", ["no"])
    (step,) = laplace_steps([SplineCounts("c", 2)], [math.inf], schema)
    assert step.mechanism == DiscreteLaplace(0.0)
    assert step.charges(schema)[0].epsilon == math.inf
