"""Whole numbers in forms and addresses."""

from __future__ import annotations

LONGEST = 9
"""The most digits: what every column of the database can hold."""


def whole(text: str | None, longest: int = LONGEST) -> int | None:
    """The number that a text of plain digits spells; None for anything else, such as a superscript two.

    >>> whole("12"), whole("²"), whole("-1"), whole("1" * 5000), whole(None)
    (12, None, None, None, None)
    """
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= longest else None
