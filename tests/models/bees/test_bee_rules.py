"""The estimator: contract, guarantee, ledger, awkward data."""

import dataclasses
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import Adjacency, Categorical, Ledger, Numeric, Schema
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.models.bees.bee_rules import BeeRules
from discreet.perturbation.local_perturbation import LocalGuarantee
from support.records import draw_records, split_target

HELD = LocalGuarantee(Fraction(1), Adjacency.ADD_REMOVE, True, (), ("the schema",), seeded=False, experimental=False)
STRATEGIES = ["sequential", "wlapms", "one-rule"]


@parametrize_with_checks([BeeRules("from-data", strategy=strategy, max_iter=30) for strategy in STRATEGIES])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture
def plain():
    """Numbers x, z and categories c; ill if x is above 6 or c is b."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 300), "z": rng.uniform(0, 1, 300), "c": rng.choice(["a", "b"], 300)})
    return frame, np.where((frame.x > 6) | (frame.c == "b"), "ill", "well")


@pytest.fixture
def known():
    return Schema([Numeric("x", 0, 10), Numeric("z", 0, 1), Categorical("c", ["a", "b"])], "state", ["well", "ill"])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_it_learns(plain, known, strategy):
    X, y = plain
    model = BeeRules(known, strategy=strategy, max_iter=200, random_state=0).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) >= {"sequential": 0.95, "wlapms": 0.8, "one-rule": 0.8}[strategy]
    assert set(model.predict(X)) == {"well", "ill"}
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))


def test_contract(known):
    model = BeeRules(known, strategy="wlapms", n_rules=5, random_state=3)
    assert is_classifier(model)
    twin = clone(model)
    assert twin.get_params()["schema"] == known
    assert twin.get_params() == model.get_params()
    assert "n_rules=5" in repr(model)
    assert twin.set_params(alpha=0.2).alpha == 0.2
    for method in (model.predict, model.predict_proba):
        with pytest.raises(NotFittedError):
            method([[1, 0.5, "a"]])
    for call in (model.explain, lambda: model.score([[1, 0.5, "a"]], ["well"])):
        with pytest.raises(NotFittedError):
            call()


def test_a_seed_repeats_the_fit(plain, known):
    first, again = (BeeRules(known, max_iter=30, random_state=1).fit(*plain) for _ in range(2))
    assert first.rules_ == again.rules_
    assert pickle.loads(pickle.dumps(first)).rules_ == first.rules_
    assert first.fit(*plain).rules_ == again.rules_


def test_validation_works_and_is_repeatable(plain):
    scores = [cross_val_score(BeeRules("from-data", max_iter=30, random_state=0), *plain, cv=3) for _ in range(2)]
    np.testing.assert_array_equal(*scores)


def test_every_way_to_hand_over_the_data(plain, known):
    X, y = plain
    ways = [
        (X, y),
        (X.to_dict("list"), y.tolist()),
        (X.to_dict("records"), pd.Series(y)),
        (X.assign(state=y), None),
        (X.astype(object).to_numpy(), y),
    ]
    models = [BeeRules(known, max_iter=15, random_state=1).fit(*way) for way in ways]
    assert all(model.rules_ == models[0].rules_ for model in models)


def test_explanation(plain, known):
    model = BeeRules(known, strategy="one-rule", max_iter=100, random_state=0).fit(*plain)
    lines = model.explain().splitlines()
    assert lines[0].startswith("IF ")
    assert "THEN state = well" in lines[0]
    assert "THEN state = ill" in lines[1]
    assert lines[2] == "OTHERWISE the nearest rules decide (fewest violated conditions)"
    assert lines[3] == "Where rules of several classes match, they vote by their precision."
    lines = model.set_params(default="majority", resolve="best").explain().splitlines()
    assert lines[2] == "OTHERWISE state = ill"
    assert "the most precise rule decides" in lines[3]
    assert "the nearest rule decides" in model.set_params(default="nearest").explain()


def test_clear_data_have_no_guarantee(plain, known):
    guarantee = BeeRules(known, max_iter=5).fit(*plain).guarantee_
    assert not guarantee.holds
    assert guarantee.epsilon == math.inf
    assert guarantee.statement() == (
        "No privacy is guaranteed: the rules were searched on the records in the clear, which they may reveal; do not "
        "publish them if the records are private."
    )
    assert guarantee.to_dict()["adjacency"] == "add-remove"


def test_perturbed_data_keep_their_guarantee(plain, known):
    ledger = Ledger(1)
    guarantee = BeeRules(known, max_iter=5, random_state=0).fit(*plain, ledger=ledger, source_guarantee=HELD).guarantee_
    assert guarantee.holds
    held = {name: value for name, value in dataclasses.asdict(HELD).items() if name != "labels"}
    assert dataclasses.asdict(guarantee) == {**held, "source": guarantee.source, "trust": guarantee.source}
    assert "post-processing" in guarantee.source
    assert ledger.entries == []


def test_a_guarantee_that_does_not_hold_helps_nothing(plain, known):
    void = dataclasses.replace(HELD, holds=False, reasons=("a seed was set",))
    guarantee = BeeRules(known, max_iter=5).fit(*plain, source_guarantee=void).guarantee_
    assert not guarantee.holds
    assert guarantee.reasons[-1] == "a seed was set"
    with pytest.raises(BudgetError):
        BeeRules(known).fit(*plain, ledger=Ledger(100), source_guarantee=void)
    with pytest.raises(ParameterError, match="source_guarantee=str"):
        BeeRules(known).fit(*plain, source_guarantee="yes")


class Unread:
    """Data that must not be touched."""

    def __getattribute__(self, name):
        raise AssertionError(f"{name} was read")


@pytest.mark.parametrize("how", ["known", "from-data"])
def test_a_limited_ledger_refuses_before_anything_is_read(known, how):
    ledger = Ledger(10**6)
    with pytest.raises(BudgetError, match="costs epsilon=inf"):
        BeeRules(known if how == "known" else how).fit(Unread(), Unread(), ledger=ledger)
    assert ledger.entries == []


def test_an_unlimited_ledger_is_charged_infinity(plain, known):
    ledger = Ledger.unlimited()
    BeeRules(known, max_iter=5).fit(*plain, ledger=ledger)
    assert ledger.entries == [("bee-rules", math.inf)]


def test_perturbed_data_are_searched_within_public_bounds(known):
    """The clear search knows the smallest and largest value, the other one only the schema."""
    X = {"x": [4.0, 6.0] * 20, "z": [0.5] * 40, "c": ["a"] * 40}
    for source, least in ((None, 4.0), (HELD, 0.0)):
        model = BeeRules(known, strategy="wlapms", n_rules=20, max_iter=1, polish=False, random_state=0)
        rules = model.fit(X, ["well", "ill"] * 20, source_guarantee=source).rules_
        ends = [condition.lower for rule in rules for condition in rule.conditions if condition.column == "x"]
        assert min(ends) >= least
        assert (min(ends) < 4) is (source is not None)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("default", ["majority", "nearest"])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 400])
def test_awkward_records(schema, strategy, default, rows):
    X, y = split_target({name: values[:rows] for name, values in draw_records(400, seed=1).items()})
    model = BeeRules(schema, strategy=strategy, default=default, max_iter=8, random_state=0).fit(X, y)
    others, _ = split_target(draw_records(50, seed=2))
    assert len(model.predict(others)) == 50
    assert np.isfinite(model.predict_proba(others)).all()
    assert model.explain()
    assert model.predict({name: [] for name in schema.names}).shape == (0,)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_class_constant_columns_and_unlisted_labels(strategy):
    schema = Schema([Numeric("x", 0, 1), Categorical("c", ["a"], unlisted=False)], "y", ["only"])
    model = BeeRules(schema, strategy=strategy, max_iter=5).fit({"x": [0.5] * 9, "c": ["a"] * 9}, ["only"] * 9)
    assert model.predict({"x": [0.1], "c": ["a"]}).tolist() == ["only"]
    model = BeeRules(schema, strategy=strategy, max_iter=5).fit({"x": [0.5] * 9, "c": ["a"] * 9}, ["other"] * 9)
    assert model.rules_ == []
    assert model.predict_proba({"x": [0.1], "c": ["a"]}).tolist() == [[1.0]]
    two = Schema([Numeric("x", 0, 1)], "y", [0, "b"])
    model = BeeRules(two, strategy=strategy, max_iter=5).fit([[0.5]] * 9, ["b"] * 9)
    assert model.predict([[0.5], [0.7]]).tolist() == ["b", "b"]
    assert model.score([[0.5]], ["b"]) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"schema": "data"},
        {"schema": None},
        {"strategy": "one"},
        {"n_rules": 0},
        {"n_rules": 2.5},
        {"swarm": 3},
        {"max_iter": 0},
        {"limit": -1},
        {"alpha": 0},
        {"alpha": "0.4"},
        {"beta": -0.1},
        {"beta": math.nan},
        {"F": 1.1},
        {"polish": "yes"},
        {"resolve": "first"},
        {"default": "none"},
        {"random_state": -1},
    ],
)
def test_bad_parameters(plain, known, wrong):
    name = "seed" if "random_state" in wrong else next(iter(wrong))
    with pytest.raises(ParameterError, match=f"{name}="):
        BeeRules(**{"schema": known, **wrong}).fit(*plain)


def test_bad_tables(plain, known):
    X, y = plain
    with pytest.raises(DataError, match="different lengths"):
        BeeRules(known).fit(X, y[:-1])
    with pytest.raises(DataError, match="'z' of the schema is missing"):
        BeeRules(known).fit(X.drop(columns="z"), y)
    with pytest.raises(DataError, match="'state' of the schema is missing"):
        BeeRules(known).fit(X)
