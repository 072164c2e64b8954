"""Messages of the library, as the command line spells things: they are written for Python, where most of them arise."""

from __future__ import annotations

import re

_SPELLED = (
    (re.compile(r"\bFraction\((-?\d+), 1\)"), r"\1"),
    (re.compile(r"\bFraction\((-?\d+), (\d+)\)"), r"\1/\2"),
    (re.compile(r"\bfloat\('(-?inf|nan)'\)"), r"\1"),
    (re.compile(r"--stream \(stream=True\)"), "--stream"),
    (re.compile(r'use schema\.replace\(adjacency="replace-one"\), or --adjacency'), "use --adjacency"),
    (re.compile(r"\ba NoneType\b"), "null"),
    (re.compile(r"\bNoneType\b"), "null"),
    (re.compile(r", or ask OpenML with download=True"), ""),
    (re.compile(r"by `directory` or DISCREET_DATA"), "by --directory or DISCREET_DATA"),
    (re.compile(r"(?<![\w'\"./-])None(?![\w'\"./-])"), "none"),
    (re.compile(r"(?<![\w'\"./-])True(?![\w'\"./-])"), "true"),
    (re.compile(r"(?<![\w'\"./-])False(?![\w'\"./-])"), "false"),
    (re.compile(r"\bNaiveBayes\b(?!')"), "naive-bayes"),
    (re.compile(r"\bOneRule\b(?!')"), "one-rule"),
    (re.compile(r"\bDecisionTree\b(?!')"), "decision-tree"),
    (re.compile(r"\bRandomForest\b(?!')"), "random-forest"),
    (re.compile(r"\bLinearSVM\b(?!')"), "svm"),
    (re.compile(r"\bBeeRules\b(?!')"), "bee-rules"),
)
"""Patterns and what stands for them. What is in quotes is the user's own, and stays."""


def as_typed(message: str) -> str:
    """The message without Python.

    >>> as_typed("epsilon=Fraction(1, 3); need None or float('inf'); column 'None'")
    "epsilon=1/3; need none or inf; column 'None'"
    """
    for pattern, spelled in _SPELLED:
        message = pattern.sub(spelled, message)
    return message
