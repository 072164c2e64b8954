"""The stated noise of weights: from public things alone, and as large as what seeds make of the same records."""

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet import Categorical, LinearSVM, Numeric, Schema, load
from discreet.models.linear.noise import noise_of_weights
from discreet.released.statistics import NoisyStatistics

RNG = np.random.default_rng(0)
X = {"a": RNG.random(120), "c": RNG.choice(["u", "v", "w"], 120)}


def schema(classes):
    return Schema([Numeric("a", 0, 1), Categorical("c", ["u", "v", "w"])], "y", list(range(classes)), records=120)


@pytest.mark.parametrize("classes", [2, 3])
def test_noise_moves_weights_about_as_far_as_is_said(classes):
    labels = (X["a"] * classes).astype(int)
    models = [
        LinearSVM(schema(classes), epsilon=1, knots=3, leaves=0, ranges=None, random_state=k).fit(X, labels)
        for k in range(24)
    ]
    stated = {noise_of_weights(each, each.schema_, each.noisy_) for each in models}
    assert len(stated) == 1  # it does not depend on the draw
    found = np.stack([each.coef_ for each in models])
    apart = np.abs(found - found.mean(axis=0))
    (noise,) = stated
    assert np.mean(apart <= noise) >= 0.95
    assert np.quantile(apart, 0.95) > 0.3 * noise  # a bound, but no empty one


def test_it_is_said_in_text_and_survives_a_file(tmp_path):
    labels = (X["a"] * 2).astype(int)
    model = LinearSVM(schema(2), epsilon=1, knots=3, random_state=0).fit(X, labels)
    noise = model.content()["noise"]
    assert noise > 0
    assert f"at most about {noise:.2g} (95 %)" in model.explain()
    marked = [line for line in model.explain().splitlines() if line.endswith("(within the noise)")]
    assert all(float(line.split()[0]) <= noise for line in marked)
    model.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").content()["noise"] == noise
    exact = LinearSVM(schema(2), epsilon=math.inf).fit(X, labels)
    assert exact.content()["noise"] == 0
    assert "noise" not in exact.explain()


def test_nothing_is_known_of_the_noise_of_an_earlier_mechanism():
    """Version 0.1 perturbed another objective for two classes: its weights are read, and no size of noise is stated."""
    model = LinearSVM(schema(2), epsilon=1, random_state=0).fit(X, (X["a"] * 2).astype(int))
    charges = model.receipt_.charges
    earlier = tuple(replace(each, mechanism=each.mechanism.removesuffix(" for two classes")) for each in charges)
    assert earlier != charges
    noisy = NoisyStatistics(model.noisy_.tables, replace(model.receipt_, charges=earlier))
    assert noise_of_weights(model, model.schema_, noisy) is None


def test_bought_numbers_of_records_are_used():
    public = schema(3).replace(records=None)
    model = LinearSVM(public, epsilon=5, random_state=0).fit(X, (X["a"] * 3).astype(int))
    assert model.content()["noise"] > 0
