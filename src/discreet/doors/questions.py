"""The door for questions: counts of records that pass public predicates, several tables in one pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from discreet.doors.passage import Payer, passage
from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon, as_release_epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import Randomness
from discreet.privacy.receipt import Charge
from discreet.privacy.steps import Apart, Step, split_by_weight
from discreet.queries.crossed import CrossedCounts
from discreet.queries.predicates import exclude_each_other
from discreet.queries.tables import ClassCounts
from discreet.released.answers import Answers, answered
from discreet.schema import Adjacency, Schema
from discreet.sources import Source, check_rows, try_task
from discreet.sources.crossed_counts import CountedTables

MOST_QUESTIONS = 256
"""The most questions of one request: which of them exclude each other is found pair by pair."""
MOST_RANGES = 1 << 14
"""The most ranges of codes that all predicates of a request pass: bounds the time of comparing them pair by pair."""
MOST_NAMED = 1 << 16
"""The most values that all predicates of a request name: bounds the time of looking them up."""
MOST_COUNTED = 1 << 18
"""The most cells that one request is counted in, all tables together: two megabytes, in each block of each worker."""
MOST_WEIGHT = 1_000_000
"""The largest ratio of two weights: shares of ε are in millionths."""

CrossedStep: TypeAlias = Step[CrossedCounts, DiscreteLaplace]


def ask(
    source: Source,
    schema: Schema,
    questions: Sequence[CrossedCounts],
    epsilon: Epsilon,
    ledger: Payer,
    rng: Randomness,
    purpose: str = "counts",
    *,
    shares: Sequence[float] | None = None,
) -> Answers:
    """Pay, then count for all questions in one pass, then draw noise.

    Questions about records that no record can be both of share one part of ε (`Apart`); all others divide ε among them,
    equally or by the weights `shares`.

    Guarantee  the answers are ε-DP under the schema's adjacency.
    Proof      each table has the noise of its step (`Step`; sensitivity in queries/crossed.py); the questions of one
               group exclude each other, which the passage finds out for itself (`Apart`); the groups add up
               (sequential composition) to at most ε, in exact fractions. How questions are grouped follows from the
               questions and the schema.
    Order      that of the passage.
    Test       tests/doors/test_questions.py::test_whole_requests_stay_within_epsilon (record and replay)
    """
    questions = tuple(questions)
    groups = planned(schema, questions, epsilon, shares)
    task = CountedTables.of(questions, schema)
    check_rows(source, sums=True)
    try_task(source, task)
    reading, receipt = passage(source, schema, groups, ledger, rng, purpose)
    exact = task.split(reading.fold(task.cells or [ClassCounts().cells(schema)], task))
    step_of = {step.query: step for group in groups for step in group.alternatives}
    answers = []
    for question, counts in zip(questions, exact, strict=True):
        mechanism = step_of[question].mechanism
        noisy = mechanism.perturb(question.fold(counts, schema), rng)
        answers.append(answered(question, noisy, mechanism.scale, schema))
    return Answers(tuple(answers), receipt, schema)


def planned(
    schema: Schema, questions: Sequence[CrossedCounts], epsilon: Epsilon, shares: Sequence[float] | None = None
) -> list[Apart]:
    """The steps of a request, in groups of questions that exclude each other; a function of public things alone."""
    _check(schema, questions)
    weights = _weights(questions, shares)
    groups = _grouped(schema, questions)
    parts = split_by_weight(as_release_epsilon(epsilon), [max(weights[place] for place in group) for group in groups])
    planned = []
    for group, part in zip(groups, parts, strict=True):
        asked = [questions[place] for place in group]
        divided = _divided(part, asked, [Fraction(weights[place]) for place in group], schema)
        planned.append(
            Apart(
                tuple(
                    Step(each, DiscreteLaplace.calibrated(share, each.distance(schema)), share)
                    for each, share in zip(asked, divided, strict=True)
                )
            )
        )
    return planned


def priced(
    schema: Schema, questions: Sequence[CrossedCounts], epsilon: Epsilon, shares: Sequence[float] | None = None
) -> list[Charge]:
    """What a request would be charged, line by line, without reading anything: for a quote."""
    groups = planned(schema, questions, epsilon, shares)
    for group in groups:
        group.check(schema)
    return [line for group in groups for line in group.charges(schema)]


def expected(
    schema: Schema, questions: Sequence[CrossedCounts], epsilon: Epsilon, shares: Sequence[float] | None = None
) -> list[tuple[float, int]]:
    """For each question the scale of its noise and what one record adds in all, from which intervals follow; public."""
    groups = planned(schema, questions, epsilon, shares)
    scale_of = {step.query: step.mechanism.scale for group in groups for step in group.alternatives}
    return [(scale_of[each], each.unit(schema)) for each in questions]


def _check(schema: Schema, questions: Sequence[CrossedCounts]) -> None:
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise ParameterError(f"{len(questions)} questions; need from 1 to {MOST_QUESTIONS}")
    for each in questions:
        if type(each) is not CrossedCounts:  # a subclass could state any distance
            raise ParameterError(f"{type(each).__name__} is not a count by predicates; need CrossedCounts")
    named = sum(len(test.values) for each in questions for test in each.where.predicates)
    if named > MOST_NAMED:
        raise ParameterError(
            f"the predicates of all questions name {named} values; need at most {MOST_NAMED}: ask fewer at a time"
        )
    for each in questions:
        each.check(schema)
    if len({*questions}) < len(questions):
        raise ParameterError("a question is asked twice; ask it once, with a larger share")
    ranges = sum(len(spans) for each in questions for spans in each.where.spans(schema).values())
    if ranges > MOST_RANGES:
        raise ParameterError(
            f"the predicates of all questions pass {ranges} separate ranges of values; need at most {MOST_RANGES}: use "
            "intervals, or ask fewer at a time"
        )
    counted = sum(each.counted(schema) for each in questions)
    if counted > MOST_COUNTED:
        raise ParameterError(
            f"all tables together are counted in {counted} cells; need at most {MOST_COUNTED}: ask fewer at a time"
        )


def _weights(questions: Sequence[CrossedCounts], shares: Sequence[float] | None) -> list[float]:
    weights = [1.0] * len(questions) if shares is None else list(shares)
    if len(weights) != len(questions):
        raise ParameterError(f"{len(weights)} shares for {len(questions)} questions; need one for each")
    for weight in weights:
        usable = isinstance(weight, int | float) and not isinstance(weight, bool) and math.isfinite(weight)
        if not usable or not 1 / MOST_WEIGHT <= weight <= MOST_WEIGHT:
            raise ParameterError(f"a share is not a weight from {1 / MOST_WEIGHT:g} to {MOST_WEIGHT}; need a number")
    return weights


def _grouped(schema: Schema, questions: Sequence[CrossedCounts]) -> list[list[int]]:
    """Groups of questions that exclude each other: each joins the first group where it excludes all others."""
    passing = [each.where.spans(schema) for each in questions]
    groups: list[list[int]] = []
    for place, own in enumerate(passing):
        for group in groups:
            if all(exclude_each_other(own, passing[other]) for other in group):
                group.append(place)
                break
        else:
            groups.append([place])
    return groups


def _divided(
    part: Epsilon, asked: Sequence[CrossedCounts], weights: Sequence[Fraction], schema: Schema
) -> list[Epsilon]:
    """The share of each question of a group, by weight, such that the group costs exactly its part (`Apart`).

    Under replace-one, a record may leave one question of a group and enter another, at each of their losses for one
    record. So a question whose own distance is that of one record, a single number, has half of the share that a table
    of the same weight has, and with it the same noise.
    """
    if part == math.inf or len(asked) == 1:
        return [part] * len(asked)
    if schema.adjacency is Adjacency.ADD_REMOVE:
        return [part * weight / max(weights) for weight in weights]
    single = [each.distance(schema) == each.unit(schema) for each in asked]
    relative = [weight / 2 if is_single else weight for weight, is_single in zip(weights, single, strict=True)]
    moved = sorted(weights, reverse=True)[:2]  # twice what each costs if one record enters or leaves it
    whole = max(*relative, sum(moved, Fraction(0)) / 2)
    return [part * each / whole for each in relative]
