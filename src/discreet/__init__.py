"""Classifiers that can be published: differentially private learning with guarantees that hold."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet import advice, audit, datasets, evaluation, federated
    from discreet.client import Client
    from discreet.errors import DiscreetError
    from discreet.evaluation import evaluate
    from discreet.models.auto.auto import Auto
    from discreet.models.bees.bee_feature_selector import BeeFeatureSelector
    from discreet.models.bees.bee_rules import BeeRules
    from discreet.models.count_database import CountDatabase
    from discreet.models.feature_selector import FeatureSelector
    from discreet.models.linear.linear_svm import LinearSVM
    from discreet.models.loading import load
    from discreet.models.naive_bayes.naive_bayes import NaiveBayes
    from discreet.models.one_rule import OneRule
    from discreet.models.trees.decision_tree import DecisionTree
    from discreet.models.trees.random_forest import RandomForest
    from discreet.perturbation.local_perturbation import LocalPerturbation
    from discreet.privacy.guarantee import Guarantee
    from discreet.privacy.ledger import Ledger
    from discreet.schema import Adjacency, Categorical, Dialect, Numeric, Schema
    from discreet.sources.file import open_file
    from discreet.sources.postgres import PostgresSource
    from discreet.sources.spark import SparkSource

__version__ = "0.2.0"
__all__ = [
    "Adjacency",
    "Auto",
    "BeeFeatureSelector",
    "BeeRules",
    "Categorical",
    "Client",
    "CountDatabase",
    "DecisionTree",
    "Dialect",
    "DiscreetError",
    "FeatureSelector",
    "Guarantee",
    "Ledger",
    "LinearSVM",
    "LocalPerturbation",
    "NaiveBayes",
    "Numeric",
    "OneRule",
    "PostgresSource",
    "RandomForest",
    "Schema",
    "SparkSource",
    "advice",
    "audit",
    "datasets",
    "evaluate",
    "evaluation",
    "federated",
    "load",
    "open_file",
]

_HOMES = {
    "Adjacency": "discreet.schema",
    "Auto": "discreet.models.auto.auto",
    "BeeFeatureSelector": "discreet.models.bees.bee_feature_selector",
    "BeeRules": "discreet.models.bees.bee_rules",
    "Categorical": "discreet.schema",
    "Client": "discreet.client",
    "CountDatabase": "discreet.models.count_database",
    "DecisionTree": "discreet.models.trees.decision_tree",
    "Dialect": "discreet.schema",
    "DiscreetError": "discreet.errors",
    "FeatureSelector": "discreet.models.feature_selector",
    "Guarantee": "discreet.privacy.guarantee",
    "Ledger": "discreet.privacy.ledger",
    "LinearSVM": "discreet.models.linear.linear_svm",
    "LocalPerturbation": "discreet.perturbation.local_perturbation",
    "NaiveBayes": "discreet.models.naive_bayes.naive_bayes",
    "Numeric": "discreet.schema",
    "OneRule": "discreet.models.one_rule",
    "PostgresSource": "discreet.sources.postgres",
    "RandomForest": "discreet.models.trees.random_forest",
    "Schema": "discreet.schema",
    "SparkSource": "discreet.sources.spark",
    "evaluate": "discreet.evaluation",
    "load": "discreet.models.loading",
    "open_file": "discreet.sources.file",
}
"""Where each public name is defined."""
_ROOMS = ("advice", "audit", "datasets", "evaluation", "federated")
"""Rooms that are public as a whole: `discreet.datasets.load("iris")`."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `import discreet` alone does not wait for scikit-learn."""
    if name in _ROOMS:
        return import_module(f"discreet.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
