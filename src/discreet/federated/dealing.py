"""Dealing questions: where many parties add noise of their own, each party answers some of the questions only.

With N parties and k questions, if each party answers m of them at ε/m, each question has N m / k answers. Scaled up to
all parties, the noise of a cell has the standard deviation √(2 N k m) / ε. If every party answered everything, it
would be √(2 N) k / ε, which is √(k/m) times as large. The price: each table is about a part of the records only. So m
is larger if parties have many records: m = ε √(n / (2 N K V)), with K classes and V = 4 cells, balances the two. Each
question gets at least `LEAST_ANSWERS` answers. With few parties each answers everything, since they may be unlike each
other. All of this follows from public numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.models.naive_bayes.plan import LEAST_SIGNAL, effective
from discreet.queries.tables import TableQuery
from discreet.released.statistics import NoisyTable
from discreet.schema import Schema

FEWEST_PARTIES = 60
"""With fewer parties every party answers every question; chosen by hand."""
LEAST_ANSWERS = 6
"""Each question is answered by at least this many parties; chosen by hand."""
CLEAR = 4
"""A row is scaled only if it is at least this many standard deviations of its noise above zero."""
FACTOR = 4.0
"""A row is scaled by at most this factor, up or down."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def hand_size(schema: Schema, epsilon: float, parties: int) -> tuple[int, int]:
    """The number of questions, and the number of them that each party answers."""
    per_class = (schema.records or 1) / len(schema.classes)
    effective_epsilon = effective(epsilon, schema)
    balanced = round(effective_epsilon * math.sqrt(per_class / (8 * parties)))
    for questions in range(len(schema.columns), 0, -1):
        each = min(questions, max(1, balanced, math.ceil(LEAST_ANSWERS * questions / parties)))
        if per_class * effective_epsilon / math.sqrt(parties * questions * each) >= LEAST_SIGNAL:
            return questions, each
    return 1, 1


def hand(number: int, questions: int, each: int) -> list[int]:
    """The questions that party `number` answers: dealt in turn, so all have the same number of answers, or one less."""
    return sorted((number * each + place) % questions for place in range(each))


def tables(
    schema: Schema,
    queries: Sequence[TableQuery],
    sums: Sequence[Integers],
    variances: Sequence[float],
    answers: Sequence[int],
    parties: int,
) -> list[tuple[TableQuery, NoisyTable]]:
    """Noisy tables as if all parties had answered everything, from the sum of the answers to each question.

    A question without an answer is left out. If all parties have answered everything, the sums are the tables.
    """
    asked = [place for place, count in enumerate(answers) if count]
    if min(answers) == parties:
        return [(queries[place], NoisyTable(sums[place], variances[place])) for place in asked]
    units = [queries[place].unit(schema) for place in asked]
    levels = _levelled(
        [sums[place] / unit for place, unit in zip(asked, units, strict=True)],
        [variances[place] / unit**2 for place, unit in zip(asked, units, strict=True)],
        [parties / answers[place] for place in asked],
    )
    return [
        (queries[place], NoisyTable(np.rint(table * unit).astype(np.int64), variance * unit**2))
        for place, unit, (table, variance) in zip(asked, units, levels, strict=True)
    ]


def _levelled(sums: list[Floats], variances: list[float], parts: list[float]) -> list[tuple[Floats, float]]:
    """Tables in records, each scaled up to all parties: those that answered may have more or fewer records than others.

    A row that is clearly above its noise is then scaled to the class count that all tables together give.
    """
    sums = [table * part for table, part in zip(sums, parts, strict=True)]
    noise = [max(own * part**2, 1e-12) for own, part in zip(variances, parts, strict=True)]
    weights = np.array([1 / (table.shape[1] * own) for table, own in zip(sums, noise, strict=True)])
    pooled = np.stack([table.sum(axis=1) for table in sums], axis=1) @ (weights / weights.sum())
    levels = []
    for table, own in zip(sums, noise, strict=True):
        rows = table.sum(axis=1)
        clear = (rows > CLEAR * math.sqrt(own * table.shape[1])) & (pooled > 0)
        factor = np.where(clear, np.clip(pooled / np.where(clear, rows, 1.0), 1 / FACTOR, FACTOR), 1.0)
        levels.append((table * factor[:, None], own * float(np.mean(factor**2))))
    return levels
