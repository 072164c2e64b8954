"""What a linear model is made of: columns chosen privately, knots near the bounds, leaves of a tree."""

import itertools
import json
import math
import pickle
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, Ledger, LinearSVM, Numeric, Schema, load
from discreet.errors import BudgetError, ParameterError
from discreet.models.linear import plan as planning
from discreet.models.linear.plan import depth_of, needs_records, scores, wanted_columns
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.steps import Step
from discreet.queries.hyperplanes import PARTS, Hyperplanes, feature_of, size_of
from discreet.queries.ranges import MOST_FAVOUR, Filled
from discreet.queries.tables import ClassCounts, MajorityScore, Total
from support.neighbours import ADJACENCIES, BASE, neighbours, schema
from support.replay import replay, visible

WIDE = Schema(
    [Categorical(f"c{i:02}", list("abcd"), unlisted=False) for i in range(24)], "t", ["x", "y", "z"], records=3000
)
SQUARE = Schema([Numeric("a", 0, 1), Numeric("b", 0, 1)], "t", ["in", "out"], records=20_000)


def wide(rows=3000, seed=0):
    """The class follows two of the columns."""
    rng = np.random.default_rng(seed)
    X = {name: rng.choice(list("abcd"), rows) for name in WIDE.names}
    y = np.where(X["c03"] == "a", "x", np.where(X["c17"] <= "b", "y", "z"))
    return X, y


def checkered(rows=20_000, seed=0):
    """No sum over columns tells the class."""
    a, b = np.random.default_rng(seed).random((2, rows))
    return {"a": a, "b": b}, np.where((a > 0.5) == (b > 0.5), "in", "out")


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("records", [40, None])
@pytest.mark.parametrize(
    "options",
    [{"select": 2}, {"leaves": 2}, {"ranges": 0.3}, {"select": 2, "leaves": 1, "knots": 8, "ranges": 0.1}],
    ids=str,
)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_whole_fit_stays_within_epsilon_and_leaks_nothing(options, records, adjacency, data):
    public = schema(adjacency, records)
    fit = lambda rows: LinearSVM(public, epsilon=1.0, random_state=3, **options).fit(rows)  # noqa: E731
    loss, model, twin = replay(fit, *data.draw(neighbours(adjacency)))
    assert loss <= 1 + 1e-9
    assert model.receipt_.epsilon == 1
    assert visible(model) == visible(twin)


def _choice_at_all_of_epsilon(monkeypatch):
    original = PermuteAndFlip.calibrated.__func__
    monkeypatch.setattr(
        PermuteAndFlip, "calibrated", classmethod(lambda cls, epsilon, reach: original(cls, 20 * epsilon, reach))
    )
    return {"select": 2}


def _weights_forgotten(monkeypatch):
    monkeypatch.setattr(MajorityScore, "unit", lambda self, schema: 1)
    return {"select": 2}


def _sizes_of_classes_in_the_clear(monkeypatch):
    monkeypatch.setattr(DiscreteLaplace, "calibrated", classmethod(lambda cls, *_: cls(0.05)))
    return {"select": 2}


def _splits_at_all_of_epsilon(monkeypatch):
    original = PermuteAndFlip.calibrated.__func__
    monkeypatch.setattr(
        PermuteAndFlip, "calibrated", classmethod(lambda cls, epsilon, reach: original(cls, 20 * epsilon, reach))
    )
    return {"leaves": 1, "select": None}


def _ranges_at_all_of_epsilon(monkeypatch):
    _choice_at_all_of_epsilon(monkeypatch)
    return {"ranges": 0.3, "select": None}


MUTANTS = [
    _choice_at_all_of_epsilon,
    _weights_forgotten,
    _sizes_of_classes_in_the_clear,
    _splits_at_all_of_epsilon,
    _ranges_at_all_of_epsilon,
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_mutants_are_caught(mutant, monkeypatch):
    monkeypatch.setattr(Step, "check", lambda *_: None)  # the replay has to notice by itself
    options = mutant(monkeypatch)
    fit = lambda rows: LinearSVM(schema(), epsilon=1.0, random_state=3, **options).fit(rows)  # noqa: E731
    lure = {**BASE, "near": 1, "label": "x"}  # raises the score of one column alone
    assert replay(fit, [BASE] * 9, [*[BASE] * 9, lure])[0] > 1.01


def test_a_few_columns_are_chosen_and_paid_for(tmp_path):
    X, y = wide()
    model = LinearSVM(WIDE, epsilon="1/2", random_state=0).fit(X, y)
    assert {"c03", "c17"} <= set(model.columns_)
    assert len(model.columns_) == wanted_columns("auto", WIDE, Fraction(1, 2), 3000) == 6
    everything = LinearSVM(WIDE, epsilon="1/2", select=None, random_state=0).fit(X, y)
    assert everything.columns_ == WIDE.names
    assert model.score(X, y) > everything.score(X, y) + 0.1
    charges = model.receipt_.charges
    assert charges[0].query == repr(ClassCounts())
    assert charges[1].query == "best of 24 columns"
    assert sum(charge.epsilon for charge in charges[:7]) == Fraction(3, 20)
    assert model.receipt_.epsilon == Fraction(1, 2)
    assert {name.split(" = ")[0] for name in model.coef_names_} == set(model.columns_)
    assert "Not asked, because other columns tell more: c00" in model.explain()
    model.save(tmp_path / "m.json")
    card = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["card"]
    assert card["attributes"] == model.columns_
    assert set(card["not_asked"]) == set(WIDE.names) - set(model.columns_)
    for again in (load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
        assert again.columns_ == model.columns_
        assert again.explain() == model.explain()


def test_leaves_tell_what_no_sum_can(tmp_path):
    X, y = checkered()
    plain = LinearSVM(SQUARE, epsilon=1, leaves=0, random_state=0).fit(X, y)
    model = LinearSVM(SQUARE, epsilon=1, random_state=0).fit(X, y)
    assert plain.score(X, y) < 0.7
    assert plain.tree_ is None
    assert model.score(X, y) > 0.95
    assert model.tree_.depth == depth_of("auto", SQUARE, SQUARE.names, 20_000, 20_000) == 8
    levels = [charge for charge in model.receipt_.charges if charge.query.startswith("level")]
    assert sum(charge.epsilon for charge in levels) == Fraction(2, 5)
    assert model.receipt_.epsilon == 1
    assert not any("leaves" in charge.query for charge in model.receipt_.charges), "no leaf is counted"
    assert len([name for name in model.coef_names_ if name.startswith("leaf ")]) == model.tree_.leaves > 200
    assert len(set(model.coef_names_)) == len(model.coef_names_)
    text = model.explain(5)
    assert text.count("  leaf: ") == 2 * 3, "leaves do not hide the columns"
    assert f"one of {model.tree_.leaves}" in text
    assert [each["attribute"] for each in model.content(2)["classes"][0]["weights"]].count("leaf") == 2
    assert model.plot(3) is not None
    model.save(tmp_path / "m.json")
    for again in (load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
        assert again.explain() == model.explain()
    assert np.array_equal(model.fit(X, y).predict(X), load(tmp_path / "m.json").predict(X)), "refitted with its seed"


def test_choice_and_leaves_together():
    X, y = wide()
    model = LinearSVM(WIDE, epsilon=3, select=3, leaves=3, random_state=0).fit(X, y)
    assert len(model.columns_) == 3
    assert {cells.column for cells in model.tree_.cells} <= set(model.columns_)
    assert model.receipt_.epsilon == 3
    assert model.score(X, y) > 0.9


def test_knots_near_the_bounds_see_values_that_crowd_there():
    """Amounts near zero in wide bounds: evenly spaced knots cannot tell them apart."""
    public = Schema([Numeric("amount", 0, 1_000_000)], "t", ["few", "much"], records=4000)
    amounts = np.random.default_rng(0).exponential(15_000, 4000)
    y = np.where((amounts > 6_000) & (amounts < 30_000), "much", "few")
    model = LinearSVM(public, epsilon=3, ranges=None, random_state=0).fit({"amount": amounts}, y)
    assert len(model.coef_names_) == 12
    assert model.coef_names_[1] == "amount near 15620"
    assert model.score({"amount": amounts}, y) > 0.85
    few = LinearSVM(public, epsilon=3, knots=7, ranges=None, random_state=0).fit({"amount": amounts}, y)
    assert len(few.coef_names_) == 7
    assert few.score({"amount": amounts}, y) < 0.8


def test_chosen_columns_of_two_classes_have_knots_near_the_bounds_sooner():
    """Amounts near zero in wide bounds, where the signal pays for four knots alone."""
    rng, names = np.random.default_rng(2), [f"n{i:02}" for i in range(16)]
    X = dict.fromkeys(names, np.zeros(300)) | {"n03": rng.exponential(15_000, 300)}
    columns, y = [Numeric(name, 0, 1_000_000) for name in names], np.where(X["n03"] < 10_000, "few", "much")
    fit = lambda *classes, **options: LinearSVM(  # noqa: E731
        Schema(columns, "t", classes, records=300), epsilon=1, ranges=None, random_state=0, **options
    ).fit(X, y)
    chosen = fit("few", "much")
    assert (len(chosen.columns_), len(chosen.coef_names_)) == (4, 4 * 8)
    assert "n03 near 15620" in chosen.coef_names_
    every = fit("few", "much", select=None)
    assert len(every.coef_names_) == 16
    assert len(fit("few", "much", "none").coef_names_) == 4 * 4, "more classes: evenly spaced alone"
    assert chosen.score(X, y) > 0.85 > every.score(X, y)


def test_ranges_are_narrowed_to_what_values_fill(tmp_path):
    """Numbers that sit in a small part of wide bounds: weights of the rest would be noise alone."""
    rng, names = np.random.default_rng(5), [f"n{i:02}" for i in range(12)]
    public = Schema([Numeric(name, 0, 100) for name in names], "t", ["low", "high"], records=6000)
    X = {name: rng.normal(40 + i, 2, 6000) for i, name in enumerate(names)}
    y = np.where(X["n00"] - X["n01"] + X["n02"] > 41, "high", "low")
    model = LinearSVM(public, epsilon="1/4", random_state=0).fit(X, y)
    plain = LinearSVM(public, epsilon="1/4", ranges=None, random_state=0).fit(X, y)
    assert model.score(X, y) > plain.score(X, y) + 0.04
    (query,) = (query for query, _ in model.noisy_.tables if isinstance(query, Hyperplanes))
    assert [name for name, _, _ in query.ranges] == names
    for name, low, high in query.ranges:
        assert high - low <= 16
        assert np.mean((X[name] >= low / 0.64) & (X[name] <= high / 0.64)) > 0.6
    low, high = model.ranges_["n00"]
    assert np.mean((X["n00"] >= low) & (X["n00"] <= high)) > 0.6
    assert "Where most values lie, found privately: n00 " in model.explain(3)
    assert " and 9 more" in model.explain(3)
    assert plain.ranges_ == {}
    assert "found privately" not in plain.explain()
    charges = model.receipt_.charges[:12]
    assert [charge.query for charge in charges] == [f"the part of its range that {name} fills" for name in names]
    assert sum(charge.epsilon for charge in charges) == Fraction(1, 32)
    assert model.receipt_.epsilon == model.guarantee_.epsilon == Fraction(1, 4)
    model.save(tmp_path / "m.json")
    for again in (load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
        assert again.explain() == model.explain()


def test_narrowing_is_bought_where_it_is_sharp_enough():
    narrowing, names = planning.narrowing, SQUARE.names
    assert narrowing("auto", SQUARE, names, Fraction(1), 191)[0] == []
    assert narrowing("auto", SQUARE, names, Fraction(1), 192)[1:] == (Fraction(1, 8), Fraction(7, 8))
    asked, price, rest = narrowing("auto", SQUARE, names, Fraction(1), 4000)
    assert (price, rest) == (Fraction(1, 50), Fraction(49, 50))
    assert asked == [Filled(name, 200, 3600) for name in names]
    twice = SQUARE.replace(adjacency="replace-one")
    assert narrowing("auto", twice, names, Fraction(1), 383)[0] == []
    assert narrowing("auto", twice, names, Fraction(1), 4000)[1] == Fraction(1, 25)
    assert narrowing(0.2, SQUARE, names, Fraction(1), 1)[1:] == (Fraction(1, 5), Fraction(4, 5)), "as it is spelled"
    for nothing in (
        narrowing(None, SQUARE, names, Fraction(1), 10**6),
        narrowing("auto", SQUARE, names, math.inf, 10**6),
        narrowing("auto", WIDE, WIDE.names, Fraction(1), 10**6),
    ):
        assert nothing[:2] == ([], 0)
    assert abs(narrowing(0.001, SQUARE, names, Fraction(1, 10**9), 10**15)[0][0].favour) <= MOST_FAVOUR


def test_a_frequent_value_does_not_take_the_range():
    """Three in five records have the value 0, and the class depends on the others: no worse than without narrowing."""
    rng = np.random.default_rng(2)
    names = [f"n{i}" for i in range(5)]
    public = Schema([Numeric(name, 0, 100) for name in names], "t", ["n", "y"], records=3000)
    X = {name: np.where(rng.random(3000) < 0.6, 0, rng.uniform(0, 100, 3000)) for name in names}
    y = np.where(sum((X[name] > 30) & (X[name] < 70) for name in names) > 0.5, "y", "n")
    scored = [
        np.mean([LinearSVM(public, ranges=each, random_state=seed).fit(X, y).score(X, y) for seed in range(6)])
        for each in ("auto", None)
    ]
    assert scored[0] > scored[1] - 0.02


def _fitted(public, options, powers):
    """The model at each ε, a power of ten; None where it was refused, which must have been before anything was paid."""
    models = []
    for power in powers:
        ledger, epsilon = Ledger(1), Fraction(10**power).limit_denominator(10**22)
        model = LinearSVM(public, epsilon=epsilon, **options)
        try:
            models.append(model.fit({name: [0] for name in public.names}, ["a"], ledger=ledger))
        except ParameterError:
            assert ledger.spent == 0, power
            models.append(None)
        else:
            assert ledger.spent == epsilon
    return models


def test_a_price_that_pays_for_no_choice_is_refused_before_the_number_of_records_is_bought():
    public = Schema([Numeric(f"n{i}", 0, 1) for i in range(3)], "t", ["a", "b", "c"])
    options = {"ranges": 0.001, "knots": 1, "select": None, "leaves": 0}
    assert any(_fitted(public, options, np.arange(-13, -10, 0.125)))


def test_chosen_columns_never_cost_more_than_was_rehearsed():
    """With four knots they have more near the bounds, which all columns have not: nothing fails after it was paid."""
    public = Schema([Numeric(f"n{i}", 0, 1) for i in range(3)], "t", ["a", "b"], records=10)
    options = {"ranges": None, "knots": 4, "select": 2, "leaves": 0}
    assert {model is None for model in _fitted(public, options, np.arange(-14, -8, 0.0625))} == {False, True}


def test_leaves_of_chosen_categories_never_cost_more_than_was_rehearsed():
    """Whether leaves are grown at this signal follows from the columns that were chosen, and paid for, before."""
    public = Schema([Categorical(f"c{i}", [0, 1]) for i in range(4)], "t", ["a", "b"], records=10**15)
    models = _fitted(public, {"select": 2}, np.arange(-14, -8, 0.125))
    assert {model is None for model in models} == {False, True}
    assert all(model.tree_ is not None for model in models if model is not None)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("knots", [4, "auto"])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_chosen_columns_of_two_classes_stay_within_epsilon(knots, adjacency, data):
    """The path with knots near the bounds of chosen columns, which three classes do not take."""
    public = schema(adjacency).replace(classes=["x", "y"])
    fit = lambda rows: LinearSVM(public, epsilon=1.0, random_state=3, select=2, knots=knots).fit(rows)  # noqa: E731
    loss, model, twin = replay(fit, *data.draw(neighbours(adjacency)))
    assert loss <= 1 + 1e-9
    assert model.receipt_.epsilon == 1
    assert visible(model) == visible(twin)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_leaves_that_follow_from_chosen_columns_stay_within_epsilon(adjacency):
    """At this signal two categories have leaves, and a number among the two has none; both paths are replayed."""
    public = schema(adjacency, 2500 if adjacency == "add-remove" else 5000)
    rows = [
        {"near": 0.5, "far": 100.2, "open": "ab"[i % 2], "closed": "ab"[i % 2], "label": "xy"[i % 2]} for i in range(9)
    ]
    others = {
        "a label": [*rows[:-1], {**rows[-1], "label": "z"}],
        "a stray": [*rows[:-1], {**rows[-1], "open": "stray"}],
        "one fewer": rows[:-1],
    }
    kinds = set()
    for (what, other), seed in itertools.product(others.items(), range(24)):
        if (what == "one fewer") != (adjacency == "add-remove"):
            continue
        fit = lambda given: LinearSVM(public, epsilon=1.0, random_state=seed, select=2).fit(given)  # noqa: B023, E731
        loss, model, twin = replay(fit, rows, other)
        assert loss <= 1 + 1e-9
        assert model.receipt_.epsilon == model.guarantee_.epsilon == 1
        assert visible(model) == visible(twin)
        assert (model.tree_ is not None) == (set(model.columns_) == {"open", "closed"})
        kinds.add(model.tree_ is not None)
    assert kinds == {False, True}


@pytest.mark.parametrize("knots", [1, 4, 8])
@pytest.mark.parametrize("part", [(0, 64), (0, 2), (62, 64), (24, 32)])
@pytest.mark.parametrize("grid", [2, 3, 16, 100, 2048])
def test_a_group_has_the_size_that_was_planned_and_no_norm_above_one(knots, part, grid):
    column = Numeric("n", -3, 5, grid=grid)
    for edges in (False, True):
        feature = feature_of(column, knots, edges=edges, part=part)
        assert feature.size == size_of(column, knots, edges=edges, part=part)
        public = Schema([column], "t", ["n", "y"])
        assert feature.size < sum(planning.narrowest(public, Hyperplanes(knots, 23, edges)).groups(public))
        assert len(feature.places) == len(feature.weights) == grid + 1
        assert np.abs(feature.weights).sum(axis=1).max() <= feature.unit
        table = feature.table(np.arange(feature.size, dtype=float)[:, None])[:, 0]
        assert (np.diff(table) >= -1e-12).all(), "greater numbers lie at later knots"


def test_the_depth_of_leaves_follows_from_public_things():
    auto = partial(depth_of, "auto", SQUARE, SQUARE.names)
    assert [auto(strength, 10**6) for strength in (256 * 9 - 1, 256 * 9)] == [0, 5]
    assert auto(1e6, 1) == 0, "without noise a leaf needs records all the same"
    assert depth_of("auto", SQUARE, ["a"], 10**6, 10**6) == 0, "leaves of one column say nothing new"
    assert depth_of(3, SQUARE, ["a"], 1, 1) == 3


def test_categories_alone_have_leaves_sooner():
    mixed = WIDE.replace(columns=(*WIDE.columns[:2], Numeric("a", 0, 1)))
    depths = {
        columns: [depth_of("auto", mixed, columns, strength, 10**6) for strength in (128 * 9 - 1, 128 * 9, 256 * 9)]
        for columns in (("c00", "c01"), ("c00", "a"))
    }
    assert depths == {("c00", "c01"): [0, 5, 5], ("c00", "a"): [0, 0, 5]}


def test_the_plan_follows_from_public_things():
    assert [wanted_columns("auto", WIDE, Fraction(1), n) for n in (10, 1000, 30_000)] == [4, 5, 0]
    two = WIDE.replace(classes=["x", "y"])
    counts = {24 * 7**2: 6, 24 * 8**2 - 1: 6, 24 * 8**2: 0}
    assert {n: wanted_columns("auto", two, Fraction(1), n) for n in counts} == counts, "of 24, at most a quarter"
    assert wanted_columns("auto", WIDE, math.inf, 10) == wanted_columns(None, WIDE, Fraction(1), 10) == 0
    assert wanted_columns(24, WIDE, Fraction(1), 10) == 0, "all columns: nothing to choose"
    assert wanted_columns(7, WIDE, Fraction(1), 10) == 7
    few, every = Hyperplanes(1, 23, columns=("c00",)), Hyperplanes(1, 23, columns=None)
    knots = {
        asked: planning.fitting_knots(asked, WIDE, Fraction(1), 2 * 5 * len(asked.groups(WIDE)) ** 2 // 10)
        for asked in (few, every)
    }
    assert (knots[few], knots[every]) == (1, 4), "three classes, half a record for each squared group"
    assert not needs_records(WIDE, 1, "auto", None, 0, "auto")
    assert needs_records(WIDE, "auto", "auto", None, 0, None), "three classes: the penalty follows from the noise"
    assert needs_records(WIDE, 1, "auto", "auto", 0, None)
    assert needs_records(SQUARE, "auto", "auto", None, 0, None)
    assert needs_records(SQUARE, "auto", 4, None, 0, "auto")
    assert not needs_records(SQUARE, "auto", 4, "auto", 0, None)
    assert needs_records(SQUARE, "auto", 4, None, "auto", None)


def test_frequent_classes_weigh_less():
    even = scores(WIDE, np.array([[1000], [1000], [1000]]))[0]
    assert even.weights == (16, 16, 16)
    assert scores(WIDE, np.array([[2000], [500], [500]]))[0].weights == (4, 16, 16)
    assert scores(WIDE, np.array([[2900], [100], [0]]))[0].weights == (3, 16, 16), "at least half of the average"
    assert scores(WIDE, np.array([[-9], [-9], [-9]]))[0].weights == (16, 16, 16)
    assert scores(SQUARE, np.array([[5], [5]]))[1] == MajorityScore("b", PARTS, (16, 16), planning.CUTS)


def test_columns_that_tell_in_a_small_part_of_their_range_are_chosen():
    """Amounts near zero in wide bounds tell the class, and evenly cut they would not."""
    rng = np.random.default_rng(1)
    public = Schema([Numeric(f"n{i:02}", 0, 1000) for i in range(40)], "t", ["n", "y"], records=3000)
    X = {name: rng.exponential(10, 3000) for name in public.names}
    y = np.where(X["n07"] + X["n23"] > 17, "y", "n")
    model = LinearSVM(public, epsilon="1/2", random_state=0).fit(X, y)
    assert len(model.columns_) < 10
    assert {"n07", "n23"} <= set(model.columns_)


def test_the_number_of_records_is_bought_only_if_a_rule_needs_it():
    X, y = checkered(500)
    unknown = SQUARE.replace(records=None)
    bought = LinearSVM(unknown, epsilon=1, random_state=0).fit(X, y)
    assert any(isinstance(query, Total) for query, _ in bought.noisy_.tables)
    assert bought.receipt_.epsilon == 1
    fixed = LinearSVM(unknown, epsilon=1, knots=4, leaves=0, ranges=None, random_state=0).fit(X, y)
    assert len(fixed.noisy_.tables) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        *({"select": select} for select in (0, 25, True, "some")),
        *({"leaves": leaves} for leaves in (-1, 11, "deep", True, None)),
        {"huber": "sharp"},
        *({"ranges": ranges} for ranges in (0, 0.6, True, "declared", Fraction(1, 8))),
    ],
    ids=str,
)
def test_wrong_parameters(wrong):
    ledger = Ledger(1)
    with pytest.raises(ParameterError):
        LinearSVM(WIDE, **wrong).fit(*wide(10), ledger=ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize("records", [3000, None])
def test_too_small_an_epsilon_is_refused_before_anything_is_paid(records):
    ledger, public = Ledger(1), WIDE.replace(records=records)
    for options in ({"select": 3}, {"leaves": 4}, {"ranges": 0.1}, {}):
        with pytest.raises(ParameterError, match="too small"):
            LinearSVM(public, epsilon=Fraction(1, 10**14), **options).fit(*wide(10), ledger=ledger)
    with pytest.raises(BudgetError):
        LinearSVM(WIDE, epsilon=2, select=3).fit(*wide(10), ledger=ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize("epsilon", [1e-3, 1, 100, math.inf])
@pytest.mark.parametrize("options", [{"select": 2}, {"leaves": 3}, {"ranges": 0.5}], ids=str)
def test_no_record_makes_it_fail(options, epsilon):
    for rows in ([], [dict.fromkeys(WIDE.names)], [{**dict.fromkeys(WIDE.names, "?"), "c00": math.nan}] * 3):
        model = LinearSVM(WIDE, epsilon=epsilon, **options).fit(rows, ["x"] * len(rows))
        assert len(model.predict(rows or [dict.fromkeys(WIDE.names)])) >= 1


def test_odd_schemas():
    """Leaves and choices where there is nothing to split or to choose."""
    lone = Schema([Categorical("a", ["x"], unlisted=False)], "t", ["n", "y"])
    model = LinearSVM(lone, epsilon=1, leaves=3, select=1).fit([{"a": "x"}] * 3, ["n"] * 3)
    assert model.tree_ is None
    many = Schema([Categorical("a", list(range(1500)))], "t", ["n", "y"], records=50)
    assert LinearSVM(many, epsilon=1, leaves=3).fit({"a": np.arange(50)}, ["y", "n"] * 25).tree_ is None


@pytest.mark.parametrize(
    "damage",
    [
        *({"columns": columns} for columns in (["nothing"], "c00", ["c03", "c03"], [1])),
        *({"nodes": nodes} for nodes in ([["c03", None, 9], None, None], [None, None], [["q", None, 0], None, None])),
        {"edges": 1},
        *({"ranges": [each]} for each in (["c00", 0, 64], ["q", 0, 1], ["c00", 1], "c00", [1, 0, 1], ["c00", 3, 3])),
        *({"ranges": [["a", *bounds]]} for bounds in ((-1, 4), (0, 65), (5, 4), (0.0, 4), (False, 4))),
        {"ranges": "all"},
    ],
    ids=str,
)
def test_a_damaged_query_is_refused(damage):
    public = WIDE.replace(columns=(*WIDE.columns, Numeric("a", 0, 1)))
    with pytest.raises(ValueError, match=r"need|use"):
        Hyperplanes(1, 23, **damage).shape(public)


@pytest.mark.parametrize(("public", "with_leaves"), [(SQUARE, planning.HUBER_OF_LEAVES), (WIDE, planning.HUBER)])
def test_leaves_round_the_hinge_for_two_classes_alone(public, with_leaves):
    assert planning.fitting_huber("auto", public, True) == with_leaves
    assert planning.fitting_huber("auto", public, False) == planning.HUBER < planning.HUBER_OF_LEAVES
    assert planning.fitting_huber(0.7, public, True) == 0.7


def test_leaves_of_many_classes_are_told_apart():
    """Which of four boxes a record is in tells its class, and no sum over columns does."""
    a, b = np.random.default_rng(3).random((2, 20_000))
    box = 2 * (a > 0.5) + (b > 0.5)
    public = Schema([Numeric("a", 0, 1), Numeric("b", 0, 1)], "t", ["w", "x", "y"], records=20_000)
    y = np.array(["w", "x", "y", "w"])[box]
    model = LinearSVM(public, epsilon=3, random_state=0).fit({"a": a, "b": b}, y)
    assert model.tree_ is not None
    assert model.score({"a": a, "b": b}, y) > 0.95
