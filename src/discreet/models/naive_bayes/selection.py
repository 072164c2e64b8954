"""Which attributes a private naive Bayes keeps, if it chooses: how many, for what share of ε, and when it does not.

All of it follows from public quantities: ε, the number of records (declared or noisy), the schema. Let n be the number
of records, d that of attributes, V the average number of cells of an attribute. Under replace-one ε counts half.

Few.  If less than two thirds of the attributes could be asked (naive_bayes_plan), a third of ε chooses k of them by
      majority score, and the rest counts these alone: as many as leave `CELL` records in an average cell for each unit
      of noise, k = (2/3) ε n / (`CELL` V), at least one. A round at ε_i chooses a column that is about ln(d) / ε_i
      records worse than the best; if that adds up to more than `REGRET` of the records, nothing is chosen.
One.  Otherwise it is asked whether one column is right on `ENOUGH` of the records by itself. Then it is kept alone:
      others could not add much, and where they depend on it naive Bayes would count the same evidence twice. The
      answer costs `RESOLUTION` / n, whatever ε is; it tells apart shares of the records that differ by about
      3 / `RESOLUTION`. Where this is more than `DEAREST` of ε the question is not asked.

No rule without a look at the data can be right for all: where every column tells about the same and classes are many,
a few chosen ones can lose to as many as can be paid. Privacy does not depend on any of these choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from discreet.errors import ParameterError
from discreet.models.naive_bayes import plan as planning
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.steps import split_by_weight, split_evenly
from discreet.queries.tables import ColumnScore, FractionScore, MajorityScore
from discreet.schema import Schema
from discreet.schema.columns import Numeric

CHOOSING = 1 / 3
CELL = 10.0
REGRET = 0.125
ENOUGH = FractionScore(24, 25)
RESOLUTION = 100.0
DEAREST = 0.125


@dataclass(frozen=True)
class Choice:
    """How many of the candidates to choose, for how much, and what is left to count."""

    candidates: tuple[ColumnScore, ...]
    wanted: int
    epsilon: Epsilon
    rest: Epsilon


def check(select: Any, schema: Schema | str) -> None:
    """Raise ParameterError unless `select` is None, "auto", or a number of columns that the schema has."""
    if select is None or (isinstance(select, str) and select == "auto"):
        return
    if not isinstance(select, Integral) or isinstance(select, bool) or int(select) < 1:
        raise ParameterError(f"select={select!r}; need None, 'auto' or a number of columns from 1")
    if isinstance(schema, Schema) and int(select) > len(schema.columns):
        raise ParameterError(f"select={select}, but there are {len(schema.columns)} feature(s); need no more than that")


def choice(select: Any, schema: Schema, epsilon: Epsilon, records: int, numeric: str, bins: int | str) -> Choice | None:
    """What to choose; None if nothing is."""
    if select is None or select == len(schema.columns):
        return None
    automatically = isinstance(select, str)
    wanted, share = automatic(schema, epsilon, records, numeric, bins) if automatically else (int(select), CHOOSING)
    if not share:
        return None
    choosing, rest = split_by_weight(epsilon, [share, 1 - share])
    candidates: list[ColumnScore] = [*columns(schema, choosing, records, bins)]
    return Choice(tuple(candidates if wanted else [*candidates, ENOUGH]), wanted or 1, choosing, rest)


def automatic(schema: Schema, epsilon: Epsilon, records: int, numeric: str, bins: int | str) -> tuple[int, float]:
    """How many attributes to choose, 0 for "one that is enough, or all", and for what share of epsilon; 0 for none."""
    asked, queries = planning.affordable(schema, epsilon, records, numeric, bins)
    attributes, paid = len(schema.columns), planning.effective(epsilon, schema) * records
    if 3 * asked < 2 * attributes:
        fit = (1 - CHOOSING) * paid / (CELL * planning.cells_of(queries, schema))
        wanted = min(max(1, math.floor(fit)), asked)
        regret = wanted * math.log(attributes) / CHOOSING
        return (wanted, CHOOSING) if regret <= REGRET * paid else (0, 0.0)
    price = max(RESOLUTION / paid, 1e-6)
    return (0, price) if attributes > 1 and price <= DEAREST else (0, 0.0)


def columns(schema: Schema, epsilon: Epsilon, records: int, bins: int | str) -> list[MajorityScore]:
    """A candidate for each column; numbers in as many bins as the choice can tell apart."""
    most = min(planning.signal_of(schema, epsilon, records), records / len(schema.classes))
    chosen = planning.best_bins(most) if isinstance(bins, str) else int(bins)
    return [MajorityScore(each.name, chosen if isinstance(each, Numeric) else None) for each in schema.columns]


def rehearse(select: Any, schema: Schema, epsilon: Epsilon, numeric: str, bins: int | str, split: str) -> None:
    """Raise ParameterError, before anything is paid, if there are too few columns or epsilon is too small.

    Which columns are chosen follows from the data, and an error after that would depend on it. So the dearest case is
    tried: as many rounds as there are columns, then the tables of all for half of epsilon, with the fewest bins, whose
    noise is the largest. What is left of epsilon after the number of records and the choice is more than half, and of
    fewer columns each has a larger share.
    """
    check(select, schema)
    if select is None or epsilon == math.inf:
        return
    PermuteAndFlip.calibrated(split_evenly(epsilon, 4 * len(schema.columns))[0], schema.adjacency.distance)
    fewest = 2 if isinstance(bins, str) else bins
    planning.steps(schema, split_evenly(epsilon, 2)[0], 1, numeric, fewest, split, schema.names)
