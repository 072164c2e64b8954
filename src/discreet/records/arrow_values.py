"""Columns of Arrow as numbers or as places among distinct values, which the encoding then turns into codes.

Guarantee  a value has the code that `encoding` gives to it, and that code depends on the value and on the type of its
           column alone: not on other records, not on the batch or the dictionary that it arrives in.
Proof      numbers are handed to the encoding as an array of their own type, with NaN for null. Of all other columns
           each distinct value is handed over once, as an object, and every record gets the code of its own value.
           (A decimal becomes the float nearest to it: see `_decimals`.) Where Arrow cannot read a column at a stroke,
           each value is read by itself, and one that cannot be read is UNREADABLE, as it is in `values`.
Test       tests/sources/test_arrow_source.py, tests/sources/test_sources_agree.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, FileError, MissingExtra
from discreet.records.encoding import REMEMBERED, UNREADABLE, Codes, as_floats
from discreet.records.tested_versions import check_version
from discreet.records.values import objects
from discreet.schema import Schema

Array = NDArray[Any]

SUSPECT = ("date", "time", "duration", "interval", "json", "geo", "variant")
"""Words in the names of types whose values are dates, or can be invalid: a reader may fail at one of them."""
FEW = 1 << 12
"""Natural numbers below this one may be looked up in a list, and so many texts are looked up among those known."""
OUTSIDE = "a column has places outside its dictionary; check that the file or table is whole"
EXACT = 2**53
"""Integers up to this size are exact as floats."""
EXACT_TENS = 22
"""Powers of ten up to this one are exact as floats."""


def arrow_module() -> Any:
    """The package pyarrow; MissingExtra where it is not installed, UntestedVersion where it is too old or too new.

    Versions before 25 crash on views of texts that were cast and are all short: one long text would decide it.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("parquet") from None
    check_version("pyarrow", pa.__version__)
    return pa


def arrow_kind(stored: Any) -> str:
    """What the values of a type are: number, truth, text, date, opaque, nothing, dictionary, or other."""
    from pyarrow import types

    if _is_suspect(stored):
        return "date"
    tests: dict[str, tuple[Callable[[Any], bool], ...]] = {
        "dictionary": (types.is_dictionary,),
        "number": (types.is_integer, types.is_floating, types.is_decimal),
        "truth": (types.is_boolean,),
        "text": (types.is_string, types.is_large_string, types.is_string_view),
        "opaque": (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary,
                   types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_struct, types.is_map),
        "nothing": (types.is_null,),
    }  # fmt: skip
    return next((kind for kind, each in tests.items() if any(test(stored) for test in each)), "other")


def _is_suspect(stored: Any) -> bool:
    """Whether this is a type of dates, or one that a reader checks value by value; also inside lists and structs.

    Lists and structs are judged by the words in their type; the names of their fields are taken for types too.
    """
    return any(word in str(stored) for word in SUSPECT)


def refuse_dates(types: Mapping[str, Any], schema: Schema) -> None:
    """Raise DataError for columns of dates or times, which are neither numbers nor categories, as for data frames."""
    for name in schema.all_names:
        if arrow_kind(types[name]) == "date":
            raise DataError(f"column {name!r} holds dates or times; turn it into a number or a text first")


@dataclass(frozen=True, repr=False)
class Distinct:
    """A column of which each distinct value is written once: record i has the value `values[places[i]]`.

    `before`: the values of an earlier part of the column, if all of them but the last are the first ones here.
    """

    values: Array
    places: Array
    before: Array | None = None

    def __repr__(self) -> str:
        return "Distinct(hidden)"


class ColumnReader:
    """Reads one column, batch after batch. Remembers the last dictionary, so that its texts are encoded once.

    Parameters
    ----------
    as_text : whether the column holds texts as bytes.
    """

    def __init__(self, *, as_text: bool = False) -> None:
        self._as_text = as_text
        self._dictionary: Any = None
        self._values: Array = objects([])
        self._naturals = np.arange(0)
        self._type: Any = None
        self._kind = ""

    def read(self, column: Any, *, countable: bool = False) -> Array | Distinct:
        """The values of a part of the column: an Arrow array, numbers, or what is read already. No value makes it fail,
        but places outside a dictionary do.

        `countable`: small natural numbers may come as places, since finding numbers among labels takes longer.
        """
        if isinstance(column, np.ndarray | Distinct):
            return self._narrow(column) if countable and isinstance(column, np.ndarray) else column
        try:
            if column.type != self._type:
                self._type, self._kind = column.type, "text" if self._as_text else arrow_kind(column.type)
            read = self._read(column, self._kind)
            return self._narrow(read) if countable and isinstance(read, np.ndarray) else read
        except FileError:
            raise
        except Exception:  # Arrow cannot do this at a stroke, for instance where texts are too long
            return self._all(self.listed(column))

    def _read(self, column: Any, kind: str) -> Array | Distinct:
        if kind == "number":
            return _numbers(column)
        if kind in ("text", "dictionary"):
            is_encoded = hasattr(column, "dictionary")
            return self._of_dictionary(column if is_encoded else column.dictionary_encode())
        if kind == "truth":
            return Distinct(TRUTHS, _filled(column.cast("int8"), 2))
        if kind in ("opaque", "nothing"):
            return Distinct(OPAQUE, column.is_null().to_numpy(zero_copy_only=False).view(np.int8))
        return self._all(self.listed(column))

    def _narrow(self, numbers: Array) -> Array | Distinct:
        """Small natural numbers as places among the natural numbers."""
        if numbers.dtype.kind not in "iu" or not len(numbers):
            return numbers
        least, largest = int(numbers.min()), int(numbers.max())
        if not 0 <= least <= largest < FEW:
            return numbers
        if largest >= len(self._naturals):
            self._naturals = np.arange(largest + 1)
        return Distinct(self._naturals, _places(numbers))

    def _of_dictionary(self, column: Any) -> Distinct:
        dictionary, indices = column.dictionary, column.indices
        places = _filled(indices if not indices.null_count else indices.cast("int64"), len(dictionary))
        if not _are_inside(indices, len(dictionary)):
            raise FileError(OUTSIDE)  # pyarrow gives what a damaged file says
        if len(dictionary) > 4 * len(places):  # a large dictionary of which little is used
            used, places = np.unique(places, return_inverse=True)
            inside = used[used < len(dictionary)]
            return Distinct(objects([*self.listed(dictionary.take(arrow_module().array(inside))), None]), places)
        if self._dictionary is not None and dictionary.equals(self._dictionary):
            return Distinct(self._values, _places(places))
        known = 0 if self._dictionary is None else len(self._dictionary)
        if known and dictionary.slice(0, known).equals(self._dictionary):  # as when pyarrow finds more and more values
            before, new = self._values, self.listed(dictionary.slice(known))
            self._values = np.concatenate([before[:known], objects([*new, None])])
        else:
            before, self._values = None, objects([*self.listed(dictionary), None])
        self._dictionary = dictionary
        return Distinct(self._values, _places(places), before)

    def listed(self, column: Any) -> list[Any]:
        """The values of an Arrow array as Python objects: of those that are no numbers or texts, only that they are
        there, and of dates not even their value."""
        kind = arrow_kind(column.type)
        if kind == "date" or (kind == "opaque" and not self._as_text):
            return list(OPAQUE[column.is_null().to_numpy(zero_copy_only=False).view(np.int8)])
        try:
            listed = list(column.to_pylist())
        except Exception:
            listed = [_value(scalar.as_py) for scalar in column]
        if self._as_text:
            return [_value(value.decode) if isinstance(value, bytes) else value for value in listed]
        return listed

    @staticmethod
    def _all(listed: Iterable[Any]) -> Distinct:
        values = objects(listed)
        return Distinct(values, np.arange(len(values)))


REMEMBERABLE = {str, type(None)}
"""Types of which nobody can change the hash and equality."""
TRUTHS = objects([False, True, None])
OPAQUE = objects([UNREADABLE, None])


class Coder:
    """Encodes what a ColumnReader has read; a list of distinct values that comes again is not encoded again."""

    def __init__(self, encode: Callable[[Array], Codes]) -> None:
        self._encode = encode
        self._values: Array | None = None
        self._table: Codes = np.empty(0, dtype=np.intp)
        self._known: dict[str | None, int] = {}

    def codes(self, read: Array | Distinct, kind: type = np.intp) -> Array:
        """The code of each record, in an array of their own, of a type that holds all codes."""
        if isinstance(read, np.ndarray):
            return self._encode(read).astype(kind, copy=False)
        return np.asarray(self.table(read).astype(kind, copy=False).take(read.places))

    def table(self, read: Distinct) -> Codes:
        """The code of each distinct value."""
        if read.values is not self._values:
            known = len(self._table) - 1 if read.before is not None and read.before is self._values else 0
            self._table = np.concatenate([self._table[:known], self._encoded(read.values[known:])])
            self._values = read.values
        return self._table

    def _encoded(self, values: Array) -> Codes:
        """The code of each value. Few texts are remembered: the next row group has them in another order."""
        if len(values) > FEW or values.dtype != object or not REMEMBERABLE.issuperset(map(type, values)):
            return self._encode(values)
        new = [text for text in values if text not in self._known]
        if len(self._known) + len(new) > REMEMBERED:
            return self._encode(values)
        if new:
            self._known.update(zip(new, self._encode(objects(new)).tolist(), strict=True))
        return np.fromiter(map(self._known.__getitem__, values), dtype=np.intp, count=len(values))


def _are_inside(indices: Any, size: int) -> bool:
    """Whether all indices but nulls are below a size. What lies at nulls is below it, too, as a rule: then nobody needs
    to know which are null."""
    from pyarrow import compute

    stored = type(indices).from_buffers(indices.type, len(indices), [None, indices.buffers()[1]], offset=indices.offset)
    every = stored.to_numpy()
    if not len(every) or 0 <= int(every.min()) <= int(every.max()) < size:
        return True
    least, largest = compute.min_max(indices).values()
    return not least.is_valid or 0 <= least.as_py() <= largest.as_py() < size


def _places(integers: Array) -> Array:
    """The same places in an array of a type that every version of numpy takes places in."""
    return integers.view(np.int64) if integers.dtype == np.uint64 else integers


def _filled(integers: Any, instead: int) -> Array:
    """An array of integers, with another integer for null."""
    filled = integers.fill_null(instead) if integers.null_count else integers
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def _numbers(column: Any) -> Array:
    from pyarrow import types

    if types.is_decimal(column.type):
        return _decimals(column)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _decimals(column: Any) -> Array:
    """Each decimal as the float nearest to it.

    If the unscaled integer is at most 2**53 and the power of ten at most 10**22, both are floats, and their quotient or
    product is rounded once: to the nearest float. All others are rounded by Python, one by one.
    """
    pa = arrow_module()
    scale = column.type.scale
    if column.type.bit_width > 128 or abs(scale) > EXACT_TENS:
        return as_floats(objects(column.to_pylist()))
    wide = column if column.type.bit_width == 128 else column.cast(pa.decimal128(38, scale))
    words = np.frombuffer(wide.buffers()[1], dtype="<i8").reshape(-1, 2)[wide.offset : wide.offset + len(wide)]
    low, high = words[:, 0], words[:, 1]
    numbers = low / float(10**scale) if scale >= 0 else low * float(10**-scale)
    if wide.null_count:
        numbers[wide.is_null().to_numpy(zero_copy_only=False)] = np.nan
    others = np.flatnonzero(~((high == low >> 63) & (low >= -EXACT) & (low <= EXACT)))
    if len(others):
        numbers[others] = as_floats(objects(wide.take(pa.array(others)).to_pylist()))
    return numbers


def _value(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception:
        return UNREADABLE
