"""The door for questions: what is charged, what one record can change, and what is refused; mutants fail."""

from __future__ import annotations

import inspect
import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, Ledger, Numeric, Schema
from discreet.doors import questions as door
from discreet.doors.passage import pay
from discreet.doors.questions import MOST_COUNTED, MOST_QUESTIONS, ask, expected, planned, priced
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.privacy import steps as steps_module
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import as_rng
from discreet.privacy.steps import Apart, Step
from discreet.queries.crossed import CrossedCounts
from discreet.queries.predicates import Where
from discreet.queries.tables import Counts
from discreet.sources.crossed_counts import CountedTables
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, BASE, EDGES, neighbours, schema
from support.replay import replay


def where(column: str, test: str, value: Any) -> list[dict[str, Any]]:
    return [{"column": column, test: value}]


A, B, OTHER = (CrossedCounts.of(where("open", *each)) for each in (("equals", "a"), ("equals", "b"), ("missing", True)))
A_BY, B_BY = (CrossedCounts.of(where("open", "equals", each), ["label", "closed"]) for each in ("a", "b"))
LOW, HIGH = (
    CrossedCounts.of(where("near", "between", ends), ["open", {"column": "far", "bins": 3, "overlapping": True}])
    for ends in ([-1, -0.5], [0.5, 1])
)
ALL, BY_LABEL = CrossedCounts(), CrossedCounts.of(by=["label"])
REQUESTS: dict[str, list[CrossedCounts]] = {
    "all records": [ALL],
    "one table": [BY_LABEL],
    "three that exclude each other": [A, B, OTHER],
    "tables that exclude each other": [A_BY, B_BY],
    "numbers and tables": [A, B_BY, OTHER],
    "overlapping bins": [LOW, HIGH],
    "two groups and one": [A, LOW, B, HIGH, BY_LABEL],
    "nothing excludes": [A, LOW, BY_LABEL, ALL],
}


def visible(answers: Any) -> str:
    return json.dumps(answers.to_dict())


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("request_", REQUESTS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_whole_requests_stay_within_epsilon(request_: str, adjacency: str, data: Any) -> None:
    """Record and replay: what enters the mechanisms moves within what was charged, and nothing else can be seen."""
    given_ = schema(adjacency)
    table, other = data.draw(neighbours(adjacency))
    weights = data.draw(st.none() | st.lists(st.integers(1, 9), min_size=9, max_size=9))
    shares = None if weights is None else [float(each) for each in weights[: len(REQUESTS[request_])]]

    def asked(records: Any) -> Any:
        columns = {name: [record[name] for record in records] for name in given_.all_names}
        source = MemorySource({name: np.fromiter(values, dtype=object) for name, values in columns.items()})
        return ask(source, given_, REQUESTS[request_], Fraction(1), Ledger(1), as_rng(0), shares=shares)

    loss, answers, others = replay(asked, table, other)
    assert loss <= answers.receipt.epsilon <= 1
    assert visible(answers) == visible(others)


def worst(steps: Any, given_: Schema, records: Any) -> Fraction:
    """The largest loss between two neighbours that differ in these records (None: no record), exhaustively."""
    queries = [step.query for step in steps]
    task = CountedTables.of(queries, given_)
    tables = []
    for record in records:
        rows = [record] if record is not None else []
        columns = {name: [row[name] for row in rows] for name in given_.all_names}
        counted = MemorySource(columns).fold(task.cells, given_, task)
        tables.append([q.fold(each, given_) for q, each in zip(queries, task.split(counted), strict=True)])
    losses = [Fraction(0)]
    for first, second in itertools.combinations(range(len(records)), 2):
        pair = (records[first], records[second])
        if given_.adjacency.value == "add-remove" and None not in pair:
            continue
        losses.append(
            sum(
                (
                    step.mechanism.loss(int(np.abs(ours - theirs).sum()))
                    for step, ours, theirs in zip(steps, tables[first], tables[second], strict=True)
                ),
                Fraction(0),
            )
        )
    return max(losses)


SMALL = [Categorical("c", ["a", "b", "d"])]
RECORDS = [None, *({"c": c, "y": y} for c in ("a", "b", "d", "?") for y in ("n", "o", None))]


def small(adjacency: str) -> Schema:
    return Schema(SMALL, "y", ["n", "o"], adjacency=adjacency)


def step_of(query: CrossedCounts, share: Any, given_: Schema) -> Step:
    return Step(query, DiscreteLaplace.calibrated(Fraction(share), query.distance(given_)), Fraction(share))


SINGLE = [CrossedCounts.of(where("c", "equals", each)) for each in ("a", "b", "d")]
TABLES_ = [CrossedCounts.of(where("c", "equals", each), ["y"]) for each in ("a", "b", "d")]
CASES: dict[str, tuple[list[CrossedCounts], list[Any], dict[str, Any]]] = {
    "one count": (SINGLE[:1], [1], {"add-remove": 1, "replace-one": 1}),
    "counts": (SINGLE, [1, 2, 4], {"add-remove": 4, "replace-one": 6}),
    "equal counts": (SINGLE[:2], [1, 1], {"add-remove": 1, "replace-one": 2}),
    "tables": (TABLES_, [1, 2, 4], {"add-remove": 4, "replace-one": 4}),
    "equal tables": (TABLES_, [2, 2, 2], {"add-remove": 2, "replace-one": 2}),
    "a count and a table": ([SINGLE[0], TABLES_[1]], [4, 1], {"add-remove": 4, "replace-one": Fraction(9, 2)}),
    "a table and a count": ([SINGLE[0], TABLES_[1]], [1, 4], {"add-remove": 4, "replace-one": 4}),
}
OVERLAPPING = [
    (SINGLE[0], SINGLE[0]),
    (SINGLE[0], CrossedCounts.of(where("c", "in", ["a", "b"]))),
    (SINGLE[0], CrossedCounts()),
    (SINGLE[0], CrossedCounts.of(where("y", "equals", "n"))),
    (SINGLE[0], SINGLE[1], CrossedCounts.of(where("c", "in", ["d", "a"]))),
]


def examine(apart: Any) -> None:
    """Raise AssertionError unless a group charges what its answers cost, and refuses what is not disjoint."""
    for queries, shares, costs in CASES.values():
        for adjacency in ADJACENCIES:
            given_ = small(adjacency)
            steps = tuple(step_of(q, share, given_) for q, share in zip(queries, shares, strict=True))
            group = apart(steps)
            group.check(given_)
            (line,) = group.charges(given_)
            assert line.epsilon == costs[adjacency]
            lost = worst(steps, given_, RECORDS)
            assert lost <= line.epsilon, "more is lost than is charged"
            assert lost > line.epsilon * Fraction(999, 1000), "more is charged than is lost"
    for adjacency in ADJACENCIES:
        given_ = small(adjacency)
        for queries in OVERLAPPING:
            group = apart(tuple(step_of(query, 1, given_) for query in queries))
            with pytest.raises(ParameterError, match="a record can pass"):
                group.check(given_)
        weak = Step(SINGLE[1], DiscreteLaplace(0.5), Fraction(1))
        with pytest.raises(ParameterError, match="costs more"):
            apart((step_of(SINGLE[0], 1, given_), weak)).check(given_)


def test_disjoint_questions_cost_the_largest() -> None:
    """And under replace-one what a record costs that leaves one and enters another; both bounds are attained."""
    examine(Apart)


MUTANTS = {
    "disjointness is believed": ("if not exclude_each_other(", "if False and not exclude_each_other("),
    "only neighbours in the list are compared": (
        "in combinations(passing, 2):",
        "in zip(passing, passing[1:]):",
    ),
    "replacing is charged as adding": (
        "if schema.adjacency is Adjacency.ADD_REMOVE:\n            return largest",
        "if True:\n            return largest",
    ),
    "the smallest is charged": ("largest = max(as_epsilon(", "largest = min(as_epsilon("),
    "one of two moves is charged": ("total(moved[:2])", "total(moved[:1])"),
    "the smallest moves are charged": (
        "for step in self.alternatives), reverse=True)",
        "for step in self.alternatives))",
    ),
    "moves are charged at half": ("Fraction(step.query.unit(schema), step.distance(schema))", "Fraction(1, 2)"),
    "the largest is forgotten": ("return max(largest, total(moved[:2]))", "return total(moved[:2])"),
    "everything is charged": ("return max(largest, total(moved[:2]))", "return total(moved)"),
    "steps are not checked": ("            step.check(schema)\n        passing", "        passing"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_of_a_disjoint_group_are_caught(mutant: str) -> None:
    source, (old, new) = inspect.getsource(steps_module), MUTANTS[mutant]
    assert old in source, "the mutant does not fit the code any more"
    mutated: dict[str, Any] = {"__name__": steps_module.__name__, "Step": Step}
    exec(source.replace(old, new, 1).replace("class Step(", "class _Unused("), mutated)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        examine(mutated["Apart"])


def test_a_replaced_record_can_leave_one_predicate_and_enter_another() -> None:
    """Two counts of one cell each move by one: at their own price they would cost twice the largest share."""
    given_ = schema("replace-one")
    ours, theirs = {**BASE, "open": "a"}, {**BASE, "open": "b"}
    for queries in ([A, B], [A_BY, B_BY], [A, B_BY]):
        asked = lambda records, queries=queries: ask(  # noqa: E731
            MemorySource(records), given_, queries, Fraction(1), Ledger(1), as_rng(0)
        )
        loss, answers, _ = replay(asked, [ours], [theirs])
        assert answers.receipt.epsilon == 1
        assert Fraction(99, 100) < loss <= 1
    (alone,) = planned(given_, [A], Fraction(1))
    (pair,) = planned(given_, [A, B], Fraction(1))
    assert pair.alternatives[0].mechanism.scale == 2 * alone.alternatives[0].mechanism.scale


def test_the_passage_does_not_believe_that_predicates_are_disjoint() -> None:
    ledger = Ledger(10)
    group = Apart(tuple(step_of(query, 1, schema()) for query in (A, BY_LABEL)))
    with pytest.raises(ParameterError, match="a record can pass"):
        pay(schema(), [group], ledger, as_rng(0), "counts")
    for forged in (type("Lenient", (Apart,), {"check": lambda *_: None}), type("Cheap", (Apart,), {})):
        with pytest.raises(ParameterError, match="not a step"):
            pay(schema(), [forged(group.alternatives)], ledger, as_rng(0), "counts")
    table = Apart((Step(Counts("open"), DiscreteLaplace(100.0), Fraction(1)),))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="does not count by predicates"):
        pay(schema(), [table], ledger, as_rng(0), "counts")
    with pytest.raises(ParameterError, match="at least one"):
        pay(schema(), [Apart(())], ledger, as_rng(0), "counts")
    assert ledger.entries == []


def test_a_door_that_takes_all_for_disjoint_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant of the door: it groups questions that overlap, and the passage refuses to charge the maximum."""
    monkeypatch.setattr(door, "exclude_each_other", lambda *_: True)
    ledger = Ledger(10)
    with pytest.raises(ParameterError, match="a record can pass"):
        ask(MemorySource([BASE]), schema(), [A, ALL], Fraction(1), ledger, as_rng(0))
    assert ledger.entries == []


class Nearer(CrossedCounts):
    """A query that states a smaller distance of neighbours than the true one."""

    def distance(self, given_: Any) -> int:
        return 0


class Noted(MemorySource):
    """A source that notes when it is checked and read."""

    def __init__(self, records: Any) -> None:
        super().__init__(records)
        self.seen: list[str] = []

    def check(self, given_: Any) -> None:
        self.seen.append("check")
        super().check(given_)

    def fold(self, cells: Any, given_: Any, task: Any) -> Any:
        self.seen.append("fold")
        return super().fold(cells, given_, task)


def test_everything_is_charged_before_anything_is_read_and_read_once() -> None:
    source, ledger = Noted([BASE]), Ledger(1)
    ask(source, schema(), REQUESTS["two groups and one"], Fraction(1), ledger, as_rng(0), "a purpose")
    assert source.seen == ["check", "fold"]
    assert ledger.entries == [("a purpose", 1)]
    source = Noted([BASE])
    with pytest.raises(BudgetError):
        ask(source, schema(), [ALL], Fraction(1), ledger, as_rng(0))
    assert source.seen == ["check"]
    with pytest.raises(DataError, match="near"):
        ask(MemorySource({"open": ["a"], "label": ["x"]}), schema(), [ALL], Fraction(1), Ledger(1), as_rng(0))


@pytest.mark.parametrize(
    ("asked", "options", "words"),
    [
        ([], {}, "0 questions"),
        ([A] * 2, {}, "asked twice"),
        ([ALL] * (MOST_QUESTIONS + 1), {}, f"from 1 to {MOST_QUESTIONS}"),
        ([Nearer()], {}, "not a count by predicates"),
        ([Counts("open")], {}, "not a count by predicates"),
        ([CrossedCounts.of(by=["elsewhere"])], {}, "not in the schema"),
        (
            [
                CrossedCounts.of(by=[{"column": "near", "bins": bins}, {"column": "far", "bins": 255}])
                for bins in range(250, 256)
            ],
            {},
            f"at most {MOST_COUNTED}",
        ),
        (
            [
                CrossedCounts.of(
                    where("near", "in", [round(-1 + 0.01 * each + 0.0001 * more, 4) for each in range(199)])
                )
                for more in range(90)
            ],
            {},
            "separate ranges",
        ),
        (
            [CrossedCounts.of(where("near", "in", [0] * 999 + [more / 99])) for more in range(66)],
            {},
            "name 66000 values",
        ),
        ([A, B], {"shares": [1.0]}, "one for each"),
        ([A, B], {"shares": [1.0, 0.0]}, "not a weight"),
        ([A, B], {"shares": [1.0, math.nan]}, "not a weight"),
        ([A, B], {"shares": [1.0, True]}, "not a weight"),
        ([A, B], {"shares": [1.0, "2"]}, "not a weight"),
        ([A], {"epsilon": 0}, "epsilon"),
        ([A], {"epsilon": 10**6}, "epsilon"),
        ([A], {"epsilon": Fraction(1, 10**30)}, "too small"),
    ],
)
def test_what_cannot_be_asked_costs_nothing(asked: Any, options: Any, words: str) -> None:
    source, ledger = Noted([BASE]), Ledger(10)
    given_ = {"epsilon": Fraction(1), **options}
    with pytest.raises(ParameterError, match=words):
        ask(source, schema(), asked, given_.pop("epsilon"), ledger, as_rng(0), **given_)
    assert (source.seen, ledger.entries) == ([], [])


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("request_", REQUESTS)
def test_the_price_is_epsilon_and_a_quote_says_so(request_: str, adjacency: str) -> None:
    given_, asked = schema(adjacency), REQUESTS[request_]
    for shares in (None, [float(place + 1) for place in range(len(asked))]):
        lines = priced(given_, asked, "1/3", shares)
        answers = ask(MemorySource([BASE]), given_, asked, "1/3", Ledger(1), as_rng(None), shares=shares)
        assert tuple(lines) == answers.receipt.charges
        assert answers.receipt.epsilon == Fraction(1, 3)
        assert [(each.scale, each.unit) for each in answers.answers] == expected(given_, asked, "1/3", shares)
        assert answers.guarantee.holds


def test_questions_that_exclude_each_other_get_more() -> None:
    """Three groups of two, one and one: each pair shares what each single question has alone."""
    assert {scale for scale, _ in expected(schema(), [A, ALL, B, BY_LABEL], Fraction(3))} == {1.0}
    weighted = expected(schema(), [A, B], Fraction(1), [1.0, 4.0])
    assert [scale for scale, _ in weighted] == [4.0, 1.0]


@pytest.mark.parametrize("records", EDGES.values(), ids=EDGES)
def test_without_noise_the_answers_are_exact(records: Any) -> None:
    columns = {name: [record[name] for record in records] for name in schema().all_names}
    answers = ask(MemorySource(columns), schema(), [ALL, BY_LABEL, A], math.inf, Ledger.unlimited(), as_rng(None))
    known = [record for record in records if record["label"] in ("x", "y", "z")]
    assert answers[ALL].counts.item() == len(known)
    assert answers[BY_LABEL].counts.tolist() == [sum(each["label"] == name for each in known) for name in "xyz"]
    assert answers[A].counts.item() == sum(each["open"] == "a" for each in known)
    assert not answers.guarantee.holds


def test_noise_has_the_stated_variance_and_intervals_hold() -> None:
    columns = {"x": [0.5] * 40, "y": ["a"] * 40}
    given_ = Schema([Numeric("x", 0, 1)], "y", ["a", "b"])
    query = CrossedCounts.of(by=["y", {"column": "x", "bins": 2}])
    values, within, totals = [], 0, 0
    for seed in range(400):
        (answer,) = ask(MemorySource(columns), given_, [query], Fraction(1, 2), Ledger(1), as_rng(seed)).answers
        values.append(answer.counts[1, 0])
        within += abs(answer.counts[0, 1] - 40) <= answer.half_width()
        whole = answer.total()
        totals += whole.low <= 40 <= whole.high
    assert np.var(values) == pytest.approx(answer.variance, rel=0.35)
    assert abs(np.mean(values)) < 5 * math.sqrt(answer.variance / 400)
    assert within / 400 > 0.92
    assert totals / 400 > 0.92


def test_where_and_by_may_name_the_same_column() -> None:
    given_ = Schema([Numeric("x", 0, 8)], "y", ["a"])
    query = CrossedCounts(
        Where.from_plain(where("x", "between", [2, 6])), CrossedCounts.of(by=[{"column": "x", "bins": 4}]).by
    )
    source = MemorySource({"x": [0.5, 2.5, 3, 4.5, 7], "y": ["a"] * 5})
    (answer,) = ask(source, given_, [query], math.inf, Ledger.unlimited(), as_rng(None)).answers
    assert answer.counts.tolist() == [0, 2, 1, 0]
