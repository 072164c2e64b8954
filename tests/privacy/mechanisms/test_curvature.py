"""Second derivatives by sums of integers are those of the objective in floating point."""

from fractions import Fraction

import numpy as np
import pytest

from discreet import Categorical, Numeric, Schema
from discreet.privacy.mechanisms import curvature
from discreet.privacy.mechanisms.corner import Corner
from discreet.privacy.mechanisms.curvature import Curvature
from discreet.privacy.mechanisms.minimiser import ExactGradient, OverAll
from discreet.privacy.mechanisms.multiclass_minimiser import ExactMulticlassGradient
from discreet.privacy.mechanisms.multiclass_minimiser import OverAll as OverClasses
from discreet.privacy.mechanisms.multiclass_problem import MulticlassObjective
from discreet.privacy.mechanisms.problem import Objective, Problem
from discreet.queries.hyperplanes import Hyperplanes

ROWS, TAU, MU = 400, 0.5, 3.0
CORNER = Corner.of(0.5, [Fraction(3, 4), Fraction(9, 10)])
"""Three pieces, each bent half as much as the one before."""


def problem(classes):
    """Records of a spline, of a line on a fine grid, and of categories."""
    columns = [Numeric("a", 0, 1, grid=100), Numeric("b", 0, 1, grid=60_000), Categorical("c", ["x", "y", "z"])]
    schema = Schema(columns, "label", [f"class {number}" for number in range(max(2, classes))])
    rng, features = np.random.default_rng(1), Hyperplanes(4, 20).features(schema)
    codes = tuple(rng.integers(len(each.places), size=ROWS).astype(np.uint16) for each in features)
    sides = rng.choice([-1, 1], ROWS).astype(np.int8) if classes == 1 else rng.integers(classes, size=ROWS)
    return Problem(features, codes, sides if classes == 1 else sides.astype(np.uint16))


def solver(records, classes, w, rows=ROWS, closely=True):
    """The solver at w, and what was asked."""
    bent = Curvature(records.features, classes, 1 / TAU if classes > 1 else float(CORNER.bends[-1]), MU)
    vectors = bent.vectors(rows, closely)
    b = [Fraction(0)] * len(w)
    if classes == 1:
        exact = ExactGradient(OverAll(records, CORNER, MU), b, 40)
        asked = exact.bend(exact.point(w), vectors)
    else:
        exact = ExactMulticlassGradient(OverClasses(records, classes, TAU, MU), b, 40)
        asked = exact.bend(exact.point(w), vectors, bent.pairs)
    return bent.solver(records, asked), asked


def hessian(records, classes, w):
    """By differences of the gradient, which is linear on pieces: the median of several widths leaves out corners."""
    if classes == 1:
        objective = Objective(records, CORNER, MU, np.zeros_like(w))
    else:
        objective = MulticlassObjective(records, classes, TAU, MU, np.zeros_like(w))

    def gradient(point):
        return objective.gradient(point, objective.margins(point))

    return np.array([(gradient(w + 1e-7 * unit) - gradient(w - 1e-7 * unit)) / 2e-7 for unit in np.eye(len(w))])


@pytest.mark.parametrize("classes", [1, 3, 4])
def test_newtons_equation_is_that_of_the_objective(classes):
    records = problem(classes)
    rng = np.random.default_rng(2)
    w = rng.normal(0, 0.5, classes * (records.offsets[-1] + 1))
    solve, _ = solver(records, classes, w)
    target = rng.normal(size=len(w))
    expected = np.linalg.solve(hessian(records, classes, w), target)
    close = 1e-3 if classes == 1 else 0.03  # coordinates of thirteen and of ten bits
    assert np.linalg.norm(solve(target) - expected) <= close * np.linalg.norm(expected)


@pytest.mark.parametrize("classes", [1, 4])
def test_parts_of_the_second_derivatives(classes, monkeypatch):
    """Those within a class, then those of single coordinates: never less than is there, and the size is bounded."""
    records = problem(classes)
    w = np.random.default_rng(2).normal(0, 0.5, classes * (records.offsets[-1] + 1))
    whole = hessian(records, classes, w)
    width = len(w) // classes
    for most, shape in ((classes * width**2, np.kron(np.eye(classes), np.ones((width, width)))), (1, np.eye(len(w)))):
        monkeypatch.setattr(curvature, "MOST", most)
        solve, asked = solver(records, classes, w)
        assert asked.size == classes * (width**2 if most > 1 else width)
        target = np.ones(len(w))
        expected = np.linalg.solve(whole * shape, target)
        assert np.linalg.norm(solve(target) - expected) <= 0.03 * np.linalg.norm(expected)


@pytest.mark.parametrize("classes", [1, 3])
def test_sums_are_the_same_in_any_order_and_in_any_blocks(classes, monkeypatch):
    records = problem(classes)
    w = np.random.default_rng(2).normal(0, 0.5, classes * (records.offsets[-1] + 1))
    _, asked = solver(records, classes, w)
    expected = asked(records.codes, records.sides)
    mixed = records.picked(np.random.default_rng(3).permutation(ROWS))
    monkeypatch.setattr(curvature, "BLOCK", 256)
    halves = [mixed.picked(np.arange(0, 100)), mixed.picked(np.arange(100, ROWS))]
    assert (sum(asked(half.codes, half.sides) for half in halves) == expected).all()
    assert (asked([code[:0] for code in records.codes], records.sides[:0]) == 0).all()


def test_many_products_are_those_of_some_records(monkeypatch):
    """One record of 2**zeros is counted, as many as are enough for the coordinates."""
    records = problem(1)
    w = np.zeros(records.offsets[-1] + 1)
    monkeypatch.setattr(curvature, "QUICK", 1)
    _, asked = solver(records, 1, w, rows=64 * len(w) * 8, closely=False)
    assert asked.vectors.zeros == 3
    _, closely = solver(records, 1, w, rows=64 * len(w) * 8)
    assert closely.vectors.zeros == 0


@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("kinds", [1, 7])
def test_equal_records_are_multiplied_once_and_counted_each(classes, kinds, monkeypatch):
    records = problem(classes)
    few = records.picked(np.arange(ROWS) % kinds)
    w = np.zeros(classes * (records.offsets[-1] + 1))
    w[-1] = few.sides[0] if classes == 1 else 0  # the first record is in the corner
    _, asked = solver(records, classes, w)
    expected = asked(few.codes, few.sides)
    assert expected.any()
    monkeypatch.setattr(curvature, "WIDE", 1)
    assert [len(own) for _, own, _ in asked.vectors.counted(few.codes, few.sides)] == [kinds]
    assert (asked(few.codes, few.sides) == expected).all()
    monkeypatch.setattr(curvature, "scattered", lambda columns, factors: np.zeros(len(columns[0]), dtype=np.int64))
    assert (asked(few.codes, few.sides) == expected).all(), "records with equal numbers need not be equal"
