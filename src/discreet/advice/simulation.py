"""Simulation: the real models, with their real noise, on made-up tables of the same schema.

What noise does to a model depends on the signal, the number of records times epsilon. A smaller table with an epsilon
that is larger by the same factor therefore stands for the whole one.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.advice.cases import ADVISED, Case, Values, rising
from discreet.advice.facts import Facts
from discreet.advice.twins import twins
from discreet.advice.worlds import WORLDS, Sample, drawn, numbered
from discreet.models import MODELS as FAMILIES
from discreet.models.parameter_texts import configured
from discreet.privacy.epsilon import MOST_EPSILON, as_epsilon
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column

SIGNALS = tuple(float(signal) for signal in np.geomspace(1, 30_000, 8))
"""The signals that are simulated: from nothing but noise to hardly any noise."""
TABLES = 2
"""Number of tables per world. This and the limits below keep a simulation within some seconds."""
DRAWS, WEAK = 5, 100.0
"""Number of noise draws where the signal is below `WEAK`, since noise decides there; 1 elsewhere and for `SLOW`."""
ROWS, TESTED = 600, 500
"""A table has at most `ROWS` rows to train on, and `TESTED` more to test on."""
COLUMNS, CELLS = 20, 60
"""At most `COLUMNS` columns, spread evenly over the schema, and at most `CELLS` columns times classes."""
SLOW = "svm"
"""Takes ten times as long as any other model: it runs at every second signal, and is interpolated between them."""
MOST_CLASSES = 40
"""With more classes nothing is simulated."""
MOST_CATEGORIES, LEVELS = 200, 2000
"""At most this many categories per column, and at most `LEVELS` categories in all times classes."""


def families() -> dict[str, Any]:
    """The constructor of each model that can be advised."""
    return {name: configured(name, FAMILIES) for name in ADVISED}


def simulate(schema: Schema, facts: Facts, progress: Callable[[int, int], None] = lambda done, of: None) -> list[Case]:
    """One case per world, with curves that never fall; the same at each call. Empty if `hindrance` names a reason."""
    if hindrance(schema, facts):
        return []
    rows = min(facts.records, ROWS)
    alike = numbered(schema, spread(schema, facts.classes), rows)
    epsilons = [_allowed(signal * facts.distance / rows) for signal in (*SIGNALS, math.inf)]
    curves = np.zeros((len(WORLDS), TABLES, len(ADVISED), len(epsilons)))
    largest = np.zeros((len(WORLDS), TABLES))
    for place, (world, number) in enumerate(np.ndindex(len(WORLDS), TABLES)):
        progress(place, len(WORLDS) * TABLES)
        table = drawn(WORLDS[world], alike, rows + TESTED, seed(world, number))
        curves[world, number] = _curves(alike, table, rows, epsilons, seed(world, number))
        largest[world, number] = (table.y[rows:] == np.bincount(table.y[:rows]).argmax()).mean()
    progress(len(WORLDS) * TABLES, len(WORLDS) * TABLES)
    means = curves.mean(axis=1)
    return [
        rising(Case(world.__name__, facts, np.array(SIGNALS), mean[:, :-1], mean[:, -1], float(majority)))
        for world, mean, majority in zip(WORLDS, means, largest.mean(axis=1), strict=True)
    ]


def hindrance(schema: Schema, facts: Facts) -> str:
    """Why nothing can be simulated; empty if it can."""
    if facts.classes > MOST_CLASSES:
        return f"there are more than {MOST_CLASSES} classes"
    if facts.records < 2:
        return "there is one record"
    return "" if spread(schema, facts.classes) else "the columns have too many categories"


def spread(schema: Schema, classes: int) -> list[str]:
    """The columns to simulate: those with at most `MOST_CATEGORIES` categories, or some of them, spread evenly."""
    quick = [each.name for each in schema.columns if _categories(each) <= MOST_CATEGORIES]
    width = min(len(quick), COLUMNS, max(1, CELLS // classes))
    chosen = [quick[(2 * place + 1) * len(quick) // (2 * width)] for place in range(width)]
    while sum(_categories(schema[name]) for name in chosen) * classes > LEVELS:
        chosen.remove(max(chosen, key=lambda name: _categories(schema[name])))
    return chosen


def _categories(column: Column) -> int:
    return len(column.categories) if isinstance(column, Categorical) else 0


def _curves(schema: Schema, table: Sample, rows: int, epsilons: list[float], noise: int) -> Values:
    """The accuracy of each model (rows) at each epsilon; a twin gets the accuracy of the simpler model."""
    found = np.full((len(ADVISED), len(epsilons)), np.nan)
    for column, epsilon in enumerate(epsilons):
        same = twins(schema, as_epsilon(epsilon))
        for row, model in enumerate(ADVISED):
            if model not in same and (model != SLOW or column % 2 or epsilon == math.inf):
                draws = DRAWS if epsilon * rows < WEAK and model != SLOW else 1
                seeds = [seed(noise, row, column, draw) for draw in range(draws)]
                found[row, column] = np.mean([_accuracy(schema, table, rows, model, epsilon, each) for each in seeds])
        for model, simpler in same.items():
            found[ADVISED.index(model), column] = found[ADVISED.index(simpler), column]
    slow = found[ADVISED.index(SLOW)]
    known = np.flatnonzero(~np.isnan(slow))
    slow[:] = np.interp(np.arange(len(slow)), known, slow[known])
    return found


def _accuracy(schema: Schema, table: Sample, rows: int, model: str, epsilon: float, noise: int) -> float:
    estimator = families()[model](schema, epsilon=epsilon, random_state=noise)
    predicted = estimator.fit(table.X[:rows], table.y[:rows]).predict(table.X[rows:])
    return float((predicted == table.y[rows:]).mean())


def _allowed(epsilon: float) -> float:
    """The epsilon, or infinity if it is larger than any finite one that models accept."""
    return epsilon if epsilon <= MOST_EPSILON else math.inf


def seed(*numbers: int) -> int:
    """A different seed for each combination of numbers."""
    return zlib.crc32(repr(numbers).encode())
