"""Which columns a private naive Bayes keeps if it chooses: whether to choose, how many columns, for what share of ε.

All of this follows from public quantities: ε, the number of records (declared or noisy), the schema, and what was
published before. Let n be the number of records, K of classes, d of columns. Under replace-one, ε stands for half of
it.

One.  First the data are asked whether one column alone is right on `ENOUGH` of the records. If so, only that column
      is kept: others could not add much, and naive Bayes would count evidence twice where they depend on it. The
      question costs `RESOLUTION` / n, whatever ε is, and tells apart proportions that differ by about 3 / `RESOLUTION`.
      If it costs more than `DEAREST` of ε, it is not asked.
Few.  Otherwise `CHOOSING` of ε chooses k columns by majority score, one after another, and the rest of ε counts only
      these. Each of k tables has a k-th of ε, so the noise in the sum of their evidence grows as k^(3/2) / (ε n), and
      each round of the choice errs by k ln(d) / (`CHOOSING` ε) records; evidence grows with k, but less and less, the
      best columns coming first. So k grows more slowly than ε n, and faster where there is more to tell apart, log2(K)
      questions of yes or no: k = √(ε n) log2(K) / `SPARING`. It is lowered until the errors of all rounds add up to at
      most `REGRET` of the records. Where not even one column is left, or k is more than `MOST_CHOSEN` of all columns,
      so that a choice leaves out too little to be worth its price, as many columns are asked as ε pays for
      (models/naive_bayes/plan.py). Without noise all are.

No rule that does not see the data is right for all data: where all columns are about equally informative, a few chosen
columns can be worse than all that ε pays for. Privacy does not depend on these choices.

benchmarks/selection.py compares select="auto", by these constants, with select=None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from discreet.models.naive_bayes import plan as planning
from discreet.models.parameter_checks import check_select
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.steps import split_by_weight, split_evenly
from discreet.queries.tables import ColumnScore, FractionScore, MajorityScore
from discreet.schema import Schema
from discreet.schema.columns import Numeric

CHOOSING = 0.3
"""Share of ε that pays for choosing a few columns (accuracy: benchmarks/selection.py)."""
SPARING = 9.0
"""Divides the number of columns that are chosen: the larger, the fewer (accuracy: benchmarks/selection.py)."""
REGRET = 0.25
"""Largest expected error of the choice, as a fraction of the records (accuracy: benchmarks/selection.py)."""
MOST_CHOSEN = 2 / 3
"""A few columns are chosen if they are at most this fraction of all (accuracy: benchmarks/selection.py)."""
ENOUGH = FractionScore(24, 25)
"""Fraction of the records on which a column must be right to be kept alone (accuracy: benchmarks/selection.py)."""
RESOLUTION = 100.0
"""The question whether one column is enough costs an epsilon of this over the number of records
(accuracy: benchmarks/selection.py)."""
DEAREST = 0.125
"""Largest share of ε that this question may cost (accuracy: benchmarks/selection.py)."""
LEAST_SHARE = 1e-6
"""Least share of ε that this question costs: shares are in millionths."""


@dataclass(frozen=True)
class Choice:
    """How many of the candidates to choose, at what epsilon, and the epsilon that is left for counting."""

    candidates: tuple[ColumnScore, ...]
    wanted: int
    epsilon: Epsilon
    rest: Epsilon


def one(select: Any, schema: Schema, epsilon: Epsilon, records: int, bins: int | str) -> Choice | None:
    """The question whether one column is enough; None if it is not to be asked."""
    paid = planning.effective(epsilon, schema) * records
    if not isinstance(select, str) or len(schema.columns) < 2 or DEAREST * paid < RESOLUTION or epsilon == math.inf:
        return None
    return _choice(schema, epsilon, records, bins, 1, max(RESOLUTION / paid, LEAST_SHARE), ENOUGH)


def few(select: Any, schema: Schema, epsilon: Epsilon, records: int, bins: int | str) -> Choice | None:
    """The choice of several columns; None if no column is to be chosen."""
    if select is None or select == len(schema.columns):
        return None
    wanted = automatic(schema, epsilon, records) if isinstance(select, str) else int(select)
    return _choice(schema, epsilon, records, bins, wanted, CHOOSING) if wanted else None


def _choice(
    schema: Schema, epsilon: Epsilon, records: int, bins: int | str, wanted: int, share: float, *more: ColumnScore
) -> Choice:
    choosing, rest = split_by_weight(epsilon, [share, 1 - share])
    return Choice((*columns(schema, choosing, records, bins), *more), wanted, choosing, rest)


def automatic(schema: Schema, epsilon: Epsilon, records: int) -> int:
    """How many columns to choose by the rule "few"; 0 means that none is chosen."""
    number, paid = len(schema.columns), planning.effective(epsilon, schema) * records
    questions = math.log2(max(2, len(schema.classes)))
    wanted = max(1.0, math.sqrt(paid) * questions / SPARING)
    if wanted > MOST_CHOSEN * number:
        return 0
    return math.floor(min(wanted, REGRET * CHOOSING * paid / math.log(number)))


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
    check_select(select, schema)
    if select is None or epsilon == math.inf:
        return
    PermuteAndFlip.calibrated(split_evenly(epsilon, 4 * len(schema.columns))[0], schema.adjacency.distance)
    fewest = 2 if isinstance(bins, str) else bins
    planning.steps(schema, split_evenly(epsilon, 2)[0], 1, numeric, fewest, split, schema.names)
