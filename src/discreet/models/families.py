"""The models by the name that files and the command line use."""

from __future__ import annotations

from typing import Any

from discreet.models.auto.auto import Auto
from discreet.models.bees.bee_rules import BeeRules
from discreet.models.linear.linear_svm import LinearSVM
from discreet.models.naive_bayes.naive_bayes import NaiveBayes
from discreet.models.one_rule import OneRule
from discreet.models.trees.decision_tree import DecisionTree
from discreet.models.trees.random_forest import RandomForest

MODELS: dict[str, Any] = {
    kind.kind: kind for kind in (Auto, NaiveBayes, OneRule, DecisionTree, RandomForest, LinearSVM, BeeRules)
}
"""The models by the name that files and the command line use."""

__all__ = ["MODELS", "Auto", "BeeRules", "DecisionTree", "LinearSVM", "NaiveBayes", "OneRule", "RandomForest"]
