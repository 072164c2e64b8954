"""Models that look up each attribute's cell in a table and add up what they find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.models.explanation import Evidence
from discreet.records.encoding import Cells
from discreet.records.tables import Table, check_records
from discreet.schema import Schema
from discreet.schema.columns import Categorical, text_of
from discreet.sources.memory import BLOCK

Matrix = NDArray[np.float64]

SHOWN_BINS = 8
"""Intervals in which a normal law is shown."""


@dataclass(frozen=True)
class Attribute:
    """One attribute: log-probabilities (classes by published cells) and what to add for each encoded cell and class."""

    cells: Cells
    log_table: Matrix
    by_cell: Matrix

    def evidence(self, schema: Schema) -> Evidence:
        """The attribute as it is explained: probabilities of named cells in each class."""
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
        names = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges)]
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return Evidence(column.name, tuple(names), probabilities, ordered=True)


@dataclass(frozen=True)
class Model:
    """The log-prior of the classes and one attribute each; their sum is the log-probability of class and record."""

    log_prior: Matrix
    attributes: tuple[Attribute, ...]

    def in_order(self, places: list[int]) -> Model:
        """The same model with its classes in another order."""
        attributes = tuple(
            Attribute(each.cells, each.log_table[places], np.ascontiguousarray(each.by_cell[:, places]))
            for each in self.attributes
        )
        return Model(self.log_prior[places], attributes)

    def joint(self, X: Any, schema: Schema) -> Iterator[Matrix]:
        """Log-probabilities of class and record, a block of rows at a time: memory stays flat."""
        check_records(X, schema)
        table = Table(X, schema)
        table.check(schema)
        columns = [(table.column(each.cells.column), each) for each in self.attributes]
        for start in range(0, table.rows, BLOCK):
            rows = slice(start, min(start + BLOCK, table.rows))
            joint = np.tile(self.log_prior, (rows.stop - rows.start, 1))
            evidence = np.empty_like(joint)
            for values, attribute in columns:
                codes = attribute.cells.codes(values[rows], schema)
                # no code is out of range; with mode="clip" numpy does not check it again, and is much faster
                np.take(attribute.by_cell, codes, axis=0, out=evidence, mode="clip")
                joint += evidence
            yield joint


def sorted_classes(schema: Schema) -> tuple[NDArray[Any], list[int]]:
    """The classes as scikit-learn has them, sorted, and where each stands in the schema.

    Its metrics take the columns of `predict_proba` to be in sorted order, whatever `classes_` says.
    """
    labels = schema.classes
    try:
        places = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # texts and numbers have no order: by their spelling
        places = sorted(range(len(labels)), key=lambda place: text_of(labels[place]))
    kind = None if len({type(label) for label in labels}) == 1 else object
    return np.array([labels[place] for place in places], dtype=kind), places


def normalised(joint: Matrix) -> Matrix:
    """Log-probabilities of the classes given each record."""
    joint = joint - joint.max(axis=1, keepdims=True)
    return np.asarray(joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))
