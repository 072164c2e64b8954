"""What is asked of the data follows from public quantities alone, and costs epsilon exactly."""

import inspect
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.models.naive_bayes import plan as planning
from discreet.privacy.mechanisms.smooth import SmoothCauchy
from discreet.queries.tables import (
    MOST_BINS,
    ClassCounts,
    Counts,
    Moments,
    SoftCounts,
    SplineCounts,
)

columns = st.lists(
    st.integers(1, 30).map(lambda size: ("categorical", size)) | st.just(("numeric", 0)), min_size=1, max_size=8
)


@st.composite
def schemas(draw):
    made = [
        Numeric(f"a{i}", 0, 1) if kind == "numeric" else Categorical(f"a{i}", range(size))
        for i, (kind, size) in enumerate(draw(columns))
    ]
    classes = range(draw(st.integers(1, 6)))
    return Schema(made, "y", classes, adjacency=draw(st.sampled_from(["add-remove", "replace-one"])))


epsilons = st.fractions(Fraction(1, 1000), 100).filter(lambda epsilon: epsilon > 0)
plans = st.tuples(
    schemas(), epsilons, st.integers(1, 10**6), st.sampled_from(planning.NUMERIC),
    st.just("auto") | st.integers(2, MOST_BINS), st.sampled_from(planning.SPLITS),
)  # fmt: skip


@given(plans)
def test_a_plan_costs_epsilon_exactly(plan):
    _, epsilon, *_ = plan
    steps = planning.steps(*plan)
    assert sum((step.epsilon for step in steps), Fraction(0)) == epsilon
    assert all(step.epsilon > 0 for step in steps)
    assert len({step.query for step in steps}) == len(steps)


@given(plans)
def test_every_step_loses_at_most_its_share(plan):
    schema = plan[0]
    for step in planning.steps(*plan):
        if isinstance(step.mechanism, SmoothCauchy):
            halves = 1 if schema.adjacency == "add-remove" else 2
            assert step.mechanism.epsilon * halves == step.epsilon
        else:
            assert step.mechanism.loss(step.query.distance(schema)) <= step.epsilon


@given(plans)
def test_each_attribute_is_asked_at_most_once_and_at_least_one_is(plan):
    schema = plan[0]
    asked = [step.query.column for step in planning.steps(*plan) if not isinstance(step.query, ClassCounts)]
    assert 1 <= len(asked) == len(set(asked)) <= len(schema.columns)
    assert asked == sorted(asked, key=schema.names.index)


@given(schemas(), st.integers(1, 10**6), st.sampled_from(planning.NUMERIC), st.sampled_from(planning.SPLITS))
def test_without_noise_everything_is_asked_for_free(schema, records, numeric, split):
    steps = planning.steps(schema, math.inf, records, numeric, "auto", split)
    asked = [step.query.column for step in steps if not isinstance(step.query, ClassCounts)]
    assert asked == schema.names
    assert all(step.epsilon == math.inf for step in steps)


def test_kinds_of_queries():
    schema = Schema([Numeric("x", 0, 1), Categorical("c", ["a"])], "y", ["no", "yes"])
    kinds = {
        numeric: [type(step.query) for step in planning.steps(schema, Fraction(1), 10**4, numeric, 8, "equal")]
        for numeric in planning.NUMERIC
    }
    assert kinds == {
        "histogram": [SplineCounts, Counts],
        "gaussian": [SoftCounts, Counts],
        "smooth": [ClassCounts, Moments, Counts],
    }


def test_equal_and_weighted_shares():
    schema = Schema([Categorical("small", [0, 1, 2, 3, 4, 5, 6]), Categorical("large", range(63))], "y", ["no", "yes"])
    equal = planning.steps(schema, Fraction(1), 10**6, "histogram", "auto", "equal")
    weighted = planning.steps(schema, Fraction(1), 10**6, "histogram", "auto", "weighted")
    assert [step.epsilon for step in equal] == [Fraction(1, 2)] * 2
    assert float(weighted[1].epsilon / weighted[0].epsilon) == pytest.approx((64 / 8) ** (1 / 3), rel=1e-4)


def test_little_signal_asks_few_attributes_those_with_the_fewest_cells():
    schema = Schema(
        [Categorical("wide", range(20)), Categorical("narrow", [0]), Categorical("middle", range(5))],
        "y",
        ["no", "yes"],
    )

    def asked(records):
        steps = planning.steps(schema, Fraction(1), records, "histogram", "auto", "weighted")
        return [step.query.column for step in steps]

    assert asked(1) == ["narrow"]
    assert asked(20) == ["narrow", "middle"]
    assert asked(30) == ["wide", "narrow", "middle"]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.integers(1, 12))
def test_the_fewest_cells_are_kept(cells, asked):
    asked = min(asked, len(cells))
    kept = planning.fewest_cells(cells, asked)
    assert kept == sorted(set(kept))
    assert len(kept) == asked
    left = [size for position, size in enumerate(cells) if position not in kept]
    assert not left or max(cells[position] for position in kept) <= min(left)


def test_ties_are_spread_over_the_schema():
    assert planning.fewest_cells([3.0] * 9, 3) == [1, 4, 7]


@given(st.floats(0, 1e12))
def test_bins_are_in_range_and_grow_with_the_signal(signal):
    bins = planning.best_bins(signal)
    assert 2 <= bins <= MOST_BINS
    assert planning.best_bins(2 * signal + 1) >= bins


def test_the_number_of_records_is_needed_where_a_choice_depends_on_it():
    numbers, words = Schema([Numeric("x", 0, 1)], "y", ["a"]), Schema([Categorical("c", ["a"])], "y", ["a"])
    assert planning.needs_records(words, "histogram", "auto", Fraction(1))
    assert not planning.needs_records(words, "histogram", "auto", math.inf)
    assert planning.needs_records(numbers, "histogram", "auto", math.inf)
    assert not planning.needs_records(numbers, "histogram", 5, math.inf)
    assert not planning.needs_records(numbers, "gaussian", "auto", math.inf)


def test_a_plan_sees_no_data():
    """Its arguments are the schema, epsilon, a number of records that is declared or noisy, options, and what was
    chosen privately."""
    names = list(inspect.signature(planning.steps).parameters)
    assert names == ["schema", "epsilon", "records", "numeric", "bins", "split", "names"]
