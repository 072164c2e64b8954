"""How a tree is made of what is public: one rule from the number of records, epsilon, classes and columns.

The rule goes by the signal, ε n (epsilon times the number of records), and by the signal of a class, 2 ε n / K. It was
fixed on public data sets; privacy does not depend on it.

    a class's signal below 6      a tree drawn at random, at most three questions deep, and the classes of its leaves
    a signal of 150, 40 a class   greedy, one question deeper whenever the signal is four times as strong; by the Gini
                                  index from 2000 a class
    between these                 "stump": one column cut in up to four parts, with their classes, chosen at once; with
                                  more than 8 classes, of which four parts name too few, a deeper random tree
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.doors.tree_plans import BestLabelled, Fixed, Greedy, Plan, Published
from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import split_by_weight
from discreet.queries.trees import MOST_CATEGORIES, Node, Split, Tree, candidates
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column

STRUCTURES = ("auto", "greedy", "stump", "random", "published")
MANY_RECORDS = 10**9
"""No rule looks beyond so many records."""
ENOUGH = 150.0
"""The signal from which a tree can be grown."""
WEAK, FAIR, STRONG = 6.0, 40.0, 2000.0
"""Signals of a class between which the rule changes."""
FEW_CLASSES = 8
"""With more classes, a column cut in a few parts names too few of them."""
DEFAULT_DEPTH = 6
"""The deepest tree that is grown unasked: it can still be read, and is grown in a fraction of a second."""
MOST_DEPTH = 12
"""The deepest tree that may be asked for."""
LEAVES = 0.3
"""The share of epsilon for the leaves of a greedy tree; its levels share the rest, each √2 times the one above."""
MOST_STUMPS = 1000
"""About so many labelled stumps are compared at most, where there is a choice."""
MOST_CHOICES = 200_000
"""So many candidates are compared at most, all nodes together, unless a depth is asked for: a second or two."""


def signal(epsilon: Epsilon, records: int) -> float:
    """Epsilon times the number of records."""
    return min(float(epsilon), 1e6) * min(records, MANY_RECORDS)


def of_a_class(strength: float, classes: int) -> float:
    """Twice the signal over the number of classes: the signal itself if there are two."""
    return 2.0 * strength / classes


def needs_records(structure: str, max_depth: int | None, score: str) -> bool:
    """Whether the plan depends on the number of records."""
    if structure == "greedy":
        return max_depth is None or score == "auto"
    return structure in ("auto", "random")


def rule(strength: float, classes: int) -> str:
    """The structure for a signal."""
    if strength >= ENOUGH and of_a_class(strength, classes) >= FAIR:
        return "greedy"
    return "stump" if of_a_class(strength, classes) >= WEAK and classes <= FEW_CLASSES else "random"


def plan(
    schema: Schema,
    epsilon: Epsilon,
    strength: float,
    structure: str,
    max_depth: int | None,
    thresholds: int,
    score: str,
    rng: Randomness,
    columns: Sequence[str] | None = None,
) -> Plan:
    """The plan of one tree. Draws only for a random tree, and before anything is read."""
    names, classes = schema.names if columns is None else columns, len(schema.classes)
    if structure == "auto":
        structure = rule(strength, classes)
        if structure == "stump" and classes**2 * len(names) > MOST_CHOICES:  # too many to compare
            structure = "random"
    if structure == "published":
        return published(schema, epsilon, max_depth)
    if structure == "stump":
        return BestLabelled(stumps(schema, names), epsilon)
    if structure == "random":
        depth = random_depth(strength, classes) if max_depth is None else max_depth
        labels = of_a_class(strength, classes) < FAIR
        return Fixed(drawn(schema, names, depth, thresholds + 1, rng), epsilon, labels)
    questions = len(candidates(schema, thresholds + 1, names))
    depth = greedy_depth(strength, questions) if max_depth is None else max_depth
    score = best_score(strength, classes) if score == "auto" else score
    return greedy(schema, names, epsilon, depth, thresholds + 1, score)


def greedy(schema: Schema, columns: Sequence[str], epsilon: Epsilon, depth: int, bins: int, score: str) -> Greedy:
    """Levels in a geometric sequence, then the leaves. Without a question to ask there are only leaves."""
    splits = candidates(schema, bins, columns)
    if not splits or not depth:
        return Greedy(splits, score, (), epsilon)
    weights = [2 ** (level / 2) for level in range(depth)]
    levels = [(1 - LEAVES) * weight / sum(weights) for weight in weights]
    *shares, leaves = split_by_weight(epsilon, [*levels, LEAVES])
    return Greedy(splits, score, tuple(shares), leaves)


def published(schema: Schema, epsilon: Epsilon, max_depth: int | None) -> Published:
    """Every table has epsilon / q, q = 1 + sum over levels of (m - level), m questions.

    The depth is the root of m, 12 at most: noise is drawn for every node, so that many columns take their time.
    """
    splits = candidates(schema, 2)
    usual = min(math.ceil(math.sqrt(len(splits))), MOST_DEPTH)
    depth = min(len(splits), usual if max_depth is None else max_depth)
    tables = [len(splits) - level for level in range(depth)]
    *levels, leaves = split_by_weight(epsilon, [*tables, 1])
    return Published(splits, tuple(levels), leaves)


def greedy_depth(strength: float, questions: int) -> int:
    """Half of the signal's logarithm, less a half: four times the signal for one more level; less on wide tables."""
    affordable = math.floor(math.log2(1 + MOST_CHOICES / max(questions, 1)))
    return max(1, min(DEFAULT_DEPTH, affordable, math.floor(math.log2(max(strength, 1.0)) / 2 - 0.5)))


def best_score(strength: float, classes: int) -> str:
    """The Gini index sees progress where the majority does not change yet, but costs twice the noise."""
    return "gini" if of_a_class(strength, classes) >= STRONG else "max"


def random_depth(strength: float, classes: int) -> int:
    """The signal's logarithm, three at most; enough leaves for all classes once there is a signal."""
    if of_a_class(strength, classes) < WEAK:
        return max(1, min(3, round(math.log2(max(of_a_class(strength, classes), 1.0)))))
    return max(3, min(DEFAULT_DEPTH, math.ceil(math.log2(classes)) + 2))


def stumps(schema: Schema, columns: Sequence[str]) -> tuple[Tree, ...]:
    """A single leaf, and trees of one column: numbers in equal parts, few categories one by one, of many each against
    the rest."""
    classes = len(schema.classes)
    if classes**2 * len(columns) > MOST_CHOICES:
        raise ParameterError(f"{classes} classes are too many for structure='stump'; use 'greedy' or 'random'")
    parts = max((each for each in (2, 3, 4) if len(columns) * classes**each <= MOST_STUMPS), default=2)
    return Tree((None,)), *(tree for name in columns for tree in _stumps_of(schema[name], parts))


def _stumps_of(column: Column, parts: int) -> list[Tree]:
    if not isinstance(column, Categorical):
        return [Tree(tuple(_halves(column.name, parts, 0, parts)))]
    if column.size <= parts:
        splits: list[Node] = [
            node for code in range(column.size - 1) for node in (Split(column.name, None, code), None)
        ]
        return [Tree((*splits, None))] if splits else []
    codes = range(column.size if column.size > 2 else 1)
    return [Tree((Split(column.name, None, code), None, None)) for code in codes if column.size <= MOST_CATEGORIES]


def _halves(name: str, bins: int, low: int, high: int) -> list[Node]:
    """The bins from low to high - 1, each a leaf, of a tree as flat as can be."""
    if high - low == 1:
        return [None]
    middle = (low + high) // 2
    return [Split(name, bins, middle - 1), *_halves(name, bins, low, middle), *_halves(name, bins, middle, high)]


def drawn(schema: Schema, columns: Sequence[str], depth: int, bins: int, rng: Randomness) -> Tree:
    """A tree whose questions are drawn at random: a column, halved (numbers), or one of its categories.

    A column comes up again on a path only after all others.
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
