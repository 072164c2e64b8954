"""OneRule: the rule, the guarantee of the whole fit, and the contract of an estimator."""

import math
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from discreet import Categorical, NaiveBayes, Numeric, OneRule, Schema, load
from discreet.errors import ParameterError
from discreet.models import MODELS
from discreet.pictures.noise import GREY
from discreet.privacy.steps import Step
from support.neighbours import schema
from support.replay import replay

WEATHER = Schema(
    [Categorical("sky", ["clear", "rain"], unlisted=False), Numeric("wind", 0, 10)], "stay", ["yes", "no"], records=400
)
DAYS = [{"sky": "rain", "wind": 3}] * 200 + [{"sky": "clear", "wind": 3}] * 200
STAY = ["yes"] * 190 + ["no"] * 10 + ["no"] * 195 + ["yes"] * 5


def test_the_rule_is_found_and_explained(tmp_path):
    model = OneRule(WEATHER, epsilon=1).fit(DAYS, STAY)
    assert model.attribute_ == "sky"
    assert [line.partition("  ")[0] for line in model.explain().splitlines()] == [
        "IF sky = clear THEN stay = no",
        "IF sky = rain THEN stay = yes",
    ]
    assert model.score(DAYS, STAY) == pytest.approx(385 / 400)
    assert model.guarantee_.holds
    assert model.receipt_.epsilon == 1
    model.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert np.array_equal(again.predict_proba(DAYS), model.predict_proba(DAYS))
    assert again.explain() == model.explain()
    assert MODELS["one-rule"] is OneRule
    assert model.plot() is not None


def test_the_picture_is_the_rule_and_says_what_is_noise():
    """One bar for each value, first the class that is predicted; what may be noise is grey in the picture, and said."""
    to_hex = pytest.importorskip("matplotlib.colors").to_hex
    public = Schema([Categorical("c", list("abcd"), unlisted=False)], "y", ["no", "yes"], records=1300)
    rows = [{"c": "a"}] * 1000 + [{"c": "b"}] * 300
    labels = ["no"] * 990 + ["yes"] * 10 + ["yes"] * 153 + ["no"] * 147
    model = OneRule(public, epsilon=1, random_state=0).fit(rows, labels)
    lines = model.content()["rule"]
    assert [line["class"] for line in lines] == model.predict([{"c": value} for value in "abcd"]).tolist()
    assert [line["within_noise"] for line in lines] == [False, True, True, True]
    told = model.explain().splitlines()
    assert re.search(r"THEN y = no  \(9\d% ± 1% of about [19],?\d+ records\)$", told[0])
    assert told[1].endswith(": within the noise)")
    assert "no more records than noise: takes the most frequent class" in told[2]
    shares, records = model.plot().axes
    assert [label.get_text() for label in shares.get_yticklabels()] == [
        f"{line['value']} → {line['class']}" for line in lines
    ]
    first = [bar for bar in shares.patches if bar.get_x() == 0]
    assert [bar.get_width() for bar in first] == [pytest.approx(line["shares"][line["class"]]) for line in lines]
    assert [to_hex(bar.get_facecolor()).upper() == GREY for bar in records.patches] == [False, True, True, True]


def test_many_values_are_grouped_in_the_picture():
    pytest.importorskip("matplotlib")
    public = Schema([Categorical("c", range(90), unlisted=False)], "y", ["no", "yes"], records=9000)
    codes = np.arange(9000) % 90
    model = OneRule(public, epsilon=50, random_state=0).fit({"c": codes}, np.where(codes % 2, "no", "yes"))
    names = [label.get_text() for label in model.plot().axes[0].get_yticklabels()]
    assert len(names) == 40
    assert names[-2:] == ["(26 others) → no", "(26 others) → yes"]


def test_without_noise_it_is_the_best_single_attribute():
    model = OneRule(WEATHER, epsilon=math.inf).fit(DAYS, STAY)
    assert np.allclose(model.predict_proba(DAYS[:1]), [[10 / 200, 190 / 200]], atol=1e-4)
    assert not model.guarantee_.holds


def test_a_choice_by_exact_scores_is_caught(monkeypatch):
    """The mutant of the thesis: attributes chosen on the clear data, then noise."""
    monkeypatch.setattr(Step, "check", lambda *_: None)  # the replay has to notice by itself
    exact = classmethod(lambda cls, *_, **__: cls(0.01))
    monkeypatch.setattr("discreet.privacy.mechanisms.selection.PermuteAndFlip.calibrated", exact)
    table = [{"open": "a", "closed": "a", "label": "x"}] * 3
    fit = lambda rows: OneRule(schema(), epsilon=1.0, random_state=3).fit(rows)  # noqa: E731
    loss, *_ = replay(fit, [*table, {"open": "b", "closed": "a", "label": "y"}], table)
    assert loss > 1


@pytest.mark.parametrize(
    "records", [[], DAYS[:1], [{"sky": None, "wind": math.nan}], [{"sky": "hail", "wind": "much"}] * 3]
)
def test_no_record_makes_it_fail(records):
    model = OneRule(WEATHER, epsilon=1).fit(records, ["yes"] * len(records))
    assert np.allclose(model.predict_proba(DAYS[:2]).sum(axis=1), 1)


@pytest.mark.parametrize(
    "wrong", [{"epsilon": 0}, {"bins": 1}, {"choosing": 1.0}, {"schema": None}, {"random_state": -1}]
)
def test_wrong_parameters(wrong):
    with pytest.raises(ParameterError):
        OneRule(**{"schema": WEATHER, **wrong}).fit(DAYS, STAY)


def test_conventions():
    model = OneRule(WEATHER, epsilon=2, bins=5)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict(DAYS)


@pytest.mark.parametrize("kind", [NaiveBayes, OneRule])
def test_classes_are_sorted_as_the_metrics_expect(kind):
    """With the schema's order as it came, the area under the curve was silently one minus itself."""
    content = load_breast_cancer()
    labels = np.array(["malignant", "benign"])[content.target]
    bounds = [Numeric(f"x{i}", float(column.min()), float(column.max())) for i, column in enumerate(content.data.T)]
    public = Schema(bounds, "diagnosis", ["malignant", "benign"], records=569)
    model = kind(public, epsilon=50, random_state=0).fit(content.data, labels)
    assert model.classes_.tolist() == ["benign", "malignant"]
    assert roc_auc_score(labels, model.predict_proba(content.data)[:, 1]) > 0.9
    assert model.score(content.data, labels) > 0.85
