"""One column of values from any library: its structure is read at once, its values only on request.

Guarantee  making `Values` looks at lengths, shapes and types, and at no value: its errors depend on structure alone.
           No value makes `read` raise; each value that `read` returns is a function of that value and of the column's
           type.
Proof      types are those that the library stores for the column; narwhals would guess the type of pandas' columns of
           objects from their values, and is not asked there. `read` hands objects over as they are. A text that its
           library cannot decode becomes UNREADABLE and leaves the other values as they are: a text that can be decoded
           is the same whether it is decoded with the others or one by one. Of values that are neither numbers nor texts
           (bytes, lists, structs), only whether they are missing is looked at.
Test       tests/suites/test_hostile_values.py
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.records.encoding import UNREADABLE, plain_list
from discreet.records.tested_versions import check_version

Array = NDArray[Any]
Columns = dict[str, Array]
"""Columns by name, one value per record in each."""

OPAQUE = (nw.List, nw.Struct, nw.Array, nw.Binary)
"""Types whose values are neither numbers nor texts."""


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """A column or the labels: number of rows, whether its type is of dates or times, its values when `read`, and
    whether its type is of numbers or truth values, so that no value can be a text."""

    rows: int
    dated: bool
    read: Callable[[], Array]
    numeric: bool = False

    def __repr__(self) -> str:
        return "Values(hidden)"


def column_values(values: Any) -> Values:
    """A column with one value per record, whatever the values are: a list in a cell is a value too."""
    series = as_series(values)
    if series is not None:
        return series_values(series)
    array = stored_array(values)
    if array is not None and array.ndim > 0:
        read: Callable[[], Array] = (lambda: array) if array.ndim == 1 else (lambda: objects(array))
        return Values(len(array), array.dtype.kind in "mM", read, array.dtype.kind in "iufb")
    if array is not None or isinstance(values, str | bytes) or not _is_sized(values):
        raise DataError(f"a column is a {type(values).__name__}; need a list or an array with one value per record")
    return Values(len(values), False, functools.cache(lambda: listed(values)))


def label_values(y: Any) -> Values:
    """Labels: a column, or a table with one column."""
    frame = nw.from_native(y, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if len(frame.columns) != 1:
            raise DataError(f"y has {len(frame.columns)} columns; need one label per record (1-D)")
        return series_values(next(frame.iter_columns()))
    array = None if as_series(y) is not None else stored_array(y)
    if array is not None and array.ndim == 2 and array.shape[1] == 1:
        return column_values(array[:, 0])
    if array is not None and array.ndim != 1:
        raise DataError(f"y has {array.ndim} dimensions; need one label per record (1-D)")
    if array is None and (isinstance(y, str | bytes) or not _is_sized(y)):
        raise DataError(f"y is a {type(y).__name__}; need one label per record (1-D)")
    return column_values(y)


def stored_array(values: Any) -> Array | None:
    """The array in which values are stored, with None for masked values; None for lists and other containers."""
    if isinstance(values, np.ma.MaskedArray):
        return _unmasked(values)
    if isinstance(values, np.ndarray | np.generic):
        return np.asarray(values)
    if isinstance(values, list | tuple) or not hasattr(values, "__array__"):
        return None
    if isinstance(nw.from_native(values, eager_only=True, pass_through=True), nw.DataFrame):
        raise DataError("got a data frame, need one column; pass one of its columns")
    try:
        return np.asarray(values)
    except Exception:
        pass  # its message may quote a value
    raise DataError(f"a {type(values).__name__} cannot be read as an array; pass a list, an array or a data frame")


def objects(values: Iterable[Any]) -> Array:
    """An array of the values as they are. (numpy.array would look inside values for more dimensions.)"""
    return np.fromiter(values, dtype=object)


def listed(values: Iterable[Any]) -> Array:
    """A list as an array of objects; as an array of floats if it holds floats only, which have the same codes.

    numpy would choose one type for all values, and one record could change how another is read: 1.0 would become "1.0"
    beside a text, True would become 1 beside a number.
    """
    array = objects(values)
    return array.astype(np.float64) if all(type(value) is float for value in array.tolist()) else array


def as_series(values: Any) -> nw.Series[Any] | None:
    """A column of any library as a narwhals series, also an index or array of pandas or pyarrow; None for the rest."""
    library = type(values).__module__.partition(".")[0]
    if library == "pandas" and hasattr(values, "dtype") and not hasattr(values, "iloc"):
        # an index or an array of pandas; its type is given, as pandas 2 would guess that of objects from their values
        values = nw.dependencies.get_pandas().Series(values, dtype=values.dtype)
    elif library == "pyarrow" and hasattr(values, "to_pylist") and not hasattr(values, "chunks"):
        values = nw.dependencies.get_pyarrow().chunked_array([values])
    series = nw.from_native(values, series_only=True, pass_through=True)
    return series if isinstance(series, nw.Series) else None


def series_values(series: nw.Series[Any]) -> Values:
    """The column of a data frame; UntestedVersion if its library has a version that reads values in unknown ways."""
    library = series.implementation.to_native_namespace()
    check_version(library.__name__, library.__version__)
    kind = None if _holds_objects(series) else _kind(series)
    numeric = kind is not None and (kind.is_numeric() or kind == nw.Boolean)
    return Values(len(series), kind is not None and kind.is_temporal(), functools.partial(_read, series), bool(numeric))


def _read(series: nw.Series[Any]) -> Array:
    if _holds_objects(series):
        return np.asarray(series.to_native().to_numpy())
    kind = _kind(series)
    if kind in OPAQUE:
        there = np.full(len(series), UNREADABLE, dtype=object)
        there[series.is_null().to_numpy()] = None
        return there
    if series.implementation.is_polars() and kind in (nw.String, nw.Categorical, nw.Enum):
        return _polars_texts(series.to_native())
    return _numbers_or_texts(series)


def _numbers_or_texts(series: nw.Series[Any]) -> Array:
    native = series.to_native()
    arrow = _arrow(native)
    try:
        if arrow is not None and _kind(series) in (nw.Categorical, nw.Unknown):
            # to_numpy would give some entry for a null of a dictionary, and the stored form of an extension type
            return objects(arrow.to_pylist())
        array = series.to_numpy()
        return array if array.ndim == 1 else objects(series.to_list())
    except Exception:  # one value, or the type, cannot be converted
        each = _one_by_one(native) if arrow is None else (_value(scalar.as_py) for scalar in arrow)
        return objects(each)


def _arrow(native: Any) -> Any:
    """The chunked array of a column stored by pyarrow, or by pandas on top of it; None for other columns."""
    stored: Any = getattr(native, "array", None)
    if hasattr(stored, "__arrow_array__") and "Arrow" in type(stored).__name__:
        native = stored.__arrow_array__()
    return native if hasattr(native, "chunks") else None


def _one_by_one(native: Any) -> Iterable[Any]:
    at = native.iloc.__getitem__ if hasattr(native, "iloc") else native.__getitem__
    return (_value(functools.partial(at, place)) for place in range(len(native)))


def _value(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception:
        return UNREADABLE


def _polars_texts(native: Any) -> Array:
    """Texts of polars, which writes bytes that it cannot decode to the standard error: so they are checked first."""
    polars = nw.dependencies.get_polars()
    raw = native.cast(polars.String).cast(polars.Binary)
    try:
        return np.asarray(raw.cast(polars.String).to_numpy())
    except Exception:
        return objects(None if value is None else _value(value.decode) for value in raw.to_list())


def _kind(series: nw.Series[Any]) -> Any:
    """The type that the library stores; of pandas' categories without narwhals, which would hash the categories."""
    is_listed = series.implementation.is_pandas_like() and str(series.to_native().dtype) == "category"
    return nw.Categorical() if is_listed else series.dtype


def _holds_objects(series: nw.Series[Any]) -> bool:
    """Whether pandas stores the column as objects, whose type narwhals would guess from some of the values."""
    return series.implementation.is_pandas_like() and str(series.to_native().dtype) == "object"


def _unmasked(values: np.ma.MaskedArray[Any, Any]) -> Array:
    """A masked array with None for masked values; dates keep their type, since columns of dates are refused."""
    stored, mask = np.asarray(values.data), np.ma.getmaskarray(values)
    if stored.dtype.kind in "mMV":
        return stored
    plain = objects(plain_list(stored.ravel())).reshape(stored.shape)
    plain[mask] = None
    return plain


def _is_sized(values: Any) -> bool:
    return isinstance(values, Sized) and isinstance(values, Iterable)
