"""One view of all in-memory tables: data frames, lists of dicts, mappings of columns and 2-D arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.schema import Schema


class Table:
    """Columns by name, as numpy arrays, without copying what is an array already."""

    def __init__(self, data: Any, schema: Schema) -> None:
        frame = as_frame(data)
        self._columns: dict[str, Any]
        if frame is not None:
            self._columns = dict(zip(map(str, frame.columns), frame.iter_columns(), strict=True))
            self.rows = len(frame)
        elif isinstance(data, Mapping):
            self._columns = {str(name): _as_column(values) for name, values in data.items()}
            self.rows = _common_length(self._columns)
        elif isinstance(data, list | tuple):
            self._columns = _columns_of_records(data, schema)
            self.rows = len(data)
        else:
            array = as_matrix(data, len(schema.columns))
            self._columns = {name: array[:, position] for position, name in enumerate(schema.names)}
            self.rows = len(array)

    def check(self, schema: Schema, *, target: bool = False) -> None:
        """Raise DataError unless the columns are the schema's; the target and ignored ones may be there too."""
        needed = [*schema.names, schema.target] if target else schema.names
        check_names(list(self._columns), needed, schema)
        for name in needed:
            self._refuse_dates(name)

    def column(self, name: str) -> NDArray[Any]:
        """The values of one column."""
        column = self._columns[name]
        return _values(column) if isinstance(column, nw.Series) else column

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def _refuse_dates(self, name: str) -> None:
        column = self._columns[name]
        dated = column.dtype.is_temporal() if isinstance(column, nw.Series) else column.dtype.kind in "mM"
        if dated:
            raise DataError(f"column {name!r} holds dates or times; turn it into a number or a text first")


def as_frame(data: Any) -> nw.DataFrame[Any] | None:
    """A data frame of any library as narwhals sees it; None for everything else."""
    try:
        frame = nw.from_native(data, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in data.columns]
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the data frame has two columns named {twice!r}; rename or drop one") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def as_array(values: Any) -> NDArray[Any]:
    """An array as it is; a list value by value, whatever the others are.

    numpy would choose one type for all values of a list, so that one record could change how another is read: 1.0 would
    become "1.0" beside a text, True would become 1 beside a number.
    """
    if isinstance(values, np.ma.MaskedArray):
        plain = np.array(values.data, dtype=object)
        plain[np.ma.getmaskarray(values)] = None
        return plain
    if isinstance(values, np.ndarray):
        return values
    try:
        array = np.asarray(values, dtype=object)
    except ValueError:
        raise DataError("rows or columns have different lengths; need one value a record in each") from None
    kinds = set(map(type, array.ravel().tolist()))
    return array.astype(np.float64) if kinds == {float} else array


def _values(series: nw.Series[Any]) -> NDArray[Any]:
    """The values of a series; those that numpy has no type for (lists, structs, huge integers) one by one."""
    try:
        array = series.to_numpy()
        return array if array.ndim == 1 else np.fromiter(series.to_list(), dtype=object, count=len(series))
    except Exception:
        return np.fromiter(map(_value, iter(series.to_native())), dtype=object, count=len(series))


def _value(value: Any) -> Any:
    """One value as Python has it; what it cannot read, such as text that is no UTF-8, is neither number nor text."""
    try:
        return value.as_py() if hasattr(value, "as_py") else value
    except Exception:
        return b""


def _as_column(values: Any) -> NDArray[Any]:
    """One value a record, whatever the values are: a list in a cell is a value too."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _values(series)
    try:
        array = as_array(values)
    except DataError:
        array = np.empty((0, 0))
    return array if array.ndim == 1 else np.fromiter(values, dtype=object, count=len(values))


def check_names(present: Sequence[str], needed: Sequence[str], schema: Schema) -> None:
    """Raise DataError if a column is missing or is not in the schema."""
    missing = [name for name in needed if name not in present]
    if missing:
        # the names that are there are not quoted: of a file without a header they are its first record
        some = ", ".join(map(repr, missing[:5])) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        words = f"columns {some} of the schema are" if len(missing) > 1 else f"column {some} of the schema is"
        raise DataError(f"{words} missing in the table; rename or add there what differs, letter for letter")
    allowed = {*schema.names, schema.target, *schema.ignore}
    extra = [name for name in present if name not in allowed]
    if extra:
        some = ", ".join(map(repr, extra[:20]))
        if len(extra) > 1:
            raise DataError(f"columns {some} are not in the schema; drop them, or list them under 'ignore' there")
        raise DataError(f"column {some} is not in the schema; drop it, or add its name to the schema's 'ignore' list")


def as_matrix(data: Any, width: int) -> NDArray[Any]:
    """A 2-D array with the schema's number of columns, or a DataError."""
    if hasattr(data, "toarray") or type(data).__module__.startswith("scipy.sparse"):
        raise DataError("sparse input is not supported; pass X.toarray() or a data frame")
    array = as_array(data)
    if array.ndim != 2:
        raise DataError(
            f"got an array with {array.ndim} dimensions; need 2. Reshape your data: one row a record, "
            "one column an attribute"
        )
    if array.shape[1] != width:
        raise DataError(f"X has {array.shape[1]} features, but the schema has {width} columns")
    return array


def as_vector(y: Any) -> NDArray[Any]:
    """Labels as a 1-D array."""
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _values(series)
    array = _as_column(y) if isinstance(y, list | tuple) else as_array(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"y has {array.ndim} dimensions; need one label a record (1-D)")
    return array


def check_records(data: Any, schema: Schema) -> None:
    """Raise DataError if records in a list have not the schema's columns; for data that need no protection only."""
    if not isinstance(data, list | tuple):
        return
    width = len(schema.names)
    if any(not isinstance(row, Mapping | list | tuple | np.ndarray) for row in data):
        raise DataError("a record is neither a dict nor a row; need a list of dicts or of rows in the schema's order")
    if any(isinstance(row, list | tuple | np.ndarray) and len(row) != width for row in data):
        raise DataError(f"a row has not the {width} columns of the schema; need one value for each, in its order")
    dicts = [record for record in data if isinstance(record, Mapping)]
    absent = [name for name in schema.names if not any(name in record for record in dicts)]
    if dicts and absent:
        raise DataError(f"column {absent[0]!r} of the schema is in none of the records; add it, letter for letter")


def _columns_of_records(records: Sequence[Any], schema: Schema) -> dict[str, Any]:
    """Columns from a list of records, each read by itself: a dict by name, a row by position in schema order.

    What a record lacks is missing, even if all lack it, and what it has too much is not read: which keys or cells are
    there is a fact about records, and neither an error nor the reading of another record may depend on it.
    """
    names = [*schema.names, schema.target]
    matrix = np.full((len(records), len(names)), None, dtype=object)
    for place, record in enumerate(records):
        if isinstance(record, Mapping):
            cells = [record.get(name) for name in names]
        elif isinstance(record, list | tuple) or (isinstance(record, np.ndarray) and record.ndim == 1):
            cells = list(record)[: len(schema.names)]
        else:
            continue
        matrix[place, : len(cells)] = np.fromiter(cells, dtype=object, count=len(cells))
    return {name: matrix[:, place] for place, name in enumerate(names)}


def _common_length(columns: Mapping[str, NDArray[Any]]) -> int:
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise DataError("columns have different lengths; need one value a record in each")
    return lengths.pop() if lengths else 0
