"""What runs in Spark's Python workers: code the records of a partition, add up, and send back integers.

Workers need Python, numpy and pyarrow, as all Arrow functions of Spark do; `spark.py` sends them this package. A worker
gets Arrow batches with packed codes (`spark_sql.py`) and with the columns that only records/encoding.py can encode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records.encoding import UNREADABLE, Cells, Codes, class_codes
from discreet.schema import Schema
from discreet.sources import Task
from discreet.sources.coding import CodedBlock, count_blocks
from discreet.sources.exact import ExactRows, ExactStatistics

TEXTS, NUMBERS, OPAQUE = "texts", "numbers", "opaque"
"""How the values of a column arrive: texts as bytes; numbers and booleans as they are; of others only whether they are
missing."""
ANSWER = "answer"
"""The one column of what a worker sends back: bytes."""


@dataclass(frozen=True)
class Packed:
    """A code that the SQL has computed: some bits of one of the integers of a record."""

    word: int
    shift: int
    size: int

    def codes(self, columns: Sequence[Any]) -> Codes:
        """The codes of a batch; a new array."""
        mask = (1 << (self.size - 1).bit_length()) - 1
        return np.asarray((columns[self.word].to_numpy(zero_copy_only=False) >> self.shift) & mask, dtype=np.intp)


@dataclass(frozen=True)
class Raw:
    """A column that arrives as it is, to be encoded here."""

    place: int
    kind: str

    def codes(self, columns: Sequence[Any], encode: Callable[[NDArray[Any]], Codes]) -> Codes:
        """The codes of a batch; a new array. Each distinct value is encoded once."""
        column = columns[self.place].dictionary_encode()
        distinct = [_value(each, self.kind) for each in column.dictionary]
        codes = encode(np.fromiter([*distinct, None], dtype=object, count=len(distinct) + 1))
        places: NDArray[np.int32] = column.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)
        return codes[places]


def _value(scalar: Any, kind: str) -> Any:
    """A value as encoding.py reads it; UNREADABLE if it is a text that is not UTF-8, or neither number nor text."""
    try:
        if kind == OPAQUE:
            return UNREADABLE
        value = scalar.as_py()
        return value.decode() if kind == TEXTS else value
    except Exception:
        return UNREADABLE


Place = Packed | Raw


@dataclass(frozen=True)
class Layout:
    """Where the codes of each of some cells, and of the class, are found in a batch."""

    schema: Schema
    cells: tuple[Cells, ...]
    places: tuple[Place, ...]
    label: Place

    def block(self, columns: Sequence[Any]) -> CodedBlock:
        """The columns of a batch as a block of records."""
        places = dict(zip(self.cells, self.places, strict=True))

        def encode(each: Cells) -> Codes:
            return _codes(places[each], columns, lambda values: each.codes(values, self.schema))

        return encode, _codes(self.label, columns, lambda values: class_codes(values, self.schema))

    def rows(self, columns: Sequence[Any]) -> ExactRows:
        """The columns of a batch as codes of two bytes."""
        encode, label = self.block(columns)
        return ExactRows({each: encode(each).astype(np.uint16) for each in self.cells}, label.astype(np.uint16))


def _codes(place: Place, columns: Sequence[Any], encode: Callable[[NDArray[Any]], Codes]) -> Codes:
    return place.codes(columns) if isinstance(place, Packed) else place.codes(columns, encode)


Answers = Iterator[Any]
"""Arrow batches with one column of bytes."""


@dataclass(frozen=True)
class Tables:
    """Count records by class and cell: the tables of all cells in a row. As a task, or for a whole partition."""

    schema: Schema
    cells: tuple[Cells, ...]

    @property
    def size(self) -> int:
        """Number of counts."""
        return len(self.schema.classes) * sum(each.size(self.schema) for each in self.cells)

    def __call__(self, block: ExactRows) -> NDArray[np.int64]:
        """The counts of a block of codes."""
        return self.count([(lambda each: block.codes[each].astype(np.intp), block.labels.astype(np.intp))])

    def count(self, blocks: Iterable[CodedBlock]) -> NDArray[np.int64]:
        """The counts of some blocks."""
        counted = count_blocks(blocks, self.cells, self.schema).counts
        return np.concatenate([np.empty(0, dtype=np.int64), *(counted[each].ravel() for each in self.cells)])

    def statistics(self, counts: NDArray[np.int64]) -> ExactStatistics:
        """The tables by cells again."""
        classes, tables, start = len(self.schema.classes), {}, 0
        for each in self.cells:
            end = start + classes * each.size(self.schema)
            tables[each] = counts[start:end].reshape(classes, -1)
            start = end
        return ExactStatistics(tables)


@dataclass(frozen=True)
class Counting:
    """Count the records of a partition as they arrive: one answer."""

    layout: Layout

    def __call__(self, batches: Iterable[Any]) -> Answers:
        """The answer for a partition."""
        tables = Tables(self.layout.schema, self.layout.cells)
        yield sent([tables.count(self.layout.block(batch.columns) for batch in batches).tobytes()])


@dataclass(frozen=True)
class Coding:
    """Code the records of a partition: one answer for each batch, which `Stored` reads."""

    layout: Layout

    def __call__(self, batches: Iterable[Any]) -> Answers:
        """The codes of each batch."""
        for batch in batches:
            if batch.num_rows:
                yield sent([stored_bytes(self.layout.rows(batch.columns), self.layout)])


@dataclass(frozen=True)
class Folding:
    """Add up a task over the records of a partition: one answer. The records come as `Coding` has stored them."""

    layout: Layout
    cells: tuple[Cells, ...]
    task: Task

    def __call__(self, batches: Iterable[Any]) -> Answers:
        """The answer for a partition."""
        total = np.zeros(self.task.size, dtype=np.int64)
        for batch in batches:
            for stored in batch.column(0):
                rows = stored_rows(stored.as_buffer(), self.layout)
                total += self.task(ExactRows({each: rows.codes[each] for each in self.cells}, rows.labels))
        yield sent([total.tobytes()])


@dataclass(frozen=True)
class Adding:
    """Add up the answers of other workers: one answer."""

    size: int

    def __call__(self, batches: Iterable[Any]) -> Answers:
        """The sum of the answers in a partition."""
        yield sent([added((each.as_buffer() for batch in batches for each in batch.column(0)), self.size).tobytes()])


@dataclass(frozen=True)
class Trying:
    """Do nothing with a layout or a task that has arrived: a worker that can do this can do all the rest."""

    arrived: Layout | Task

    def __call__(self, batches: Iterable[Any]) -> Answers:
        """An empty answer for a partition."""
        for _ in batches:
            pass
        yield sent([b""])


def added(answers: Iterable[Any], size: int) -> NDArray[np.int64]:
    """The sum of integers that were sent as bytes; integers add exactly, and in any order."""
    total = np.zeros(size, dtype=np.int64)
    for each in answers:
        total += np.frombuffer(each, dtype=np.int64)
    return total


def sent(answers: list[bytes]) -> Any:
    """Answers as an Arrow batch."""
    import pyarrow

    return pyarrow.RecordBatch.from_arrays([pyarrow.array(answers, pyarrow.binary())], names=[ANSWER])


def _widths(layout: Layout) -> list[np.dtype[Any]]:
    """The type of the codes in each of the cells, and of the class: as few bytes as their public number allows."""
    sizes = [*(each.size(layout.schema) for each in layout.cells), len(layout.schema.classes) + 1]
    return [np.min_scalar_type(size - 1) for size in sizes]


def stored_bytes(rows: ExactRows, layout: Layout) -> bytes:
    """Codes as bytes, one column after another."""
    columns = [*(rows.codes[each] for each in layout.cells), rows.labels]
    widths = _widths(layout)
    return b"".join(column.astype(width).tobytes() for column, width in zip(columns, widths, strict=True))


def stored_rows(stored: Any, layout: Layout) -> ExactRows:
    """The codes that `stored_bytes` has written."""
    widths = _widths(layout)
    rows = len(stored) // sum(width.itemsize for width in widths)
    columns, start = [], 0
    for width in widths:
        columns.append(np.frombuffer(stored, dtype=width, count=rows, offset=start).astype(np.uint16))
        start += rows * width.itemsize
    return ExactRows(dict(zip(layout.cells, columns, strict=False)), columns[-1])
