"""A public model as sums: what each cell of a record adds to the score of each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.queries.trees import Tree
from discreet.records.encoding import Cells

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AddedScores:
    """The score of a class is its constant, plus what the cell of the record in each group adds, one after another, in
    floating point, divided by a number at the end. The first class with the largest score is predicted.

    A group is the cells of a column, or the leaves of a tree; its table has a row for each cell and a column for each
    class. `positions` are those of the classes in the schema.
    """

    constants: Matrix
    groups: tuple[tuple[Cells | Tree, Matrix], ...]
    divisor: float
    positions: tuple[int, ...]
