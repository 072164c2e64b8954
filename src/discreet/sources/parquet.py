"""Parquet files, counted batch by batch in several threads: they may be larger than memory, and no value is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError
from discreet.records.arrow_values import refuse_dates
from discreet.records.encoding import Cells
from discreet.records.files import ROWS
from discreet.records.parquet import ParquetFields, open_parquet, parquet_blocks, parquet_fields, parquet_structure
from discreet.records.parquet_memory import PageMemory
from discreet.records.parquet_soundness import is_sound
from discreet.records.tables import check_names
from discreet.records.values import Columns
from discreet.schema import Schema
from discreet.sources import Task, kernels
from discreet.sources.arrow_blocks import BATCH, BatchCounter
from discreet.sources.coding import fold_rows
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.parquet_groups import UNREAD, GroupColumns, Part, Whole
from discreet.sources.workers import processors, share_out

VALUES, BYTES, FEW = 1 << 21, 1 << 25, 1 << 10
"""A batch has at most `VALUES` values and about `BYTES` bytes, but at least `FEW` records: this bounds memory."""
BLOCK = 1 << 19
"""A block of columns of a batch has at most so many values, if the batch cannot be read at once."""

Told = Callable[[int, int], None]
"""Called with the number of records that are read, and their total. Both are the owner's, and exact."""


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
        reading.compile()

        def work(parts: Iterator[Part], check: Callable[[], None]) -> ExactStatistics:
            counter = reading.counter()
            for batch in reading.batches(parts, check, by_column=True):
                with reading.turn or nullcontext():
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
        self._texts = [name for name in self._names if fields.is_text(name)]
        self._there = [name for name in self._names if name == schema.target or not fields.is_plain(name)]
        self._done, self._lock = 0, threading.Lock()
        self.parts = [part for path in paths for part in _parts(path, self._names, self._there)]
        self._records = sum(part.records for part in self.parts)
        self._threads = max(min(processors(), len(self.parts)), 1)
        self._loops: kernels.Kernels | None = None
        self._left = set[str]()
        self.turn: threading.Semaphore | None = threading.Semaphore(max(self._threads // 2, 1))
        """Held while a batch is counted: numpy takes the lock of Python so often that threads that count at once wait
        for it longer than they count. Reading a batch is one operation, so the others read."""

    def compile(self) -> None:
        """Make the compiled loops if the pass is long enough for them: then columns are counted as fast as they can be
        taken straight from the file, column by column, and nobody needs to wait for a turn."""
        self._loops = kernels.kernels(self._records // BATCH // self._threads)
        if self._loops is not None:
            self.turn = None

    def counter(self) -> BatchCounter:
        """For one thread."""
        return BatchCounter(self._cells, self._schema, self._fields.texts)

    def shared(self, work: Callable[[Iterator[Part], Callable[[], None]], Any]) -> list[Any]:
        """The results of all threads."""
        return share_out(self.parts, work, self._threads)

    def batches(
        self, parts: Iterator[Part], check: Callable[[], None], *, alone: bool = False, by_column: bool = False
    ) -> Iterator[Any]:
        """The batches of some row groups. Where threads are fewer than processors, pyarrow's threads help to read.

        `by_column`: each column of a batch will be asked for once, and is not needed after that.
        """
        helped, memory = alone or self._threads < processors(), PageMemory()
        for part in parts:
            for batch in self._by_column(part, memory) if by_column and not helped else self._of_part(part, helped):
                check()
                yield batch
                del batch  # before the next one is read
            with self._lock:
                self._done += part.records
                if self._told is not None:
                    self._told(self._done, self._records)

    def _by_column(self, part: Part, memory: PageMemory) -> Iterator[Any]:
        """The row group as one batch of whose columns some are read later; or as other batches, if it is too large for
        that, if it can be read at a stroke, or if Arrow gives its texts in several pieces."""
        whole = self._whole(part, memory) if part.is_small and part.records else None
        if whole is None:
            yield from self._of_part(part, helped=False)
        else:
            yield whole

    def _whole(self, part: Part, memory: PageMemory) -> Whole | None:
        """In blocks of columns, of which the first has those that have to be there; None if one would do."""
        try:
            loops = self._loops
            pages = None if loops is None else part.pages(self._fields.types, self._left, loops.runs, memory)
            columns = GroupColumns(part, self._texts, pages)
            there = columns.taken(self._there, kept=True)
            plain = [name for name in self._names if name not in self._there]
            alone = {name for name in plain if columns.may_take(name)}
            others = [name for name in plain if name not in alone]
            held = [name for name in self._there if name not in there]
            fits = part.records * (len(self._there) + len(others)) <= VALUES
            most = max(BLOCK // part.records, 1)
            rest = [] if fits else others[max(most - len(self._there), 0) :]
            later = [*([name] for name in alone), *(rest[start : start + most] for start in range(0, len(rest), most))]
            first = [*held, *(name for name in others if name not in rest)]
            if not there and not later:
                return None
            return Whole(part, there | columns.read(first), later, columns.read, self.turn)
        except Exception:
            return None

    def _of_part(self, part: Part, helped: bool) -> Iterator[Any]:
        """The batches of a row group; where Arrow fails at long texts, the rest of it without dictionaries, few records
        at a time."""
        read = 0
        try:
            for batch in part.batches(part.rows, self._names, self._texts, helped=helped):
                read += batch.num_rows
                yield batch
                del batch
            if read == part.records:  # a damaged page can end a column early
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
        if passed == part.records:
            return
    except GeneratorExit:
        raise
    except Exception:
        pass
    raise FileError(UNREAD)


def _parts(path: Path, names: list[str], there: list[str]) -> Iterator[Part]:
    """The row groups of a file. Only time and memory depend on how they are read.

    `there`: the columns that are held in memory while others are read, one after another.
    """
    metadata = open_parquet(path).metadata
    places = {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}
    known = [name for name in names if name in places]
    if not is_sound(metadata, path.stat().st_size, known, range(metadata.num_row_groups)):
        raise FileError(f"{path} cannot be read as Parquet; check that the file is whole")
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    filled = next((group for group in groups if group.num_rows), None)
    codecs = {} if filled is None else {name: filled.column(places[name]).compression for name in known}
    for group in range(metadata.num_row_groups):
        stored = metadata.row_group(group)
        sizes = {name: stored.column(places[name]).total_uncompressed_size for name in known}
        plain = max(sum(sizes.values()), 1)
        rows = min(BATCH, VALUES // len(names), BYTES * stored.num_rows // plain)
        is_small = stored.num_rows <= BATCH and sum(sizes.get(name, 0) for name in there) <= BYTES
        yield Part(path, group, max(rows, FEW), metadata, places, codecs, is_small)


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
                "make all files alike (folder names such as key=value are not read as columns)"
            )
    return first
