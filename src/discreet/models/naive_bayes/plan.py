"""What a private naive Bayes asks of the data, and at what price: a function of public quantities alone.

With K classes and n records an attribute that gets ε_j carries s = ε_j n / K records of signal for each unit of noise.
Below `LEAST_SIGNAL` a table is mostly noise, so that only as many attributes are asked as can be paid: those with the
fewest cells, ties broken by spreading evenly over the schema. Numeric attributes have 2 s^(1/3) bins, the balance of
bias against noise. Shares of ε grow as V^(1/3) with the number V of cells: least squares would say V^(2/3), but then
one attribute with a thousand categories starves all others. Privacy does not depend on any of these choices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.doors.counts import CountStep
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.smooth import SmoothCauchy
from discreet.privacy.steps import Step, laplace_steps, split_by_weight, split_evenly
from discreet.queries.tables import ClassCounts, Counts, Moments, SoftCounts, SplineCounts, TableQuery
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column, Numeric

NUMERIC = ("histogram", "gaussian", "smooth")
SPLITS = ("weighted", "equal")
LEAST_SIGNAL = 5.0
ENOUGH_BINS = 32
"""More made no data set better, however large; they would only be slower to count."""


def needs_records(schema: Schema, numeric: str, bins: int | str, epsilon: Epsilon) -> bool:
    """Whether the plan depends on the number of records."""
    has_numbers = any(isinstance(column, Numeric) for column in schema.columns)
    return epsilon != math.inf or (has_numbers and numeric == "histogram" and bins == "auto")


def steps(
    schema: Schema,
    epsilon: Epsilon,
    records: int,
    numeric: str,
    bins: int | str,
    split: str,
    names: Sequence[str] = (),
) -> list[CountStep]:
    """The queries with their mechanisms and their shares, which sum to epsilon exactly.

    Attributes in `names` were chosen and are all asked; without any, as many of the schema's as can be paid.
    """
    if names:
        columns = [column for column in schema.columns if column.name in names]
        return _shared(_queries(columns, schema, epsilon, records, len(columns), numeric, bins), schema, epsilon, split)
    asked, queries = affordable(schema, epsilon, records, numeric, bins)
    kept = fewest_cells([_weight(query, schema) for query in queries], asked)
    return _shared([queries[position] for position in kept], schema, epsilon, split)


def affordable(
    schema: Schema, epsilon: Epsilon, records: int, numeric: str, bins: int | str
) -> tuple[int, list[TableQuery]]:
    """How many attributes can be asked, and the query of each attribute if so many are."""
    asked = attributes_asked(signal_of(schema, epsilon, records), len(schema.columns))
    return asked, _queries(schema.columns, schema, epsilon, records, asked, numeric, bins)


def signal_of(schema: Schema, epsilon: Epsilon, records: int) -> float:
    """Records of one class for each unit of noise, if a single table is asked."""
    return effective(epsilon, schema) * records / len(schema.classes)


def cells_of(queries: Sequence[TableQuery], schema: Schema) -> float:
    """The average number of cells in the queries' tables."""
    return sum(_weight(query, schema) for query in queries) / len(queries)


def _queries(
    columns: Sequence[Column], schema: Schema, epsilon: Epsilon, records: int, asked: int, numeric: str, bins: int | str
) -> list[TableQuery]:
    most = min(signal_of(schema, epsilon, records) / asked, records / len(schema.classes))
    chosen_bins = best_bins(most) if isinstance(bins, str) else int(bins)
    return [_query(column, numeric, chosen_bins, exact=epsilon == math.inf) for column in columns]


def _shared(queries: list[TableQuery], schema: Schema, epsilon: Epsilon, split: str) -> list[CountStep]:
    if any(isinstance(query, Moments) for query in queries):
        queries = [ClassCounts(), *queries]
    weights = [_weight(query, schema) ** (1 / 3) for query in queries]
    shares = split_by_weight(epsilon, weights) if split == "weighted" else split_evenly(epsilon, len(weights))
    return [_step(query, share, schema) for query, share in zip(queries, shares, strict=True)]


def effective(epsilon: Epsilon, schema: Schema) -> float:
    """The epsilon that sets the noise: half under replace-one, where a record moves two cells."""
    return float(epsilon) / schema.adjacency.distance


def attributes_asked(signal: float, attributes: int) -> int:
    """How many attributes can be asked so that each carries signal; at least one."""
    return max(1, math.floor(min(signal / LEAST_SIGNAL, attributes)))


def best_bins(signal: float) -> int:
    """Number of bins of a numeric attribute from its signal."""
    return int(min(max(round(2 * signal ** (1 / 3)), 2), ENOUGH_BINS))


def fewest_cells(cells: Sequence[float], asked: int) -> list[int]:
    """Positions of the attributes with the fewest cells; within one number of cells, spread evenly."""
    kept: list[int] = []
    for size in sorted(set(cells)):
        positions = [position for position, each in enumerate(cells) if each == size]
        wanted = min(asked - len(kept), len(positions))
        kept += [positions[(2 * i + 1) * len(positions) // (2 * wanted)] for i in range(wanted)]
    return sorted(kept)


def _query(column: Column, numeric: str, bins: int, exact: bool) -> TableQuery:
    if isinstance(column, Categorical):
        return Counts(column.name)
    if numeric == "gaussian":
        return SoftCounts(column.name)
    if numeric == "smooth":
        return Moments(column.name)
    return Counts(column.name, bins) if exact else SplineCounts(column.name, bins)


def _weight(query: TableQuery, schema: Schema) -> float:
    """Cells whose errors add up; for the normal laws, as many as give the same expected error (algorithm (b))."""
    match query:
        case Counts():
            return float(query.cells(schema).size(schema))
        case SplineCounts():
            return float(query.bins)
        case SoftCounts() | Moments():
            return 8.0
        case _:
            return 1.0


def _step(query: TableQuery, share: Epsilon, schema: Schema) -> CountStep:
    if isinstance(query, Moments):
        each = share if share == math.inf else share / schema.adjacency.distance
        return Step(query, SmoothCauchy(each), share)
    return laplace_steps([query], [share], schema)[0]
