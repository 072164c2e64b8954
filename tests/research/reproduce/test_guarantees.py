"""Models of ours that studies make for a comparison and call private: their whole fit, recorded and replayed."""

import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetError
from discreet.privacy.epsilon import as_epsilon
from discreet.research.reproduce.zafarani2020.models import AllocatedNaiveBayes
from discreet.research.reproduce.zorarpaci2019 import private_models
from discreet.research.reproduce.zorarpaci2019.private_models import ChosenThenFitted
from support.neighbours import ADJACENCIES, neighbours, schema
from support.replay import replay, visible

COMPOSED = {
    "allocated": partial(AllocatedNaiveBayes, numeric_weight=1, categorical_weight=4),
    "chosen naive Bayes": partial(ChosenThenFitted, learner="naive-bayes", k=2),
    "chosen one-rule": partial(ChosenThenFitted, learner="one-rule", k=2),
}


def fitted(name, adjacency, rows):
    public = schema(adjacency, 40)
    names = [*public.names, public.target]
    columns = {each: _vector([row.get(each) for row in rows]) for each in names}
    labels = columns.pop(public.target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = COMPOSED[name](public, epsilon=1.0, random_state=7).fit(columns, labels)
    return getattr(model, "model_", model).set_params(random_state=None)  # the generator it was handed has an address


def _vector(values):
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_composed_fits_stay_within_epsilon_and_leak_nothing(name, adjacency, data):
    table, other = data.draw(neighbours(adjacency))
    loss, model, twin = replay(partial(fitted, name, adjacency), table, other)
    assert loss <= 1 if isinstance(loss, Fraction) else loss <= 1 + 1e-6
    assert visible(model) == visible(twin)


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_record_that_differs_in_everything_costs_epsilon_at_most(name, adjacency):
    record = {"near": -1.0, "far": 1e9, "open": "a", "closed": "a", "label": "x"}
    other = {"near": 1.0, "far": -1e9, "open": "c", "closed": "b", "label": "y"}
    pair = ([record], [other]) if adjacency == "replace-one" else ([], [record])
    loss, *_ = replay(partial(fitted, name, adjacency), *pair)
    assert 0 < loss <= 1 + 1e-6


def test_a_choice_that_is_not_paid_for_is_refused(monkeypatch):
    """The mutant that gives the model all of epsilon after the choice had its share."""
    whole = as_epsilon(1)
    monkeypatch.setattr(private_models, "split_by_weight", lambda epsilon, weights: [whole / 3, whole])
    with pytest.raises(BudgetError):
        fitted("chosen one-rule", "add-remove", [])
