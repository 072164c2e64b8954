"""The search for subsets: its steps as published, the best subset found, every value asked once."""

import itertools

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.models.bees.colony import stream
from discreet.models.bees.selection import Subset, SubsetSearch, _Hive


def worth(bits):
    """Best with attributes 1 and 4 alone; each of them is worth 0.3, every other costs 0.01."""
    return 0.2 + 0.3 * bits[1] + 0.3 * bits[4] - 0.01 * (sum(bits) - bits[1] - bits[4])


def script(*numbers):
    """A stream of these numbers; asking for more is an error."""
    return iter(numbers).__next__


def subsets(*texts):
    return [Subset(tuple(bit == "1" for bit in text), 0.5) for text in texts]


@pytest.mark.parametrize("normalise", [False, True])
def test_a_planted_subset_is_found(normalise):
    found = SubsetSearch(max_iter=200, normalise=normalise).best(6, worth, stream(3))
    least = 0.79 if normalise else 0.77
    assert found.value >= least
    assert found.bits[1]
    assert found.bits[4]
    assert found.value == worth(found.bits)


def test_no_subset_is_asked_for_twice_and_none_is_empty():
    asked = []

    def fitness(bits):
        asked.append(bits)
        return worth(bits)

    SubsetSearch(max_iter=50, normalise=True).best(6, fitness, stream(0))
    assert len(asked) == len(set(asked)) <= 63
    assert all(any(bits) for bits in asked)


def test_the_best_is_the_best_that_was_seen():
    seen = {}

    def fitness(bits):
        seen[bits] = worth(bits)
        return seen[bits]

    for seed in range(10):
        seen.clear()
        found = SubsetSearch(population=4, max_iter=10).best(6, fitness, stream(seed))
        assert found.value == max(seen.values())


def test_equal_worth_goes_to_the_smaller_subset():
    assert Subset((True, False), 0.5).beats(Subset((True, True), 0.5))
    assert not Subset((True, True), 0.5).beats(Subset((True, False), 0.5))
    assert not Subset((True, False), 0.5).beats(Subset((False, True), 0.5))
    assert Subset((True, True), 0.6).beats(Subset((True, False), 0.5))
    found = SubsetSearch(normalise=True).best(5, lambda bits: 1.0, stream(0))
    assert sum(found.bits) == 1


def test_the_step_of_evolution_adds_what_one_has_and_another_has_not():
    """All eight cases of three bits; the members drawn are 1, 2 and 3, the current one (0) is drawn and refused."""
    cases = list(itertools.product("01", repeat=3))
    texts = ["".join(case[k] for case in cases) for k in range(3)]
    hive = _Hive(8, lambda bits: 1.0, script(0.0, 0.3, 0.3, 0.6, 0.9))
    trial = hive.evolved(subsets("1" * 8, *texts), 0)
    expected = [int((a == "1" and b == "0") or c == "1") for a, b, c in cases]
    assert list(map(int, trial.bits)) == expected


@pytest.mark.parametrize(
    ("first", "second", "draws", "expected"),
    [
        ("1", "0", (0.9, 0.1), "1"),
        ("1", "0", (0.1, 0.9), "0"),
        ("1", "1", (0.9, 0.1), "0"),
        ("0", "1", (0.9, 0.1), "0"),
    ],
)
def test_the_step_of_a_bee_can_only_add(first, second, draws, expected):
    """The attribute in the middle is drawn (0.5 of three)."""
    swarm = subsets("001", f"0{first}0", f"0{second}0", "111")
    hive = _Hive(3, lambda bits: 1.0, script(0.3, 0.6, 0.5, *draws))
    assert hive.visited(swarm, 0).bits == tuple(bit == "1" for bit in f"0{expected}1")


def test_an_onlooker_turns_one_bit_and_an_empty_subset_gets_one():
    hive = _Hive(3, lambda bits: 1.0, script(0.4, 0.1, 0.9))
    assert hive.turned(subsets("101")[0]).bits == (True, True, True)
    assert hive.turned(subsets("100")[0]).bits == (False, False, True)


def test_chances_are_shares_or_parts_of_the_best():
    swarm = [Subset((True,), value) for value in (0.2, 0.4, 0.4)]
    np.testing.assert_allclose(SubsetSearch()._chances(swarm), [0.2, 0.4, 0.4])
    np.testing.assert_allclose(SubsetSearch(normalise=True)._chances(swarm), [0.5, 1, 1])
    zero = [Subset((True,), 0.0)] * 4
    np.testing.assert_allclose(SubsetSearch()._chances(zero), 0.25)


@pytest.mark.parametrize(
    "wrong", [{"population": 3}, {"population": 5.0}, {"max_iter": 0}, {"onlookers": -1}, {"normalise": "yes"}]
)
def test_bad_parameters(wrong):
    with pytest.raises(ParameterError, match=f"{next(iter(wrong))}="):
        SubsetSearch(**wrong)
