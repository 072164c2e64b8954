"""What to expect of `auto` at which epsilon, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from discreet.advice.cases import ADVISED, Case, committed
from discreet.advice.facts import Facts
from discreet.advice.neighbours import distances, quantile, weights
from discreet.advice.ranges import NOMINAL, expected, largest_class
from discreet.errors import ParameterError
from discreet.models.auto.pick import Pick, pick
from discreet.privacy.epsilon import Epsilon, as_epsilon
from discreet.schema import Schema

EPSILONS = (0.01, 0.1, 1, 5)
"""Privacy losses to advise on, if none are given."""
NAMED = 10
"""At most this many of the nearest real data sets are named."""
FAR = 1.0
"""A table is unlike all cases if the nearest one is farther away than this: seven times as many columns; by hand."""
LARGEST = "always the largest class"

Strange = Literal["few records", "many classes", "far"]
"""Ways to be unlike all cases: fewer records than any case has, more classes than any has, or a different shape."""


@dataclass(frozen=True)
class Expectation:
    """What to expect of a model at one epsilon: its accuracy in the mean over the noise.

    Parameters
    ----------
    accuracy : the mean over comparable cases.
    low, high : the ends of a range that holds the accuracy in about four of five tables.

    Examples
    --------
    >>> from discreet import datasets
    >>> from discreet.advice import advise
    >>> schema = datasets.load("iris")[2]
    >>> expected = advise(schema, [1]).choices[0].first
    >>> expected.model, 0 <= expected.low <= expected.accuracy <= expected.high <= 1
    ('auto', True)
    """

    model: str
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class Useful:
    """The epsilon from which on a model is useful: the median over the cases, and the range of four in five.

    A model is useful if it makes at least a twentieth fewer mistakes than always predicting the largest class. The
    epsilon is infinite if it never does.

    Examples
    --------
    >>> from discreet import datasets
    >>> from discreet.advice import advise
    >>> schema = datasets.load("iris")[2]
    >>> useful = advise(schema, [1]).useful[0]
    >>> useful.model, useful.low <= useful.epsilon <= useful.high
    ('auto', True)
    """

    model: str
    epsilon: float
    low: float
    high: float


@dataclass(frozen=True)
class Choice:
    """What to expect at one epsilon.

    Parameters
    ----------
    picked : which model `auto` picks for this schema, and why.
    expectations : what to expect of each model; `auto` is the first.
    strange : the ways in which the table is unlike all cases.

    Examples
    --------
    >>> from discreet import datasets
    >>> from discreet.advice import advise
    >>> schema = datasets.load("iris")[2]
    >>> choice = advise(schema, ["1/2"]).choices[0]
    >>> choice.epsilon, choice.picked.model, choice.first == choice.expectations[0]
    (0.5, 'decision-tree', True)
    """

    epsilon: float
    picked: Pick
    expectations: tuple[Expectation, ...]
    strange: tuple[Strange, ...]

    @property
    def first(self) -> Expectation:
        """What to expect of `auto`, the model to train."""
        return self.expectations[0]

    @property
    def is_guess(self) -> bool:
        """Whether the table is unlike all cases: then the advice is a guess."""
        return bool(self.strange)


@dataclass(frozen=True)
class Advice:
    """What to expect, from public facts: a choice per epsilon, and the epsilon from which on each model is useful.

    Examples
    --------
    >>> from discreet import datasets
    >>> from discreet.advice import advise
    >>> schema = datasets.load("iris")[2]
    >>> advice = advise(schema, ["0.1", 1])
    >>> [choice.epsilon for choice in advice.choices], advice.facts.classes
    ([0.1, 1.0], 3)
    """

    facts: Facts
    choices: tuple[Choice, ...]
    useful: tuple[Useful, ...]
    nearest: tuple[str, ...]
    """Names of the real data sets that count most, nearest first."""
    largest: Expectation
    """The accuracy of always predicting the largest class, in comparable cases: what a model has to beat."""


def advise(schema: Schema, epsilons: Sequence[Any] = EPSILONS, *, records: int | None = None) -> Advice:
    """What `auto` picks, and what accuracy to expect of it, from public facts alone: no data are read.

    Parameters
    ----------
    schema : columns, classes and adjacency.
    epsilons : privacy losses to tell about.
    records : the nominal number of records; default: as the schema declares.

    Examples
    --------
    >>> from discreet import Categorical, Numeric, Schema
    >>> schema = Schema([Numeric("age", 17, 90), Categorical("sex", ["F", "M"])], "income", ["low", "high"])
    >>> choice = advise(schema, [0.1], records=40_000).choices[0]
    >>> choice.first.model, choice.first.low < choice.first.accuracy < choice.first.high
    ('auto', True)
    """
    facts = Facts.of(schema, records)
    asked = [as_epsilon(each) for each in epsilons]
    if not asked or len(set(asked)) < len(asked):
        raise ParameterError(f"{len(asked)} epsilons, {len(set(asked))} different; need at least one, and each once")
    return consider(facts, schema, sorted(asked), committed())


def consider(facts: Facts, schema: Schema, epsilons: Sequence[Epsilon], cases: Sequence[Case]) -> Advice:
    """Advice from given cases; what is picked follows from the schema and the facts' number of records."""
    numbers = [float(each) for each in epsilons]
    strange = strangeness(facts, cases)
    found = expected(facts, np.array(numbers), cases)
    choices = []
    for place, epsilon in enumerate(epsilons):
        told = [(model, found[:, row, place].tolist()) for row, model in enumerate(ADVISED)]
        expectations = tuple(Expectation(model, middle, low, high) for model, (low, middle, high) in told)
        choices.append(Choice(numbers[place], pick(schema, epsilon, facts.records), expectations, strange))
    real = [case for case in cases if case.is_real]
    order = np.argsort(distances(facts, real), kind="stable")[:NAMED]
    low, middle, high = largest_class(facts, cases)
    nearest = tuple(real[place].name for place in order)
    return Advice(facts, tuple(choices), useful(facts, cases), nearest, Expectation(LARGEST, middle, low, high))


def strangeness(facts: Facts, cases: Sequence[Case]) -> tuple[Strange, ...]:
    """In which ways a table is unlike all cases.

    A small table is harder than its signal (records times epsilon) suggests: a model also has to generalise.
    """
    found: list[Strange] = []
    if facts.records < min(case.facts.records for case in cases):
        found.append("few records")
    if facts.classes > max(case.facts.classes for case in cases):
        found.append("many classes")
    elif distances(facts, cases).min() > FAR:
        found.append("far")
    return tuple(found)


def useful(facts: Facts, cases: Sequence[Case]) -> tuple[Useful, ...]:
    """From which epsilon on each model is useful, in the order of `ADVISED`."""
    epsilons = np.array([case.useful_from() for case in cases]) / facts.signal_per_class(1.0)
    weight = weights(facts, cases)
    low, middle, high = (quantile(epsilons, weight, level) for level in ((1 - NOMINAL) / 2, 0.5, (1 + NOMINAL) / 2))
    return tuple(Useful(*each) for each in zip(ADVISED, middle.tolist(), low.tolist(), high.tolist(), strict=True))
