"""Which model is picked, from public facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import ParameterError
from discreet.models.linear.linear_svm import LinearSVM
from discreet.models.naive_bayes.naive_bayes import NaiveBayes
from discreet.models.trees.decision_tree import DecisionTree
from discreet.privacy.epsilon import Epsilon
from discreet.queries.hyperplanes import Hyperplanes
from discreet.queries.trees import LeafCounts
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema

FAMILIES: dict[str, Any] = {each.kind: each for each in (DecisionTree, NaiveBayes, LinearSVM)}
"""The families that can be picked, by the name that files use."""
NAMES = {"decision-tree": "a decision tree", "naive-bayes": "naive Bayes", "svm": "a linear model"}


@dataclass(frozen=True)
class Pick:
    """A model that was picked: its family, its parameters where they are not the defaults, and why."""

    model: str
    why: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.model not in FAMILIES:
            raise ParameterError(f"model={self.model!r} cannot be picked; need one of: {', '.join(FAMILIES)}")

    def made(self, schema: Schema, epsilon: Epsilon) -> Any:
        """The model, not yet fitted."""
        return FAMILIES[self.model](schema, epsilon=epsilon, **self.parameters)

    def statement(self) -> str:
        """What was picked and why, in a sentence."""
        settings = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"Picked {NAMES[self.model]}{f' ({settings})' if settings else ''}: {self.why}."

    def to_dict(self) -> dict[str, Any]:
        """The content for a file."""
        return {"model": self.model, "parameters": dict(self.parameters), "why": self.why}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Pick:
        """The pick of a file; ParameterError if its model cannot be picked."""
        return cls(str(content["model"]), str(content["why"]), dict(content["parameters"]))


def pick(schema: Schema, epsilon: Epsilon, records: int) -> Pick:
    """The model that is expected to be the most accurate."""
    return Pick("decision-tree", "it is the only one so far")


def recognised(noisy: NoisyStatistics) -> Pick:
    """The model that statistics belong to, by what was asked."""
    asked = [query for query, _ in noisy.tables]
    if any(isinstance(query, LeafCounts) for query in asked):
        return Pick("decision-tree", "the statistics are of the leaves of a tree")
    if any(isinstance(query, Hyperplanes) for query in asked):
        return Pick("svm", "the statistics are of hyperplanes")
    return Pick("naive-bayes", "the statistics are tables of counts")
