"""The models that users fit, in families that do not know each other, made of published answers only."""

from discreet.models.families import MODELS, Auto, BeeRules, DecisionTree, LinearSVM, NaiveBayes, OneRule, RandomForest

__all__ = ["MODELS", "Auto", "BeeRules", "DecisionTree", "LinearSVM", "NaiveBayes", "OneRule", "RandomForest"]
