"""A table that any library hands over as Arrow batches: counted batch by batch, it may be larger than memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, DiscreetError
from discreet.records.arrow_values import arrow_module, refuse_dates
from discreet.records.encoding import Cells
from discreet.records.tables import check_names
from discreet.schema import Schema
from discreet.sources import Task
from discreet.sources.arrow_blocks import BatchCounter, in_batches
from discreet.sources.coding import fold_rows
from discreet.sources.exact import ExactRows, ExactStatistics

UNREAD = "the table cannot be read as Arrow batches; check that its source is still open"
ONCE = "a stream of Arrow batches can be read once, and was; pass a function that opens it anew, or a table"

GUESSED = {
    "pandas": "whose types would be guessed from its values; pass it to fit, or to MemorySource",
    "duckdb": "of which a value can change others; make it a view, and pass DuckDBSource(connection=, table=)",
}
GUESSED |= {"_duckdb": GUESSED["duckdb"], "ibis": GUESSED["duckdb"], "modin": GUESSED["pandas"]}
"""Tables whose batches depend on which values there are, by the library that they are of."""


class ArrowSource:
    """A table that comes in Arrow batches, target included; each pass opens it anew.

    The owner is responsible for what is computed while the batches come: the values of a record must not depend on
    which other records there are, and no value may make it fail. Tables of DuckDB are safer in `DuckDBSource`, which
    knows where DuckDB breaks this rule.

    Parameters
    ----------
    table : anything with `__arrow_c_stream__`: a table or a stream of pyarrow, a data frame of Polars, the result of
        an ADBC driver. A stream that can be read only once serves a single pass. Or a function without arguments that
        returns such a thing: it is called for each pass, and once to learn the columns.
    """

    def __init__(self, table: Any) -> None:
        pa = arrow_module()
        is_table = _is_table(table)
        if not is_table and not callable(table):
            raise DataError(f"table is a {type(table).__name__}; need something with __arrow_c_stream__")
        self._open: Callable[[], Any] = (lambda: table) if is_table else table
        self._reader = table if isinstance(table, pa.RecordBatchReader) else None
        self._used = False
        self._keeps = hasattr(table, "__arrow_c_stream__")
        self._waiting: list[Any] = []
        """A stream that was opened to learn the columns, for the next pass: perhaps the table gives no other."""

    def __repr__(self) -> str:
        return "ArrowSource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Check names and types of the columns; no value is looked at."""
        self._check_unread()
        _check(self._types(), schema)

    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._types())

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count batch by batch."""
        counter = BatchCounter(cells, schema)
        for batch in self._batches(cells, schema):
            counter.add(batch)
        return counter.counted()

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """Encode batch by batch."""
        counter = BatchCounter(cells, schema)
        return map(counter.rows, self._batches(cells, schema))

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Add up batch by batch."""
        return fold_rows(self.rows(cells, schema), task)

    def _check_unread(self) -> None:
        if self._reader is not None and self._used:
            raise DataError(ONCE)

    def _types(self) -> dict[str, Any]:
        """The types of the columns, which are structure. Where only a stream tells them, it is opened for this."""
        stream = self._reader or next(iter(self._waiting), None)
        if stream is None:
            stream = _quietly(lambda: _reader(self._open(), empty=True))
            if self._keeps:
                self._waiting.append(stream)
        return _types_of(stream)

    def _stream(self) -> Any:
        """A stream that no other pass reads."""
        if self._reader is not None:
            return self._reader
        with contextlib.suppress(IndexError):
            return self._waiting.pop()
        return _quietly(lambda: _reader(self._open()))

    def _batches(self, cells: Sequence[Cells], schema: Schema) -> Iterator[Any]:
        """The columns that are asked for. The structure of this very stream is checked: it may not have changed."""
        self._check_unread()
        self._used = True
        stream = self._stream()
        _check(_types_of(stream), schema)
        names = list(dict.fromkeys([*(each.column for each in cells), schema.target]))
        while (batch := _quietly(lambda: _selected(next(stream, None), names))) is not None:
            yield from in_batches([batch])


def _selected(batch: Any, names: list[str]) -> Any:
    return None if batch is None else batch.select(names)


def _types_of(stream: Any) -> dict[str, Any]:
    fields = list(stream.schema)
    if len({field.name for field in fields}) != len(fields):
        raise DataError("the table has two columns with the same name; rename or drop one")
    return {field.name: field.type for field in fields}


def _check(types: dict[str, Any], schema: Schema) -> None:
    check_names(list(types), [*schema.names, schema.target], schema)
    refuse_dates(types, schema)


def _is_table(given: Any) -> bool:
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "collect_batches")


def _reader(given: Any, *, empty: bool = False) -> Any:
    """A stream of the table's batches; a lazy frame of Polars is computed as they come, or for its columns alone."""
    stream = arrow_module().RecordBatchReader
    if type(given).__module__.partition(".")[0] == "narwhals":
        given = given.to_native()
    for library in (kind.__module__.partition(".")[0] for kind in type(given).__mro__):  # also those made of theirs
        if library in GUESSED:
            raise DataError(f"table is a {type(given).__name__}, {GUESSED[library]}")
    if isinstance(given, stream):
        return given
    if hasattr(given, "__arrow_c_stream__"):
        return stream.from_stream(given)
    columns = stream.from_stream(given.head(0).collect())
    if empty:
        return columns
    batches = (batch for frame in given.collect_batches() for batch in stream.from_stream(frame))
    return stream.from_batches(columns.schema, batches)


def _quietly(read: Callable[[], Any]) -> Any:
    """What is read from the owner's table. Messages of libraries are not passed on: they may quote a value."""
    try:
        return read()
    except DiscreetError:
        raise
    except Exception:
        pass
    raise DataError(UNREAD)
