"""The door for margins: how many records of each class lie in which interval of a public score."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from discreet.doors.passage import Payer, passage
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import Step
from discreet.queries.added_scores import AddedScores
from discreet.queries.margins import Margins
from discreet.records.encoding import Cells, Codes
from discreet.records.tables import CodedRecords
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.sources import Source
from discreet.sources.predictions import Marking


def margin_step(query: Margins, schema: Schema, epsilon: Epsilon) -> Step[Margins, DiscreteLaplace]:
    """The only step, at all of epsilon; ParameterError if epsilon is too small for it."""
    return Step(query, DiscreteLaplace.calibrated(epsilon, query.distance(schema)), epsilon)


def count_margins(
    source: Source,
    schema: Schema,
    query: Margins,
    interval_of: Callable[[CodedRecords], Codes],
    cells: Sequence[Cells],
    scores: AddedScores,
    epsilon: Epsilon,
    ledger: Payer,
    rng: Randomness,
    purpose: str = "margins",
) -> NoisyStatistics:
    """Pay, then count, then draw noise.

    Guarantee  the result is ε-DP under the schema's adjacency.
    Proof      `interval_of` gives each record an interval by its codes alone and by public things (weights that were
               published before); `scores` is the same function for engines that add up in SQL. The table of records by
               class and interval has the sensitivity of `Margins` (proof there), and discrete Laplace noise at it.
    Order      that of the passage.
    Test       tests/doors/test_margins.py::test_sensitivity_bounds_every_neighbour

    Parameters
    ----------
    interval_of : takes coded records, returns the number of each one's interval.
    cells : the cells whose codes decide.
    """
    step = margin_step(query, schema, epsilon)
    reading, receipt = passage(source, schema, [step], ledger, rng, purpose)
    task = Marking(interval_of, len(schema.classes), scores, query.bins)
    exact = reading.passes(cells).fold(task).reshape(query.shape(schema))
    return NoisyStatistics([(query, NoisyTable(step.mechanism.perturb(exact, rng), step.mechanism.variance))], receipt)
