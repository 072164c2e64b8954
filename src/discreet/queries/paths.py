"""Splits and paths of a tree in words."""

from __future__ import annotations

from discreet.queries.trees import Split, Tree
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Label


def question(split: Split, schema: Schema) -> tuple[str, str]:
    """The question of a node, as text for its left and for its right branch.

    >>> from discreet.schema.columns import Numeric
    >>> question(Split("age", 4, 1), Schema([Numeric("age", 0, 100)], "ill", ["no", "yes"]))
    ('age < 50', 'age >= 50')
    """
    column = schema[split.column]
    if isinstance(column, Categorical):
        name = category(split, schema)
        return f"{split.column} = {name}", f"{split.column} is not {name}"
    return f"{split.column} < {threshold(split, schema):.6g}", f"{split.column} >= {threshold(split, schema):.6g}"


def threshold(split: Split, schema: Schema) -> float:
    """The threshold: records below it go left."""
    column = schema[split.column]
    assert not isinstance(column, Categorical), "only numbers have thresholds"
    return float(column.lower + (column.upper - column.lower) * (split.code + 1) / (split.bins or 1))


def category(split: Split, schema: Schema) -> Label:
    """The category whose records go left."""
    column = schema[split.column]
    assert isinstance(column, Categorical), "only categories have names"
    return column.categories[split.code] if split.code < len(column.categories) else "(unlisted)"


Answers = tuple[tuple[Split, bool], ...]
"""The splits on a path, each with whether the path goes left there."""


def path_of_each_leaf(tree: Tree, schema: Schema) -> list[str]:
    """The path to each leaf in words, from left to right; what is said twice about a column is said once.

    >>> from discreet.schema.columns import Numeric
    >>> ages = Schema([Numeric("age", 0, 100)], "ill", ["no", "yes"])
    >>> path_of_each_leaf(Tree((Split("age", 4, 1), Split("age", 4, 0), None, None, None)), ages)
    ['age < 25', '25 <= age < 50', 'age >= 50']
    """
    found: list[str] = []
    waiting: list[Answers] = [()]
    for node in tree.nodes:
        path = waiting.pop()
        if node is None:
            found.append(_path(path, schema))
        else:
            waiting += [(*path, (node, False)), (*path, (node, True))]
    return found


def _path(path: Answers, schema: Schema) -> str:
    parts = []
    for name in dict.fromkeys(split.column for split, _ in path):
        own = [(split, left) for split, left in path if split.column == name]
        parts.append(_categories(own, schema) if own[0][0].bins is None else _interval(own, schema))
    return ", ".join(parts) or "all records"


def _categories(own: list[tuple[Split, bool]], schema: Schema) -> str:
    name = own[0][0].column
    inside = [str(category(split, schema)) for split, left in own if left]
    outside = dict.fromkeys(str(category(split, schema)) for split, left in own if not left)
    return f"{name} = {inside[0]}" if inside else f"{name} is not {' or '.join(outside)}"


def _interval(own: list[tuple[Split, bool]], schema: Schema) -> str:
    name = own[0][0].column
    below = min((threshold(split, schema) for split, left in own if left), default=None)
    above = max((threshold(split, schema) for split, left in own if not left), default=None)
    if below is None:
        return f"{name} >= {above:.6g}"
    return f"{name} < {below:.6g}" if above is None else f"{above:.6g} <= {name} < {below:.6g}"
