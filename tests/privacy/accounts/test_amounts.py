"""Amounts: never below the loss, limits never rounded."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BudgetError, ParameterError
from discreet.privacy.accounts import as_fraction, limit_nano, nano
from discreet.privacy.accounts.amounts import counted
from discreet.schema import Adjacency

LOSSES = st.fractions(min_value=Fraction(1, 10**15), max_value=10_000)


@given(LOSSES, st.sampled_from(Adjacency), st.sampled_from(Adjacency))
def test_a_price_is_never_below_the_loss(epsilon, paid, book):
    loss = book.counted(epsilon, paid)
    if loss == math.inf:
        with pytest.raises(BudgetError, match="bounds no loss"):
            counted(epsilon, paid, book)
        return
    price = as_fraction(counted(epsilon, paid, book))
    assert loss <= price < loss + Fraction(1, 10**9)


@given(LOSSES)
def test_what_is_not_known_costs_the_most(epsilon):
    assert counted(epsilon, None, Adjacency.REPLACE_ONE) == nano(2 * epsilon)
    with pytest.raises(BudgetError, match="not known"):
        counted(epsilon, None, Adjacency.ADD_REMOVE)


@given(st.integers(0, 10**15))
def test_limits_are_exact(amount):
    assert limit_nano(as_fraction(amount)) == amount


@pytest.mark.parametrize("limit", ["1/3", "inf", -1, "0.0000000001", 10**6 + 1, None, True, "much"])
def test_wrong_limits_are_refused(limit):
    with pytest.raises(ParameterError, match="limit="):
        limit_nano(limit)


@pytest.mark.parametrize("epsilon", [math.inf, Fraction(0), Fraction(-1), Fraction(10**7)])
def test_wrong_prices_are_refused(epsilon):
    with pytest.raises(BudgetError):
        nano(epsilon)
