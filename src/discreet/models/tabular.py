"""Models that look up the cell of each column in a table and add up the scores that they find there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.models.explanation import Evidence
from discreet.queries.hyperplanes import spelled
from discreet.records.encoding import Cells, label_array
from discreet.records.tables import open_records
from discreet.schema import Schema
from discreet.schema.columns import Categorical, text_of
from discreet.sources.memory import BLOCK

Matrix = NDArray[np.float64]

LEAST_PSEUDO_RECORDS = 1e-3
"""Pseudo-records per count where there is no noise: they keep logarithms finite."""
SHOWN_BINS = 8
"""Number of intervals in which `explain` shows a normal law: as many as bars that are easy to compare."""


@dataclass(frozen=True)
class ColumnScores:
    """One column: log-probabilities (classes by published cells), and the score of each encoded cell for each class."""

    cells: Cells
    log_table: Matrix
    by_cell: Matrix

    def evidence(self, schema: Schema) -> Evidence:
        """The column as `explain` shows it: the probability of each named cell in each class."""
        column = schema[self.cells.column]
        probabilities = np.exp(self.log_table)
        if isinstance(column, Categorical):
            names = [str(label) for label in column.categories] + ["(unlisted)"] * column.unlisted
            return Evidence(column.name, tuple(names), probabilities)
        if probabilities.shape[1] > 2 * SHOWN_BINS and self.cells.bins is None:
            shown = [part.sum(axis=1) for part in np.array_split(probabilities, SHOWN_BINS, axis=1)]
            probabilities = np.stack(shown, axis=1)
        probabilities = np.maximum(probabilities, 1e-12)
        edges = np.linspace(column.lower, column.upper, probabilities.shape[1] + 1)
        names = [f"{spelled(low)} to {spelled(high)}" for low, high in pairwise(edges)]
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return Evidence(column.name, tuple(names), probabilities, ordered=True)


@dataclass(frozen=True)
class Model:
    """Log-prior of the classes and scores of each column, which add up to the log-probability of class and record."""

    log_prior: Matrix
    columns: tuple[ColumnScores, ...]

    def in_order(self, places: list[int]) -> Model:
        """The same model with its classes in another order."""
        columns = tuple(
            ColumnScores(each.cells, each.log_table[places], np.ascontiguousarray(each.by_cell[:, places]))
            for each in self.columns
        )
        return Model(self.log_prior[places], columns)

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells whose codes decide."""
        return tuple(each.cells for each in self.columns)

    @property
    def added(self) -> tuple[Matrix, tuple[tuple[Cells, Matrix], ...]]:
        """What `joint` adds up, in its order."""
        return self.log_prior, tuple((each.cells, each.by_cell) for each in self.columns)

    def joint(self, X: Any, schema: Schema) -> Iterator[Matrix]:
        """Yield log-probabilities of class and record, one block of rows at a time, so that memory use stays flat."""
        table = open_records(X, schema)
        columns = [(table.coder(each.cells, schema), each) for each in self.columns]
        for start in range(0, table.rows, BLOCK):
            rows = slice(start, min(start + BLOCK, table.rows))
            joint = np.tile(self.log_prior, (rows.stop - rows.start, 1))
            evidence = np.empty_like(joint)
            for encode, column in columns:
                codes = encode(rows)
                # every code is in range; mode="clip" only keeps numpy from checking again, which is much faster
                np.take(column.by_cell, codes, axis=0, out=evidence, mode="clip")
                joint += evidence
            yield joint


def sorted_classes(schema: Schema) -> tuple[NDArray[Any], list[int]]:
    """Return the classes in sorted order, and the schema position of each.

    scikit-learn's metrics expect the columns of `predict_proba` in sorted order, whatever `classes_` says.
    """
    labels = schema.classes
    try:
        places = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # texts and numbers together have no order: sort by spelling
        places = sorted(range(len(labels)), key=lambda place: text_of(labels[place]))
    return label_array([labels[place] for place in places]), places


def normalised(joint: Matrix) -> Matrix:
    """Turn log-probabilities of class and record into log-probabilities of the class given the record."""
    joint = joint - joint.max(axis=1, keepdims=True)
    return np.asarray(joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))
