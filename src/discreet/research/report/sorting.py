"""Reads the number that a table cell begins with; columns are sorted by it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_NUMBER = re.compile(
    r"""[<>≤≥≈~±]*\s*
        (?P<sign>[-−–+])?\s*
        (?: (?P<value> (?: [0-9]{1,3}(?:[,\u2009\u202f\u00a0][0-9]{3})+ | [0-9]+ ) (?:\.[0-9]*)? (?:[eE][-−+]?[0-9]+)?
                     | \.[0-9]+ (?:[eE][-−+]?[0-9]+)? )
          | (?P<infinite>∞|inf(?:inity)?) )
        (?: (?<![.eE])/(?P<divisor>[0-9]+) )?
        (?! \w | [.,][0-9] | -[^\W0-9] )""",
    re.VERBOSE | re.IGNORECASE,
)
"""A word that begins with digits (1R, 5-NN, 2nd) is not a number."""

_MISSING = re.compile(r"|[-−?…]|n/a|nan\b.*|[–—](?:\s.*)?", re.IGNORECASE | re.DOTALL)


def key(cell: str) -> float | None:
    """The number that a cell begins with; None if the cell begins with a word or is empty.

    >>> [key(each) for each in ("0.951 ± 0.004 (98%)", "−.5", "1e-11", "1/4", "12,500", "< 0.001", "-∞")]
    [0.951, -0.5, 1e-11, 0.25, 12500.0, 0.001, -inf]
    >>> [key(each) for each in ("–", "", "1R", "5-NN", "naive Bayes", "version 2")]
    [None, None, None, None, None, None]
    """
    found = _NUMBER.match(cell.strip())
    return None if found is None else _value(found)


def _value(found: re.Match[str]) -> float | None:
    digits = re.sub(r"[,\u2009\u202f\u00a0]", "", found["value"] or "inf").replace("−", "-")
    divisor = float(found["divisor"] or 1)
    value = float(digits) / divisor if divisor else math.nan
    if math.isnan(value):
        return None
    return -value if found["sign"] in ("-", "−", "–") else value


def is_missing(cell: str) -> bool:
    """Whether a cell is empty or a dash; such cells come last in both sort directions."""
    return _MISSING.fullmatch(cell.strip()) is not None and key(cell) is None


def is_plain(column: Sequence[str]) -> bool:
    """Whether a column holds only single numbers, so that it is aligned to the right."""
    present = [cell.strip() for cell in column if not is_missing(cell)]
    found = [(cell, _NUMBER.match(cell)) for cell in present]
    return bool(present) and all(each and cell[each.end() :].strip() in ("", "%") for cell, each in found)
