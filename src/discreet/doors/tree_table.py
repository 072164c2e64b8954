"""The records that a tree is grown on: held in memory if they are few, else read again for each level."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.doors.gathering import gather_few
from discreet.doors.passage import Passes
from discreet.doors.tree_folds import TreeFolds
from discreet.doors.tree_records import TreeRecords
from discreet.doors.tree_rows import TreeRows
from discreet.records.encoding import Cells
from discreet.schema import Schema


def held_or_folded(passes: Passes, cells: Sequence[Cells], schema: Schema) -> TreeRecords:
    """The records with one of the classes; what plans are answered is the same either way."""
    held = gather_few(passes, cells, schema)
    classes = len(schema.classes)
    return TreeFolds(passes, classes) if held is None else TreeRows(*held, classes)
