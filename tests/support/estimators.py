"""Every private estimator, once: the suites that cut across run on each of these."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from discreet import Auto, DecisionTree, LinearSVM, NaiveBayes, OneRule, RandomForest

PRIVATE: dict[str, Callable[..., Any]] = {
    "auto": Auto,
    "naive-bayes": NaiveBayes,
    "naive-bayes gaussian": partial(NaiveBayes, numeric="gaussian"),
    "naive-bayes smooth": partial(NaiveBayes, numeric="smooth"),
    "naive-bayes select=2": partial(NaiveBayes, select=2),
    "naive-bayes select=auto": partial(NaiveBayes, select="auto"),
    "one-rule": OneRule,
    "decision-tree": DecisionTree,
    "decision-tree greedy": partial(DecisionTree, structure="greedy", max_depth=2, criterion="gini"),
    "decision-tree balanced": partial(DecisionTree, structure="greedy", max_depth=2, class_weight="balanced"),
    "decision-tree stump": partial(DecisionTree, structure="stump"),
    "decision-tree labelled": partial(DecisionTree, structure="labelled", max_depth=1),
    "decision-tree random": partial(DecisionTree, structure="random"),
    "decision-tree published": partial(DecisionTree, structure="published", max_depth=2),
    "random-forest": RandomForest,
    "random-forest dealt": partial(RandomForest, n_trees=3, structure="greedy", max_depth=1),
    "svm": LinearSVM,
    "svm select=2": partial(LinearSVM, select=2),
    "svm leaves=2": partial(LinearSVM, leaves=2),
    "svm ranges=0.3": partial(LinearSVM, ranges=0.3),
}
"""By name: called with a schema and keywords, as the class itself."""

DEALT = {"random-forest dealt"}
"""Those that deal records to trees by lot: neighbours are compared with each record's lot fixed."""


def expected_failures(estimator: Any) -> dict[str, str]:
    """Checks of scikit-learn that an estimator fails, each with its reason."""
    reason = None
    if isinstance(estimator, LinearSVM):
        reason = "it weighs two classes, and refuses weights of three before anything is charged"
    elif getattr(estimator, "structure", None) in ("stump", "labelled"):
        reason = "a stump is chosen together with the majority of its parts, so it refuses weights"
    return {} if reason is None else {"check_class_weight_classifiers": reason}
