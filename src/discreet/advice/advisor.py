"""Which model to train at which epsilon, from public facts alone: by the nearest cases and by simulation."""

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
"""Privacy losses to advise on, if none are given."""
CLOSE = 0.01
"""A model counts as good if its accuracy is at most this far below the best; `benchmarks/advise.py` measures by it."""
COMPARABLE = 10
"""At most this many of the nearest comparable cases are counted and named."""
FAR = 2.0
"""A table is unlike all cases if the nearest one is farther away than this; chosen by hand."""

Strange = Literal["few records", "many classes", "far"]
"""Ways to be unlike all cases: fewer records than any case has, more classes than any has, or a different shape."""


@dataclass(frozen=True)
class Expectation:
    """What to expect of a model at one epsilon.

    Parameters
    ----------
    accuracy, low, high : the middle and the ends of a range that holds the accuracy in about four of five tables.
    loss : how far its accuracy is expected to be below that of the best model; not a privacy loss.
    close : the fraction of comparable cases in which it was the best or within one percentage point of the best.
    close_in : the number of such cases among the nearest ones.
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
    """The epsilon from which on a model is useful: the median over cases and worlds, and the range of four in five.

    A model is useful if its accuracy is at least halfway between that of the largest class and the best accuracy of any
    model without noise. The epsilon is infinite if it never is.
    """

    model: str
    epsilon: float
    low: float
    high: float


@dataclass(frozen=True)
class Choice:
    """The models at one epsilon, in the order in which to try them.

    Parameters
    ----------
    expectations : what to expect of each model, best first.
    cases : the number of nearest cases that were counted.
    apart : the distance to the nearest case.
    strange : the ways in which the table is unlike all cases.
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
        """Whether the table is unlike all cases: then the advice is a guess."""
        return bool(self.strange)


@dataclass(frozen=True)
class Advice:
    """What to train, from public facts: a choice per epsilon, and the epsilon from which on each model is useful."""

    facts: Facts
    choices: tuple[Choice, ...]
    useful: tuple[Useful, ...]
    nearest: tuple[str, ...]
    """Names of the cases that count most, nearest first."""
    cases: tuple[Case, ...]
    """All cases that were used."""
    hindered: str = ""
    """Why nothing was simulated although it was asked for; empty otherwise."""


def advise(
    schema: Schema,
    epsilons: Sequence[Any] = EPSILONS,
    *,
    records: int | None = None,
    simulated: bool = True,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Advice:
    """Which model to train, and what to expect of it, from public facts alone: no data are read.

    Parameters
    ----------
    schema : columns, classes and adjacency.
    epsilons : privacy losses to choose among.
    records : the nominal number of records; default: as the schema declares.
    simulated : whether to try the models on made-up tables too, which takes some seconds.
    progress : called with the number of simulations that are done, and their total.

    Examples
    --------
    >>> from discreet import Categorical, Numeric, Schema
    >>> schema = Schema([Numeric("age", 17, 90), Categorical("sex", ["F", "M"])], "income", ["low", "high"])
    >>> advice = advise(schema, [0.1], records=40_000, simulated=False)
    >>> advice.choices[0].first.low < advice.choices[0].first.high
    True
    """
    facts = Facts.of(schema, records)
    asked = [float(as_epsilon(each)) for each in epsilons]
    if not asked or len(set(asked)) < len(asked):
        raise ParameterError(f"{len(asked)} epsilons, {len(set(asked))} different; need at least one, and each once")
    worlds = simulate(schema, facts, progress) if simulated else []
    advice = consider(facts, sorted(asked), committed(), worlds, schema.replace(records=facts.records))
    return replace(advice, hindered=hindrance(schema, facts)) if simulated else advice


def consider(
    facts: Facts,
    epsilons: Sequence[float],
    cases: Sequence[Case],
    worlds: Sequence[Case] = (),
    schema: Schema | None = None,
) -> Advice:
    """Advice from given cases and simulated worlds; the schema tells which models are the same (`twins`)."""
    alike = peers(facts, cases)
    order = alike[np.argsort(distances(facts, [cases[place] for place in alike]), kind="stable")]
    return Advice(
        facts,
        tuple(_choice(facts, epsilon, cases, worlds, _same(schema, epsilon)) for epsilon in epsilons),
        useful(facts, cases, worlds),
        tuple(cases[place].name for place in order[:COMPARABLE]),
        tuple(cases),
    )


def shortfalls(cases: Sequence[Case], signal: float) -> Values:
    """How far the accuracy of each model (columns) was below the best one in each case (rows)."""
    accuracies = np.array([case.at(signal) for case in cases])
    return np.asarray(accuracies.max(axis=1, keepdims=True) - accuracies)


class Standing(NamedTuple):
    """How the models compare at one signal: mean shortfalls, and how often each was close to the best."""

    shortfall: Values
    close: Values
    close_in: Values
    cases: int
    apart: float


def standing(facts: Facts, signal: float, cases: Sequence[Case], worlds: Sequence[Case] = ()) -> Standing:
    """How the models compare: by their mean shortfall, at the same signal, over the comparable cases (`peers`).

    All simulated worlds together count as one more case, since made-up tables tell less than real ones. All cases weigh
    the same: there are too few of them to learn weights from (`benchmarks/advise.py` tried 36 settings).
    """
    alike = [cases[place] for place in peers(facts, cases)]
    apart, below = distances(facts, alike), shortfalls(alike, signal)
    is_close = below <= CLOSE + 1e-9
    shortfall = below.mean(axis=0)
    if worlds:
        shortfall = (len(alike) * shortfall + shortfalls(worlds, signal).mean(axis=0)) / (len(alike) + 1)
    nearest = np.argsort(apart, kind="stable")[:COMPARABLE]
    return Standing(shortfall, is_close.mean(axis=0), is_close[nearest].sum(axis=0), len(nearest), float(apart.min()))


def _same(schema: Schema | None, epsilon: float) -> dict[str, str]:
    return {} if schema is None else twins(schema, as_epsilon(epsilon))


def _choice(
    facts: Facts, epsilon: float, cases: Sequence[Case], worlds: Sequence[Case], same: dict[str, str]
) -> Choice:
    signal = facts.signal(epsilon)
    found, range_of = standing(facts, signal, cases, worlds), expected(facts, signal, cases)
    for model, simpler in same.items():  # at equal shortfall the simpler model comes first, as in `ADVISED`
        for values in (found.shortfall, found.close, found.close_in, range_of):
            values[ADVISED.index(model)] = values[ADVISED.index(simpler)]
    low, middle, high = range_of.T.tolist()
    below, close, close_in = found.shortfall.tolist(), found.close.tolist(), found.close_in.tolist()
    order = np.argsort(found.shortfall, kind="stable").tolist()
    expectations = tuple(
        Expectation(ADVISED[each], middle[each], low[each], high[each], below[each], close[each], close_in[each])
        for each in order
    )
    return Choice(epsilon, expectations, found.cases, found.apart, strangeness(facts, cases, found.apart))


def strangeness(facts: Facts, cases: Sequence[Case], apart: float) -> tuple[Strange, ...]:
    """In which ways a table is unlike all cases, if the nearest one is `apart` away.

    A small table is harder than its signal (records times epsilon) suggests: a model also has to generalise.
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
    """From which epsilon on each model is useful, the smallest epsilon first."""
    signals = np.array([each.useful_from() for each in (*cases, *worlds)])
    simulated = 1 / (len(peers(facts, cases)) + 1) if worlds else 0.0
    weight = np.append((1 - simulated) * weights(facts, cases), np.full(len(worlds), simulated / max(1, len(worlds))))
    told = ~np.isnan(signals[:, 0])
    ends = [
        [quantile(signals[told, place], weight[told], level) / facts.signal(1.0) for level in (0.5, 0.1, 0.9)]
        for place in range(len(ADVISED))
    ]
    found = [Useful(model, *each) for model, each in zip(ADVISED, ends, strict=True)]
    return tuple(sorted(found, key=lambda each: (each.epsilon, each.low)))
