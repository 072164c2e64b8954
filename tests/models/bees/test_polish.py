"""Polishing: a rule loses what it does not need, covers what it covered, and is never worth less."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.models.bees.colony import stream
from discreet.models.bees.coverage import CategoryAxis, IntervalAxis, axes_of, bits_of, mask_of
from discreet.models.bees.polish import needed, widened
from discreet.models.bees.rules import weighted_laplace
from discreet.models.bees.search import RuleLandscape, RuleSearch

SCHEMA = Schema([Numeric("x", 0, 10), Numeric("z", -1, 1), Categorical("c", ["a", "b", "d"])], "y", [0, 1])


@given(st.lists(st.booleans(), max_size=70))
def test_masks_and_bits_are_inverse(mask):
    assert mask_of(bits_of(np.array(mask, dtype=bool)), len(mask)).tolist() == mask


def test_idle_conditions_are_dropped_one_at_a_time():
    active, inside = 0b111111, 0b000111

    def worth(covered):
        p = (covered & inside).bit_count()
        return weighted_laplace(p, covered.bit_count() - p, 3, 3)

    # the second repeats the first, the third cuts off a record of the class, the fourth is not used
    bits = [0b000111, 0b010111, 0b111011, 0b000001]
    assert needed([True, True, True, False], bits, active, worth) == [True, False, False, False]
    assert needed([False, False, True, False], bits, active, worth) == [False, False, True, False]
    # each alone lets another record in: both stay
    assert needed([True, True], [0b001111, 0b010111], active, worth) == [True, True]
    # two that say the same: one stays
    assert sum(needed([True, True], [0b000111, 0b000111], active, worth)) == 1


@pytest.mark.parametrize(
    ("gene", "among", "wide"),
    [
        ((3.9, 4.1), [1, 1, 1, 1, 1], (3.0, 5.0)),
        ((2.0, 4.0), [1, 1, 1, 1, 1], (1.5, 5.0)),
        ((4.0, 4.0), [1, 0, 1, 0, 1], (2.5, 6.5)),
        ((4.0, 4.0), [0, 0, 1, 0, 0], (-5.0, 20.0)),
        ((0.0, 4.5), [1, 1, 1, 1, 1], (-5.0, 5.0)),
        ((4.2, 4.4), [1, 1, 1, 1, 1], (4.2, 4.4)),
    ],
)
def test_intervals_end_halfway_to_the_next_record(gene, among, wide):
    axis = IntervalAxis("x", np.array([1.0, 2.0, 4.0, 6.0, 9.0]), 1.0, 9.0, (-5.0, 20.0))
    assert axis.widen(gene, bits_of(np.array(among, dtype=bool))) == wide
    category = CategoryAxis("c", np.array([0, 1, 1, 0, 2]), 3)
    assert category.widen((1.2, 1.2), 31) == (1.2, 1.2)


def test_neighbouring_floats_are_kept_apart():
    low = 1.0
    high = float(np.nextafter(low, 2))
    axis = IntervalAxis("x", np.array([low, high]), low, high, (0.0, 2.0))
    assert axis.widen((low, low), 3) == (0.0, low)
    assert axis.widen((high, high), 3) == (high, 2.0)


@given(seed=st.integers(0, 10**6), rows=st.integers(1, 60))
def test_polishing_never_makes_a_rule_worse(seed, rows):
    rng = np.random.default_rng(seed)
    encoded = {"x": rng.integers(0, 11, rows) / 1.0, "z": rng.uniform(-1, 1, rows), "c": rng.integers(0, 4, rows)}
    labels, active = rng.integers(0, 2, rows), bits_of(rng.random(rows) < 0.8)
    inside = bits_of(labels == 1)
    axes = axes_of(encoded, SCHEMA, public_bounds=False)
    total = inside.bit_count() + 1
    land = RuleLandscape(axes, inside, active, lambda p, n: weighted_laplace(p, n, total, rows), stream(seed))
    for _ in range(10):
        rule = land.draw()
        polished = land.polished(rule)
        assert polished.value >= rule.value
        assert any(polished.used)
        assert not any(new and not old for new, old in zip(polished.used, rule.used, strict=True))
        again = land.polished(polished)
        assert again.used == polished.used
        wide = widened(axes, rule.used, rule.genes, active)
        covered = [
            np.all([mask_of(a.bits(g), rows) for a, g, u in zip(axes, genes, rule.used, strict=True) if u], axis=0)
            & mask_of(active, rows)
            for genes in (rule.genes, wide)
        ]
        np.testing.assert_array_equal(*covered)


def test_a_search_polishes_unless_told_not_to():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 9, 200)
    encoded = {"x": x, "z": rng.uniform(-0.9, 0.9, 200), "c": rng.integers(0, 3, 200)}
    labels = (x > 5).astype(int)
    for polish in (True, False):
        search = RuleSearch(strategy="sequential", max_iter=60, polish=polish)
        (rule, *_) = [r for r in search.find(encoded, labels, SCHEMA, stream(1), False) if r.label == 1]
        ends = {condition.column: condition for condition in rule.conditions}
        assert (len(ends) == 1 and ends["x"].upper == 10) is polish
        if polish:
            assert ends["x"].lower == (x[x <= 5].max() + x[x > 5].min()) / 2
