"""RandomForest: its trees, the guarantee of the whole fit, and the contract of an estimator."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import Categorical, Ledger, Numeric, Schema, load
from discreet.doors.labelled_plan import Labelled
from discreet.doors.tree_plans import Fixed, Greedy
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.models import MODELS
from discreet.models.trees.random_forest import RandomForest
from discreet.privacy.randomness import as_rng
from support.neighbours import ADJACENCIES, BASE, EDGES, schema
from support.people import ILLNESS, patients
from support.replay import replay, visible


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(MODELS, "random-forest", RandomForest)


@parametrize_with_checks([RandomForest("from-data", n_trees=3)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        RandomForest("from-data", epsilon=math.inf, n_trees=3),
        RandomForest("from-data", epsilon=0.1, n_trees=3, structure="random"),
        RandomForest("from-data", n_trees=3, structure="greedy"),
    ]
)
def test_scikit_learns_checks_of_other_settings(estimator, check):
    check(estimator)


def plans_of(**options):
    public = Schema([Numeric(f"x{i}", 0, 1) for i in range(8)], "y", [0, 1], records=options.pop("records", 10_000))
    model = RandomForest(public, **options)
    return public, model._plans(public, Fraction(model.epsilon), public.records, as_rng(0))


def test_greedy_trees_have_all_of_epsilon_and_some_of_the_columns():
    public, plans = plans_of(n_trees=20)
    assert len(plans) == 20
    for plan in plans:
        assert isinstance(plan, Greedy)
        assert sum(step.epsilon for step in plan.steps(public)) == 1
        assert len({split.column for split in plan.splits}) == 6
    assert len({plan.splits for plan in plans}) > 5


def test_random_trees_share_epsilon():
    public, plans = plans_of(structure="random", n_trees=20)
    assert all(isinstance(plan, Fixed) for plan in plans)
    assert [step.epsilon for plan in plans for step in plan.steps(public)] == [Fraction(1, 20)] * 20
    assert len({plan.tree for plan in plans}) > 15


def test_unasked_there_are_as_many_trees_as_can_be_fed():
    assert len(plans_of(records=10**6)[1]) == 10
    assert len(plans_of(records=10_000)[1]) == 5
    assert len(plans_of(records=2000)[1]) == 1
    (lone,) = plans_of(records=30)[1]
    assert isinstance(lone, Labelled)
    assert isinstance(plans_of(n_trees=10, records=200)[1][0], Fixed)


@pytest.mark.parametrize("structure", ["greedy", "random"])
def test_fit_charges_epsilon_once(structure):
    records, labels = patients()
    ledger = Ledger(2)
    model = RandomForest(ILLNESS, epsilon=1, structure=structure, n_trees=4)
    model.fit(records, labels, ledger=ledger)
    assert ledger.entries == [("random-forest for ill", Fraction(1))]
    assert model.receipt_.epsilon == 1
    assert len(model.trees_) == 4
    dealt = ["dealt" in charge.query for charge in model.receipt_.charges]
    assert all(dealt) if structure == "greedy" else not any(dealt)


def test_where_no_number_is_declared_a_noisy_one_is_bought():
    ledger = Ledger(1)
    model = RandomForest(ILLNESS.replace(records=None), epsilon=1).fit(*patients(), ledger=ledger)
    assert ledger.spent == model.receipt_.epsilon == 1
    assert model.receipt_.charges[0].epsilon == Fraction(1, 20)


class Lots:
    """Lots that stay with the records: the coupling of the proof. The changed record is the last of the table."""

    def __init__(self, monkeypatch):
        lots = np.random.default_rng(5).integers(0, 2**40, size=400)
        original = type(as_rng(0)).integers

        def integers(rng, below, shape):
            if below == 3 and len(shape) == 1 and shape[0] > 100:
                return lots[: shape[0]] % below
            return original(rng, below, shape)

        monkeypatch.setattr(type(as_rng(0)), "integers", integers)


SIDES = [
    {"near": -1, "far": 100, "open": side, "closed": "a", "label": label} for side, label in (("a", "x"), ("b", "y"))
]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("structure", ["greedy", "random"])
@pytest.mark.parametrize("odd", [BASE, {**SIDES[1], "label": "x"}, {**SIDES[1], "near": 1, "label": None}])
def test_whole_fit_stays_within_epsilon_and_leaks_nothing(structure, adjacency, odd, monkeypatch):
    Lots(monkeypatch)
    table = SIDES * 60
    other = [*table, odd] if adjacency == "add-remove" else [*table[:-1], odd]

    def fit(rows):
        options = {"structure": structure, "n_trees": 3, "thresholds": 2, "max_depth": 2}
        return RandomForest(schema(adjacency, 120), epsilon=1.0, random_state=3, **options).fit(rows)

    loss, model, twin = replay(fit, table, other)
    assert loss <= 1 + 1e-9
    assert model.receipt_.epsilon == 1
    assert visible(model) == visible(twin)


def test_greedy_trees_on_all_records_would_cost_as_often(monkeypatch):
    """The mutant: all of epsilon for each tree, and nothing dealt."""
    Lots(monkeypatch)
    from discreet.models.trees import learning

    original = learning.grow

    def careless(*arguments, dealt):
        from discreet.doors.tree_rows import TreeRows

        monkeypatch.setattr(TreeRows, "among", lambda self, kept: self)
        return original(*arguments, dealt=dealt)

    monkeypatch.setattr(learning, "grow", careless)
    fit = lambda rows: RandomForest(  # noqa: E731
        schema("add-remove", 120), epsilon=1.0, random_state=3, structure="greedy", n_trees=3, thresholds=2, max_depth=1
    ).fit(rows)
    loss, *_ = replay(fit, SIDES * 60, [*SIDES * 60, BASE])
    assert loss > 1


def test_it_learns_and_is_explained(tmp_path):
    rng = np.random.default_rng(0)
    data = {
        "smoker": rng.choice(["no", "yes"], 3000),
        "age": rng.random(3000) * 80,
        "town": rng.choice(["A", "B"], 3000),
    }
    labels = np.where((data["smoker"] == "yes") & (data["age"] > 30), "yes", "no")
    public = ILLNESS.replace(records=3000)
    model = RandomForest(public, epsilon=2, n_trees=10, random_state=1).fit(data, labels)
    assert model.score(data, labels) > 0.85
    assert set(list(model.column_use())[:2]) == {"smoker", "age"}
    assert sum(model.column_use().values()) == pytest.approx(1)
    assert model.explain().startswith("10 trees")
    assert model.explain(2).count("Tree ") == 2
    assert len(model.content()["trees"]) == 10
    assert json.loads(json.dumps(model.content(1))) == model.content(1)
    model.plot().savefig(tmp_path / "tree.png")
    model.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert np.array_equal(again.predict_proba(data), model.predict_proba(data))


def test_without_noise_it_learns():
    records, labels = patients()
    model = RandomForest(ILLNESS, epsilon=math.inf, n_trees=10, max_columns=1.0, random_state=0).fit(records, labels)
    assert model.score(records, labels) > 0.95
    assert not model.guarantee_.holds


@pytest.mark.parametrize("structure", ["auto", "greedy", "random"])
@pytest.mark.parametrize("name", EDGES)
def test_edges_work(name, structure):
    model = RandomForest(schema(), epsilon=1, n_trees=3, structure=structure).fit(EDGES[name])
    assert np.allclose(model.predict_proba(EDGES["far out"]).sum(axis=1), 1)
    assert model.explain()


def test_what_cannot_be_done_costs_nothing():
    records, labels = patients(1)
    ledger = Ledger(1)
    for public in (ILLNESS, ILLNESS.replace(records=None)):
        with pytest.raises(BudgetError):
            RandomForest(public, epsilon=2).fit(records, labels, ledger=ledger)
        with pytest.raises(DataError, match="'town'"):
            RandomForest(public).fit({"smoker": ["no"], "age": [3]}, ["yes"], ledger=ledger)
        with pytest.raises(ParameterError, match="too small"):
            RandomForest(public, epsilon=Fraction(1, 10**30)).fit(records, labels, ledger=ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_trees": 0},
        {"n_trees": 1001},
        {"n_trees": 2.0},
        {"n_trees": "many"},
        {"max_columns": 0},
        {"max_columns": 1.5},
        {"max_columns": True},
        {"max_columns": "half"},
        {"structure": "stump"},
        {"epsilon": -1},
        {"max_depth": 99},
    ],
)
def test_wrong_parameters(wrong):
    with pytest.raises(ParameterError):
        RandomForest(ILLNESS, **wrong).fit(*patients(1))


def test_conventions():
    model = RandomForest(ILLNESS, n_trees=np.int64(2), max_columns=np.float64(1))
    assert clone(model).get_params() == model.get_params()
    for method in (model.explain, model.content, model.plot, model.column_use):
        with pytest.raises(NotFittedError):
            method()
    model.fit(*patients(3))
    assert len(model.trees_) == 2
    with pytest.raises(ParameterError, match="leaves"):
        model.fit_noisy(type(model.noisy_)([], model.receipt_))


def test_a_lone_category_leaves_no_question():
    lone = Schema([Categorical("one", ["a"], unlisted=False)], "y", ["0", "1"], records=10_000)
    model = RandomForest(lone, epsilon=1).fit([{"one": "a"}] * 50, ["0"] * 50)
    assert "no questions" in model.explain()
    assert model.predict([{"one": "a"}]).tolist() == ["0"]
