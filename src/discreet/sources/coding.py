"""Counts, rows and sums from blocks of encoded records, for the sources that encode records themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.records.encoding import Cells, Codes
from discreet.schema import Schema
from discreet.sources import Task
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.joint import JointCounter

CodedBlock = tuple[Callable[[Cells], Codes], Codes]
"""A block of records: a function that encodes them (a new array at each call), and the class code of each record."""


def count_blocks(blocks: Iterable[CodedBlock], cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
    """The records of each class in each cell, added over the blocks: linear in rows and columns."""
    classes, sizes = len(schema.classes), {each: each.size(schema) for each in cells}
    counts = {each: np.zeros((classes + 1, size), dtype=np.int64) for each, size in sizes.items()}
    joint = JointCounter(classes + 1, wide=(classes + 1) * max(sizes.values(), default=0) >= 2**31)
    for encode, label in blocks:
        joint.begin(label)
        for each, size in sizes.items():
            joint.add_places(counts[each], size, encode(each), None)
        joint.end()
    return ExactStatistics({each: table[:classes] for each, table in counts.items()})


def rows_of_blocks(blocks: Iterable[CodedBlock], cells: Sequence[Cells]) -> Iterator[ExactRows]:
    """The codes of each record, block by block, in two bytes each."""
    for encode, label in blocks:
        yield ExactRows({each: encode(each).astype(np.uint16) for each in cells}, label.astype(np.uint16))


def fold_rows(blocks: Iterable[ExactRows], task: Task) -> NDArray[np.int64]:
    """What the task answers for each block, added up."""
    total = np.zeros(task.size, dtype=np.int64)
    for block in blocks:
        total += task(block)
    return total
