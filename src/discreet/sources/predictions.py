"""Records marked by a public model: predicted right, predicted wrong, or without a class and not counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.queries.added_scores import AddedScores
from discreet.records.encoding import Cells, Codes, class_codes
from discreet.records.tables import CodedRecords, open_labelled
from discreet.schema import Adjacency, Schema
from discreet.schema.columns import Categorical
from discreet.sources import Source, Task, try_task
from discreet.sources.coding import fold_rows
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.memory import MemorySource

Examples = tuple[Any, Any]
"""A table and its labels; None if the labels are the target column of the table."""

RIGHT, WRONG = "right", "wrong"


def marks(adjacency: Adjacency) -> Schema:
    """The schema of marked records: a column with one constant value, and the mark as the target."""
    return Schema([Categorical("record", ["any"], unlisted=False)], "prediction", [RIGHT, WRONG], adjacency=adjacency)


class MarkedSource:
    """A table that shows only the marks of its records, under the schema `marks`.

    Neighbouring tables have neighbouring marks, because a record's mark is a function of that record alone: each value
    is encoded by itself, and the prediction for a record must not depend on other records. A matrix product is not such
    a function (its rounding depends on the number of rows); `singly` is for models that use one.

    Parameters
    ----------
    predict : takes a mapping of columns, returns the predicted class of each record.
    schema : the public schema of the table.
    structure : the table, or a table without records that has the same columns.
    blocks : returns the records, in blocks.
    singly : whether to predict one record at a time.
    """

    def __init__(
        self,
        predict: Callable[[Any], NDArray[Any]],
        schema: Schema,
        structure: Examples,
        blocks: Callable[[], Iterable[Examples]],
        *,
        singly: bool,
    ) -> None:
        self._predict, self._schema, self._structure, self._blocks = predict, schema, structure, blocks
        self._singly = singly

    def __repr__(self) -> str:
        return "MarkedSource(values hidden)"

    def check(self, schema: Schema) -> None:
        """Check columns and lengths of the table itself; no value is looked at."""
        open_labelled(*self._structure, self._schema)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count the marks, block by block."""
        counted = MemorySource({"record": []}, []).count(cells, schema)
        for source in self._marked():
            counted += source.count(cells, schema)
        return counted

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """The marks as codes, block by block."""
        for source in self._marked():
            yield from source.rows(cells, schema)

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Add up block by block."""
        return fold_rows(self.rows(cells, schema), task)

    def _marked(self) -> Iterator[MemorySource]:
        for block in self._blocks():
            columns, labels = self._read(block)
            true = class_codes(labels, self._schema)
            words = np.array([RIGHT, WRONG, None], dtype=object)
            is_class, is_right = true < len(self._schema.classes), self._predicted(columns, len(true)) == true
            yield MemorySource(
                {"record": np.full(len(true), "any", dtype=object)},
                words[np.where(is_class, np.where(is_right, 0, 1), 2)],
            )

    def _predicted(self, columns: dict[str, NDArray[Any]], rows: int) -> NDArray[Any]:
        if not self._singly or rows == 0:
            return class_codes(self._predict(columns), self._schema)
        each = [self._predict({name: values[row : row + 1] for name, values in columns.items()}) for row in range(rows)]
        return class_codes(np.concatenate(each), self._schema)

    def _read(self, block: Examples) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
        """Columns and labels. A model may refuse a list of records for what one record lacks, but not columns."""
        table, labels = open_labelled(*block, self._schema)
        return {name: table.column(name) for name in self._schema.names}, labels.read()


@dataclass(frozen=True, repr=False)
class Marking:
    """Counts the records of a block that a model predicts right, and wrong; those without a class are neither.

    Parameters
    ----------
    predict : takes coded records, returns the position of the predicted class of each.
    classes : number of classes.
    scores : the same model as sums, for engines that add up in SQL.
    """

    predict: Callable[[CodedRecords], Codes]
    classes: int
    scores: AddedScores | None = None

    @property
    def size(self) -> int:
        """Two numbers."""
        return 2

    def __call__(self, block: ExactRows) -> NDArray[np.int64]:
        """The number of right ones and of wrong ones."""
        is_right = self.predict(CodedRecords(block.codes, len(block.labels))) == block.labels
        is_class = block.labels < self.classes
        return np.array([(is_right & is_class).sum(), (~is_right & is_class).sum()], dtype=np.int64)


class MarkedTable:
    """A table of any engine that shows only how many of its records a public model predicts right, and wrong.

    Records are marked where they are, and only two numbers come back. A record's mark is a function of its codes alone
    (see MarkedSource): so this is for models whose predictions depend on single records and on codes, to the last bit.

    Parameters
    ----------
    source : the table; columns that are not in the schema are not read.
    predict : takes coded records, returns the position of the predicted class of each.
    cells : the cells whose codes the model asks about.
    schema : the public schema of the table.
    scores : the same model as sums, for engines that add up in SQL.
    """

    def __init__(
        self,
        source: Source,
        predict: Callable[[CodedRecords], Codes],
        cells: Sequence[Cells],
        schema: Schema,
        scores: AddedScores | None = None,
    ) -> None:
        self._source, self._cells, self._own = source, tuple(cells), schema
        self._task = Marking(predict, len(schema.classes), scores)

    def __repr__(self) -> str:
        return "MarkedTable(values hidden)"

    def check(self, schema: Schema) -> None:
        """Check the columns of the table itself, and that the model can be used there; no value is looked at."""
        self._source.check(self._known())
        try_task(self._source, self._task)

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count the marks, where the records are."""
        counted = self._source.fold(self._cells, self._known(), self._task).reshape(2, 1)
        return ExactStatistics(dict.fromkeys(cells, counted))

    def rows(self, cells: Sequence[Cells], schema: Schema) -> NoReturn:
        """Refused: marks are counted, and not shown one by one."""
        raise TypeError("marks can be counted only")

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NoReturn:
        """Refused."""
        raise TypeError("marks can be counted only")

    def _known(self) -> Schema:
        """The schema, with all other columns of the table to be ignored."""
        return ignoring_others(self._own, self._source)


def ignoring_others(schema: Schema, source: Source) -> Schema:
    """The schema, with all columns of the table that it does not know to be ignored; for sources that name columns."""
    names: list[str] = getattr(source, "columns", list)()
    return schema.replace(ignore=[name for name in names if name not in schema.all_names])
