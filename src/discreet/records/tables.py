"""One view of all in-memory tables: data frames, lists of dicts, mappings of columns and 2-D arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.records.chosen_columns import check_price
from discreet.records.encoding import UNREADABLE, Cells, Codes
from discreet.records.values import Values, column_values, label_values, objects, series_values, stored_array
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Label, spells_number, text_of


class Table:
    """Columns by name, as numpy arrays. Arrays are not copied; no value is read before `column` is called."""

    def __init__(self, data: Any, schema: Schema) -> None:
        frame = as_frame(data)
        self._columns: dict[str, Values]
        if frame is not None:
            series = map(series_values, frame.iter_columns())
            self._columns = dict(zip(map(str, frame.columns), series, strict=True))
            self.rows = len(frame)
        elif isinstance(data, Mapping):
            self._columns = {str(name): column_values(values) for name, values in data.items()}
            self.rows = _common_length(self._columns)
        elif isinstance(data, list | tuple):
            self._columns = _columns_of_records(data, schema)
            self.rows = len(data)
        elif stored_array(data) is None and not is_sparse(data):
            raise DataError(f"X is a {type(data).__name__}; need a data frame, a list of dicts or a 2-D array")
        else:
            array = as_matrix(data, len(schema.columns))
            self._columns = {name: column_values(array[:, place]) for place, name in enumerate(schema.names)}
            self.rows = len(array)

    def check(self, schema: Schema, *, target: bool = False) -> None:
        """Raise DataError unless the columns are the schema's; the target and ignored columns are allowed too."""
        needed = [*schema.names, schema.target] if target else schema.names
        check_names(list(self._columns), needed, schema)
        for name in needed:
            if self._columns[name].dated:
                raise DataError(f"column {name!r} holds dates or times; turn it into a number or a text first")

    def is_numeric(self, name: str) -> bool:
        """Whether a column is stored as numbers or truth values."""
        return self._columns[name].numeric

    def column(self, name: str) -> NDArray[Any]:
        """The values of one column."""
        return self._columns[name].read()

    def coder(self, cells: Cells, schema: Schema) -> Callable[[slice], Codes]:
        """A function that encodes some of the records."""
        values = self.column(cells.column)
        return lambda rows: cells.codes(values[rows], schema)

    def labels(self, y: Any, target: str) -> Values:
        """The labels y, or with y=None those in the target column; DataError unless there is one label per record."""
        labels = self._columns[target] if y is None else label_values(y)
        if labels.rows != self.rows:
            raise DataError("X and y have different lengths; need one label per record")
        return labels

    def __contains__(self, name: str) -> bool:
        return name in self._columns


@dataclass(frozen=True, eq=False, repr=False)
class CodedRecords:
    """Records that an engine has encoded already, in the cells that a model asks about; a model takes them for a table.

    They are private, as the records are.
    """

    coded: Mapping[Cells, NDArray[np.uint16]]
    rows: int

    def __repr__(self) -> str:
        return "CodedRecords(values hidden)"

    def coder(self, cells: Cells, schema: Schema) -> Callable[[slice], Codes]:
        """As that of a table."""
        codes = self.coded[cells]
        return lambda rows: codes[rows].astype(np.intp)


def open_records(X: Any, schema: Schema) -> Table | CodedRecords:
    """A table without labels, to predict from; DataError unless it has the schema's columns."""
    if isinstance(X, CodedRecords):
        return X
    check_records(X, schema)
    table = Table(X, schema)
    table.check(schema)
    return table


def open_labelled(X: Any, y: Any, schema: Schema) -> tuple[Table, Values]:
    """A table and its labels; with y=None the labels are its target column. Checks the structure, reads no value.

    The one way to open a table with labels: every source, and every door behind it, comes through here.
    """
    check_price(X, schema)
    table = Table(X, schema)
    table.check(schema, target=y is None)
    return table, table.labels(y, schema.target)


def check_stored_types(X: Any, y: Any, schema: Schema) -> None:
    """Raise DataError if labels or a column are stored as numbers where the schema has texts only: all would be astray.

    For tables in memory, where transformers and ensembles may have changed the values. Types are structure: no value is
    looked at.
    """
    table, labels = open_labelled(X, y, schema)
    if labels.numeric and not any(map(_can_be_number, schema.classes)):
        raise DataError(
            f"the labels are stored as numbers, and no class of the schema is one ({_some(schema.classes)}); pass them "
            "as the schema spells them (VotingClassifier, StackingClassifier, BaggingClassifier, OneVsRestClassifier "
            "and cross_val_predict number them first: give these a schema whose classes are the numbers)"
        )
    for column in schema.columns:
        if not isinstance(column, Categorical) or not table.is_numeric(column.name):
            continue
        if column.missing is None and not any(map(_can_be_number, column.categories)):
            raise DataError(
                f"column {column.name!r} is stored as numbers, and none of its categories is one "
                f"({_some(column.categories)}); pass its values as the schema spells them (a scaler or an encoder "
                "before the model may have changed them)"
            )


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
    """Arrays as they are, anything else as an array of objects. Only for public data: its errors depend on values."""
    array = stored_array(values)
    if array is not None:
        return array
    try:
        return np.asarray(values, dtype=object)
    except ValueError:
        raise DataError("rows or columns have different lengths; need one value per record in each") from None


def check_names(present: Sequence[str], needed: Sequence[str], schema: Schema) -> None:
    """Raise DataError if a column is missing or is not in the schema."""
    missing = [name for name in needed if name not in present]
    if missing:
        # the names in the table are not quoted: in a file without a header they are its first record
        some = ", ".join(map(repr, missing[:5])) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        words = f"columns {some} of the schema are" if len(missing) > 1 else f"column {some} of the schema is"
        raise DataError(
            f"{words} missing in the table; add or rename columns there until the names agree, letter for letter"
        )
    allowed = {*schema.names, schema.target, *schema.ignore}
    extra = [name for name in present if name not in allowed]
    if extra:
        some = ", ".join(map(repr, extra[:20]))
        if len(extra) > 1:
            raise DataError(f"columns {some} are not in the schema; drop them, or list them under 'ignore' there")
        raise DataError(f"column {some} is not in the schema; drop it, or add its name to the schema's 'ignore' list")


def as_matrix(data: Any, width: int) -> NDArray[Any]:
    """A 2-D array with the schema's number of columns, or a DataError."""
    if is_sparse(data):
        raise DataError("sparse input is not supported; pass X.toarray() or a data frame")
    array = as_array(data)
    if array.ndim != 2:
        raise DataError(
            f"got an array with {array.ndim} dimensions; need 2. Reshape your data: one row per record, "
            "one column per column of the schema"
        )
    if array.shape[1] != width:
        raise DataError(f"X has {array.shape[1]} features, but the schema has {width} columns")
    return array


def is_sparse(data: Any) -> bool:
    """Whether this is a sparse matrix."""
    return hasattr(data, "toarray") or type(data).__module__.startswith("scipy.sparse")


def as_vector(y: Any) -> NDArray[Any]:
    """Labels as a 1-D array."""
    return label_values(y).read()


def check_records(data: Any, schema: Schema) -> None:
    """Raise DataError unless records in a list have the schema's columns. Only for public data: it looks at records."""
    if not isinstance(data, list | tuple):
        return
    width = len(schema.names)
    if any(not isinstance(row, Mapping | list | tuple | np.ndarray) for row in data):
        raise DataError("a record is neither a dict nor a row; need a list of dicts or of rows in the schema's order")
    if any(isinstance(row, list | tuple | np.ndarray) and len(row) != width for row in data):
        raise DataError(f"a row does not have the {width} columns of the schema; need one value for each, in its order")
    dicts = [record for record in data if isinstance(record, Mapping)]
    absent = [name for name in schema.names if not any(name in record for record in dicts)]
    if dicts and absent:
        raise DataError(f"column {absent[0]!r} of the schema is in none of the records; add it, letter for letter")


def _columns_of_records(records: Sequence[Any], schema: Schema) -> dict[str, Values]:
    """Columns from a list of records, each read by itself: a dict by name, a row by position in schema order.

    Keys that a record lacks are missing values, even if all records lack them; extra keys are not read. Which keys a
    record has is private: neither an error nor the reading of another record may depend on it.
    """
    names = [*schema.names, schema.target]

    @functools.cache
    def columns() -> list[tuple[Any, ...]]:
        rows = [_cells(record, names) for record in records]
        return list(zip(*rows, strict=True)) or [()] * len(names)

    return {
        name: Values(len(records), False, functools.partial(lambda place: objects(columns()[place]), place))
        for place, name in enumerate(names)
    }


def _cells(record: Any, names: Sequence[str]) -> list[Any]:
    """One record as a list of values, the target last; all are missing if it is neither a dict nor a row."""
    try:
        if isinstance(record, Mapping):
            return [_cell(record, name) for name in names]
        if isinstance(record, list | tuple) or (isinstance(record, np.ndarray) and record.ndim == 1):
            cells = list(islice(iter(record), len(names) - 1))
            return cells + [None] * (len(names) - len(cells))
    except Exception:
        pass  # that reading failed concerns this record alone
    return [None] * len(names)


def _cell(record: Mapping[str, Any], name: str) -> Any:
    try:
        return record.get(name)
    except Exception:
        return UNREADABLE


def _can_be_number(label: Label) -> bool:
    """Whether a stored number or truth value can equal this label."""
    text = text_of(label)
    return not isinstance(label, str) or spells_number(text) or text.lower() in ("true", "false")


def _some(labels: Sequence[Label]) -> str:
    return ", ".join(str(label) for label in labels[:4]) + (", …" if len(labels) > 4 else "")


def _common_length(columns: Mapping[str, Values]) -> int:
    lengths = {values.rows for values in columns.values()}
    if len(lengths) > 1:
        raise DataError("columns have different lengths; need one value per record in each")
    return lengths.pop() if lengths else 0
