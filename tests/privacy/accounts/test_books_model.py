"""The books against a plain model: any sequence of movements leaves the same balances, and the chain verifies."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from sqlalchemy import select

from discreet.errors import DiscreetError
from discreet.privacy.accounts import engine_for, migrate
from discreet.privacy.accounts.tables import accounts
from discreet.privacy.accounts.verification import verify
from support.account_databases import BOOKS

ALL = select(accounts)
AMOUNTS = st.sampled_from(["1/3", "0.5", "1", "2", "7/2", "0.000000001", "1/1000000007"])
ADJACENCIES = st.sampled_from(["add-remove", "replace-one"])


class Machine(RuleBasedStateMachine):
    """One population; a plain model has only sums."""

    engine = None
    pending = Bundle("pending")

    @initialize(adjacency=ADJACENCIES, limit=st.sampled_from([2, 5, "0.5"]))
    def start(self, adjacency, limit):
        self.connection = self.engine.connect()
        self.transaction = self.connection.begin()
        self.adjacency, self.number = adjacency, 0
        self.ids = self._clinic(limit)
        self.model = {each: [Fraction(str(limit)), 0, 0] for each in self.ids}
        self.states = {}

    def _clinic(self, limit):
        connection = self.connection
        first = BOOKS.open_account(connection, "population", "clinic", limit, adjacency=self.adjacency)
        others = [BOOKS.open_account(connection, kind, "x", limit, population=first) for kind in ("dataset", "project")]
        return [first, *others]

    def _price(self, epsilon, adjacency):
        if self.adjacency == "add-remove" and adjacency == "replace-one":
            return None
        exact = Fraction(epsilon) * (1 if adjacency == self.adjacency else 2)
        return Fraction(ceil(exact * 10**9), 10**9)

    def _attempt(self, expected, movement, *given):
        try:
            movement(self.connection, *given)
            happened = True
        except DiscreetError:
            happened = False
        assert happened == expected

    @rule(target=pending, epsilon=AMOUNTS, adjacency=ADJACENCIES, outer=st.integers(1, 3))
    def reserve(self, epsilon, adjacency, outer):
        price, ids = self._price(epsilon, adjacency), self.ids[:outer]
        fits = price is not None and all(
            self.model[each][1] + self.model[each][2] + price <= self.model[each][0] for each in ids
        )
        self.number += 1
        name = f"r{self.number}"
        self._attempt(fits, BOOKS.reserve, ids, epsilon, adjacency, "a model", name)
        if not fits:
            return multiple()
        for each in ids:
            self.model[each][1] += price
        self.states[name] = ("reserved", ids, price)
        return name

    @rule(name=consumes(pending))
    def spend(self, name):
        _, ids, price = self.states[name]
        self._attempt(True, BOOKS.spend, name)
        for each in ids:
            self.model[each][1] -= price
            self.model[each][2] += price
        self.states[name] = ("spent", ids, price)

    @rule(name=consumes(pending))
    def give_back(self, name):
        _, ids, price = self.states[name]
        self._attempt(True, BOOKS.give_back, name)
        for each in ids:
            self.model[each][1] -= price
        self.states[name] = ("returned", ids, price)

    @rule(data=st.data(), spends=st.booleans())
    def settle_again(self, data, spends):
        settled = [name for name, (state, *_) in self.states.items() if state != "reserved"]
        name = data.draw(st.sampled_from([*settled, "none"]))
        self._attempt(False, BOOKS.spend if spends else BOOKS.give_back, name)

    @rule(which=st.integers(0, 2), limit=st.sampled_from(["0", "0.5", "1", "3", "8"]))
    def set_limit(self, which, limit):
        account = self.ids[which]
        allowed = self.model[account][1] + self.model[account][2] <= Fraction(limit)
        self._attempt(allowed, BOOKS.set_limit, account, limit)
        if allowed:
            self.model[account][0] = Fraction(limit)

    @invariant()
    def balances_are_those_of_the_model(self):
        if hasattr(self, "model"):
            found = {row.id: row for row in self.connection.execute(ALL)}
            for each, amounts in self.model.items():
                kept = found[each].limit_nano, found[each].reserved_nano, found[each].spent_nano
                assert [Fraction(amount, 10**9) for amount in kept] == amounts
                assert kept[0] >= kept[1] + kept[2]

    def teardown(self):
        if hasattr(self, "transaction"):
            verification = verify(self.connection)
            assert verification.whole, verification.problems
            self.transaction.rollback()
            self.connection.close()


def run(address, examples):
    engine = engine_for(address)
    migrate(engine)
    Machine.engine = engine
    try:
        from hypothesis.stateful import run_state_machine_as_test

        run_state_machine_as_test(
            Machine, settings=settings(max_examples=examples, stateful_step_count=12, deadline=None)
        )
    finally:
        Machine.engine = None
        engine.dispose()


class TestBooks:
    """On both databases; ten thousand schedules, most of them on SQLite, if slow tests run."""

    def test_any_schedule(self, address):
        run(address, 60)

    @pytest.mark.slow
    def test_ten_thousand_schedules(self, address):
        run(address, 10_000 if address.startswith("sqlite") else 1_000)
