"""A look at whether the table fits the schema, where the answers of a model would not show it.

The weights of a linear model and the leaves of a tree do not tell whether a column was spelled as the schema says. So a
small part of ε finds the column with the most values outside the schema, and counts its records inside and outside. If
half of the records are astray somewhere, or have no listed class, this shows it (models/remarks.py).

Price   with n records and sensitivity d, `CHOOSING` d / n finds the worst column: another one, better by 0.8 n, wins
        against it with probability exp(-0.8 CHOOSING) < 0.0001. `COUNTING` d / n counts with noise of scale
        n / COUNTING, so that a tenth and a half of n are told apart by 9 times the scale. Both together are a share
        `CHOOSING + COUNTING` over n ε / d of ε; where that is more than `MOST_SHARE`, nothing is bought.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.doors import fitting
from discreet.doors.passage import Spending
from discreet.models.record_count import MOST_RECORDS, RecordCount
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.queries.outside import is_watched
from discreet.schema import Schema
from discreet.sources import Source

CHOOSING, COUNTING = 12, 24
"""Parts of ε for choosing the worst column and for counting in it, each times sensitivity over number of records."""
MOST_SHARE = Fraction(1, 20)
"""The largest share of ε that a look may cost."""


def look(
    source: Source,
    schema: Schema,
    known: RecordCount,
    rehearse: Callable[[Epsilon], object],
    ledger: Spending,
    rng: Randomness,
    purpose: str,
) -> RecordCount:
    """Pay for a look if a small share of ε is enough; returns what is left of ε, and the answers.

    Guarantee  costs exactly what it takes off ε. Proof: the price follows from the schema and the number of records,
               which is declared or was bought; it is what the door `look` charges (proof there).
    Order      structure and rehearsal of what follows come first: an ε that is too small is refused for free.
    """
    names = [column.name for column in schema.columns if is_watched(column)]
    unit = Fraction(schema.adjacency.distance, min(known.records, MOST_RECORDS))  # noise has a largest scale
    choosing, counting = CHOOSING * unit, COUNTING * unit
    if not names or known.rest == math.inf or choosing + counting > MOST_SHARE * known.rest:
        return known
    source.check(schema)
    rehearse(known.rest)
    noisy = fitting.look(source, schema, names, choosing, counting, ledger, rng, purpose)
    return RecordCount(known.records, known.rest - choosing - counting, known.answers + noisy.tables)
