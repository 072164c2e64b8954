"""A tree as text, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from discreet.models.trees.leaves import GrownTree
from discreet.queries.paths import category, question, threshold
from discreet.queries.trees import Split
from discreet.schema import Schema
from discreet.schema.columns import Label

SHOWN_DEPTH = 4
"""Levels of a tree that are shown by default: fifteen questions can still be read."""

NOTHING = "Every record gets the same class: at this ε, no question told more than the noise."
"""What is said of a tree without questions."""


def describe(grown: GrownTree, schema: Schema, classes: Sequence[Label], top: int | None = None) -> str:
    """The tree as indented text; branches deeper than `top` questions are folded into a remark."""
    whole = None if grown.records is None else float(grown.records.sum())
    lines = list(_lines(content(grown, schema, classes, top), schema.target, whole, ""))
    if grown.tree.leaves == 1:
        lines = [lines[0].replace("THEN ", "Always ", 1), NOTHING]
    return "\n".join(lines)


def _lines(branch: dict[str, Any], target: str, whole: float | None, indent: str) -> Iterator[str]:
    if "left" not in branch:
        yield f"{indent}{_verdict(branch, target, whole)}"
        return
    for word, side, text in (("IF", "left", branch["if"]), ("ELSE", "right", branch["else"])):
        lead = f"{indent}{word} {text}" if word == "IF" else f"{indent}ELSE ({text})"
        if "left" in branch[side]:
            yield lead
            yield from _lines(branch[side], target, whole, indent + "    ")
        else:
            yield f"{lead} {_verdict(branch[side], target, whole)}"


def _verdict(leaf: dict[str, Any], target: str, whole: float | None) -> str:
    """The class of a leaf and its probability; a leaf without counts has no probability to show."""
    highest, records = max(leaf["shares"].values()), leaf["records"]
    told = (
        ""
        if records is None
        else "hardly any records"
        if records < 1
        else f"{highest:.0%} of the weight, about {records:,.0f} records"
        if leaf.get("weighted")
        else f"{highest:.0%} of about {records:,.0f} records"
    )
    if not leaf["cut"]:
        return f"THEN {target} = {leaf['class']}" + (f"  ({told})" if told else "")
    percent = f"{records / whole:.0%}" if whole and records is not None else ""
    share = f" for {'under 1%' if percent == '0%' else percent} of the records" if percent else ""
    return f"… {more_questions(leaf)} below{share}, mostly {target} = {leaf['class']}" + (f"  ({told})" if told else "")


def more_questions(leaf: dict[str, Any]) -> str:
    """How many questions are folded into a leaf."""
    return f"{leaf['cut'] - 1:,} more question{'' if leaf['cut'] == 2 else 's'}"


def content(grown: GrownTree, schema: Schema, classes: Sequence[Label], top: int | None = None) -> dict[str, Any]:
    """The tree as nested plain data: questions with a left and a right branch, leaves with class probabilities.

    A branch deeper than `top` becomes one leaf: the mean of its leaves, weighted by their records.
    """
    depth = grown.tree.links()[2]
    made: list[tuple[dict[str, Any], list[int]]] = []
    leaf = grown.tree.leaves
    for place in reversed(range(len(grown.tree.nodes))):
        node = grown.tree.nodes[place]
        if node is None:
            leaf -= 1
            made.append((_leaf(grown, classes, [leaf]), [leaf]))
            continue
        (yes, first), (no, second) = made.pop(), made.pop()
        if top is not None and depth[place] >= top:
            made.append((_leaf(grown, classes, first + second), first + second))
            continue
        texts = question(node, schema)
        made.append(
            ({**_split(node, schema), "if": texts[0], "else": texts[1], "left": yes, "right": no}, first + second)
        )
    return made.pop()[0]


def _split(split: Split, schema: Schema) -> dict[str, Any]:
    if split.bins is None:
        return {"column": split.column, "category": category(split, schema)}
    return {"column": split.column, "threshold": threshold(split, schema)}


def _leaf(grown: GrownTree, classes: Sequence[Label], leaves: list[int]) -> dict[str, Any]:
    weights = [1.0] * len(leaves) if grown.records is None else [float(grown.records[leaf]) + 1e-9 for leaf in leaves]
    whole = sum(weights)
    mean = sum(weight / whole * grown.probabilities[leaf] for weight, leaf in zip(weights, leaves, strict=True))
    named = {str(label): round(float(each), 6) for label, each in zip(classes, mean, strict=True)}
    records = None if grown.records is None else round(float(sum(grown.records[leaf] for leaf in leaves)), 3)
    best = classes[int(mean.argmax())]
    weighted = {} if grown.weights is None else {"weighted": True}
    cut = len(leaves) if len(leaves) > 1 else 0
    return {"class": best, "shares": named, "records": records, "cut": cut, **weighted}
