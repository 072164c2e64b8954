"""The selector: scikit-learn's contract, what it finds, what it promises, and that a choice on clear data is marked."""

import dataclasses
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import Categorical, Ledger, LocalPerturbation, NaiveBayes, Numeric, OneRule, Schema
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.models.bees.bee_feature_selector import BeeFeatureSelector, _histograms
from support.records import draw_records, split_target


@parametrize_with_checks(
    [BeeFeatureSelector("from-data", max_iter=3, population=5, normalise=normalise) for normalise in (False, True)]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


NOISE = [Numeric(f"n{i}", 0, 1) for i in range(5)]
KNOWN = Schema(
    [Numeric("noise", 0, 1), Numeric("x", 0, 10), Categorical("c", ["a", "b"]), *NOISE], "state", ["well", "ill"]
)


@pytest.fixture
def plain():
    """Ill if x is above 6 or c is b; the rest is noise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({column.name: rng.uniform(0, 1, 400) for column in KNOWN.columns})
    frame["x"] *= 10
    frame["c"] = rng.choice(["a", "b"], 400)
    return frame, np.where((frame.x > 6) | (frame.c == "b"), "ill", "well")


@pytest.mark.parametrize("normalise", [False, True])
def test_what_decides_is_chosen(plain, normalise):
    selector = BeeFeatureSelector(KNOWN, max_iter=40, normalise=normalise, random_state=0).fit(*plain)
    assert {"x", "c"} <= set(selector.columns_)
    assert len(selector.columns_) <= 5
    assert selector.fitness_ > 0.97
    assert selector.n_iter_ == 40


def test_noisy_tables_suffice_and_keep_their_guarantee(plain):
    found = []
    for _ in range(5):
        model = NaiveBayes(KNOWN, epsilon=10).fit(*plain)
        selector = BeeFeatureSelector(KNOWN, max_iter=30, random_state=0).fit_noisy(model.noisy_)
        assert {"x", "c"} <= set(selector.columns_)
        found.append(len(selector.columns_))
    assert np.mean(found) <= 3.5, "of six attributes of noise, one or two may slip in"
    assert selector.guarantee_ == model.guarantee_
    assert selector.guarantee_.holds
    assert selector.receipt_ == model.receipt_
    assert selector.selected_schema_.is_public
    assert selector.selected_schema_.names == selector.columns_
    assert NaiveBayes(selector.selected_schema_, epsilon=1).fit(*plain).guarantee_.holds


@pytest.mark.parametrize("numeric", ["histogram", "gaussian"])
@pytest.mark.parametrize("epsilon", [0.01, 1, math.inf])
def test_any_noise_gives_a_choice(plain, numeric, epsilon):
    model = NaiveBayes(KNOWN, epsilon=epsilon, numeric=numeric).fit(*plain)
    selector = BeeFeatureSelector(KNOWN, max_iter=20, random_state=0).fit_noisy(model.noisy_)
    assert selector.columns_
    assert selector.guarantee_.holds is (epsilon != math.inf)
    assert selector.selected_schema_.is_public is (epsilon != math.inf)


@pytest.mark.parametrize("numeric", ["histogram", "gaussian"])
def test_tables_are_read_in_records(plain, numeric):
    """A record is worth 1 in every table, and in this unit the variance of the noise is about 2 / epsilon^2."""
    model = NaiveBayes(KNOWN, epsilon=9, numeric=numeric, random_state=0).fit(*plain)
    names, prior, tables = _histograms(model.noisy_, KNOWN)
    assert names == KNOWN.names
    assert prior == pytest.approx([np.mean(plain[1] == "well"), np.mean(plain[1] == "ill")], abs=0.02)
    losses = {
        charge.query.partition("column='")[2].partition("'")[0]: charge.epsilon for charge in model.receipt_.charges
    }
    for name, table in zip(names, tables, strict=True):
        assert table.counts.sum() == pytest.approx(400, abs=40)
        assert table.variance == pytest.approx(2 / float(losses[name]) ** 2, rel=0.2)


def test_a_price_that_nothing_pays_leaves_one_attribute(plain):
    noisy = NaiveBayes(KNOWN, epsilon=3).fit(*plain).noisy_
    assert len(BeeFeatureSelector(KNOWN, price=1, random_state=0).fit_noisy(noisy).columns_) == 1
    free = BeeFeatureSelector(KNOWN, price=0, max_iter=20, random_state=0).fit_noisy(noisy)
    dear = BeeFeatureSelector(KNOWN, price=0.05, max_iter=20, random_state=0).fit_noisy(noisy)
    assert len(dear.columns_) <= len(free.columns_)


def test_an_attribute_without_a_table_is_not_chosen(plain):
    rule = OneRule(KNOWN, epsilon=3).fit(*plain)
    selector = BeeFeatureSelector(KNOWN).fit_noisy(rule.noisy_)
    assert selector.columns_ == [rule.attribute_]


def test_statistics_that_cannot_be_used_are_refused(plain):
    smooth = Schema([Numeric("x", 0, 10)], "state", ["well", "ill"])
    noisy = NaiveBayes(smooth, numeric="smooth").fit(plain[0][["x"]], plain[1]).noisy_
    with pytest.raises(ParameterError, match="no table of counts"):
        BeeFeatureSelector(smooth).fit_noisy(noisy)
    with pytest.raises(ParameterError, match="another schema"):
        BeeFeatureSelector(KNOWN).fit_noisy(noisy)
    with pytest.raises(ParameterError, match="noisy=dict"):
        BeeFeatureSelector(KNOWN).fit_noisy({})
    with pytest.raises(ParameterError, match="needs records"):
        BeeFeatureSelector("from-data").fit_noisy(noisy)


def test_a_choice_on_clear_data_promises_nothing_and_says_so_to_models(plain):
    ledger = Ledger.unlimited()
    selector = BeeFeatureSelector(KNOWN, max_iter=3, random_state=0).fit(*plain, ledger=ledger)
    assert ledger.entries == [("bee-feature-selector", math.inf)]
    assert not selector.guarantee_.holds
    assert "the columns were searched on the records in the clear" in selector.guarantee_.statement()
    assert selector.receipt_.epsilon == math.inf
    assert selector.selected_schema_.from_data == ("columns",)
    model = NaiveBayes(selector.selected_schema_, epsilon=1).fit(selector.transform(plain[0]), plain[1])
    assert not model.guarantee_.holds


class Unread:
    """Data that must not be touched."""

    def __getattribute__(self, name):
        raise AssertionError(f"{name} was read")


@pytest.mark.parametrize("schema", [KNOWN, "from-data"])
def test_a_limited_ledger_refuses_before_anything_is_read(schema):
    ledger = Ledger(10**6)
    with pytest.raises(BudgetError, match="costs epsilon=inf"):
        BeeFeatureSelector(schema).fit(Unread(), Unread(), ledger=ledger)
    assert ledger.entries == []


def test_a_choice_on_perturbed_data_keeps_their_guarantee(plain):
    perturbation = LocalPerturbation(KNOWN.replace(adjacency="replace-one"), epsilon=50)
    X, y = perturbation.fit_resample(*plain)
    ledger = Ledger(1)
    selector = BeeFeatureSelector(perturbation.schema, max_iter=5, random_state=0).fit(
        X, y, ledger=ledger, source_guarantee=perturbation.guarantee_, source_receipt=perturbation.receipt_
    )
    assert ledger.entries == []
    assert selector.guarantee_.holds
    assert selector.guarantee_.epsilon == 50
    assert selector.receipt_ == perturbation.receipt_
    assert selector.selected_schema_.is_public
    void = dataclasses.replace(perturbation.guarantee_, holds=False, reasons=("a seed",))
    with pytest.raises(BudgetError):
        selector.fit(X, y, ledger=ledger, source_guarantee=void)


def test_every_kind_of_table_is_cut_as_it_came(plain):
    frame, y = plain
    selector = BeeFeatureSelector(KNOWN, max_iter=10, random_state=0).fit(frame, y)
    names = selector.columns_
    assert selector.transform(frame).equals(frame[names])
    assert selector.transform(pl.from_pandas(frame)).equals(pl.from_pandas(frame[names]))
    records = frame.to_dict("records")
    assert np.array_equal(selector.transform(records), frame[names].to_numpy(dtype=object))
    padded = selector.transform([{"x": 1}, *records])
    assert padded[0].tolist() == [{"x": 1}.get(name) for name in names]
    columns = selector.transform(frame.to_dict("list"))
    assert list(columns) == names
    np.testing.assert_array_equal(selector.transform(frame.to_numpy()), frame[names].to_numpy())
    np.testing.assert_array_equal(selector.get_support(), [column.name in names for column in KNOWN.columns])
    np.testing.assert_array_equal(selector.get_support(indices=True), [KNOWN.names.index(name) for name in names])
    assert selector.get_feature_names_out().tolist() == names
    assert selector.get_feature_names_out(KNOWN.names).tolist() == names
    with pytest.raises(ValueError, match="length"):
        selector.get_feature_names_out(["a"])
    with pytest.raises(ValueError, match="feature_names_in_"):
        selector.get_feature_names_out(KNOWN.names[::-1])
    with pytest.raises(DataError, match="'x' of the schema is missing"):
        selector.transform(frame.drop(columns="x"))
    with pytest.raises(DataError, match="features"):
        selector.transform(np.zeros((2, 3)))


def test_the_selected_schema_reads_the_whole_table(plain):
    """Columns that were dropped may still be there."""
    selector = BeeFeatureSelector(KNOWN, max_iter=10, random_state=0).fit(*plain)
    model = NaiveBayes(selector.selected_schema_, random_state=0)
    np.testing.assert_array_equal(
        model.fit(*plain).predict(plain[0]), model.fit(selector.transform(plain[0]), plain[1]).predict(plain[0])
    )


def test_contract(plain):
    selector = BeeFeatureSelector(KNOWN, max_iter=3, random_state=1)
    for call in (lambda: selector.transform(plain[0]), selector.get_support, selector.get_feature_names_out):
        with pytest.raises(NotFittedError):
            call()
    first, again = selector.fit(*plain).columns_, clone(selector).fit(*plain).columns_
    assert first == again
    assert pickle.loads(pickle.dumps(selector)).columns_ == first
    marked = BeeFeatureSelector("from-data", max_iter=3, random_state=1).fit(*plain)
    assert marked.selected_schema_.from_data[-1] == "columns"
    dropped = set(marked.schema_.names) - set(marked.columns_)
    assert not any(mark.rpartition(".")[0] in dropped for mark in marked.selected_schema_.from_data)


def test_it_is_a_step_of_a_pipeline(plain):
    X, y = plain[0].drop(columns="c"), plain[1]
    pipeline = make_pipeline(BeeFeatureSelector("from-data", max_iter=3, random_state=0), DecisionTreeClassifier())
    assert pipeline.fit(X, y).score(X, y) == 1


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5, 60])
def test_awkward_records(schema, rows):
    X, y = split_target({name: values[:rows] for name, values in draw_records(60, seed=1).items()})
    selector = BeeFeatureSelector(schema, max_iter=2, population=4, random_state=0).fit(X, y)
    assert selector.columns_
    assert math.isfinite(selector.fitness_)
    assert list(selector.transform(X)) == selector.columns_


def test_one_class_one_attribute_one_category():
    schema = Schema([Categorical("c", ["a"], unlisted=False)], "y", ["only"])
    X = {"c": ["a"] * 9}
    assert BeeFeatureSelector(schema, max_iter=2).fit(X, ["only"] * 9).columns_ == ["c"]
    assert BeeFeatureSelector(schema, max_iter=2).fit(X, ["other"] * 9).columns_ == ["c"]
    noisy = NaiveBayes(schema, epsilon=1).fit(X, ["only"] * 9).noisy_
    assert BeeFeatureSelector(schema, max_iter=2).fit_noisy(noisy).columns_ == ["c"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"schema": "data"},
        {"population": 3},
        {"max_iter": 0},
        {"onlookers": 1.5},
        {"normalise": 1},
        {"price": -0.1},
        {"price": "0"},
        {"random_state": -1},
    ],
)
def test_bad_parameters(plain, wrong):
    name = "seed" if "random_state" in wrong else next(iter(wrong))
    with pytest.raises(ParameterError, match=f"{name}="):
        BeeFeatureSelector(**{"schema": KNOWN, **wrong}).fit(*plain)


def test_bad_tables(plain):
    X, y = plain
    with pytest.raises(DataError, match="different lengths"):
        BeeFeatureSelector(KNOWN).fit(X, y[:-1])
    with pytest.raises(DataError, match="'state' of the schema is missing"):
        BeeFeatureSelector(KNOWN).fit(X)
