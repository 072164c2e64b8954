"""How a linear model is planned from public facts alone: ε, the number of records n, the columns, the classes.

Signal. One record's score is a sum over d columns and a constant, and the noise in it grows with their number: with
        G = d + 1 groups it is in proportion to G^2 / (ε n). All rules below look at ε n and G.
Knots.  From ε n / G^2 of 1.25 on, numbers get 4 knots; from 10 on, 8 (`KNOTS`, and sooner for K classes). With 8 knots
        there are two more near each bound, where skewed columns crowd; of chosen columns, which are few and good, with
        4 knots, too, if there are two classes.
Choice. With k of d columns that tell about the same, what a score tells grows with k and its noise with k^1.5; so k
        columns for 1 - `CHOOSING` of ε are better than all by a factor of about .7 √(d / k), and by much more if the
        others tell nothing: at `WORTH` = 4 times as many columns the factor is 1.4. ε pays for √(ε n K / (2 `GROUP`))
        - 1 columns (K classes: more of them need more columns), at least `FEWEST`. If that is more than `ENOUGH` of
        them, or if there are fewer than `WORTH` times `FEWEST`, all take part; else that number is chosen, at most one
        in `WORTH`.
Ranges. Bounds are declared wide, and half of a range has four times the signal. For each number the part of its range
        that it fills is chosen privately, where `MOST_NARROWING` of ε pays for choices that are sharp enough. Knots
        then lie in it, and a few outside, so that what few records say there is not lost; a line ends at its ends.
Leaves. From ε n / G^2 of `LEAVES_FROM` on the noise hardly matters, and what the columns cannot say does: a tree of
        ⌊.75 log2(ε n) - 2.5⌋ levels is grown, and its leaves are one more group. Where no column is a number it pays
        from `LEAVES_OF_CATEGORIES` on: there are fewer weights, and no knots that bend with what a number says.

benchmarks/features.py measures the accuracy with and without each of these. Privacy does not depend on them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from numpy.typing import NDArray

from discreet.doors.tree_plans import Greedy
from discreet.models.record_count import MOST_RECORDS
from discreet.privacy.epsilon import Epsilon, as_epsilon
from discreet.privacy.mechanisms.multiclass_objective import noise_variance
from discreet.privacy.mechanisms.multiclass_problem import MARGIN
from discreet.privacy.steps import split_by_weight
from discreet.queries.hyperplanes import PARTS, Hyperplanes, Part, size_of
from discreet.queries.ranges import CANDIDATES, Filled
from discreet.queries.tables import MajorityScore
from discreet.queries.trees import candidates
from discreet.schema import Schema
from discreet.schema.columns import Numeric

BITS = 23
"""Weights are released in steps of 2**-23: finer than any use, and coarse enough to hide their last bits."""
MOST_FITTING_BITS = 40
"""For many classes finer steps are chosen, but none finer than 2**-40: exact noise needs room for its own bits."""
STRENGTH, STRENGTH_OF_CLASSES = 3.0, 5.0
"""The default regularisation of two and of more classes is this over ε. On 67 cells of benchmarks/keel.py with two
classes, ε from 0.1 to 3, 1, 2, 3 and 5 had mean accuracies of .802, .808, .807 and .801; on 17 cells of the papers'
data, .892, .906, .909 and .910 (a search that is not kept). With more classes, 3 was not better than 5."""
KNOTS, OF_CLASSES, OF_CHOSEN = {1.25: 4, 10.0: 8}, {0.4: 4, 10.0: 8}, {0.6: 4, 10.0: 8}
"""Knots per numeric column, by the least signal per squared group from which they pay; below the first, one knot. With
three classes or more one of them may lie between the others, which no line tells, so that knots pay sooner: the second
rule is for all columns, the third for chosen ones (benchmarks/knots.py)."""
EDGES_FROM, EDGES_OF_CHOSEN = 8, 4
"""From this many knots on, numbers have more of them near the bounds: with fewer, the additional weights cost more than
skewed columns gain (accuracy: benchmarks/features.py). The second is for chosen columns and two classes: for more
classes they gain in some tables what they lose in others (benchmarks/knots.py)."""
HUBER, HUBER_OF_LEAVES = 0.5, 2.0
"""Default rounding of the hinge for two classes, without and with leaves: leaves fit so well that a sharp hinge stops
looking at the columns within them, which costs most on adult. For more classes the first of them always: the smoothing
grows with the number of classes by itself, and rounding four times as much costs up to 0.04 (accuracy of both:
benchmarks/leaves.py)."""
GROUP, GROUP_OF_CLASSES = 24.0, 32.0
"""Signal per squared group from which a further column is chosen, of two and of more classes (accuracy:
benchmarks/knots.py, benchmarks/features.py)."""
FEWEST = 4
"""Fewest columns that are chosen: what a class depends on is seldom fewer, and one wrong choice matters less."""
CHOOSING = 0.3
"""Share of ε that pays for choosing columns (accuracy: benchmarks/features.py)."""
WEIGHING = 0.1
"""Part of that share that pays for the number of records of each class, by which classes are weighed."""
HEAVIEST = 16
"""Weight of the rarest class; the others weigh less, in integers."""
WORTH = 4
"""Columns are chosen if the table has at least this many times as many (accuracy: benchmarks/features.py)."""
ENOUGH, ENOUGH_OF_CLASSES = 0.25, 0.4
"""If ε pays for more than this fraction of the columns, all take part (accuracy: benchmarks/knots.py)."""
BINS = 8
"""Intervals into which a part of a number's range is cut when columns are compared: as many as the most knots."""
LEAVES_FROM, LEAVES_OF_CATEGORIES = 256.0, 128.0
"""Least signal per squared group from which leaves pay, and if no column is a number (accuracy: benchmarks/leaves.py).
"""
MOST_DEPTH = 8
"""Depth of the deepest tree by default: the time of a fit grows with the square of the number of leaves."""
DEEPEST = 10
"""Depth of the deepest tree that may be asked for: its leaves are about as many weights as can be solved directly."""
FILLED = 16
"""Records that a leaf must hold on average, however large ε is (accuracy: benchmarks/features.py)."""
MOST_FINE, COARSE_BINS = 1000, 16
"""With more numeric columns than this, the tree cuts each into this many parts, which takes less time."""
SPLITTING = 0.4
"""Share of ε for the splits of the tree; each level gets √2 times as much as the one above (accuracy:
benchmarks/leaves.py)."""
MOST_NARROWING = Fraction(1, 8)
"""The largest share of ε, by default, for finding the parts of their ranges that numbers fill
(benchmarks/narrowing.py)."""
LEAST_SHARP, SHARP = 12, 40
"""Signal of each such choice, ε n: below the first a part that hardly holds anything could win by chance, so that it is
not bought, and more than the second is not (benchmarks/narrowing.py)."""
GIVEN_UP, HALF = 0.1, 0.05
"""A part of a range may leave this fraction of the records outside for nothing, and this much more for each time that
it is halved: half the range is four times the signal. With more, a value that three in five records have takes the
range (benchmarks/narrowing.py)."""
LARGE_EPSILON = 1e6
"""A larger epsilon, also an infinite one, changes no plan."""


def signal(schema: Schema, epsilon: Epsilon, records: int) -> float:
    """Epsilon times the number of records, halved under replace-one; epsilon is bounded, so that this is finite."""
    return min(float(epsilon), LARGE_EPSILON) * records / schema.adjacency.distance


def needs_records(schema: Schema, regularisation: Any, knots: Any, select: Any, leaves: Any, ranges: Any) -> bool:
    """Whether the plan depends on the number of records."""
    numeric = any(isinstance(column, Numeric) for column in schema.columns)
    choosing = select == "auto" and len(schema.columns) >= WORTH * FEWEST
    growing = leaves == "auto" and len(schema.columns) > 1
    weighing = regularisation == "auto" and len(schema.classes) > 2
    return ("auto" in (knots, ranges) and numeric) or choosing or growing or weighing


def wanted_columns(select: Any, schema: Schema, epsilon: Epsilon, records: int) -> int:
    """How many columns to choose; 0 if all take part."""
    number = len(schema.columns)
    if select is None or select == number or epsilon == math.inf:
        return 0
    if select != "auto":
        return int(select)
    classes = len(schema.classes)
    group, enough = (GROUP, ENOUGH) if classes <= 2 else (GROUP_OF_CLASSES, ENOUGH_OF_CLASSES)
    groups = math.sqrt(signal(schema, epsilon, records) / group * classes / 2)
    wanted = max(FEWEST, math.floor(groups) - 1)
    if number < WORTH * FEWEST or wanted > enough * number:
        return 0
    return min(wanted, number // WORTH)


def choice_shares(epsilon: Epsilon) -> list[Epsilon]:
    """Epsilon for the sizes of the classes, for the choice of columns, and for the rest."""
    return split_by_weight(epsilon, [CHOOSING * WEIGHING, CHOOSING * (1 - WEIGHING), 1 - CHOOSING])


def scores(schema: Schema, noisy_classes: NDArray[Any]) -> list[MajorityScore]:
    """One candidate per column, with classes weighed by the inverse of their noisy counts.

    So all classes together weigh about the same, and a column that tells rare classes apart is seen. A class with less
    than half of the average counts as half of the average: few records cannot tell much.
    """
    counts = [max(1.0, float(count)) for count in noisy_classes.ravel().tolist()]
    least = sum(counts) / (2 * len(counts))
    rarest = max(least, min(counts))
    weights = tuple(max(1, round(HEAVIEST * rarest / max(least, count))) for count in counts)
    return [
        MajorityScore(each.name, PARTS, weights, CUTS)
        if isinstance(each, Numeric)
        else MajorityScore(each.name, None, weights)
        for each in schema.columns
    ]


def _cuts() -> tuple[tuple[int, ...], ...]:
    steps = [range(low, high + 1, max(1, (high - low) // BINS)) for (low, high), _ in CANDIDATES]
    return tuple(tuple(place for place in each if 0 < place < PARTS) for each in steps)


CUTS = _cuts()
"""The ways to cut a number's range when columns are compared, of which the best counts: a part of the range in `BINS`,
and what is outside of it."""


def narrowing(
    ranges: Any, schema: Schema, names: Sequence[str], epsilon: Epsilon, records: int
) -> tuple[list[Filled], Epsilon, Epsilon]:
    """What is asked about the ranges of numbers, its price, and what is left of epsilon."""
    numeric = [name for name in names if isinstance(schema[name], Numeric)]
    if ranges is None or not numeric or epsilon == math.inf:
        return [], Fraction(0), epsilon
    records = min(records, MOST_RECORDS)
    unit = Fraction(len(numeric) * schema.adjacency.distance, records)
    sharp = narrowing_share(ranges) * epsilon / unit
    if ranges == "auto":
        sharp = min(sharp, Fraction(SHARP))
    if ranges == "auto" and sharp < LEAST_SHARP:
        return [], Fraction(0), epsilon
    favour, enough = round(records * HALF), math.ceil(records * (1 - GIVEN_UP))
    return [Filled(name, favour, enough) for name in numeric], sharp * unit, epsilon - sharp * unit


def narrowing_share(ranges: Any) -> Fraction:
    """The largest share of what is left of epsilon that narrowing takes."""
    return MOST_NARROWING if ranges == "auto" else Fraction(as_epsilon(float(ranges)))


def narrowest(schema: Schema, query: Hyperplanes) -> Hyperplanes:
    """The query with as many coordinates for each number as narrowing may give it."""
    parts: dict[int, Part] = {}
    for column in schema.columns:
        if isinstance(column, Numeric) and column.grid not in parts:
            size = partial(size_of, column, query.knots, edges=query.edges)
            parts[column.grid] = max((part for part, _ in CANDIDATES), key=lambda part: size(part=part))
    numeric = [each for each in schema.columns if isinstance(each, Numeric)]
    return replace(query, ranges=tuple((each.name, *parts[each.grid]) for each in numeric))


def numbers_among(schema: Schema, columns: Sequence[str]) -> int:
    """How many of the columns are numbers."""
    return sum(isinstance(schema[name], Numeric) for name in columns)


def depth_of(leaves: Any, schema: Schema, columns: Sequence[str], strength: float, records: int) -> int:
    """How deep a tree to grow at this signal; 0 if none: leaves of one column tell no more than its own group."""
    if leaves != "auto":
        return int(leaves)
    least = LEAVES_FROM if numbers_among(schema, columns) else LEAVES_OF_CATEGORIES
    if len(columns) < 2 or strength < least * (len(columns) + 1) ** 2:
        return 0
    filled = math.floor(math.log2(max(1.0, records / FILLED)))
    return max(0, min(math.floor(0.75 * math.log2(strength) - 2.5), filled, MOST_DEPTH))


def splits(schema: Schema, columns: Sequence[str], epsilon: Epsilon, depth: int) -> tuple[Greedy | None, Epsilon]:
    """The tree to grow, if there is anything to ask, and the epsilon that is left."""
    numbers = numbers_among(schema, columns)
    questions = candidates(schema, None if numbers <= MOST_FINE else COARSE_BINS, columns)
    if not depth or not questions:
        return None, epsilon
    splitting, rest = split_by_weight(epsilon, [SPLITTING, 1 - SPLITTING])
    levels = split_by_weight(splitting, [2 ** (level / 2) for level in range(depth)])
    return Greedy(questions, "gini", tuple(levels), None), rest


def fitting_huber(huber: Any, schema: Schema, leaves: bool) -> float:
    """The rounding of the hinge."""
    if huber != "auto":
        return float(huber)
    return HUBER_OF_LEAVES if leaves and len(schema.classes) <= 2 else HUBER


def fitting_knots(query: Hyperplanes, schema: Schema, epsilon: Epsilon, records: int) -> int:
    """Number of knots that ε pays for: the noise and the number of weights both grow with the number of groups, and
    with the free weights per coordinate, one for two classes and K - 1 for more."""
    free = max(1, len(schema.classes) - 1)
    strength = signal(schema, epsilon, records) / free / len(query.groups(schema)) ** 2
    of_classes = OF_CLASSES if query.columns is None else OF_CHOSEN
    rule = of_classes if free > 1 else KNOTS
    return max((knots for least, knots in rule.items() if strength >= least), default=1)


def has_edges(knots: int, schema: Schema, *, chosen: bool) -> bool:
    """Whether numbers have more knots near their bounds."""
    return knots >= (EDGES_OF_CHOSEN if chosen and len(schema.classes) <= 2 else EDGES_FROM)


def most_knots() -> int:
    """The most knots that the rule gives a numeric column."""
    return max(KNOTS.values())


def fitting_strength(query: Hyperplanes, schema: Schema, epsilon: Epsilon, records: int) -> float:
    """Default regularisation: 3 / ε, or 5 / ε for more than two classes; at least the equivalent of scikit-learn's
    C = 1, and for more than two classes enough for the noise.

    With noise of variance s^2 in the gradient and a signal of g, weights of about w = margin / groups are found with
    the least mean square error if the penalty is s^2 / (g w): (g w + noise) / (g / w + penalty) against w. A class has
    about g = records / K. For many classes the noise per weight is large, and so is this.
    """
    groups, classes = query.groups(schema), len(schema.classes)
    least = 1 / len(groups)
    share = max(float(epsilon), 1e-12)
    if not math.isfinite(share):
        return least
    if classes <= 2:
        return max(STRENGTH / share, least)
    noise = noise_variance(groups, classes, share / schema.adjacency.distance)
    return max(STRENGTH_OF_CLASSES / share, least, noise * classes / (MARGIN * records))


def fitting_bits(query: Hyperplanes, schema: Schema, epsilon: Epsilon, strength: float) -> int:
    """Bits of a weight: for more than two classes as many as keep the lattice's noise near 1 % of the other noise.

    Weights shrink with the regularisation, which is large for many classes, and the lattice must be finer by as much.
    The lattice's noise has a scale of 100 weights / ε steps, and the other noise moves a weight by s / penalty.
    """
    groups, classes = query.groups(schema), len(schema.classes)
    share = float(epsilon) / schema.adjacency.distance
    if classes <= 2 or not math.isfinite(share):
        return BITS
    steps = 100 * classes * sum(groups) / float(epsilon)
    moved = math.sqrt(noise_variance(groups, classes, share)) / (strength * len(groups))
    return min(MOST_FITTING_BITS, max(BITS, math.ceil(math.log2(100 * steps / moved))))
