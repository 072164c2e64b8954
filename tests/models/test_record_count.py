"""The number of records: declared for nothing, or bought at a small share of epsilon."""

from fractions import Fraction

import pytest

from discreet import Categorical, Ledger, Schema
from discreet.doors.passage import Spending
from discreet.errors import ParameterError
from discreet.models.record_count import COUNTING, known_records
from discreet.privacy.randomness import as_rng
from discreet.sources.memory import MemorySource

SCHEMA = Schema([Categorical("smoker", ["no", "yes"])], target="ill", classes=["no", "yes"])
EPSILON = Fraction(1000)


def ask(schema, rows, rehearse=lambda rest: None, epsilon=EPSILON, seed=0, **how):
    ledger = Ledger(epsilon)
    source = MemorySource([{"smoker": "no", "ill": "yes"}] * rows, None)
    return known_records(source, schema, epsilon, rehearse, Spending(ledger), as_rng(seed), "test", **how), ledger


def test_a_declared_number_costs_nothing():
    known, ledger = ask(SCHEMA.replace(records=7), 40)
    assert (known.records, known.rest, known.answers) == (7, EPSILON, ())
    assert ledger.spent == 0


def test_a_bought_number_costs_its_share_and_leaves_the_rest():
    known, ledger = ask(SCHEMA, 40)
    assert known.records == 40, "at this epsilon the noise is almost surely zero"
    assert ledger.spent == EPSILON - known.rest == EPSILON * Fraction(str(COUNTING))
    assert len(known.answers) == 1


def test_a_bought_number_is_at_least_one():
    assert ask(SCHEMA, 0)[0].records == 1


def test_a_failed_rehearsal_costs_nothing():
    spent = []

    def refuse(rest):
        spent.append(rest)
        raise ParameterError("epsilon is too small")

    ledger = Ledger(EPSILON)
    with pytest.raises(ParameterError, match="too small"):
        known_records(MemorySource([], None), SCHEMA, EPSILON, refuse, Spending(ledger), as_rng(0), "test")
    assert ledger.spent == 0
    assert spent == [EPSILON * (1 - Fraction(str(COUNTING)))]


def test_a_careful_number_is_paid_more_and_is_at_least_its_noise():
    """At ε = 1/10 a tenth has noise of scale 100, so that of 40 records little is seen."""
    found = set()
    for seed in range(40):
        known, ledger = ask(SCHEMA, 40, epsilon=Fraction(1, 10), seed=seed, careful=True)
        assert ledger.spent == Fraction(1, 10) - known.rest == Fraction(1, 100)
        ((_, table),) = known.answers
        assert known.records == max(100, int(table.values.item()))
        found.add(known.records)
    assert 100 in found
    assert max(found) > 100
    assert ask(SCHEMA, 40, careful=True)[0].records == 40


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_least_number_follows_from_epsilon_alone(adjacency):
    """One record more or less moves the answer by one, and the number by no more: the floor is the same."""
    for seed in range(20):
        given = SCHEMA.replace(adjacency=adjacency)
        few, more = (ask(given, rows, epsilon=Fraction(1, 10), seed=seed, careful=True)[0] for rows in (40, 41))
        assert 0 <= more.records - few.records <= 1
        assert min(few.records, more.records) >= 100
