"""The door for counts: tables of noisy numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, get_args

from discreet.doors.passage import Payer, passage
from discreet.errors import ParameterError
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.polya import PolyaShare
from discreet.privacy.mechanisms.smooth import SmoothCauchy
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import Step
from discreet.queries.tables import ClassCounts, Counts, Moments, SoftCounts, TableQuery, Total
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.schema.columns import MAX_CELLS, Numeric, is_integer
from discreet.sources import Source

CountStep: TypeAlias = Step[TableQuery, DiscreteLaplace | SmoothCauchy]


def release(
    source: Source,
    schema: Schema,
    plan: Sequence[CountStep],
    ledger: Payer,
    rng: Randomness,
    purpose: str = "release",
    *,
    once: bool = False,
) -> NoisyStatistics:
    """Pay for the whole plan, then count, then draw noise.

    Guarantee  the result is ε-DP under the schema's adjacency, ε the sum of the steps' epsilons.
    Proof      each step's mechanism is ε_j-DP at the query's sensitivity (mechanisms/, queries/tables.py). The result
               depends on the data through those noisy tables alone, and losses add (sequential composition).
    Order      that of the passage.
    """
    plan = tuple(plan)
    for step in plan:
        if isinstance(step.mechanism, PolyaShare):
            raise ParameterError(
                "PolyaShare is only a part of the noise and guarantees nothing until masked; need the door `share`"
            )
        check_counted(step, schema)
    reading, receipt = passage(source, schema, plan, ledger, rng, purpose, once=once)
    exact = reading.count([step.query.cells(schema) for step in plan])
    tables = [
        (
            step.query,
            NoisyTable(step.mechanism.perturb(exact.answer(step.query, schema), rng), step.mechanism.variance),
        )
        for step in plan
    ]
    return NoisyStatistics(tables, receipt)


def check_counted(step: Step[Any, Any], schema: Schema) -> None:
    """Raise ParameterError unless the query can be answered by counts under this schema, with this mechanism."""
    query = step.query
    if type(query) not in get_args(TableQuery):  # a subclass could state any distance
        raise ParameterError(f"{query!r} is not answered by counts; it has a door of its own")
    if not _fits(query, schema):
        raise ParameterError(
            f"{query!r} does not fit the schema; need one of its columns, divided as a column of its kind can be"
        )
    allowed = (SmoothCauchy,) if isinstance(query, Moments) else (DiscreteLaplace, PolyaShare)
    if not isinstance(step.mechanism, allowed):
        name, needed = type(step.mechanism).__name__, " or ".join(each.__name__ for each in allowed)
        raise ParameterError(f"{name} does not answer {query!r}; need {needed}")


def _fits(query: TableQuery, schema: Schema) -> bool:
    """Whether the schema has the column, and a column of its kind can be divided as the query asks."""
    if isinstance(query, ClassCounts | Total):
        return True
    column = schema[query.column] if query.column in schema.names else None
    if column is None or isinstance(query, SoftCounts | Moments):
        return isinstance(column, Numeric)
    if isinstance(query, Counts) and query.bins is None:
        return True
    bins: object = query.bins
    return isinstance(column, Numeric) and isinstance(bins, int) and is_integer(bins) and 1 <= bins <= MAX_CELLS
