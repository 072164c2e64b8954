"""What scikit-learn expects of an estimator: its own checks, clone, pickle, pipelines, searches and validation."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import (
    Categorical,
    DecisionTree,
    Ledger,
    LinearSVM,
    NaiveBayes,
    OneRule,
    Schema,
    load,
)
from discreet.errors import BudgetError
from support.estimators import PRIVATE, expected_failures
from support.records import draw_records, split_target

ESTIMATORS = [
    *(make("from-data", epsilon=50 if name == "naive-bayes smooth" else 1) for name, make in PRIVATE.items()),
    *(model("from-data", epsilon=math.inf) for model in (NaiveBayes, OneRule, DecisionTree, LinearSVM)),
    NaiveBayes("from-data", numeric="gaussian", epsilon=10),
]
"""Every private estimator, and some without noise, which have to be accurate. The smooth one has a large epsilon: with
noisy deviations a probability may underflow to 0 where its logarithm does not, and a check compares the two."""


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(params=PRIVATE)
def make(request):
    """Each private estimator in turn."""
    return PRIVATE[request.param]


def outputs(model, X):
    """Probabilities, or what a model that has none decides by."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.decision_function(X)


@pytest.fixture
def data():
    X, y = split_target(draw_records(120, 11))
    return pd.DataFrame(X), np.where(y == "elsewhere", "well", y).astype(str)


def test_it_is_a_classifier_for_missing_and_categorical_values(make, schema):
    tags = sklearn.utils.get_tags(make(schema))
    assert is_classifier(make(schema))
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert tags.target_tags.required


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_fitted_model_can_be_copied_and_pickled(make, schema, data, duplicate):
    """It holds noisy tables only: nothing that was not released. The ledger is not stored."""
    ledger = Ledger(1)
    model = make(schema).fit(*data, ledger=ledger)
    twin = duplicate(model)
    np.testing.assert_array_equal(outputs(twin, data[0]), outputs(model, data[0]))
    assert twin.guarantee_ == model.guarantee_
    assert not any(isinstance(value, Ledger) for value in vars(model).values())


def test_clone_drops_what_was_learned(make, schema, data):
    model = make(schema, epsilon=0.5, random_state=3).fit(*data)
    twin = clone(model)
    assert {name for name in vars(twin) if name.endswith("_")} == set()
    assert twin.get_params() == model.get_params()
    assert twin.schema == schema


def test_repr_shows_parameters_and_no_data(make, schema, data):
    model = make(schema, epsilon=0.5).fit(*data)
    assert "epsilon=0.5" in repr(model)
    assert type(model).__name__ in model._repr_html_()


def test_cross_validation_charges_every_fold(make, schema, data):
    ledger = Ledger(10)
    scores = cross_val_score(make(schema, epsilon=0.5), *data, cv=KFold(4), params={"ledger": ledger})
    assert np.isfinite(scores).all()
    assert ledger.spent == 2
    assert len(ledger.entries) >= 4


def test_cross_validation_stops_when_the_ledger_is_empty(make, schema, data):
    ledger = Ledger(1)
    with pytest.raises(BudgetError):
        cross_val_score(make(schema, epsilon=0.4), *data, cv=KFold(4), params={"ledger": ledger}, error_score="raise")
    assert ledger.spent == Fraction(4, 5)


def test_cross_validation_in_a_loop_charges_every_fold(make, schema, data):
    X, y = data
    ledger, model = Ledger(10), make(schema, epsilon=0.5)
    for train, test in KFold(4).split(X):
        score = clone(model).fit(X.iloc[train], y[train], ledger=ledger).score(X.iloc[test], y[test])
        assert 0 <= score <= 1
    assert ledger.spent == 2


def test_metadata_routing_carries_the_ledger(make, schema, data):
    ledger = Ledger(10)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make(schema, epsilon=0.5).set_fit_request(ledger=True)
        cross_validate(model, *data, cv=KFold(2), params={"ledger": ledger})
        assert ledger.spent == 1
        search = GridSearchCV(model, {"epsilon": [0.5, 1.0]}, cv=KFold(2)).fit(*data, ledger=ledger)
        refit = search.best_estimator_.receipt_.epsilon
    assert ledger.spent == 1 + 2 * (Fraction(1, 2) + 1) + refit


def test_a_ledger_in_memory_does_not_go_to_other_processes(make, schema, data):
    ledger = Ledger(10)
    one_at_a_time = {"n_jobs": 2, "pre_dispatch": 1}  # a second task in the queue may outlive the first one's failure
    with pytest.raises((BudgetError, pickle.PicklingError)) as caught:
        cross_val_score(
            make(schema), *data, cv=KFold(2), params={"ledger": ledger}, error_score="raise", **one_at_a_time
        )
    chain, error = [], caught.value
    while error is not None:
        chain.append(str(error))
        error = error.__cause__ or error.__context__
    assert any("a ledger cannot be pickled" in text for text in chain)
    assert ledger.spent == 0


def test_a_search_charges_every_fit_and_the_refit(make, schema, data):
    ledger = Ledger(10)
    search = GridSearchCV(make(schema, epsilon=0.5), {"random_state": [0, 1, 2]}, cv=KFold(2))
    search.fit(*data, ledger=ledger)
    assert ledger.spent == Fraction(7, 2)
    assert search.predict(data[0]).shape == (120,)
    assert search.best_estimator_.receipt_.epsilon == Fraction(1, 2)


def test_numpy_parameters_of_a_search_are_accepted(make, schema, data):
    grid = {"epsilon": np.array([0.5, 1.0], dtype=np.float32), "random_state": np.arange(2)}
    model = make(schema)
    for name, values in {"bins": np.arange(2, 4), "smoothing": np.array([0.5, 1], dtype=np.float32)}.items():
        if name in model.get_params():
            grid[name] = values
    search = GridSearchCV(model, grid, cv=KFold(2), error_score="raise").fit(*data)
    assert search.best_params_.keys() == grid.keys()


def test_a_pipeline_passes_the_ledger_on(make, schema, data):
    ledger = Ledger(1)
    pipeline = Pipeline([("same", FunctionTransformer()), ("bayes", make(schema, random_state=0))])
    pipeline.fit(*data, bayes__ledger=ledger)
    assert ledger.spent == 1
    alone = make(schema, random_state=0).fit(*data)
    np.testing.assert_array_equal(outputs(pipeline, data[0]), outputs(alone, data[0]))
    assert make_pipeline(FunctionTransformer(), make("from-data")).fit(*data).score(*data) > 0


def test_metrics_and_calibration_understand_the_output(make, schema, data):
    X, y = data
    model = make(schema, epsilon=math.inf).fit(X, y)
    assert model.classes_.tolist() == sorted(model.classes_)
    if model.probabilistic:
        assert np.isfinite(log_loss(y, model.predict_proba(X), labels=model.classes_))
    calibrated = CalibratedClassifierCV(make("from-data", epsilon=math.inf), cv=2).fit(X, y)
    assert calibrated.predict_proba(X).shape == (120, 3)


def test_names_and_numbers_of_features_are_known_after_fitting(make, schema, data):
    model = make(schema).fit(*data)
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == ["age", "dose", "sex", "site"]
    assert model.classes_.tolist() == ["ill", "unknown", "well"]


@pytest.mark.parametrize("name", PRIVATE)
def test_a_class_that_ends_with_nul_is_predicted_as_it_is(name, tmp_path):
    """numpy cuts such a text, so that two classes could become one."""
    schema = Schema([Categorical(name, ["a", "b"]) for name in "cd"], "y", ["yes", "yes\0"], records=400)
    rows = [{"c": "a", "d": "a", "y": "yes"}, {"c": "b", "d": "a", "y": "yes\0"}] * 200
    model = PRIVATE[name](schema, epsilon=float("inf")).fit(rows)
    model.save(tmp_path / "m.json")
    for each in (model, load(tmp_path / "m.json")):
        assert each.classes_.tolist() == ["yes", "yes\0"]
        assert set(each.predict(rows).tolist()) <= {"yes", "yes\0"}
    assert model.score(rows, [row["y"] for row in rows]) in (0.5, 1.0)
