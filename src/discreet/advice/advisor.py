"""Which model at which epsilon: an answer from public facts alone, by nearest cases and by simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from discreet.advice.cases import ADVISED, Case, committed
from discreet.advice.facts import Facts
from discreet.advice.neighbours import Values, distances, peers, quantile, weights
from discreet.advice.ranges import expected
from discreet.advice.simulation import hindrance, simulate
from discreet.advice.twins import twins
from discreet.errors import ParameterError
from discreet.privacy.epsilon import as_epsilon
from discreet.schema import Schema

EPSILONS = (0.01, 0.1, 1, 5)
"""What is asked about if nothing is said."""
CLOSE = 0.01
"""A model is as good as the best if it is so close to it."""
COMPARABLE = 10
"""At most so many cases, the nearest of as many classes (two, or more), are counted."""
FAR = 2.0
"""A table is unlike all cases if the nearest is so far."""

Strange = Literal["few records", "many classes", "far"]
"""Ways to be unlike all cases: fewer records than any has, more classes than any has, or another shape."""


@dataclass(frozen=True)
class Expectation:
    """What to expect of a model at an epsilon.

    Parameters
    ----------
    accuracy, low, high : the middle and the ends of a range that holds the accuracy in about four of five tables.
    loss : how far below the best model it is expected.
    close : in which share of the cases with as many classes it was the best or within one percentage point of it.
    close_in : in how many of the nearest cases it was that.
    """

    model: str
    accuracy: float
    low: float
    high: float
    loss: float
    close: float
    close_in: int


@dataclass(frozen=True)
class Useful:
    """The epsilon from which a model is useful: the middle of cases and worlds, and the range of four of five of them.

    Useful is a model that has come half of the way from the largest class to the best that any model does without
    noise. Infinity where it never does.
    """

    model: str
    epsilon: float
    low: float
    high: float


@dataclass(frozen=True)
class Choice:
    """The models at one epsilon, the one to train first.

    Parameters
    ----------
    expectations : of all models, best first.
    cases : how many cases were counted, the nearest.
    apart : how far the nearest of them is.
    strange : in which ways the table is unlike all cases.
    """

    epsilon: float
    expectations: tuple[Expectation, ...]
    cases: int
    apart: float
    strange: tuple[Strange, ...]

    @property
    def first(self) -> Expectation:
        """The model to train."""
        return self.expectations[0]

    @property
    def is_guess(self) -> bool:
        """Whether the table is unlike all cases, so that they say little about it."""
        return bool(self.strange)


@dataclass(frozen=True)
class Advice:
    """What to train, from public facts: a choice for each epsilon, and from where on each model is useful."""

    facts: Facts
    choices: tuple[Choice, ...]
    useful: tuple[Useful, ...]
    nearest: tuple[str, ...]
    """The cases that count most, the nearest first."""
    cases: tuple[Case, ...]
    """All cases that were listened to."""
    hindered: str = ""
    """Why nothing was simulated, if that was wanted."""


def advise(
    schema: Schema,
    epsilons: Sequence[Any] = EPSILONS,
    *,
    records: int | None = None,
    simulated: bool = True,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Advice:
    """Which model to train, and what to expect of it, from public facts alone: no data is read.

    Parameters
    ----------
    schema : columns, classes and adjacency.
    epsilons : privacy losses to choose among.
    records : the nominal number of records; default: as the schema declares.
    simulated : whether to try the models on made-up tables as well, which takes some seconds.
    progress : is told how much of that is done, and of how much.

    Examples
    --------
    >>> from discreet import Categorical, Numeric, Schema
    >>> schema = Schema([Numeric("age", 17, 90), Categorical("sex", ["F", "M"])], "income", ["low", "high"])
    >>> advice = advise(schema, [0.1], records=40_000, simulated=False)
    >>> advice.choices[0].first.low < advice.choices[0].first.high
    True
    """
    facts = Facts.of(schema, records)
    losses = [float(as_epsilon(each)) for each in epsilons]
    if not losses or len(set(losses)) < len(losses):
        raise ParameterError("epsilons: need at least one, and each once")
    worlds = simulate(schema, facts, progress) if simulated else []
    advice = consider(facts, sorted(losses), committed(), worlds, schema.replace(records=facts.records))
    return replace(advice, hindered=hindrance(schema, facts)) if simulated else advice


def consider(
    facts: Facts,
    epsilons: Sequence[float],
    cases: Sequence[Case],
    worlds: Sequence[Case] = (),
    schema: Schema | None = None,
) -> Advice:
    """Advice from given cases and simulated worlds; the schema tells which models are one and the same."""
    alike = peers(facts, cases)
    order = alike[np.argsort(distances(facts, [cases[place] for place in alike]), kind="stable")]
    return Advice(
        facts,
        tuple(_choice(facts, epsilon, cases, worlds, _same(schema, epsilon)) for epsilon in epsilons),
        useful(facts, cases, worlds),
        tuple(cases[place].name for place in order[:COMPARABLE]),
        tuple(cases),
    )


def losses(cases: Sequence[Case], signal: float) -> Values:
    """How far each model (columns) was below the best in each case."""
    accuracies = np.array([case.at(signal) for case in cases])
    return np.asarray(accuracies.max(axis=1, keepdims=True) - accuracies)


class Standing(NamedTuple):
    """How the models stand at a signal: losses, shares and numbers of cases in which each was close to the best."""

    loss: Values
    close: Values
    close_in: Values
    cases: int
    apart: float


def standing(facts: Facts, signal: float, cases: Sequence[Case], worlds: Sequence[Case] = ()) -> Standing:
    """How the models stand: the mean loss over the cases of as many classes (two, or more) at the same signal.

    The simulated worlds together count as one more case: made-up tables tell less than real ones. Nothing else is
    weighed, as there are too few cases to learn weights from.
    """
    alike = [cases[place] for place in peers(facts, cases)]
    apart, lost = distances(facts, alike), losses(alike, signal)
    is_close = lost <= CLOSE + 1e-9
    loss = lost.mean(axis=0)
    if worlds:
        loss = (len(alike) * loss + losses(worlds, signal).mean(axis=0)) / (len(alike) + 1)
    nearest = np.argsort(apart, kind="stable")[:COMPARABLE]
    return Standing(loss, is_close.mean(axis=0), is_close[nearest].sum(axis=0), len(nearest), float(apart.min()))


def _same(schema: Schema | None, epsilon: float) -> dict[str, str]:
    return {} if schema is None else twins(schema, as_epsilon(epsilon))


def _choice(
    facts: Facts, epsilon: float, cases: Sequence[Case], worlds: Sequence[Case], same: dict[str, str]
) -> Choice:
    signal = facts.signal(epsilon)
    found, range_of = standing(facts, signal, cases, worlds), expected(facts, signal, cases)
    for model, simpler in same.items():  # the simpler stands before its twin in `MODELS`, and so in what follows
        for values in (found.loss, found.close, found.close_in, range_of):
            values[ADVISED.index(model)] = values[ADVISED.index(simpler)]
    low, middle, high = range_of.T.tolist()
    loss, close, close_in = found.loss.tolist(), found.close.tolist(), found.close_in.tolist()
    order = np.argsort(found.loss, kind="stable").tolist()
    expectations = tuple(
        Expectation(ADVISED[each], middle[each], low[each], high[each], loss[each], close[each], close_in[each])
        for each in order
    )
    return Choice(epsilon, expectations, found.cases, found.apart, strangeness(facts, cases, found.apart))


def strangeness(facts: Facts, cases: Sequence[Case], apart: float) -> tuple[Strange, ...]:
    """In which ways a table is unlike all cases, the nearest of which is so far.

    Few records are harder than n times epsilon tells: what noise leaves is not all, a model also has to generalise.
    """
    found: list[Strange] = []
    if facts.records < min(case.facts.records for case in cases):
        found.append("few records")
    if facts.classes > max(case.facts.classes for case in cases):
        found.append("many classes")
    if apart > FAR:
        found.append("far")
    return tuple(found)


def useful(facts: Facts, cases: Sequence[Case], worlds: Sequence[Case]) -> tuple[Useful, ...]:
    """From which epsilon on each model is useful, the earliest first."""
    signals = np.array([each.useful_from() for each in (*cases, *worlds)])
    share = 1 / (len(peers(facts, cases)) + 1) if worlds else 0.0
    weight = np.append((1 - share) * weights(facts, cases), np.full(len(worlds), share / max(1, len(worlds))))
    told = ~np.isnan(signals[:, 0])
    ends = [
        [quantile(signals[told, place], weight[told], share) / facts.signal(1.0) for share in (0.5, 0.1, 0.9)]
        for place in range(len(ADVISED))
    ]
    found = [Useful(model, *each) for model, each in zip(ADVISED, ends, strict=True)]
    return tuple(sorted(found, key=lambda each: (each.epsilon, each.low)))
