"""Dealing questions: where many parties add noise of their own, each answers a few of the questions, not all.

With N parties and k questions, of which each party answers m at ε/m, a question has N m / k answers. Scaled up to all
parties, a cell's noise has the deviation √(2 N k m) / ε: that of every party answering everything (m = k) is √(k/m)
times as large. The price is that a table is about a part of the records, so that m is larger where parties have many
records: m = ε √(n / (2 N K V)) balances the two, with V = 4 cells. Each question keeps at least `LEAST_ANSWERS`, and
few parties answer everything, since they may be unlike each other. All of it follows from public numbers.
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
LEAST_ANSWERS = 6

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def hand_size(schema: Schema, epsilon: float, parties: int) -> tuple[int, int]:
    """How many questions there are, and how many of them each party answers."""
    per_class = (schema.records or 1) / len(schema.classes)
    loss = effective(epsilon, schema)
    balanced = round(loss * math.sqrt(per_class / (8 * parties)))
    for questions in range(len(schema.columns), 0, -1):
        each = min(questions, max(1, balanced, math.ceil(LEAST_ANSWERS * questions / parties)))
        if per_class * loss / math.sqrt(parties * questions * each) >= LEAST_SIGNAL:
            return questions, each
    return 1, 1


def hand(number: int, questions: int, each: int) -> list[int]:
    """The questions that party `number` answers: dealt in turn, so that all are answered equally often, nearly."""
    return sorted((number * each + place) % questions for place in range(each))


def tables(
    schema: Schema,
    queries: Sequence[TableQuery],
    sums: Sequence[Integers],
    variances: Sequence[float],
    answers: Sequence[int],
    parties: int,
) -> list[tuple[TableQuery, NoisyTable]]:
    """Noisy tables as if all parties had answered everything, from the sums of the answers that each question has.

    A question without an answer is left out. Where all parties have answered everything, the sums are the tables.
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
    """Tables in records, scaled to one number of parties: those who answered may have more or less than their part.

    Each row is scaled to the class count that all tables together give where it stands out of its own noise.
    """
    sums = [table * part for table, part in zip(sums, parts, strict=True)]
    noise = [max(own * part**2, 1e-12) for own, part in zip(variances, parts, strict=True)]
    weights = np.array([1 / (table.shape[1] * own) for table, own in zip(sums, noise, strict=True)])
    pooled = np.stack([table.sum(axis=1) for table in sums], axis=1) @ (weights / weights.sum())
    levels = []
    for table, own in zip(sums, noise, strict=True):
        rows = table.sum(axis=1)
        clear = (rows > 4 * math.sqrt(own * table.shape[1])) & (pooled > 0)
        factor = np.where(clear, np.clip(pooled / np.where(clear, rows, 1.0), 0.25, 4.0), 1.0)
        levels.append((table * factor[:, None], own * float(np.mean(factor**2))))
    return levels
