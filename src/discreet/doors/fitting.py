"""The door for a look at whether a table fits its schema: records astray in the worst column, and records per class."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.doors.passage import Payer, passage
from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import Step
from discreet.queries.arrays import Integers
from discreet.queries.outside import OfWorst, Outside, Worst, is_watched, watching
from discreet.queries.tables import ClassCounts
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.sources import Source


def look(
    source: Source,
    schema: Schema,
    names: Sequence[str],
    choosing: Epsilon,
    counting: Epsilon,
    ledger: Payer,
    rng: Randomness,
    purpose: str = "look",
    *,
    classes: Epsilon = Fraction(0),
) -> NoisyStatistics:
    """Pay, then count once, then choose the column with the most records outside the schema, then publish how many.

    With `classes`, the number of records of each class is published, too, at this price.

    Guarantee  ε-DP under the schema's adjacency, ε = choosing + counting + classes.
    Proof      the choice is permute-and-flip, calibrated to how much leads can change (`Worst`). The table of the
               column that was chosen is published with noise for the sensitivity of `Outside`, the same for every
               column, and the numbers of the classes for that of `ClassCounts`. The second step depends on the first
               through what that published, and losses add (adaptive sequential composition). All count under
               `watching(schema)`, a public encoding, record by record, which leaves the class of a record as it is.
    Order      that of the passage.
    Test       tests/doors/test_fitting.py::test_record_and_replay
    """
    columns = tuple(names)
    if not columns or not all(name in schema.names and is_watched(schema[name]) for name in columns):
        raise ParameterError("nothing to look at; need columns of the schema whose list is not complete by definition")
    worst, table, by_class = Worst(columns), OfWorst(), ClassCounts()
    choice = Step(worst, PermuteAndFlip.calibrated(choosing, worst.distance(schema)), choosing)
    astray = Step(table, DiscreteLaplace.calibrated(counting, table.distance(schema)), counting)
    totals = [
        Step(by_class, DiscreteLaplace.calibrated(price, by_class.distance(schema)), price)
        for price in [classes]
        if price != 0
    ]
    reading, receipt = passage(source, schema, (choice, astray, *totals), ledger, rng, purpose)
    queries = [Outside(name) for name in columns]
    exact = reading.encoded_by(watching(schema)).count([query.cells(schema) for query in queries])
    tables = [query.fold(exact.counts[query.cells(schema)], schema) for query in queries]
    chosen = choice.mechanism.choose(np.array([each[0, 1] for each in tables], dtype=np.int64), rng)
    published: list[tuple[Any, NoisyTable]] = [(queries[chosen], _noisy(tables[chosen], astray.mechanism, rng))]
    for step in totals:
        exact_totals = by_class.fold(exact.counts[queries[0].cells(schema)], schema)
        published.append((by_class, _noisy(exact_totals, step.mechanism, rng)))
    return NoisyStatistics(published, receipt)


def _noisy(exact: Integers, noise: DiscreteLaplace, rng: Randomness) -> NoisyTable:
    return NoisyTable(noise.perturb(exact, rng), noise.variance)
