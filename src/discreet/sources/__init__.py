"""Engines that count private records: memory, files, DuckDB, Arrow; exact answers stay here and in doors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.exact import ExactRows, ExactStatistics

if TYPE_CHECKING:
    from discreet.records.values import Columns  # workers of Spark load this module, and need not have all packages


class Task(Protocol):
    """What is added up over the records: a frozen dataclass of public things, so that it can be sent to where they are.

    It is pure: the answer for a block depends on the records of the block alone, and the answers for two blocks add up
    to the answer for both together, in any order.
    """

    @property
    def size(self) -> int:
        """Length of the answer; public."""
        ...

    def __call__(self, block: ExactRows) -> NDArray[np.int64]:
        """The answer for some records."""
        ...


class Source(Protocol):
    """A table about people, wherever it is stored.

    Guarantee  the privacy loss of a model is at most the sum of the losses of its passes over the table, even if the
               table changes between passes.
    Proof      each call of `count`, `rows` or `fold` is one pass, and is paid for before it starts. Its answer, with
               the noise of the door that asked, is ε_j-DP in the table that this pass reads (its snapshot, for an
               engine that has snapshots). Neighbours are two histories of the table that differ in one record: in each
               pass that record is there or not, and all other records are the same in both histories. So the two tables
               of each pass are neighbours or equal, whatever else was added meanwhile, and losses add. (Sequential
               composition allows the next query, and the next table, to depend on earlier answers, if the table is not
               changed because of the record's presence.) No pass relies on what another pass found: no number of
               records, no order, no set of categories. The types of columns are structure, read when the source is
               opened. Where one reading takes several passes, all of them meet one state, or the fit fails (`Passes` in
               doors/passage.py).
    Rests on   each pass reading one state of the table: a file that is written to while it is read, or a table in
               memory that another thread changes, is not covered.
    Test       tests/sources/test_sources_agree.py::test_a_table_that_changes_between_passes_is_counted_anew
    """

    def check(self, schema: Schema) -> None:
        """Raise DataError if the columns do not fit the schema. Looks at structure only, never at a value."""
        ...

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count the records of each class in each cell. Never fails on a value."""
        ...

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """The codes of each record, in blocks, for learners that need more than counts. Never fails on a value."""
        ...

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Add up what the task answers for blocks of coded records, where they live. Never fails on a value.

        Integers add exactly and in any order, so all engines give the same answer. No block outlives its turn.
        """
        ...


class Records(Protocol):
    """A source whose records can be read as they are, by and for their owner: to predict the class of each.

    Nothing that is read so is covered by a guarantee.
    """

    def structure(self) -> Columns:
        """The columns without a record: names and types; no value is read."""
        ...

    def values(self, names: Sequence[str], numbers: Collection[str] = ()) -> Iterator[Columns]:
        """The values of some columns, a block of records at a time, in their order, if they have one.

        Texts in the columns `numbers` may come as the numbers that they stand for.
        """
        ...


def as_records(source: Source) -> Records:
    """The source, if its records can be read as they are; else ParameterError."""
    if not hasattr(source, "values"):
        raise ParameterError("records of this kind of table cannot be read one by one; write it to a Parquet file")
    check_rows(source)
    records: Records = source  # type: ignore[assignment]
    return records


def as_declared(source: Source, schema: Schema) -> Source:
    """The source, read in the dialect of the schema if it is a CSV file that was opened without one."""
    declared: Source = getattr(source, "declared", lambda _: source)(schema.dialect)
    return declared


def finish(source: Source) -> None:
    """Tell a source that a fit has ended, if it wants to know: one that holds a snapshot lets it go."""
    getattr(source, "finish", lambda: None)()


def try_task(source: Source, task: Task) -> None:
    """Raise FileError if a task cannot be sent to where the records are; before the charge, and no record is read."""
    getattr(source, "try_task", lambda _: None)(task)


def check_rows(source: Source, *, sums: bool = False, scores: int = 0) -> None:
    """Raise ParameterError if the source gives counts only; for learners that need more, before anything is charged.

    `sums`: whether the learner can do with sums over records, by `fold`, in several passes; `scores`: how many columns
    and classes take part in scores of records.
    """
    if sums and sums_only(source):
        getattr(source, "check_sums", lambda _: None)(scores)
    else:
        getattr(source, "check_rows", lambda: None)()


def sums_only(source: Source) -> bool:
    """Whether records stay where they are, and only sums over them come back: `fold` will do, but `rows` will not."""
    return bool(getattr(source, "sums_only", False))


def state_of(source: Source) -> object | None:
    """The snapshot that passes of the source read at present, if its engine keeps one for it; else None.

    Two passes between which it was the same object have met the same records.
    """
    state: object | None = getattr(source, "state", None)
    return state


__all__ = [
    "Records",
    "Source",
    "Task",
    "as_declared",
    "as_records",
    "check_rows",
    "finish",
    "state_of",
    "sums_only",
    "try_task",
]
