"""FeatureSelector: the choice, its guarantee and price, every kind of table, and the contract of a transformer."""

import itertools
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import Ledger, NaiveBayes, Schema
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.models.feature_selector import FeatureSelector
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.steps import Step
from discreet.schema import Adjacency, Paid
from discreet.sources.file import open_file
from support.neighbours import ADJACENCIES, BASE, ODD, neighbours, schema
from support.people import HABITS, ILL, PEOPLE
from support.replay import _plain, replay


@parametrize_with_checks([FeatureSelector("from-data"), FeatureSelector("from-data", k=2, epsilon=math.inf)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_the_best_columns_are_found_best_first():
    selector = FeatureSelector(PEOPLE, k=2, epsilon=1).fit(HABITS, ILL)
    assert selector.columns_ == ["smoker", "dose"]
    assert selector.selected_schema_.names == ["dose", "smoker"]
    assert selector.selected_schema_.ignore == ("hat", "day")
    assert selector.selected_schema_.records == 400
    assert selector.get_support().tolist() == [False, True, True, False]
    assert selector.get_support(indices=True).tolist() == [1, 2]
    assert selector.get_feature_names_out().tolist() == ["dose", "smoker"]
    assert selector.guarantee_.holds
    assert selector.receipt_.epsilon == 1
    assert [charge.query for charge in selector.receipt_.charges] == ["best of 4 columns", "best of 3 columns"]
    assert selector.schema_ is PEOPLE
    assert selector.selected_schema_.is_public


def test_all_columns_may_be_kept_and_a_choice_without_noise_is_the_best():
    assert set(FeatureSelector(PEOPLE, k=4).fit(HABITS, ILL).columns_) == set(PEOPLE.names)
    exact = FeatureSelector(PEOPLE, k=2, epsilon=math.inf).fit(HABITS, ILL)
    assert exact.columns_ == ["smoker", "dose"]
    assert not exact.guarantee_.holds


@pytest.mark.parametrize("unprotected", [{"random_state": 1}, {"epsilon": math.inf}])
def test_a_choice_without_guarantee_leaves_its_mark_on_the_schema(unprotected):
    """Otherwise a model on the chosen columns would promise what the choice had given away."""
    selector = FeatureSelector(PEOPLE, **unprotected).fit(HABITS, ILL)
    assert not NaiveBayes(selector.selected_schema_).fit(selector.transform(HABITS), ILL).guarantee_.holds
    assert NaiveBayes(PEOPLE).fit(HABITS, ILL).guarantee_.holds


def test_a_drafted_schema_stays_a_draft_whatever_is_dropped():
    selector = FeatureSelector("from-data", epsilon=50).fit(pd.DataFrame(HABITS), ILL)
    assert selector.columns_ == ["smoker"]
    assert {"smoker.categories", "classes", "columns"} <= set(selector.selected_schema_.from_data)
    assert "dose.lower" not in selector.selected_schema_.from_data


def _kinds():
    frame = pd.DataFrame(HABITS)
    return {
        "pandas": frame,
        "polars": pl.DataFrame(HABITS),
        "dicts": HABITS,
        "mapping": {name: frame[name].to_numpy() for name in PEOPLE.names},
        "array": frame.to_numpy(dtype=object),
        "rows": frame.to_numpy(dtype=object).tolist(),
    }


@pytest.mark.parametrize("kind", _kinds())
def test_a_table_comes_out_as_it_went_in(kind):
    table = _kinds()[kind]
    selector = FeatureSelector(PEOPLE, k=2, epsilon=20, random_state=0)
    out = selector.fit_transform(table, ILL)
    assert selector.columns_ == ["smoker", "dose"]
    match kind:
        case "pandas":
            pd.testing.assert_frame_equal(out, table[["dose", "smoker"]])
        case "polars":
            assert out.equals(table.select("dose", "smoker"))
        case "mapping":
            assert list(out) == ["dose", "smoker"]
        case _:
            assert out.shape == (400, 2)
            assert out[0].tolist() == [1.0, "yes"]
    model = NaiveBayes(selector.selected_schema_, epsilon=1, random_state=0).fit(out, ILL)
    assert model.score(out, ILL) > 0.95
    assert NaiveBayes(selector.selected_schema_, epsilon=1).fit(pd.DataFrame(HABITS), ILL).columns_


def test_labels_may_stand_in_the_table_and_a_file_will_do(tmp_path):
    frame = pd.DataFrame(HABITS).assign(ill=ILL)
    assert FeatureSelector(PEOPLE).fit(frame).columns_ == ["smoker"]
    assert FeatureSelector(PEOPLE).fit(frame).transform(frame).columns.tolist() == ["smoker"]
    frame.to_csv(tmp_path / "people.csv", index=False)
    source = open_file(tmp_path / "people.csv")
    ledger = Ledger(1)
    assert FeatureSelector(PEOPLE, epsilon=0.5).fit_from(source, ledger=ledger).columns_ == ["smoker"]
    assert ledger.spent == Fraction(1, 2)
    with pytest.raises(ParameterError, match="in memory only"):
        FeatureSelector("from-data").fit_from(source)
    with pytest.raises(ParameterError, match="need a source"):
        FeatureSelector(PEOPLE).fit_from(frame)


def test_names_out_are_those_that_went_in():
    selector = FeatureSelector(PEOPLE, epsilon=20).fit(HABITS, ILL)
    assert selector.get_feature_names_out(PEOPLE.names).tolist() == ["smoker"]
    for wrong in (PEOPLE.names[:2], ["a", "b", "c", "d"]):
        with pytest.raises(ValueError, match="input_features"):
            selector.get_feature_names_out(wrong)
    framed = FeatureSelector(PEOPLE, k=2, epsilon=20).set_output(transform="pandas").fit(HABITS, ILL)
    assert framed.transform(pd.DataFrame(HABITS).to_numpy(dtype=object)).columns.tolist() == ["dose", "smoker"]


def test_selector_and_model_both_charge_the_ledger():
    ledger = Ledger(1)
    selector = FeatureSelector(PEOPLE, k=2, epsilon=0.25).fit(HABITS, ILL, ledger=ledger)
    model = NaiveBayes(selector.selected_schema_, epsilon=0.5).fit(selector.transform(HABITS), ILL, ledger=ledger)
    assert ledger.spent == selector.receipt_.epsilon + model.receipt_.epsilon == Fraction(3, 4)
    with pytest.raises(BudgetError):
        FeatureSelector(PEOPLE, epsilon=0.5).fit(HABITS, ILL, ledger=ledger)
    assert ledger.spent == Fraction(3, 4)


def test_a_pipeline_charges_both_steps():
    ledger = Ledger(3)
    steps = make_pipeline(FeatureSelector("from-data"), NaiveBayes("from-data", random_state=0))
    fit = {"featureselector__ledger": ledger, "naivebayes__ledger": ledger}
    assert steps.fit(pd.DataFrame(HABITS), ILL, **fit).predict(pd.DataFrame(HABITS)).shape == (400,)
    assert ledger.spent == 2


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=40, deadline=None)
@given(data=st.data(), k=st.integers(1, 4))
def test_whole_fit_stays_within_epsilon_and_leaks_nothing(adjacency, data, k):
    table, other = data.draw(neighbours(adjacency))
    fit = lambda rows: FeatureSelector(schema(adjacency), k=k, epsilon=1.0, random_state=3).fit(rows)  # noqa: E731
    loss, selector, twin = replay(fit, table, other)
    assert loss <= 1 + 1e-9
    assert selector.receipt_.epsilon == 1
    assert visible(selector) == visible(twin)


def visible(selector):
    """Everything that can be seen of a fitted selector."""
    attributes = {name: _plain(each) for name, each in vars(selector).items() if name not in ("schema", "random_state")}
    shown = [selector.receipt_.to_dict(), selector.guarantee_.to_dict(), selector.selected_schema_.to_dict()]
    return json.dumps([shown, repr(selector), attributes])


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_the_bound_is_attained(adjacency):
    """The noise is not larger than it has to be: some neighbours cost the whole epsilon, in the limit of one winner."""
    record = {"near": None, "far": None, "open": "a", "closed": "?", "label": "x"}
    table = [record] * 40 + [{**record, "open": "b", "label": "y"}] * 40
    changed = [{**table[-1], "label": "x"}] if adjacency == "replace-one" else []
    fit = lambda rows: FeatureSelector(schema(adjacency), k=1, epsilon=1.0, random_state=3).fit(rows)  # noqa: E731
    loss, *_ = replay(fit, table, [*table[:-1], *changed])
    assert 1 - 1e-6 < loss <= 1 + 1e-9


def _half_noise(monkeypatch):
    original = PermuteAndFlip.calibrated.__func__
    halved = classmethod(lambda cls, epsilon, distance: cls(original(cls, epsilon, distance).scale / 2))
    monkeypatch.setattr(PermuteAndFlip, "calibrated", halved)


def _no_composition(monkeypatch):
    monkeypatch.setattr("discreet.doors.choice.split_evenly", lambda epsilon, parts: [epsilon] * parts)


def _exact_scores(monkeypatch):
    monkeypatch.setattr(PermuteAndFlip, "calibrated", classmethod(lambda cls, *_, **__: cls(0.2)))


def _scores_in_the_clear(monkeypatch):
    original = FeatureSelector._fit

    def leaking(self, source, given, ledger):
        original(self, source, given, ledger)
        self.scores_ = len(source._X)
        return self

    monkeypatch.setattr(FeatureSelector, "_fit", leaking)


def _bins_from_data(monkeypatch):
    original = FeatureSelector._fit

    def peeking(self, source, given, ledger):
        self.bins = 2 + len(source._X) % 5
        return original(self, source, given, ledger)

    monkeypatch.setattr(FeatureSelector, "_fit", peeking)


@pytest.mark.parametrize(
    "mutant", [None, _half_noise, _no_composition, _exact_scores, _scores_in_the_clear, _bins_from_data]
)
def test_replay_catches_mutant(mutant, monkeypatch):
    if mutant:
        monkeypatch.setattr(Step, "check", lambda *_: None)  # the replay has to notice by itself
        mutant(monkeypatch)
    bright = {"near": None, "far": None, "open": "a", "closed": "a", "label": "x"}
    table = [bright] * 30 + [{**bright, "open": "b", "label": "y"}] * 30
    others = (table[:-1], table[1:], [*table, {**bright, "closed": "b", "label": "y"}])
    caught = 0
    for k, other in itertools.product((1, 3), others):
        try:
            fit = lambda rows: FeatureSelector(schema(), k=k, epsilon=1.0, random_state=3).fit(rows)  # noqa: B023, E731
            loss, selector, twin = replay(fit, table, other)
            caught += loss > 1 + 1e-9 or visible(selector) != visible(twin)
        except (AssertionError, BudgetError):
            caught += 1
    assert bool(caught) == (mutant is not None)


def test_structural_errors_cost_nothing():
    ledger = Ledger(1)
    with pytest.raises(DataError, match="smoker"):
        FeatureSelector(PEOPLE).fit(pd.DataFrame(HABITS).drop(columns="smoker"), ILL, ledger=ledger)
    with pytest.raises(DataError, match="different lengths"):
        FeatureSelector(PEOPLE).fit(HABITS, ILL[:-1], ledger=ledger)
    with pytest.raises(ParameterError, match="k=5, but there are 4 feature"):
        FeatureSelector(PEOPLE, k=5).fit(HABITS, ILL, ledger=ledger)
    with pytest.raises(ParameterError, match="k=5, but there are 4 feature"):
        FeatureSelector("from-data", k=5).fit(pd.DataFrame(HABITS), ILL, ledger=ledger)
    with pytest.raises(ParameterError, match="too small"):
        FeatureSelector(PEOPLE, epsilon=1e-16).fit(HABITS, ILL, ledger=ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize("records", [[], HABITS[:1], [{}], [{"dose": "much", "smoker": 3}] * 3, HABITS[:50]])
def test_no_record_makes_it_fail(records):
    selector = FeatureSelector(PEOPLE, k=2).fit(records, ["yes"] * len(records))
    assert len(selector.columns_) == 2
    assert FeatureSelector(PEOPLE, k=2).fit(records, [None] * len(records)).selected_schema_
    assert selector.transform([]).shape == (0, 2)


def test_new_records_must_have_the_columns():
    selector = FeatureSelector(PEOPLE, random_state=0).fit(HABITS, ILL)
    with pytest.raises(DataError, match="'smoker'"):
        selector.transform(pd.DataFrame(HABITS).drop(columns="smoker"))
    lacking = selector.transform([{"hat": "no", "dose": 1.0, "day": "mon"}])
    assert lacking.tolist() == [[None]]  # as in a fit: which keys a record has is private
    with pytest.raises(DataError, match="3 features"):
        selector.transform(np.zeros((2, 3)))


@pytest.mark.parametrize(
    "wrong",
    [{"k": 0}, {"k": 1.5}, {"k": True}, {"k": None}, {"epsilon": 0}, {"epsilon": 20_000}, {"bins": 1}, {"bins": "auto"},
     {"schema": None}, {"schema": "data"}, {"random_state": -1}],
)  # fmt: skip
def test_wrong_parameters(wrong):
    with pytest.raises(ParameterError):
        FeatureSelector(**{"schema": PEOPLE, **wrong}).fit(HABITS, ILL)


def test_conventions():
    selector = FeatureSelector(PEOPLE, k=np.int64(2), epsilon=2, bins=5)
    assert clone(selector).get_params() == selector.get_params()
    for ask in (selector.get_support, selector.get_feature_names_out, lambda: selector.transform(HABITS)):
        with pytest.raises(NotFittedError):
            ask()
    fitted = selector.fit(HABITS, ILL)
    assert pickle.loads(pickle.dumps(fitted)).columns_ == fitted.columns_
    assert "ledger" not in vars(fitted)


def test_a_model_on_the_chosen_columns_counts_the_choice_in():
    """Its guarantee is for the whole: what the choice cost, and what the model did."""
    selector = FeatureSelector(schema(), k=2, epsilon="1/2").fit([BASE] * 20 + [ODD] * 5)
    assert selector.selected_schema_.chosen == Paid(Fraction(1, 2), Adjacency.ADD_REMOVE)
    model = NaiveBayes(selector.selected_schema_, epsilon=1).fit([BASE] * 20 + [ODD] * 5)
    assert model.guarantee_.epsilon == Fraction(3, 2)
    assert model.receipt_.epsilon == 1
    assert "1.5-differentially private" in model.guarantee_.statement()
    assert "0.5 was paid to choose the columns" in model.guarantee_.statement()
    again = FeatureSelector(selector.selected_schema_, k=1, epsilon="1/4").fit([BASE] * 20)
    assert again.selected_schema_.chosen == Paid(Fraction(3, 4), Adjacency.ADD_REMOVE)
    assert Schema.from_dict(again.selected_schema_.to_dict()) == again.selected_schema_
