"""The models that users fit, one family per package, each made of published answers only."""

from discreet.models.families import MODELS, BeeRules, DecisionTree, LinearSVM, NaiveBayes, OneRule, RandomForest

__all__ = ["MODELS", "BeeRules", "DecisionTree", "LinearSVM", "NaiveBayes", "OneRule", "RandomForest"]
