"""The models of the study of Lopuhaä 2021: its three classifiers as published, and ours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Self

import numpy as np

from discreet import datasets
from discreet.errors import ParameterError
from discreet.models.linear.linear_svm import LinearSVM
from discreet.models.naive_bayes.naive_bayes import NaiveBayes
from discreet.models.one_rule import OneRule
from discreet.models.trees.decision_tree import DecisionTree
from discreet.models.trees.random_forest import RandomForest
from discreet.privacy.randomness import search_generator
from discreet.research.comparison.grid import as_number
from discreet.research.papers import Lopuhaa2021NaiveBayes, Lopuhaa2021SVM, Lopuhaa2021Tree
from discreet.research.reproduce.study import Factory
from discreet.schema import Schema
from discreet.schema.columns import text_of

TINY = 1e-6
"""Only below this epsilon may a model refuse to fit: its noise would need integers that a float cannot hold exactly."""

OTHER = "other"
"""The label that stands for all classes but one."""


class OrRandomClass:
    """A model that predicts one randomly drawn class if the given family refuses an epsilon as too small.

    Drawing a class needs no data. Whether the family refuses depends only on schema and epsilon, before data are read.
    """

    def __init__(self, schema: Schema, *, family: Factory, epsilon: Any = 1.0, random_state: Any = None) -> None:
        self.schema, self.family = schema, family
        self.epsilon, self.random_state = epsilon, random_state

    def fit(self, columns: Mapping[str, Any], labels: Any) -> Self:
        """Train the model."""
        self.label_ = None
        try:
            self.model_ = self.family(self.schema, epsilon=self.epsilon, random_state=self.random_state)
            self.model_.fit(columns, labels)
        except ParameterError:
            if as_number(str(self.epsilon)) > TINY:
                raise
            classes = self.schema.classes
            self.label_ = classes[int(search_generator(self.random_state).integers(len(classes)))]
        return self

    def predict(self, columns: Mapping[str, Any]) -> Any:
        """The prediction of the trained model, or the drawn class."""
        if self.label_ is None:
            return self.model_.predict(columns)
        return np.full(len(next(iter(columns.values()))), self.label_, dtype=object)


class AgainstRest:
    """A model of one class against all others, scored as such.

    The comparison only knows the original classes. So the prediction "one of the others" becomes the true class if that
    is one of the others, and a wrong class if not: true classes are looked up to count right predictions, never to make
    them. The data set must not have two equal records.

    Parameters
    ----------
    schema, epsilon, random_state : as for every model.
    family : makes the model for two classes.
    data, positive : the data set, and the class that is told from all others.
    directory : the folder of the data sets; None for the default.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        family: Factory,
        data: str,
        positive: str,
        directory: str | None = None,
        epsilon: Any = 1.0,
        random_state: Any = None,
    ) -> None:
        self.schema, self.family, self.data, self.positive = schema, family, data, positive
        self.directory = directory
        self.epsilon, self.random_state = epsilon, random_state

    def fit(self, columns: Mapping[str, Any], labels: Any) -> Self:
        """Train on two classes."""
        two = self.schema.replace(classes=[self.positive, OTHER])
        self.model_ = self.family(two, epsilon=self.epsilon, random_state=self.random_state)
        self.model_.fit(columns, np.array([self.positive if label == self.positive else OTHER for label in labels]))
        return self

    def predict(self, columns: Mapping[str, Any]) -> Any:
        """The class, or one that counts as right if and only if "other" is right."""
        truth = _classes_by_record(self.data, self.directory, tuple(self.schema.names))
        wrong = next(str(label) for label in self.schema.classes if str(label) != self.positive)
        found = []
        records = zip(*(columns[name].tolist() for name in self.schema.names), strict=True)
        for answer, record in zip(self.model_.predict(columns).tolist(), records, strict=True):
            other = truth[record] if truth[record] != self.positive else wrong
            found.append(self.positive if answer == self.positive else other)
        return np.array(found, dtype=object)


@lru_cache(maxsize=1)
def _classes_by_record(data: str, directory: str | None, names: tuple[str, ...]) -> dict[tuple[Any, ...], str]:
    columns, labels, _ = datasets.load(data, directory)
    records = zip(*(columns[name].tolist() for name in names), strict=True)
    found = {record: text_of(label) for record, label in zip(records, labels.tolist(), strict=True)}
    if len(found) < len(labels):
        raise ParameterError(
            f"{data} has equal records, so their classes cannot be looked up; need a data set without equal records"
        )
    return found


FAMILIES = {
    "NB": ("Lopuhaa2021NaiveBayes", "naive-bayes"),
    "SVM": ("Lopuhaa2021SVM", "svm"),
    "DT": ("Lopuhaa2021Tree", "decision-tree"),
}
"""The paper's three classifiers by its names: as published, and our counterpart with a guarantee."""

OTHERS = ("random-forest", "one-rule", "naive-bayes(select=auto)")
"""Our models without a counterpart in the paper."""

PUBLISHED: dict[str, Factory] = {
    "Lopuhaa2021NaiveBayes": Lopuhaa2021NaiveBayes,
    "Lopuhaa2021SVM": Lopuhaa2021SVM,
    "Lopuhaa2021Tree": Lopuhaa2021Tree,
}
OWN: dict[str, Factory] = {
    "naive-bayes": partial(NaiveBayes, select=None),
    "svm": LinearSVM,
    "decision-tree": DecisionTree,
    "random-forest": RandomForest,
    "one-rule": OneRule,
    "naive-bayes(select=auto)": partial(NaiveBayes, select="auto"),
}
CONTESTANTS: dict[str, Factory] = {
    **PUBLISHED,
    **{name: partial(OrRandomClass, family=family) for name, family in OWN.items()},
}

RAREST_OF_NURSERY = "very_recom"
AGAINST_REST: dict[str, Factory] = {
    f"{name}, {RAREST_OF_NURSERY} against the rest": partial(
        AgainstRest, family=CONTESTANTS[name], data="nursery", positive=RAREST_OF_NURSERY
    )
    for name in FAMILIES["SVM"]
}
"""The problem to which the paper's accuracy of its SVM on nursery seems to belong."""
