"""Amounts of privacy loss as whole numbers: billionths of epsilon ("nano"), which databases add without error."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import BudgetError, ParameterError
from discreet.privacy.epsilon import Epsilon, as_epsilon
from discreet.schema import Adjacency

NANO = 10**9
"""Parts of epsilon = 1. Finer steps would gain nothing: a release costs at most one part more than it should."""
MOST_LIMIT = 10**6
"""The largest limit of an account, in epsilon. In nano it fits into 64 bits, and into the integers of JSON."""


def nano(epsilon: Epsilon) -> int:
    """What a loss costs, in billionths, rounded up: an account never counts less than was lost.

    >>> nano(Fraction(1, 10)), nano(Fraction(1, 3))
    (100000000, 333333334)
    """
    if epsilon == math.inf:
        raise BudgetError("epsilon=inf cannot be paid from an account in a database; use a finite epsilon")
    amount = math.ceil(Fraction(epsilon) * NANO)
    if not 0 < amount <= MOST_LIMIT * NANO:
        raise BudgetError(f"this epsilon is not within 0 and {MOST_LIMIT}; use another epsilon")
    return amount


def limit_nano(limit: object) -> int:
    """The limit of an account, in billionths; it has at most nine decimals, so that nothing is rounded.

    >>> limit_nano("2.5"), limit_nano(0)
    (2500000000, 0)
    """
    zero = str(limit).strip() in ("0", "0.0") and not isinstance(limit, bool)
    try:
        exact = Fraction(0) if zero else as_epsilon(limit)
    except ParameterError as error:
        raise ParameterError(str(error).replace("epsilon=", "limit=", 1)) from None
    if exact == math.inf or exact > MOST_LIMIT:
        raise ParameterError(f"limit={limit}; an account in a database needs a limit of at most {MOST_LIMIT}")
    amount = Fraction(exact) * NANO
    if amount.denominator != 1:
        raise ParameterError(f"limit={limit}; need at most nine decimals, for instance 0.333333333")
    return int(amount)


def as_fraction(amount: int) -> Fraction:
    """An amount of nano as an exact epsilon.

    >>> as_fraction(1500000000)
    Fraction(3, 2)
    """
    return Fraction(amount, NANO)


def counted(epsilon: Epsilon, paid: Adjacency | None, book: Adjacency) -> int:
    """What a release costs, in nano, in a book of another adjacency or the same; BudgetError if nothing bounds it.

    Guarantee  a release that is epsilon-DP under `paid` is (counted / 10^9)-DP under `book`.
    Proof      `Adjacency.counted`, then rounded up. An adjacency that is not known (None) is one of the two, so the
               larger price bounds both.
    Test       tests/privacy/accounts/test_amounts.py::test_a_price_is_never_below_the_loss
    """
    loss = max(book.counted(epsilon, each) for each in ([paid] if paid else Adjacency))
    if loss == math.inf != epsilon:
        raise BudgetError(
            f"this release is private under {paid or 'an adjacency that is not known'}, which bounds no loss under "
            f"{book}, the adjacency of this population; release under {book}"
        )
    return nano(loss)
