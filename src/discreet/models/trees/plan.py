"""How a tree is planned from public facts alone: ε, the number of records n, the number of classes K, the columns.

The rule looks at the signal, ε n (under replace-one ε n / 2), and at the signal per class, twice the signal over K. Its
constants were chosen on public data sets; benchmarks/trees.py shows the accuracy with them. Privacy does not depend on
the rule.

    signal per class below 6        a random tree of few questions; asks for the class of each leaf
    signal below 100                a stump: one column in two parts or a few, chosen together with their classes
    signal of 100 or more           a labelled tree: one question, and one more for every doubling (two classes: from
                                    400 on), then such a stump for each leaf; with more than four classes from 50 on
    signal per class of 800 or more a greedy tree, seven questions deeper for every 256 times the signal, to 12, whose
                                    leaves are counted; by the Gini index if the signal per class is 1000 K or more
    more than 8 classes             a deeper random tree below a signal per class of 20 log2 K: few parts name too few
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.doors.labelled_plan import Labelled
from discreet.doors.tree_plans import Fixed, Greedy, Plan, Published
from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import split_by_weight
from discreet.queries.stumps import PARTS, Stumps, along, among, most_along
from discreet.queries.trees import MOST_CATEGORIES, Node, Split, Tree, candidates
from discreet.schema import Schema
from discreet.schema.columns import Categorical

STRUCTURES = ("auto", "greedy", "labelled", "stump", "random", "published")
MANY_RECORDS = 10**9
"""More records than this change no plan."""
LARGE_EPSILON = 1e6
"""A larger epsilon, also an infinite one, changes no plan."""
ENOUGH, COUNTED = 100.0, 800.0
"""Least signal for questions above the stumps, and least signal per class for a tree whose leaves are counted: these
know probabilities, and from there on they are about as accurate (benchmarks/labelled.py)."""
NAMED = 4
"""With more classes than this, half of the signal is enough for a question: a stump names three of them at most
(accuracy: benchmarks/labelled.py)."""
GROWING = 1.5
"""Each level of a labelled tree, the stumps included, gets so many times the share of the one above. In a search that
is not kept, ratios from 1 to 3 differed by 0.003 on average."""
SURE, LEAST_SURE, MOST_SURE = 5.5, 0.05, 0.2
"""The leaves of a labelled tree get the share of epsilon at which so many standard deviations of the noise in their sum
are all records: then it shows whether there are any of the listed classes (models/remarks.py). At least and at most
these shares: they tell how sure the classes are, too."""
WEAK, FINE, FAIR, STRONG = 6.0, 20.0, 30.0, 2000.0
"""Signals per class at which the rule changes: to stumps, to finer ones, to counted leaves of random trees, to the Gini
index and several trees (accuracy: benchmarks/trees.py, benchmarks/labelled.py; the second was chosen in a search that
is not kept)."""
FEW_CLASSES = 8
"""Most classes for a stump, whose few parts can name only few classes (accuracy: benchmarks/trees.py)."""
EACH_LEVEL = 20.0
"""With more classes, signal per class that a greedy tree needs for each of the log2 K levels without which it cannot
name all of them; a random tree pays for none (accuracy: benchmarks/trees.py)."""
RANDOM_DEPTH = 6
"""Depth of the deepest random tree by default; if its leaves are counted, one more."""
COARSE_BINS = 16
"""Parts of a numeric column between which random trees draw their thresholds, as do greedy ones of very wide tables."""
MOST_FINE = 1000
"""Most numeric columns that are cut at fine thresholds: of more, these would be too many to list."""
MOST_DEPTH = 12
"""Depth of the deepest tree: it has up to 4096 leaves, and every node costs time."""
DEEPER, SHALLOWER = 0.875, 3.75
"""Levels for every doubling of the signal, and how many fewer levels there are in all. The best of a grid of such pairs
on the two collections of benchmarks/frontier.py and benchmarks/keel.py together, at signals from 120 to 5000; on each
it is better than what was best on the other."""
RARER = 5.0
"""By how much less signal a tree is planned for if classes are weighted (recall: benchmarks/imbalance.py)."""
LEAVES = 0.3
"""Share of epsilon for the leaves of a greedy tree; the levels get the rest, each √2 times as much as the one above
(accuracy: benchmarks/trees.py)."""
MOST_LABELLED = 300_000
"""Most labelled stumps that are compared, divided among the columns: this takes a second or two."""
MOST_OF_CATEGORIES = 2000
"""Most labelled stumps of a column of categories: there are many more if several may differ from the rest."""
HALVES, QUARTERS, EIGHTHS, NEAR_BOUNDS = 2, 4, 8, (1, 2, 4, PARTS - 4, PARTS - 2, PARTS - 1)
"""Where stumps cut a number: declared bounds are wide, and many values lie near one of them."""
MOST_CHOICES = 20_000_000
"""Most candidates that are compared, over all nodes, unless a depth is asked for; and most stumps, over all leaves,
whatever depth is asked for: this takes some seconds."""
USUAL_CLASSES = 16
"""With c times as many classes as this, a candidate takes c times as long, and counts as c candidates."""
MOST_ASKED = 1_000_000_000
"""Most candidates that are compared if a depth is asked for: this takes minutes."""


def signal(schema: Schema, epsilon: Epsilon, records: int) -> float:
    """Epsilon times the number of records, both bounded; half of it under replace-one, where the noise is doubled."""
    return min(float(epsilon), LARGE_EPSILON) * min(records, MANY_RECORDS) / schema.adjacency.distance


def of_a_class(strength: float, classes: int) -> float:
    """Signal per class: twice the signal over the number of classes, so for two classes the signal itself."""
    return 2.0 * strength / classes


def needs_records(structure: str, max_depth: int | None, score: str) -> bool:
    """Whether the plan depends on the number of records. That of a stump hardly does: it is not worth buying, and
    stumps are as fine as for many records if the schema does not declare it."""
    if structure == "greedy":
        return max_depth is None or score == "auto"
    return structure in ("auto", "random", "labelled")


def rule(strength: float, classes: int) -> str:
    """The structure that "auto" chooses for a signal."""
    own = of_a_class(strength, classes)
    if classes > FEW_CLASSES and own < EACH_LEVEL * math.log2(classes):
        return "random"
    if strength >= (ENOUGH if classes <= NAMED else ENOUGH / 2):
        return "greedy" if own >= COUNTED else "labelled"
    return "stump" if own >= WEAK else "random"


def plan(
    schema: Schema,
    epsilon: Epsilon,
    strength: float,
    structure: str,
    max_depth: int | None,
    thresholds: int | str,
    score: str,
    rng: Randomness,
    columns: Sequence[str] | None = None,
    *,
    weighted: bool = False,
) -> Plan:
    """Plan one tree. Randomness is drawn only for a random tree, and before any data are read.

    If classes are weighted, leaves need counts, not the majority; and a rare class has less signal than all records.
    """
    names, classes = schema.names if columns is None else columns, len(schema.classes)
    bins = usual_bins(schema, names) if thresholds == "auto" else int(thresholds) + 1
    if structure == "auto":
        structure = rule(strength, classes)
        by_majority = not weighted and classes**2 * len(names) <= MOST_LABELLED  # or too many stumps
        if structure == "stump" and not by_majority:
            structure = "random"
        if structure == "labelled" and not (by_majority and max_depth is None):
            structure = "greedy"
    if structure == "published":
        return published(schema, epsilon, max_depth)
    if structure == "stump":
        return Labelled(None, stumps(schema, names, strength), epsilon)
    if structure == "random":
        depth = random_depth(strength, classes) if max_depth is None else max_depth
        labels = of_a_class(strength, classes) < FAIR and not weighted
        return Fixed(drawn(schema, names, depth, bins or COARSE_BINS, rng), epsilon, labels)
    splits = candidates(schema, bins, names)
    known = strength / RARER if weighted else strength
    usual = labelled_depth if structure == "labelled" else greedy_depth
    depth = usual(known, len(splits), classes) if max_depth is None else max_depth
    if 2**depth * len(splits) > MOST_ASKED:
        raise ParameterError(
            f"max_depth={depth} on {len(names)} columns compares {2**depth * len(splits):,} splits; need at most "
            f"{MOST_ASKED:,}: take a smaller max_depth or fewer thresholds or columns"
        )
    if score == "auto":
        score = "max" if weighted or structure == "labelled" else best_score(strength, classes)
    if structure == "labelled":
        families = stumps(schema, names, strength)
        compared = sum(family.number(classes) for family in families)
        depth = min(depth, math.floor(math.log2(MOST_CHOICES / max(compared, 1))))
        return labelled(splits, families, epsilon, depth, score, surely(strength, depth, classes, families))
    return greedy(splits, epsilon, depth, score)


def usual_bins(schema: Schema, columns: Sequence[str]) -> int | None:
    """None for fine thresholds of many scales; on very wide tables a number of equal parts."""
    numeric = sum(not isinstance(schema[name], Categorical) for name in columns)
    return None if numeric <= MOST_FINE else COARSE_BINS


def greedy(splits: tuple[Split, ...], epsilon: Epsilon, depth: int, score: str) -> Greedy:
    """Divide epsilon among the levels in a geometric sequence, and the leaves. Without questions there is one leaf."""
    if not splits or not depth:
        return Greedy(splits, score, (), epsilon)
    weights = [2 ** (level / 2) for level in range(depth)]
    levels = [(1 - LEAVES) * weight / sum(weights) for weight in weights]
    *shares, leaves = split_by_weight(epsilon, [*levels, LEAVES])
    return Greedy(splits, score, tuple(shares), leaves)


def labelled(
    splits: tuple[Split, ...],
    families: tuple[Stumps, ...],
    epsilon: Epsilon,
    depth: int,
    score: str,
    sure: float,
) -> Labelled:
    """Divide epsilon among the levels of questions, the stumps below them, in a geometric sequence, and the counts."""
    if not splits or not depth:
        return Labelled(None, families, epsilon)
    weights = [GROWING**level for level in range(depth + 1)]
    parts = [(1 - sure) * weight / sum(weights) for weight in weights]
    *shares, last, leaves = split_by_weight(epsilon, [*parts, sure])
    return Labelled(Greedy(splits, score, tuple(shares), None), families, last, leaves)


def surely(strength: float, depth: int, classes: int, families: Sequence[Stumps]) -> float:
    """The share of epsilon for the leaves of a labelled tree, so that their sum can be told from 0.

    Its noise is that of so many leaves times classes, each of variance 2 / (share epsilon)^2; a stump counts as having
    the most leaves of its family, on average over families.
    """
    parts = sum(family.leaves for family in families) / max(1, len(families))
    noise = math.sqrt(2.0 * classes * parts * 2.0**depth)
    return min(MOST_SURE, max(LEAST_SURE, SURE * noise / max(strength, 1.0)))


def published(schema: Schema, epsilon: Epsilon, max_depth: int | None) -> Published:
    """Give every table epsilon / q, where q = 1 + the sum over levels of (m - level), and m is the number of questions.

    The default depth is the square root of m, at most 12: noise is drawn for every node, so deep trees take long.
    """
    splits = candidates(schema, 2)
    usual = min(math.ceil(math.sqrt(len(splits))), MOST_DEPTH)
    depth = min(len(splits), usual if max_depth is None else max_depth)
    tables = [len(splits) - level for level in range(depth)]
    *levels, leaves = split_by_weight(epsilon, [*tables, 1])
    return Published(splits, tuple(levels), leaves)


def greedy_depth(strength: float, questions: int, classes: int) -> int:
    """Seven levels for every 256 times the signal, less `SHALLOWER`, but enough leaves for all classes (accuracy:
    benchmarks/trees.py); fewer on wide tables, and with many classes. No path can ask more questions than there are."""
    compared = questions * max(1.0, classes / USUAL_CLASSES)
    affordable = math.floor(math.log2(1 + MOST_CHOICES / max(compared, 1.0)))
    supported = math.floor(DEEPER * math.log2(max(strength, 1.0)) - SHALLOWER)
    return max(1, min(MOST_DEPTH, affordable, questions, max(supported, _levels(classes))))


def labelled_depth(strength: float, questions: int, classes: int) -> int:
    """One question, and one more for every doubling of the signal, for two classes from twice the signal on; with many
    classes enough leaves for all of them."""
    doublings = math.log2(max(strength, 1.0) / (ENOUGH if classes > 2 else 2 * ENOUGH))
    supported = 1 + math.floor(max(0.0, doublings))
    return max(0, min(MOST_DEPTH, questions, max(supported, _levels(classes) - 1 if classes > FEW_CLASSES else 0)))


def best_score(strength: float, classes: int) -> str:
    """The criterion that "auto" chooses: Gini sees progress before the majority changes, but needs twice the noise, and
    with more classes a stronger signal of each."""
    return "gini" if of_a_class(strength, classes) >= STRONG * classes / 2 else "max"


def random_depth(strength: float, classes: int) -> int:
    """With a weak signal its logarithm, at most three, and at least two with more than two classes; otherwise enough
    leaves for all classes, and twice as many where they are counted."""
    own = of_a_class(strength, classes)
    if own < WEAK:
        return max(1 if classes <= 2 else 2, min(3, round(math.log2(max(own, 1.0)))))
    return max(3, min(RANDOM_DEPTH, _levels(classes) + 2)) + (own >= FAIR)


def _levels(classes: int) -> int:
    """The least number of levels with a leaf for each class."""
    return math.ceil(math.log2(classes))


def stumps(schema: Schema, columns: Sequence[str], strength: float) -> tuple[Stumps, ...]:
    """Families of stumps: numbers in quarters and, at a stronger signal, in eighths and near the bounds; categories one
    by one, and several of a few."""
    classes = len(schema.classes)
    if classes**2 * len(columns) > MOST_LABELLED:
        raise ParameterError(
            f"{classes} classes are too many for stumps of {len(columns)} columns; use structure='greedy' or 'random'"
        )
    most = MOST_LABELLED // max(1, len(columns))
    is_fine = of_a_class(strength, classes) >= FINE
    parts = (QUARTERS, EIGHTHS, NEAR_BOUNDS) if is_fine else (HALVES, QUARTERS) if classes > 3 else (QUARTERS,)
    families: list[Stumps] = []
    for name in columns:
        column = schema[name]
        if not isinstance(column, Categorical):
            families += list(along(name, classes, parts, most)) or along(name, classes, (HALVES,), most)
        elif column.size <= MOST_CATEGORIES:
            families += among(name, column.size, classes, min(most, MOST_OF_CATEGORIES))
    return tuple(families)


def most_compared(schema: Schema, depth: float) -> float:
    """At most so many stumps are compared below this many levels of questions, whatever the signal."""
    classes = len(schema.classes)
    if classes**2 * len(schema.columns) > MOST_LABELLED:
        return 0.0
    finest = len(schema.columns) * most_along((QUARTERS, EIGHTHS, NEAR_BOUNDS), classes)
    finest += sum(
        MOST_OF_CATEGORIES + each.size * classes**2 for each in schema.columns if isinstance(each, Categorical)
    )
    return float(min(MOST_CHOICES, min(finest, MOST_LABELLED) * math.pow(2.0, min(depth, MOST_DEPTH))))


def drawn(schema: Schema, columns: Sequence[str], depth: int, bins: int, rng: Randomness) -> Tree:
    """Draw a tree at random: each question halves the range of a numeric column, or singles out one category.

    A path asks about a column again only after all other columns.
    """
    start = {
        name: range(column.size) if isinstance(column, Categorical) else range(bins)
        for name in columns
        for column in [schema[name]]
        if not isinstance(column, Categorical) or column.size <= MOST_CATEGORIES
    }
    nodes: list[Node] = []
    waiting: list[tuple[list[str], dict[str, Sequence[int]]]] = [([], dict(start))]
    while waiting:
        path, box = waiting.pop()
        least = min((path.count(name) for name, codes in box.items() if len(codes) > 1), default=None)
        if len(path) == depth or least is None:
            nodes.append(None)
            continue
        fresh = [name for name, codes in box.items() if len(codes) > 1 and path.count(name) == least]
        name = fresh[_draw(len(fresh), rng)]
        codes, path = box[name], [*path, name]
        if isinstance(schema[name], Categorical):
            code = codes[_draw(len(codes), rng)]
            yes, no = [code], [each for each in codes if each != code]
            nodes.append(Split(name, None, code))
        else:
            yes, no = list(codes[: len(codes) // 2]), list(codes[len(codes) // 2 :])
            nodes.append(Split(name, bins, yes[-1]))
        waiting += [(path, {**box, name: no}), (path, {**box, name: yes})]
    return Tree(tuple(nodes))


def _draw(below: int, rng: Randomness) -> int:
    return int(rng.integers(below, (1,))[0])
