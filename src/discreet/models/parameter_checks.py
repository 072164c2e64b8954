"""Checks of constructor values that several models share; every message says what was got and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

from discreet.errors import ParameterError


def check_one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise ParameterError unless the value is one of the allowed words."""
    if value not in allowed:
        raise ParameterError(f"{name}={value!r}; need one of: {', '.join(allowed)}")


def check_integer(name: str, value: object, least: int, most: int | None = None, *, or_: str = "") -> None:
    """Raise ParameterError unless the value is an integer within bounds; True and False are not integers here.

    `or_` names what else the caller allows and has dealt with, for instance 'auto'.
    """
    allowed = f"integer >= {least}" if most is None else f"integer from {least} to {most}"
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if number is None or number < least or (most is not None and number > most):
        raise ParameterError(f"{name}={value!r}; need {f'{or_} or ' if or_ else ''}an {allowed}")
