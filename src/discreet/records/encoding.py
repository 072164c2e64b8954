"""From values to codes, as the schema says. Encoding is total: no value can make it fail.

The `Cells` of a column divide its domain into finitely many parts; each record falls in exactly one. For numbers the
cell is found by three float operations: every engine that follows IEEE 754 finds the same one.

Guarantee  each value of an array has a code, which is a function of that value and of public things alone. No value
           raises an error, and no value changes the code of another.
Proof      arrays of numbers are encoded by numpy, element by element, without errors. Any other value is encoded by
           `number_of` or by `_Memo.code`, one value at a time; both turn every Exception, also one that a method of the
           value itself raises, into "not a number" or "not in the list". Only texts of exactly the type `str` are
           remembered, with their codes: nobody can change the hash and equality of these. A value of any other type, a
           subclass of `str` included, is neither remembered nor looked up among the remembered texts.
Test       tests/suites/test_hostile_values.py
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from numbers import Real
from operator import is_
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from discreet.records.truncating import truncated
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Label, Numeric, spells_infinity, spells_number, text_of

Codes = NDArray[np.intp]

NUMBERS = (int, np.number, np.bool_, Decimal, Real)
"""Types besides float that are read as real numbers."""
REMEMBERED = 100_000
"""At most this many distinct texts of a column are remembered: bounds memory; the codes do not depend on it."""
UNREADABLE = b""
"""Stands for a value that cannot be read, such as text that is not UTF-8: neither a number, nor a text, nor missing."""


@dataclass(frozen=True)
class Cells:
    """The cells of one column: `bins` equal intervals, the rounded grid (`bins=None`), or the categories.

    A number x has the code floor((x - lower) * scale + offset), clipped to 0 ... size - 1.
    """

    column: str
    bins: int | None = None

    def size(self, schema: Schema) -> int:
        """Number of cells."""
        column = schema[self.column]
        if isinstance(column, Categorical):
            return column.size
        return column.grid + 1 if self.bins is None else self.bins

    def scale_and_offset(self, column: Numeric) -> tuple[float, float]:
        """The two constants in the formula of the code: bins are cut at their edges, the grid rounds to the nearest."""
        width = float(column.upper) - float(column.lower)
        return (column.grid / width, 0.5) if self.bins is None else (self.bins / width, 0.0)

    def missing_code(self, column: Numeric) -> int:
        """The cell of a missing number: the cell of the column's public fill value."""
        return int(self.number_codes(np.array([column.missing_value]), column)[0])

    def codes(self, values: NDArray[Any], schema: Schema) -> Codes:
        """The cell of each value."""
        column = schema[self.column]
        if isinstance(column, Categorical):
            return category_codes(values, column)
        return self.number_codes(as_floats(values), column)

    def number_codes(self, numbers: NDArray[Any], column: Numeric) -> Codes:
        """The cell of each float; NaN takes the column's fill value, infinities the outermost cells."""
        codes = np.empty(len(numbers), dtype=np.int32)  # codes are small, and this is faster than at one go
        self.write_codes(numbers, column, codes, np.empty(len(numbers)))
        return codes.astype(np.intp)

    def write_codes(
        self, numbers: NDArray[Any], column: Numeric, codes: NDArray[Any], position: NDArray[np.float64]
    ) -> None:
        """Write the cell of each float into an array of integers; `position` is memory to work in, of the same length.

        Memory that is used again is faster than new one.
        """
        scale, offset = self.scale_and_offset(column)
        top = (column.grid + 1 if self.bins is None else self.bins) - 1
        with np.errstate(all="ignore"):
            if numbers.dtype == np.float64:
                np.subtract(numbers, float(column.lower), out=position)
            else:
                np.copyto(position, numbers)  # at one go, numpy would convert few numbers at a time
                position -= float(column.lower)
            position *= scale
            if offset:
                position += offset
            position.clip(0.0, float(top), out=position)
        if not truncated(position, codes):
            position[np.isnan(position)] = self.missing_code(column)
            np.copyto(codes, position, casting="unsafe")


def as_floats(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers from values of any kind; what is not a number becomes NaN."""
    if values.dtype.kind == "f":
        return values
    if values.dtype.kind in "iub":
        return values.astype(np.float64)
    if values.dtype.kind == "c":
        return np.where(values.imag == 0, values.real, np.nan)
    if values.dtype.kind not in "OUST":
        return np.full(len(values), np.nan)
    return _listed_floats(plain_list(values))


def _listed_floats(listed: list[Any]) -> NDArray[np.float64]:
    if _are_texts(listed):
        return np.fromiter(map(_Numbers().__getitem__, listed), dtype=np.float64, count=len(listed))
    with np.errstate(all="ignore"):
        try:
            return np.fromiter(map(_number_of, listed), dtype=np.float64, count=len(listed))
        except Exception:  # one value raised: the other values are read as before
            return np.fromiter(map(number_of, listed), dtype=np.float64, count=len(listed))


def number_of(value: object) -> float:
    """The number that a value of any type stands for, NaN if it is not a number; never raises.

    >>> [number_of(value) for value in ("01", " 2.5 ", "1e999", "-inf", "?", None, 10**400, b"7")]
    [1.0, 2.5, inf, -inf, nan, nan, inf, nan]
    """
    try:
        return _number_of(value)
    except Exception:
        return math.nan


def _number_of(value: Any) -> float:
    """As `number_of`, but it may raise. Subclasses of float and int count by their stored value, not by `__float__`."""
    if isinstance(value, str):
        text = str.strip(value, " ")
        return float(text) if spells_number(text) or spells_infinity(text) else math.nan
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, complex | np.complexfloating):
        return float(value.real) if value.imag == 0 else math.nan
    if isinstance(value, NUMBERS) and not isinstance(value, np.timedelta64):
        return _real_number(value)
    return math.nan


def _real_number(value: Any) -> float:
    try:
        return int.__float__(value) if isinstance(value, int) else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def plain_list(values: NDArray[Any]) -> list[Any]:
    """The values of an array as Python objects; a text that numpy cannot read becomes UNREADABLE."""
    try:
        listed: list[Any] = values.tolist()
    except Exception:
        listed = [_element(values, place) for place in range(len(values))]
    return listed


def _element(values: NDArray[Any], place: int) -> Any:
    try:
        return values[place : place + 1].tolist()[0]
    except Exception:
        return UNREADABLE


def category_codes(values: NDArray[Any], column: Categorical) -> Codes:
    """The position of each value among the categories; unlisted and missing values get the codes of the column."""
    return label_codes(values, column.categories, column.stray_code, column.missing_code)


def class_codes(values: NDArray[Any], schema: Schema) -> Codes:
    """The index of each label in the schema's classes; the number of classes if the label is not a class."""
    classless = len(schema.classes)
    return label_codes(values, schema.classes, classless, classless)


def label_codes(values: NDArray[Any], labels: Iterable[Label], stray: int, missing: int) -> Codes:
    """The position of each value among the labels: compared as numbers in arrays of numbers, as texts in all others."""
    lookup = {text_of(label): code for code, label in enumerate(labels)}
    if values.dtype.kind in "iuf":
        with np.errstate(all="ignore"):
            return _codes_by_number(values, lookup, stray, missing)
    if values.dtype.kind in "mM":
        return np.where(np.isnat(values), missing, stray)
    memo, listed = _Memo(lookup, stray, missing), plain_list(values)
    if _are_texts(listed):
        return np.fromiter(map(memo.__getitem__, listed), dtype=np.intp, count=len(listed))
    codes = [memo[value] if type(value) is str else memo.code(value) for value in listed]
    return np.array(codes, dtype=np.intp)


def _codes_by_number(values: NDArray[Any], lookup: dict[str, int], stray: int, missing: int) -> Codes:
    """Match numbers with the labels that are spelled as numbers, by equality of floats."""
    spelled = sorted((float(text), code) for text, code in lookup.items() if is_canonical_number(text))
    codes = np.full(len(values), stray, dtype=np.intp)
    if spelled:
        numbers = values.astype(np.float64)
        listed = np.array([number for number, _ in spelled])
        position = np.minimum(np.searchsorted(listed, numbers), len(listed) - 1)
        hit = listed[position] == numbers
        codes[hit] = np.array([code for _, code in spelled], dtype=np.intp)[position[hit]]
    if values.dtype.kind == "f":
        codes[np.isnan(values)] = missing
    return codes


def boolean_code(value: bool, texts: Sequence[str]) -> int | None:
    """The position of a boolean in a list of texts: that of its word, else of 1 or 0; None if neither is there."""
    word = "true" if value else "false"
    lowered = [text.lower() for text in texts]
    if word in lowered:
        return lowered.index(word)
    return texts.index(str(int(value))) if str(int(value)) in texts else None


def is_canonical_number(text: str) -> bool:
    """Whether a text is the one spelling of a number that `text_of` gives."""
    return spells_number(text) and text_of(float(text)) == text


def _are_texts(listed: list[Any]) -> bool:
    """Whether all values are texts of exactly the type `str`; no method of a value, or of its type, is called."""
    return all(map(is_, map(type, listed), repeat(str)))


class _Numbers(dict[str, float]):
    """Text to number; each distinct text is parsed once. Only for texts of exactly the type `str`: see the proof."""

    def __missing__(self, text: str) -> float:
        number = number_of(text)
        if len(self) < REMEMBERED:
            self[text] = number
        return number


class _Memo(dict[str, int]):
    """Text to code; each distinct text is looked up once. Only for texts of exactly the type `str`: see the proof."""

    def __init__(self, lookup: dict[str, int], stray: int, missing: int) -> None:
        super().__init__(lookup)
        self._lookup, self._stray, self._missing = lookup, stray, missing

    def __missing__(self, text: str) -> int:
        code = self.code(text)  # never raises, even on texts with impossible characters, which numpy can make
        if len(self) < REMEMBERED:
            self[text] = code
        return code

    def code(self, value: object) -> int:
        """The code of one value of any type; never raises."""
        try:
            return self._code_of(value)
        except Exception:
            return self._stray

    def _code_of(self, value: Any) -> int:
        if value is None:
            return self._missing
        if isinstance(value, str | UUID):
            return self._code_of_text(text_of(str.__str__(value) if isinstance(value, str) else str(value)))
        if isinstance(value, bool | np.bool_):
            code = boolean_code(bool(value), list(self._lookup))
            return self._stray if code is None else code
        if isinstance(value, int | float | complex | np.number | Decimal) and not isinstance(value, np.timedelta64):
            return self._code_of_number(value)
        return self._missing if _is_missing(value) else self._stray

    def _code_of_text(self, text: str) -> int:
        if text in self._lookup or not text:
            return self._lookup[text] if text else self._missing
        word = text.lower()
        code = boolean_code(word == "true", list(self._lookup)) if word in ("true", "false") else None
        return self._stray if code is None else code

    def _code_of_number(self, value: Any) -> int:
        if isinstance(value, complex | np.complexfloating) and value.imag != 0:
            return self._stray
        number = _number_of(value)
        if not math.isfinite(number):
            return self._missing if number != number else self._stray
        return self._lookup.get(text_of(number), self._stray)


def _is_missing(value: Any) -> bool:
    """Whether this is NaT or pandas' NA: a value that differs from itself, or whose comparison gives itself."""
    different = value != value
    return different is value or (isinstance(different, bool | np.bool_) and bool(different))


def label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Labels as an array of their own type; of objects if they have several types, or if a text ends with NUL.

    numpy would cut such a text, and the label would no longer be one of the schema's classes.
    """
    same_type = len({type(label) for label in labels}) == 1
    is_cut = any(isinstance(label, str) and label.endswith("\0") for label in labels)
    return np.array(labels, dtype=None if same_type and not is_cut else object)
