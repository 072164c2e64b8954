"""The door for counts: tables of noisy numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, get_args

from discreet.doors.passage import Account, passage
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
    ledger: Account,
    rng: Randomness,
    purpose: str = "release",
    *,
    once: bool = False,
) -> NoisyStatistics:
    """Pay for the whole plan, then count, then draw noise.

    Guarantee  the result is ε-DP under the schema's adjacency, ε the sum of the steps' epsilons.
    Proof      each step's mechanism is ε_j-DP at the query's sensitivity (mechanisms/, queries/tables.py); what is
               released depends on the data through those tables alone; losses add (sequential composition).
    Order      that of the passage.
    """
    plan = tuple(plan)
    for step in plan:
        if isinstance(step.mechanism, PolyaShare):
            raise ParameterError("a share of the noise guarantees nothing by itself; it leaves by `share`, masked")
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
    """Raise ParameterError unless counts of a column of this schema answer the query, and the mechanism fits it."""
    query = step.query
    if type(query) not in get_args(TableQuery):  # a subclass could say anything of its distance
        raise ParameterError(f"{query!r} is not answered by counts; it has a door of its own")
    if not _fits(query, schema):
        raise ParameterError(f"{query!r} does not fit a column of the schema; need one of its columns, and its cells")
    moments = isinstance(query, Moments)
    if not isinstance(step.mechanism, SmoothCauchy if moments else DiscreteLaplace | PolyaShare):
        raise ParameterError(f"{type(step.mechanism).__name__} does not answer {query!r}; need its own mechanism")


def _fits(query: TableQuery, schema: Schema) -> bool:
    """Whether the schema has the column, and the query divides it as a column of its kind can be divided."""
    if isinstance(query, ClassCounts | Total):
        return True
    column = schema[query.column] if query.column in schema.names else None
    if column is None or isinstance(query, SoftCounts | Moments):
        return isinstance(column, Numeric)
    if isinstance(query, Counts) and query.bins is None:
        return True
    bins: object = query.bins
    return isinstance(column, Numeric) and isinstance(bins, int) and is_integer(bins) and 1 <= bins <= MAX_CELLS
