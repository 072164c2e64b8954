"""The door for counts: check, charge, read, perturb, in this order and no other."""

from fractions import Fraction

import numpy as np
import pytest

from discreet import Categorical, Ledger, Numeric, Schema
from discreet.doors.counts import release
from discreet.errors import BudgetError, DataError
from discreet.privacy.randomness import as_rng
from discreet.privacy.steps import laplace_steps, split_by_weight
from discreet.queries.tables import ClassCounts, Counts, SoftCounts, Total
from discreet.records.encoding import Cells
from discreet.sources.memory import MemorySource

SCHEMA = Schema([Numeric("x", 0, 1, grid=4), Categorical("c", ["a", "b"])], "y", ["no", "yes"])
TABLE = {"x": [0.0, 0.5, 1.0], "c": ["a", "b", "z"], "y": ["no", "yes", "yes"]}
QUERIES = [Counts("c"), SoftCounts("x"), ClassCounts(), Total()]


class Spy:
    """Wraps an object and notes each call of some methods in a common list."""

    def __init__(self, wrapped, events, methods, fail=None):
        self._wrapped, self._events, self._methods, self._fail = wrapped, events, methods, fail

    def __getattr__(self, name):
        value = getattr(self._wrapped, name)
        if name not in self._methods:
            return value

        def noted(*args, **keywords):
            self._events.append(name)
            if name == self._fail:
                raise RuntimeError("broken pipe")
            return value(*args, **keywords)

        return noted


def spies(limit=1, fail=None, table=TABLE):
    events = []
    source = Spy(MemorySource(table), events, ("check", "count"), fail)
    ledger = Spy(Ledger(limit), events, ("charge",))
    rng = Spy(as_rng(0), events, ("discrete_laplace",))
    return events, source, ledger, rng


def plan(epsilon=Fraction(1), queries=QUERIES):
    return laplace_steps(queries, split_by_weight(epsilon, range(1, len(queries) + 1)), SCHEMA)


def test_order_of_events():
    events, source, ledger, rng = spies()
    release(source, SCHEMA, plan(), ledger, rng)
    assert events == ["check", "charge", "count", *["discrete_laplace"] * len(QUERIES)]


def test_a_refused_charge_reads_nothing():
    events, source, ledger, rng = spies(limit=Fraction(99, 100))
    with pytest.raises(BudgetError):
        release(source, SCHEMA, plan(), ledger, rng)
    assert events == ["check", "charge"]
    assert ledger.spent == 0


def test_a_wrong_table_costs_nothing():
    events, source, ledger, rng = spies(table={"x": [1.0], "y": ["no"]})
    with pytest.raises(DataError, match="'c'"):
        release(source, SCHEMA, plan(), ledger, rng)
    assert events == ["check"]
    assert ledger.spent == 0


def test_a_failure_while_reading_keeps_the_charge():
    events, source, ledger, rng = spies(fail="count")
    with pytest.raises(RuntimeError):
        release(source, SCHEMA, plan(), ledger, rng)
    assert events == ["check", "charge", "count"]
    assert ledger.spent == 1
    assert ledger.entries == [("release", 1)]


def test_the_receipt_is_what_the_ledger_was_charged():
    ledger = Ledger(2)
    noisy = release(MemorySource(TABLE), SCHEMA, plan(Fraction(4, 3)), ledger, as_rng(0))
    assert noisy.receipt.epsilon == ledger.spent == Fraction(4, 3)
    assert [charge.query for charge in noisy.receipt.charges] == [repr(query) for query in QUERIES]
    assert noisy.receipt.schema_hash == SCHEMA.hash
    assert noisy.receipt.adjacency is SCHEMA.adjacency
    assert noisy.receipt.seeded
    assert not release(MemorySource(TABLE), SCHEMA, plan(), Ledger(1), as_rng(None)).receipt.seeded


def test_the_purpose_names_the_entry():
    ledger = Ledger(1)
    release(MemorySource(TABLE), SCHEMA, plan(), ledger, as_rng(0), "a model of July")
    assert ledger.entries == [("a model of July", 1)]


def test_each_cell_set_is_counted_once():
    events, _, ledger, rng = spies(limit=5)
    asked = []

    class Source:
        def check(self, schema):
            pass

        def count(self, cells, schema):
            asked.append(list(cells))
            return MemorySource(TABLE).count(cells, schema)

    release(Source(), SCHEMA, plan(queries=[Counts("c"), Counts("c"), ClassCounts(), Total()]), ledger, rng)
    assert asked == [sorted({Cells("c"), ClassCounts().cells(SCHEMA)}, key=repr)]
    assert events[0] == "charge"


def test_without_noise_the_answers_are_exact():
    exact = MemorySource(TABLE).count([query.cells(SCHEMA) for query in QUERIES], SCHEMA)
    noisy = release(MemorySource(TABLE), SCHEMA, plan(float("inf")), Ledger.unlimited(), as_rng(None))
    for query in QUERIES:
        np.testing.assert_array_equal(noisy[query].values, exact.answer(query, SCHEMA))
        assert noisy[query].variance == 0


def test_noise_has_the_stated_variance_in_every_cell():
    step = plan(Fraction(1, 2), [Counts("c")])
    runs = np.stack(
        [release(MemorySource(TABLE), SCHEMA, step, Ledger(1), as_rng(seed))[Counts("c")].values for seed in range(400)]
    )
    exact = MemorySource(TABLE).count([Cells("c")], SCHEMA).counts[Cells("c")]
    variance = step[0].mechanism.variance
    assert variance == pytest.approx(8, rel=0.03)
    np.testing.assert_allclose(runs.mean(axis=0), exact, atol=5 * np.sqrt(variance / 400))
    np.testing.assert_allclose(runs.var(axis=0), variance, rtol=0.6)


def test_the_same_release_twice_costs_twice():
    ledger = Ledger(1)
    for _ in range(2):
        release(MemorySource(TABLE), SCHEMA, plan(Fraction(1, 2)), ledger, as_rng(None))
    with pytest.raises(BudgetError):
        release(MemorySource(TABLE), SCHEMA, plan(Fraction(1, 2)), ledger, as_rng(None))
