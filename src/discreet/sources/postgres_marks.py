"""How many records of each class a public model predicts as which, in PostgreSQL's SQL: only these numbers come back.

Guarantee  the numbers are those that the model's own predictions give, and no value makes the statement fail.
Proof      codes and leaves are those of the encoding (postgres_coded.py). Scores are the same float operations in the
           same order, which PostgreSQL rounds as IEEE 754 says. It raises an error where one overflows, or where a
           quotient of a number that is not 0 becomes 0; `check` refuses models with which this could happen: all that
           is added is 0 or between 2**-900 and 2**900 in size, so sums of fewer than 2**17 are below 2**917, and are
           multiples of 2**-952: dividing by a number between 2**-50 and 2**50 stays far from both ends.
Test       tests/engines/test_postgres_other_commands.py::test_accuracies_are_those_in_memory
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.queries.added_scores import AddedScores
from discreet.queries.trees import Tree
from discreet.schema import Schema
from discreet.sources.postgres_coded import CodedTable, leaf_of, listed
from discreet.sources.postgres_sql import double
from discreet.sources.predictions import Marking

SMALL, LARGE, DIVISOR = 2.0**-900, 2.0**900, 2.0**50
"""Bounds of what is added, and of what is divided by (proof above)."""
MOST_CLASSES = 1000
"""PostgreSQL allows 1664 columns."""
MOST_NUMBERS = 1 << 21
"""The most numbers of a model that are sent: some tens of megabytes."""
UNSUITABLE = (
    "this model's scores cannot be computed inside PostgreSQL, and no row leaves the database unless its owner allows "
    "it; allow it by --stream (stream=True)"
)


def check(task: Marking) -> None:
    """Raise ParameterError if the model cannot be evaluated in SQL; it is public, and nothing is read."""
    scores = task.scores
    if scores is None or not _is_suitable(scores):
        raise ParameterError(UNSUITABLE)


def _is_suitable(scores: AddedScores) -> bool:
    tables = [scores.constants, *(table for _, table in scores.groups)]
    sizes = np.abs(np.concatenate([table.ravel() for table in tables]))
    in_bounds = bool(((sizes == 0) | ((sizes >= SMALL) & (sizes <= LARGE))).all())
    few = len(scores.constants) <= MOST_CLASSES and len(tables) < 2**17 and len(sizes) <= MOST_NUMBERS
    return in_bounds and few and 1 / DIVISOR <= scores.divisor <= DIVISOR


def marked(table: CodedTable, task: Marking, schema: Schema) -> NDArray[np.int64]:
    """The number of records with each pair of true and predicted class, true ones in order."""
    check(task)
    scores = task.scores
    assert scores is not None, "checked"
    read = [cells for group, _ in scores.groups for cells in (group.cells if isinstance(group, Tree) else [group])]
    coded = table.select(read, schema)
    cells = [
        leaf_of(group, coded.names, range(group.leaves)) if isinstance(group, Tree) else coded.names[group]
        for group, _ in scores.groups
    ]
    named = "".join(f", {cell} AS g{place}" for place, cell in enumerate(cells))
    celled = f"SELECT y{named} FROM ({coded.text}) AS coded WHERE y < {task.classes} OFFSET 0"
    classes = range(len(scores.constants))
    summed = ", ".join(f"{_score(scores, place)} AS s{place}" for place in classes)
    scored = f"SELECT y, {summed} FROM ({celled}) AS celled OFFSET 0"
    largest = f"greatest({', '.join(f's{place}' for place in classes)})"
    chosen = f"SELECT *, {largest} AS largest FROM ({scored}) AS scored OFFSET 0"
    cases = " ".join(f"WHEN s{place} = largest THEN {scores.positions[place]}" for place in classes)
    marks = f"SELECT y * {task.outcomes} + (CASE {cases} END) AS pair FROM ({chosen}) AS chosen OFFSET 0"
    text = f"SELECT pair, count(*) FROM ({marks}) AS marks GROUP BY pair"
    counted = np.zeros(task.size, dtype=np.int64)
    for rows in table.fetch(text, coded.values):
        for pair, number in rows:
            counted[int(pair)] = int(number)
    return counted


def _score(scores: AddedScores, place: int) -> str:
    """The score of a class, added up from the left."""
    added = [listed(by_cell[:, place].tolist(), f"g{k}", "float8") for k, (_, by_cell) in enumerate(scores.groups)]
    total = " + ".join([double(float(scores.constants[place])), *added])
    return total if scores.divisor == 1 else f"({total}) / {double(float(scores.divisor))}"
