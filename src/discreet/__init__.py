"""Classifiers that can be published: differentially private learning with guarantees that hold."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.budget import Ledger
    from discreet.columns import Categorical, Numeric
    from discreet.errors import DiscreetError
    from discreet.local_perturbation import LocalPerturbation
    from discreet.model_file import load
    from discreet.models.bee_feature_selector import BeeFeatureSelector
    from discreet.models.bee_rules import BeeRules
    from discreet.models.decision_tree import DecisionTree
    from discreet.models.feature_selector import FeatureSelector
    from discreet.models.linear_svm import LinearSVM
    from discreet.models.naive_bayes import NaiveBayes
    from discreet.models.one_rule import OneRule
    from discreet.models.random_forest import RandomForest
    from discreet.schema import Adjacency, Schema

__version__ = "0.1.0"
__all__ = [
    "Adjacency",
    "BeeFeatureSelector",
    "BeeRules",
    "Categorical",
    "DecisionTree",
    "DiscreetError",
    "FeatureSelector",
    "Ledger",
    "LinearSVM",
    "LocalPerturbation",
    "NaiveBayes",
    "Numeric",
    "OneRule",
    "RandomForest",
    "Schema",
    "load",
]

_HOMES = {
    "Adjacency": "discreet.schema",
    "BeeFeatureSelector": "discreet.models.bee_feature_selector",
    "BeeRules": "discreet.models.bee_rules",
    "Categorical": "discreet.columns",
    "DecisionTree": "discreet.models.decision_tree",
    "DiscreetError": "discreet.errors",
    "FeatureSelector": "discreet.models.feature_selector",
    "Ledger": "discreet.budget",
    "LinearSVM": "discreet.models.linear_svm",
    "LocalPerturbation": "discreet.local_perturbation",
    "NaiveBayes": "discreet.models.naive_bayes",
    "Numeric": "discreet.columns",
    "OneRule": "discreet.models.one_rule",
    "RandomForest": "discreet.models.random_forest",
    "Schema": "discreet.schema",
    "load": "discreet.model_file",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `import discreet` alone does not wait for scikit-learn."""
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
