"""The colony: known optima, the written order of steps, onlookers, scouts, bad parameters."""

import itertools
import math

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.models.bees import ArtificialBeeColony
from discreet.models.bees.colony import PATIENCE, Box, forage, onlookers, proportions, roulette, stream


def sphere(x):
    return -float((x**2).sum())


def rastrigin(x):
    return -float((x**2 - 10 * np.cos(2 * np.pi * x) + 10).sum())


def rosenbrock(x):
    return -float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


@pytest.mark.parametrize(
    ("function", "lower", "upper", "where", "tolerance"),
    [
        (sphere, [-5.12] * 5, [5.12] * 5, 0, 1e-6),
        (rastrigin, [-5.12] * 5, [5.12] * 5, 0, 1e-3),
        (rosenbrock, [-2.0] * 2, [2.0] * 2, 1, 0.05),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_it_finds_the_optimum(function, lower, upper, where, tolerance, seed):
    optimum = ArtificialBeeColony(max_iter=600).maximise(function, lower, upper, seed)
    assert optimum.value > -tolerance
    assert optimum.value == function(optimum.x)
    assert np.abs(optimum.x - where).max() < 0.35


def written_colony(function, lower, upper, cycles, limit, sources, uniform):
    """The steps once more, as plainly as possible."""

    def draw():
        return [lo + uniform() * (hi - lo) for lo, hi in zip(lower, upper, strict=True)]

    X = [None] * sources
    fit = [None] * sources
    for i in range(sources):
        X[i] = draw()
        fit[i] = function(np.array(X[i]))
    trial = [0] * sources
    best = max(fit)

    def bee(i):
        k = int(uniform() * (sources - 1))
        k = k + 1 if k >= i else k
        j = int(uniform() * len(lower))
        V = list(X[i])
        V[j] = min(max(X[i][j] + (2 * uniform() - 1) * (X[i][j] - X[k][j]), lower[j]), upper[j])
        value = function(np.array(V))
        if value > fit[i]:
            X[i], fit[i], trial[i] = V, value, 0
        else:
            trial[i] += 1

    for _ in range(cycles):
        for i in range(sources):
            bee(i)
        p = [value / sum(fit) if sum(fit) else 1 / sources for value in fit]
        i = served = 0
        while served < sources:
            if uniform() < p[i]:
                bee(i)
                served += 1
            i = (i + 1) % sources
        best = max([best, *fit])
        tired = trial.index(max(trial))
        if trial[tired] > limit:
            X[tired] = draw()
            fit[tired] = function(np.array(X[tired]))
            trial[tired] = 0
    return best


@pytest.mark.parametrize("seed", range(3))
def test_it_follows_the_written_steps(seed):
    """Values from 0: the parts of the sum are exactly those written. A low limit sends many scouts."""

    def hills(x):
        return float(max(0.0, math.sin(3 * x[0]) + math.cos(2 * x[1]) + 0.5))

    lower, upper = [-2.0, -1.0], [2.0, 3.0]
    expected = written_colony(hills, lower, upper, 40, 5, 6, stream(seed))
    assert ArtificialBeeColony(12, 40, 5).maximise(hills, lower, upper, seed).value == expected


def test_a_seed_repeats_the_run():
    colony = ArtificialBeeColony(max_iter=30)
    first, again, other = (colony.maximise(sphere, [-1.0] * 3, [1.0] * 3, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.x, again.x)
    assert first.evaluations == again.evaluations
    assert (first.x != other.x).any()


def test_it_stays_in_the_box_and_counts_its_questions():
    seen = []

    def edge(x):
        seen.append(x)
        return float(x.sum())

    optimum = ArtificialBeeColony(10, 50, 10**6).maximise(edge, [0, -1, 2], [1, -0.5, 2], seed=0)
    points = np.array(seen)
    assert (points >= [0, -1, 2]).all()
    assert (points <= [1, -0.5, 2]).all()
    assert optimum.evaluations == len(seen) == 5 + 10 * 50
    assert optimum.value == pytest.approx(1 - 0.5 + 2, abs=1e-3)


def test_what_is_not_a_number_is_the_worst():
    optimum = ArtificialBeeColony(max_iter=50).maximise(
        lambda x: math.nan if x[0] < 0 else 1 - float(x[0]), [-1.0], [1.0], seed=0
    )
    assert optimum.value == pytest.approx(1, abs=1e-3)
    nothing = ArtificialBeeColony(max_iter=5).maximise(lambda x: math.nan, [-1.0], [1.0], seed=0)
    assert nothing.value == -math.inf
    assert ArtificialBeeColony(max_iter=5).maximise(lambda x: math.inf, [0.0], [1.0], seed=0).value == math.inf


def test_shares_of_sources():
    assert proportions([1, 3]) == [0.25, 0.75]
    assert proportions([0.0, 0.0, 0.0, 0.0]) == [0.25] * 4
    assert proportions([-1, 1]) == [pytest.approx(0.5 / 2.5), pytest.approx(2 / 2.5)]
    assert proportions([-math.inf, -math.inf]) == [0.5, 0.5]
    assert proportions([math.inf, 0.0]) == [1.0, 0.0]


def scripted(*numbers):
    return itertools.chain(numbers, itertools.repeat(math.nan)).__next__


def test_onlookers_pass_the_sources_in_turn():
    draws = scripted(0.6, 0.4, 0.1, 0.2)  # source 0 refused, 1 taken, 0 taken
    assert list(onlookers([0.5, 0.5], draws)) == [1, 0]


def test_onlookers_who_find_nothing_are_sent_by_roulette():
    drawn = []

    def uniform():
        drawn.append(0)
        return 0.99

    assert list(onlookers([0.25, 0.5, 0.25], uniform)) == [2, 2, 2]
    assert len(drawn) == PATIENCE * 3 + 3


def test_roulette():
    assert [roulette([0.25, 0.5, 0.25], spin) for spin in (0.0, 0.25, 0.74, 0.75, 0.99)] == [0, 1, 1, 2, 2]
    assert roulette([0.3, 0.3], 0.99) == 0, "rounding: the sum may fall short of 1"


class Barren:
    """No move is ever accepted, all sources are alike."""

    value = 1.0

    def __init__(self):
        self.drawn = 0

    def draw(self):
        self.drawn += 1
        return self

    def neighbour(self, current, other):
        return self

    def accepts(self, candidate, current):
        return False

    is_better = accepts


@pytest.mark.parametrize(("cycles", "scouts"), [(1, 0), (2, 1), (3, 2), (4, 3)])
def test_one_scout_a_cycle_when_the_limit_is_passed(cycles, scouts):
    """Two failures a cycle each; limit 3: after the second cycle both are over it, and one is sent a cycle."""
    land = Barren()
    forage(land, 2, cycles, 3, lambda: 0.4)
    assert land.drawn == 2 + scouts


def test_only_strict_improvement_is_accepted():
    box = Box(lambda x: 1.0, np.zeros(1), np.ones(1), stream(0))
    first, second = box.draw(), box.draw()
    assert not box.accepts(second, first)


@pytest.mark.parametrize("wrong", [{"swarm": 3}, {"swarm": 4.5}, {"max_iter": 0}, {"limit": -1}, {"swarm": True}])
def test_bad_parameters(wrong):
    with pytest.raises(ParameterError, match=f"{next(iter(wrong))}=.*need an integer"):
        ArtificialBeeColony(**wrong)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [([0], [1, 2]), ([], []), ([1], [0]), ([-math.inf], [0]), ([math.nan], [0]), ([-1e308], [1e308]), ([[0]], [[1]])],
)
def test_bad_boxes(lower, upper):
    with pytest.raises(ParameterError, match="bounds"):
        ArtificialBeeColony().maximise(sphere, lower, upper)


@pytest.mark.parametrize("seed", [-1, "x", 1.5])
def test_bad_seeds(seed):
    with pytest.raises(ParameterError, match="seed="):
        stream(seed)


def test_every_kind_of_seed():
    assert stream(np.random.default_rng(1))() == stream(1)()
    assert stream(np.random.RandomState(1))() == stream(np.random.RandomState(1))()
    assert 0 <= stream(None)() < 1
