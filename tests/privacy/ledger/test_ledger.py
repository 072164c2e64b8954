"""The ledger: exact, under one adjacency, never above its limit, also with threads. Its file: test_file.py."""

import copy
import json
import math
import os
import pickle
import threading
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from discreet.errors import BudgetError, ParameterError
from discreet.privacy.epsilon import as_epsilon, shown_above, shown_below, total
from discreet.privacy.ledger import Ledger, as_ledger
from discreet.privacy.ledger.account import Account
from discreet.privacy.receipt import Charge
from discreet.schema import Adjacency

ADD_REMOVE, REPLACE_ONE = Adjacency


def charges(*epsilons):
    return [Charge("q", "m", epsilon if epsilon == math.inf else Fraction(epsilon), 1, 1.0) for epsilon in epsilons]


@pytest.mark.parametrize(
    ("value", "epsilon"),
    [
        (1, Fraction(1)), (0.1, Fraction(1, 10)), (1e-3, Fraction(1, 1000)), ("1/3", Fraction(1, 3)),
        (" 0.5 ", Fraction(1, 2)), ("1e2", Fraction(100)), (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.1), Fraction(1, 10)), (np.int64(3), Fraction(3)), (np.float32(0.5), Fraction(1, 2)),
        (Decimal("0.1"), Fraction(1, 10)), (math.inf, math.inf), ("inf", math.inf), ("Infinity", math.inf),
        (np.float64("inf"), math.inf),
    ],
)  # fmt: skip
def test_epsilons_that_are_read(value, epsilon):
    got = as_epsilon(value)
    assert got == epsilon
    assert isinstance(got, Fraction) or got == math.inf


@pytest.mark.parametrize(
    "value",
    [0, -1, 0.0, -0.0, -0.5, math.nan, -math.inf, True, False, None, "", "one", "nan", "-inf", "0", "1/0", "-1/2", 1j,
     [1], {}, b"1", "1e400", "1e-400", pytest.param(10**5000, id="endless"), "9" * 5000, "1/" + "9" * 50_000,
     Fraction(0), np.float64("nan"), np.array([1, 2]), Decimal("NaN"), Decimal("-Infinity")],
)  # fmt: skip
def test_epsilons_that_are_refused(value):
    with pytest.raises(ParameterError, match=r"epsilon=.*; need a number"):
        as_epsilon(value)


@given(st.floats(1e-39, 1e39))
def test_a_float_means_its_decimal_spelling(value):
    assert as_epsilon(value) == Fraction(repr(value))
    assert float(as_epsilon(value)) == value


def test_three_tenths_fit_in_a_ledger_of_three_tenths():
    """In floating point 0.1 + 0.1 + 0.1 > 0.3."""
    ledger = Ledger(0.3)
    for _ in range(3):
        ledger.charge("tenth", [Charge("q", "m", as_epsilon(0.1), 1, 1.0)], ADD_REMOVE)
    assert ledger.spent == Fraction(3, 10)
    assert ledger.remaining == 0
    with pytest.raises(BudgetError):
        ledger.charge("more", charges(Fraction(1, 10**30)), ADD_REMOVE)


amounts = st.lists(st.fractions(Fraction(1, 1000), 3).filter(lambda amount: amount > 0), max_size=12)


@given(st.fractions(Fraction(1, 10), 5).filter(lambda limit: limit > 0), amounts)
def test_spending_is_exact_and_never_above_the_limit(limit, amounts):
    ledger, accepted = Ledger(limit), []
    for amount in amounts:
        fits = sum(accepted, Fraction(0)) + amount <= limit
        if fits:
            ledger.charge("part", charges(amount / 3, 2 * amount / 3), ADD_REMOVE)
            accepted.append(amount)
        else:
            with pytest.raises(BudgetError, match=r"costs epsilon=.*left; use a smaller epsilon"):
                ledger.charge("part", charges(amount / 3, 2 * amount / 3), ADD_REMOVE)
    assert ledger.spent == sum(accepted, Fraction(0)) <= limit
    assert ledger.remaining == limit - ledger.spent
    assert ledger.entries == [("part", amount) for amount in accepted]


def test_check_enters_nothing():
    ledger = Ledger(1)
    ledger.check(Fraction(1), ADD_REMOVE)
    with pytest.raises(BudgetError):
        ledger.check(Fraction(2), ADD_REMOVE)
    assert ledger.spent == 0


def test_an_infinite_loss_needs_an_unlimited_ledger():
    with pytest.raises(BudgetError, match="costs epsilon=inf"):
        Ledger(10**9).charge("all", charges(math.inf), ADD_REMOVE)
    ledger = Ledger.unlimited()
    ledger.charge("all", charges(math.inf, 1), ADD_REMOVE)
    ledger.charge("more", charges(1), ADD_REMOVE)
    assert ledger.spent == ledger.remaining == ledger.limit == math.inf


def test_totals():
    assert total([]) == 0
    assert total([Fraction(1, 3)] * 3) == 1
    assert total([Fraction(1), math.inf]) == math.inf


def test_entries_cannot_be_changed_from_outside():
    ledger = Ledger(1)
    ledger.charge("a", charges(1), ADD_REMOVE)
    ledger.entries.clear()
    assert ledger.spent == 1
    with pytest.raises(AttributeError):
        ledger.limit = 5


def test_threads_never_exceed_the_limit(monkeypatch):
    ledger, refusals = Ledger(1), []
    original = Account.with_entry

    def slowly(self, entry):
        after = original(self, entry)
        time.sleep(0.0005)  # widens the gap between checking and entering
        return after

    monkeypatch.setattr(Account, "with_entry", slowly)

    def spend():
        for _ in range(5):
            try:
                ledger.charge("thread", charges(Fraction(1, 30)), ADD_REMOVE)
            except BudgetError:
                refusals.append(1)

    threads = [threading.Thread(target=spend) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent == 1
    assert len(refusals) == 70


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda ledger: clone(ledger, safe=False)])
def test_copies_share_the_account(duplicate):
    ledger = Ledger(1)
    duplicate(ledger).charge("copy", charges(1), ADD_REMOVE)
    assert ledger.remaining == 0
    with pytest.raises(BudgetError):
        duplicate(ledger).charge("copy", charges(Fraction(1, 100)), ADD_REMOVE)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_ledger_is_never_pickled(protocol, tmp_path):
    for ledger in (Ledger(1), Ledger(1, tmp_path / "ledger")):
        with pytest.raises(BudgetError, match=r"cannot be pickled.*n_jobs=1.*path"):
            pickle.dumps({"deep": [ledger]}, protocol)


def in_child(action):
    """Run an action in a forked child; its exit code."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            action()
            code = 0
        except BudgetError:
            code = 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_cannot_charge_a_ledger_in_memory():
    ledger = Ledger(1)
    assert in_child(lambda: ledger.charge("child", charges(Fraction(1, 2)), ADD_REMOVE)) == 1
    assert in_child(lambda: ledger.check(Fraction(1, 2), ADD_REMOVE)) == 1
    ledger.charge("parent", charges(1), ADD_REMOVE)
    assert ledger.entries == [("parent", 1)]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_charges_a_ledger_on_disk(tmp_path):
    ledger = Ledger(1, tmp_path / "ledger")
    assert in_child(lambda: ledger.charge("child", charges(Fraction(3, 4)), ADD_REMOVE)) == 0
    assert ledger.spent == Fraction(3, 4)
    with pytest.raises(BudgetError):
        ledger.charge("parent", charges(Fraction(1, 2)), ADD_REMOVE)


def test_charges_survive_plain_data():
    for charge in charges(Fraction(1, 3), math.inf):
        assert Charge.from_dict(json.loads(json.dumps(charge.to_dict()))) == charge


# One account, one adjacency


def reference(limit, declared, asked):
    """Which charges are accepted, and what they cost, without any class of discreet: plain sums of tuples."""
    account, accepted = declared, []
    for amount, paid in asked:
        own = account or paid
        cost = amount if own == paid else 2 * amount if own == "replace-one" else math.inf
        if limit == math.inf or (cost != math.inf and sum(accepted, Fraction(0)) + cost <= limit):
            account = own
            accepted.append(cost)
            yield cost
        else:
            yield None


adjacencies = st.sampled_from(["add-remove", "replace-one"])
releases = st.lists(st.tuples(st.fractions(Fraction(1, 50), 2), adjacencies), max_size=10)


@given(st.fractions(Fraction(1, 10), 6) | st.just(math.inf), st.none() | adjacencies, releases)
def test_charges_of_both_adjacencies_agree_with_a_reference_sum(limit, declared, asked):
    ledger, accepted = Ledger(limit, adjacency=declared), []
    for (amount, paid), cost in zip(asked, list(reference(limit, declared, asked)), strict=True):
        if cost is None:
            for refused in (lambda: ledger.check(amount, paid), lambda: ledger.charge("part", charges(amount), paid)):  # noqa: B023
                with pytest.raises(BudgetError):
                    refused()
        else:
            ledger.check(amount, Adjacency(paid))
            ledger.charge("part", charges(amount / 3, 2 * amount / 3), paid)
            accepted.append(("part", cost))
    assert ledger.entries == accepted
    assert ledger.spent == total([cost for _, cost in accepted]) <= limit
    assert ledger.remaining == (math.inf if limit == math.inf else limit - ledger.spent)


def test_half_under_each_adjacency_is_three_halves():
    """discreet 0.1 counted 1 in both orders; under replace-one it is 3/2, under add-remove there is no bound."""
    half = charges(Fraction(1, 2))
    ledger = Ledger(2, adjacency="replace-one")
    ledger.charge("a", half, ADD_REMOVE)
    ledger.charge("b", half, REPLACE_ONE)
    assert (ledger.spent, ledger.adjacency) == (Fraction(3, 2), REPLACE_ONE)
    ledger = Ledger(10**6)
    ledger.charge("a", half, ADD_REMOVE)
    with pytest.raises(BudgetError, match=r"private under replace-one, .* under add-remove.*; train under add-remove"):
        ledger.charge("b", half, REPLACE_ONE)
    assert (ledger.spent, ledger.adjacency) == (Fraction(1, 2), ADD_REMOVE)
    ledger = Ledger.unlimited()
    ledger.charge("a", half, ADD_REMOVE)
    ledger.charge("b", half, REPLACE_ONE)
    assert ledger.entries == [("a", Fraction(1, 2)), ("b", math.inf)]


def test_the_first_charge_gives_the_adjacency_and_a_refused_one_does_not():
    ledger = Ledger(1)
    assert ledger.adjacency is None
    ledger.check(1, REPLACE_ONE)
    with pytest.raises(BudgetError):
        ledger.charge("too much", charges(2), REPLACE_ONE)
    assert ledger.adjacency is None
    ledger.charge("a", charges(1), ADD_REMOVE)
    assert ledger.adjacency is ADD_REMOVE
    assert repr(ledger) == "Ledger(limit=1, spent=1, adjacency='add-remove')"


def test_a_refusal_says_how_the_ledger_counts():
    ledger = Ledger(2, adjacency=REPLACE_ONE)
    ledger.charge("a", charges(1), "replace-one")
    words = (
        "this release costs epsilon=1 under add-remove, which counts 2 in a ledger of replace-one, which has 1 of 2 "
        "left; use a smaller epsilon"
    )
    with pytest.raises(BudgetError) as refusal:
        ledger.charge("b", charges(1), "add-remove")
    assert str(refusal.value) == words


@pytest.mark.parametrize("value", ["", "mixed", "add_remove", 1, None, ["add-remove"]])
def test_adjacencies_that_are_refused(value):
    ledger = Ledger(1)
    uses = [lambda: ledger.check(1, value), lambda: ledger.charge("a", charges(1), value)]
    for use in uses if value is None else [*uses, lambda: Ledger(1, adjacency=value)]:
        with pytest.raises(ParameterError, match=r"adjacency=.*; need 'add-remove' or 'replace-one'"):
            use()
    assert ledger.entries == []


def test_a_charge_has_a_name():
    with pytest.raises(ParameterError, match="name is a NoneType"):
        Ledger(1).charge(None, charges(1), ADD_REMOVE)


@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_amounts_are_shown_on_the_safe_side(amount):
    """Costs are rounded up, what is left is rounded down, and neither by more than a unit of the last digit."""
    above, below = Fraction(shown_above(amount)), Fraction(shown_below(amount))
    assert below <= amount <= above
    assert above - below <= amount / 10**5


def test_a_refusal_rounds_on_the_safe_side():
    ledger = Ledger(Fraction(2, 3))
    with pytest.raises(BudgetError, match=r"epsilon=0\.666668, the ledger has 0\.666666 of 0\.666666 left"):
        ledger.charge("a", charges(Fraction(2, 3) + Fraction(1, 10**6)), ADD_REMOVE)


def test_huge_amounts_and_infinity_go_together():
    ledger = Ledger(math.inf)
    ledger.charge("a", charges(Fraction(10**399)), ADD_REMOVE)
    ledger.charge("b", charges(math.inf), ADD_REMOVE)
    assert ledger.spent == math.inf
    with pytest.raises(BudgetError, match="costs epsilon=inf"):
        Ledger(Fraction(10**399)).charge("b", charges(math.inf), ADD_REMOVE)


def test_a_charge_of_nothing_is_refused():
    ledger = Ledger(1)
    with pytest.raises(BudgetError, match="has no charge"):
        ledger.charge("a", [], ADD_REMOVE)
    assert ledger.entries == []


@pytest.mark.parametrize("wrong", [2, "ledger.jsonl", {"limit": 1}])
def test_what_is_not_a_ledger_is_refused_before_anything_is_read(wrong):
    with pytest.raises(ParameterError, match="need a Ledger"):
        as_ledger(wrong, Fraction(1))


@pytest.mark.parametrize("letter", ["n", "ü", "\ud800"])
def test_names_are_bounded_since_databases_find_entries_by_them(letter, tmp_path):
    """PostgreSQL cannot index more than 2,704 bytes; every kind of ledger refuses the same names, before it pays."""
    size = len(letter.encode(errors="replace"))
    for ledger in (Ledger(1), Ledger(1, path=tmp_path / "l.jsonl")):
        with pytest.raises(ParameterError, match="more than 2000 bytes; give it, or the column"):
            ledger.charge(letter * (2000 // size + 1), charges(Fraction(1, 2)), ADD_REMOVE)
        assert ledger.spent == 0
    ledger.charge("n" * 2000, charges(Fraction(1, 2)), ADD_REMOVE)
    assert Ledger.open(tmp_path / "l.jsonl").spent == Fraction(1, 2)
