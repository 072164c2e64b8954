"""Which model is picked, from public facts alone: the columns, the classes, ε, the number of records, the adjacency.

Three families are good at different things. A tree asks the data for one choice at a time, and for its last questions
together with their classes: it loses least where the signal n ε is weak, down to a single class. A linear model finds
all weights at once: their noise grows with the number of columns and of classes, but it puts together what many columns
say, and from a strong signal on it has the leaves of a tree among its weights (models/linear/plan.py). Naive Bayes is
between the two: it puts together many columns, and its noise does not grow with the number of classes.

A linear model has K classes of weights, and each class has a K-th of the records to learn them from. A score has g
groups, the columns and the constant, and w weights: one for a number, for two categories and for the constant, and one
for each of more categories. Noise in a weight is in proportion to g (linear/plan.py), and what the records say to a
weight to their number: so the noise in a score grows with g √w, and what it tells with g. The signal for a score is
n ε / (K^2 √w), and from `ENOUGH` of it on, a linear model is picked. This constant was tuned on the data sets of
benchmarks/keel.py. With other powers of K, g and w regrets there are less by at most 0.0013, which may be luck, and few
of these tables have many categories. On tables that were made for the question the signal from which a linear model is
better grows as √w or faster (benchmarks/categories.py). With more than `SOME_CLASSES`, a tree needs many leaves to name
each of them; there naive Bayes is picked below `ENOUGH`, from `COUNTED` records times ε for each class in each column
on. In up to `FEW_COLUMNS` columns a tree has enough questions for all of them on every path. Where a linear model would
take minutes (`MANY_WEIGHTS`, `MANY_RECORDS`), a tree is picked too.
benchmarks/frontier.py measures what the rule is worth. Privacy does not depend on it.

Limits  tables of the same shape can have opposite best models (benchmarks/results/pick.md): no rule that looks at
        public facts alone can know. Other constants and powers, naive Bayes for five classes, models fitted beside each
        other at shares of ε, and a paid look at how far apart the classes are were played on the same cells
        (benchmarks/pick.py): none is clearly better on the real tables that it was not tuned on. Nor is a linear model
        on two to five privately chosen columns where the signal is too weak for all of them: in 41 cells below
        `ENOUGH` of the two collections it was less accurate than a tree, by 0.07 to 0.17 on average.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.models.linear.linear_svm import LinearSVM
from discreet.models.linear.plan import BITS, most_knots
from discreet.models.naive_bayes.naive_bayes import NaiveBayes
from discreet.models.record_count import MOST_RECORDS
from discreet.models.trees.decision_tree import DecisionTree
from discreet.privacy.epsilon import Epsilon
from discreet.queries.hyperplanes import Hyperplanes
from discreet.queries.trees import LeafCounts
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema

FAMILIES: dict[str, Any] = {each.kind: each for each in (DecisionTree, NaiveBayes, LinearSVM)}
"""The families that can be picked, by the name that files use."""
ENOUGH = 12.0
"""The signal for a score from which on a linear model is picked."""
SOME_CLASSES, COUNTED = 8, 5.0
"""With more than so many classes, signal per class and column from which on naive Bayes is picked below `ENOUGH`: no
gain on the tables of benchmarks/keel.py, some on those of benchmarks/worlds.py and on optdigits (results/pick.md)."""
FEW_COLUMNS = 3
"""With at most this many columns a tree is picked at any signal."""
MANY_WEIGHTS = 1 << 14
"""A linear model with more weights is not picked: finding them takes a minute or longer."""
MANY_RECORDS = 10_000_000
"""From more records on a tree is picked: a linear model of them takes minutes, a tree seconds."""
LARGE_EPSILON = 1e6
"""A larger epsilon, also an infinite one, changes no pick."""
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
        if not self.why.isprintable():
            raise ParameterError("the reason for a pick has characters that cannot be printed; need plain text")

    def made(self, schema: Schema, epsilon: Epsilon, class_weight: Any = None) -> Any:
        """The model, not yet fitted."""
        return FAMILIES[self.model](schema, epsilon=epsilon, class_weight=class_weight, **self.parameters)

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


def pick(schema: Schema, epsilon: Epsilon, records: int, *, weighted: bool = False) -> Pick:
    """The model that is expected to be the most accurate (rule above); with `weighted`, classes can be weighted."""
    strength, classes = signal(schema, epsilon, records), len(schema.classes)
    if len(schema.columns) <= FEW_COLUMNS:
        return Pick("decision-tree", f"a tree can divide {_columns(len(schema.columns))} as finely as the noise allows")
    enough, counted = least_for_linear(schema), _counted(schema)
    amounts = f"about {records:,} records times ε" + (" over 2" if schema.adjacency.distance == 2 else "")
    if counted <= strength < enough and epsilon != math.inf:
        told = f"from {counted:,.4g} to {enough:,.4g} counts tell {classes} classes apart best"
        return Pick("naive-bayes", f"{amounts} is {strength:,.4g}, and {told}")
    if reason := _unsuitable(schema, epsilon, records, weighted):
        return Pick("decision-tree", reason)
    if strength >= enough and not _affordable(schema, epsilon):
        return Pick("decision-tree", "ε is too small for the weights of a linear model")
    if strength >= enough:
        return Pick("svm", f"{amounts} is {strength:,.4g}, and from {enough:,.4g} on sums over columns tell more")
    return Pick("decision-tree", f"{amounts} is {strength:,.4g}, and below {enough:,.4g} a tree loses least to noise")


def least_for_linear(schema: Schema) -> float:
    """The least signal at which a linear model is picked."""
    weights = sum(Hyperplanes(1, BITS).groups(schema))
    return ENOUGH * len(schema.classes) ** 2 * math.sqrt(weights)


def _counted(schema: Schema) -> float:
    """The least signal at which naive Bayes is picked; infinite if it never is."""
    classes = len(schema.classes)
    return COUNTED * classes * (len(schema.columns) + 1) if classes > SOME_CLASSES else math.inf


def all_picks(schema: Schema, epsilon: Epsilon, *, weighted: bool = False) -> list[Pick]:
    """What may be picked, whatever the number of records, each family once."""
    some = _counted(schema) * schema.adjacency.distance / min(float(epsilon), LARGE_EPSILON)
    least = math.ceil(min(some, MOST_RECORDS - 1))
    numbers = {1, MANY_RECORDS, MOST_RECORDS, least, least + 1}  # one more, lest rounding hides it
    picks = [pick(schema, epsilon, records, weighted=weighted) for records in sorted(numbers)]
    return list({each.model: each for each in picks}.values())


def _unsuitable(schema: Schema, epsilon: Epsilon, records: int, weighted: bool) -> str:
    """Why a linear model will not do, at any signal; empty if it may."""
    classes = len(schema.classes)
    if weighted and classes > 2:
        return f"a linear model does not weigh {classes} classes, and a tree does"
    if classes * sum(Hyperplanes(most_knots(), BITS, edges=True).groups(schema)) > MANY_WEIGHTS:
        return f"{classes} classes in these columns are too many weights for a linear model"
    if records > MANY_RECORDS and epsilon != math.inf:
        return f"a linear model of about {records:,} records would take minutes"
    return ""


def signal(schema: Schema, epsilon: Epsilon, records: int) -> float:
    """Records per unit of noise: records times epsilon, both bounded, and halved under replace-one."""
    return min(float(epsilon), LARGE_EPSILON) * min(records, MOST_RECORDS) / schema.adjacency.distance


def _affordable(schema: Schema, epsilon: Epsilon) -> bool:
    """Whether a linear model has so few weights that they can be found, and ε pays for them, however it plans."""
    try:
        LinearSVM(schema)._rehearse(schema, min(epsilon, Fraction(LARGE_EPSILON)))
    except ParameterError:
        return False
    return True


def _columns(number: int) -> str:
    return "one column" if number == 1 else f"{number} columns"


def recognised(noisy: NoisyStatistics) -> Pick:
    """The model that statistics belong to, by what was asked."""
    asked = [query for query, _ in noisy.tables]
    if any(isinstance(query, LeafCounts) for query in asked):
        return Pick("decision-tree", "the statistics are of the leaves of a tree")
    if any(isinstance(query, Hyperplanes) for query in asked):
        return Pick("svm", "the statistics are of hyperplanes")
    return Pick("naive-bayes", "the statistics are tables of counts")
