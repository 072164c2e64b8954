"""Logarithms that are never too small: what a ratio of likelihoods costs."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction


def log_above(value: Fraction) -> Fraction:
    """A fraction that is at least the logarithm of a number from 1, and more by no more than a part in 10^50.

    Proof      the quotient is rounded up; `Decimal.ln` is correctly rounded, so that the next larger decimal is above.
    """
    if value == 1:
        return Fraction(0)
    context = Context(prec=60, rounding=ROUND_CEILING)
    above = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(context.next_plus(context.ln(above)))
