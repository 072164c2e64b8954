"""A tree as text, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from discreet.models.trees.leaves import GrownTree
from discreet.queries.paths import category, question, threshold
from discreet.queries.tree_paths import Box, branches
from discreet.queries.trees import Split, Tree
from discreet.released.intervals import margin
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
    told = sureness(leaf)
    if not leaf["cut"]:
        return f"THEN {target} = {leaf['class']}" + (f"  ({told})" if told else "")
    records = leaf["records"]
    percent = f"{records / whole:.0%}" if whole and records is not None else ""
    share = f" for {'under 1%' if percent == '0%' else percent} of the records" if percent else ""
    return f"… {more_questions(leaf)} below{share}, mostly {target} = {leaf['class']}" + (f"  ({told})" if told else "")


def sureness(leaf: dict[str, Any]) -> str:
    """How many records a leaf has, which share has its class, and whether that may be noise alone."""
    records, off = leaf["records"], leaf["noise"] or 0.0
    if records is None:
        return ""
    if records < 1:
        return "hardly any records"
    if leaf["empty"]:
        return "no more records than noise"
    spread = f", give or take {off:,.0f}" if off >= max(1.0, 0.01 * records) else ""
    close = "; within the noise" if leaf["within_noise"] else ""
    share = f"{max(leaf['shares'].values()):.0%}"
    if leaf.get("weighted"):
        return f"{share} of the weight, about {records:,.0f} records{spread}{close}"
    return f"{share} of about {records:,.0f} records{spread}{close}"


def more_questions(leaf: dict[str, Any]) -> str:
    """How many questions are folded into a leaf."""
    return f"{leaf['cut'] - 1:,} more question{'' if leaf['cut'] == 2 else 's'}"


def content(grown: GrownTree, schema: Schema, classes: Sequence[Label], top: int | None = None) -> dict[str, Any]:
    """The tree as nested plain data: questions with a left and a right branch, leaves with class probabilities.

    A branch deeper than `top` becomes one leaf: the mean of its leaves, weighted by their records. A question that the
    questions above it have already answered is left out, with the branch to which no record can come.
    """
    depth, is_asked = _shown(grown.tree, schema)
    made: list[tuple[dict[str, Any], list[int]]] = []
    leaf = grown.tree.leaves
    for place in reversed(range(len(grown.tree.nodes))):
        node = grown.tree.nodes[place]
        if node is None:
            leaf -= 1
            made.append((_leaf(grown, classes, [leaf]), [leaf]))
            continue
        (yes, first), (no, second) = made.pop(), made.pop()
        if is_asked[place] is not None:
            made.append((yes, first) if is_asked[place] else (no, second))
        elif top is not None and depth[place] >= top:
            made.append((_leaf(grown, classes, first + second), first + second))
        else:
            texts = question(node, schema)
            branch = {**_split(node, schema), "if": texts[0], "else": texts[1], "left": yes, "right": no}
            made.append((branch, first + second))
    return made.pop()[0]


def _shown(tree: Tree, schema: Schema) -> tuple[list[int], list[bool | None]]:
    """The depth of each node among those that are shown; and which way a node goes that is answered already, True for
    left, None if its question is open."""
    left, right, _ = tree.links()
    depth = [0] * len(tree.nodes)
    answered: list[bool | None] = [None] * len(tree.nodes)
    boxes: list[Box | None] = [{}] * len(tree.nodes)
    for place, node in enumerate(tree.nodes):
        if node is None:
            continue
        halves = branches(boxes[place], node, schema)
        possible = [half is not None and all(len(codes) for codes in half.values()) for half in halves]
        answered[place] = None if all(possible) or not any(possible) else possible[0]
        for child, half in ((left[place], halves[0]), (right[place], halves[1])):
            boxes[child] = half
            depth[child] = depth[place] + (answered[place] is None)
    return depth, answered


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
    best = int(mean.argmax())
    folded = {"class": classes[best], "shares": named, "records": records, "cut": len(leaves) if len(leaves) > 1 else 0}
    weighted = {} if grown.weights is None else {"weighted": True}
    return folded | weighted | _noise(grown, leaves, best)


def _noise(grown: GrownTree, leaves: list[int], best: int) -> dict[str, Any]:
    """How far noise may have moved the number of records in 95 of 100 cases, whether that may be all of them, and
    whether it may have decided which class is the largest; with weights, noise counts as that of the heaviest class."""
    if grown.counts is None or grown.variances is None:
        return {"noise": None, "empty": False, "within_noise": False}
    counts, variance = grown.counts[leaves].sum(axis=0), float(grown.variances[leaves].sum())
    each = np.ones(len(counts)) if grown.weights is None else grown.weights
    off, weighed = margin(variance, len(counts)), counts * each
    others, apart = np.delete(weighed, best), margin(variance * float(each.max()) ** 2, 2)
    is_close = variance > 0 and len(others) > 0 and weighed[best] - others.max() <= apart
    return {
        "noise": round(off, 3),
        "empty": bool(counts.sum() <= off),
        "within_noise": bool(is_close),
    }
