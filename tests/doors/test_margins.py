"""The door for margins: sensitivity, the same intervals in memory and as sums, and the order of charge and reading."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Ledger, LinearSVM
from discreet.doors.margins import count_margins
from discreet.errors import BudgetError, DataError
from discreet.models.linear.calibration import Intervals
from discreet.privacy.randomness import as_rng
from discreet.queries.hyperplanes import Hyperplanes
from discreet.queries.margins import Margins
from discreet.records.tables import CodedRecords
from discreet.schema import Schema
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, neighbours
from support.neighbours import schema as neighbours_schema
from support.replay import exact_loss, recorded

TRAINED = [
    {"near": near, "far": 100.5, "open": kind, "closed": kind, "label": label}
    for near, kind, label in [(-0.8, "a", "x"), (0.1, "b", "y"), (0.9, "?", "y")]
] * 30


def intervals(adjacency: str) -> tuple[Schema, Intervals]:
    public = neighbours_schema(adjacency).replace(classes=["x", "y"])
    model = LinearSVM(public, epsilon=5, knots=2, random_state=0).fit(TRAINED)
    ((query, table),) = [pair for pair in model.noisy_.tables if isinstance(pair[0], Hyperplanes)]
    return public, Intervals.of(model._scorer_of(query, table, public), public)


MADE = {adjacency: intervals(adjacency) for adjacency in ADJACENCIES}


def counted(table, adjacency="add-remove", epsilon=Fraction(1), ledger=None):
    public, made = MADE[adjacency]
    query = Margins(len(made.thresholds) + 1)
    given_ = query, made, made.scorer.cells, made.added
    ledger = Ledger(1) if ledger is None else ledger
    return count_margins(MemorySource(table), public, *given_, epsilon, ledger, as_rng(0))[query]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_sensitivity_bounds_every_neighbour(adjacency, data):
    table, other = data.draw(neighbours(adjacency))
    first, second = [], []
    with recorded(first):
        counted(table, adjacency)
    with recorded(second, first):
        counted(other, adjacency)
    assert exact_loss(first[0], second[0]) <= 1
    moved = np.abs(first[0].entered - second[0].entered).sum()
    assert moved <= Margins(2).distance(MADE[adjacency][0])


def test_the_bound_is_attained():
    passages = []
    with recorded(passages):
        counted([TRAINED[0]])
        counted([])
    assert 1 - Fraction(1, 10**12) <= exact_loss(*passages) <= 1


def test_every_record_with_a_class_is_in_one_interval():
    passages = []
    with recorded(passages):
        counted([*TRAINED, {**TRAINED[0], "label": "z"}, {**TRAINED[0], "label": None}])
    assert passages[0].entered.sum() == len(TRAINED)
    assert passages[0].entered.sum(axis=1).tolist() == [30, 60]


def test_intervals_are_those_of_the_score():
    """Against the plain way: where the score itself lies among the thresholds; the two differ by rounding at most."""
    _, made = MADE["add-remove"]
    rng = np.random.default_rng(0)
    codes = {cells: rng.integers(cells.size(made.schema), size=400) for cells in made.scorer.cells}
    records = CodedRecords(codes, 400)
    (lines,) = made.scorer.scores(records, made.schema)
    score = lines[:, 1] + made.thresholds[0]  # line 1 is the score less the first threshold
    near = np.abs(score[:, None] - made.thresholds).min(axis=1) < 1e-9
    expected = (score[:, None] > made.thresholds).sum(axis=1)
    assert np.array_equal(made(records)[~near], expected[~near])
    assert len(set(made(records).tolist())) > 5


def test_what_is_refused_costs_nothing():
    ledger = Ledger(1)
    with pytest.raises(DataError, match="'closed'"):
        counted({"near": [1], "far": [2], "open": ["a"], "label": ["x"]}, ledger=ledger)
    with pytest.raises(BudgetError):
        counted(TRAINED, epsilon=Fraction(2), ledger=ledger)
    assert ledger.spent == 0
