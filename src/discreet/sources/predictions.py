"""Records marked by a public model: their true and their predicted class, or without a class and not counted."""

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
from discreet.sources.exact import ExactRows, ExactStatistics

Examples = tuple[Any, Any]
"""A table and its labels; None if the labels are the target column of the table."""

RIGHT, WRONG = "right", "wrong"
RECORD, PAIR = Cells("record"), Cells("pair")
"""The cells of marked records: all together, and one for each pair of true and predicted class."""


def marks(adjacency: Adjacency, classes: int = 0) -> Schema:
    """The schema of marked records: a column with one constant value, and as the target whether they are right.

    With a number of classes, there is a column for the pair of true and predicted class too, true ones in order.
    """
    columns = [Categorical(RECORD.column, ["any"], unlisted=False)]
    if classes:
        columns.append(Categorical(PAIR.column, pairs(classes), unlisted=False))
    return Schema(columns, "prediction", [RIGHT, WRONG], adjacency=adjacency)


def pairs(classes: int) -> list[str]:
    """The names of the pairs, the true class first."""
    return [f"{true} as {predicted}" for true in range(classes) for predicted in range(classes)]


def tabulated(exact: NDArray[np.int64], cells: Sequence[Cells]) -> ExactStatistics:
    """The exact counts by true and predicted class as the tables of marked records: by right and wrong, and cell."""
    is_right = np.eye(len(exact), dtype=bool)
    both = np.stack([np.where(is_right, exact, 0).ravel(), np.where(is_right, 0, exact).ravel()])
    tables = {RECORD: both.sum(axis=1, keepdims=True), PAIR: both}
    return ExactStatistics({each: tables[each] for each in cells})


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
        classes = len(self._schema.classes)
        exact = np.zeros((classes, classes), dtype=np.int64)
        for true, predicted in self._marked():
            exact += counted_pairs(true, predicted, classes)
        return tabulated(exact, cells)

    def rows(self, cells: Sequence[Cells], schema: Schema) -> NoReturn:
        """Refused: marks are counted, and not shown one by one."""
        raise TypeError("marks can only be counted")

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NoReturn:
        """Refused."""
        raise TypeError("marks can only be counted")

    def _marked(self) -> Iterator[tuple[Codes, Codes]]:
        for block in self._blocks():
            columns, labels = self._read(block)
            true = class_codes(labels, self._schema)
            yield true, self._predicted(columns, len(true))

    def _predicted(self, columns: dict[str, NDArray[Any]], rows: int) -> NDArray[Any]:
        if not self._singly or rows == 0:
            return class_codes(self._predict(columns), self._schema)
        each = [self._predict({name: values[row : row + 1] for name, values in columns.items()}) for row in range(rows)]
        return class_codes(np.concatenate(each), self._schema)

    def _read(self, block: Examples) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
        """Columns and labels. A model may refuse a list of records for what one record lacks, but not columns."""
        table, labels = open_labelled(*block, self._schema)
        return {name: table.column(name) for name in self._schema.names}, labels.read()


def counted_pairs(
    true: NDArray[Any], predicted: NDArray[Any], classes: int, outcomes: int | None = None
) -> NDArray[np.int64]:
    """How many records have each pair of true and predicted class (true by predicted); others are not counted.

    `outcomes` is how many values a prediction may have, if it is not a class.
    """
    outcomes = classes if outcomes is None else outcomes
    is_class = true < classes
    places = true[is_class].astype(np.int64) * outcomes + predicted[is_class]
    return np.bincount(places, minlength=classes * outcomes).astype(np.int64).reshape(classes, outcomes)


@dataclass(frozen=True, repr=False)
class Marking:
    """Counts the records of a block by true and predicted class; those without a class are not counted.

    Parameters
    ----------
    predict : takes coded records, returns the position of the predicted class of each.
    classes : number of classes.
    scores : the same model as sums, for engines that add up in SQL.
    values : how many values a prediction may have; None for one per class.
    """

    predict: Callable[[CodedRecords], Codes]
    classes: int
    scores: AddedScores | None = None
    values: int | None = None

    @property
    def outcomes(self) -> int:
        """How many values a prediction may have."""
        return self.classes if self.values is None else self.values

    @property
    def size(self) -> int:
        """A number for each pair of true and predicted class."""
        return self.classes * self.outcomes

    def __call__(self, block: ExactRows) -> NDArray[np.int64]:
        """The number of records with each pair, true classes in order."""
        predicted = self.predict(CodedRecords(block.codes, len(block.labels)))
        return counted_pairs(block.labels, predicted, self.classes, self.outcomes).ravel()


class MarkedTable:
    """A table of any engine that shows only how many of its records a public model predicts as what.

    Records are marked where they are, and only a number for each pair of true and predicted class comes back. A
    record's mark is a function of its codes alone (see MarkedSource): so this is for models whose predictions depend on
    single records and on codes, to the last bit.

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
        classes = self._task.classes
        return tabulated(self._source.fold(self._cells, self._known(), self._task).reshape(classes, classes), cells)

    def rows(self, cells: Sequence[Cells], schema: Schema) -> NoReturn:
        """Refused: marks are counted, and not shown one by one."""
        raise TypeError("marks can only be counted")

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NoReturn:
        """Refused."""
        raise TypeError("marks can only be counted")

    def _known(self) -> Schema:
        """The schema, with all other columns of the table to be ignored."""
        return ignoring_others(self._own, self._source)


def ignoring_others(schema: Schema, source: Source) -> Schema:
    """The schema, with all columns of the table that it does not know to be ignored; for sources that name columns."""
    names: list[str] = getattr(source, "columns", list)()
    return schema.replace(ignore=[name for name in names if name not in schema.all_names])
