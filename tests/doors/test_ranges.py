"""The door for ranges: what it costs, what it finds, and that neighbours are told apart by no more than was paid."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Ledger
from discreet.doors.ranges import narrow
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import as_rng
from discreet.privacy.steps import Step
from discreet.queries.ranges import Filled
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, BASE, neighbours, schema
from support.replay import recorded, replay

NAMES = ("near", "far")


def narrowed(rows, adjacency="add-remove", epsilon=Fraction(1), ledger=None, favour=-1, enough=1000, rng=7):
    ledger = Ledger(epsilon) if ledger is None else ledger
    asked = [Filled(name, favour, enough) for name in NAMES]
    return narrow(MemorySource(rows), schema(adjacency), asked, epsilon, ledger, as_rng(rng))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_record_and_replay(adjacency, data):
    loss, one, other = replay(lambda rows: narrowed(rows, adjacency), *data.draw(neighbours(adjacency)))
    assert loss <= 1 + 1e-9
    assert one == other


class Cheap(Filled):
    """A subclass that states another distance."""

    def distance(self, schema):
        return 0


def attacked(adjacency):
    """Both columns change: the one record that is out of the part that all others fill."""
    table = [{**BASE, "near": -1, "far": 100}] * 60
    away = {**BASE, "near": 1, "far": 101}
    first = table if adjacency == "add-remove" else [*table, table[0]]
    return replay(lambda rows: narrowed(rows, adjacency, favour=9), first, [*table, away])[0]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_some_neighbours_cost_nearly_all(adjacency):
    assert 0.9 < attacked(adjacency) <= 1 + 1e-9


def test_mutants_are_caught(monkeypatch):
    monkeypatch.setattr(Step, "check", lambda *_: None)  # the replay has to notice by itself
    with monkeypatch.context() as patch:
        patch.setattr(Filled, "distance", lambda *_: 1)  # replacing billed as removing
        assert attacked("replace-one") > 1.2
    with monkeypatch.context() as patch:
        original = PermuteAndFlip.calibrated.__func__
        patch.setattr(
            PermuteAndFlip, "calibrated", classmethod(lambda cls, _, distance: original(cls, Fraction(1), distance))
        )
        assert attacked("add-remove") > 1.2, "each column at all of epsilon"
    with monkeypatch.context() as patch:
        scores = Filled.scores
        patch.setattr(Filled, "scores", lambda self, counts: 3 * scores(self, counts))
        assert attacked("add-remove") > 1.2, "a record that counts three times"


def test_it_finds_the_part_that_is_filled():
    rows = [{**BASE, "near": value, "far": 100 + value / 2} for value in (0.02, 0.03, 0.04)] * 100
    found = narrowed(rows, epsilon=10**6, ledger=Ledger.unlimited(), favour=30)
    assert found.ranges == (("near", 32, 34), ("far", 0, 2))
    assert narrowed(rows, epsilon=10**6, ledger=Ledger.unlimited(), favour=-400).ranges == (), "the whole range"
    frequent = [*rows, *[{**BASE, "near": 0.9}] * 200]
    assert narrowed(frequent, epsilon=10**6, ledger=Ledger.unlimited(), favour=30, enough=470).ranges[0] == (
        "near",
        32,
        64,
    )
    assert [each.query for each in found.receipt.charges] == [
        f"the part of its range that {name} fills" for name in NAMES
    ]
    assert found.receipt.epsilon == 10**6


def test_it_is_paid_for_before_it_reads_and_refuses_what_is_no_number():
    with pytest.raises(BudgetError):
        narrowed([BASE], ledger=Ledger(Fraction(1, 2)))
    with pytest.raises(DataError):
        narrowed({"near": [1.0]})
    ledger = Ledger(1)
    for asked in ([], [Filled("open", 0)], [Filled("nobody", 0)], [Cheap("near", 0)]):
        with pytest.raises(ParameterError, match="nothing to narrow"):
            narrow(MemorySource([BASE]), schema(), asked, Fraction(1), ledger, as_rng(1))
    assert ledger.spent == 0
    with recorded(passages := []):
        narrowed([BASE])
    assert [type(each.mechanism) for each in passages] == [PermuteAndFlip, PermuteAndFlip]
