"""The door for hyperplanes: bounded vectors, a charge before reading, the same answer from every source."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, Ledger, Numeric, Schema
from discreet.doors.counts import release
from discreet.doors.hyperplanes import separate
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.privacy.mechanisms import minimiser, multiclass_minimiser
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.multiclass_objective import MulticlassPerturbation
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from discreet.privacy.randomness import as_rng
from discreet.privacy.steps import Step
from discreet.queries.hyperplanes import Hyperplanes, feature_of, knot_positions
from discreet.queries.tables import shape
from discreet.queries.trees import Split, complete_tree
from discreet.released.statistics import NoisyStatistics
from discreet.sources.memory import MemorySource
from support.neighbours import TABLES, schema
from support.replay import vectors

QUERY = Hyperplanes(3, 23)


def separated(source, public, epsilon=Fraction(1), ledger=None, seed=0, strength=5.0, query=QUERY):
    ledger = Ledger(math.inf) if ledger is None else ledger
    return separate(source, public, query, epsilon, 0.5, strength, ledger, as_rng(seed), "test")


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("knots", [1, 2, 5, 64])
def test_every_cell_has_a_norm_of_at_most_one(knots, edges):
    """All cells of all kinds of columns, in integers."""
    columns = [
        Numeric("a", 0, 1, grid=2),
        Numeric("a", -5, 7),
        Numeric("a", 0, 1, grid=65_000),
        *(
            Categorical("a", list(range(size)), unlisted=unlisted)
            for size in (1, 2, 3, 40)
            for unlisted in (True, False)
        ),
    ]
    for column in columns:
        feature = feature_of(column, knots, edges=edges)
        rows = np.zeros((len(feature.places), max(1, feature.size)), dtype=np.int64)
        for place, weight in zip(feature.places.T, feature.weights.T, strict=True):
            np.add.at(rows, (np.arange(len(rows)), place), weight)
        norms = np.abs(rows).sum(axis=1)
        assert norms.max(initial=0) <= feature.unit
        if feature.size:
            assert norms.max() == feature.unit, "no smaller than it may be"
            assert (rows != rows[0]).any(), "cells can be told apart"
        assert len(feature.places) == feature.cells.size(Schema([column], "t", ["x"]))
        assert {place for _, place, _ in feature.values} == set(range(feature.size))


def test_knots_are_straight_lines_between():
    """Weights at the knots and straight lines between them: a continuous function of the number."""
    feature = feature_of(Numeric("a", 0, 3, grid=12), 4)
    assert np.allclose(feature.table(np.array([0.0, 1.0, 4.0, 9.0]))[::4], [0, 1, 4, 9])
    assert np.allclose(feature.table(np.arange(4.0)), np.linspace(0, 3, 13))
    assert np.allclose(feature_of(Numeric("a", 0, 3, grid=12), 1).table(np.array([2.0])), np.linspace(-2, 2, 13))
    pair = feature_of(Categorical("a", ["n", "y"]), 3)
    assert pair.table(np.array([2.0])).tolist() == [-2, 2, 0]
    assert feature_of(Categorical("a", list("xyz")), 3).table(np.array([1.0, 2, 3])).tolist() == [1, 2, 3, 0]
    assert feature_of(Categorical("a", ["x"]), 3).table(np.array([5.0])).tolist() == [-5, 5]


def test_knots_near_the_bounds_are_straight_lines_between():
    """Weights at the knots and straight lines between them, up to the steps into which the way is divided."""
    column = Numeric("a", 0, 64, grid=64)
    at = knot_positions(64, 5)
    assert at == (0, 1, 4, 16, 32, 48, 60, 63, 64)
    feature = feature_of(column, 5, edges=True)
    assert feature.names[1] == "a near 1"
    assert feature.table(np.array(at, dtype=float))[list(at)].tolist() == list(at)
    assert np.allclose(feature.table(np.array(at, dtype=float)), np.arange(65), atol=16 / 2**16)
    assert knot_positions(2, 8) == (0, 1, 2), "the grid cannot tell more apart"
    assert feature_of(column, 1, edges=True).size == 1, "a line has no knots"
    assert feature_of(column, 5).names == tuple(f"a near {16 * place}" for place in range(5)), "as files of 0.1 mean it"


TREE = complete_tree([[Split("near", 4, 1)], [Split("open", None, 0), Split("near", 4, 2)]])
LAYOUTS = {
    "plain": {},
    "edges": {"edges": True},
    "columns": {"columns": ("far", "near")},
    "leaves": {"nodes": TREE.nodes},
    "all": {"edges": True, "columns": ("open",), "nodes": TREE.nodes},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("knots", [1, 2, 7, 12])
def test_sizes_are_those_of_the_groups(layout, knots):
    """Plans and noise count coordinates without making them."""
    some = [Categorical("one", ["x"], unlisted=False), Categorical("two", ["x"]), Numeric("grid", 0, 3, grid=3)]
    for public in (schema(), schema().replace(columns=(*schema().columns, *some))):
        query = Hyperplanes(knots, 23, **LAYOUTS[layout])
        assert query.groups(public) == (*(each.size for each in query.features(public)), 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=20, deadline=None)
@given(table=TABLES, knots=st.sampled_from([1, 2, 4]))
def test_every_record_is_a_vector_of_bounded_size(layout, table, knots):
    """Whatever the values of a record: the vectors satisfy what the mechanism assumes."""
    entered = []
    query, public = Hyperplanes(knots, 23, **LAYOUTS[layout]), schema()
    kinds = (ObjectivePerturbation, MulticlassPerturbation)
    originals = [kind.perturb for kind in kinds]
    try:
        for kind in kinds:
            kind.perturb = lambda self, problem, rng: (entered.append(problem), np.zeros(self.size, np.int64))[1]
        separated(MemorySource(table), public, query=query)
        separated(MemorySource(table), public.replace(classes=["x", "z"]), query=query)
    finally:
        for kind, original in zip(kinds, originals, strict=True):
            kind.perturb = original
    groups = query.groups(public)
    assert len(entered) == 2
    for problem, numbers in zip(entered, ({"x": 0, "y": 1, "z": 2}, {"x": -1, "z": 1}), strict=True):
        X = vectors(problem)
        wanted = [numbers[record["label"]] for record in table if record["label"] in numbers]
        assert problem.sides.tolist() == wanted, "a record without a class is nowhere"
        for part in np.split(X, np.cumsum(groups)[:-1], axis=1):
            assert np.abs(part).sum(axis=1).max(initial=0) <= 1 + 1e-12
        if query.nodes is not None:
            leaves = X[:, -1 - TREE.leaves : -1]
            assert np.isin(leaves, (0, 1)).all()
            assert (leaves.sum(axis=1) == 1).all(), "a record lies in one leaf"
        assert (X**2).sum(axis=1).max(initial=0) <= len(groups) + 1e-12


class Watched(MemorySource):
    """Notes what the ledger had paid when the rows were read."""

    def __init__(self, ledger, *arguments):
        super().__init__(*arguments)
        self.ledger, self.paid = ledger, None

    def rows(self, cells, schema):
        self.paid = self.ledger.spent
        return super().rows(cells, schema)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 3), math.inf])
def test_everything_is_charged_before_anything_is_read(adjacency, epsilon):
    ledger = Ledger(math.inf)
    source = Watched(ledger, [{"near": 0, "far": 100, "open": "a", "closed": "b", "label": "x"}])
    noisy = separated(source, schema(adjacency), epsilon, ledger)
    assert source.paid == epsilon == noisy.receipt.epsilon == ledger.spent
    first, second = noisy.receipt.charges
    assert first.sensitivity == (1 if adjacency == "add-remove" else 2)
    assert second.sensitivity == 3 * sum(QUERY.groups(schema())), "three classes"
    assert not any("experimental" in charge.mechanism for charge in noisy.receipt.charges)


def test_what_cannot_work_costs_nothing():
    ledger = Ledger(1)
    with pytest.raises(DataError):
        separated(MemorySource({"near": [1.0]}, ["x"]), schema(), ledger=ledger)
    with pytest.raises(BudgetError):
        separated(MemorySource([]), schema(), Fraction(2), ledger)
    with pytest.raises(ParameterError, match="too small"):
        separated(MemorySource([]), schema(), Fraction(1, 10**15), ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize(
    ("kind", "classes"), [(ObjectivePerturbation, ["x", "y"]), (MulticlassPerturbation, ["x", "y", "z"])]
)
def test_a_mechanism_that_costs_more_than_its_share_is_refused(monkeypatch, kind, classes):
    monkeypatch.setattr(kind, "loss", lambda self, distance: Fraction(2))
    ledger = Ledger(5)
    with pytest.raises(ParameterError, match="costs more"):
        separated(MemorySource([]), schema().replace(classes=classes), ledger=ledger)
    assert ledger.spent == 0


def test_the_answer_is_a_query_with_a_shape_and_a_file(tmp_path):
    public = schema()
    noisy = separated(MemorySource([]), public)
    noisy.check(public)
    assert shape(QUERY, public) == noisy[QUERY].values.shape == (3, 3 + 3 + 1 + 3 + 1)
    again = NoisyStatistics.from_dict(noisy.to_dict())
    again.check(public)
    assert np.array_equal(again[QUERY].values, noisy[QUERY].values)
    assert again[QUERY].values.dtype == np.int64
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="a door of its own"):
        release(MemorySource([]), public, [Step(QUERY, DiscreteLaplace(1e9), Fraction(1))], ledger, as_rng(0))
    assert ledger.spent == 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_has_a_file(layout):
    public, query = schema(), Hyperplanes(4, 23, **LAYOUTS[layout])
    noisy = separated(MemorySource([]), public, query=query)
    again = NoisyStatistics.from_dict(json.loads(json.dumps(noisy.to_dict())))
    again.check(public)
    assert again.tables[0][0] == query
    assert np.array_equal(again[query].values, noisy[query].values)
    sizes = {"plain": 13, "edges": 21, "columns": 9, "leaves": 17, "all": 6}
    assert noisy[query].values.shape == (3, sizes[layout])


def test_blocks_of_rows_are_one_problem(monkeypatch):
    """The answer does not depend on the blocks of a source; the order of rows moves no lattice point by two."""
    rng = np.random.default_rng(0)
    records = [
        {"near": float(a), "far": 100 + float(c), "open": str(o), "closed": "b", "label": str(label)}
        for a, c, o, label in zip(
            rng.normal(size=90),
            rng.random(90),
            rng.choice(["a", "b", "c"], 90),
            rng.choice(["x", "y"], 90),
            strict=True,
        )
    ]
    whole = separated(MemorySource(records), schema(), math.inf)[QUERY].values
    monkeypatch.setattr("discreet.sources.memory.BLOCK", 7)
    monkeypatch.setattr("discreet.privacy.mechanisms.problem.BLOCK", 11)
    pieces = separated(MemorySource(records[::-1]), schema(), math.inf)[QUERY].values
    assert np.abs(whole - pieces).max() <= 1


def test_a_file_gives_the_same_answer(tmp_path):
    pytest.importorskip("duckdb")
    from discreet.sources.file import open_file

    path = tmp_path / "t.csv"
    lines = [f"{i / 50 - 1},{100 + i % 7 / 7},{'ab'[i % 2]},b,{'xyz'[i % 3]}" for i in range(100)]
    path.write_text("near,far,open,closed,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    records = [dict(zip(["near", "far", "open", "closed", "label"], line.split(","), strict=True)) for line in lines]
    first = separated(open_file(path), schema(), math.inf)[QUERY].values
    second = separated(MemorySource(records), schema(), math.inf)[QUERY].values
    assert np.abs(first - second).max() <= 1


def test_failing_to_read_still_costs():
    class Broken(MemorySource):
        def rows(self, cells, schema):
            raise OSError("gone")

    ledger = Ledger(1)
    with pytest.raises(OSError, match="gone"):
        separated(Broken([]), schema(), ledger=ledger)
    assert ledger.spent == 1


@pytest.mark.slow
def test_a_million_records_and_thousands_of_coordinates():
    rng = np.random.default_rng(0)
    rows = 1_000_000
    numbers = rng.random(rows)
    public = Schema([Numeric("a", 0, 1), Categorical("b", list(range(30)), unlisted=False)], "t", [0, 1])
    X = {"a": numbers, "b": rng.integers(30, size=rows)}
    y = (numbers + rng.normal(size=rows) > 0.5).astype(int)
    assert separated(MemorySource(X, y), public)[QUERY].values.shape == (1, 34)
    wide = Schema([Categorical(f"c{i}", list(range(150)), unlisted=False) for i in range(12)], "t", [0, 1])
    X = {f"c{i}": rng.integers(150, size=3000) for i in range(12)}
    assert separated(MemorySource(X, X["c0"] % 2), wide)[QUERY].values.shape == (1, 1801)


@pytest.mark.parametrize(
    ("module", "original", "classes"),
    [("objective", minimiser.minimise, 2), ("multiclass_objective", multiclass_minimiser.minimise, 3)],
)
def test_minimise_is_what_the_door_uses(monkeypatch, module, original, classes):
    """A point that is not certified is never released."""
    seen = []

    def spy(*given):
        *_, mu, _, tolerance = given
        seen.append(tolerance / mu)
        return original(*given)

    monkeypatch.setattr(f"discreet.privacy.mechanisms.{module}.minimise", spy)
    separated(MemorySource([]), schema().replace(classes=["x", "y", "z"][:classes]))
    assert len(seen) == 1
    assert seen[0] <= 2.0**-24


def test_a_schema_with_too_many_weights_is_refused_before_it_costs():
    public = Schema([Categorical("a", list(range(5000)))], "t", list(range(500)))
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="too many weights"):
        separated(MemorySource([]), public, ledger=ledger)
    assert ledger.spent == 0


def test_columns_with_one_grid_share_their_arrays_and_nobody_can_write_to_them():
    one, other = (feature_of(Numeric(name, 0, 1), 8, edges=True) for name in "ab")
    assert one.weights is other.weights
    with pytest.raises(ValueError, match="read-only"):
        one.weights[0, 0] = 1
