"""What a private naive Bayes asks of the data, and at what price: a function of public quantities alone.

With K classes and n records, a column that gets ε_j has a signal of s = ε_j n / K: records per class and unit of noise.
Below `LEAST_SIGNAL` a table is mostly noise, so the plan asks only as many columns as ε can pay for: those with the
fewest cells, ties spread evenly over the schema. A numeric column has 2 s^(1/3) bins, which balances bias and noise.
The share of ε grows as V^(1/3) with the number V of cells: least squares would give V^(2/3), but then one column with a
thousand categories would leave too little for all others. Privacy does not depend on any of these choices.
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
"""Signal that a column needs to be asked; benchmarks/accuracy.py shows the accuracy with this value."""
ENOUGH_BINS = 32
"""Most bins that "auto" gives to a numeric column. More made no public data set better, however large,
and are slower to count. benchmarks/accuracy.py shows the accuracy with this value."""
NORMAL_CELLS = 8.0
"""Number of cells that a normal law counts as when ε is divided: a table of this size has the same expected error."""


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
    """Return the queries with their mechanisms and their shares, which sum to epsilon exactly.

    If `names` is given, exactly these columns are asked; if not, as many columns of the schema as ε can pay for.
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
    """How many columns can be asked, and the query of each column of the schema at that number."""
    asked = columns_asked(signal_of(schema, epsilon, records), len(schema.columns))
    return asked, _queries(schema.columns, schema, epsilon, records, asked, numeric, bins)


def signal_of(schema: Schema, epsilon: Epsilon, records: int) -> float:
    """Records per class and unit of noise, if a single table is asked."""
    return effective(epsilon, schema) * records / len(schema.classes)


def cells_of(queries: Sequence[TableQuery], schema: Schema) -> float:
    """Average number of cells per query."""
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
    """The epsilon that sets the noise: half of it under replace-one, where a record changes two cells."""
    return float(epsilon) / schema.adjacency.distance


def columns_asked(signal: float, columns: int) -> int:
    """How many columns can be asked so that each has at least `LEAST_SIGNAL`; at least one is asked."""
    return max(1, math.floor(min(signal / LEAST_SIGNAL, columns)))


def best_bins(signal: float) -> int:
    """Number of bins of a numeric column from its signal."""
    return int(min(max(round(2 * signal ** (1 / 3)), 2), ENOUGH_BINS))


def fewest_cells(cells: Sequence[float], asked: int) -> list[int]:
    """Positions of the columns with the fewest cells; columns with equally many cells are taken evenly spread."""
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
    """Number of cells whose errors add up."""
    match query:
        case Counts():
            return float(query.cells(schema).size(schema))
        case SplineCounts():
            return float(query.bins)
        case SoftCounts() | Moments():
            return NORMAL_CELLS
        case _:
            return 1.0


def _step(query: TableQuery, share: Epsilon, schema: Schema) -> CountStep:
    if isinstance(query, Moments):
        each = share if share == math.inf else share / schema.adjacency.distance
        return Step(query, SmoothCauchy(each), share)
    return laplace_steps([query], [share], schema)[0]
