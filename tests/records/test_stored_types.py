"""Columns that are stored as numbers, where the schema expects texts: refused for free, since types are structure."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from discreet import Categorical, FeatureSelector, Ledger, LocalPerturbation, NaiveBayes, Numeric, Schema
from discreet.errors import DataError

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"])], "y", ["no", "yes"], records=40)
X = pd.DataFrame({"age": range(40), "sex": ["F", "M"] * 20})
Y = np.array(["no", "yes"] * 20)


@pytest.mark.parametrize(
    "labels", [np.zeros(40, dtype=int), np.zeros(40), np.zeros(40, dtype=bool), pl.Series([1] * 40)]
)
def test_labels_that_can_be_no_class_are_refused_for_free(labels):
    ledger = Ledger(1)
    with pytest.raises(DataError, match=r"labels are stored as numbers, and no class of the schema is one \(no, yes\)"):
        NaiveBayes(SCHEMA, epsilon=1).fit(X, labels, ledger=ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_columns_that_can_be_no_category_are_refused_for_free(frame):
    ledger = Ledger(1)
    with pytest.raises(DataError, match=r"'sex' is stored as numbers, and none of its categories is one \(F, M\)"):
        NaiveBayes(SCHEMA, epsilon=1).fit(frame({"age": np.arange(40), "sex": np.arange(40) % 2}), Y, ledger=ledger)
    assert ledger.spent == 0


MODEL = NaiveBayes(SCHEMA, epsilon=1)
NUMBERING = {
    "voting, soft": VotingClassifier([("nb", MODEL)], voting="soft"),
    "voting, hard": VotingClassifier([("nb", MODEL)], voting="hard"),
    "stacking": StackingClassifier([("nb", MODEL)]),
    "bagging": BaggingClassifier(MODEL, n_estimators=2),
    "one against the rest": OneVsRestClassifier(MODEL),
    "bagging a pipeline": BaggingClassifier(make_pipeline(FeatureSelector(SCHEMA), MODEL), n_estimators=2),
}
CHANGING = {
    "an encoder before the model": OrdinalEncoder(),
    "pass X.toarray()": OneHotEncoder(),
    "X has 1 features, but the schema has 2 columns": make_column_transformer((StandardScaler(), ["age"])),
    "'sex' is stored as numbers": make_column_transformer((StandardScaler(), ["age"]), (OrdinalEncoder(), ["sex"])),
}


@pytest.mark.parametrize("name", NUMBERING)
def test_ensembles_that_number_labels_say_why_they_fail(name):
    with pytest.raises(
        DataError, match=r"labels are stored as numbers.*VotingClassifier.*whose classes are the numbers"
    ):
        NUMBERING[name].fit(X, Y)


@pytest.mark.parametrize("said", CHANGING)
def test_transformers_that_change_the_columns_say_why_they_fail(said):
    ledger = Ledger(1)
    with pytest.raises(DataError, match=re.escape(said)):
        make_pipeline(CHANGING[said], MODEL).fit(X, Y, naivebayes__ledger=ledger)
    assert ledger.spent == 0


def test_the_named_remedy_works_and_others_need_none():
    numbered = SCHEMA.replace(classes=[0, 1])
    for ensemble in (
        VotingClassifier([("nb", NaiveBayes(numbered))], voting="soft"),
        StackingClassifier([("nb", NaiveBayes(numbered))], cv=2),
        BaggingClassifier(NaiveBayes(numbered), n_estimators=2),
        OneVsRestClassifier(NaiveBayes(numbered)),
        CalibratedClassifierCV(MODEL, cv=2),
    ):
        assert set(ensemble.fit(X, Y).predict(X)) <= {"no", "yes"}
    with pytest.raises(ValueError, match="sample_weight"):  # AdaBoost says it itself
        AdaBoostClassifier(MODEL).fit(X, Y)
    numbers = NaiveBayes(SCHEMA.replace(columns=[Numeric("a", 0, 1), Numeric("b", 0, 1)]))
    with pytest.raises(DataError, match="1 features, but the schema has 2"):
        make_pipeline(SelectKBest(k=1), numbers).fit(np.random.default_rng(0).random((40, 2)), Y)


def test_selectors_and_perturbation_refuse_for_free_too():
    ledger = Ledger(1)
    both = SCHEMA.replace(adjacency="replace-one")
    for refuse in (
        lambda: FeatureSelector(SCHEMA).fit(X, np.zeros(40), ledger=ledger),
        lambda: LocalPerturbation(both, epsilon=1).fit_resample(X, np.zeros(40), ledger=ledger),
    ):
        with pytest.raises(DataError, match="labels are stored as numbers"):
            refuse()
    assert ledger.spent == 0


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (Categorical("sex", [0, 1]), np.arange(40) % 2),
        (Categorical("sex", ["0", "1"]), np.arange(40.0) % 2),
        (Categorical("sex", ["true", "false"]), np.arange(40) % 2 == 0),
        (Categorical("sex", ["F", "?"], missing="?"), np.full(40, np.nan)),
        (Categorical("sex", ["F", "M"]), [1] * 40),
        (Categorical("sex", ["F", "M"]), np.array([1] * 40, dtype=object)),
    ],
)
def test_what_can_match_is_read(column, values):
    schema = SCHEMA.replace(columns=(SCHEMA.columns[0], column))
    model = NaiveBayes(schema, epsilon=1).fit({"age": np.arange(40), "sex": values}, Y)
    assert model.predict({"age": [1], "sex": np.array([1.0])}).shape == (1,), "a prediction never refuses a type"
