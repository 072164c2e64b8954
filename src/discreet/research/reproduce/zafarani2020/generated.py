"""Time and accuracy on a generated table of the size and shape of the census extracts, which are not available here.

Everything in it is made up. Given the class, columns are independent, so naive Bayes is the right model: the table
shows how noise and time depend on the number of records, not how well incomes can be predicted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.randomness import search_generator
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.study import Factory
from discreet.research.reproduce.zafarani2020.models import FIGURES
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

STATES = ("nevada", "wyoming", "oregon", "washington")
CATEGORIES = (2, 5, 6, 7, 8, 14, 16, 41)
"""Numbers of categories: those of the data set Adult, whose columns the paper picks from the census."""
NUMBERS = 5
"""Number of numeric columns: Adult has six, but a census has no sampling weight."""
UPPER_CLASS = 0.4
"""Fraction of records above the mean income; incomes are skewed, so it is below one half."""

QUICK_ROWS, TESTED = 20_000, 20_000
EPSILONS, TIMED = (0.01, 0.1, 1.0), 0.1


class TimedFit(NamedTuple):
    """One fit: its accuracy on records that it has not seen, and its seconds of processor time."""

    rows: int
    model: str
    epsilon: float
    accuracy: float
    seconds: float


def sizes(full: bool) -> list[int]:
    """Numbers of records: those of the states and a smaller one; in the quick part, two small ones."""
    said = {row.data: int(row.value) for row in printed("zafarani2020", "Table 1") if row.model == "records"}
    return [QUICK_ROWS, *(said[state] for state in STATES)] if full else [QUICK_ROWS // 10, QUICK_ROWS]


def schema(rows: int) -> Schema:
    """The public schema of the generated table; the number of records is chosen, hence public."""
    numbers = [Numeric(f"number_{place}", 0, 100) for place in range(NUMBERS)]
    lists = [Categorical(f"category_{size}", list(range(size))) for size in CATEGORIES]
    return Schema([*numbers, *lists], "above_mean", [0, 1], records=rows)


def generated(rows: int, seed: int) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Columns and labels: normal numbers, one skewed number that is mostly zero, and unequally frequent categories."""
    source = search_generator(seed)
    labels = (source.random(rows) < UPPER_CLASS).astype(np.int64)
    columns: dict[str, NDArray[Any]] = {}
    for place in range(NUMBERS):
        values = source.normal(45 + 3 * (place + 1) * labels, 15 + 2 * place)
        if place == NUMBERS - 1:
            values = np.where(source.random(rows) < 0.9 - 0.1 * labels, 0.0, source.exponential(15.0, rows))
        columns[f"number_{place}"] = np.clip(values, 0, 100)
    for size in CATEGORIES:
        places = np.arange(size)
        laws = [np.exp(-places / (0.3 * size)), np.exp(-places / (0.45 * size))]
        steps = [np.cumsum(law / law.sum()) for law in laws]
        draws = source.random(rows)
        codes = [np.minimum(np.searchsorted(step, draws), size - 1) for step in steps]
        columns[f"category_{size}"] = np.where(labels == 1, codes[1], codes[0])
    return columns, labels


def measure(
    numbers: Sequence[int], epsilons: Sequence[float] = EPSILONS, models: Mapping[str, Factory] | None = None
) -> list[TimedFit]:
    """Fit each model at each epsilon and without noise on these numbers of records; test all on the same others."""
    tested, answers = generated(TESTED, seed=1)
    found = []
    for rows in numbers:
        columns, labels = generated(rows, seed=0)
        for name, family in (models or FIGURES).items():
            for seed, epsilon in enumerate([*epsilons, math.inf]):
                model = family(schema(rows), epsilon=epsilon, random_state=seed)
                start = time.process_time()
                model.fit(columns, labels)
                took = time.process_time() - start
                accuracy = float((model.predict(tested).astype(np.int64) == answers).mean())
                found.append(TimedFit(rows, name, epsilon, accuracy, took))
    return found


@lru_cache(maxsize=2)
def measured(full: bool) -> tuple[TimedFit, ...]:
    """The fits of all sizes, measured once per process."""
    return tuple(measure(sizes(full)))


def majority() -> float:
    """The fraction of the test records that are in the larger class."""
    return float(max(np.bincount(generated(TESTED, seed=1)[1])) / TESTED)


def seconds(found: Sequence[TimedFit], model: str) -> dict[int, float]:
    """Processor time of a fit at epsilon `TIMED` by number of records."""
    return {each.rows: each.seconds for each in found if each.model == model and each.epsilon == TIMED}


def exponent(times: Mapping[int, float]) -> float | None:
    """The exponent p if time grows as records^p, from the two largest sizes; None with fewer than two sizes."""
    if len(times) < 2:
        return None
    less, more = sorted(times)[-2:]
    return math.log(times[more] / times[less]) / math.log(more / less)
