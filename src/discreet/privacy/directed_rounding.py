"""Exponentials and logarithms as fractions that are surely too small, or surely too large.

Proof      the quotient is rounded to the wanted side. `Decimal.exp` and `Decimal.ln` are correctly rounded, and both
           functions grow with their argument, so the neighbouring decimal on that side is a bound.
Test       tests/privacy/test_directed_rounding.py
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

DIGITS = 60
"""Decimal digits for privacy losses: many more than any receipt shows, and still fast."""


def exp_below(value: Fraction, digits: int = DIGITS) -> Fraction:
    """A fraction that is less than exp(value)."""
    context = Context(digits, ROUND_FLOOR)
    return Fraction(context.next_minus(context.exp(_decimal(value, context))))


def exp_above(value: Fraction, digits: int = DIGITS) -> Fraction:
    """A fraction that is more than exp(value)."""
    context = Context(digits, ROUND_CEILING)
    return Fraction(context.next_plus(context.exp(_decimal(value, context))))


def log_below(value: Fraction, digits: int = DIGITS) -> Fraction:
    """A fraction that is less than the natural logarithm of a positive number."""
    context = Context(digits, ROUND_FLOOR)
    return Fraction(context.next_minus(context.ln(_decimal(value, context))))


def log_above(value: Fraction, digits: int = DIGITS) -> Fraction:
    """A fraction that is more than the natural logarithm of a positive number; exactly 0 for 1, which costs nothing."""
    if value == 1:
        return Fraction(0)
    context = Context(digits, ROUND_CEILING)
    return Fraction(context.next_plus(context.ln(_decimal(value, context))))


def digits_for(bits: int) -> int:
    """Decimal digits that hold this many bits, and 32 more against rounding."""
    return math.ceil((bits + 32) * math.log10(2))


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))
