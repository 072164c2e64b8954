"""Checks of constructor values that several models share; every message says what was got and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

from discreet.errors import ParameterError
from discreet.schema import Schema


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


def check_select(select: object, schema: Schema | str) -> None:
    """Raise ParameterError unless `select` is None, "auto", or a number of columns that the schema has."""
    if select is None or (isinstance(select, str) and select == "auto"):
        return
    if not isinstance(select, Integral) or isinstance(select, bool) or int(select) < 1:
        raise ParameterError(f"select={select!r}; need None, 'auto' or a number of columns, at least 1")
    if isinstance(schema, Schema) and int(select) > len(schema.columns):
        raise ParameterError(f"select={select}, but there are {len(schema.columns)} feature(s); need at most that many")
