"""Models that are one and the same: by their own public rules, some do what a simpler one does where epsilon is small.

A random forest that can feed one tree is a decision tree, and a naive Bayes that cannot pay for a choice of columns
makes none. Their accuracies have the same law, so that one is run for both, or their runs count together.
"""

from __future__ import annotations

from discreet.models.naive_bayes import selection
from discreet.models.trees import plan as tree_plan
from discreet.privacy.epsilon import Epsilon
from discreet.schema import Schema


def twins(schema: Schema, epsilon: Epsilon) -> dict[str, str]:
    """The models that are the same as a simpler one, and which; the schema declares its number of records."""
    records, classes = schema.records or 1, len(schema.classes)
    found = {}
    if tree_plan.of_a_class(tree_plan.signal(epsilon, records), classes) < 2 * tree_plan.STRONG:
        found["random-forest"] = "decision-tree"
    if selection.choice("auto", schema, epsilon, records, "histogram", "auto") is None:
        found["naive-bayes(select=auto)"] = "naive-bayes"
    return found
