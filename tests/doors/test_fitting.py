"""The door for a look: what it costs, what it counts, and that neighbours are told apart by no more than was paid."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Ledger
from discreet.doors import fitting
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import as_rng
from discreet.privacy.steps import Step
from discreet.queries.outside import OfWorst, Outside, Worst
from discreet.queries.tables import ClassCounts
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, neighbours, schema
from support.replay import recorded, replay

NAMES = ("near", "far", "open")
SHARES = Fraction(1, 3), Fraction(2, 3)
WITH_CLASSES = Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)


def looked(rows, adjacency="add-remove", shares=SHARES, ledger=None, rng=7):
    ledger = Ledger(1) if ledger is None else ledger
    choosing, counting, classes = (*shares, Fraction(0))[:3]
    source, public = MemorySource(rows), schema(adjacency)
    return fitting.look(source, public, NAMES, choosing, counting, ledger, as_rng(rng), classes=classes)


@pytest.mark.parametrize("shares", [SHARES, WITH_CLASSES])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_record_and_replay(adjacency, shares, data):
    loss, one, other = replay(lambda rows: looked(rows, adjacency, shares).to_dict(), *data.draw(neighbours(adjacency)))
    assert loss <= 1 + 1e-9
    assert one == other


GOOD = {"near": 0, "far": 100.5, "open": "a", "closed": "a", "label": "x"}
BAD = {**GOOD, "near": "?"}
WORSE = {**GOOD, "near": 0.5, "open": "stray", "far": 7}


def attacked(adjacency, shares=SHARES):
    table = [GOOD] * 9 + [WORSE] * 40
    changed = [*table, {**GOOD, "near": None}]
    return replay(
        lambda rows: looked(rows, adjacency, shares), table if adjacency == "add-remove" else [*table, WORSE], changed
    )


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_some_neighbours_cost_nearly_all(adjacency):
    assert 0.95 < attacked(adjacency)[0] <= 1 + 1e-9


@pytest.mark.parametrize(("query", "kind"), [(Worst, PermuteAndFlip), (OfWorst, DiscreteLaplace)])
def test_mutants_are_caught(monkeypatch, query, kind):
    monkeypatch.setattr(Step, "check", lambda *_: None)  # the replay has to notice by itself
    with monkeypatch.context() as patch:
        patch.setattr(query, "distance", lambda *_: 1)  # replacing billed as removing
        assert attacked("replace-one")[0] > 1.2
    with monkeypatch.context() as patch:
        original = kind.calibrated.__func__
        patch.setattr(kind, "calibrated", classmethod(lambda cls, _, distance: original(cls, Fraction(1), distance)))
        assert attacked("add-remove")[0] > 1.2


def test_mutants_that_count_classes_too_cheaply_are_caught(monkeypatch):
    """Neighbours whose records differ in class: what is paid is used up, and half the noise is noticed."""
    table = [GOOD] * 9
    pair = [*table, GOOD], [*table, {**GOOD, "label": "y"}]

    def loss():
        return replay(lambda rows: looked(rows, "replace-one", WITH_CLASSES), *pair)[0]

    assert 2 / 3 - 1e-9 < loss() <= 1 + 1e-9
    monkeypatch.setattr(Step, "check", lambda *_: None)
    monkeypatch.setattr(ClassCounts, "distance", lambda *_: 1)  # replacing billed as removing
    assert loss() > 1.2


def test_it_counts_the_records_of_each_class_if_that_is_paid_for():
    rows = [GOOD] * 10 + [{**BAD, "label": "y"}] * 25 + [{**BAD, "label": "unlisted"}] * 50
    noisy = looked(rows, shares=(10**6, 10**6, 10**6), ledger=Ledger.unlimited())
    assert noisy[ClassCounts()].values[:2].tolist() == [[10], [25]]
    assert noisy.receipt.epsilon == 3 * 10**6
    noisy.check(schema())


def test_it_counts_what_the_schema_does_not_expect_in_the_worst_column():
    rows = [GOOD] * 10 + [BAD] * 25 + [WORSE] * 3 + [{**BAD, "label": "unlisted"}] * 50
    ledger = Ledger.unlimited()
    noisy = fitting.look(MemorySource(rows), schema(), NAMES, 10**6, 10**6, ledger, as_rng(1))
    ((query, table),) = noisy.tables
    assert query == Outside("near")
    assert table.values.tolist() == [[13, 25]]
    noisy.check(schema())
    assert [charge.query for charge in noisy.receipt.charges] == [repr(Worst(NAMES)), repr(OfWorst())]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-1, 0), (1, 0), (1.03, 0), (-1.03, 0), (1.1, 1), (-1.1, 1), (np.nan, 1), (None, 1), ("0,5", 1), (np.inf, 1),
     (-np.inf, 1), ("0.5", 0), (0, 0), ("", 1), (1e308, 1)],
)  # fmt: skip
def test_numbers_beside_the_bounds_are_inside_and_what_is_missing_is_not(value, expected):
    noisy = fitting.look(
        MemorySource([{**GOOD, "near": value}]), schema(), ["near"], 10**6, 10**6, Ledger.unlimited(), as_rng(1)
    )
    assert noisy.tables[0][1].values.tolist() == [[1 - expected, expected]]


def test_it_is_paid_for_before_it_reads_and_refuses_what_it_cannot_watch():
    with pytest.raises(BudgetError):
        looked([GOOD], ledger=Ledger(Fraction(1, 2)))
    with pytest.raises(DataError):
        looked({"near": [1.0]})
    ledger = Ledger(1)
    huge = replace(schema(), columns=(replace(schema()["near"], lower=0, upper=1.79e308), *schema().columns[1:]))
    for names, public in (((), schema()), (("closed",), schema()), (("nobody",), schema()), (("near",), huge)):
        with pytest.raises(ParameterError, match="nothing to look at"):
            fitting.look(MemorySource([GOOD]), public, names, *SHARES, ledger, as_rng(1))
    assert ledger.spent == 0
    with recorded(passages := []):
        looked([GOOD])
    assert [type(each.mechanism) for each in passages] == [PermuteAndFlip, DiscreteLaplace]
