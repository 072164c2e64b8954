"""Columns and labels: what is public about one column."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, TypeAlias

from discreet.errors import SchemaError

Label: TypeAlias = str | int | float | bool
"""A category or class as the owner writes it."""

MAX_CELLS = 65_000
"""The most categories, classes or grid steps: the codes of all cells, and a few special ones, fit 16 bits."""

NUMBER = r"[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?"
"""Which texts are numbers, for Python and for SQL engines alike.

Even a matcher that backtracks takes linear time: what follows a run of digits is never a digit, so only the whole run
can match, and every shorter part of it fails at once.
"""
INFINITY = r"[+-]?[iI][nN][fF]([iI][nN][iI][tT][yY])?"
"""Which texts are infinite numbers."""
LONGEST_NUMBER = 1000
"""A longer text is not a number. This bounds the time that one value takes to read."""
EXACT = 2**53
"""Integers below this size are exact as floats: a label that is a number is the same whether it is read as text or as a
number."""
_NUMBER, _INFINITY = re.compile(NUMBER), re.compile(INFINITY)


def spells_number(text: str) -> bool:
    """Whether a text, without spaces around it, is a number in digits, even if it is too large for a float.

    >>> [spells_number(text) for text in ("-1.5e3", "5.", ".5", ".", "1_000", "inf", "1" * 1001)]
    [True, True, True, False, False, False, False]
    """
    return len(text) <= LONGEST_NUMBER and _NUMBER.fullmatch(text) is not None


def spells_infinity(text: str) -> bool:
    """Whether a text, without spaces around it, is a word for infinity."""
    return _INFINITY.fullmatch(text) is not None


def text_of(label: Label) -> str:
    """The one spelling of a label: 1, 1.0, "1" and "01" are the same category.

    One record with a word turns a column of numbers into text, which changes the spelling of all other records; their
    category must not change with it.

    >>> text_of(1), text_of(1.0), text_of("01"), text_of(" a "), text_of(True), text_of("0.50")
    ('1', '1', '1', 'a', 'true', '0.5')
    """
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, str):
        text = str.strip(label, " ")  # not label.strip, which a subclass may have changed
        number = float(text) if spells_number(text) else math.nan
        return text_of(number) if abs(number) < EXACT else text
    if isinstance(label, float) and label.is_integer() and abs(label) < EXACT:
        return str(int(label))
    return repr(label)


@dataclass(frozen=True)
class Numeric:
    """A column of numbers between public bounds.

    Values are clipped to the bounds; a missing value becomes `fill` (default: the middle). Where sums are needed,
    values are rounded to `grid` equal steps, so that sums are exact integers.

    Examples
    --------
    >>> from discreet import Numeric
    >>> age = Numeric("age", 0, 120)
    >>> age.lower, age.upper, age.grid
    (0, 120, 2048)
    """

    name: str
    lower: float
    upper: float
    fill: float | None = None
    grid: int = 2048

    def __post_init__(self) -> None:
        for bound in (self.lower, self.upper):
            if not _is_number(bound):
                raise SchemaError(f"column {self.name!r}: bound {bound!r}; need a finite number")
        for entry in ("lower", "upper", "fill"):
            object.__setattr__(self, entry, _plain_number(getattr(self, entry)))
        width = float(self.upper) - float(self.lower)
        if not (0 < width < math.inf and math.isfinite(MAX_CELLS / width)):
            raise SchemaError(
                f"column {self.name!r}: lower={self.lower!r}, upper={self.upper!r}; need lower < upper, also as floats"
            )
        if self.fill is not None and not (_is_number(self.fill) and self.lower <= self.fill <= self.upper):
            raise SchemaError(f"column {self.name!r}: fill={self.fill!r}; need a number within the bounds")
        if not is_integer(self.grid) or not 2 <= self.grid <= MAX_CELLS:
            raise SchemaError(f"column {self.name!r}: grid={self.grid!r}; need an integer from 2 to {MAX_CELLS}")

    @property
    def kind(self) -> str:
        """The name of this kind of column in a schema file."""
        return "numeric"

    @property
    def missing_value(self) -> float:
        """The public value that replaces a missing one."""
        return (self.lower + (self.upper - self.lower) / 2) if self.fill is None else self.fill


@dataclass(frozen=True)
class Categorical:
    """A column with a public list of categories.

    All values outside the list go to one further cell, unless `unlisted=False`: then the list is complete by
    definition, and a value outside it counts as the first category. A missing value counts as the category `missing`;
    without that entry, it counts as a value outside the list.

    Examples
    --------
    >>> from discreet import Categorical
    >>> sex = Categorical("sex", ["F", "M"])
    >>> list(sex.categories), sex.unlisted
    (['F', 'M'], True)
    """

    name: str
    categories: Sequence[Label]
    unlisted: bool = True
    missing: Label | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", checked_labels(self.categories, f"column {self.name!r}", "category"))
        if not isinstance(self.unlisted, bool):
            raise SchemaError(f"column {self.name!r}: unlisted={self.unlisted!r}; need true or false")
        texts = [text_of(label) for label in self.categories]
        if self.missing is not None and text_of(self.missing) not in texts:
            raise SchemaError(
                f"column {self.name!r}: missing={self.missing!r} is not one of its categories; add it to the list"
            )

    @property
    def kind(self) -> str:
        """The name of this kind of column in a schema file."""
        return "categorical"

    @property
    def size(self) -> int:
        """Number of cells, including the one for unlisted values."""
        return len(self.categories) + self.unlisted

    @property
    def stray_code(self) -> int:
        """The cell of a value outside the list."""
        return len(self.categories) if self.unlisted else 0

    @property
    def missing_code(self) -> int:
        """The cell of a missing value."""
        if self.missing is None:
            return self.stray_code
        return [text_of(label) for label in self.categories].index(text_of(self.missing))

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The code of each category, by its one spelling; made once, since a list may have thousands of entries.

        For what is asked, which is public, and never for reading records: whether it was made can be seen of a schema.
        """
        return {text_of(label): code for code, label in enumerate(self.categories)}


Column: TypeAlias = Numeric | Categorical


def is_utf8(text: str) -> bool:
    """Whether a text can be written to a file or into a statement: half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_labels(labels: Sequence[Label], where: str, word: str) -> tuple[Label, ...]:
    """The list of categories or classes; SchemaError unless it is of texts and finite numbers, each once."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise SchemaError(f"{where}: got {type(labels).__name__}; need a list")
    plain = tuple(label.item() if hasattr(label, "item") else label for label in labels)
    if not 1 <= len(plain) <= MAX_CELLS:
        raise SchemaError(f"{where}: {len(plain)} entries; need from 1 to {MAX_CELLS}")
    seen: set[str] = set()
    for label in plain:
        if not isinstance(label, str) and not (isinstance(label, int | float) and abs(label) < EXACT):
            raise SchemaError(f"{where}: a {type(label).__name__} is not a {word}; need text or a number below 2**53")
        if isinstance(label, str) and spells_no_usable_number(label):
            raise SchemaError(
                f"{where}: {word} {label!r} spells infinity or a number of 2**53 or more, which columns of numbers and "
                "of text would read differently; write it in another way"
            )
        if isinstance(label, str) and not is_utf8(label):
            raise SchemaError(f"{where}: {word} {label!r} is not valid Unicode and fits into no file; correct the text")
        if not text_of(label):
            raise SchemaError(f"{where}: an empty text is not a {word}; empty values count as missing")
        if text_of(label) in seen:
            raise SchemaError(f"{where}: {word} {label!r} is listed twice; list each once")
        seen.add(text_of(label))
    return plain


def spells_no_usable_number(text: str) -> bool:
    """Whether a text is read as a number that is too large to be matched exactly with a label."""
    stripped = text.strip(" ")
    return (spells_number(stripped) or spells_infinity(stripped)) and abs(float(stripped)) >= EXACT


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _plain_number(value: Any) -> Any:
    """A number of any library as a Python number, so that it can be written to a file."""
    if not _is_number(value):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def is_integer(value: object) -> bool:
    """Whether a value is an integer, and not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)
