"""Privacy loss as exact fractions: how it is read, added, and shown without ever understating it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_UP, Context, Decimal
from fractions import Fraction
from numbers import Rational
from typing import TypeAlias

from discreet.errors import ParameterError

Epsilon: TypeAlias = Fraction | float
"""An exact fraction, or math.inf for a release that is not private."""


MOST_EPSILON = 10_000
"""The largest finite epsilon of a release. A larger one promises nothing useful; whoever wants no privacy asks for
infinity."""
LONGEST_TEXT, MOST_ZEROS = 1000, 400
"""The most characters of an epsilon, and the most zeros before or after the point: bound the time of exact sums."""


def as_epsilon(value: object) -> Epsilon:
    """Read an epsilon: a positive number, or infinity. A float means its decimal spelling: 0.1 is 1/10.

    >>> as_epsilon(0.1), as_epsilon("1/3"), as_epsilon(float("inf"))
    (Fraction(1, 10), Fraction(1, 3), inf)
    """
    if getattr(value, "ndim", None) == 0:
        value = value.item()  # type: ignore[attr-defined]
    if isinstance(value, bool) or not isinstance(value, Rational | float | str | Decimal):
        raise _refused(value)
    try:
        text = str(value).strip().lower()
        if text in ("inf", "+inf", "infinity"):
            return math.inf
        if len(text) > LONGEST_TEXT or ("/" not in text and abs(Decimal(text).adjusted()) >= MOST_ZEROS):
            raise _refused(value)
        fraction = Fraction(text)
    except (ValueError, ArithmeticError):
        raise _refused(value) from None
    if fraction <= 0:
        raise _refused(value)
    return fraction


def as_release_epsilon(value: object) -> Epsilon:
    """Read the epsilon of a release, as `as_epsilon` does; it must be infinite or at most MOST_EPSILON."""
    epsilon = as_epsilon(value)
    if epsilon != math.inf and epsilon > MOST_EPSILON:
        shown = str(value) if isinstance(value, Fraction) else repr(value)
        raise ParameterError(f"epsilon={shown}; above {MOST_EPSILON} nothing is private: use float('inf')")
    return epsilon


def _refused(value: object) -> ParameterError:
    try:
        shown = repr(value)[:40]
    except ValueError:  # an integer of thousands of digits
        shown = type(value).__name__
    return ParameterError(
        f"epsilon={shown}; need a number > 0, for instance 1, 0.1 or '1/3' ('inf' for a model that is not private)"
    )


def total(losses: Sequence[Epsilon]) -> Epsilon:
    """Sum of losses; exact, or infinite if one of them is."""
    return math.inf if any(loss == math.inf for loss in losses) else sum(losses, Fraction(0))


def shown_above(epsilon: Epsilon, digits: int = 6) -> str:
    """An epsilon in six digits, rounded up: for what was spent or would be spent.

    >>> shown_above(Fraction(1, 3)), shown_above(Fraction(1, 10)), shown_above(Fraction(2)), shown_above(math.inf)
    ('0.333334', '0.1', '2', 'inf')
    >>> shown_above(Fraction(2097, 50000), 3)
    '0.0420'
    """
    return _in_digits(epsilon, ROUND_UP, digits)


def shown_below(epsilon: Epsilon) -> str:
    """An epsilon in six digits, rounded down: for what is left, and for limits.

    >>> shown_below(Fraction(2, 3)), shown_below(Fraction(0)), shown_below(math.inf)
    ('0.666666', '0', 'inf')
    """
    return _in_digits(epsilon, ROUND_DOWN, 6)


def _in_digits(epsilon: Epsilon, rounding: str, digits: int) -> str:
    if epsilon == math.inf:
        return "inf"
    exact = Fraction(epsilon)
    return f"{Context(prec=digits, rounding=rounding).divide(Decimal(exact.numerator), Decimal(exact.denominator)):g}"
