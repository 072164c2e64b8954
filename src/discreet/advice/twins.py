"""Twins: models that, at a small epsilon, do by their own public rules what a simpler model does.

A random forest with records for one tree only is a decision tree, and a naive Bayes chooses columns by itself. The
accuracies of twins have the same distribution, so only the simpler model is run.
"""

from __future__ import annotations

from discreet.models.trees import plan as tree_plan
from discreet.privacy.epsilon import Epsilon
from discreet.schema import Schema


def twins(schema: Schema, epsilon: Epsilon) -> dict[str, str]:
    """Each model that is the same as a simpler one, with that one; uses the number of records in the schema."""
    records, classes = schema.records or 1, len(schema.classes)
    found = {"naive-bayes(select=auto)": "naive-bayes"}
    if tree_plan.of_a_class(tree_plan.signal(schema, epsilon, records), classes) < 2 * tree_plan.STRONG:
        found["random-forest"] = "decision-tree"
    return found
