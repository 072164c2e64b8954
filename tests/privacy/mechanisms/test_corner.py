"""The corner of the hinge: slopes and bends against their definition, in integers, and the law of what is released."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet import Numeric, Schema
from discreet.privacy.mechanisms.corner import STEPS, Corner
from discreet.privacy.mechanisms.exact_sums import FAST
from discreet.privacy.mechanisms.minimiser import SURE
from discreet.privacy.mechanisms.objective import ObjectivePerturbation, minimise
from discreet.privacy.mechanisms.problem import Problem
from discreet.privacy.randomness import as_rng
from discreet.queries.hyperplanes import Hyperplanes
from support.replay import hinge

SHARES = st.lists(st.fractions(Fraction(1, 10), 1), max_size=3).map(sorted)


def by_definition(corner, margin):
    """|l'| and l'', in fractions: pieces by their rises, from above."""
    end, slope, bend = Fraction(corner.start, 2**STEPS), Fraction(0), Fraction(0)
    for piece, rise in enumerate(corner.rises):
        width = Fraction(rise * 2**piece, 2**STEPS)
        if width:
            slope += Fraction(rise, sum(corner.rises)) * min(max((end - margin) / width, Fraction(0)), Fraction(1))
            bend += Fraction(rise, sum(corner.rises)) / width if end - width < margin <= end else 0
        end -= width
    return slope, bend


@settings(max_examples=60, deadline=None)
@given(
    huber=st.floats(0.001, 10), shares=SHARES, bits=st.sampled_from([30, 43, FAST, SURE]), seed=st.integers(0, 10**6)
)
def test_slopes_and_bends_are_exact_at_integer_margins(huber, shares, bits, seed):
    corner = Corner.of(huber, shares)
    fixed, rng = corner.at(bits), np.random.default_rng(seed)
    lowest = fixed.ends[-1] - fixed.widths[-1]
    near = [place + move for place in (*fixed.ends, lowest) for move in (-1, 0, 1)]
    spread = fixed.ends[0] - lowest
    near += [lowest + int(rng.integers(1000)) * spread // 1000 for _ in range(10)] + [fixed.ends[0] + 2**bits]
    margins = np.array(near, dtype=np.int64 if bits <= FAST else object)
    rising, bending = fixed.rising(margins).tolist(), fixed.bending(margins).tolist()
    for margin, up, bent in zip(near, rising, bending, strict=True):
        slope, bend = by_definition(corner, Fraction(margin, 2**bits))
        assert Fraction(int(up), fixed.full) == slope
        assert bent * corner.bends[-1] == bend
    floats = np.array([margin / 2**bits for margin in near])
    slopes = [float(by_definition(corner, Fraction(value))[0]) for value in floats.tolist()]
    assert np.allclose(corner.slope(floats), slopes, atol=1e-9)
    h = 1e-6
    assert np.allclose((corner.value(floats - h) - corner.value(floats + h)) / (2 * h), corner.slope(floats), atol=1e-2)
    largest = max(fixed.full, abs(fixed.ends[0]) + sum(fixed.widths), *map(abs, [*fixed.ends, lowest]))
    assert largest <= math.ceil(corner.reach) << bits


def test_a_corner_without_a_first_piece_is_refused():
    for rises in ((), (0, 5), (5, -1)):
        with pytest.raises(ValueError, match="need a positive integer"):
            Corner(1 << STEPS, rises)


@pytest.mark.parametrize("distance", [1, 2])
@pytest.mark.parametrize("huber", [0.001, 0.5, 10.0])
@pytest.mark.parametrize("groups", [(1,), (1,) * 3000, (*(64,) * 100, 1)])
def test_every_calibration_has_a_corner_and_stays_within_epsilon(distance, huber, groups):
    for epsilon in (Fraction(1, 10**9), Fraction(1, 10**4), Fraction(1), Fraction(700), Fraction(10**6)):
        for strength in (0.001, 1.0, 1e9):
            made = ObjectivePerturbation.calibrated(epsilon, distance, groups, huber, strength, 20)
            assert made.corner.rises[0] >= 1
            assert epsilon * (1 - Fraction(1, 10**12)) <= made.loss(distance) <= epsilon


def test_a_loss_without_a_proof_is_not_stated():
    """Two records that are both added may cost more than one that is replaced."""
    with pytest.raises(ValueError, match="need 1"):
        ObjectivePerturbation.calibrated(Fraction(1), 2, (1,), 0.5, 3.0, 20).loss(3)


def released(mechanism, sides, draws):
    """What the mechanism answers, many times, with the constant alone: the whole way, noise and search and lattice."""
    schema = Schema([Numeric("a", 0, 1)], "t", [0, 1])
    feature = Hyperplanes(1, mechanism.bits).features(schema)[:0]
    problem = Problem(feature, (), np.array(sides, dtype=np.int8))
    rng = as_rng(17)
    return np.array([mechanism.perturb(problem, rng)[0] for _ in range(draws)]) / 2.0**mechanism.bits


def distribution(mechanism, sides):
    """The stated law of the minimiser as a function: the integral of its density."""
    w = np.linspace(-40, 40, 400_001)
    parts = [(side, *hinge(mechanism.corner, side * w)) for side in sides]
    b = sum(side * slope for side, slope, _ in parts) - mechanism.mu * w
    rate = 2.0**mechanism.grid / mechanism.scales[0]
    density = np.exp(-rate * np.abs(b)) * (mechanism.mu + sum(bend for _, _, bend in parts))
    whole = np.cumsum(density)
    return lambda value: np.interp(value, w, whole / whole[-1])


@pytest.mark.parametrize(("distance", "sides"), [(1, [1, 1, 1, -1]), (2, [1] * 6)])
def test_what_is_released_has_the_stated_law(distance, sides):
    mechanism = ObjectivePerturbation.calibrated(Fraction(2), distance, (1,), 0.5, 0.6, 20)
    stated = distribution(mechanism, sides)
    assert stats.kstest(released(mechanism, sides, 1500), stated).pvalue > 1e-3


def test_a_search_with_another_corner_than_the_stated_one_is_noticed(monkeypatch):
    """The mutant that minimises a plain hinge, and states the loss of a chain."""
    mechanism = ObjectivePerturbation.calibrated(Fraction(2), 1, (1,), 0.5, 0.6, 20)
    stated, sides = distribution(mechanism, [1] * 6), [1] * 6

    def other(problem, corner, *given):
        return minimise(problem, Corner.of(0.02), *given)

    assert len(dataclasses.asdict(mechanism.corner)["rises"]) == 4
    monkeypatch.setattr("discreet.privacy.mechanisms.objective.minimise", other)
    assert stats.kstest(released(mechanism, sides, 1500), stated).pvalue < 1e-6
