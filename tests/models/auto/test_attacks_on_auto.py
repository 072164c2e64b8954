"""Attacks on whole fits of Auto, whichever model it picks; and mutants of how it divides ε, which must be caught."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from discreet import Auto, Categorical, Ledger, Numeric, Schema, load
from discreet.errors import BudgetError
from discreet.models.auto import auto as module
from discreet.models.auto import pick as picking
from discreet.models.auto.look import CHOOSING, COUNTING, MOST_FOR_CLASSES
from discreet.models.linear import plan as planning
from discreet.models.record_count import RecordCount, known_records
from support.neighbours import ADJACENCIES, BASE, ODD, neighbours, schema
from support.replay import replay, visible

CLASSES = {2: ["x", "y"], 3: ["x", "y", "z"]}
TABLE = [BASE] * 30 + [ODD] * 20


def given_schema(adjacency: str, records: int | None, classes: int = 3) -> Schema:
    return schema(adjacency, records).replace(classes=CLASSES[classes])


@pytest.fixture(params=["decision-tree", "svm"])
def picked(request: Any, monkeypatch: Any) -> str:
    """Whatever the signal, Auto picks this model."""
    monkeypatch.setattr(picking, "ENOUGH", 0.0 if request.param == "svm" else math.inf)
    return str(request.param)


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("records", [40, 20_000, None])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whole_fit_stays_within_epsilon_and_leaks_nothing(
    picked: str, adjacency: str, records: int | None, classes: int, data: st.DataObject
) -> None:
    table, other = data.draw(neighbours(adjacency))
    schema = given_schema(adjacency, records, classes)
    loss, model, twin = replay(lambda rows: Auto(schema, epsilon=1, random_state=7).fit(rows), table, other)
    assert model.picked_.model == picked
    assert loss <= 1 if isinstance(loss, Fraction) else loss <= 1 + 1e-6
    assert model.receipt_.epsilon == 1
    assert visible(model) == visible(twin)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**9), Fraction(1, 3), Fraction(10_000)])
@pytest.mark.parametrize("records", [40, 10**6, None])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_what_is_stated_is_what_was_charged(
    picked: str, adjacency: str, records: int | None, epsilon: Fraction, tmp_path: Any
) -> None:
    """Through saving, loading, pickling, cloning, and a second fit with the number of records known or not."""
    ledger = Ledger(epsilon)
    model = Auto(given_schema(adjacency, records), epsilon=epsilon).fit(TABLE, ledger=ledger)
    lines = model.receipt_.charges
    assert sum((line.epsilon for line in lines), Fraction(0)) == ledger.spent == epsilon == model.guarantee_.epsilon
    with pytest.raises(BudgetError):
        model.fit(TABLE, ledger=ledger)
    model.save(tmp_path / "m.json")
    for again in (load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        assert (again.guarantee_, again.receipt_) == (model.guarantee_, model.receipt_)
        assert again.model_.guarantee_ == model.guarantee_
        assert (again.predict_proba(TABLE) == model.predict_proba(TABLE)).all()
        fresh = Ledger(2 * epsilon)
        for number in (None, 40, None):
            again.set_params(schema=given_schema(adjacency, number), epsilon=epsilon / 4).fit(TABLE, ledger=fresh)
            assert again.receipt_.epsilon == epsilon / 4
            assert sum(line.query == "Total()" for line in again.receipt_.charges) == (number is None)
        assert fresh.spent == epsilon * 3 / 4
    assert not hasattr(clone(model), "picked_")


def test_an_interrupted_fit_leaves_nothing_behind(picked: str, monkeypatch: Any) -> None:
    """What was paid stays paid; the model is still the one that was fitted before."""
    model = Auto(given_schema("add-remove", None), epsilon=1, random_state=0).fit(TABLE)
    before = visible(model)
    ledger = Ledger(1)

    def interrupted(*arguments: Any, **keywords: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(picking.FAMILIES[picked], "_learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TABLE, ledger=ledger)
    assert ledger.spent == Fraction(1, 20)
    assert visible(model) == before


def _forgets_the_price(*arguments: Any, **keywords: Any) -> RecordCount:
    known = known_records(*arguments, **keywords)
    return known._replace(rest=arguments[2])


def _forgets_that_it_bought(*arguments: Any, **keywords: Any) -> RecordCount:
    known = known_records(*arguments, **keywords)
    arguments[4].records = None
    return known


@pytest.mark.parametrize("room", [Fraction(1), Fraction(2)])
def test_mutants_that_spend_more_than_epsilon_are_caught(picked: str, room: Fraction, monkeypatch: Any) -> None:
    """Auto gives the picked model all of ε instead of the rest: the ledger refuses, or the receipt tells."""
    monkeypatch.setattr(module, "known_records", _forgets_the_price)
    model, ledger = Auto(given_schema("add-remove", None), epsilon=1), Ledger(room)
    if room == 1:
        with pytest.raises(BudgetError):
            model.fit(TABLE, ledger=ledger)
    else:
        assert model.fit(TABLE, ledger=ledger).receipt_.epsilon == ledger.spent == Fraction(21, 20)


def test_a_mutant_whose_splits_cost_nothing_is_caught(monkeypatch: Any) -> None:
    """The passage charges the levels of the tree, whatever the plan says is left."""
    honest = planning.splits
    monkeypatch.setattr(planning, "splits", lambda *arguments: (honest(*arguments)[0], arguments[2]))
    monkeypatch.setattr(picking, "ENOUGH", 0.0)
    given = given_schema("add-remove", 10**6)
    with pytest.raises(BudgetError):
        Auto(given, epsilon=1).fit(TABLE)
    looking = Fraction(CHOOSING + COUNTING + 2 * MOST_FOR_CLASSES, 10**6)  # of three classes
    spent = looking + Fraction(7, 5) * (1 - looking)
    assert Auto(given, epsilon=1).fit(TABLE, ledger=Ledger(2)).guarantee_.epsilon == spent


def test_a_mutant_whose_look_costs_nothing_is_caught(monkeypatch: Any) -> None:
    honest = module.look
    monkeypatch.setattr(
        module, "look", lambda *arguments, **named: honest(*arguments, **named)._replace(rest=arguments[2].rest)
    )
    given = given_schema("add-remove", 10**6)
    with pytest.raises(BudgetError):
        Auto(given, epsilon=1).fit(TABLE)
    spent = 1 + Fraction(CHOOSING + COUNTING + 2 * MOST_FOR_CLASSES, 10**6)
    assert Auto(given, epsilon=1).fit(TABLE, ledger=Ledger(2)).guarantee_.epsilon == spent


def test_a_mutant_that_buys_the_number_twice_is_caught(picked: str, monkeypatch: Any) -> None:
    """It spends no more than ε: the receipt tells that the number was bought again."""
    monkeypatch.setattr(module, "known_records", _forgets_that_it_bought)
    model = Auto(given_schema("add-remove", None), epsilon=1).fit(TABLE)
    assert [line.query for line in model.receipt_.charges].count("Total()") == 2
    assert model.receipt_.epsilon == 1


def test_odd_records_change_nothing_that_is_seen(picked: str) -> None:
    """Values that cannot be read, in the middle of the table, are coded: no error, no warning, one more record."""
    columns = [Numeric("a", 0, 1), Numeric("b", 0, 1), Numeric("c", 0, 1), Categorical("d", ["x"], unlisted=False)]
    given = Schema(columns, "label", ["no", "yes", "perhaps"])
    rows = [{"a": 0.1, "b": 0.5, "c": 0.9, "d": "x", "label": "no"}] * 9
    odd: list[dict] = [
        {"a": {"a": 1}, "b": np.nan, "c": 10**400, "d": None, "label": "no"},
        {"a": "text", "b": -np.inf, "c": [], "d": object(), "label": {}},
    ]
    for each in odd:
        other = [*rows[:4], each, *rows[4:]]
        loss, model, twin = replay(lambda table: Auto(given, epsilon=1, random_state=0).fit(table), rows, other)
        assert loss <= 1 + 1e-6
        assert visible(model) == visible(twin)
