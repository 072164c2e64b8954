"""Sums in machine integers are those of integers of any size, up to the largest numbers that they are used for."""

from fractions import Fraction

import numpy as np
import pytest

from discreet import Categorical, Numeric
from discreet.privacy.mechanisms import exact_sums
from discreet.privacy.mechanisms.corner import Corner
from discreet.privacy.mechanisms.exact_sums import (
    HALF,
    divided,
    gathered_limbs,
    joined,
    limbs_of,
    rounded_table,
    split_limbs,
)
from discreet.privacy.mechanisms.minimiser import ExactGradient, OverAll
from discreet.privacy.mechanisms.problem import Problem
from discreet.privacy.mechanisms.sampling_by_code import Slots, sampled
from discreet.privacy.mechanisms.slopes import Slopes
from discreet.queries.hyperplanes import feature_of

CORNER = Corner.of(0.5, [Fraction(3, 4), Fraction(9, 10)])
"""Three pieces, each bent half as much as the one before."""
FEATURES = {
    "line": feature_of(Numeric("a", 0, 1, grid=65_000), 1),
    "knots": feature_of(Numeric("a", 0, 1, grid=4099), 12),
    "edges": feature_of(Numeric("a", -3, 5), 8, edges=True),
    "small": feature_of(Numeric("a", 0, 1, grid=3), 2),
    "pair": feature_of(Categorical("a", ["x", "y"]), 3),
    "categories": feature_of(Categorical("a", list(range(40))), 3),
}


def drawn(rng, bits, size):
    """Integers of up to this many bits, of all sizes and both signs; the largest among them."""
    values = [int(rng.integers(2**30)) << max(0, int(rng.integers(bits)) - 30) for _ in range(size)]
    return [(1 - 2 * int(rng.integers(2))) * min(value, 2**bits - 1) for value in values[1:]] + [1 - 2**bits]


@pytest.mark.parametrize("name", FEATURES)
@pytest.mark.parametrize("bits", [10, 50, 62, 63, 200])
def test_tables_are_rounded_as_integers_of_any_size_are(name, bits):
    feature, rng = FEATURES[name], np.random.default_rng(bits)
    for _ in range(1 if name == "line" else 3):
        own = drawn(rng, bits, feature.size)
        own = own[: feature.size]
        truth = []
        for places, weights in zip(feature.places.tolist(), feature.weights.tolist(), strict=True):
            value = sum(own[place] * weight for place, weight in zip(places, weights, strict=True))
            truth.append((2 * value + feature.unit) // (2 * feature.unit))
        assert rounded_table(feature, own).tolist() == truth


@pytest.mark.parametrize("bits", [1, 31, 32, 53, 61, 62, 200, 230])
def test_limbs_hold_every_number(bits):
    rng = np.random.default_rng(bits)
    values = drawn(rng, bits, 200)
    limbs = limbs_of(2**bits - 1)
    kind = np.int64 if bits <= 62 else object
    parts = split_limbs(np.array(values, dtype=kind), limbs)
    assert all(np.abs(part).max() <= 2**32 for part in parts), "sums of two billion records fit"
    assert joined(np.stack([part.astype(np.int64) for part in parts])) == values


@pytest.mark.parametrize("name", FEATURES)
def test_sums_by_coordinate_are_exact_for_the_largest_sums(name):
    """Limbs of two billion records: nothing wraps around."""
    feature, rng = FEATURES[name], np.random.default_rng(1)
    limbs = rng.integers(-(2**63) + 1, 2**63 - 1, (3, len(feature.places)))
    truth = [0] * feature.size
    for cell, (places, weights) in enumerate(zip(feature.places.tolist(), feature.weights.tolist(), strict=True)):
        value = sum(int(limbs[place, cell]) << (HALF * place) for place in range(3))
        for place, weight in zip(places, weights, strict=True):
            truth[place] += weight * value
    assert gathered_limbs(feature, limbs).tolist() == truth


def problem_of(rows, seed=0, names=("edges", "categories")):
    rng = np.random.default_rng(seed)
    features = tuple(FEATURES[name] for name in names)
    codes = tuple(rng.integers(len(each.places), size=rows).astype(np.uint16) for each in features)
    return Problem(features, codes, rng.choice([-1, 1], rows).astype(np.int8))


@pytest.mark.parametrize("bits", [34, 50, 200])
def test_blocks_add_up_to_the_whole(bits, monkeypatch):
    """In one block, in many, and in another order: the same gradient to the last bit."""
    records = problem_of(1000)
    size = sum(each.size for each in records.features) + 1
    point = [value >> 160 << (bits - 30) for value in drawn(np.random.default_rng(2), 190, size)][:size]
    b = [Fraction(0)] * size
    whole = ExactGradient(OverAll(records, CORNER, 1.0), b, bits)(point)
    monkeypatch.setattr("discreet.privacy.mechanisms.slopes.BLOCK", 7)
    monkeypatch.setattr("discreet.privacy.mechanisms.problem.BLOCK", 13)
    mixed = records.picked(np.random.default_rng(0).permutation(1000))
    again = ExactGradient(OverAll(mixed, CORNER, 1.0), b, bits)(point)
    assert np.array_equal(whole[0], again[0])
    assert whole[1] == again[1]


def test_an_answer_is_divided_into_its_parts():
    parts = divided(np.arange(12), 2, [1, 2, 3])
    assert [part.tolist() for part in parts] == [[[0], [1]], [[2, 3], [4, 5]], [[6, 7, 8], [9, 10, 11]]]
    slopes = Slopes((np.zeros(5, dtype=np.int64),), 0, Corner.of(0.5).at(40))
    assert (
        slopes.size
        == 1 + slopes.layout.limbs * 6
        == len(slopes([np.zeros(3, dtype=np.uint16)], np.ones(3, dtype=np.int8)))
    )


@pytest.mark.parametrize("few", [True, False])
def test_a_sample_is_read_off_sums(few):
    """Records of the table alone, in any order of it; if few are different, nearly all of them."""
    records = problem_of(20_000)
    if few:
        records = Problem(records.features, tuple(code % 3 for code in records.codes), records.sides)
    sample = sampled(records, 1 << 13)
    table = set(zip(*(code.tolist() for code in records.codes), records.sides.tolist(), strict=True))
    read = list(zip(*(code.tolist() for code in sample.codes), sample.sides.tolist(), strict=True))
    assert set(read) <= table
    assert len(read) == len(set(read)) > (10 if few else 300)
    assert sample.weights.sum() == pytest.approx(20_000)
    again = sampled(records.picked(np.random.default_rng(0).permutation(20_000)), 1 << 13)
    assert all(np.array_equal(one, other) for one, other in zip(sample.codes, again.codes, strict=True))
    assert np.array_equal(sample.weights, again.weights)


def test_slots_of_no_records_are_empty():
    slots = Slots(2, 4, 0)
    codes, sides, number = slots.read(problem_of(0).fold(slots))
    assert [len(each) for each in (*codes, sides, number)] == [0] * 4
    assert exact_sums.limbs_of(0) == 1
