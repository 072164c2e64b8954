"""Parquet files, counted batch by batch in several threads: they may be larger than memory, and no value is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError
from discreet.records.arrow_values import refuse_dates
from discreet.records.encoding import Cells
from discreet.records.files import ROWS
from discreet.records.parquet import ParquetFields, open_parquet, parquet_blocks, parquet_fields, parquet_structure
from discreet.records.tables import check_names
from discreet.records.values import Columns
from discreet.schema import Schema
from discreet.sources import Task
from discreet.sources.arrow_blocks import BATCH, BatchCounter
from discreet.sources.coding import fold_rows
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.workers import processors, share_out

VALUES, BYTES, FEW = 1 << 20, 1 << 25, 1 << 10
"""A batch has at most so many values and about so many bytes, but at least so many records: bounds memory."""
BUFFER = 1 << 16
"""Bytes of a column that are read at a time: a row group may be as large as the file."""

Told = Callable[[int, int], None]
"""Called with the number of row groups that are done, and their total. Both are the owner's, and exact."""


class Part(NamedTuple):
    """A row group of a file, and how many of its records are read at a time."""

    path: Path
    group: int
    rows: int
    metadata: Any

    def batches(self, rows: int, names: list[str], dictionaries: list[str], *, helped: bool) -> Iterator[Any]:
        """Its records, so many at a time."""
        file = open_parquet(self.path, dictionaries, BUFFER, self.metadata)
        batches: Iterator[Any] = file.iter_batches(rows, row_groups=[self.group], columns=names, use_threads=helped)
        return batches


class ParquetSource:
    """One or more Parquet files, all with the same columns and types, read in the order of the list.

    The list of files is public, as the names of columns are. It is declared when the source is made: what is in a
    folder later on does not matter, and a file whose columns have changed since it was checked is refused.

    Parameters
    ----------
    paths : the files.
    listing : returns the list of files anew; a pass is refused if it is not the same any more.
    """

    told: Told | None = None
    """Is told how far a pass has come; may be set at any time."""

    def __init__(
        self, paths: str | Path | Sequence[str | Path], *, listing: Callable[[], list[Path]] | None = None
    ) -> None:
        given = [paths] if isinstance(paths, str | Path) else paths
        self._paths = [Path(path) for path in given]
        if not self._paths:
            raise FileError("the list of files is empty; need at least one Parquet file")
        self._listing = listing
        self._fields: ParquetFields | None = None

    def __repr__(self) -> str:
        return "ParquetSource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Check names and types of the columns of every file; no value is looked at."""
        fields = self._known()
        check_names(list(fields.types), [*schema.names, schema.target], schema)
        refuse_dates(fields.types, schema)

    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._known().types)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count row groups in several threads, and add up."""
        reading = self._reading(cells, schema)

        def work(parts: Iterator[Part], check: Callable[[], None]) -> ExactStatistics:
            counter = reading.counter()
            for batch in reading.batches(parts, check):
                counter.add(batch)
                del batch
            return counter.counted()

        counted = BatchCounter(cells, schema).counted()
        for each in reading.shared(work):
            counted += each
        return counted

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """Encode batch by batch, in the order of the files."""
        reading = self._reading(cells, schema)
        return map(reading.counter().rows, reading.batches(iter(reading.parts), lambda: None, alone=True))

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Add up row groups in several threads."""
        reading = self._reading(cells, schema)

        def work(parts: Iterator[Part], check: Callable[[], None]) -> NDArray[np.int64]:
            return fold_rows(map(reading.counter().rows, reading.batches(parts, check)), task)

        return sum(reading.shared(work), np.zeros(task.size, dtype=np.int64))

    def structure(self) -> Columns:
        """The columns without a record."""
        self._known()
        return parquet_structure(self._paths[0])

    def values(self, names: Sequence[str], numbers: Collection[str] = ()) -> Iterator[Columns]:
        """The values of some columns, block by block, in the order of the files."""
        return chain.from_iterable(parquet_blocks(path, ROWS, names) for path in self._paths)

    def _known(self) -> ParquetFields:
        if self._fields is None:
            self._fields = _common_fields(self._paths)
        return self._fields

    def _reading(self, cells: Sequence[Cells], schema: Schema) -> _Reading:
        """A pass over the files as they are now, which have to be the files that were checked."""
        self.check(schema)
        changed = self._listing is not None and self._listing() != self._paths
        if changed or _common_fields(self._paths) != self._known():
            raise FileError("the list of files, or their columns, changed since they were checked; open them again")
        return _Reading(self._paths, cells, schema, self._known(), self.told)


class _Reading:
    """One pass: its row groups, and how they are read and encoded."""

    def __init__(
        self, paths: list[Path], cells: Sequence[Cells], schema: Schema, fields: ParquetFields, told: Told | None
    ) -> None:
        self._cells, self._schema, self._fields, self._told = cells, schema, fields, told
        self._names = list(dict.fromkeys([*(each.column for each in cells), schema.target]))
        self._done = 0
        self.parts = [part for path in paths for part in _parts(path, self._names)]
        self._threads = max(min(processors(), len(self.parts)), 1)

    def counter(self) -> BatchCounter:
        """For one thread."""
        return BatchCounter(self._cells, self._schema, self._fields.texts)

    def shared(self, work: Callable[[Iterator[Part], Callable[[], None]], Any]) -> list[Any]:
        """The results of all threads."""
        return share_out(self.parts, work, self._threads)

    def batches(self, parts: Iterator[Part], check: Callable[[], None], *, alone: bool = False) -> Iterator[Any]:
        """The batches of some row groups. Where threads are fewer than processors, pyarrow's threads help to read."""
        helped = alone or self._threads < processors()
        for part in parts:
            for batch in self._of_part(part, helped):
                check()
                yield batch
                del batch  # before the next one is read
            self._done += 1
            if self._told is not None:
                self._told(self._done, len(self.parts))

    def _of_part(self, part: Part, helped: bool) -> Iterator[Any]:
        """The batches of a row group; where Arrow fails at long texts, the rest of it without dictionaries, few records
        at a time."""
        read, texts = 0, [name for name in self._names if self._fields.is_text(name)]
        try:
            for batch in part.batches(part.rows, self._names, texts, helped=helped):
                read += batch.num_rows
                yield batch
                del batch
            return
        except GeneratorExit:
            raise
        except Exception:
            pass
        yield from _rest(part, self._names, read)


def _rest(part: Part, names: list[str], read: int) -> Iterator[Any]:
    """The batches of a row group after the records that were read."""
    try:
        passed = 0
        for batch in part.batches(FEW, names, [], helped=False):
            passed += batch.num_rows
            if passed > read:
                yield batch.slice(max(batch.num_rows - (passed - read), 0))
        return
    except GeneratorExit:
        raise
    except Exception:
        pass
    raise FileError("a file cannot be read as Parquet; check that it is whole and free memory")


def _parts(path: Path, names: list[str]) -> Iterator[Part]:
    """The row groups of a file. Only time and memory depend on how they are read."""
    metadata = open_parquet(path).metadata
    places = [place for place in range(metadata.num_columns) if metadata.schema.column(place).path in names]
    for group in range(metadata.num_row_groups):
        stored = metadata.row_group(group)
        sizes = [stored.column(place) for place in places]
        plain = max(sum(each.total_uncompressed_size for each in sizes), 1)
        rows = min(BATCH, VALUES // len(names), BYTES * stored.num_rows // plain)
        yield Part(path, group, max(rows, FEW), metadata)


def _common_fields(paths: list[Path]) -> ParquetFields:
    """The columns of all files; FileError unless they are the same in each."""
    first = parquet_fields(paths[0])
    for path in paths[1:]:
        other = parquet_fields(path)
        if other != first:
            names = [name for name in (*first.types, *other.types) if first.types.get(name) != other.types.get(name)]
            word = f"column {names[0]!r}" if names else "a column"
            raise FileError(
                f"{path} does not have the columns of {paths[0]}: {word} is missing in one, or has another type; "
                "make all files alike (names like key=value of folders are no columns here)"
            )
    return first
