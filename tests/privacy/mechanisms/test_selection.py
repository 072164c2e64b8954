"""Permute-and-flip: its law, its loss, its scores, and the door that it goes through."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet import Categorical, Ledger, Numeric, Schema
from discreet.doors.choice import select
from discreet.errors import BudgetError, ParameterError
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import as_rng
from discreet.queries.tables import MOST_WEIGHT, FractionScore, MajorityScore
from discreet.sources.memory import MemorySource
from support.replay import choice_law

SCHEMA = Schema([Numeric("n", 0, 1), Categorical("c", ["a", "b"]), Categorical("d", ["a", "b", "z"])], "y", ["0", "1"])
CUTS = ((1,), (2,), (1, 3), ())
SCORES = [MajorityScore("n", 4), MajorityScore("c"), MajorityScore("d")]
CUT = MajorityScore("n", 4, None, CUTS)
FRACTIONS = [FractionScore(24, 25), FractionScore(1, 2), FractionScore(0, 1), FractionScore(7, 7)]


def test_the_law_is_a_law():
    for scores in ([0], [3, 3], [5, 0, 2], [0, -1, -2, -3]):
        law = choice_law(np.array(scores), 1.5)
        assert law.sum() == pytest.approx(1)
        assert np.all(np.diff(law[np.argsort(scores)]) >= -1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_loss_bounds_the_worst_ratio(epsilon):
    """On the exact law, over all neighbours of small scores; the bound is attained in the limit."""
    for monotone, steps in ((True, ((0, 1),)), (False, ((-1, 0, 1),))):
        mechanism = PermuteAndFlip.calibrated(epsilon, 1 if monotone else 2)
        assert mechanism.loss(1 if monotone else 2) <= Fraction(str(epsilon))
        scale = mechanism.scale
        worst = 0.0
        for scores in itertools.product(range(0, 60, 20), repeat=3):
            law = choice_law(np.array(scores), scale)
            for move in itertools.product(steps[0], repeat=3):
                other = choice_law(np.array(scores) + np.array(move), scale)
                worst = max(worst, float(np.abs(np.log(law / other)).max()))
        assert 0.9 * epsilon < worst <= epsilon * (1 + 1e-9)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=50))
def test_calibration_never_exceeds_epsilon(epsilon):
    for reach in (1, 2):
        mechanism = PermuteAndFlip.calibrated(epsilon, reach)
        scale = Fraction(mechanism.scale)
        assert mechanism.loss(reach) == reach / scale <= epsilon
        assert reach / Fraction(math.nextafter(float(scale), 0)) >= epsilon * (1 - Fraction(1, 10**15))


def test_too_small_an_epsilon_is_refused_and_no_noise_takes_the_best():
    with pytest.raises(ParameterError, match="too small"):
        PermuteAndFlip.calibrated(Fraction(1, 10**20), 1)
    assert PermuteAndFlip.calibrated(math.inf, 1).choose(np.array([1, 5, 5]), as_rng(0)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("random_state", [None, 4])
def test_choice_fits_its_law(random_state):
    scores, rng = np.array([10, 8, 3, 10]), as_rng(random_state)
    draws = [rng.noisy_max(scores, 4.0) for _ in range(20_000)]
    assert chisquare(np.bincount(draws, minlength=4), choice_law(scores, 4.0) * len(draws)).pvalue > 1e-6


RECORDS = st.fixed_dictionaries(
    {
        "n": st.sampled_from([0.1, 0.9, None, math.nan, 7]),
        "c": st.sampled_from(["a", "b", "?", None]),
        "d": st.sampled_from(["a", "z", 4]),
        "y": st.sampled_from(["0", "1", "0", "1", None]),
    }
)


def scores_of(records):
    scores = [*SCORES, CUT, *FRACTIONS]
    counts = MemorySource(records).count([each.cells(SCHEMA) for each in scores], SCHEMA).counts
    return np.array([each.score(counts[each.cells(SCHEMA)]) for each in scores])


@given(st.lists(RECORDS, max_size=8), RECORDS, RECORDS)
def test_scores_move_by_at_most_one(records, first, second):
    added = scores_of([*records, first]) - scores_of(records)
    assert np.isin(added, (0, 1)).all()
    replaced = scores_of([*records, first]) - scores_of([*records, second])
    assert np.abs(replaced).max() <= 1


def test_majority_moves_by_at_most_one_on_every_small_table():
    """Exhaustive: all tables of two classes and two cells with up to three records per cell, every neighbour."""
    score = MajorityScore("c").score
    for cells in itertools.product(range(4), repeat=4):
        table = np.array(cells).reshape(2, 2)
        for place in itertools.product(range(2), repeat=2):
            more = table.copy()
            more[place] += 1
            assert score(more) - score(table) in (0, 1)
            for other in itertools.product(range(2), repeat=2):
                moved = more.copy()
                moved[other] -= 1
                assert moved.min() < 0 or abs(score(moved) - score(more)) <= 1


def test_the_best_of_several_partitions_counts():
    counts = np.array([[5, 0, 5, 0], [0, 3, 0, 3]])
    assert MajorityScore("n", 4).score(counts) == 16
    assert MajorityScore("n", 4, None, ((1,), (3,))).score(counts) == 13
    assert MajorityScore("n", 4, (1, 4), ((1,), (1, 2))).score(counts) == 5 + 12 + 12, "weights first"
    assert MajorityScore("n", 4, None, ((),)).score(counts) == 10


@pytest.mark.parametrize("cuts", [((2, 1),), ((1, 1),), ((0,),), ((1.0,),), ((True,),)])
def test_cuts_that_could_count_a_record_twice_are_refused(cuts):
    with pytest.raises(ValueError, match="not in order"):
        MajorityScore("n", 4, None, cuts)


def test_cuts_beyond_the_cells_are_refused_before_anything_is_charged():
    ledger = Ledger(1)
    with pytest.raises(ValueError, match="has no cells"):
        select(MemorySource([]), SCHEMA, [MajorityScore("n", 4, None, ((4,),))], 1, Fraction(1), ledger, as_rng(0))
    assert ledger.entries == []


@pytest.mark.parametrize("weights", [(1, 1), (1, 3), (5, 2)])
def test_weighted_scores_move_by_at_most_the_largest_weight(weights):
    """Exhaustive: all tables of two classes and two cells with up to three records per cell, every neighbour."""
    weighted, worst = MajorityScore("c", None, weights), 0
    most = weighted.distance(SCHEMA)
    assert most == max(weights)
    assert weighted.distance(SCHEMA.replace(adjacency="replace-one")) == 2 * most
    for cells in itertools.product(range(4), repeat=4):
        table = np.array(cells).reshape(2, 2)
        for place in itertools.product(range(2), repeat=2):
            more = table.copy()
            more[place] += 1
            moved = weighted.score(more) - weighted.score(table)
            assert 0 <= moved <= most
            worst = max(worst, moved)
    assert worst == most


def test_weights_of_classes_are_checked_before_anything_is_paid():
    for wrong in ((), (0, 1), (1.5, 1), (True, 2)):
        with pytest.raises(ValueError, match="integers from 1 to"):
            MajorityScore("c", None, wrong)
    ledger = Ledger(1)
    with pytest.raises(ValueError, match="one for each class"):
        select(MemorySource([]), SCHEMA, [MajorityScore("c", None, (1, 2, 3))], 1, Fraction(1), ledger, as_rng(0))
    assert ledger.spent == 0


def test_weights_that_could_wrap_around_are_refused():
    """With a weight of 2**45, 2**18 records would have a score of 2**63, which 64 bits take for a negative number."""
    with pytest.raises(ValueError, match="integers from 1 to"):
        MajorityScore("c", None, (2**45, 1))
    many = np.array([[2**43, 0], [2**42, 1]])
    assert MajorityScore("c", None, (MOST_WEIGHT, 1)).score(many) == 2**43 * MOST_WEIGHT + 1
    changing = [2, 1]
    score = MajorityScore("c", None, changing)
    changing[0] = 5
    assert (score.weights, score.distance(SCHEMA)) == ((2, 1), 2)


def test_weights_find_what_the_majority_hides():
    """One class in ten: a column that doubles its rate moves no majority, but the weighted score sees it."""
    counts = np.array([[500, 400], [40, 60]])
    even = np.array([[450, 450], [50, 50]])
    assert MajorityScore("c").score(counts) == MajorityScore("c").score(even)
    assert MajorityScore("c", None, (1, 9)).score(counts) > MajorityScore("c", None, (1, 9)).score(even)


def test_a_fraction_moves_by_at_most_one():
    """Exhaustive over small fractions and numbers of records; never down when a record is added."""
    for of in range(1, 30):
        for right in range(of + 1):
            scores = [FractionScore(right, of).score(np.array([[m]])) for m in range(3 * of)]
            assert set(np.diff(scores)) <= {0, 1}
            assert scores[-1] == (3 * of - 1) * right // of
    for right, of in ((2, 1), (-1, 3), (0, 0)):
        with pytest.raises(ValueError, match="need a fraction"):
            FractionScore(right, of)


@pytest.mark.parametrize(("alike", "winner"), [(500, ("c",)), (400, ())])
def test_a_fraction_wins_if_no_column_beats_it(alike, winner):
    """Of 600 records the column gets `alike` right; the fraction asks for three in four."""
    records = [
        {"n": 0.5, "c": "ab"[i % 2], "d": "a", "y": "01"[i % 2 if i < 2 * alike - 600 else 0]} for i in range(600)
    ]
    counts = MemorySource(records).count([SCORES[1].cells(SCHEMA)], SCHEMA).counts[SCORES[1].cells(SCHEMA)]
    asked = [SCORES[1], FractionScore(3, 4)] if alike == 500 else [MajorityScore("d"), FractionScore(999, 1000)]
    assert counts.sum() == 600
    chosen = select(MemorySource(records), SCHEMA, asked, 1, Fraction(1), Ledger(1), as_rng(0))
    assert chosen.columns == winner
    share = f"{asked[1].right}/{asked[1].of}"
    assert [each.query for each in chosen.receipt.charges] == [f"best of 1 columns or {share} of the records"]


@pytest.mark.parametrize("wanted", [0, 4, -1])
def test_no_more_is_chosen_than_there_is(wanted):
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="from 1 to 3"):
        select(MemorySource([]), SCHEMA, SCORES, wanted, Fraction(1), ledger, as_rng(0))
    assert ledger.spent == 0


def test_select_charges_before_it_reads_and_finds_the_best():
    records = [{"n": 0.5, "c": "a", "d": "a", "y": "0"}, {"n": 0.5, "c": "b", "d": "a", "y": "1"}] * 300
    ledger = Ledger(1)
    chosen = select(MemorySource(records), SCHEMA, SCORES, 2, Fraction(1), ledger, as_rng(0))
    assert chosen.columns[0] == "c"
    assert len(set(chosen.columns)) == 2
    assert (ledger.spent, chosen.receipt.epsilon) == (1, 1)
    assert [charge.scale for charge in chosen.receipt.charges] == [2.0, 2.0]

    class Unread(MemorySource):
        def count(self, cells, schema):
            raise AssertionError("read")

    with pytest.raises(BudgetError):
        select(Unread(records), SCHEMA, SCORES, 1, Fraction(1), ledger, as_rng(0))
