"""The door for splits alone: it costs its levels, publishes the tree, and counts nothing."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Ledger
from discreet.doors.passage import Spending
from discreet.doors.splits import grow_splits
from discreet.doors.tree_plans import Asked, Fixed, Greedy
from discreet.doors.trees import grow
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import as_rng
from discreet.privacy.steps import Step
from discreet.queries.trees import Split, Tree, candidates
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, neighbours, schema
from support.replay import recorded, replay

LEVELS = (Fraction(1, 3), Fraction(2, 3))


def plan_of(score="max", levels=LEVELS):
    return Greedy(candidates(schema(), 3, ["near", "open"]), score, levels, None)


def grown(rows, score="max", adjacency="add-remove", levels=LEVELS, ledger=None):
    ledger = Ledger(1) if ledger is None else ledger
    return grow_splits(MemorySource(rows), schema(adjacency), plan_of(score, levels), ledger, as_rng(7))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("score", ["max", "gini"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_splits_stay_within_epsilon(score, adjacency, data):
    loss, one, other = replay(lambda rows: grown(rows, score, adjacency), *data.draw(neighbours(adjacency)))
    assert loss <= 1 + 1e-9
    assert one == other


SIDES = [
    {"near": -1, "far": 100, "open": side, "closed": "a", "label": label} for side, label in (("a", "x"), ("b", "y"))
]
MANY = SIDES * 40 + SIDES[:1] * 3 + [{**SIDES[1], "label": "x"}]
ODD = {"near": 1, "far": 101, "open": "b", "closed": "b", "label": "x"}
BESIDE = {**ODD, "near": 0}  # on the second level one threshold sets it apart, and one does not


def attacked(adjacency, levels=(Fraction(1),), odd=ODD):
    table = MANY if adjacency == "add-remove" else [*MANY, SIDES[1]]
    return replay(lambda rows: grown(rows, "max", adjacency, levels), table, [*MANY, odd])[0]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_some_neighbours_cost_nearly_all(adjacency):
    assert 0.95 < attacked(adjacency) <= 1 + 1e-9


def test_mutants_are_caught(monkeypatch):
    monkeypatch.setattr(Step, "check", lambda *_: None)  # the replay has to notice by itself
    with monkeypatch.context() as patch:
        patch.setattr(Asked, "distance", lambda self, _: self.unit)  # replacing billed as removing
        assert attacked("replace-one") > 1.5
    original = PermuteAndFlip.calibrated.__func__
    careless = classmethod(lambda cls, _, distance: original(cls, Fraction(1), distance))  # all of ε for each level
    monkeypatch.setattr(PermuteAndFlip, "calibrated", careless)
    assert attacked("add-remove", LEVELS, BESIDE) > 1.01


def test_only_the_levels_are_paid_for():
    """One choice per node and no table: what entered the mechanisms is what the receipt says."""
    spending, passages = Spending(Ledger(1)), []
    with recorded(passages):
        tree = grown(MANY, ledger=spending)
    assert tree.depth == 2
    assert [type(each.mechanism) for each in passages] == [PermuteAndFlip] * 3
    charges = spending.receipt.charges
    assert [charge.query for charge in charges] == [f"level {level} of 2: best of 5 splits" for level in (1, 2)]
    assert [charge.epsilon for charge in charges] == list(LEVELS)


def test_what_cannot_work_costs_nothing():
    ledger, counted = Ledger(1), Greedy(plan_of().splits, "max", LEVELS[:1], Fraction(2, 3))
    wrong = [counted, Greedy((), "max", LEVELS, None), plan_of(levels=()), Fixed(Tree((None,)), Fraction(1), False)]
    for plan in wrong:
        with pytest.raises(ParameterError, match="splits alone"):
            grow_splits(MemorySource(MANY), schema(), plan, ledger, as_rng(0))
    with pytest.raises(ParameterError, match="does not count the leaves"):
        grow(MemorySource(MANY), schema(), [plan_of()], ledger, as_rng(0))
    with pytest.raises(DataError):
        grow_splits(MemorySource({"near": [1.0]}, ["x"]), schema(), plan_of(), ledger, as_rng(0))
    assert ledger.spent == 0
    with pytest.raises(BudgetError):
        grown(MANY, ledger=Ledger(Fraction(1, 2)))


def test_without_noise_it_finds_the_best_split():
    tree = grown(MANY, levels=(float("inf"),), ledger=Ledger(float("inf")))
    assert tree.nodes == (Split("open", None, 0), None, None)
