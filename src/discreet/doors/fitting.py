"""The door for a look at whether a table fits its schema: the worst column, and how many records it has astray."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.doors.passage import Payer, passage
from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import Step
from discreet.queries.outside import OfWorst, Outside, Worst, is_watched, watching
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
) -> NoisyStatistics:
    """Pay, then count once, then choose the column with the most records outside the schema, then publish how many.

    Guarantee  ε-DP under the schema's adjacency, ε = choosing + counting.
    Proof      the choice is permute-and-flip, calibrated to how much leads can change (`Worst`). The table of the
               column that was chosen is published with noise for the sensitivity of `Outside`, the same for every
               column. The second step depends on the first through what that published, and losses add (adaptive
               sequential composition). Both count under `watching(schema)`, a public encoding, record by record.
    Order      that of the passage.
    Test       tests/doors/test_fitting.py::test_record_and_replay
    """
    columns = tuple(names)
    if not columns or not all(name in schema.names and is_watched(schema[name]) for name in columns):
        raise ParameterError("nothing to look at; need columns of the schema whose list is not complete by definition")
    worst, table, encoding = Worst(columns), OfWorst(), watching(schema)
    steps = (
        Step(worst, PermuteAndFlip.calibrated(choosing, worst.distance(schema)), choosing),
        Step(table, DiscreteLaplace.calibrated(counting, table.distance(schema)), counting),
    )
    reading, receipt = passage(source, schema, steps, ledger, rng, purpose)
    queries = [Outside(name) for name in columns]
    exact = reading.encoded_by(encoding).count([query.cells(schema) for query in queries])
    tables = [query.fold(exact.counts[query.cells(schema)], schema) for query in queries]
    chosen = steps[0].mechanism.choose(np.array([each[0, 1] for each in tables], dtype=np.int64), rng)
    noise = steps[1].mechanism
    return NoisyStatistics([(queries[chosen], NoisyTable(noise.perturb(tables[chosen], rng), noise.variance))], receipt)
