"""Which columns a private naive Bayes keeps if it chooses: whether to choose, how many columns, for what share of ε.

All of this follows from public quantities: ε, the number of records (declared or noisy) and the schema. Let n be the
number of records, d the number of columns and V the average number of cells per column. Under replace-one, ε stands
for half of it.

Few.  If ε pays for less than `MOST_ASKED` of the columns (models/naive_bayes/plan.py), `CHOOSING` of ε chooses k
      columns by majority score, and the rest of ε counts only these. k is the largest number that leaves `CELL` records
      per average cell and unit of noise, k = (2/3) ε n / (`CELL` V), at least one. A round at ε_i chooses a column that
      is about ln(d) / ε_i records worse than the best; if the rounds add up to more than `REGRET` of the records, no
      column is chosen.
One.  Otherwise the data are asked whether one column alone is right on `ENOUGH` of the records. If so, only that column
      is kept: others could not add much, and naive Bayes would count evidence twice where they depend on it. The
      question costs `RESOLUTION` / n, whatever ε is, and tells apart proportions that differ by about 3 / `RESOLUTION`.
      If it costs more than `DEAREST` of ε, it is not asked.

No rule that does not see the data is right for all data: where all columns are about equally informative and there are
many classes, a few chosen columns can be worse than all that ε pays for. Privacy does not depend on these choices.

benchmarks/selection.py compares select="auto", by these constants, with select=None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
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

MOST_ASKED = Fraction(2, 3)
"""A few columns are chosen where ε pays for less than this fraction of them (accuracy: benchmarks/selection.py)."""
CHOOSING = 1 / 3
"""Share of ε that pays for choosing a few columns (accuracy: benchmarks/selection.py)."""
CELL = 10.0
"""Records that an average cell of a chosen column must hold per unit of noise (accuracy: benchmarks/selection.py)."""
REGRET = 0.125
"""Largest expected error of the choice, as a fraction of the records (accuracy: benchmarks/selection.py)."""
ENOUGH = FractionScore(24, 25)
"""Fraction of the records on which a column must be right to be kept alone (accuracy: benchmarks/selection.py)."""
RESOLUTION = 100.0
"""The question whether one column is enough costs an epsilon of this over the number of records
(accuracy: benchmarks/selection.py)."""
DEAREST = 0.125
"""Largest share of ε that this question may cost (accuracy: benchmarks/selection.py)."""


@dataclass(frozen=True)
class Choice:
    """How many of the candidates to choose, at what epsilon, and the epsilon that is left for counting."""

    candidates: tuple[ColumnScore, ...]
    wanted: int
    epsilon: Epsilon
    rest: Epsilon


def check(select: Any, schema: Schema | str) -> None:
    """Raise ParameterError unless `select` is None, "auto", or a number of columns that the schema has."""
    if select is None or (isinstance(select, str) and select == "auto"):
        return
    if not isinstance(select, Integral) or isinstance(select, bool) or int(select) < 1:
        raise ParameterError(f"select={select!r}; need None, 'auto' or a number of columns, at least 1")
    if isinstance(schema, Schema) and int(select) > len(schema.columns):
        raise ParameterError(f"select={select}, but there are {len(schema.columns)} feature(s); need at most that many")


def choice(select: Any, schema: Schema, epsilon: Epsilon, records: int, numeric: str, bins: int | str) -> Choice | None:
    """What to choose; None if no column is to be chosen."""
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
    """How many columns to choose, and for what share of epsilon.

    0 columns mean "one column if it is enough, else all"; a share of 0 means that nothing is chosen.
    """
    asked, queries = planning.affordable(schema, epsilon, records, numeric, bins)
    number, paid = len(schema.columns), planning.effective(epsilon, schema) * records
    if asked < MOST_ASKED * number:
        fit = (1 - CHOOSING) * paid / (CELL * planning.cells_of(queries, schema))
        wanted = min(max(1, math.floor(fit)), asked)
        regret = wanted * math.log(number) / CHOOSING
        return (wanted, CHOOSING) if regret <= REGRET * paid else (0, 0.0)
    price = max(RESOLUTION / paid, 1e-6)
    return (0, price) if number > 1 and price <= DEAREST else (0, 0.0)


def columns(schema: Schema, epsilon: Epsilon, records: int, bins: int | str) -> list[MajorityScore]:
    """One candidate per column; numeric columns have as many bins as the choice can tell apart."""
    most = min(planning.signal_of(schema, epsilon, records), records / len(schema.classes))
    chosen = planning.best_bins(most) if isinstance(bins, str) else int(bins)
    return [MajorityScore(each.name, chosen if isinstance(each, Numeric) else None) for each in schema.columns]


def rehearse(select: Any, schema: Schema, epsilon: Epsilon, numeric: str, bins: int | str, split: str) -> None:
    """Raise ParameterError, before anything is paid, if there are too few columns or epsilon is too small.

    The data decide which columns are chosen, so an error after the choice would depend on the data. The most expensive
    case is tried instead: as many rounds as there are columns, then the tables of all columns for half of epsilon, with
    the fewest bins, which need the most noise. The number of records and the choice leave more than half of epsilon,
    and with fewer columns each has a larger share.
    """
    check(select, schema)
    if select is None or epsilon == math.inf:
        return
    PermuteAndFlip.calibrated(split_evenly(epsilon, 4 * len(schema.columns))[0], schema.adjacency.distance)
    fewest = 2 if isinstance(bins, str) else bins
    planning.steps(schema, split_evenly(epsilon, 2)[0], 1, numeric, fewest, split, schema.names)
