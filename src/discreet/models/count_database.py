"""A private count-query database: noisy counts can be had, and models that need no more are learned from them.

Zorarpacı (2019, chapter 5) learns one-rule and naive Bayes classifiers from the noisy answers of such a database. What
a model asks there is what it asks when it is fitted directly: tables of counts, and which column has the best one. A
database may answer counts alone; then a model buys the tables of all columns and compares these, at a worse accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol, cast

from discreet.doors.choice import Selection, select
from discreet.doors.counts import CountStep
from discreet.doors.questions import MOST_COUNTED, MOST_QUESTIONS, ask
from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon, as_epsilon, as_release_epsilon, total
from discreet.privacy.ledger import Ledger
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import as_rng
from discreet.queries.crossed import By, CrossedCounts
from discreet.queries.tables import ClassCounts, ColumnScore, Counts, SplineCounts, TableQuery, Total
from discreet.released.answers import Answer, Answers
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.sources import Source, finish
from discreet.sources.memory import MemorySource


class CountsByQuery(Protocol):
    """What a model needs of a count-query database: its public schema, and noisy answers that were paid for.

    `CountDatabase` is one over a table of ours; a data set of the service is another.
    """

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        ...

    def ask(
        self,
        queries: Sequence[CrossedCounts],
        epsilon: Any,
        *,
        shares: Sequence[float] | None = None,
        purpose: str = "counts",
    ) -> Answers:
        """The noisy answers to some queries, for exactly `epsilon` in total; see `discreet.doors.questions.ask`."""
        ...


class ChoosesColumns(CountsByQuery, Protocol):
    """A count-query database that also tells which columns have the best tables, without the tables themselves."""

    def choose(
        self, candidates: Sequence[ColumnScore], wanted: int, epsilon: Any, *, purpose: str = "choice"
    ) -> Selection:
        """The `wanted` best candidates, chosen privately for exactly `epsilon`; see `discreet.doors.choice.select`."""
        ...


class CountDatabase:
    """A table that answers count queries with noise, until its ledger allows no more.

    Guarantee: all answers together are ε-DP for one record, under the schema's adjacency, with ε what the ledger was
    charged. Proof: each request is (`ask` in doors/questions.py), and losses add.

    Parameters
    ----------
    source : a source such as `discreet.open_file("data.csv")`, or a table in memory with the target column.
    schema : what is public about it.
    ledger : the budget that every request is charged to.
    random_state : None for secure noise; an integer for repeatable experiments and tests, which voids the guarantee.

    Examples
    --------
    >>> from discreet import Categorical, CountDatabase, Ledger, NaiveBayes, Schema
    >>> schema = Schema([Categorical("smoker", ["no", "yes"])], target="ill", classes=["no", "yes"], records=1000)
    >>> table = {"smoker": ["yes", "no"] * 500, "ill": ["yes", "no"] * 500}
    >>> database = CountDatabase(table, schema, ledger=Ledger(3))
    >>> answer = database.count(where=[{"column": "smoker", "equals": "yes"}], by=["ill"], epsilon=1)
    >>> 400 < answer.total(ill="yes").value < 600
    True
    >>> NaiveBayes(schema, epsilon=1).fit_from(database).predict([{"smoker": "yes"}]).tolist()
    ['yes']
    >>> float(database.ledger.remaining)
    1.0
    """

    def __init__(self, source: Any, schema: Schema, *, ledger: Ledger, random_state: Any = None) -> None:
        if not isinstance(schema, Schema):
            raise ParameterError(f"schema is a {type(schema).__name__}; need a Schema: what is public about the table")
        if not isinstance(ledger, Ledger):
            raise ParameterError(f"ledger is a {type(ledger).__name__}; need a Ledger: the budget of the database")
        self._source: Source = source if hasattr(source, "fold") else MemorySource(source)
        self._rng = as_rng(random_state)
        self._schema, self.ledger = schema, ledger

    def __repr__(self) -> str:
        return f"CountDatabase({self._schema!r}, values hidden)"

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        return self._schema

    def ask(
        self,
        queries: Sequence[Any],
        epsilon: Any,
        *,
        shares: Sequence[float] | None = None,
        purpose: str = "counts",
    ) -> Answers:
        """Answer some queries (`CrossedCounts`, or plain data with `where` and `by`) for `epsilon` in total.

        Queries whose predicates exclude each other share a part of epsilon; see `discreet.doors.questions.ask`.
        """
        asked = [each if isinstance(each, CrossedCounts) else CrossedCounts.from_plain(each) for each in queries]
        loss = as_release_epsilon(epsilon)
        self.ledger.check(loss, self._schema.adjacency)
        try:
            return ask(self._source, self._schema, asked, loss, self.ledger, self._rng, purpose, shares=shares)
        finally:
            finish(self._source)

    def choose(
        self, candidates: Sequence[ColumnScore], wanted: int, epsilon: Any, *, purpose: str = "choice"
    ) -> Selection:
        """Tell which columns classify the most records if each cell predicts its largest class, and nothing else.

        This costs less than to publish the tables and compare them; see `discreet.doors.choice.select`.
        """
        loss = as_release_epsilon(epsilon)
        self.ledger.check(loss, self._schema.adjacency)
        try:
            return select(self._source, self._schema, candidates, wanted, loss, self.ledger, self._rng, purpose)
        finally:
            finish(self._source)

    def count(self, *, where: Any = (), by: Any = (), epsilon: Any) -> Answer:
        """Answer one query."""
        return self.ask([CrossedCounts.of(where, by)], epsilon)[0]


def is_count_database(source: object) -> bool:
    """Whether this answers count queries, and is not a source of records."""
    return hasattr(source, "ask") and hasattr(source, "schema") and not hasattr(source, "fold")


def choosing(database: CountsByQuery) -> ChoosesColumns | None:
    """The database, if it can choose columns; else None."""
    return cast(ChoosesColumns, database) if hasattr(database, "choose") else None


def as_question(query: TableQuery, schema: Schema) -> CrossedCounts:
    """The count query with the same table and the same sensitivity; ParameterError if there is none."""
    classes = By(schema.target)
    match query:
        case Counts():
            return CrossedCounts(by=(classes, By(query.column, query.bins)))
        case SplineCounts():
            return CrossedCounts(by=(classes, By(query.column, query.bins, overlapping=True)))
        case ClassCounts():
            return CrossedCounts(by=(classes,))
        case Total():
            return CrossedCounts()
        case _:
            raise ParameterError(
                f"{query!r} is not a count, and a count database answers nothing else; use numeric='histogram'"
            )


def ask_steps(database: CountsByQuery, steps: Sequence[CountStep], schema: Schema, purpose: str) -> NoisyStatistics:
    """The answers to the steps of a model's plan, at the shares of these steps.

    In one request, unless there are too many or too large tables for one.
    """
    answered: NoisyStatistics | None = None
    for some in _in_requests(steps, schema):
        shares = [as_epsilon(step.epsilon) for step in some]
        asked = [as_question(step.query, schema) for step in some]
        answers = database.ask(asked, total(shares), shares=_weights(shares), purpose=purpose)
        tables = [
            (step.query, _table(step.query, answers[question])) for step, question in zip(some, asked, strict=True)
        ]
        noisy = NoisyStatistics(tables, answers.receipt)
        answered = noisy if answered is None else answered + noisy
    assert answered is not None, "a plan has steps"
    return answered


def rehearse_steps(steps: Sequence[CountStep], schema: Schema) -> None:
    """Raise ParameterError if a count database cannot answer these steps; nothing is asked."""
    for step in steps:
        as_question(step.query, schema).check(schema)


def _table(query: TableQuery, answer: Answer) -> NoisyTable:
    """The answer as the table that the model's query has."""
    values = answer.values if answer.values.ndim == 2 else answer.values.reshape(-1, 1)
    return NoisyTable(values, DiscreteLaplace(answer.scale).variance)


def _in_requests(steps: Sequence[CountStep], schema: Schema) -> list[list[CountStep]]:
    requests: list[list[CountStep]] = []
    counted = 0
    for step in steps:
        size = as_question(step.query, schema).counted(schema)
        if not requests or len(requests[-1]) == MOST_QUESTIONS or counted + size > MOST_COUNTED:
            requests.append([])
            counted = 0
        requests[-1].append(step)
        counted += size
    return requests


def _weights(shares: Sequence[Epsilon]) -> list[float] | None:
    """Weights that `split_by_weight` turns into exactly these shares: whole numbers of millionths."""
    if math.inf in shares or len(shares) == 1:
        return None
    whole = sum((Fraction(share) for share in shares), Fraction(0))
    exact = [Fraction(share) / whole for share in shares]
    unit = math.lcm(*(each.denominator for each in exact))
    return [int(each * unit) / 1_000_000 for each in exact]
