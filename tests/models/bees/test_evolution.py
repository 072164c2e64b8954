"""Differential evolution: known optima, the written order of steps, bad parameters."""

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.models.bees import DifferentialEvolution
from discreet.models.bees.colony import stream
from discreet.models.bees.evolution import others


def sphere(x):
    return -float((x**2).sum())


def rastrigin(x):
    return -float((x**2 - 10 * np.cos(2 * np.pi * x) + 10).sum())


def rosenbrock(x):
    return -float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


@pytest.mark.parametrize(
    ("function", "dimensions", "settings", "where"),
    [
        (sphere, 5, {"max_iter": 200}, 0),
        (rastrigin, 3, {"max_iter": 300, "CR": 0.3}, 0),
        (rosenbrock, 3, {"max_iter": 400, "F": 0.7}, 1),
    ],
)
def test_it_finds_the_optimum(function, dimensions, settings, where):
    search = DifferentialEvolution(population=30, **settings)
    optimum = search.maximise(function, [-5.0] * dimensions, [5.0] * dimensions, seed=0)
    assert optimum.value > -1e-6
    np.testing.assert_allclose(optimum.x, where, atol=1e-3)
    assert optimum.evaluations == 30 * (1 + settings["max_iter"])


def test_it_follows_the_written_steps():
    uniform = stream(5)
    lower, upper = [-1.0, 0.0], [1.0, 2.0]
    X = [[lo + uniform() * (hi - lo) for lo, hi in zip(lower, upper, strict=True)] for _ in range(5)]
    for _ in range(12):
        for i in range(5):
            r1, r2, r3 = others(i, 5, uniform)
            certain = int(uniform() * 2)
            trial = []
            for j in range(2):
                mutant = min(max(X[r1][j] + 0.7 * (X[r2][j] - X[r3][j]), lower[j]), upper[j])
                crossed = uniform() <= 0.4
                trial.append(mutant if crossed or j == certain else X[i][j])
            if rosenbrock(np.array(trial)) > rosenbrock(np.array(X[i])):
                X[i] = trial
    best = max(X, key=lambda x: rosenbrock(np.array(x)))
    optimum = DifferentialEvolution(5, 12, F=0.7, CR=0.4).maximise(rosenbrock, lower, upper, seed=5)
    assert optimum.x.tolist() == best


def test_others_are_distinct():
    uniform = stream(0)
    for i in [0, 1, 2, 3] * 20:
        assert {i, *others(i, 4, uniform)} == {0, 1, 2, 3}


def test_a_seed_repeats_the_run():
    search = DifferentialEvolution(8, 20)
    first, again = (search.maximise(sphere, [-1.0] * 3, [1.0] * 3, 1) for _ in range(2))
    np.testing.assert_array_equal(first.x, again.x)


@pytest.mark.parametrize(
    "wrong", [{"population": 3}, {"max_iter": 0}, {"F": 2.1}, {"F": "1"}, {"CR": -0.1}, {"population": 5.0}]
)
def test_bad_parameters(wrong):
    with pytest.raises(ParameterError, match=f"{next(iter(wrong))}="):
        DifferentialEvolution(**wrong)
