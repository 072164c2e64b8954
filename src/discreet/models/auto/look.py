"""A look at whether the table fits the schema, where the answers of a model would not show it.

The weights of a linear model and the leaves of a tree do not tell whether a column was spelled as the schema says. So a
small part of ε finds the column with the most values outside the schema, and counts its records inside and outside. If
half of the records are astray somewhere, or have no listed class, this shows it (models/remarks.py).

Price   with n records and sensitivity d, `CHOOSING` d / n finds the worst column: another one, better by 0.8 n, wins
        against it with probability exp(-0.8 CHOOSING) < 0.0001. `COUNTING` d / n counts with noise of scale
        n / COUNTING, so that a tenth and a half of n are told apart by 9 times the scale. Both together are a share
        `CHOOSING + COUNTING` over n ε / d of ε; where that is more than `MOST_SHARE`, nothing is bought.
Classes a tree's leaves show how many records each class has; the weights of a linear model do not. For these,
        `ENOUGH_FOR_CLASSES` d / n or more, and at most `MOST_FOR_CLASSES`, counts the records of each class, if that is
        at most `MOST_SHARE` of ε: noise of scale n / 40 shows with probability 0.99 that all of two classes' records
        are of one of them (the rule is in models/remarks.py; measured by benchmarks/remarks.py). For more classes,
        the noise of the others adds up, so prices rise with its standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.doors import fitting
from discreet.doors.counts import release
from discreet.doors.passage import Spending
from discreet.models.record_count import MOST_RECORDS, RecordCount
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import laplace_steps
from discreet.queries.outside import is_watched
from discreet.queries.tables import ClassCounts
from discreet.schema import Schema
from discreet.sources import Source

CHOOSING, COUNTING = 12, 24
"""Parts of ε for choosing the worst column and for counting in it, each times sensitivity over number of records."""
ENOUGH_FOR_CLASSES, MOST_FOR_CLASSES = 40, 400
"""Parts of ε for counting the records of each of two classes, each times sensitivity over number of records: what tells
one class from two that are alike, and what tells it from a class and a rare one."""
MOST_SHARE = Fraction(1, 20)
"""The largest share of ε that a look at the columns may cost, and that counting classes may cost."""
MOST_SHARES = 2 * MOST_SHARE
"""The largest share of ε that both together may cost."""


def look(
    source: Source,
    schema: Schema,
    known: RecordCount,
    rehearse: Callable[[Epsilon], object],
    ledger: Spending,
    rng: Randomness,
    purpose: str,
    *,
    classes: bool,
) -> RecordCount:
    """Pay for a look if a small share of ε is enough; returns what is left of ε, and the answers.

    With `classes`, the records of each class are counted, too, if a small share of ε is enough.

    Guarantee  costs exactly what it takes off ε. Proof: the price follows from the schema and the number of records,
               which is declared or was bought; it is what the door `look` charges (proof there).
    Order      structure and rehearsal of what follows come first: an ε that is too small is refused for free.
    """
    if known.rest == math.inf:
        return known
    names = [column.name for column in schema.columns if is_watched(column)]
    unit = Fraction(schema.adjacency.distance, min(known.records, MOST_RECORDS))  # noise has a largest scale
    prices = (CHOOSING * unit, COUNTING * unit)
    is_cheap = bool(names) and sum(prices) <= MOST_SHARE * known.rest
    price = _for_classes(len(schema.classes), unit, known.rest) if classes else Fraction(0)
    if not is_cheap and not price:
        return known
    source.check(schema)
    rehearse(known.rest)
    if is_cheap:
        noisy = fitting.look(source, schema, names, *prices, ledger, rng, purpose, classes=price)
    else:
        noisy = release(source, schema, laplace_steps([ClassCounts()], [price], schema), ledger, rng, purpose)
    return RecordCount(known.records, known.rest - noisy.receipt.epsilon, known.answers + noisy.tables)


def _for_classes(number: int, unit: Fraction, rest: Epsilon) -> Epsilon:
    """The price of counting the records of each class; 0 if that is not worth it."""
    others = math.isqrt(max(number - 2, 0)) + 1  # the root of number - 1, as a whole number that is large enough
    share = MOST_SHARE * rest
    return Fraction(0) if ENOUGH_FOR_CLASSES * others * unit > share else min(MOST_FOR_CLASSES * others * unit, share)
