"""LinearSVM: the machine, the guarantee of the whole fit, and the contract of an estimator."""

import dataclasses
import json
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import Categorical, Ledger, Numeric, Schema, load
from discreet.audit import lower_bound
from discreet.doors import hyperplanes as door
from discreet.errors import BudgetError, DataError, MissingExtra, ParameterError
from discreet.models import MODELS
from discreet.models.linear.linear_svm import LinearSVM
from discreet.models.linear.plan import fitting_bits, fitting_knots, fitting_strength
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.multiclass_objective import MulticlassPerturbation
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from support.estimators import expected_failures
from support.neighbours import ADJACENCIES, neighbours, schema
from support.replay import exact_loss, recorded, replay, visible

WEATHER = Schema(
    [Categorical("sky", ["clear", "rain"], unlisted=False), Numeric("wind", 0, 10)], "stay", ["yes", "no"], records=400
)
DAYS = [{"sky": "rain", "wind": 3}] * 200 + [{"sky": "clear", "wind": 3}] * 200
STAY = ["yes"] * 190 + ["no"] * 10 + ["no"] * 195 + ["yes"] * 5


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """A model file names its family."""
    monkeypatch.setitem(MODELS, LinearSVM.kind, LinearSVM)


@parametrize_with_checks(
    [LinearSVM("from-data"), LinearSVM("from-data", epsilon=math.inf)], expected_failed_checks=expected_failures
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_it_learns_explains_and_survives_a_file(tmp_path):
    days, stay = DAYS * 50, STAY * 50  # enough for the order of weights to be sure
    model = LinearSVM(WEATHER.replace(records=20_000), epsilon=1).fit(days, stay)
    assert model.score(days, stay) == pytest.approx(385 / 400)
    assert model.guarantee_.holds
    assert not model.guarantee_.experimental
    assert model.receipt_.epsilon == 1
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.coef_.shape == (1, len(model.coef_names_))
    assert model.coef_names_[0] == "sky = rain"
    assert model.coef_[0, 0] > 0.1
    text = model.explain()
    assert text.index("sky = clear") < text.index("yes: constant") < text.index("sky = rain")
    model.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert np.array_equal(again.decision_function(days), model.decision_function(days))
    assert again.noisy_.tables[0][1].values.dtype == np.int64
    assert np.array_equal(again.noisy_.tables[0][1].values, model.noisy_.tables[0][1].values)
    assert again.explain() == text
    assert json.loads(json.dumps(model.content(2)))["classes"][1]["weights"][0]["value"] == "rain"
    assert len(model.explain(1).splitlines()) < len(text.splitlines())
    assert model.plot() is not None


def test_a_missing_plot_extra_is_named(monkeypatch):
    model = LinearSVM(WEATHER, epsilon=1).fit(DAYS, STAY)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match="plot"):
        model.plot()


def reference(X, sides, huber, mu):
    """The same objective by another solver."""

    def loss(w):
        gap = np.maximum(1 + huber - sides * (X @ w), 0)
        value = np.where(gap > 2 * huber, gap - huber, gap**2 / (4 * huber)).sum() + mu / 2 * w @ w
        slopes = np.minimum(gap / (2 * huber), 1)
        return value, mu * w - X.T @ (slopes * sides)

    options = {"maxiter": 100_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 50}
    return minimize(loss, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options=options).x


@pytest.mark.parametrize("huber", [0.5, 0.05])
def test_without_noise_it_is_the_machine_of_the_literature(huber):
    """Numbers on their grid as a straight line and a constant: plain vectors, solved by scipy."""
    content = load_breast_cancer()
    data = content.data[:, :6]
    low, high = data.min(axis=0), data.max(axis=0)
    columns = [Numeric(f"x{i}", a, c, grid=2048) for i, (a, c) in enumerate(zip(low, high, strict=True))]
    public = Schema(columns, "y", [0, 1])
    model = LinearSVM(public, epsilon=math.inf, knots=1, huber=huber, regularisation=2.0).fit(data, content.target)
    X = np.floor((data - low) * (2048 / (high - low)) + 0.5) / 1024 - 1
    w = reference(np.hstack([X, np.ones((len(X), 1))]), 2 * content.target - 1, huber, 2.0 * 7)
    assert np.allclose(model.coef_[0], w[:-1], atol=1e-6)
    assert np.allclose(model.intercept_, w[-1], atol=1e-6)
    assert not model.guarantee_.holds
    again = LinearSVM(public, epsilon=math.inf, knots=1, huber=huber, regularisation=2.0)
    order = np.random.default_rng(0).permutation(len(data))
    assert np.allclose(again.fit(data[order], content.target[order]).coef_, model.coef_, atol=2.0**-22)


def test_many_classes():
    content = load_iris()
    public = Schema(
        [Numeric(f"x{i}", 0, 8) for i in range(4)], "species", ["setosa", "virginica", "versicolor"], records=150
    )
    labels = np.array(["setosa", "versicolor", "virginica"])[content.target]
    model = LinearSVM(public, epsilon=math.inf).fit(content.data, labels)
    assert model.score(content.data, labels) > 0.95
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.decision_function(content.data).shape == (150, 3)
    noisy = LinearSVM(public, epsilon=30, ranges=None, random_state=0).fit(content.data, labels)
    assert noisy.score(content.data, labels) > 0.85
    assert [charge.epsilon for charge in noisy.receipt_.charges] == [Fraction(297, 10), Fraction(3, 10)]
    assert noisy.receipt_.epsilon == 30
    assert noisy.plot() is not None
    assert noisy.explain().count("constant") == 4


def test_two_classes_are_sorted_as_the_metrics_expect():
    content = load_breast_cancer()
    labels = np.array(["malignant", "benign"])[content.target]
    bounds = [Numeric(f"x{i}", float(column.min()), float(column.max())) for i, column in enumerate(content.data.T)]
    for classes in (["malignant", "benign"], ["benign", "malignant"]):
        model = LinearSVM(Schema(bounds, "d", classes, records=569), epsilon=20, random_state=0)
        model.fit(content.data, labels)
        assert model.classes_.tolist() == ["benign", "malignant"]
        scores = model.decision_function(content.data)
        assert roc_auc_score(labels == "malignant", scores) > 0.9
        assert np.array_equal(model.predict(content.data) == "malignant", scores > 0)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_whole_fit_stays_within_epsilon_and_leaks_nothing(adjacency, data):
    """With another approximation of the same minimiser each time: what the lattice's noise has to hide."""
    table, other = data.draw(neighbours(adjacency))
    knots = data.draw(st.sampled_from([1, 3]))
    fit = lambda rows: LinearSVM(schema(adjacency), epsilon=1.0, random_state=3, knots=knots).fit(rows)  # noqa: E731
    loss, model, twin = replay(fit, table, other)
    assert loss <= 1 + 1e-9
    assert model.receipt_.epsilon == 1
    assert visible(model) == visible(twin)


ALONE = Schema([Categorical("a", ["x", "y"], unlisted=False)], "label", ["n", "y"])


def attacked(adjacency="add-remove"):
    """The loss of a fit between a table with one record and one without, where the record's loss has its corner."""
    public, record = ALONE.replace(adjacency=adjacency), {"a": "x", "label": "y"}
    table, other = [record], [] if adjacency == "add-remove" else [{**record, "label": "n"}]

    def fit(rows):
        return LinearSVM(public, epsilon=1.0, regularisation=5.0, random_state=1).fit(rows)

    recording, replaying = [], []
    with recorded(recording):
        fit(table)
    first = recording[0]
    x = np.array([-1.0, 1.0])
    at = np.round(x / 2 * (0.5 + 1e-6) * 2.0**first.mechanism.bits).astype(np.int64)
    recording[:2] = [dataclasses.replace(first, left=at), dataclasses.replace(recording[1], entered=at)]
    with recorded(replaying, recording):
        fit(other)
    return sum(exact_loss(*pair) for pair in zip(recording, replaying, strict=True))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_an_attack_finds_almost_epsilon_and_no_more(adjacency):
    assert 0.85 < attacked(adjacency=adjacency) <= 1 + 1e-9


def attacked_of_three(adjacency="add-remove"):
    """The same with three classes, where the record has all classes active, its own barely."""
    public, record = ALONE.replace(adjacency=adjacency, classes=["n", "o", "y"]), {"a": "x", "label": "y"}
    table, other = [record], [] if adjacency == "add-remove" else [{**record, "label": "n"}]

    def fit(rows):
        return LinearSVM(public, epsilon=1.0, regularisation=5.0, random_state=1).fit(rows)

    recording, replaying = [], []
    with recorded(recording):
        fit(table)
    first = recording[0]
    size = (2 - first.mechanism.tau / 2 + 1e-6) * 2 / 3
    W = np.outer([-0.5, -0.5, 1.0], [-1.0, 1.0]) / 2 * size
    at = np.round(W * 2.0**first.mechanism.bits).astype(np.int64)
    recording[:2] = [dataclasses.replace(first, left=at), dataclasses.replace(recording[1], entered=at)]
    with recorded(replaying, recording):
        fit(other)
    return sum(exact_loss(*pair) for pair in zip(recording, replaying, strict=True))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_an_attack_on_three_classes_finds_much_of_epsilon_and_no_more(adjacency):
    least = 0.95 if adjacency == "add-remove" else 0.6
    assert least < attacked_of_three(adjacency) <= 1 + 1e-9


def test_mutants_of_three_classes_are_caught(monkeypatch):
    true = MulticlassPerturbation.calibrated.__func__

    def mutant(change):
        calibrated = classmethod(lambda cls, *arguments: true(cls, *change(*arguments)))
        monkeypatch.setattr(MulticlassPerturbation, "calibrated", calibrated)
        monkeypatch.setattr(MulticlassPerturbation, "loss", lambda self, distance: Fraction(0))

    mutant(lambda epsilon, *rest: (2 * epsilon, *rest))
    assert attacked_of_three() > 1.5
    mutant(lambda epsilon, distance, *rest: (epsilon, 1, *rest))  # the factor of replace-one dropped
    assert attacked_of_three("replace-one") > 1.05


def test_mutants_are_caught(monkeypatch):
    true = ObjectivePerturbation.calibrated.__func__

    def mutant(change):
        calibrated = classmethod(lambda cls, *arguments: true(cls, *change(*arguments)))
        monkeypatch.setattr(ObjectivePerturbation, "calibrated", calibrated)
        monkeypatch.setattr(ObjectivePerturbation, "loss", lambda self, distance: Fraction(0))

    mutant(lambda epsilon, *rest: (2 * epsilon, *rest))  # beta too large
    assert attacked() > 1.5
    mutant(lambda epsilon, distance, *rest: (epsilon, 1, *rest))  # the factor of replace-one dropped
    assert attacked(adjacency="replace-one") > 1.5


def test_the_mutant_without_lattice_noise_is_caught(monkeypatch):
    monkeypatch.setattr(DiscreteLaplace, "calibrated", classmethod(lambda cls, *_: cls(0.0)))
    monkeypatch.setattr(DiscreteLaplace, "loss", lambda self, distance: Fraction(0))
    monkeypatch.setattr(DiscreteLaplace, "perturb", lambda self, table, rng: table.copy())
    fit = lambda rows: LinearSVM(ALONE, epsilon=1.0, random_state=1).fit(rows)  # noqa: E731
    record = {"a": "x", "label": "y"}
    original = ObjectivePerturbation.perturb
    model = fit([record])
    monkeypatch.setattr(ObjectivePerturbation, "perturb", lambda *arguments: original(*arguments) + 1)
    assert visible(model) != visible(fit([record])), "which approximation was found can be seen"


def test_the_mutant_that_forgets_the_share_of_the_lattice_is_caught(monkeypatch):
    monkeypatch.setattr(door, "split_by_weight", lambda epsilon, weights: [epsilon] * len(weights))
    for public in (schema(), WEATHER):
        with pytest.raises(BudgetError):
            LinearSVM(public, epsilon=1.0).fit([{}], ["x"], ledger=Ledger(1))


def scores_of_fits(rows, adjacency, epsilon, seed, runs):
    """How much the model speaks for the record in question, over many fits."""
    public = ALONE.replace(adjacency=adjacency)
    made = partial(LinearSVM, public, epsilon=epsilon, select=None, leaves=0)
    fits = (made(random_state=seed + run).fit(rows) for run in range(runs))
    return [float(model.decision_function([{"a": "x"}])[0]) for model in fits]


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("factor", "least", "most", "runs"), [(1, 0.3, 1.0, 2000), (4, 1.0, 4.0, 500)])
def test_black_box_finds_no_more_than_epsilon(adjacency, factor, least, most, runs):
    """Samples alone: a bound below the stated loss, and above it if the fit gets four times the epsilon it states;
    that takes a quarter of the runs."""
    record = {"a": "x", "label": "y"}
    other = [] if adjacency == "add-remove" else [{**record, "label": "n"}]
    pair = ([record], other)
    scores = [scores_of_fits(rows, adjacency, factor, 10**6 * place, runs) for place, rows in enumerate(pair)]
    bound = lower_bound(*scores)
    assert least < bound.epsilon <= most, bound


def test_the_ledger_pays_exactly_epsilon_before_anything_is_read():
    ledger = Ledger(2)
    LinearSVM(schema(), epsilon="1/3").fit([], ledger=ledger)
    assert ledger.spent == Fraction(1, 3)
    poor = Ledger(Fraction(3, 4))
    with pytest.raises(BudgetError):
        LinearSVM(WEATHER, epsilon=1).fit(DAYS, STAY, ledger=poor)
    assert poor.spent == 0
    with pytest.raises(DataError, match="wind"):
        LinearSVM(WEATHER, epsilon=1).fit({"sky": ["rain"]}, ["yes"], ledger=ledger)
    assert ledger.spent == Fraction(1, 3)


@pytest.mark.parametrize("epsilon", [1e-4, 1, 100, 9_999, math.inf])
@pytest.mark.parametrize(
    "records",
    [
        [],
        DAYS[:1],
        [{"sky": None, "wind": math.nan}],
        [{"sky": "hail", "wind": "much"}] * 3,
        [{"sky": "rain", "wind": math.inf}, {"sky": 1, "wind": -math.inf}],
    ],
)
def test_no_record_makes_it_fail(records, epsilon):
    for label in ("yes", "unheard of", None):
        model = LinearSVM(WEATHER, epsilon=epsilon).fit(records, [label] * len(records))
        assert len(model.predict(DAYS[:2])) == 2
        assert model.decision_function(DAYS[:2]).shape == (2,)
        assert np.isfinite(model.coef_).all()


def test_odd_schemas():
    """One class, a column with one category, nothing but such columns, a column with very many."""
    lone = Schema([Categorical("a", ["x"], unlisted=False)], "t", ["only"])
    model = LinearSVM(lone).fit([{"a": "x"}] * 3, ["only"] * 3)
    assert model.predict([{"a": "x"}]).tolist() == ["only"]
    assert model.coef_.shape == (1, 0)
    assert model.explain()
    assert model.plot() is not None
    nothing = Schema([Categorical("a", ["x"], unlisted=False)], "t", ["n", "y"])
    model = LinearSVM(nothing, epsilon=50, random_state=0).fit([{"a": "x"}] * 30, ["y"] * 30)
    assert model.predict([{"a": "x"}]).tolist() == ["y"]
    many = Schema([Categorical("a", list(range(3000))), Categorical("b", ["u"])], "t", ["n", "y", "z"])
    model = LinearSVM(many, epsilon=1).fit({"a": np.arange(50), "b": ["u", "v"] * 25}, ["y", "n"] * 25)
    assert model.coef_.shape == (3, 3001)


def test_frames_arrays_and_records_give_the_same_model():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sky": rng.choice(["clear", "rain"], 60), "wind": rng.random(60) * 10})
    labels = np.where(frame["wind"] > 5, "yes", "no")
    models = [
        LinearSVM(WEATHER, random_state=5).fit(X, labels)
        for X in (frame, frame.to_dict("records"), frame.to_numpy(dtype=object))
    ]
    for model in models[1:]:
        assert np.array_equal(model.noisy_.tables[0][1].values, models[0].noisy_.tables[0][1].values)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"huber": 0},
        {"huber": "wide"},
        {"regularisation": 0},
        {"regularisation": "some"},
        {"regularisation": math.nan},
        {"knots": 0},
        {"knots": 2.5},
        {"knots": True},
        {"schema": None},
        {"random_state": -1},
    ],
)
def test_wrong_parameters(wrong):
    ledger = Ledger(1)
    with pytest.raises(ParameterError):
        LinearSVM(**{"schema": WEATHER, **wrong}).fit(DAYS, STAY, ledger=ledger)
    assert ledger.spent == 0


def test_statistics_of_another_model_are_refused():
    from discreet import OneRule

    noisy = OneRule(WEATHER).fit(DAYS, STAY).noisy_
    with pytest.raises(ParameterError, match="do not belong to a support vector machine"):
        LinearSVM(WEATHER).fit_noisy(noisy)


def test_defaults_follow_from_public_things():
    query = door.Hyperplanes(1, 23)
    assert fitting_strength(query, WEATHER, Fraction(1), 1) == 3
    assert fitting_strength(query, schema(), Fraction(1), 10**6) == 5, "not divided by the classes"
    few, many = (fitting_strength(query, schema(), Fraction(1), records) for records in (2, 4))
    assert few == pytest.approx(2 * many)
    assert many > 5
    assert fitting_strength(query, WEATHER, math.inf, 1) == pytest.approx(1 / 3)
    assert fitting_knots(query, WEATHER, Fraction(1), 5) == 1
    assert fitting_knots(query, WEATHER, Fraction(1, 10), 400) == 4
    assert fitting_knots(query, WEATHER, Fraction(1), 400) == fitting_knots(query, WEATHER, math.inf, 400) == 8


def test_the_lattice_is_finer_where_weights_are_smaller():
    """For many classes; two keep their bits, and tiny budgets do not run out of integers."""
    query = door.Hyperplanes(4, 23)
    assert fitting_bits(query, WEATHER, Fraction(1, 100), 500.0) == 23
    coarse, fine = (fitting_bits(query, schema(), Fraction(1), strength) for strength in (1e3, 4e3))
    assert 23 < coarse == fine - 2
    assert fitting_bits(query, schema(), Fraction(1, 10**6), 1e9) == 40
    assert LinearSVM(schema(), epsilon=1e-4).fit([]).receipt_.epsilon == Fraction(1, 10_000)


def test_conventions():
    model = LinearSVM(WEATHER, epsilon=2, huber=0.05)
    assert clone(model).get_params() == model.get_params()
    for method in (model.predict, model.decision_function):
        with pytest.raises(NotFittedError):
            method(DAYS)
    with pytest.raises(NotFittedError):
        model.explain()
    assert np.allclose(model.fit(DAYS, STAY).predict_proba(DAYS).sum(axis=1), 1)
